"""Plain speech: what may be shown on a terminal, and how."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import click

NAME = "templatediff"

# What moves a terminal's cursor, colours it or turns its writing direction: C0, DEL, C1, line and
# paragraph separators, bidirectional embeddings and isolates, and the bytes of a name that are not UTF-8.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str, keep: str = "") -> str:
    r"""The text with control characters spelled out, all but those in `keep`: safe to show on a terminal.

    >>> printable("a\x1b[31mred\n"), printable("a\n\x07", keep="\n")
    ('a\\x1b[31mred\\n', 'a\n\\x07')
    """
    return _UNPRINTABLE.sub(lambda found: found[0] if found[0] in keep else spelled(found[0]), text)


def escaped_json(text: str) -> str:
    r"""JSON with its unprintable characters, which stand in strings alone, as escapes: the same value. Line ends stay.

    >>> escaped_json('["\u202ea\x9b"]\n')
    '["\\u202ea\\u009b"]\n'
    """
    return _UNPRINTABLE.sub(lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text)


def spelled(character: str) -> str:
    r"""How a character is written that must not stand for itself: as \n, \x1b or \u2028."""
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file name that is not UTF-8 (PEP 383)
        code -= 0xDC00
    return {9: "\\t", 10: "\\n", 13: "\\r"}.get(code, f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def say(message: str) -> None:
    """One line on stderr, under the program's name."""
    click.echo(f"{NAME}: {printable(message)}", err=True)


def plural(count: int, word: str) -> str:
    """
    >>> plural(1, "page"), plural(2000, "page"), plural(0, "leaf")
    ('1 page', '2,000 pages', '0 leaves')
    """
    ending = word if count == 1 else "leaves" if word == "leaf" else word + "s"
    return f"{count:,} {ending}"


def is_terminal(stream: Any) -> bool:
    """Whether a person watches this stream (False for a closed one)."""
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):
        return False


def width(text: str) -> int:
    """Columns that a text takes on a terminal.

    >>> width("abc"), width("東京"), width("ท่าเรือ"), width("e\u0301")
    (3, 4, 5, 1)
    """
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0  # a mark on the letter before it, or nothing to be seen
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
