"""Kept leaves -> HTML made anew from their containers, not yet sanitised.

Headings, lists, data tables, code, quotations, figures, articles and sections come back as such; wrappers and
layout tables go; a run of text in none of them is a paragraph. Every kept leaf is written once, in document order.

An image is kept where text beside it is kept: in the deepest container around it that holds any leaf, the leaf
next before the image or the leaf next after it is kept.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import accumulate

from templatediff.inline import LINE_END, inline_html, inline_image, inline_markdown, plain
from templatediff.leaves import Elements, Leaves

MAX_HEADING = 300  # characters of a heading element that holds several blocks; over it these are paragraphs
MAX_SWELLING = 20  # cells of a pipe table for each that the page has
MAX_SPANNED_COLUMNS = 32  # a pipe table with more columns is written without regard to colspan and rowspan
MAX_NESTING = 24  # lists, quotations, sections inside each other; deeper ones are unwrapped

_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
#: element of the page -> element written; these may stand anywhere
_BLOCKS = {
    "ul": "ul", "menu": "ul", "dir": "ul", "ol": "ol", "dl": "dl", "table": "table", "pre": "pre", "listing": "pre",
    "xmp": "pre", "plaintext": "pre", "blockquote": "blockquote", "figure": "figure", "article": "article",
    "section": "section", "details": "details",
}  # fmt: skip
#: element -> the elements it is a part of; elsewhere it is no more than a wrapper
_PARTS = {
    "li": {"ul", "ol"}, "dt": {"dl"}, "dd": {"dl"}, "caption": {"table"}, "thead": {"table"},
    "tbody": {"table"}, "tfoot": {"table"}, "tr": {"table", "thead", "tbody", "tfoot"}, "td": {"tr"}, "th": {"tr"},
    "figcaption": {"figure"}, "summary": {"details"},
}  # fmt: skip
CELLS = frozenset(["td", "th"])
#: not written for Markdown: the converter sorts the sections of tables, and makes captions of several blocks one
_NOT_FLAT = frozenset(["thead", "tbody", "tfoot", "caption", "figcaption", "summary"])
#: parts whose text needs no paragraph where it is one run
_BARE = frozenset(["li", "dt", "dd", "td", "th", "caption", "figcaption", "summary"])
#: what text or a block that stands directly in one of these is put into
_ITEM_OF = {"ul": "li", "ol": "li", "dl": "dd", "tr": "td"}
_LANGUAGE = frozenset(["dir", "lang"])  # attributes for which a wrapper stays
#: every element written here that is not inline
TAGS = frozenset({*_HEADINGS, *_BLOCKS.values(), *_PARTS, "p", "div"})

_Resolve = Callable[[str], str]


def rebuild(leaves: Leaves, kept: Sequence[bool], resolve: _Resolve, *, markdown: bool) -> str:
    """HTML of the kept leaves of `segment(rich=True)` and their images.

    `resolve` makes an address absolute. With `markdown` the HTML is one that Markdown can say: only lines in the
    cells of tables, captions as paragraphs, look-alikes of Markdown replaced (see `inline.backslashes`).
    """
    shape = _shape(leaves.elements, _data_tables(leaves, markdown), _misused_headings(leaves), flat=markdown)
    runs = _runs(leaves, kept, shape, resolve, markdown)
    return "".join(_Writer(leaves.elements, shape, runs, markdown).write())


def begins_block(leaves: Leaves, leaf: int) -> bool:
    """Does nothing join this leaf to the one before: no `<br>` in the same container, no line of the same code."""
    if leaves.breaks[leaf] == 0 or leaf == 0:
        return True
    return leaves.row[leaf] != leaves.row[leaf - 1]


@dataclass(frozen=True, slots=True)
class _Shape:
    """Per element row of the page, what becomes of it.

    home   row of the innermost written element that it is or lies in; -1 for none
    up     row of the written element around it; -1 for none
    name   the name it is written under, "" where it is not written
    cells  row of a written tr -> rows of its cells, those without text included
    trs    row of a written table or part of it -> rows of its tr elements
    """

    home: list[int] = field(default_factory=list)
    up: list[int] = field(default_factory=list)
    name: list[str] = field(default_factory=list)
    cells: dict[int, list[int]] = field(default_factory=dict)
    trs: dict[int, list[int]] = field(default_factory=dict)

    def name_of_home(self, row: int) -> str:
        home = self.home[row]
        return self.name[home] if home >= 0 else ""


def _data_tables(leaves: Leaves, flat: bool) -> set[int]:
    """Rows of the tables whose leaves `segment` grouped by table row, less those of one column or with a section's
    heading inside, which only lay out the page.

    With `flat`, less those so uneven that filling all rows to the width of the widest would swell them too far.
    """
    elements = leaves.elements
    table: list[int] = []
    cells: dict[int, int] = {}  # of a tr
    for row, (parent, tag) in enumerate(zip(elements.parent, elements.tag, strict=True)):
        table.append(row if tag == "table" else table[parent] if parent >= 0 else -1)
        if tag in CELLS:
            cells[parent] = cells.get(parent, 0) + 1
    found = {table[group] for group in leaves.group if group >= 0 and elements.tag[group] == "tr"}
    rows, widest, total = Counter[int](), Counter[int](), Counter[int]()
    for tr, number in cells.items():
        rows[table[tr]] += 1
        total[table[tr]] += number
        widest[table[tr]] = max(widest[table[tr]], number)
    found = {one for one in found if widest[one] > 1}
    found -= {table[row] for row, heading in zip(leaves.row, leaves.heading, strict=True) if 0 < heading <= 3}
    if flat:
        found = {one for one in found if rows[one] * widest[one] <= MAX_SWELLING * total[one] + 10_000}
    return found


def _misused_headings(leaves: Leaves) -> set[int]:
    """Rows of heading elements that hold several blocks of more than a heading's length: unclosed or misused tags."""
    elements = leaves.elements
    heading: list[int] = []
    for row, (parent, tag) in enumerate(zip(elements.parent, elements.tag, strict=True)):
        heading.append(row if tag in _HEADINGS else heading[parent] if parent >= 0 else -1)
    blocks, characters = Counter[int](), Counter[int]()
    for leaf, row in enumerate(leaves.row):
        if heading[row] >= 0:
            blocks[heading[row]] += begins_block(leaves, leaf)
            characters[heading[row]] += len(leaves.text[leaf])
    return {row for row, number in blocks.items() if number > 1 and characters[row] > MAX_HEADING}


