"""Tree -> leaves in document order.

A leaf is a run of inline content in its nearest leaf container (div, td, p, li, heading, ...), also ended by `<br>` and,
in preformatted text, by the end of a line: the finest unit that can be kept or dropped. One walk over the tree fills
columns; nothing is built per leaf. The same walk with `rich=True` also keeps the inline markup that rendering needs.

Text is as a reader sees it: inline tags join without a gap, white space is single. Scripts, styles, form values,
vector graphics and embedded frames are no text; `noscript` is text only where the page has hardly any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape

from templatediff.errors import PageError
from templatediff.html import FIRST_ID, LAST_KNOWN_ID, TEXT_ID, Head, Node, Tree, parse, read_head, tag_id, tag_ids
from templatediff.limits import DEFAULT, Limits
from templatediff.options import BLOCK_TAGS, Options

# Marks: what a leaf lies inside of, one bit each. Inherited by everything below.
HEADER, NAV, FOOTER, ASIDE, MAIN, ARTICLE, SECTION, FORM, DIALOG = (1 << bit for bit in range(9))
HIDDEN, ARIA_HIDDEN, LIST, CELL, HEADER_CELL, CODE, QUOTE, FIGURE, CAPTION = (1 << bit for bit in range(9, 18))
BUTTON, DETAILS, TERM, NOSCRIPT, ADDRESS, LABEL, TABLE = (1 << bit for bit in range(18, 25))

MARK_NAMES = [
    "header",
    "nav",
    "footer",
    "aside",
    "main",
    "article",
    "section",
    "form",
    "dialog",
    "hidden",
    "aria-hidden",
    "list",
    "cell",
    "header-cell",
    "code",
    "quote",
    "figure",
    "caption",
    "button",
    "details",
    "term",
    "noscript",
    "address",
    "label",
    "table",
]

# fmt: off
_MARK_OF_TAG = {
    "header": HEADER, "nav": NAV, "menu": LIST, "footer": FOOTER, "aside": ASIDE, "main": MAIN, "article": ARTICLE,
    "section": SECTION, "form": FORM, "fieldset": FORM, "search": FORM, "dialog": DIALOG, "ul": LIST, "ol": LIST,
    "dl": LIST, "dir": LIST, "table": TABLE, "td": CELL, "th": CELL | HEADER_CELL, "pre": CODE, "listing": CODE,
    "xmp": CODE, "plaintext": CODE, "blockquote": QUOTE, "figure": FIGURE, "figcaption": CAPTION, "caption": CAPTION,
    "button": BUTTON, "details": DETAILS, "summary": DETAILS, "dt": TERM, "address": ADDRESS, "legend": LABEL,
    "noscript": NOSCRIPT,
}
_MARK_OF_ROLE = {
    "banner": HEADER, "navigation": NAV, "menu": NAV, "menubar": NAV, "contentinfo": FOOTER, "complementary": ASIDE,
    "main": MAIN, "article": ARTICLE, "search": FORM, "form": FORM, "dialog": DIALOG, "alertdialog": DIALOG,
    "button": BUTTON, "list": LIST,
}
# fmt: on
# What else the walk must know of an element: its heading level, 1 to 6, or that it is
_CODE_BLOCK, _ROW, _A_CELL, _TABLE, _LAYOUT = range(
    7, 12
)  # the last: a block that a cell of a data table does not hold
_KIND_OF_TAG = {
    **{f"h{level}": level for level in range(1, 7)},
    **dict.fromkeys(["pre", "listing", "xmp", "plaintext"], _CODE_BLOCK),
    **dict.fromkeys(["td", "th"], _A_CELL),
    **dict.fromkeys(["article", "section", "nav", "header", "footer", "aside", "main", "form", "hr"], _LAYOUT),
    "tr": _ROW,
    "table": _TABLE,
}
_TELLING = frozenset(["role", "hidden", "style", "aria-hidden", "aria-modal", "itemprop", "aria-label"])
_PLAIN_LABEL = re.compile(r"[^\d\s\"'\\\[\]=](?:[^\d\s\"'\\\[\]=]| (?! )){0,39}")
_HIDING_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)

_SKIPPED = frozenset(
    [
        "script",
        "style",
        "template",
        "iframe",
        "embed",
        "video",
        "audio",
        "canvas",
        "svg",
        "textarea",
        "select",
        "input",
        "datalist",
        "noembed",
        "noframes",
        "head",
        "title",
        "meta",
        "link",
        "map",
        "area",
        "source",
        "track",
        "progress",
        "meter",
    ]
)
_BLOCK, _SKIP, _BR, _LINK, _IMAGE, _STRONG, _NOSCRIPT, _KEPT_INLINE, _SPACE = range(1, 10)
_KEPT_INLINE_TAGS = frozenset(
    [
        "em",
        "i",
        "u",
        "s",
        "del",
        "ins",
        "sub",
        "sup",
        "code",
        "kbd",
        "samp",
        "var",
        "mark",
        "small",
        "cite",
        "q",
        "abbr",
        "time",
        "bdo",
        "bdi",
    ]
)


_IN_MARKUP = frozenset([_LINK, _STRONG, _KEPT_INLINE])
# children left, what closing it does, name, elements seen, what closing restores
_Frame = tuple[Iterator[Node], int, str, int, tuple[int, int, int]]


@dataclass(frozen=True, slots=True)
class Elements:
    """The leaf containers of a page and their containers, in document order; row 0 is the body. Columns:

    parent  row of the containing element, -1 for the body
    tag     element name
    place   1 for a first child element, 2 for a second, ...
    between "" or the CSS steps of inline elements between this one and its parent row ("a:nth-child(2) > ")
    names   the id and class attributes as written, "#id.class.class"
    labels  row -> what it is called besides: "itemprop=headline" or "aria-label=Contact" (short, plain ones only)
    marks   bit set of what it lies inside of, itself included
    attributes  row -> those of its attributes that rendering needs, checked: colspan and rowspan (2 to 1000,
            others say nothing), start of an ol, dir, lang (only with rich=True)
    """

    parent: list[int] = field(default_factory=list)
    tag: list[str] = field(default_factory=list)
    place: list[int] = field(default_factory=list)
    between: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    attributes: dict[int, dict[str, str]] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)

    def selector(self, row: int) -> str:
        """CSS path from the body with `:nth-child` steps."""
        steps: list[str] = []
        while row > 0:
            steps.append(f"{self.between[row]}{self.tag[row]}:nth-child({self.place[row]})")
            row = self.parent[row]
        return " > ".join(["body", *reversed(steps)])


@dataclass(frozen=True, slots=True)
class Leaves:
    """The leaves of one page in document order, as columns of equal length, and what surrounds them.

    text      as a reader sees it; in code the indentation stays
    row       row of the container in `elements`
    linked    characters inside links
    strong    characters inside b or strong
    heading   1..6 inside h1..h6, else 0
    breaks    0 a block of its own; 1 continues the leaf before after `<br>` or a line's end; 2 or more after that many
              line ends in code
    group     leaves of one row of a data table, or of one code block, share a number >= 0; others have -1
    links     (leaf, target as written, link text), in document order
    markup    inline HTML of each leaf (only with rich=True, else empty)
    images    (leaf it stands before, HTML of the image, row) (only with rich=True)
    """

    elements: Elements
    head: Head
    text: list[str]
    row: list[int]
    linked: list[int]
    strong: list[int]
    heading: list[int]
    breaks: list[int]
    group: list[int]
    links: list[tuple[int, str, str]]
    markup: list[str]
    images: list[tuple[int, str, int]]
    has_body: bool
    hidden_characters: int  # in script-less fallbacks that were not used

    def __len__(self) -> int:
        return len(self.text)


def segment(text: str, options: Options | None = None, rich: bool = False, *, limits: Limits = DEFAULT) -> Leaves:
    """Cut the decoded text of a page into leaves. Raises PageError where a limit is passed, and MemoryError.

    A body without text (a frameset, a shell that scripts fill) gives no leaves, not an error.
    """
    options = options or Options()
    tree = parse(text, limits=limits)
    leaves = _walk(tree, options, rich, limits)
    if leaves.hidden_characters > NOSCRIPT_RATIO * sum(map(len, leaves.text)):
        with_fallbacks = _walk(parse(text, scripting=False, limits=limits), options, rich, limits)
        if sum(map(len, with_fallbacks.text)) > NOSCRIPT_RATIO * sum(map(len, leaves.text)):
            return with_fallbacks
    return leaves


#: noscript counts as the page's only text where it holds this many times the characters of all else
NOSCRIPT_RATIO = 4

_TAGS_STRIPPED = re.compile(r"<[^<>]*>")


Entry = tuple[int, str, int, int]
_PLAIN: Entry = (0, "", 0, 0)
_BODY: Entry = (0, "body", 0, 0)


@lru_cache(16)
def _entries(options: Options, scripting: bool) -> dict[int, Entry]:
    """Parser number of an element -> (what the walk does there, its name, its marks, its heading level or one of the kinds
    of table parts); absent: an inline element whose tags say nothing, or one unknown to HTML."""
    actions = dict.fromkeys(_KEPT_INLINE_TAGS, _KEPT_INLINE)
    actions |= dict.fromkeys(BLOCK_TAGS, _SPACE)
    actions |= dict.fromkeys(options.leaf_tags, _BLOCK)
    actions |= dict.fromkeys(_SKIPPED, _SKIP)
    actions |= {"b": _STRONG, "strong": _STRONG, "br": _BR, "a": _LINK, "img": _IMAGE, "noscript": _NOSCRIPT}
    actions |= {"body": _BLOCK, "hr": _BLOCK}
    if not scripting:  # what stands in for scripts is a block of its own, so that its leaves carry the mark
        actions["noscript"] = _BLOCK
    found: dict[int, Entry] = {}
    for tag, action in actions.items():
        for number in tag_ids(frozenset([tag])):
            found[number] = (action, tag, _MARK_OF_TAG.get(tag, 0), _KIND_OF_TAG.get(tag, 0))
    return found


def _walk(tree: Tree, options: Options, rich: bool, limits: Limits) -> Leaves:
    elements = Elements()
    leaves = Leaves(elements, read_head(tree), [], [], [], [], [], [], [], [], [], [], tree.body is not None, 0)
    if tree.body is None:
        return leaves
    walk = _Walk(leaves, options, rich, scripting=tree.scripting, most=limits.max_leaves)
    walk.run(tree.body)
    _join_tables(leaves, walk.rows_of_leaf, walk.tables)
    if walk.hidden_characters:
        object.__setattr__(leaves, "hidden_characters", walk.hidden_characters)
    return leaves


def _too_many(most: int) -> PageError:
    return PageError("too-large", f"more than {most:,} leaves")


class _Walk:
    """The walk's state. Its loop is one function, since a call per node would double the cost."""

    def __init__(self, leaves: Leaves, options: Options, rich: bool, scripting: bool, most: int) -> None:
        self.leaves = leaves
        self.most = most
        self.rich = rich
        self.entries = _entries(options, scripting)
        self.custom_are_blocks = "div" in options.leaf_tags
        self.hidden_characters = 0
        self.buffer: list[str] = []  # text of the run
        self.pieces: list[str] = []  # its markup, with rich
        self.open_inline: list[tuple[str, str]] = []  # (opening, closing) tags now open, with rich
        self.linked = 0
        self.strong = 0
        self.link_spans: list[tuple[str, int]] = []  # (target, place in buffer where its text begins)
        self.closed_links: list[tuple[str, str]] = []
        self.line_ends = 0
        self.row = 0
        self.heading = 0
        self.table_row = -1
        self.rows_of_leaf: list[int] = []
        self.tables: list[list[int]] = []  # [first leaf, end leaf, cells, nested tables or layout blocks]
        self.open_tables: list[list[int]] = []

    def flush(self) -> None:
        """End the run: what is in the buffer becomes a leaf of the current row, if there is text in it."""
        buffer = self.buffer
        if not buffer:
            if self.rich and self.pieces:
                self.pieces = [start for start, _ in self.open_inline]
            return
        text = " ".join("".join(buffer).split())
        leaves = self.leaves
        if text:
            number = len(leaves.text)
            if number >= self.most:
                raise _too_many(self.most)
            leaves.text.append(text)
            leaves.row.append(self.row)
            leaves.linked.append(min(self.linked, len(text)))
            leaves.strong.append(min(self.strong, len(text)))
            leaves.heading.append(self.heading)
            leaves.breaks.append(1 if self.line_ends == 1 else 0)
            leaves.group.append(-1)
            self.rows_of_leaf.append(self.table_row)
            for target, words in self.closed_links:
                leaves.links.append((number, target, words))
            for target, start in self.link_spans:
                leaves.links.append((number, target, " ".join("".join(buffer[start:]).split())))
            if self.rich:
                closing = "".join(end for _, end in reversed(self.open_inline))
                leaves.markup.append(" ".join("".join(self.pieces).split()) + closing)
            self.line_ends = 0
        if self.rich:
            self.pieces = [start for start, _ in self.open_inline]
        buffer.clear()
        self.closed_links.clear()
        if self.link_spans:
            self.link_spans = [(target, 0) for target, _ in self.link_spans]
        self.linked = self.strong = 0

    def run(self, body: Node) -> None:
        entries, buffer, flush = self.entries.get, self.buffer, self.flush
        rich, open_block = self.rich, self._open_block
        in_link = in_strong = 0
        open_block(body, _BODY, 1, "", 0)
        # Of the element whose children are walked: those left, what closing it does, its name, the elements seen among its
        # children, and what closing restores. The stack holds the same of the elements around it.
        children, action, tag, place = body.iter(include_text=True), _BLOCK, "body", 0
        restore: tuple[int, int, int] = (0, 0, -1)
        stack: list[_Frame] = []
        while True:
            for node in children:
                number = node.tag_id
                if number == TEXT_ID:
                    words = node.text_content
                    if in_link or in_strong or rich:
                        self._marked_text(words, in_link, in_strong)
                    # between blocks stands little but white space: every other text of a page
                    elif words and (buffer or not words.isspace()):
                        buffer.append(words)
                    continue
                if number < FIRST_ID:
                    continue
                place += 1
                entry = entries(number, _PLAIN)
                what = entry[0]
                if what == _BLOCK:
                    if buffer or rich:
                        flush()
                elif what == _SKIP:
                    continue
                elif what == _BR:
                    flush()
                    self.line_ends += 1
                    continue
                elif what == 0 and number > LAST_KNOWN_ID:
                    name = node.tag or ""
                    entry = (0, name, 0, 0)
                    if "-" in name and self.custom_are_blocks:
                        what = _BLOCK
                        flush()
                elif what == _IMAGE:
                    if buffer:
                        buffer.append(" ")
                    if rich:
                        self.pieces.append(" ")
                        self._image(node)
                    continue
                elif what == _NOSCRIPT:
                    raw = node.first_child
                    if raw is not None and raw.tag_id == TEXT_ID:
                        self.hidden_characters += len(_TAGS_STRIPPED.sub("", raw.text_content or "").strip())
                    continue
                if what == _BLOCK:
                    between = "" if action == _BLOCK else _steps_between(stack, action, tag)
                    if entry[3] == _CODE_BLOCK:
                        self._preformatted(node, entry, place, between)
                        continue
                    self.line_ends = 0
                    before = (self.row, self.heading, self.table_row)
                    open_block(node, entry, place, between, self.row)
                else:
                    before = (in_link, in_strong, 0)
                    if what == _LINK:
                        in_link = 1
                        target = node.attributes.get("href")
                        if target is not None:
                            self.link_spans.append((target.strip(), len(buffer)))
                            before = (before[0], in_strong, 1)
                    elif what == _STRONG:
                        in_strong = 1
                    elif what == _SPACE and buffer:
                        buffer.append(" ")
                        if rich:
                            self.pieces.append(" ")
                    if rich and what in _IN_MARKUP:
                        self._open_inline(node, entry[1] or node.tag or "")
                stack.append((children, action, tag, place, restore))
                children, action, tag, place = node.iter(include_text=True), what, entry[1], 0
                if not tag:
                    tag = node.tag or ""
                restore = before
                break
            else:
                if action == _BLOCK:
                    if buffer or rich:
                        flush()
                    self.line_ends = 0
                    if tag == "table" and self.open_tables:
                        table = self.open_tables.pop()
                        table[1] = len(self.leaves.text)
                        self.tables.append(table)
                    self.row, self.heading, self.table_row = restore
                else:
                    in_link, in_strong, opened = restore
                    if opened and self.link_spans:
                        target, start = self.link_spans.pop()
                        words = " ".join("".join(buffer[start:]).split())
                        if words:
                            self.closed_links.append((target, words))
                    if action == _SPACE and buffer:
                        buffer.append(" ")
                        if rich:
                            self.pieces.append(" ")
                    if rich and action in _IN_MARKUP:
                        self.pieces.append(self.open_inline.pop()[1])
                if not stack:
                    return
                children, action, tag, place, restore = stack.pop()

    def _marked_text(self, words: str | None, in_link: int, in_strong: int) -> None:
        if words:
            self.buffer.append(words)
            if in_link:
                self.linked += len(words)
            if in_strong:
                self.strong += len(words)
            if self.rich:
                self.pieces.append(escape(words, quote=False))

    def _open_block(self, node: Node, entry: Entry, place: int, between: str, parent: int) -> None:
        elements = self.leaves.elements
        _, tag, mark, kind = entry
        row = len(elements.parent)
        marks = elements.marks[parent] if row else 0
        if mark and not (
            # an article's own header says nothing against it
            (mark == HEADER and marks & (ARTICLE | MAIN)) or (mark == FOOTER and marks & ARTICLE)
        ):
            marks |= mark
        names = ""
        attributes = node.attributes
        if attributes:
            identity = classes = None
            for key, value in attributes.items():
                if key == "class":
                    classes = value
                elif key == "id":
                    identity = value
                elif key in _TELLING:
                    marks |= self._told(row, attributes)
                    break
            else:
                key = ""
            if key:  # others follow it
                identity, classes = attributes.get("id"), attributes.get("class")
            if identity:
                names = "#" + "_".join(identity.split())
            if classes:
                names += "." + ".".join(classes.split())
            if self.rich:
                shown = _shown_attributes(tag, attributes)
                if shown:
                    elements.attributes[row] = shown
        elements.parent.append(parent if row else -1)
        elements.tag.append(tag)
        elements.place.append(place)
        elements.between.append(between)
        elements.names.append(names)
        elements.marks.append(marks)
        self.row = row
        if kind:
            if kind <= 6:
                self.heading = kind
            elif kind == _ROW:
                self.table_row = row
            elif kind == _TABLE:
                for table in self.open_tables:
                    table[3] += 1
                self.open_tables.append([len(self.leaves.text), 0, 0, 0])
            elif kind == _A_CELL and self.open_tables:
                self.open_tables[-1][2] += 1
            if self.open_tables and (kind <= 3 or kind == _LAYOUT):
                self.open_tables[-1][3] += 1

    def _told(self, row: int, attributes: dict[str, str | None]) -> int:
        """Marks of what attributes other than id and class tell of an element; its label is noted."""
        marks = 0
        value = attributes.get("role")
        if value:
            marks |= _MARK_OF_ROLE.get(value.strip().lower(), 0)
        if "hidden" in attributes or _HIDING_STYLE.search(attributes.get("style") or ""):
            marks |= HIDDEN
        if (attributes.get("aria-hidden") or "").lower() == "true":
            marks |= ARIA_HIDDEN
        if attributes.get("aria-modal") == "true":
            marks |= DIALOG
        for key in ("itemprop", "aria-label"):
            value = attributes.get(key)
            if value and _PLAIN_LABEL.fullmatch(value):
                self.leaves.elements.labels[row] = f"{key}={value}"
                break
        return marks

    def _preformatted(self, node: Node, entry: Entry, place: int, between: str) -> None:
        """Each line of a code block is a leaf; they share the block's row as their group."""
        outer = self.row
        self._open_block(node, entry, place, between, outer)
        leaves = self.leaves
        lines, linked = _code_lines(node)
        gap = 0
        started = False
        for line, link_characters in zip(lines, linked, strict=True):
            shown = line.rstrip()
            gap += 1
            if not shown.strip():
                continue
            if len(leaves.text) >= self.most:
                raise _too_many(self.most)
            leaves.text.append(shown)
            leaves.row.append(self.row)
            leaves.linked.append(min(link_characters, len(shown)))
            leaves.strong.append(0)
            leaves.heading.append(0)
            leaves.breaks.append(gap if started else 0)
            leaves.group.append(self.row)
            self.rows_of_leaf.append(-1)
            if self.rich:
                leaves.markup.append(escape(shown, quote=False))
            gap = 0
            started = True
        self.row = outer

    def _open_inline(self, node: Node, tag: str) -> None:
        start = f"<{tag}>"
        if tag == "a":
            target = node.attributes.get("href")
            start = f'<a href="{escape(target.strip())}">' if target else "<a>"
        if len(self.open_inline) >= MAX_INLINE:
            # each leaf repeats the tags open around it: without a limit such a page costs the square of its size
            self.open_inline.append(("", ""))
            return
        self.open_inline.append((start, f"</{tag}>"))
        self.pieces.append(start)

    def _image(self, node: Node) -> None:
        attributes = node.attributes
        source = attributes.get("src") or ""
        for lazy in ("data-src", "data-original", "data-lazy-src"):
            if (not source or source.startswith("data:")) and attributes.get(lazy):
                source = attributes.get(lazy) or ""
        if not source or source.startswith("data:"):
            return
        image = f'<img src="{escape(source.strip())}" alt="{escape(" ".join((attributes.get("alt") or "").split()))}">'
        if any(piece.strip() for piece in self.buffer):
            self.pieces.append(image)
        else:
            self.leaves.images.append((len(self.leaves.text), image, self.row))


