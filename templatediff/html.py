"""Text of a page -> Tree. The one home of selectolax: every other module sees the names given here.

Limits are looked at on the text, before the parser runs, since its time is quadratic in nesting depth and in
attributes on one tag. A page over a limit raises PageError, which callers turn into a record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from templatediff.errors import PageError
from templatediff.limits import DEFAULT, Limits

Node = LexborNode
TEXT_ID = 2  #: `tag_id` of a text node; elements known to HTML, SVG and MathML have ids from FIRST_ID to LAST_KNOWN_ID
FIRST_ID = 6  # smaller ones, but for text, are comments and the like
LAST_KNOWN_ID = 255  # unknown elements carry a pointer value, far above

_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/<>]*)")
_WHOLE_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/<>]*)[^<>]*?(/?)>")
# elements of drawings close themselves with "/>", which HTML's own do not
_DRAWING = frozenset(
    [
        "animate",
        "circle",
        "ellipse",
        "feblend",
        "fecolormatrix",
        "fecomposite",
        "feflood",
        "fegaussianblur",
        "femerge",
        "femergenode",
        "feoffset",
        "g",
        "image",
        "line",
        "mpath",
        "path",
        "polygon",
        "polyline",
        "rect",
        "set",
        "stop",
        "svg",
        "symbol",
        "text",
        "tspan",
        "use",
    ]
)
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_RAW_TEXT = re.compile(r"<(?:script|style)\b|<!--", re.I)


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed page. `body` is None for a frameset or an empty document. Nodes live as long as the tree."""

    parser: LexborHTMLParser
    body: Node | None
    scripting: bool


@dataclass(frozen=True, slots=True)
class Head:
    """What a page says of itself outside its body; strings as written, None where absent."""

    title: str | None = None
    canonical: str | None = None
    og_url: str | None = None
    og_title: str | None = None
    base: str | None = None
    lang: str | None = None
    direction: str | None = None


def parse(text: str, scripting: bool = True, limits: Limits | None = DEFAULT) -> Tree:
    """Parse the decoded text of a page. Raises PageError ("too-large", "too-deep") for text over a limit, MemoryError.

    `limits` None is for text that has passed them before. With `scripting` the content of noscript is one raw text, as in a
    browser that runs scripts, so that a tracking image in the head does not end it.
    """
    if limits is not None:
        _check_limits(text, limits)
    parser = LexborHTMLParser(text, scripting=scripting)
    body = parser.body
    if body is not None and body.tag != "body":
        body = None
    return Tree(parser, body, scripting)


@cache
def tag_ids(names: frozenset[str]) -> frozenset[int]:
    """The parser's numbers for these element names; names unknown to HTML are left out."""
    parser = LexborHTMLParser("")
    found = (parser.create_node(name).tag_id for name in sorted(names))
    return frozenset(number for number in found if number is not None and number <= LAST_KNOWN_ID)


def tag_id(name: str) -> int:
    """The parser's number for one element name known to HTML."""
    (number,) = tag_ids(frozenset([name]))
    return number


def read_head(tree: Tree) -> Head:
    """Title, canonical address, language of a page, each the first that is there."""
    root = tree.parser.root
    found: dict[str, str | None] = {}
    if root is not None:
        attributes = root.attributes
        found["lang"] = attributes.get("lang") or attributes.get("xml:lang")
        found["direction"] = attributes.get("dir")
    head = tree.parser.head
    for node in head.iter() if head is not None else ():
        name = node.tag
        if name == "title" and "title" not in found:
            found["title"] = " ".join(node.text().split()) or None
        elif name in ("meta", "link", "base"):
            _read_head_element(name, node.attributes, found)
    return Head(**{name: value for name, value in found.items() if value})


def selector_fault(selector: str) -> str | None:
    """What is wrong with a CSS selector, None for one that the parser reads."""
    try:
        LexborHTMLParser("<p>").css(selector)
    except (SelectolaxError, ValueError, RuntimeError) as error:
        return f"cannot be read ({str(error).strip() or type(error).__name__})"
    return None


def selected(tree: Tree, selector: str) -> list[tuple[str, str]]:
    """(CSS path from the body with `:nth-child` steps, text) of the elements that a selector names, in document order.

    The path is that of `segment.Elements.selector`; html stands for the body, and what is outside the body is left out.
    """
    found = []
    for node in tree.parser.css(selector):
        path = "body" if node.tag == "html" else _path(node)
        if path is not None:
            found.append((path, node.text(deep=True)))
    return found


def _path(node: Node) -> str | None:
    """Path of an element from the body, None for one outside of it."""
    steps: list[str] = []
    above: Node | None = node
    while above is not None and above.tag != "body":
        place = 1
        before = above.prev
        while before is not None:
            place += before.is_element_node
            before = before.prev
        steps.append(f"{above.tag}:nth-child({place})")
        above = above.parent
    return " > ".join(["body", *reversed(steps)]) if above is not None else None


def _read_head_element(name: str, attributes: dict[str, str | None], found: dict[str, str | None]) -> None:
    if name == "base":
        found.setdefault("base", attributes.get("href"))
    elif name == "link":
        if "canonical" in (attributes.get("rel") or "").lower().split():
            found.setdefault("canonical", (attributes.get("href") or "").strip() or None)
    else:
        key = (attributes.get("property") or attributes.get("name") or "").strip().lower()
        if key in ("og:url", "og:title"):
            found.setdefault(key.replace(":", "_"), (attributes.get("content") or "").strip() or None)
        elif (attributes.get("http-equiv") or "").lower() == "content-language" and not found.get("lang"):
            found["lang"] = attributes.get("content")


