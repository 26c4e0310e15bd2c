"""Lists of pages that are written as pages go by: in chunks for each layout, and one of all pages to search in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from templatediff.report.folder import ReportFolder
from templatediff.report.render import around, html
from templatediff.report.words import link, shortened, spelled, visible

CHUNK = 500  #: pages listed in one file
FIND = "find.html"


@dataclass(frozen=True, slots=True)
class Row:
    """A page as lists name it. `file` is its name in the report's folder."""

    file: str
    path: str
    title: str
    verdict: str
    confidence: float
    leaves: int
    kept: int
    doubtful: int

    @property
    def name(self) -> str:
        """What the page is called where there is room for one line."""
        return shortened(" ".join(self.title.split()) or spelled(self.path), 160)


@dataclass(slots=True)
class Chunk:
    """A file of a list, and the first and last page in it."""

    file: str
    first: str
    last: str
    pages: int


@dataclass(slots=True)
class PageList:
    """The pages of one layout, in files of CHUNK rows: `base`-1.html, `base`-2.html, ..."""

    folder: ReportFolder
    base: str
    about: dict[str, Any]  # what the template of a chunk is given besides
    chunks: list[Chunk] = field(default_factory=list)

    def add(self, row: Row) -> None:
        """One page more, at the end."""
        if not self.chunks or self.chunks[-1].pages == CHUNK:
            file = f"{self.base}-{len(self.chunks) + 1}.html"
            if self.chunks:
                self._end(after=file)
            self.chunks.append(Chunk(file, row.name, row.name, 0))
            before, _ = around("list.html", **self._values(None))
            self.folder.write(file, before)
        chunk = self.chunks[-1]
        chunk.last, chunk.pages = row.name, chunk.pages + 1
        self.folder.append(chunk.file, html("row.html", row=row, href=link(row.file, self._depth), spelled=spelled))

    def close(self) -> None:
        """No page follows."""
        if self.chunks:
            self._end(after=None)

    def _end(self, after: str | None) -> None:
        _, end = around("list.html", **self._values(after))
        self.folder.append(self.chunks[-1].file, end)

    @property
    def _depth(self) -> int:
        return self.base.count("/")

    def _values(self, after: str | None) -> dict[str, Any]:
        before = self.chunks[-2].file if len(self.chunks) > 1 else None
        return self.about | {
            "root": "../" * self._depth,
            "number": len(self.chunks),
            "before": link(before, self._depth) if before else None,
            "after": link(after, self._depth) if after else None,
        }


class AllPages:
    """FIND: every page as a row of data that its script searches; written as pages go by."""

    def __init__(self, folder: ReportFolder) -> None:
        before, self._end = around(FIND, root="")
        self._folder = folder
        self._rows: list[list[Any]] = []
        folder.write(FIND, before)

    def add(self, row: Row, site: str) -> None:
        values = (row.name, spelled(row.path), site)
        self._rows.append([link(row.file), *map(visible, values), row.verdict, row.doubtful])
        if len(self._rows) == CHUNK:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._folder.append(FIND, self._end)

    def _flush(self) -> None:
        if self._rows:
            self._folder.append(FIND, html("rows.html", found=self._rows))
            self._rows = []
