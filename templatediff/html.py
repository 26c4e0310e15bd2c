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

# comments, and what the standard makes into comments; tags, whose quoted values may hold anything. What is never closed takes
# the rest, so that no place of the text is looked at twice.
_TOKEN = re.compile(
    r"<!--(?:-?>|.*?--!?>|.*)|(?P<section><!\[CDATA\[)|<(?:[!?]|/(?![a-zA-Z]))[^>]*+>?"
    r"|<(?P<end>/?)(?P<name>[a-zA-Z][^\s/>]*)(?P<rest>(?:[^>\"'=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?|[\"'])*+)(?:>|\Z)",
    re.S,
)
_ATTRIBUTE = re.compile(r"[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>]*+))?")
_BEGINNING = re.compile(r"</?[a-zA-Z]")
_ENCLOSED = re.compile(r"=\s*+(?:\"[^\">]*+>[^\"]*+|'[^'>]*+>[^']*+)")  # a value in quotes that holds a >
# elements of drawings close themselves with "/>", which HTML's own do not
_DRAWING = frozenset([
    "animate", "circle", "ellipse", "feblend", "fecolormatrix", "fecomposite", "feflood", "fegaussianblur", "femerge",
    "femergenode", "feoffset", "g", "image", "line", "mpath", "path", "polygon", "polyline", "rect", "set", "stop",
    "svg", "symbol", "text", "tspan", "use",
])  # fmt: skip
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
# elements whose content is text up to their end tag, but inside drawings and formulas
_RAW_TEXT = frozenset(["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "noscript"])


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

    The path is that of `leaves.Elements.selector`; html stands for the body, and what is outside the body is left out.
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
    # no more start tags than this, whatever stands in attributes
    if tags - text.count("</") > limits.max_depth or _could_have_long_tags(text, 2 * limits.max_attributes):
        depth = _depth(text, limits)
        if depth > limits.max_depth:
            raise PageError("too-deep", f"elements nested about {depth:,} deep: the limit is {limits.max_depth:,}")


def _could_have_long_tags(text: str, least: int) -> bool:
    """Whether there could be a tag of three times `least` characters: all its > but the last stand in values.

    So there is a stretch of `least` characters without any, or a chain of values that hold some.
    """
    place = 0
    while place + least < len(text):
        last = text.rfind(">", place + 1, place + least)
        if last < 0:
            last = text.find(">", place + least)
            last = len(text) if last < 0 else last
            if _BEGINNING.search(text, place, last - least + 1):
                return True
        place = last
    start = end = -1
    for value in _ENCLOSED.finditer(text) if len(text) > least else ():
        if start < 0 or text.find(">", end, value.start()) >= 0:
            start = value.start()
        end = value.end()
        if end - start >= least:
            return True
    return False


def _tokens(text: str, drawn: dict[str, int]) -> Iterator[re.Match[str]]:
    """The tags of a text, as the standard cuts it: none in comments, and none in what is text.

    `drawn` says, while this goes on, how many svg and math are open: in them less is text.
    """
    place = 0
    while (token := _TOKEN.search(text, place)) is not None:
        place = token.end()
        foreign = drawn.get("svg", 0) or drawn.get("math", 0)
        if token["section"]:
            place = _after(text, "]]>" if foreign else ">", place)
        elif token["name"]:
            yield token
            name = token["name"].lower()
            if name == "plaintext" and not token["end"]:
                return
            if name in _RAW_TEXT and not token["end"] and not foreign:
                end = _raw_end(name).search(text, place)
                place = end.start() if end else len(text)


def _after(text: str, mark: str, place: int) -> int:
    found = text.find(mark, place)
    return len(text) if found < 0 else found + len(mark)


@cache
def _raw_end(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}(?=[\s/>])", re.I)


def _check_attributes(rest: str, most: int) -> None:
    for number, _ in enumerate(_ATTRIBUTE.finditer(rest)):
        if number >= most:
            raise PageError("too-large", f"a tag with more than {most:,} attributes")


def _depth(text: str, limits: Limits) -> int:
    """About how deep the parser will nest, from the tags alone, by the standard's rules for end tags left out.

    Formatting elements left open count FORMATTING_COST each: the parser opens them anew in every block that follows, so
    their cost is their number times that of the blocks (2,000 crossed ends took 3.4 s and 1.3 GB). Raises PageError for a tag
    with too many attributes.
    """
    stack: list[str] = []
    inside: dict[str, int] = {}
    deepest = formatting = 0
    for token in _tokens(text, inside):
        closing, name, rest = token.group("end", "name", "rest")
        if len(rest) > limits.max_attributes:
            _check_attributes(rest, limits.max_attributes)
        name = name.lower()
        if name in _VOID or (name in _DRAWING and rest.endswith("/")):
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
            if deepest > limits.max_depth:
                break
    return deepest


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