def _shape(elements: Elements, data_tables: set[int], no_headings: set[int], flat: bool) -> _Shape:
    """Decide which elements are written. With `flat` there is nothing in cells but text, and no caption."""
    shape = _Shape()
    depth = [0] * len(elements.parent)
    for row, (parent, tag) in enumerate(zip(elements.parent, elements.tag, strict=True)):
        up = shape.home[parent] if parent >= 0 else -1
        around = shape.name[up] if up >= 0 else ""
        name = ""
        if flat and (around in CELLS or tag in _NOT_FLAT):
            if tag == "caption" and around == "table":
                up = shape.up[up]
        elif tag in _HEADINGS:
            name = "" if row in no_headings else tag
        elif tag in _PARTS:
            name = tag if around in _PARTS[tag] else ""
        elif up < 0 or depth[up] < MAX_NESTING:
            name = _BLOCKS.get(tag, "")
            if name == "table" and row not in data_tables:
                name = ""
            languages = not flat and around not in _HEADINGS and elements.attributes.get(row, {}).keys() & _LANGUAGE
            if languages and not name:
                name = "div"
        if name and around in _HEADINGS:
            up = shape.up[up]  # a heading holds nothing but text: here it is one around other blocks
        if name:
            depth[row] = (depth[up] if up >= 0 else 0) + (name not in _PARTS)
            if name in CELLS:
                shape.cells.setdefault(up, []).append(row)
            elif name == "tr":
                shape.trs.setdefault(up, []).append(row)
        shape.name.append(name)
        shape.up.append(up)
        shape.home.append(row if name else up)
    return shape


