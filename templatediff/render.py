"""Kept leaves -> plain text, cleaned HTML, Markdown. The one home of nh3 and html-to-markdown.

HTML is rebuilt from the leaves' containers rather than cut out of the page: headings, lists, data tables, code,
quotations and figures come back as such, wrappers and layout tables go, and a run of text in none of them is a
paragraph. Markdown is converted from the same HTML, with table cells flattened to lines.

An image is kept where text beside it is kept: of the deepest container around it that holds any leaf, the leaf next
before the image and the one next after it are looked at, and one kept leaf suffices.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from urllib.parse import urljoin

import html_to_markdown
import nh3

from templatediff.inline import backslashes, inline_html, inline_image, inline_markdown, plain
from templatediff.segment import Elements, Leaves

MAX_NESTING = 24  # lists, quotations, sections inside each other; deeper ones are unwrapped

_HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
#: page's element -> element in the output; these may stand anywhere
_BLOCKS = {name: name for name in "ul ol dl table pre blockquote figure article section details".split()}
_BLOCKS |= {"menu": "ul", "dir": "ul", "listing": "pre", "xmp": "pre", "plaintext": "pre"}
#: element -> the elements it is a part of; elsewhere it is no more than a wrapper
_PARTS = {
    "li": {"ul", "ol"}, "dt": {"dl"}, "dd": {"dl"}, "caption": {"table"}, "thead": {"table"}, "tbody": {"table"},
    "tfoot": {"table"}, "tr": {"table", "thead", "tbody", "tfoot"}, "td": {"tr"}, "th": {"tr"},
    "figcaption": {"figure"}, "summary": {"details"},
}  # fmt: skip
_CELLS = frozenset(["td", "th"])
_LISTS = frozenset(["ul", "ol", "dl"])
#: elements whose text stands in them without a paragraph, where it is one run
_BARE = frozenset("li dt dd td th caption figcaption summary".split())
_ITEM_IN = {"ul": "li", "ol": "li", "dl": "dd", "tr": "td"}

_INLINE = "a b strong i em u s del ins sub sup code kbd samp var mark small cite q abbr time bdo bdi br img".split()
_ALLOWED_TAGS = {*_INLINE, *_HEADINGS, *_BLOCKS.values(), *_PARTS, "p", "div"}
_ALLOWED_ATTRIBUTES = {
    "*": {"dir", "lang"}, "a": {"href"}, "img": {"src", "alt"}, "ol": {"start"},
    "td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan"},
}  # fmt: skip
_SCHEMES = {"http", "https", "ftp", "mailto", "tel"}
_LANG = re.compile(r"[A-Za-z0-9-]{1,60}")
DIRECTIONS = ("ltr", "rtl", "auto")


def text(leaves: Leaves, kept: Sequence[bool]) -> str:
    """The kept leaves as plain text, in document order, each exactly once.

    Blocks are parted by an empty line. One line end stands between lines that `<br>` or code ends (empty lines of
    code stay), between rows of a data table, between items of a list whose items are one block each, and between a
    term and its definition. Cells of a row are parted by a tab each, also where a cell is empty; leaves inside one
    cell by a space.
    """
    around = _surroundings(leaves.elements)
    blocks_in_item = _count_blocks(leaves, kept, around.item)
    pieces: list[str] = []
    before, block = -1, -1  # last kept leaf; leaf that its block begins with
    begun = -1
    for leaf, words in enumerate(leaves.text):
        if leaves.breaks[leaf] != 1:
            begun = leaf
        if not kept[leaf]:
            continue
        if before >= 0:
            pieces.append(_gap(leaves, around, blocks_in_item, before, leaf, same_block=begun == block))
        row, group = leaves.row[leaf], leaves.group[leaf]
        if group >= 0 and (before < 0 or leaves.group[before] != group):
            pieces.append("\t" * max(0, around.column[around.cell[row]]))
        pieces.append(words)
        before, block = leaf, begun
    return "".join(pieces)


@dataclass(frozen=True, slots=True)
class _Around:
    """Per element row: the row of the innermost cell, list item and table it is or lies in, and of the outermost
    list; -1 for none. `column` is a cell's place in its table row, 0 for the first and for what is no cell."""

    cell: list[int] = field(default_factory=list)
    item: list[int] = field(default_factory=list)
    outer_list: list[int] = field(default_factory=list)
    table: list[int] = field(default_factory=list)
    column: list[int] = field(default_factory=list)


def _surroundings(elements: Elements) -> _Around:
    around = _Around()
    cells: dict[int, int] = {}
    for row, (parent, tag) in enumerate(zip(elements.parent, elements.tag, strict=True)):
        cell, item, outer_list, table = (
            (around.cell[parent], around.item[parent], around.outer_list[parent], around.table[parent])
            if parent >= 0
            else (-1, -1, -1, -1)
        )
        column = 0
        if tag in _CELLS:
            cell = row
            column = cells.get(parent, 0)
            cells[parent] = column + 1
        elif tag in ("li", "dt", "dd"):
            item = row
        elif tag in ("ul", "ol", "dl", "menu", "dir"):
            outer_list = outer_list if outer_list >= 0 else row
        elif tag == "table":
            # a list around a layout table says nothing about its text
            cell, item, outer_list, table = -1, -1, -1, row
        around.cell.append(cell)
        around.item.append(item)
        around.outer_list.append(outer_list)
        around.table.append(table)
        around.column.append(column)
    return around