MAX_INLINE = 32  #: inline tags open at once whose markup is kept

_SPAN = re.compile(r"[0-9]{1,4}")
_LANGUAGE_TAG = re.compile(r"[A-Za-z0-9-]{1,60}")


def _shown_attributes(tag: str, attributes: dict[str, str | None]) -> dict[str, str]:
    """See `Elements.attributes`.

    >>> _shown_attributes("td", {"colspan": "9007199254740991", "rowspan": " 2 ", "dir": "RTL", "class": "x"})
    {'rowspan': '2', 'dir': 'rtl'}
    """
    shown: dict[str, str] = {}
    if tag in ("td", "th"):
        for name in ("colspan", "rowspan"):
            value = (attributes.get(name) or "").strip()
            if _SPAN.fullmatch(value) and 2 <= int(value) <= 1000:
                shown[name] = str(int(value))
    elif tag == "ol":
        value = (attributes.get("start") or "").strip()
        if _SPAN.fullmatch(value):
            shown["start"] = str(int(value))
    value = (attributes.get("dir") or "").strip().lower()
    if value in ("ltr", "rtl", "auto"):
        shown["dir"] = value
    value = (attributes.get("lang") or "").strip()
    if _LANGUAGE_TAG.fullmatch(value):
        shown["lang"] = value
    return shown


