"""Kept leaves -> HTML made anew from their containers, not yet sanitised.

Headings, lists, data tables, code, quotations, figures, articles and sections come back as such; wrappers and
layout tables go; a run of text in none of them is a paragraph. Every kept leaf is written once, in document order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import accumulate

from templatediff.leaves import Elements, Leaves
from templatediff.outline import CELLS, HEADINGS, PARTS, Outline, outlined
from templatediff.runs import Resolve, Run, runs_of

MAX_SPANNED_COLUMNS = 32  # a pipe table with more columns is written without regard to colspan and rowspan
#: parts whose text needs no paragraph where it is one run
_BARE = frozenset(["li", "dt", "dd", "td", "th", "caption", "figcaption", "summary"])
#: what text or a block that stands directly in one of these is put into
_ITEM_OF = {"ul": "li", "ol": "li", "dl": "dd", "tr": "td"}


def rebuild(leaves: Leaves, kept: Sequence[bool], resolve: Resolve, *, markdown: bool) -> str:
    """HTML of the kept leaves of `segment(rich=True)` and their images.

    `resolve` makes an address absolute. With `markdown` the HTML is one that Markdown can say: only lines in the
    cells of tables, captions as paragraphs, look-alikes of Markdown replaced (see `inline.backslashes`).
    """
    outline = outlined(leaves, flat=markdown)
    runs = runs_of(leaves, kept, outline, resolve, markdown)
    return "".join(_Writer(leaves.elements, outline, runs, markdown).write())


class _Writer:
    """Writes runs inside their elements, which are opened and closed as the runs need them."""

    def __init__(self, elements: Elements, outline: Outline, runs: list[Run], markdown: bool) -> None:
        self.elements = elements
        self.outline = outline
        self.runs = runs
        self.markdown = markdown
        self.in_home: dict[int, int] = {}
        for run in runs:
            self.in_home[run.home] = self.in_home.get(run.home, 0) + 1
        self.with_content = self._rows_with_content()
        self.cells_written: dict[int, int] = {}
        self.trs_before: dict[int, list[int]] = {}
        self.filling: dict[int, int] = {}  # row of a cell or tr -> empty cells before it, or at its end
        if markdown:
            for trs in outline.trs.values():
                self._fill([tr for tr in trs if tr in self.with_content])

    def _rows_with_content(self) -> set[int]:
        found = {-1}
        for row in self.in_home:
            while row not in found:
                found.add(row)
                row = self.outline.up[row]
        return found

    def write(self) -> Iterator[str]:
        up = self.outline.up
        stack: list[int] = []
        level = {-1: 0}  # row of an open element -> open elements down to it
        for run in self.runs:
            chain = []
            row = run.home
            while row not in level:
                chain.append(row)
                row = up[row]
            yield from self._close(stack, level, level[row])
            for row in reversed(chain):
                stack.append(row)
                level[row] = len(stack)
                yield from self._open(row)
            yield self._run(run)
        yield from self._close(stack, level, 0)

    def _close(self, stack: list[int], level: dict[int, int], least: int) -> Iterator[str]:
        while len(stack) > least:
            row = stack.pop()
            del level[row]
            name = self.outline.name[row]
            if name == "tr":
                yield from self._empty_cells(row, -1)
                yield "<td></td>" * self.filling.get(row, 0)
            yield "</code></pre>" if name == "pre" else f"</{name}>"
            if self._wrapper(row):
                yield f"</{self._wrapper(row)}>"

    def _open(self, row: int) -> Iterator[str]:
        name = self.outline.name[row]
        if self._wrapper(row):
            yield f"<{self._wrapper(row)}>"
        if name in CELLS:
            yield from self._empty_cells(self.outline.up[row], row)
            yield "<td></td>" * self.filling.get(row, 0)
        yield "<pre><code>" if name == "pre" else self._tag(row)

    def _wrapper(self, row: int) -> str:
        """Name of the item that must stand around this element, "" for none (a list in a list needs none)."""
        up, name = self.outline.up[row], self.outline.name[row]
        around = self.outline.name[up] if up >= 0 else ""
        is_part = around in PARTS.get(name, ()) or (name in ("ul", "ol") and around in ("ul", "ol"))
        return "" if is_part else _ITEM_OF.get(around, "")

    def _empty_cells(self, tr: int, until: int) -> Iterator[str]:
        """The cells of a table row that come before the cell `until` and hold nothing; -1: all that are left."""
        cells = self.outline.cells.get(tr, [])
        number = self.cells_written.get(tr, 0)
        while number < len(cells) and cells[number] != until:
            yield "<td></td>" * self.filling.get(cells[number], 0)
            yield f"{self._tag(cells[number])}</{self.outline.name[cells[number]]}>"
            number += 1
        self.cells_written[tr] = number + 1

    def _tag(self, row: int) -> str:
        name = self.outline.name[row]
        attributes = self.elements.attributes.get(row)
        if not attributes or (self.markdown and name in CELLS):
            return f"<{name}>"
        written = [name]
        for key, value in attributes.items():
            if key == "rowspan" and name in CELLS:
                value = str(self._rows_spanned(self.outline.up[row], int(value)))
            elif key == "start" and name != "ol":
                continue
            written.append(f'{key}="{escape(value)}"')
        return f"<{' '.join(written)}>"

    def _rows_spanned(self, tr: int, span: int) -> int:
        """How many of the `span` table rows from this one on are written: a cell must not reach into others."""
        part = self.outline.up[tr]
        trs = self.outline.trs[part]
        if part not in self.trs_before:
            before = [0]
            for row in trs:
                before.append(before[-1] + (row in self.with_content))
            self.trs_before[part] = before
        before = self.trs_before[part]
        number = bisect_left(trs, tr)
        return max(1, before[min(number + span, len(trs))] - before[number])

    def _fill(self, trs: list[int]) -> None:
        """Find the empty cells that stand for what colspan and rowspan cover, since pipe tables have neither, and
        those that the first row lacks: what lies beyond its width would not be shown.

        A colspan covers no more columns than its row lacks to be as wide as the fullest.
        """
        cells = [self.outline.cells.get(tr, []) for tr in trs]
        spans = {cell: span for row in cells for cell in row if (span := self._span(cell)) != (1, 1)}
        sizes = _sizes(cells, spans)
        if max(sizes, default=0) > MAX_SPANNED_COLUMNS:
            spans, sizes = {}, [len(row) for row in cells]
        width = max(sizes, default=0)
        free_from: dict[int, int] = {}  # column -> number of the first row that nothing above reaches there
        lengths: list[int] = []
        for number, (tr, row) in enumerate(zip(trs, cells, strict=True)):
            column = gap = 0
            spare = width - sizes[number]
            for cell in row:
                while free_from.get(column, 0) > number:
                    column, gap = column + 1, gap + 1
                across, down = spans.get(cell, (1, 1))
                across = min(across, 1 + spare)
                spare -= across - 1
                if down > 1:
                    free_from.update(dict.fromkeys(range(column, column + across), number + down))
                self.filling[cell] = gap
                column, gap = column + across, across - 1
            self.filling[tr] = gap
            lengths.append(column)
        if trs:
            self.filling[trs[0]] += max(lengths) - lengths[0]
            for cell in cells[0]:
                # a pipe table has a header in any case; without one here the converter takes some tables for lists
                self.outline.name[cell] = "th"

    def _span(self, cell: int) -> tuple[int, int]:
        """Columns and written rows that a cell covers."""
        attributes = self.elements.attributes.get(cell)
        if not attributes:
            return 1, 1
        down = int(attributes.get("rowspan", 1))
        return int(attributes.get("colspan", 1)), self._rows_spanned(self.outline.up[cell], down)

    def _run(self, run: Run) -> str:
        content = "".join(run.pieces)
        name = self.outline.name[run.home] if run.home >= 0 else ""
        if name in HEADINGS or name == "pre" or (name in _BARE and self.in_home[run.home] == 1):
            return content
        if name == "figure" and all(piece == " " or piece.startswith("<img ") for piece in run.pieces):
            return content
        if name in _ITEM_OF:
            return f"<{_ITEM_OF[name]}>{content}</{_ITEM_OF[name]}>"
        if name in ("table", "thead", "tbody", "tfoot"):  # only where cells are no leaf containers
            return f"<tr><td>{content}</td></tr>"
        return f"<p>{content}</p>"


def _sizes(cells: Sequence[Sequence[int]], spans: Mapping[int, tuple[int, int]]) -> list[int]:
    """Columns that each row of a table needs: its cells, and one for each cell above that reaches into it."""
    changes = [0] * (len(cells) + 1)
    for number, row in enumerate(cells):
        for cell in row:
            down = spans.get(cell, (1, 1))[1]
            if down > 1 and number + 1 < len(cells):
                changes[number + 1] += 1
                changes[min(number + down, len(cells))] -= 1
    return [len(row) + reaching for row, reaching in zip(cells, accumulate(changes), strict=False)]
