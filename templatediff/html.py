"""Text of a page -> Tree. The one home of selectolax: every other module sees the names given here.

Limits are looked at on the text, before the parser runs, since its time is quadratic in nesting depth and in
attributes on one tag; what is quadratic for no need is eased. A page over a limit raises PageError, which callers turn into
a record.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from templatediff.limits import DEFAULT, Limits
from templatediff.nesting import check_limits, eased

Node = LexborNode
TEXT_ID = 2  #: `tag_id` of a text node; elements known to HTML, SVG and MathML have ids from FIRST_ID to LAST_KNOWN_ID
FIRST_ID = 6  # smaller ones, but for text, are comments and the like
LAST_KNOWN_ID = 255  # unknown elements carry a pointer value, far above


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
        check_limits(text, limits)
    parser = LexborHTMLParser(eased(text), scripting=scripting)
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