def _count_blocks(leaves: Leaves, kept: Sequence[bool], place_of_row: Sequence[int]) -> dict[int, int]:
    """Place -> kept leaves in it that begin a block."""
    counts: dict[int, int] = {}
    for leaf, row in enumerate(leaves.row):
        if kept[leaf] and leaves.breaks[leaf] == 0:
            counts[place_of_row[row]] = counts.get(place_of_row[row], 0) + 1
    return counts


def _gap(
    leaves: Leaves, around: _Around, blocks_in_item: dict[int, int], before: int, leaf: int, *, same_block: bool
) -> str:
    """What stands between two kept leaves that follow each other."""
    row, earlier = leaves.row[leaf], leaves.row[before]
    group, group_before = leaves.group[leaf], leaves.group[before]
    if group >= 0 and group == group_before:
        if leaves.elements.tag[group] != "tr":
            return "\n" * max(1, leaves.breaks[leaf])
        cells = around.cell[row], around.cell[earlier]
        return "\t" * max(1, around.column[cells[0]] - around.column[cells[1]]) if cells[0] != cells[1] else " "
    if group >= 0 and group_before >= 0:
        tables = around.table[group], around.table[group_before]
        tags = leaves.elements.tag[group], leaves.elements.tag[group_before]
        return "\n" if tables[0] == tables[1] and tags == ("tr", "tr") else "\n\n"
    if leaves.breaks[leaf] == 1 and same_block:
        return "\n"
    items = around.item[row], around.item[earlier]
    if (
        items[0] != items[1]
        and min(items) >= 0
        and 0 <= around.outer_list[items[0]] == around.outer_list[items[1]]
        and blocks_in_item.get(items[0], 0) <= 1 >= blocks_in_item.get(items[1], 0)
        and (leaves.elements.tag[items[1]], leaves.elements.tag[items[0]]) != ("dd", "dt")
    ):
        return "\n"
    return "\n\n"


def html(leaves: Leaves, kept: Sequence[bool], *, url: str | None = None) -> str:
    """The kept leaves of `segment(rich=True)` as one sanitised `<div>`, "" for none.

    It bears the page's `lang` and `dir`. Links and images are absolute where `url` or the page's base is known. There
    is no script, style, event handler, or link with a scheme other than http(s), ftp, mailto and tel.
    """
    content = _build(leaves, kept, _resolver(leaves, url), markdown=False)
    if not content:
        return ""
    head = leaves.head
    attributes = ""
    if head.lang and _LANG.fullmatch(head.lang.strip()):
        attributes += f' lang="{head.lang.strip()}"'
    if head.direction and head.direction.strip().lower() in DIRECTIONS:
        attributes += f' dir="{head.direction.strip().lower()}"'
    return _sanitise(f"<div{attributes}>{content}</div>")


def markdown(leaves: Leaves, kept: Sequence[bool], *, url: str | None = None) -> str:
    """The kept leaves of `segment(rich=True)` as CommonMark with pipe tables and ~~, without a last line end.

    Cells hold one line each, `<br>` between their blocks. Characters that would be read as Markdown have a backslash.
    """
    content = _build(leaves, kept, _resolver(leaves, url), markdown=True)
    if not content:
        return ""
    converted = _convert(_sanitise(content))
    if converted is None:
        return "\n\n".join(
            inline_markdown(escape(block, quote=False), str, True) for block in text(leaves, kept).split("\n\n")
        )
    return backslashes(converted).strip("\n")


def _sanitise(content: str) -> str:
    # NUL would be dropped, which joins the words around it; a lone surrogate cannot be handed on
    content = content.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    return nh3.clean(
        content, tags=_ALLOWED_TAGS, attributes=_ALLOWED_ATTRIBUTES, url_schemes=_SCHEMES, link_rel=None
    )


def _convert(content: str) -> str | None:
    """HTML -> Markdown; None where the converter fails, as its reports of an error are no Python Exceptions."""
    try:
        converted: str | None = html_to_markdown.convert(content, _conversion_options()).content
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException:  # a Rust panic comes as a BaseException of a type that cannot be imported
        return None
    return converted or None


@cache
def _conversion_options() -> html_to_markdown.ConversionOptions:
    return html_to_markdown.ConversionOptions(
        bullets="-",
        autolinks=False,
        br_in_tables=True,
        compact_tables=True,
        extract_metadata=False,
        expand_abbreviations=False,
        include_blockquote_citations=False,
        hidden_content="all",
        preprocessing=html_to_markdown.PreprocessingOptions(enabled=False),
    )