@dataclass(slots=True)
class _Run:
    """Inline content that belongs together: the row of its home and its HTML in pieces."""

    home: int
    pieces: list[str]


def _runs(leaves: Leaves, kept: Sequence[bool], shape: _Shape, resolve: _Resolve, markdown: bool) -> list[_Run]:
    """The kept leaves and images as runs: one for what `<br>` parts, for what stands in one heading, one flat cell or
    one block of code, and for images with the text that follows them in their container."""
    runs: list[_Run] = []
    images = _kept_images(leaves, kept)
    image_row = -1  # container of the image that was written last, if no leaf came after it
    begun, run_begun = -1, -2  # leaf that began the block being read, and the one being written
    for leaf in range(len(leaves) + 1):
        for image, row in images.get(leaf, ()):
            written = inline_image(image, resolve, markdown)
            if not written:
                continue
            same_home = bool(runs) and runs[-1].home == shape.home[row]
            if same_home and (image_row == row or _is_one_run(shape.name_of_home(row), markdown)):
                runs[-1].pieces += [" ", written]
            else:
                runs.append(_Run(shape.home[row], [written]))
            image_row, run_begun = row, -2
        if leaf == len(leaves):
            break
        row, breaks = leaves.row[leaf], leaves.breaks[leaf]
        if begins_block(leaves, leaf):
            begun = leaf
        if not kept[leaf]:
            continue
        name = shape.name_of_home(row)
        between = ""  # begins a run
        if runs and runs[-1].home == shape.home[row]:
            if name == "pre":
                between = "\n" * max(1, breaks)
            elif image_row == row:
                between = " "
            elif breaks == 1 and run_begun == begun and not (markdown and name in _HEADINGS):
                between = LINE_END if markdown and name not in CELLS else "<br>"
            elif _is_one_run(name, markdown):
                between = " " if name in _HEADINGS else "<br>"
        content = _content(leaves, leaf, name, between, resolve, markdown)
        if between:
            runs[-1].pieces += [between, content]
        else:
            runs.append(_Run(shape.home[row], [content]))
        image_row, run_begun = -1, begun
    return runs


def _is_one_run(name: str, markdown: bool) -> bool:
    return name in _HEADINGS or (markdown and name in CELLS)


def _content(leaves: Leaves, leaf: int, name: str, between: str, resolve: _Resolve, markdown: bool) -> str:
    """Inline HTML of one leaf in a home of this name."""
    markup = leaves.markup[leaf] if leaves.markup else escape(leaves.text[leaf], quote=False)
    group = leaves.group[leaf]
    if group >= 0 and leaves.elements.tag[group] != "tr":  # a line of code
        line = escape(plain(markup), quote=False) if markdown else markup
        return line if name == "pre" else f"<code>{line}</code>"
    if not markdown:
        return inline_html(markup, resolve)
    line_start = between != " " and name not in _HEADINGS and name not in CELLS
    return inline_markdown(markup, resolve, line_start)


def _kept_images(leaves: Leaves, kept: Sequence[bool]) -> dict[int, list[tuple[str, int]]]:
    """Leaf -> (HTML, row) of the images to be written before it, by the rule at the head of this module."""
    found: dict[int, list[tuple[str, int]]] = {}
    if not leaves.images or not leaves.text:
        return found
    parent = leaves.elements.parent
    first, last = [len(leaves)] * len(parent), [-1] * len(parent)
    for leaf, row in enumerate(leaves.row):
        first[row], last[row] = min(first[row], leaf), leaf
    for row in range(len(parent) - 1, 0, -1):
        first[parent[row]] = min(first[parent[row]], first[row])
        last[parent[row]] = max(last[parent[row]], last[row])
    holder = list(range(len(parent)))
    for row in range(1, len(parent)):
        if last[row] < 0:
            holder[row] = holder[parent[row]]
    for leaf, image, row in leaves.images:
        around = holder[row]
        if (first[around] < leaf and kept[leaf - 1]) or (leaf <= last[around] and kept[leaf]):
            found.setdefault(leaf, []).append((image, row))
    return found


