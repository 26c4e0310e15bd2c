"""Bytes to text as a browser would, and a little better.

The order is the HTML standard's (byte order mark, HTTP header, `<meta>`, detection:
https://html.spec.whatwg.org/#determining-the-character-encoding), with three departures that pages in
crawls need: bytes that are valid UTF-8 are UTF-8 whatever they are declared to be, a declaration that
gives an implausible reading gives way to detection, and UTF-16 is recognised without its mark.
"""

from __future__ import annotations

import codecs
import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from templatediff.charsets import CHARSET, SAME_READING, label, read
from templatediff.plausible import HIGH_BYTES, plausible

#: How far a `<meta>` is looked for, in bytes. The standard says 1,024; browsers wait for more, and pages
#: with long comments or inline scripts before it are common.
PRESCAN_BYTES = 16_384
_SURROGATES = re.compile("[\ud800-\udfff]")
# Comments and scripts are passed over whole, so that what they quote declares nothing.
_PRESCAN = re.compile(
    rb"""<!--.*?(?:-->|\Z) | <(?P<raw>script|style)\b.*?(?:</(?P=raw)|\Z)
      | <\?xml\s[^>]*?\bencoding\s*=\s*["']?\s*(?P<xml>[\w.:-]+)
      | <meta(?=[\s/])(?P<meta>(?:"[^"]*"|'[^']*'|[^>"'])*)""",
    re.I | re.S | re.X,
)
_ATTRIBUTE = re.compile(rb"""([^\s"'>/=]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A page's text, without mark, NULs and lone surrogates, and the standard's name of its encoding."""

    text: str
    encoding: str


def decode(data: bytes, charset: str | None = None) -> Decoded:
    """Text of a page; `charset` is what the HTTP header or a sidecar says. Never raises.

    >>> decode("<p>naïve</p>".encode("utf-8"), "iso-8859-1")
    Decoded(text='<p>naïve</p>', encoding='utf-8')
    >>> decode(b"<meta charset=latin1><p>na\\xefve</p>")
    Decoded(text='<meta charset=latin1><p>naïve</p>', encoding='windows-1252')
    """
    encoding, body = _from_mark(data)
    if encoding is None:
        encoding = guess_utf16(body)
    if encoding is not None:
        return Decoded(_clean(read(body, encoding)), encoding)
    if not body.isascii():
        # Nearly every page ends here.
        with contextlib.suppress(UnicodeDecodeError):
            return Decoded(body.decode("utf-8").replace("\0", ""), "utf-8")
    declared = list(dict.fromkeys(_declared(body, charset)))
    if body.isascii() and b"\x1b" not in body:
        return Decoded(_clean(body.decode("ascii")), declared[0] if declared else "utf-8")
    if body.isascii():
        encoding = "iso-2022-jp" if _is_iso2022jp(body) else (declared or ["utf-8"])[0]
    elif _is_utf8(body, bool(declared) and declared[0] == "utf-8"):
        encoding = "utf-8"
    else:
        encoding = plausible(body, [name for name in declared if name != "utf-8"])
    return Decoded(_clean(read(body, encoding)), encoding)


def guess_utf16(data: bytes) -> str | None:
    """ "utf-16le" or "utf-16be" for bytes without mark in which every other one is often NUL, else None.

    >>> guess_utf16("<p>Hi".encode("utf-16-le")), guess_utf16(b"<p>Hi")
    ('utf-16le', None)
    """
    head = data[:4096]
    if b"\0" not in head or len(head) < 4:
        return None
    even, odd = head[0::2].count(0), head[1::2].count(0)
    # Markup is ASCII, so even dense Chinese pages have NULs in a tenth of one half; the other half may hold
    # some (U+4E00, the commonest Chinese character but one or two, ends in 00).
    for name, many, few in (("utf-16le", odd, even), ("utf-16be", even, odd)):
        if many * 10 > len(head) // 2 and few * 5 <= many:
            return name
    return None


def _from_mark(data: bytes) -> tuple[str | None, bytes]:
    if data.startswith(codecs.BOM_UTF8):
        rest = data[3:]
        # A UTF-8 mark before text in another encoding comes from a template file saved by an editor.
        return ("utf-8", rest) if _is_utf8(rest, False) else (None, rest)
    if data.startswith(codecs.BOM_UTF16_LE):
        return "utf-16le", data[2:]
    if data.startswith(codecs.BOM_UTF16_BE):
        return "utf-16be", data[2:]
    return None, data


def _declared(data: bytes, charset: str | None) -> Iterator[str]:
    """Encodings that the header and the page itself name, in the order in which they count."""
    for text in (charset, *_page_labels(data[:PRESCAN_BYTES])):
        if text and (name := label(text)):
            # Declared by ASCII bytes, so it cannot be UTF-16: the standard reads UTF-8.
            yield "utf-8" if name.startswith("utf-16") else SAME_READING.get(name, name)


def _page_labels(head: bytes) -> Iterator[str]:
    for match in _PRESCAN.finditer(head):
        if match["xml"]:
            yield match["xml"].decode("ascii", "replace")
        elif match["meta"] and b"charset" in match["meta"].lower():
            found = {key.lower(): a or b or c for key, a, b, c in reversed(_ATTRIBUTE.findall(match["meta"]))}
            pragma = found.get(b"http-equiv", b"").strip().lower() == b"content-type"
            content = CHARSET.search(found.get(b"content", b"")) if pragma else None
            value = found.get(b"charset") or (content[1] if content else b"")
            yield value.decode("ascii", "replace")


def _is_utf8(data: bytes, declared: bool) -> bool:
    """Whether the non-ASCII bytes are UTF-8, give or take stray bytes and characters cut in half."""
    try:
        data.decode("utf-8")
        return True
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
    wrong = text.count("\ufffd") - data.count(b"\xef\xbf\xbd")
    right = len(text) - len(data.translate(None, HIGH_BYTES)) - wrong
    # In text of other encodings two thirds of the characters and more are wrong [measured on GBK pages].
    return right >= wrong * (1 if declared else 3)


def _is_iso2022jp(data: bytes) -> bool:
    if not re.search(rb"\x1b\$[@B]", data):
        return False
    return data.decode("iso2022_jp_ext", "replace").count("\ufffd") * 20 <= len(data)


def _clean(text: str) -> str:
    """NUL is dropped as browsers drop it in a body."""
    if text.isascii() or not _SURROGATES.search(text):
        return text.replace("\0", "")
    return _SURROGATES.sub("\ufffd", text).replace("\0", "")
