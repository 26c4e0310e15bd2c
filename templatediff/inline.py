"""Inline markup of one leaf -> well-formed inline HTML, or inline HTML that is ready for the Markdown converter.

The markup comes from `segment(rich=True)`: escaped text between tags without attributes other than href, src and alt.
Tags that hold nothing are dropped, as are tags that repeat an open one; white space moves out of the tags.

Characters that would look like Markdown are replaced by noncharacters (U+FDD0 to U+FDEF, which are never text) and
come back with a backslash when the converter is done: what it would escape by itself is too much or too little.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape, unescape

_TAG = re.compile(r"(<[^>]*>)")
_TAG_NAME = re.compile(r"</?([a-z0-9]+)")
_ATTRIBUTE = re.compile(r' (href|src|alt)="([^"]*)"')
_UNSAFE_IN_URL = re.compile(r"[\s<>\"`|\\^]")
MAX_OPEN = 12  # inline tags open at once; deeper ones say nothing that a reader could see

_SAME = {"b": "strong", "strong": "strong", "i": "em", "em": "em"}
#: inline tags for which Markdown has a form, and the tag that stands for them
_MARKDOWN_TAGS = {
    "a": "a", "b": "strong", "strong": "strong", "i": "em", "em": "em", "del": "del", "s": "del", "code": "code",
    "kbd": "code", "samp": "code", "q": "q",
}  # fmt: skip
_EMPHASIS = frozenset(["strong", "em", "del"])

_SPECIAL = "\\`*_[]<&~#+-.)!|=:>"
_NONCHARACTERS = re.compile("[\ufdd0-\ufdef]")
_PLACES = {ord(char): chr(0xFDD0 + number) for number, char in enumerate(_SPECIAL)}
_BACK = {place: "\\" + chr(number) for number, place in _PLACES.items()}
_PUNCTUATION = r"[!-/:-@\[-`{-~]"
_RISKY = re.compile(
    rf"\\(?={_PUNCTUATION}|$)"
    r"|`|\*(?=\S)|(?<=\S)\*"
    r"|(?<!_)(?:(?<![^\W_])_++|_++(?![^\W_]))"  # inside a word it is harmless
    r"|\](?=[(\[:]|$)|!(?=\[|$)|~{2,}"
    r"|<(?=[A-Za-z/!?])|&(?=#|[A-Za-z][A-Za-z0-9]*;)"
)
_LINE_START = re.compile(
    r"#{1,6}(?=\s|$)|[-+*](?=\s|$)|>|\d{1,9}[.)](?=\s|$)|~{3}|(?:[-=_*:|]\s*)+$"
)
_CODE_SEAM = re.compile("</code><code>")


def inline_html(markup: str, resolve: Callable[[str], str]) -> str:
    """Balanced inline HTML of a leaf; `resolve` makes its links and images absolute.

    >>> inline_html("a<b> bold <strong>x</strong></b><i></i> end", str)
    'a <b>bold x</b> end'
    """
    return _Writer(resolve, None).write(markup) if "<" in markup else markup


def inline_markdown(markup: str, resolve: Callable[[str], str], line_start: bool) -> str:
    """The same with only what Markdown can say, and with look-alikes of Markdown replaced (see `backslashes`).

    >>> backslashes(inline_markdown("1. <b>2*3*4</b> snake_case <u>&lt;b&gt;</u>", str, line_start=True))
    '1\\\\. <strong>2\\\\*3\\\\*4</strong> snake_case \\\\<b&gt;'
    """
    if "<" not in markup:
        return escape_markdown(markup, line_start)
    return _CODE_SEAM.sub("", _Writer(resolve, line_start).write(markup))


def escape_markdown(escaped: str, line_start: bool = False, brackets: bool = False) -> str:
    """HTML-escaped text with Markdown's look-alikes replaced by noncharacters."""
    text = plain(escaped)
    if line_start:
        found = _LINE_START.match(text)
        if found:
            place = next(number for number, char in enumerate(found.group()) if ord(char) in _PLACES)
            text = text[:place] + _PLACES[ord(text[place])] + text[place + 1 :]
    text = _RISKY.sub(_hide, text)
    if brackets:
        text = text.replace("[", _PLACES[ord("[")]).replace("]", _PLACES[ord("]")])
    return escape(text, quote=False)


def _hide(found: re.Match[str]) -> str:
    return found.group().translate(_PLACES)


def plain(escaped: str) -> str:
    """The text of an HTML-escaped text, without the noncharacters that stand for something here."""
    text = unescape(escaped) if "&" in escaped else escaped
    return _NONCHARACTERS.sub("\ufffd", text)


def backslashes(converted: str) -> str:
    """Put back what `escape_markdown` replaced, each with a backslash before it."""
    return _NONCHARACTERS.sub(lambda found: _BACK.get(found.group(), ""), converted)


def address(escaped: str, resolve: Callable[[str], str]) -> str:
    """An address as it stands in an attribute -> resolved, characters that no address may hold percent-encoded."""
    target = resolve(unescape(escaped))
    return escape(_UNSAFE_IN_URL.sub(lambda c: "".join(f"%{byte:02X}" for byte in c.group().encode()), target))


