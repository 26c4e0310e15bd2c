"""Text of a page -> whether it is within the limits, from its tags alone, before the parser runs.

The parser's time is quadratic in nesting depth, in attributes on one tag and in options of one choice, so these are looked
at first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from templatediff.errors import PageError
from templatediff.limits import Limits

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
_FORMATTING = frozenset(
    ["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"]
)

_OPTION = re.compile("<option", re.I)
_SELECT = re.compile(r"(?<=<select)(?=[\s/>])", re.I)
_ADDED_UP = re.compile("<(?:html|body)", re.I)  # the parser gives all their attributes to one element
MOST_OPTIONS = 500  #: of a page whose choices are left as they are
MOST_ADDED_UP = 8  #: html and body tags of a page whose attributes need not be counted together

FORMATTING_COST = 4
LOOKED_BACK = 64  # steps up the open elements for one whose end tag was left out

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
    **dict.fromkeys([
        "address", "article", "aside", "blockquote", "center", "details", "dir", "div", "dl", "fieldset",
        "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "main", "menu",
        "nav", "ol", "p", "pre", "section", "table", "ul",
    ], (("p",), ("td", "th", "button", "table"))),
}  # fmt: skip


def check_limits(text: str, limits: Limits) -> None:
    """Raises PageError ("too-large", "too-deep") for text over a limit of size, elements, depth or attributes."""
    if len(text) > limits.max_bytes:
        raise PageError("too-large", f"{len(text):,} characters: the limit is {limits.max_bytes:,}")
    tags = text.count("<")
    if tags > 2 * limits.max_nodes:
        raise PageError("too-large", f"about {tags // 2:,} elements: the limit is {limits.max_nodes:,}")
    # no more start tags than this, whatever stands in attributes
    if (
        (tags > limits.max_depth and tags - text.count("</") > limits.max_depth)
        or _could_have_long_tags(text, 2 * limits.max_attributes)
        or len(_ADDED_UP.findall(text)) > MOST_ADDED_UP
    ):
        depth = _depth(text, limits)
        if depth > limits.max_depth:
            raise PageError("too-deep", f"elements nested about {depth:,} deep: the limit is {limits.max_depth:,}")


def eased(text: str) -> str:
    """The same page, in a form that the parser reads in linear time: where there are many options, every choice allows several.

    At the end of an option the parser looks through its whole choice for the one that is chosen, unless several may be:
    20,000 options took 4 s. Options are no text; a page that shows the tag itself unescaped (`xmp`) shows the word as well.

    >>> eased("<select id=a>" + "<option>" * 501)[:23]
    '<select multiple id=a><'
    """
    return _SELECT.sub(" multiple", text) if len(_OPTION.findall(text)) > MOST_OPTIONS else text


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


def _depth(text: str, limits: Limits) -> int:
    """About how deep the parser will nest, from the tags alone, by the standard's rules for end tags left out.

    Formatting elements left open count FORMATTING_COST each: the parser opens them anew in every block that follows, so
    their cost is their number times that of the blocks (2,000 crossed ends took 3.4 s and 1.3 GB). Raises PageError for a tag
    with too many attributes.
    """
    stack: list[str] = []
    inside: dict[str, int] = {}
    deepest = formatting = added_up = 0
    for token in _tokens(text, inside):
        closing, name, rest = token.group("end", "name", "rest")
        if len(rest) > limits.max_attributes:
            _count_attributes(rest, limits.max_attributes)
        name = name.lower()
        if name in ("html", "body") and not closing:
            added_up = _count_attributes(rest, limits.max_attributes, added_up)
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


def _count_attributes(rest: str, most: int, before: int = 0) -> int:
    """`before` and the attributes in what follows the name of a tag. Raises PageError where that is more than `most`."""
    for _ in _ATTRIBUTE.finditer(rest):
        before += 1
        if before > most:
            raise PageError("too-large", f"a tag with more than {most:,} attributes")
    return before