class _Writer:
    """Writes runs inside their elements, which are opened and closed as the runs need them."""

    def __init__(self, elements: Elements, shape: _Shape, runs: list[_Run], markdown: bool) -> None:
        self.elements = elements
        self.shape = shape
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
            for trs in shape.trs.values():
                self._fill([tr for tr in trs if tr in self.with_content])

    def _rows_with_content(self) -> set[int]:
        found = {-1}
        for row in self.in_home:
            while row not in found:
                found.add(row)
                row = self.shape.up[row]
        return found

    def write(self) -> Iterator[str]:
        up = self.shape.up
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
            name = self.shape.name[row]
            if name == "tr":
                yield from self._empty_cells(row, -1)
                yield "<td></td>" * self.filling.get(row, 0)
            yield "</code></pre>" if name == "pre" else f"</{name}>"
            if self._wrapper(row):
                yield f"</{self._wrapper(row)}>"

    def _open(self, row: int) -> Iterator[str]:
        name = self.shape.name[row]
        if self._wrapper(row):
            yield f"<{self._wrapper(row)}>"
        if name in CELLS:
            yield from self._empty_cells(self.shape.up[row], row)
            yield "<td></td>" * self.filling.get(row, 0)
        yield "<pre><code>" if name == "pre" else self._tag(row)

    def _wrapper(self, row: int) -> str:
        """Name of the item that must stand around this element, "" for none (a list in a list needs none)."""
        up, name = self.shape.up[row], self.shape.name[row]
        around = self.shape.name[up] if up >= 0 else ""
        is_part = around in _PARTS.get(name, ()) or (name in ("ul", "ol") and around in ("ul", "ol"))
        return "" if is_part else _ITEM_OF.get(around, "")

    def _empty_cells(self, tr: int, until: int) -> Iterator[str]:
        """The cells of a table row that come before the cell `until` and hold nothing; -1: all that are left."""
        cells = self.shape.cells.get(tr, [])
        number = self.cells_written.get(tr, 0)
        while number < len(cells) and cells[number] != until:
            yield "<td></td>" * self.filling.get(cells[number], 0)
            yield f"{self._tag(cells[number])}</{self.shape.name[cells[number]]}>"
            number += 1
        self.cells_written[tr] = number + 1

    def _tag(self, row: int) -> str:
        name = self.shape.name[row]
        attributes = self.elements.attributes.get(row)
        if not attributes or (self.markdown and name in CELLS):
            return f"<{name}>"
        written = [name]
        for key, value in attributes.items():
            if key == "rowspan" and name in CELLS:
                value = str(self._rows_spanned(self.shape.up[row], int(value)))
            elif key == "start" and name != "ol":
                continue
            written.append(f'{key}="{escape(value)}"')
        return f"<{' '.join(written)}>"

    def _rows_spanned(self, tr: int, span: int) -> int:
        """How many of the `span` table rows from this one on are written: a cell must not reach into others."""
        part = self.shape.up[tr]
        trs = self.shape.trs[part]
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
        cells = [self.shape.cells.get(tr, []) for tr in trs]
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
                self.shape.name[cell] = "th"

    def _span(self, cell: int) -> tuple[int, int]:
        """Columns and written rows that a cell covers."""
        attributes = self.elements.attributes.get(cell)
        if not attributes:
            return 1, 1
        down = int(attributes.get("rowspan", 1))
        return int(attributes.get("colspan", 1)), self._rows_spanned(self.shape.up[cell], down)

    def _run(self, run: _Run) -> str:
        content = "".join(run.pieces)
        name = self.shape.name[run.home] if run.home >= 0 else ""
        if name in _HEADINGS or name == "pre" or (name in _BARE and self.in_home[run.home] == 1):
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