def _resolver(leaves: Leaves, url: str | None) -> Callable[[str], str]:
    """Address as written -> absolute address, as far as the page's own address or base is known; "" for a bad one."""
    base = url or ""
    if leaves.head.base:
        try:
            base = urljoin(base, leaves.head.base.strip())
        except ValueError:
            pass
    known: dict[str, str] = {}

    def resolve(target: str) -> str:
        if target not in known:
            try:
                known[target] = urljoin(base, target) if base else target
            except ValueError:
                known[target] = ""
        return known[target]

    return resolve


@dataclass(frozen=True, slots=True)
class _Shape:
    """Per element row of the page, what becomes of it in the output.

    home   row of the innermost element written around its text, itself included; -1 for none
    up     for an element that is written, the row of the one around it; -1 for none
    name   name under which it is written, "" if it is not
    cells  written row of a table -> rows of its cells
    """

    home: list[int] = field(default_factory=list)
    up: list[int] = field(default_factory=list)
    name: list[str] = field(default_factory=list)
    cells: dict[int, list[int]] = field(default_factory=dict)


def _shape(elements: Elements, data_tables: set[int], flat_cells: bool) -> _Shape:
    """Decide which elements are written. With `flat_cells` nothing is inside the cells of a table, nor are captions."""
    shape = _Shape()
    depth = [0] * len(elements.parent)
    for row, (parent, tag) in enumerate(zip(elements.parent, elements.tag, strict=True)):
        above = shape.home[parent] if parent >= 0 else -1
        around = shape.name[above] if above >= 0 else ""
        name = ""
        if (flat_cells and (around in _CELLS or tag in ("caption", "figcaption", "summary"))) or around == "pre":
            pass
        elif tag in _HEADINGS:
            name = tag
        elif tag in _PARTS:
            name = tag if around in _PARTS[tag] else ""
        elif above < 0 or depth[above] < MAX_NESTING:
            name = _BLOCKS.get(tag, "")
            if name == "table" and row not in data_tables:
                name = ""
            if not name and not flat_cells and around not in _HEADINGS and _says_language(elements, row):
                name = "div"
        if name and around in _HEADINGS:
            above = shape.up[above]  # a heading holds inline content only
            around = shape.name[above] if above >= 0 else ""
        if flat_cells and tag == "caption" and around == "table":
            above = shape.up[above]
        if name:
            depth[row] = (depth[above] if above >= 0 else 0) + (name not in _PARTS)
            if name in _CELLS:
                shape.cells.setdefault(above, []).append(row)
        shape.name.append(name)
        shape.up.append(above)
        shape.home.append(row if name else above)
    return shape


def _says_language(elements: Elements, row: int) -> bool:
    attributes = elements.attributes.get(row, {})
    return "dir" in attributes or "lang" in attributes


def _data_tables(leaves: Leaves) -> set[int]:
    """Rows of the tables whose leaves `segment` grouped by table row."""
    elements = leaves.elements
    table: list[int] = []
    for row, (parent, tag) in enumerate(zip(elements.parent, elements.tag, strict=True)):
        table.append(row if tag == "table" else table[parent] if parent >= 0 else -1)
    return {table[group] for group in leaves.group if group >= 0 and elements.tag[group] == "tr"} - {-1}


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
        before = first[around] <= leaf - 1 and kept[leaf - 1]
        after = leaf <= last[around] and kept[leaf]
        if before or after:
            found.setdefault(leaf, []).append((image, row))
    return found


@dataclass(slots=True)
class _Run:
    """Inline content that belongs together: its home and its pieces."""

    home: int
    pieces: list[str] = field(default_factory=list)


def _build(leaves: Leaves, kept: Sequence[bool], resolve: Callable[[str], str], *, markdown: bool) -> str:
    """HTML of the kept leaves and their images, not yet sanitised."""
    shape = _shape(leaves.elements, _data_tables(leaves), flat_cells=markdown)
    runs = _runs(leaves, kept, shape, resolve, markdown)
    in_home: dict[int, int] = {}
    for run in runs:
        in_home[run.home] = in_home.get(run.home, 0) + 1
    return "".join(_written(leaves.elements, shape, runs, in_home, _kept_table_rows(shape, runs)))


def _runs(
    leaves: Leaves, kept: Sequence[bool], shape: _Shape, resolve: Callable[[str], str], markdown: bool
) -> list[_Run]:
    runs: list[_Run] = []
    images = _kept_images(leaves, kept)
    joins = False  # the next leaf of this row goes on in the last run
    last_row = -1
    for leaf in range(len(leaves) + 1):
        for image, row in images.get(leaf, ()):
            written = inline_image(image, resolve, markdown)
            if not written:
                continue
            if not (joins and last_row == row and runs[-1].home == shape.home[row]) and not _goes_on(runs, shape, row):
                runs.append(_Run(shape.home[row]))
            runs[-1].pieces += [" ", written, " "]
            joins, last_row = True, row
            
        if leaf == len(leaves):
            break
        row, breaks = leaves.row[leaf], leaves.breaks[leaf]
        home = shape.home[row]
        name = shape.name[home] if home >= 0 else ""
    return runs
