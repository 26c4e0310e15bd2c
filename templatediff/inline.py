"""Inline markup of one leaf -> well-formed inline HTML, or inline HTML ready for the Markdown converter.

The markup comes from `segment(rich=True)`: escaped text between tags that bear only href, src and alt. Tags that
hold nothing are dropped, as are tags that repeat an open one; white space moves out of the tags.

Characters that would look like Markdown are replaced by noncharacters (U+FDD0 to U+FDEF, which are never text) and
come back with a backslash when the converter is done: what it escapes by itself is too much or too little.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape, unescape
from urllib.parse import quote

_TAG = re.compile(r"(<[^>]*>)")
_TAG_NAME = re.compile(r"</?([a-z0-9]+)")
_ATTRIBUTE = re.compile(r' (href|src|alt)="([^"]*)"')
_UNSAFE_IN_URL = re.compile(r"[\s<>\"`|\\^]")
MAX_OPEN = 12  # inline tags open at once; deeper ones say nothing that a reader could see

_SAME = {"b": "strong", "strong": "strong", "i": "em", "em": "em"}
#: inline tags for which Markdown has a form, and the tag that stands for them
_MARKDOWN_TAGS = {
    "a": "a", "b": "strong", "strong": "strong", "i": "em", "em": "em", "del": "del", "s": "del",
    "code": "code", "kbd": "code", "samp": "code", "q": "q",
}  # fmt: skip
_EMPHASIS = frozenset(["strong", "em", "del"])
_STARS = frozenset(f"<{slash}{name}>" for name in _EMPHASIS for slash in ("", "/"))

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
    r"|<(?=[A-Za-z/!?]|$)|&(?=#|[A-Za-z][A-Za-z0-9]*;|$)"
)
_LINE_START = re.compile(r"#{1,6}(?=\s|$)|[-+*](?=\s|$)|>|\d{1,9}[.)](?=\s|$)|~{3}|(?:[-=_*:|]\s*)+$")
#: stands for `<br>`; the converter, given one before a link in a list, loses the indentation of what follows
LINE_END = "\ufdef"
_LINE_PREFIX = re.compile(r"[ >]*(?:(?:-|\d{1,9}\.) [ >]*)*")
_LIST_MARKER = re.compile(r"[-\d.]")
#: Markdown can say code in a link but no link in code
_LINK_IN_CODE = re.compile(r"<(code|kbd|samp)>\s*(<a href=\"[^\"]*\">)([^<]*)</a>\s*</\1>")
_CODE_SEAM = re.compile("</code><code>")


def inline_html(markup: str, resolve: Callable[[str], str]) -> str:
    """Balanced inline HTML of a leaf; `resolve` makes its links and images absolute.

    >>> inline_html("a<b> bold <strong>x</strong></b><i></i> end", str)
    'a <b>bold x</b> end'
    """
    return _Writer(resolve, None).write(markup) if "<" in markup else markup


def inline_markdown(markup: str, resolve: Callable[[str], str], line_start: bool) -> str:
    """The same with only what Markdown can say and with its look-alikes replaced (see `backslashes`).

    >>> backslashes(inline_markdown("1. <b>2*3*4</b> snake_case <u>&lt;b&gt;</u>", str, line_start=True))
    '1\\\\. <strong>2\\\\*3\\\\*4</strong> snake_case \\\\<b&gt;'
    """
    if "<" not in markup:
        return escape_markdown(markup, line_start)
    markup = _LINK_IN_CODE.sub(r"\2<\1>\3</\1></a>", markup)
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
    """Markdown with what was replaced here put back: look-alikes with a backslash before them, LINE_END.

    >>> backslashes("> 1. a" + LINE_END + "b")
    '> 1. a  \\n>    b'
    """
    if LINE_END in converted:
        converted = "\n".join(_with_line_ends(line) for line in converted.split("\n"))
    return _NONCHARACTERS.sub(lambda found: _BACK.get(found.group(), ""), converted)


def _with_line_ends(line: str) -> str:
    if LINE_END not in line:
        return line
    found = _LINE_PREFIX.match(line)
    prefix = _LIST_MARKER.sub(" ", found.group()) if found else ""
    return line.replace(LINE_END, "  \n" + prefix)


def address(escaped: str, resolve: Callable[[str], str]) -> str:
    """An address as it stands in an attribute -> resolved, what no address may hold percent-encoded."""
    return escape(_UNSAFE_IN_URL.sub(lambda char: quote(char.group(), safe=""), resolve(unescape(escaped))))


@dataclass(slots=True)
class _Open:
    """A tag met and not yet closed: its name, "" if left out; its place in the output; does it hold anything."""

    name: str
    place: int = 0
    filled: bool = False


class _Writer:
    """Writes one leaf. `line_start` None: HTML; else Markdown's subset, at the start of a line or not."""

    def __init__(self, resolve: Callable[[str], str], line_start: bool | None) -> None:
        self.resolve = resolve
        self.markdown = line_start is not None
        self.line_start = bool(line_start)
        self.out: list[str] = []
        self.stack: list[_Open] = []

    def write(self, markup: str) -> str:
        parts = [part for part in _TAG.split(markup) if part]
        if self.markdown:
            parts = _without_tags_unknown_to_markdown(parts)
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
            in_code, in_link = "code" in names, "a" in names
            start = self.line_start
            text = escape(plain(text), quote=False) if in_code else escape_markdown(text, start, in_link)
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
            space = bool(out.pop()) or space
        space = space or stripped != out[-1]
        out[-1] = stripped
        if self.markdown and entry.name in _EMPHASIS and not self._flanked(entry.place, parts, number, space):
            out[entry.place] = ""
        else:
            out.append(f"</{entry.name}>")
        if space:
            out.append(" ")

    def _flanked(self, place: int, parts: Sequence[str], number: int, space: bool) -> bool:
        """Would Markdown read stars here as emphasis? CommonMark 0.31, 6.2: not between letter and punctuation."""
        out = self.out
        first = self._nearest(range(place + 1, len(out)))[0]
        last = self._nearest(range(len(out) - 1, place, -1))[-1]
        before = self._nearest(range(place - 1, -1, -1))[-1]
        following = (parts[later] for later in range(number + 1, len(parts)) if parts[later][0] != "<")
        after = " " if space else next(following, " ")[0]
        opens = not _is_punctuation(first) or not before.isalnum()
        closes = not _is_punctuation(last) or not after.isalnum()
        return opens and closes

    def _nearest(self, places: range) -> str:
        """The first of these pieces of the output that is more than stars in Markdown; " " if there is none."""
        pieces = (self.out[place] for place in places)
        return next((piece for piece in pieces if piece and piece not in _STARS), " ")

    def _image(self, tag: str) -> None:
        image = inline_image(tag, self.resolve, self.markdown)
        in_code = self.markdown and any(entry.name == "code" for entry in self.stack)
        if image and not in_code:  # Markdown's code holds nothing but text
            # a space on both sides, since an image parts the words around it
            self.out += [" ", image, " "]
            self.line_start = False
            for entry in self.stack[-1:]:
                entry.filled = True


def _without_tags_unknown_to_markdown(parts: Sequence[str]) -> list[str]:
    """The parts of a markup less such tags; texts that then touch are one, so that look-alikes in them are seen."""
    found: list[str] = []
    no_link = False
    for part in parts:
        if part[0] == "<":
            name = _TAG_NAME.match(part)
            tag = name.group(1) if name else ""
            if tag == "a" and (part == "<a>" or (no_link and part[1] == "/")):
                no_link = part == "<a>"
            elif tag in _MARKDOWN_TAGS or tag == "img":
                found.append(part)
        elif found and found[-1][0] != "<":
            found[-1] += part
        else:
            found.append(part)
    return found


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
