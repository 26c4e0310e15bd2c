"""A layout's file: its template drawn on an example page, its figures, its static leaves and slots, its pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

from templatediff.report.charts import histogram, share_strip
from templatediff.report.folder import ReportFolder
from templatediff.report.leaves import Run, runs
from templatediff.report.lists import PageList
from templatediff.report.region import region
from templatediff.report.render import html
from templatediff.report.tally import Record, Tally
from templatediff.report.words import direction, language, link
from templatediff.store import site_folder

if TYPE_CHECKING:
    from templatediff.drift import LayoutFit
    from templatediff.template import Layout

MOST_DRAWN = 1000  #: leaves of the example page that are drawn
MOST_CHANGING = 240  #: characters of a leaf that is drawn
MOST_LISTED = 1000  #: static leaves, and slots, that are listed
SLOT_TYPES = ("date", "time", "price", "number", "count", "identifier", "person", "links", "options", "text")
_FINE = 2  # what an example page is at best: one whose verdict is content

ExamplePage = dict[str, str | None]  # title, path, href, lang


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A leaf as drawn: `kind` is static, slots or changing."""

    kind: str
    kept: bool
    k: int | None
    n: int | None
    runs: Sequence[Run]


@dataclass(slots=True)
class LayoutReport:
    """One layout of a site, or (`id` None) the pages that fit none. Fragments wait in the folder, not in memory."""

    folder: ReportFolder
    site: str
    id: int | None
    learned: int | None = None  # pages that the template was learnt from
    tally: Tally = field(default_factory=Tally)
    pages: PageList = field(init=False)
    _example: int = 0  # how good the example page is

    def __post_init__(self) -> None:
        self.pages = PageList(
            self.folder, f"{self.base}-pages", {"site": self.site, "layout": self.id, "up": self.here}
        )

    @property
    def base(self) -> str:
        return f"layouts/{site_folder(self.site)}/{'none' if self.id is None else self.id}"

    @property
    def file(self) -> str:
        return f"{self.base}.html"

    @property
    def here(self) -> str:
        """The file's address beside it."""
        return link(self.file.rpartition("/")[2])

    def describe(self, layout: Layout) -> None:
        """Keeps the layout's static leaves and slots for later."""
        self.learned = layout.pages
        values = {"static": layout.static[:MOST_LISTED], "slots": layout.slots[:MOST_LISTED]}
        counts = {"statics": len(layout.static), "slot_count": len(layout.slots), "types": SLOT_TYPES}
        self.folder.write(f"{self.base}.parts", html("parts.html", **values, **counts))

    def offer(self, verdict: str, leaves: Sequence[Record], page: ExamplePage) -> None:
        """A page that may be the example: the first whose verdict is content, else the first. No layout needs none."""
        worth = 0 if not leaves or self.id is None else _FINE if verdict == "content" else 1
        if worth > self._example:
            self._example = worth
            self.folder.take(f"{self.base}.drawn")
            self.folder.write(f"{self.base}.drawn", _drawing(leaves, page))

    def finish(self, fit: LayoutFit | None, remembered: bool) -> None:
        """Writes the file; `remembered` where pages came from the template's memory, not from a crawl."""
        self.pages.close()
        parts, drawn = self.folder.take(f"{self.base}.parts"), self.folder.take(f"{self.base}.drawn")
        values: dict[str, Any] = {
            "layout": self,
            "tally": self.tally,
            "strip_pieces": share_strip(self.tally.shares()),
            "scores": histogram(self.tally.score_bars(), "Leaves by P(content)"),
            "repeated": histogram(self.tally.repetition_bars(), "Leaves by the other pages that have them"),
            "fit": fit,
            "chunks": [(link(chunk.file.rpartition("/")[2]), chunk) for chunk in self.pages.chunks],
            "parts": parts,
            "drawn": drawn,
            "remembered": remembered,
            "root": "../../",
        }
        self.folder.write(self.file, html("layout.html", **values))


def _drawing(leaves: Sequence[Record], page: ExamplePage) -> str:
    shown = leaves[:MOST_DRAWN]
    pairs = zip(region(leaves), map(_drawn, shown), strict=False)
    blocks = [(framed, [leaf for _, leaf in block]) for framed, block in groupby(pairs, key=lambda pair: pair[0])]
    way = direction(leaf["text"] for leaf in shown)
    values = {
        "blocks": blocks,
        "page": page,
        "dir": way,
        "lang": language(page["lang"]),
        "left": len(leaves) - len(shown),
    }
    return html("drawing.html", **values, types=SLOT_TYPES)


def _drawn(leaf: Record) -> _Drawn:
    kind = "slots" if leaf["slots"] else "static" if leaf["change"] == "static" else "changing"
    return _Drawn(kind, leaf["content"], leaf["k"], leaf["n"], runs(leaf, MOST_CHANGING))
