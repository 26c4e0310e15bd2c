"""What segmenting gives: the leaves of a page and the elements they lie in, as columns."""

from __future__ import annotations

from dataclasses import dataclass, field

from templatediff.html import Head


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
