"""HTML and truth written in one go: what is put out as text is put down as a block.

A `Style` knows the elements a kind of markup uses for "nav", "paragraph", "heading"; a `Writer` puts
them out. Five styles: semantic HTML5, plain divs with telling names, divs with random class names,
nested tables without classes, and one flat div in which `<br>` is all there is.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape

from corpora.generator.truth import Block, SlotTruth

_SEMANTIC = {
    "header": "header", "nav": "nav", "main": "main", "article": "article", "aside": "aside",
    "footer": "footer", "box": "section", "post": "article", "figure": "figure", "note": "aside",
}  # fmt: skip
#: Old pages give every structural part a table of its own.
_CELL = ('<table width="100%" border="0" cellspacing="0" cellpadding="4"><tr><td>', "</td></tr></table>")
_KEPT = ("ul", "ol", "table", "tr", "thead", "tbody", "blockquote", "form", "dl", "select", "figure", "pre")
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a block: plain text, an inline element, a changing value, or several of these at once."""

    text: str
    tag: str | None = None
    href: str | None = None
    slot: str | None = None
    type: str = "text"


def link(text: str, href: str, slot: str | None = None, type: str = "links") -> Piece:
    """A link; with `slot`, one whose text changes."""
    return Piece(text, "a", href, slot, type)


def value(text: str, slot: str, type: str = "text") -> Piece:
    """A changing value without markup of its own."""
    return Piece(text, None, None, slot, type)


class Style:
    """The elements of one kind of markup; class names depend on the site and, where random, on the page."""

    def __init__(self, name: str, site_seed: str, page_seed: str) -> None:
        self.name = name
        self.site_seed = site_seed
        self.page_seed = page_seed
        draw = random.Random(f"{site_seed}/style")
        self.stable_part = draw.random() < 0.5  # half of the soup sites keep a class that stays the same
        self.soup_paragraph = draw.choice(("p", "div", "div"))
        self.soup_heading = draw.random() < 0.6
        self.soup_list = draw.random() < 0.5
        self.old_breaks = draw.random() < 0.5  # paragraphs of old pages: `<p>`, or runs between `<br><br>`

    def container(self, role: str, name: str) -> tuple[str, str]:
        """Start and end of a structural element."""
        if role in _KEPT:
            if self.name == "flat":
                return "", ""
            if self.name == "soup" and role in ("ul", "ol") and not self.soup_list:
                role = "div"
            attribute = "" if self.name == "tables" else self._class(name or role)
            if self.name == "tables" and role == "table":
                attribute = ' border="1" cellpadding="2"'
            return f"<{role}{attribute}>", f"</{role}>"
        if self.name == "flat":
            return "", ""
        if self.name == "tables":
            if role == "row":
                return '<table width="980" border="0"><tr valign="top">', "</tr></table>"
            return ("<td>", "</td>") if role == "col" else _CELL
        tag = _SEMANTIC.get(role, "div") if self.name == "semantic" else "div"
        start, end = f"<{tag}{self._class(name or role)}>", f"</{tag}>"
        for depth in range(random.Random(f"{self.site_seed}/wrap/{role}/{name}").choice((0, 0, 1, 1, 2))):
            start += f"<div{self._class(f'{name or role}-inner{depth}')}>"
            end = "</div>" + end
        return start, end

    def leaf(self, tag: str, name: str) -> tuple[str, str]:
        """Start and end of an element that holds one block."""
        if self.name == "flat":
            return ("<b>", "</b><br>") if tag[0] == "h" else ("", "<br>")
        if tag == "pre":
            return f"<pre{'' if self.name == 'tables' else self._class(name)}><code>", "</code></pre>"
        if self.name == "tables":
            return self._old_leaf(tag)
        if self.name == "soup":
            if tag == "p":
                tag = self.soup_paragraph
            elif (tag in ("h1", "h2", "h3") and not self.soup_heading) or (tag == "li" and not self.soup_list):
                tag = "div"
        if tag == "p" and name == "paragraph":
            return f"<{tag}{self._class(name) if self.name == 'soup' else ''}>", f"</{tag}>"
        return f"<{tag}{self._class(name)}>", f"</{tag}>"

    def inline(self, tag: str) -> str:
        """The element for `strong`, `em`, `code`."""
        return {"strong": "b", "em": "i", "code": "tt"}.get(tag, tag) if self.name in ("tables", "flat") else tag

    def _old_leaf(self, tag: str) -> tuple[str, str]:
        if tag in ("h1", "h2", "h3"):
            return f'<p><font size="+{4 - int(tag[1])}"><b>', "</b></font></p>"
        if tag == "p" and self.old_breaks:
            return "", "<br><br>"
        if tag == "div":
            return '<font face="Arial" size="2">', "</font><br>"
        if tag == "figcaption":
            return "<p><small>", "</small></p>"
        return f"<{tag}>", f"</{tag}>"

    def _class(self, name: str) -> str:
        if self.name != "soup":
            return f' class="{name}"'
        names = "css-" + _token(f"{self.page_seed}/class/{name}", 6).lower()
        if self.stable_part:
            names = f"sc-{_token(f'{self.site_seed}/class/{name}', 8)} {names}"
        return f' class="{names}"'


class Writer:
    """Collects HTML and blocks in document order."""

    def __init__(self, style: Style) -> None:
        self.style = style
        self.html: list[str] = []
        self.blocks: list[Block] = []

    @contextmanager
    def el(self, role: str, name: str = "") -> Iterator[None]:
        """A structural element around what is written inside the `with`."""
        start, end = self.style.container(role, name)
        self.html.append(start + "\n")
        yield
        self.html.append(end + "\n")

    def raw(self, html: str) -> None:
        """Markup without visible text."""
        self.html.append(html)

    def put(
        self,
        tag: str,
        pieces: Sequence[Piece] | str,
        kind: str,
        role: str,
        *,
        static: bool | None = None,
        code: bool = False,
    ) -> None:
        """One block. Template and promo are constants of the site, the rest is not, unless `static` says so.

        A changing block that names no slot is one as a whole.
        """
        if isinstance(pieces, str):
            pieces = [Piece(pieces)]
        text = "".join(piece.text for piece in pieces)
        if not code:
            text = " ".join(text.split())
        slots = tuple(SlotTruth(p.slot, p.type, p.text) for p in pieces if p.slot)
        if static is None:
            static = kind in ("template", "promo") and not slots
        if static:
            slots = ()
        elif not slots:
            slots = (SlotTruth(role, "links" if all(p.tag == "a" for p in pieces) else "text", text),)
        start, end = self.style.leaf(tag, role)
        self.html.append(f"{start}{''.join(map(self._piece, pieces))}{end}\n")
        self.blocks.append(Block(text, kind, role, static, slots))

    def _piece(self, piece: Piece) -> str:
        text = escape(piece.text, quote=False)
        if piece.tag is None:
            return text
        if piece.tag == "a":
            return f'<a href="{escape(piece.href or "#")}">{text}</a>'
        tag, _, name = piece.tag.partition(".")
        tag = self.style.inline(tag)
        return f'<{tag} class="{name}">{text}</{tag}>' if name else f"<{tag}>{text}</{tag}>"


def _token(seed: str, length: int) -> str:
    draw = random.Random(seed)
    return draw.choice(_LETTERS[:26]) + "".join(draw.choice(_LETTERS) for _ in range(length - 1))
