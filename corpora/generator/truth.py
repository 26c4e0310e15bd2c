"""What is true about a generated page: its visible texts in document order, each with what it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

#: content   what the page is there for
#: template  chrome that stays the same
#: promo     appeals: the in-article promo, the disclaimer, the newsletter call, the optional blocks
#: dynamic   boilerplate that changes from page to page
KINDS = ("content", "template", "promo", "dynamic")
SLOT_TYPES = ("date", "number", "price", "count", "person", "links", "text", "option", "identifier")


@dataclass(frozen=True, slots=True)
class SlotTruth:
    """A changing place and its value on this page: the whole block, or a part of it."""

    name: str
    type: str
    value: str


@dataclass(frozen=True, slots=True)
class Block:
    """One visible run of text: what stands between two block boundaries (a `<br>` is one as well).

    text    white space folded to single spaces, except in code, which keeps its lines
    kind    out of KINDS
    role    what it is in the layout: "byline", "nav", "spec-label", "paragraph", ...
    static  the text is a constant of the site (content may be: a label, a refrain, a quotation)
    slots   the changing parts, in order; none if static
    """

    text: str
    kind: str
    role: str
    static: bool
    slots: tuple[SlotTruth, ...] = ()

    @property
    def slot(self) -> str | None:
        """Name of the first slot."""
        return self.slots[0].name if self.slots else None

    @property
    def value(self) -> str | None:
        """Value of the first slot."""
        return self.slots[0].value if self.slots else None


@dataclass(frozen=True)
class GeneratedPage:
    """One page and its truth.

    path       of the file, in the crawl folder
    url        the fetched URL, or None
    fetched    ISO 8601 UTC
    title      the headline
    kind       the page kind; `layout` adds the design ("forum@2" after a redesign)
    original   path of the page this one nearly copies, or None
    """

    path: str
    url: str | None
    fetched: str
    html: str
    blocks: tuple[Block, ...]
    title: str
    kind: str
    layout: str
    original: str | None = None

    @cached_property
    def gold(self) -> str:
        """The content, as the extractor is to give it."""
        return gold_text(self)


@dataclass(frozen=True)
class GeneratedSite:
    """Pages of one site, in the order of the plan; `name` is the site's name as its pages show it."""

    name: str
    host: str
    pages: tuple[GeneratedPage, ...]
    lang: str
    script: str

    def page(self, path: str) -> GeneratedPage:
        """The page at `path`; KeyError if there is none."""
        for page in self.pages:
            if page.path == path:
                return page
        raise KeyError(path)


def gold_text(page: GeneratedPage, kinds: Iterable[str] = ("content",)) -> str:
    """The blocks of these kinds, in document order, joined by an empty line."""
    wanted = frozenset(kinds)
    return "\n\n".join(block.text for block in page.blocks if block.kind in wanted)
