"""A page's file: its own text, every leaf with its label, and the evidence behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from templatediff.names import FileNames
from templatediff.report.charts import page_strip
from templatediff.report.folder import ReportFolder
from templatediff.report.layouts import SLOT_TYPES
from templatediff.report.leaves import evidence, files_of, label_of, runs
from templatediff.report.lists import Row
from templatediff.report.render import html
from templatediff.report.tally import Record, is_doubtful, part_of
from templatediff.report.words import direction, language, link, spelled, web_address

if TYPE_CHECKING:
    from templatediff.extraction import Extraction

FOLDER = "pages/"


def names_of(names: FileNames, path: str, leaves: Sequence[Record]) -> list[str]:
    """The names of a page's files: FOLDER, its path, ".html"; ".2.html" for the second part of a long one."""
    parts = sum(1 for _ in files_of(leaves))
    return [FOLDER + names.name(path, ".html" if part == 1 else f".{part}.html") for part in range(1, parts + 1)]


def row_of(page: Extraction, leaves: Sequence[Record], file: str) -> Row:
    """The page as lists name it."""
    return Row(
        file,
        page.path or "-",
        page.title or "",
        page.verdict,
        page.confidence,
        len(leaves),
        sum(leaf["content"] for leaf in leaves),
        sum(is_doubtful(leaf["p"]) for leaf in leaves),
    )


def write_page(
    folder: ReportFolder,
    page: Extraction,
    all_leaves: Sequence[Record],
    row: Row,
    files: Sequence[str],
    layout: str,
    chunk: str,
) -> None:
    """Writes the page into `files`; `layout` and `chunk` are the files of its layout and of the list that names it."""
    pieces = page_strip([(part_of(leaf), leaf["tokens"]) for leaf in all_leaves])
    for number, (file, leaves) in enumerate(zip(files, files_of(all_leaves), strict=True), 1):
        depth = file.count("/")
        values: dict[str, Any] = {
            "page": page,
            "row": row,
            "path": spelled(row.path),
            "url": spelled(page.url or ""),
            "href": web_address(page.url),
            "lang": language(page.lang),
            "dir": direction(leaf["text"] for leaf in leaves),
            "number": number,
            "parts": [link(other, depth) for other in files],
            "pieces": pieces,
            "leaves": [(label_of(leaf), leaf["p"], runs(leaf)) for leaf in leaves],
            "evidence": evidence(leaves),
            "types": SLOT_TYPES,
            "root": "../" * depth,
            "layout_href": link(layout, depth),
            "list_href": link(chunk, depth),
        }
        folder.write(file, html("page.html", **values))
