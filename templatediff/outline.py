"""Elements of a page -> what each is written as: blocks and their parts; wrappers and layout tables go."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from templatediff.leaves import Leaves

MAX_HEADING = 300  # characters of a heading element that holds several blocks; over it these are paragraphs
MAX_SWELLING = 20  # cells of a pipe table for each that the page has
MAX_NESTING = 24  # lists, quotations, sections inside each other; deeper ones are unwrapped
HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
#: element of the page -> element written; these may stand anywhere
_BLOCKS = {
    "ul": "ul", "menu": "ul", "dir": "ul", "ol": "ol", "dl": "dl", "table": "table", "pre": "pre", "listing": "pre",
    "xmp": "pre", "plaintext": "pre", "blockquote": "blockquote", "figure": "figure", "article": "article",
    "section": "section", "details": "details",
}  # fmt: skip
#: element -> the elements it is a part of; elsewhere it is no more than a wrapper
PARTS = {
    "li": {"ul", "ol"}, "dt": {"dl"}, "dd": {"dl"}, "caption": {"table"}, "thead": {"table"},
    "tbody": {"table"}, "tfoot": {"table"}, "tr": {"table", "thead", "tbody", "tfoot"}, "td": {"tr"}, "th": {"tr"},
    "figcaption": {"figure"}, "summary": {"details"},
}  # fmt: skip
CELLS = frozenset(["td", "th"])
#: not written for Markdown: the converter sorts the sections of tables, and makes captions of several blocks one
_NOT_FLAT = frozenset(["thead", "tbody", "tfoot", "caption", "figcaption", "summary"])
_LANGUAGE = frozenset(["dir", "lang"])  # attributes for which a wrapper stays
#: every element written here that is not inline
TAGS = frozenset({*HEADINGS, *_BLOCKS.values(), *PARTS, "p", "div"})


@dataclass(frozen=True, slots=True)
class Outline:
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


def outlined(leaves: Leaves, *, flat: bool) -> Outline:
    """Decide which elements are written. With `flat` there is nothing in cells but text, and no caption."""
    elements = leaves.elements
    tables, no_headings = _data_tables(leaves, flat), _misused_headings(leaves)
    outline = Outline()
    depth = [0] * len(elements.parent)
    for row, (parent, tag) in enumerate(zip(elements.parent, elements.tag, strict=True)):
        up = outline.home[parent] if parent >= 0 else -1
        around = outline.name[up] if up >= 0 else ""
        name = ""
        if flat and (around in CELLS or tag in _NOT_FLAT):
            if tag == "caption" and around == "table":
                up = outline.up[up]
        elif tag in HEADINGS:
            name = "" if row in no_headings else tag
        elif tag in PARTS:
            name = tag if around in PARTS[tag] else ""
        elif up < 0 or depth[up] < MAX_NESTING:
            name = _BLOCKS.get(tag, "")
            if name == "table" and row not in tables:
                name = ""
            languages = not flat and around not in HEADINGS and elements.attributes.get(row, {}).keys() & _LANGUAGE
            if languages and not name:
                name = "div"
        if name and around in HEADINGS:
            up = outline.up[up]  # a heading holds nothing but text: here it is one around other blocks
        if name:
            depth[row] = (depth[up] if up >= 0 else 0) + (name not in PARTS)
            if name in CELLS:
                outline.cells.setdefault(up, []).append(row)
            elif name == "tr":
                outline.trs.setdefault(up, []).append(row)
        outline.name.append(name)
        outline.up.append(up)
        outline.home.append(row if name else up)
    return outline


def begins_block(leaves: Leaves, leaf: int) -> bool:
    """Does nothing join this leaf to the one before: no `<br>` in the same container, no line of the same code."""
    if leaves.breaks[leaf] == 0 or leaf == 0:
        return True
    return leaves.row[leaf] != leaves.row[leaf - 1]


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
        heading.append(row if tag in HEADINGS else heading[parent] if parent >= 0 else -1)
    blocks, characters = Counter[int](), Counter[int]()
    for leaf, row in enumerate(leaves.row):
        if heading[row] >= 0:
            blocks[heading[row]] += begins_block(leaves, leaf)
            characters[heading[row]] += len(leaves.text[leaf])
    return {row for row, number in blocks.items() if number > 1 and characters[row] > MAX_HEADING}
