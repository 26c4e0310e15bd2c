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
from html import escape

from templatediff.attributes import TELLING, shown_attributes, told
from templatediff.errors import PageError
from templatediff.groups import code_lines, join_tables
from templatediff.html import FIRST_ID, LAST_KNOWN_ID, TEXT_ID, Node, Tree, parse, read_head
from templatediff.leaves import Elements, Leaves
from templatediff.limits import DEFAULT, Limits
from templatediff.marks import ARTICLE, FOOTER, HEADER, MAIN
from templatediff.options import Options
from templatediff.tags import (
    A_CELL,
    A_TABLE,
    BLOCK,
    BODY,
    BR,
    CODE_BLOCK,
    FALLBACK,
    IMAGE,
    KEPT_INLINE,
    LAYOUT,
    LINK,
    PLAIN,
    ROW,
    SKIP,
    SPACE,
    STRONG,
    Entry,
    entries_of,
)

_IN_MARKUP = frozenset([LINK, STRONG, KEPT_INLINE])
# children left, what closing it does, name, elements seen, what closing restores
_Frame = tuple[Iterator[Node], int, str, int, tuple[int, int, int]]


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


def _walk(tree: Tree, options: Options, rich: bool, limits: Limits) -> Leaves:
    elements = Elements()
    leaves = Leaves(elements, read_head(tree), [], [], [], [], [], [], [], [], [], [], tree.body is not None, 0)
    if tree.body is None:
        return leaves
    walk = _Walk(leaves, options, rich, scripting=tree.scripting, most=limits.max_leaves)
    walk.run(tree.body)
    join_tables(leaves.group, walk.rows_of_leaf, walk.tables)
    if walk.hidden_characters:
        object.__setattr__(leaves, "hidden_characters", walk.hidden_characters)
    return leaves


def _too_many(most: int) -> PageError:
    return PageError("too-large", f"more than {most:,} leaves")


class _Walk:
    """The walk's state. Its loop is one function, since a call per node would double the cost: with the parse 10 times the bare
    parse of a small page (`benchmarks/hot.py`, as the other figures in such places), 4 times that of a large one.
    """

    def __init__(self, leaves: Leaves, options: Options, rich: bool, scripting: bool, most: int) -> None:
        self.leaves = leaves
        self.most = most
        self.rich = rich
        self.entries = entries_of(options, scripting)
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
        open_block(body, BODY, 1, "", 0)
        # Of the element whose children are walked: those left, what closing it does, its name, the elements seen among its
        # children, and what closing restores. The stack holds the same of the elements around it.
        children, action, tag, place = body.iter(include_text=True), BLOCK, "body", 0
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
                entry = entries(number, PLAIN)
                what = entry[0]
                if what == BLOCK:
                    if buffer or rich:
                        flush()
                elif what == SKIP:
                    continue
                elif what == BR:
                    flush()
                    self.line_ends += 1
                    continue
                elif what == 0 and number > LAST_KNOWN_ID:
                    name = node.tag or ""
                    entry = (0, name, 0, 0)
                    if "-" in name and self.custom_are_blocks:
                        what = BLOCK
                        flush()
                elif what == IMAGE:
                    if buffer:
                        buffer.append(" ")
                    if rich:
                        self.pieces.append(" ")
                        self._image(node)
                    continue
                elif what == FALLBACK:
                    raw = node.first_child
                    if raw is not None and raw.tag_id == TEXT_ID:
                        self.hidden_characters += len(_TAGS_STRIPPED.sub("", raw.text_content or "").strip())
                    continue
                if what == BLOCK:
                    between = "" if action == BLOCK else _steps_between(stack, action, tag)
                    if entry[3] == CODE_BLOCK:
                        self._preformatted(node, entry, place, between)
                        continue
                    self.line_ends = 0
                    before = (self.row, self.heading, self.table_row)
                    open_block(node, entry, place, between, self.row)
                else:
                    before = (in_link, in_strong, 0)
                    if what == LINK:
                        in_link = 1
                        target = node.attributes.get("href")
                        if target is not None:
                            self.link_spans.append((target.strip(), len(buffer)))
                            before = (before[0], in_strong, 1)
                    elif what == STRONG:
                        in_strong = 1
                    elif what == SPACE and buffer:
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
                if action == BLOCK:
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
                    if action == SPACE and buffer:
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
                elif key in TELLING:
                    more, label = told(attributes)
                    marks |= more
                    if label:
                        elements.labels[row] = label
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
                shown = shown_attributes(tag, attributes)
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
            elif kind == ROW:
                self.table_row = row
            elif kind == A_TABLE:
                for table in self.open_tables:
                    table[3] += 1
                self.open_tables.append([len(self.leaves.text), 0, 0, 0])
            elif kind == A_CELL and self.open_tables:
                self.open_tables[-1][2] += 1
            if self.open_tables and (kind <= 3 or kind == LAYOUT):
                self.open_tables[-1][3] += 1

    def _preformatted(self, node: Node, entry: Entry, place: int, between: str) -> None:
        """Each line of a code block is a leaf; they share the block's row as their group."""
        outer = self.row
        self._open_block(node, entry, place, between, outer)
        leaves = self.leaves
        lines, linked = code_lines(node)
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


def _steps_between(stack: list[_Frame], action: int, tag: str) -> str:
    """CSS steps of the inline elements now open above the innermost block: a block may stand inside a link."""
    steps: list[str] = []
    depth = len(stack)
    while action != BLOCK and depth:
        depth -= 1
        _, above, name, place, _ = stack[depth]
        steps.append(f"{tag}:nth-child({place}) > ")
        action, tag = above, name
    return "".join(reversed(steps))
