"""What a generated site may be: every knob, its range and its default."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass

#: Page kind -> the body it has.
BODIES = {
    "semantic": "article",
    "tables": "article",
    "soup": "article",
    "flat": "article",
    "news": "article",
    "blog": "article",
    "forum": "forum",
    "product": "product",
    "listing": "listing",
    "docs": "docs",
}
#: Page kind -> the markup a site has whose first kind it is.
STYLES_OF_KINDS = {
    "semantic": "semantic",
    "tables": "tables",
    "soup": "soup",
    "flat": "flat",
    "news": "divs",
    "blog": "semantic",
    "forum": "divs",
    "product": "divs",
    "listing": "divs",
    "docs": "semantic",
}
KINDS = tuple(BODIES)
STYLES = ("semantic", "divs", "soup", "tables", "flat")
SCRIPTS = ("latin", "chinese", "japanese", "thai", "arabic", "hebrew", "cyrillic", "greek")
DYNAMIC = (
    "related", "most-read", "ads", "date", "today", "counter", "byline", "pager",
    "breadcrumb", "tags", "comments", "ticker", "page-toc", "forum-meta",
)  # fmt: skip
STATIC_CONTENT = ("labels", "see-also", "refrain", "quotation", "licence")
COOKIE_BARS = ("first", "last", "none")


@dataclass(frozen=True, slots=True)
class SiteSpec:
    """One site. Equal specs give equal bytes on every machine and Python version.

    kinds            page kinds, taken in turn; name one several times to weight it ("forum", "forum", "docs")
    pages            number of ordinary pages; near-duplicates and the licence pages come on top
    style            markup of the whole site; None: that of the first kind (STYLES_OF_KINDS)
    optional_share   share of the pages of each kind that carry an optional block, 0..1; drawn block by block
    optional_blocks  how many such blocks the site has
    dynamic          the kinds of changing boilerplate the site has, out of DYNAMIC
    static_content   the kinds of content that repeats, out of STATIC_CONTENT; without "labels"
                     products have no specification; the licence page comes under two addresses
    quotation_pages  on how many pages the same quotation stands (articles and documentation only)
    shared_refrain   the refrain of one page (three times on it) is that of every page that has one
    lead_as_teaser   the first sentence of an article is also its teaser where other pages recommend it
    near_duplicates  pages added that are copies of another page but for one sentence
    months           fetch months ("2024-05") over which the pages are spread in order, evenly
    redesign         pages fetched in this month or later have another markup, other menus, other texts
    host             host name; None: one made from the site's name, under .example
    urls             pages know their fetched URL
    canonical        pages carry a canonical link and og:url
    in_article_promo, disclaimer   an appeal inside the content container of every page, a notice at its end
    cookie_bar       where in the body the consent text stands, out of COOKIE_BARS
    newsletter       a call in the sidebar
    length           content length, as a factor
    prefix           put before every path ("www.a.example/")
    """

    kinds: tuple[str, ...] = ("semantic",)
    script: str = "latin"
    pages: int = 12
    seed: int = 0
    style: str | None = None
    optional_share: float = 0.6
    optional_blocks: int = 2
    dynamic: tuple[str, ...] = DYNAMIC
    static_content: tuple[str, ...] = ("labels", "see-also", "refrain", "quotation")
    quotation_pages: int = 2
    shared_refrain: bool = False
    lead_as_teaser: bool = True
    near_duplicates: int = 0
    months: tuple[str, ...] = ("2024-05",)
    redesign: str | None = None
    host: str | None = None
    urls: bool = True
    canonical: bool = True
    in_article_promo: bool = True
    disclaimer: bool = True
    cookie_bar: str = "first"
    newsletter: bool = True
    length: float = 1.0
    prefix: str = ""

    def __post_init__(self) -> None:
        _known("kinds", self.kinds, KINDS)
        _known("script", (self.script,), SCRIPTS)
        _known("style", () if self.style is None else (self.style,), STYLES)
        _known("dynamic", self.dynamic, DYNAMIC)
        _known("static_content", self.static_content, STATIC_CONTENT)
        _known("cookie_bar", (self.cookie_bar,), COOKIE_BARS)
        if not self.kinds or self.pages < 1 or not 0 <= self.optional_share <= 1 or self.length <= 0:
            raise ValueError("a site needs a kind, a page, a share of 0..1 and a length above 0")
        for month in (*self.months, *([self.redesign] if self.redesign else [])):
            if not re.fullmatch(r"\d{4}-(0[1-9]|1[0-2])", month):
                raise ValueError(f"month {month!r}: write it as 2024-05")
        if not self.months or list(self.months) != sorted(set(self.months)):
            raise ValueError("months: name each once, oldest first")

    def but(self, **changes: object) -> SiteSpec:
        """The same site with some knobs turned."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]


def _known(knob: str, given: tuple[str, ...], allowed: tuple[str, ...]) -> None:
    for value in given:
        if value not in allowed:
            raise ValueError(f"{knob}: {value!r} is not one of {', '.join(allowed)}")
