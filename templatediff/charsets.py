"""Encodings by the Encoding Standard's names, and bytes read by them where Python's codecs know less than it does."""

from __future__ import annotations

import codecs
import functools
import re

import webencodings  # type: ignore[import-untyped]

# Python's codecs for what the Encoding Standard calls by these names: the supersets that browsers use.
# https://encoding.spec.whatwg.org/#names-and-labels
_CODECS = {
    "big5": "big5hkscs",
    "euc-kr": "cp949",
    "gbk": "gb18030",
    "iso-2022-jp": "iso2022_jp_ext",
    "iso-8859-8-i": "iso8859-8",
    "macintosh": "mac-roman",
    "shift_jis": "cp932",
    "utf-16be": "utf-16-be",
    "utf-16le": "utf-16-le",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac-cyrillic",
}
# Labels that name no encoding of web pages: "replacement" stands for encodings that are unsafe to read.
_NOT_FOR_PAGES = frozenset({"replacement", "x-user-defined"})
EAST_ASIAN = ("gb18030", "big5", "shift_jis", "euc-jp", "euc-kr")
SAME_READING = {"gbk": "gb18030"}
CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([^\s"';,>]+)""", re.I)


def label(name: str) -> str | None:
    """The Encoding Standard's name for a label, or for a Content-Type that holds one; None if it knows none.

    >>> label("text/html; Charset='GB2312'"), label("latin-1"), label("latin1"), label("rot13")
    ('gbk', None, 'windows-1252', None)
    """
    found = CHARSET.search(name.encode("utf-8", "replace"))
    wanted = found[1].decode("ascii", "replace") if found else name.strip("\t\n\f\r \"'")
    encoding = webencodings.lookup(wanted) if wanted.isascii() else None
    return None if encoding is None or encoding.name in _NOT_FOR_PAGES else encoding.name


def read(data: bytes, encoding: str) -> str:
    """Text of bytes in an encoding of this name; what is no character in it comes out as U+FFFD."""
    errors = f"templatediff-{encoding}" if encoding in _REPAIRS else "replace"
    return data.decode(_CODECS.get(encoding, encoding), errors)


_REPAIRS = frozenset({"utf-8", *EAST_ASIAN, "windows-874"} | {f"windows-{number}" for number in range(1250, 1259)})


def _repair(encoding: str, error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    data, start, end = error.object, error.start, error.end
    if encoding == "utf-8":
        return _repair_utf8(data[start:end], data[max(start - 1, 0) : start], data[end : end + 1]), end
    if encoding in ("euc-jp", "big5"):
        found = _pair(encoding, data[start : start + 2])
        # A byte that is ASCII is never swallowed with the wrong one before it: it may be the "<" of a tag.
        return (found, start + 2) if found else ("\ufffd", start + 1)
    if encoding == "gb18030":
        return "€" if data[start] == 0x80 else "\ufffd", start + 1
    if encoding in EAST_ASIAN:
        return "\ufffd", start + 1
    return _single(encoding, data[start : start + 1]), start + 1


def _repair_utf8(wrong: bytes, before: bytes, after: bytes) -> str:
    # One byte between ASCII ones is a windows-1252 character pasted in; anything else is a cut character.
    alone = len(wrong) == 1 and before < b"\x80" and after < b"\x80"
    return _single("windows-1252", wrong) if alone else "\ufffd"


def _single(encoding: str, byte: bytes) -> str:
    """One byte by a single-byte encoding; what code pages leave open the standard maps to C1 controls."""
    try:
        return byte.decode(_CODECS.get(encoding, encoding))
    except UnicodeDecodeError:
        return chr(byte[0]) if byte[0] < 0xA0 else "\ufffd"


def _pair(encoding: str, pair: bytes) -> str | None:
    try:
        if encoding == "euc-jp":
            return _euc_jp_pair(pair) if len(pair) == 2 and min(pair) >= 0xA1 and max(pair) < 0xFF else None
        return pair.decode("cp950") if encoding == "big5" and len(pair) == 2 else None
    except UnicodeDecodeError:
        return None


def _euc_jp_pair(pair: bytes) -> str:
    """NEC's and IBM's extensions, which Python's euc_jp lacks, by way of their places in Shift_JIS."""
    row, cell = pair[0] - 0xA1, pair[1] - 0xA1
    lead = row // 2 + (0x81 if row < 62 else 0xC1)
    trail = cell + 0x9F if row % 2 else cell + (0x40 if cell < 63 else 0x41)
    return bytes((lead, trail)).decode("cp932")


for _name in _REPAIRS:
    codecs.register_error(f"templatediff-{_name}", functools.partial(_repair, _name))