@dataclass(slots=True)
class _Open:
    """A tag met and not yet closed: its name, "" if it is left out; where it stands in the output; is text in it."""

    name: str
    place: int = 0
    filled: bool = False


class _Writer:
    """Writes one leaf. `line_start` None: HTML; else Markdown's subset, the text at the start of a line or not."""

    def __init__(self, resolve: Callable[[str], str], line_start: bool | None) -> None:
        self.resolve = resolve
        self.markdown = line_start is not None
        self.line_start = bool(line_start)
        self.out: list[str] = []
        self.stack: list[_Open] = []

    def write(self, markup: str) -> str:
        parts = [part for part in _TAG.split(markup) if part]
        for number, part in enumerate(parts):
            if part[0] != "<":
                self._text(part)
                continue
            found = _TAG_NAME.match(part)
            name = found.group(1) if found else ""
            if name == "img":
                self._image(part)
            elif part[1] != "/":
                self._start(name, part)
            elif self.stack:
                self._end(parts, number)
        while self.stack:
            self._end(parts, len(parts))
        return " ".join("".join(self.out).split())

    def _text(self, text: str) -> None:
        out = self.out
        if text[0].isspace():
            place = len(out)
            while place and (not out[place - 1] or self._opens(place - 1)):
                place -= 1
            if place < len(out):
                out.insert(place, " ")
                for entry in self.stack:
                    entry.place += entry.place >= place
            if place < len(out) or not out:
                text = text.lstrip()
        if not text.strip():
            out.append(text)
            return
        if self.stack:
            self.stack[-1].filled = True
        if self.markdown:
            names = [entry.name for entry in self.stack]
            if "code" in names:
                text = escape(plain(text), quote=False)
            else:
                text = escape_markdown(text, self.line_start, "a" in names)
            self.line_start = False
        out.append(text)

    def _opens(self, place: int) -> bool:
        return any(entry.name and entry.place == place for entry in self.stack)

    def _start(self, name: str, tag: str) -> None:
        written = _MARKDOWN_TAGS.get(name, "") if self.markdown else name
        opening = f"<{written}>"
        if name == "a":
            href = dict(_ATTRIBUTE.findall(tag)).get("href")
            target = address(href, self.resolve) if href else ""
            opening = f'<a href="{target}">'
            if not target:
                written = ""
        kind = _SAME.get(written, written)
        for entry in self.stack:
            if _SAME.get(entry.name, entry.name) == kind or (self.markdown and entry.name == "code"):
                written = ""
        if len(self.stack) >= MAX_OPEN:
            written = ""
        self.stack.append(_Open(written, len(self.out)))
        if written:
            self.out.append(opening)

    def _end(self, parts: Sequence[str], number: int) -> None:
        """Close the innermost tag; `number` is the place of its end tag in `parts`, to see what follows."""
        entry, out = self.stack.pop(), self.out
        if entry.filled and self.stack:
            self.stack[-1].filled = True
        if not entry.name:
            return
        if not entry.filled:
            out[entry.place] = ""
            return
        space = False
        while not (stripped := out[-1].rstrip()):
            space = space or bool(out.pop())
        space = space or stripped != out[-1]
        out[-1] = stripped
        if self.markdown and entry.name in _EMPHASIS and not self._flanked(entry.place, parts, number, space):
            out[entry.place] = ""
        else:
            out.append(f"</{entry.name}>")
        if space:
            out.append(" ")

    def _flanked(self, place: int, parts: Sequence[str], number: int, space: bool) -> bool:
        """Would Markdown read stars here as emphasis? (CommonMark 0.31, 6.2: not between a letter and punctuation.)"""
        out = self.out
        first = next(out[inner] for inner in range(place + 1, len(out)) if out[inner])[0]
        last = out[-1][-1]
        before = next((out[outer] for outer in range(place - 1, -1, -1) if out[outer]), " ")[-1]
        following = (parts[later] for later in range(number + 1, len(parts)) if parts[later][0] != "<")
        after = " " if space else next(following, " ")[0]
        opens = not _is_punctuation(first) or not before.isalnum()
        closes = not _is_punctuation(last) or not after.isalnum()
        return opens and closes

    def _image(self, tag: str) -> None:
        image = inline_image(tag, self.resolve, self.markdown)
        if image:
            # a space on both sides, since an image parts the words around it
            self.out += [" ", image, " "]
            self.line_start = False
            for entry in self.stack[-1:]:
                entry.filled = True


def inline_image(tag: str, resolve: Callable[[str], str], markdown: bool) -> str:
    """An image tag written by `segment`, resolved; "" without a usable source."""
    attributes = dict(_ATTRIBUTE.findall(tag))
    source, alt = attributes.get("src", ""), attributes.get("alt", "")
    target = address(source, resolve) if source else ""
    if not target:
        return ""
    text = escape_markdown(alt, brackets=True).replace('"', "&quot;") if markdown else escape(unescape(alt))
    return f'<img src="{target}" alt="{text}">'


def _is_punctuation(char: str) -> bool:
    return unicodedata.category(char)[0] in "PS" or bool(_NONCHARACTERS.match(char))
