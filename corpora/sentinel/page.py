"""A page and its truth, written in one go: every block is named and knows its tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape

from corpora.sentinel.words import Source


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a page that is kept or dropped.

    content         what the page is there for: True; False for chrome and promotion; None counts on neither side
                    (headlines, bylines: extractors rightly differ)
    needs_siblings  chrome that one page alone cannot show to be chrome
    tokens          the words that stand in this block and nowhere else
    """

    name: str
    content: bool | None
    text: str
    tokens: tuple[str, ...]
    needs_siblings: bool = False


@dataclass
class Site:
    """The site that a case makes: its words, and what all of its pages share."""

    name: str
    words: Source
    _shared: dict[str, str] = field(default_factory=dict)

    def shared(self, key: str, make: Callable[[], str]) -> str:
        """A constant of the site, made when first asked for."""
        if key not in self._shared:
            self._shared[key] = make()
        return self._shared[key]


class Page:
    """One page in the making. Blocks are put down in document order; what `block` gives back is their HTML."""

    def __init__(self, site: Site, number: int) -> None:
        self.site = site
        self.number = number
        self.words = site.words
        self.subject = self.words.subject()
        self.headline = f"The {self.words.phrase(2).lower()} of {self.subject.capitalize()}"
        self.blocks: list[Block] = []

    def block(
        self,
        name: str,
        content: bool | None,
        markup: str,
        *parts: str,
        needs_siblings: bool = False,
    ) -> str:
        """Put down a block whose parts stand at the `{}` of the markup, and give its HTML."""
        text = "\n".join(parts) if "\n" in markup or "<tr" in markup or "<li" in markup else " ".join(parts)
        self.blocks.append(Block(name, content, text, tuple(self.words.tokens(text)), needs_siblings))
        return markup.format(*(escape(part, quote=False) for part in parts)) + "\n"

    # --- what pages are made of ------------------------------------------------------------------------

    def say(self, sentences: int) -> str:
        """Running text of this page."""
        return self.words.sentences(sentences, self.subject)

    def paragraphs(self, count: int, sentences: int = 3, markup: str = "<p>{}</p>", name: str = "p") -> str:
        """So many paragraphs, a content block each."""
        return "".join(self.block(f"{name}{n}", True, markup, self.say(sentences)) for n in range(1, count + 1))

    def title(self, markup: str = "<h1>{}</h1>") -> str:
        """The headline."""
        return self.block("headline", None, markup, self.headline)

    def constant(self, key: str, make: Callable[[Source], str]) -> str:
        """A text that all pages of the site have."""
        return self.site.shared(key, lambda: make(self.words))

    def links(self, name: str, count: int, markup: str, entry: str, *, own: bool = False, words: int = 2) -> str:
        """A block of links, chrome: those of the site, or with `own` of this page."""
        texts = [
            self.words.phrase(words) if own else self.constant(f"{name}/{n}", lambda source: source.phrase(words))
            for n in range(count)
        ]
        entries = "".join(entry.replace("#", f"/{name}/{self.number if own else ''}{n}") for n in range(count))
        return self.block(name, False, markup.replace("*", entries), *texts)

    def menu(self, style: str) -> str:
        """The site's menu."""
        if style == "semantic":
            return self.links("menu", 6, '<nav class="main-nav"><ul>*</ul></nav>', '<li><a href="#">{}</a></li>')
        if style == "named":
            return self.links("menu", 6, '<div class="menu"><ul>*</ul></div>', '<li><a href="#">{}</a></li>')
        return self.links("menu", 6, "<div>*</div>", '<a href="#">{}</a> | ')

    def foot(self, style: str) -> str:
        """Links and the address at the end of every page."""
        start, end = {
            "semantic": ("<footer>", "</footer>"),
            "named": ('<div class="footer">', "</div>"),
            "bare": ("<div>", "</div>"),
        }[style]
        address = self.constant("address", lambda source: f"© 2024 {source.phrase(2)}, {source.phrase(3)}")
        links = self.links("footer-links", 4, "<p>*</p>", '<a href="#">{}</a> ')
        return start + links + self.block("footer-line", False, "<p>{}</p>", address) + end

    def framed(self, body: Callable[[], str], style: str = "semantic") -> str:
        """Menu, body and foot, in that order: with HTML5 elements, with telling class names, or with neither."""
        start, end = {
            "semantic": ("<main><article>\n", "</article></main>\n"),
            "named": ('<div class="wrapper"><div class="content">\n', "</div></div>\n"),
            "bare": ("<div><div>\n", "</div></div>\n"),
        }[style]
        head = f"<header>{self.menu(style)}</header>\n" if style == "semantic" else self.menu(style)
        return head + start + body() + end + self.foot(style)

    def document(self, body: str) -> str:
        """The whole page."""
        title = f"{self.headline} - {self.site.name.replace('-', ' ').capitalize()}"
        return (
            f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
            f'<link rel="stylesheet" href="/site.css">\n</head>\n<body>\n{body}</body>\n</html>\n'
        )