def _check_limits(text: str, limits: Limits) -> None:
    if len(text) > limits.max_bytes:
        raise PageError("too-large", f"{len(text):,} characters: the limit is {limits.max_bytes:,}")
    tags = text.count("<")
    if tags > 2 * limits.max_nodes:
        raise PageError("too-large", f"about {tags // 2:,} elements: the limit is {limits.max_nodes:,}")
    if tags > limits.max_depth and _could_be_deep(text, tags, limits.max_depth):
        depth = _depth(text, limits.max_depth)
        if depth > limits.max_depth:
            raise PageError("too-deep", f"elements nested about {depth:,} deep: the limit is {limits.max_depth:,}")
    for start, end in _long_stretches(text, 4 * limits.max_attributes):
        if _TAG.match(text, start) and _attributes(text[start:end]) > limits.max_attributes:
            raise PageError("too-large", f"a tag with more than {limits.max_attributes:,} attributes")


def _attributes(stretch: str) -> int:
    """Attributes of the tag that a stretch begins with."""
    return len(_QUOTED.sub("", stretch).partition(">")[0].split())


def _could_be_deep(text: str, tags: int, most: int) -> bool:
    """Cheap refusal of the common case: nowhere do the tags that opened outnumber those that closed by enough.

    Looks at 64 stretches of the text; void elements count as opened, so the answer errs towards yes.
    """
    step = len(text) // 64 + 1
    depth = 0
    for start in range(0, len(text), step):
        opened = text.count("<", start, start + step)
        closed = text.count("</", start, start + step + 1)
        if depth + opened - closed > most:
            return True
        depth = max(0, depth + opened - 2 * closed)
    return False


def _long_stretches(text: str, least: int) -> Iterator[tuple[int, int]]:
    """Spans of `least` characters or more that hold no < after their first character."""
    place = 0
    while place + least < len(text):
        last = text.rfind("<", place + 1, place + least)
        if last < 0:
            last = text.find("<", place + least)
            last = len(text) if last < 0 else last
            yield place, last
        place = last


def _depth(text: str, most: int) -> int:
    """About how deep the parser will nest, from the tags alone, by the standard's rules for end tags left out.

    Formatting elements left open count FORMATTING_COST each: the parser opens them anew in every block that follows, so
    their cost is their number times that of the blocks (2,000 crossed ends took 3.4 s and 1.3 GB).
    """
    stack: list[str] = []
    inside: dict[str, int] = {}
    deepest = formatting = 0
    for closing, name, itself in _WHOLE_TAG.findall(_without_raw_text(text)):
        name = name.lower()
        if name in _VOID or (itself and name in _DRAWING):
            continue
        closes, within = _CLOSES.get(name, ((), ())) if not closing else ((name,), ())
        for other in closes:
            if inside.get(other, 0) and _stands_above(stack, other, within):
                while True:
                    top = stack.pop()
                    inside[top] -= 1
                    formatting -= top in _FORMATTING
                    if top == other:
                        break
        if not closing:
            stack.append(name)
            inside[name] = inside.get(name, 0) + 1
            formatting += name in _FORMATTING
            deepest = max(deepest, len(stack) + (FORMATTING_COST - 1) * formatting)
            if deepest > most:
                break
    return deepest


def _without_raw_text(text: str) -> str:
    """The text without scripts, styles and comments; one that never ends takes the rest. One pass, whatever the text."""
    kept: list[str] = []
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters change length in lower case
        lowered = text
    place = 0
    for opening in _RAW_TEXT.finditer(text):
        if opening.start() < place:
            continue
        kept.append(text[place : opening.start()])
        end = lowered.find("-->" if opening[0] == "<!--" else "</" + opening[0][1:].lower(), opening.end())
        if end < 0:
            return "".join(kept)
        place = end
    kept.append(text[place:])
    return "".join(kept)


def _stands_above(stack: list[str], name: str, within: tuple[str, ...]) -> bool:
    """Whether an open element of this name comes before any of `within`, looking from the top of the stack."""
    if not within:
        return True
    for other in stack[: -LOOKED_BACK - 1 : -1]:
        if other == name:
            return True
        if other in within:
            return False
    return False


FORMATTING_COST = 4
LOOKED_BACK = 64  # steps up the open elements for one whose end tag was left out
_FORMATTING = frozenset(
    ["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"]
)
# what a start tag closes where end tags are left out, and the elements that it does not look beyond
_CLOSES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "li": (("li",), ("ul", "ol", "menu", "dir", "div")),
    "dt": (("dt", "dd"), ("dl", "div")),
    "dd": (("dt", "dd"), ("dl", "div")),
    "tr": (("tr",), ("table",)),
    "td": (("td", "th"), ("tr", "table")),
    "th": (("td", "th"), ("tr", "table")),
    "tbody": (("tbody", "thead"), ("table",)),
    "option": (("option",), ("select",)),
    "a": (("a",), ("td", "th", "table")),
    **dict.fromkeys(
        [
            "address",
            "article",
            "aside",
            "blockquote",
            "center",
            "details",
            "dir",
            "div",
            "dl",
            "fieldset",
            "figcaption",
            "figure",
            "footer",
            "form",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "header",
            "hr",
            "main",
            "menu",
            "nav",
            "ol",
            "p",
            "pre",
            "section",
            "table",
            "ul",
        ],
        (("p",), ("td", "th", "button", "table")),
    ),
}
