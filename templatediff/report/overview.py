"""The overview: the whole crawl in figures, its sites and layouts, what failed, where to look first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from templatediff.report.charts import Piece, histogram, share_strip
from templatediff.report.folder import ReportFolder
from templatediff.report.layouts import LayoutReport
from templatediff.report.lists import FIND, Row
from templatediff.report.render import html
from templatediff.report.tally import Tally
from templatediff.report.words import link, spelled

if TYPE_CHECKING:
    from templatediff.drift import LayoutFit
    from templatediff.run import Totals

LAYOUTS_A_FILE = 500  #: rows of the table of layouts in one file


@dataclass(frozen=True, slots=True)
class Failure:
    """A page that failed."""

    href: str
    path: str
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class _Line:
    """A layout in the table."""

    href: str
    pages: str | None  # the first list of its pages
    layout: LayoutReport
    pieces: Sequence[Piece]
    fit: LayoutFit | None


def write_overview(
    folder: ReportFolder,
    layouts: Sequence[LayoutReport],
    whole: Tally,
    doubtful: Sequence[tuple[int, Row]],
    failures: Sequence[Failure],
    totals: Totals,
    remembered: bool,
) -> None:
    """Writes index.html and, for more than LAYOUTS_A_FILE layouts, overview/2.html, ...; `layouts` are in order of site."""
    chunks = [layouts[start : start + LAYOUTS_A_FILE] for start in range(0, len(layouts), LAYOUTS_A_FILE)] or [[]]
    files = ["index.html", *(f"overview/{number}.html" for number in range(2, len(chunks) + 1))]
    for number, (file, chunk) in enumerate(zip(files, chunks, strict=True), 1):
        depth = file.count("/")
        values: dict[str, Any] = {
            "root": "../" * depth,
            "number": number,
            "files": [link(other, depth) for other in files],
            "sites": [
                (site, [_line(layout, depth, totals) for layout in found], totals.fits.get(site))
                for site, found in groupby(chunk, key=lambda layout: layout.site)
            ],
            "site_count": len({layout.site for layout in layouts}),
            "layout_count": sum(layout.id is not None for layout in layouts),
            "whole": whole,
            "pieces": share_strip(whole.shares()),
            "scores": histogram(whole.score_bars(), "Leaves of all pages by P(content)"),
            "doubtful": [(count, link(row.file, depth), row.name, spelled(row.path)) for count, row in doubtful],
            "failures": failures,
            "totals": totals,
            "find": link(FIND, depth),
            "remembered": remembered,
        }
        folder.write(file, html("overview.html", **values))


def _line(layout: LayoutReport, depth: int, totals: Totals) -> _Line:
    fits = totals.fits.get(layout.site)
    return _Line(
        link(layout.file, depth),
        link(layout.pages.chunks[0].file, depth) if layout.pages.chunks else None,
        layout,
        share_strip(layout.tally.shares()),
        fits.layouts.get(layout.id) if fits is not None else None,
    )