def _steps_between(stack: list[_Frame], action: int, tag: str) -> str:
    """CSS steps of the inline elements now open above the innermost block: a block may stand inside a link."""
    steps: list[str] = []
    depth = len(stack)
    while action != _BLOCK and depth:
        depth -= 1
        _, above, name, place, _ = stack[depth]
        steps.append(f"{tag}:nth-child({place}) > ")
        action, tag = above, name
    return "".join(reversed(steps))


def _code_lines(node: Node) -> tuple[list[str], list[int]]:
    """Lines of a preformatted element, indentation kept, with the characters of each that are linked."""
    pieces: list[tuple[str, bool]] = []
    breaks, links, skipped = tag_id("br"), tag_id("a"), tag_ids(_SKIPPED)
    stack = [(iter([node]), False)]
    while stack:
        children, linked = stack[-1]
        for child in children:
            number = child.tag_id
            if number == TEXT_ID:
                pieces.append((child.text_content or "", linked))
            elif number == breaks:
                pieces.append(("\n", False))
            elif number > TEXT_ID and number not in skipped:
                stack.append((child.iter(include_text=True, skip_empty=False), linked or number == links))
                break
        else:
            stack.pop()
    lines, counts = [""], [0]
    for text, is_link in pieces:
        for number, part in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")):
            if number:
                lines.append("")
                counts.append(0)
            lines[-1] += part
            counts[-1] += len(part) if is_link else 0
    return lines, counts


def _join_tables(leaves: Leaves, rows_of_leaf: list[int], tables: list[list[int]]) -> None:
    """Give the leaves of each row of a data table a common group: at least two cells, no block layout inside."""
    for first, end, cells, layout_blocks in tables:
        if layout_blocks or cells < 2 or end - first > 3 * cells:
            continue
        for leaf in range(first, end):
            if leaves.group[leaf] < 0:
                leaves.group[leaf] = rows_of_leaf[leaf]
