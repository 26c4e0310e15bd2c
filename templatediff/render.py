"""Kept leaves -> plain text, cleaned HTML, Markdown. The one home of nh3 and html-to-markdown.

HTML is rebuilt from the leaves and their containers (rebuild.py), then sanitised. Markdown is converted from the
same HTML, with the cells of tables flattened to one line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from html import escape, unescape
from urllib.parse import urljoin

import html_to_markdown
import nh3

from templatediff.inline import backslashes, escape_markdown
from templatediff.leaves import Elements, Leaves
from templatediff.outline import CELLS, HEADINGS, TAGS, begins_block
from templatediff.rebuild import rebuild
from templatediff.text import has_controls, without_controls

# those that `segment` keeps in markup
_INLINE = "a b strong i em u s del ins sub sup code kbd samp var mark small cite q abbr time bdo bdi br img"
_ALLOWED_TAGS = {*_INLINE.split(), *TAGS}
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
        if begins_block(leaves, leaf):
            begun = leaf
        if not kept[leaf]:
            continue
        if before >= 0:
            pieces.append(_gap(leaves, around, blocks_in_item, before, leaf, same_block=begun == block))
        group = leaves.group[leaf]
        if group >= 0 and (before < 0 or leaves.group[before] != group):
            cell = around.cell[leaves.row[leaf]]
            if cell >= 0 and leaves.elements.tag[group] == "tr":
                pieces.append("\t" * around.column[cell])
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
        if tag in CELLS:
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
        if kept[leaf] and begins_block(leaves, leaf):
            counts[place_of_row[row]] = counts.get(place_of_row[row], 0) + 1
    return counts


def _gap(
    leaves: Leaves,
    around: _Around,
    blocks_in_item: dict[int, int],
    before: int,
    leaf: int,
    *,
    same_block: bool,
) -> str:
    """What stands between two kept leaves that follow each other."""
    row, earlier = leaves.row[leaf], leaves.row[before]
    group, group_before = leaves.group[leaf], leaves.group[before]
    if group >= 0 and group == group_before:
        if leaves.elements.tag[group] != "tr":
            return "\n" * max(1, leaves.breaks[leaf])
        cell, cell_before = around.cell[row], around.cell[earlier]
        if cell == cell_before or min(cell, cell_before) < 0:
            return " "
        return "\t" * max(1, around.column[cell] - around.column[cell_before])
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
    leaves = _printable(leaves)
    content = rebuild(leaves, kept, _resolver(leaves, url), markdown=False)
    if not content:
        return ""
    head = leaves.head
    attributes = ""
    lang = (head.lang or "").strip().replace("_", "-")
    if _LANG.fullmatch(lang):
        attributes += f' lang="{lang}"'
    direction = (head.direction or "").strip().lower()
    if direction in DIRECTIONS:
        attributes += f' dir="{direction}"'
    return _sanitise(f"<div{attributes}>{content}</div>")


def document(content: str, title: str | None = None) -> str:
    """What `html` gave as a whole document, to be written into a file as UTF-8.

    >>> document("<div><p>a</p></div>", "A < B")
    '<!DOCTYPE html>\\n<meta charset="utf-8">\\n<title>A &lt; B</title>\\n<div><p>a</p></div>\\n'
    """
    head = escape(without_controls(title or ""), quote=False)
    return f'<!DOCTYPE html>\n<meta charset="utf-8">\n<title>{head}</title>\n{content}\n'


def markdown(leaves: Leaves, kept: Sequence[bool], *, url: str | None = None) -> str:
    """The kept leaves of `segment(rich=True)` as CommonMark with pipe tables and ~~, without a last line end.

    Cells hold one line each, `<br>` between their blocks. Characters that would be read as Markdown have a backslash.
    """
    leaves = _printable(leaves)
    content = rebuild(leaves, kept, _resolver(leaves, url), markdown=True)
    if not content:
        return ""
    converted = _convert(_sanitise(content))
    if converted is None:
        lines = text(leaves, kept).split("\n")
        converted = "\n".join(escape_markdown(escape(line, quote=False), line_start=True) for line in lines)
        converted = unescape(converted)
    return backslashes(converted).strip("\n")


def _printable(leaves: Leaves) -> Leaves:
    """The leaves without control characters. They go before Markdown is escaped and HTML sanitised: afterwards their going
    could bring a heading, or a scheme, together. NUL, which stands for a lost character, becomes U+FFFD."""
    if not any(map(has_controls, (*leaves.markup, *(image for _, image, _ in leaves.images)))):
        return leaves
    return replace(
        leaves,
        text=[_shown(text) for text in leaves.text],
        markup=[_shown(markup) for markup in leaves.markup],
        images=[(leaf, _shown(image), row) for leaf, image, row in leaves.images],
    )


def _shown(text: str) -> str:
    return without_controls(text.replace("\0", "\ufffd"))


def _sanitise(content: str) -> str:
    # a lone surrogate cannot be handed on
    content = _shown(content).encode("utf-8", "replace").decode("utf-8")
    return nh3.clean(content, tags=_ALLOWED_TAGS, attributes=_ALLOWED_ATTRIBUTES, url_schemes=_SCHEMES, link_rel=None)


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
        keep_inline_images_in=sorted(HEADINGS | CELLS),  # else they lose their address
        preprocessing=html_to_markdown.PreprocessingOptions(enabled=False),
    )


def _resolver(leaves: Leaves, url: str | None) -> Callable[[str], str]:
    """Address as written -> absolute address, as far as the page's own address or base is known; "" for a bad one."""
    base = url or ""
    if leaves.head.base:
        with suppress(ValueError):
            base = urljoin(base, leaves.head.base.strip())
    known: dict[str, str] = {}

    def resolve(target: str) -> str:
        if target not in known:
            try:
                known[target] = urljoin(base, target) if base else target
            except ValueError:
                known[target] = ""
        return known[target]

    return resolve
