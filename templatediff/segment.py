"""Tree -> leaves in document order.

A leaf is a run of inline content in its nearest leaf container (div, td, p, li, heading, ...), also ended by `<br>` and,
in preformatted text, by the end of a line: the finest unit that can be kept or dropped. One walk over the tree fills
columns; nothing is built per leaf. The same walk with `rich=True` also keeps the inline markup that rendering needs.

Text is as a reader sees it: inline tags join without a gap, white space is single. Scripts, styles, form values,
vector graphics and embedded frames are no text; `noscript` is text only where the page has hardly any other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape
from typing import Any

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


def _actions(options: Options) -> dict[int, int]:
    """Parser number of an element -> what the walk does there; absent: an inline element whose tags say nothing."""
    actions = dict.fromkeys(tag_ids(_KEPT_INLINE_TAGS), _KEPT_INLINE)
    actions |= dict.fromkeys(tag_ids(BLOCK_TAGS), _SPACE)
    actions |= dict.fromkeys(tag_ids(options.leaf_tags), _BLOCK)
    actions |= dict.fromkeys(tag_ids(_SKIPPED), _SKIP)
    actions |= dict.fromkeys(tag_ids(frozenset(["b", "strong"])), _STRONG)
    actions |= {tag_id("br"): _BR, tag_id("a"): _LINK, tag_id("img"): _IMAGE, tag_id("noscript"): _NOSCRIPT}
    actions |= {tag_id("body"): _BLOCK, tag_id("hr"): _BLOCK}
    return actions


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
        self.actions = _actions(options)
        if not scripting:  # what stands in for scripts is a block of its own, so that its leaves carry the mark
            self.actions[tag_id("noscript")] = _BLOCK
        self.leaf_tags = options.leaf_tags
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
        actions, buffer, leaves = self.actions, self.buffer, self.leaves
        rich, flush = self.rich, self.flush
        in_link = in_strong = 0
        # frame: [child iterator, action, tag, elements seen, then what closing restores]
        self._open_block(body, "body", 1, "", 0)
        stack: list[list[Any]] = [[body.iter(include_text=True, skip_empty=False), _BLOCK, "body", 0, 0, 0, -1, False]]
        while stack:
            frame = stack[-1]
            for node in frame[0]:
                number = node.tag_id
                if number == TEXT_ID:
                    words = node.text_content
                    if words:
                        buffer.append(words)
                        if in_link:
                            self.linked += len(words)
                        if in_strong:
                            self.strong += len(words)
                        if rich:
                            self.pieces.append(escape(words, quote=False))
                    continue
                if number < FIRST_ID:
                    continue
                frame[3] += 1
                action = actions.get(number, 0)
                if not action and number > LAST_KNOWN_ID and "-" in (node.tag or "") and self.custom_are_blocks:
                    action = _BLOCK
                if action == _BLOCK:
                    tag = node.tag or ""
                    flush()
                    if tag in ("pre", "listing", "xmp", "plaintext"):
                        self._preformatted(node, tag, frame[3], _steps_between(stack))
                        continue
                    if self.line_ends:
                        self.line_ends = 0
                    restore = (self.row, self.heading, self.table_row)
                    self._open_block(node, tag, frame[3], _steps_between(stack), self.row)
                    stack.append([node.iter(include_text=True, skip_empty=False), action, tag, 0, *restore, False])
                    break
                if action == _SKIP:
                    continue
                if action == _BR:
                    flush()
                    self.line_ends += 1
                    continue
                if action == _IMAGE:
                    buffer.append(" ") if buffer else None
                    if rich:
                        self.pieces.append(" ")
                        self._image(node)
                    continue
                if action == _NOSCRIPT:
                    raw = node.first_child
                    if raw is not None and raw.tag_id == TEXT_ID:
                        self.hidden_characters += len(_TAGS_STRIPPED.sub("", raw.text_content or "").strip())
                    continue
                before = (in_link, in_strong)
                opened = False
                tag = node.tag or ""
                if action == _LINK:
                    in_link = 1
                    target = node.attributes.get("href")
                    if target is not None:
                        self.link_spans.append((target.strip(), len(buffer)))
                        opened = True
                elif action == _STRONG:
                    in_strong = 1
                elif action == _SPACE and buffer:
                    buffer.append(" ")
                    if rich:
                        self.pieces.append(" ")
                if rich and action in (_LINK, _STRONG, _KEPT_INLINE):
                    self._open_inline(node, tag)
                stack.append([node.iter(include_text=True, skip_empty=False), action, tag, 0, *before, 0, opened])
                break
            else:
                stack.pop()
                action = frame[1]
                if action == _BLOCK:
                    flush()
                    self.line_ends = 0
                    if frame[2] == "table" and self.open_tables:
                        table = self.open_tables.pop()
                        table[1] = len(leaves.text)
                        self.tables.append(table)
                    self.row, self.heading, self.table_row = frame[4], frame[5], frame[6]
                    continue
                in_link, in_strong = frame[4], frame[5]
                if frame[7] and self.link_spans:
                    target, start = self.link_spans.pop()
                    words = " ".join("".join(buffer[start:]).split())
                    if words:
                        self.closed_links.append((target, words))
                if action == _SPACE and buffer:
                    buffer.append(" ")
                    if rich:
                        self.pieces.append(" ")
                if rich and action in (_LINK, _STRONG, _KEPT_INLINE):
                    self.pieces.append(self.open_inline.pop()[1])

    def _open_block(self, node: Node, tag: str, place: int, between: str, parent: int) -> None:
        elements = self.leaves.elements
        attributes = node.attributes
        first = not elements.parent
        marks = 0 if first else elements.marks[parent]
        if tag == "header" and marks & (ARTICLE | MAIN):
            pass  # an article's own header says nothing against it
        elif tag == "footer" and marks & ARTICLE:
            pass
        else:
            marks |= _MARK_OF_TAG.get(tag, 0)
        names = ""
        if attributes:
            value = attributes.get("id")
            if value:
                names = "#" + "_".join(value.split())
            value = attributes.get("class")
            if value:
                names += "." + ".".join(value.split())
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
                    elements.labels[len(elements.parent)] = f"{key}={value}"
                    break
        elements.parent.append(-1 if first else parent)
        elements.tag.append(tag)
        elements.place.append(place)
        elements.between.append(between)
        elements.names.append(names)
        elements.marks.append(marks)
        self.row = len(elements.parent) - 1
        if self.rich and attributes:
            shown = _shown_attributes(tag, attributes)
            if shown:
                elements.attributes[self.row] = shown
        if len(tag) == 2:
            if tag[0] == "h" and tag[1] in "123456":
                self.heading = int(tag[1])
            elif tag == "tr":
                self.table_row = self.row
            elif tag in ("td", "th") and self.open_tables:
                self.open_tables[-1][2] += 1
            if self.open_tables and tag in _LAYOUT_BLOCKS:
                self.open_tables[-1][3] += 1
        elif tag == "table":
            for table in self.open_tables:
                table[3] += 1
            self.open_tables.append([len(self.leaves.text), 0, 0, 0])
        elif self.open_tables and tag in _LAYOUT_BLOCKS:
            self.open_tables[-1][3] += 1

    def _preformatted(self, node: Node, tag: str, place: int, between: str) -> None:
        """Each line of a code block is a leaf; they share the block's row as their group."""
        outer = self.row
        self._open_block(node, tag, place, between, outer)
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


#: blocks that a cell of a data table does not hold
_LAYOUT_BLOCKS = frozenset(
    ["article", "section", "nav", "header", "footer", "aside", "main", "form", "h1", "h2", "h3", "hr"]
)


def _steps_between(stack: list[list[Any]]) -> str:
    """CSS steps of the inline elements now open above the innermost block: a block may stand inside a link."""
    if stack[-1][1] == _BLOCK:
        return ""
    steps: list[str] = []
    for depth in range(len(stack) - 1, 0, -1):
        if stack[depth][1] == _BLOCK:
            break
        steps.append(f"{stack[depth][2]}:nth-child({stack[depth - 1][3]}) > ")
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
