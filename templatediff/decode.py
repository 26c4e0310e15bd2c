"""Bytes to text as a browser would, and a little better: the one home of character encodings.

The order is the HTML standard's (byte order mark, HTTP header, `<meta>`, detection:
https://html.spec.whatwg.org/#determining-the-character-encoding), with three departures that pages in
crawls need: bytes that are valid UTF-8 are UTF-8 whatever they are declared to be, a declaration that
gives an implausible reading gives way to detection, and UTF-16 is recognised without its mark.
"""

from __future__ import annotations

import codecs
import contextlib
import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import chardetng_py  # type: ignore[import-untyped]
import webencodings  # type: ignore[import-untyped]

#: How far a `<meta>` is looked for, in bytes. The standard says 1,024; browsers wait for more, and pages
#: with long comments or inline scripts before it are common.
PRESCAN_BYTES = 16_384
#: Non-ASCII characters of a reading that are judged; more do not change the verdict.
JUDGED_CHARS = 3_000
#: A declaration is kept if its reading is at most this much odder than the best other one (0..1 a character).
BENEFIT = 0.15
#: Where two encodings read about equally well, the detector is believed if it saw this many non-ASCII bytes
#: (East Asian encodings) ...
SURE_BYTES = 60
#: ... or if the two readings differ in this many characters (all others).
SURE_CHARS = 10
#: With fewer non-ASCII bytes than this a declaration stands unless its reading holds an error.
FEW_BYTES = 6

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
_EAST_ASIAN = ("gb18030", "big5", "shift_jis", "euc-jp", "euc-kr")
_CYRILLIC = ("windows-1251", "koi8-r", "koi8-u")
_SAME_READING = {"gbk": "gb18030"}

_HIGH_BYTES = bytes(range(128, 256))
_SURROGATES = re.compile("[\ud800-\udfff]")
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([^\s"';,>]+)""", re.I)
# Comments and scripts are passed over whole, so that what they quote declares nothing.
_PRESCAN = re.compile(
    rb"""<!--.*?(?:-->|\Z) | <(?P<raw>script|style)\b.*?(?:</(?P=raw)|\Z)
      | <\?xml\s[^>]*?\bencoding\s*=\s*["']?\s*(?P<xml>[\w.:-]+)
      | <meta(?=[\s/])(?P<meta>(?:"[^"]*"|'[^']*'|[^>"'])*)""",
    re.I | re.S | re.X,
)
_ATTRIBUTE = re.compile(rb"""([^\s"'>/=]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
# Bounded, and begun only where a word begins: a megabyte of letters takes linear time.
_BYTE_WORDS = re.compile(rb"(?:(?<![A-Za-z])[A-Za-z]{0,40})?[\x80-\xff][^\x00-\x1f<>]{0,200}")
_WORDS = re.compile(r"(?:(?<![^\W\d_])[^\W\d_]{0,40})?[^\x00-\x7f][^\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]*")


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
        return Decoded(_clean(_read(body, encoding)), encoding)
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
        encoding = _plausible(body, [name for name in declared if name != "utf-8"])
    return Decoded(_clean(_read(body, encoding)), encoding)


def label(name: str) -> str | None:
    """The Encoding Standard's name for a label, or for a Content-Type that holds one; None if it knows none.

    >>> label("text/html; Charset='GB2312'"), label("latin-1"), label("latin1"), label("rot13")
    ('gbk', None, 'windows-1252', None)
    """
    found = _CHARSET.search(name.encode("utf-8", "replace"))
    wanted = found[1].decode("ascii", "replace") if found else name.strip("\t\n\f\r \"'")
    encoding = webencodings.lookup(wanted) if wanted.isascii() else None
    return None if encoding is None or encoding.name in _NOT_FOR_PAGES else encoding.name


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
            yield "utf-8" if name.startswith("utf-16") else _SAME_READING.get(name, name)


def _page_labels(head: bytes) -> Iterator[str]:
    for match in _PRESCAN.finditer(head):
        if match["xml"]:
            yield match["xml"].decode("ascii", "replace")
        elif match["meta"] and b"charset" in match["meta"].lower():
            found = {key.lower(): a or b or c for key, a, b, c in reversed(_ATTRIBUTE.findall(match["meta"]))}
            pragma = found.get(b"http-equiv", b"").strip().lower() == b"content-type"
            content = _CHARSET.search(found.get(b"content", b"")) if pragma else None
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
    right = len(text) - len(data.translate(None, _HIGH_BYTES)) - wrong
    # In text of other encodings two thirds of the characters and more are wrong [measured on GBK pages].
    return right >= wrong * (1 if declared else 3)


def _is_iso2022jp(data: bytes) -> bool:
    if not re.search(rb"\x1b\$[@B]", data):
        return False
    return data.decode("iso2022_jp_ext", "replace").count("\ufffd") * 20 <= len(data)


def _read(data: bytes, encoding: str) -> str:
    errors = f"templatediff-{encoding}" if encoding in _REPAIRS else "replace"
    return data.decode(_CODECS.get(encoding, encoding), errors)


def _clean(text: str) -> str:
    """NUL is dropped as browsers drop it in a body."""
    if text.isascii() or not _SURROGATES.search(text):
        return text.replace("\0", "")
    return _SURROGATES.sub("\ufffd", text).replace("\0", "")


# -- choosing between a declaration and what the bytes look like


def _plausible(data: bytes, declared: list[str]) -> str:
    """The first declared encoding that reads about as well as the best guess, else that guess."""
    guess = _detect(data)
    if declared and declared[0] == guess:
        return guess
    sample = _sample(data)
    oddness = functools.cache(lambda name: _oddness(_read(sample, name), name))
    rivals = [guess]
    # The detector drops an East Asian encoding at its first wrong byte, and cut characters are common.
    high = len(sample) - len(sample.translate(None, _HIGH_BYTES))
    if guess not in _EAST_ASIAN and high >= FEW_BYTES and oddness(guess) > BENEFIT:
        rivals += _EAST_ASIAN
    best = min(rivals, key=oddness)
    for name in declared:
        if high < FEW_BYTES and "\ufffd" not in _read(sample, name):
            return name
        enough = high >= SURE_BYTES if best in _EAST_ASIAN else _differing(sample, name, best) >= SURE_CHARS
        sure = best == guess and enough
        if oddness(name) <= oddness(best) + (_margin(name, best) if sure else BENEFIT):
            return name
    return best


def _differing(sample: bytes, one: str, other: str) -> int:
    """Non-ASCII characters in which two readings differ."""
    first, second = _read(sample, one), _read(sample, other)
    if len(first) == len(second):
        return sum(a != b for a, b in zip(first, second, strict=True))
    return len(second) - len(second.encode("ascii", "ignore"))


def _margin(declared: str, best: str) -> float:
    """How much odder a declared reading may be where there is text enough to be sure of the guess."""
    # Little in the characters tells GBK from EUC-KR, but their frequencies do, which the detector knows;
    # and "iso-8859-1" is what is declared by those who declare nothing.
    if declared == "windows-1252" or (declared in _EAST_ASIAN and best in _EAST_ASIAN):
        return -0.05
    # Read by the other, Russian in windows-1251 or KOI8-R is Russian with its capitals and small letters exchanged: only where
    # a sentence or a name begins is a small letter before a capital.
    return 0.0 if declared in _CYRILLIC and best in _CYRILLIC else 0.01


def _sample(data: bytes) -> bytes:
    """The first non-ASCII words, each with what follows it in the same piece of text."""
    words, size = [], 0
    for match in _BYTE_WORDS.finditer(data):
        words.append(match.group())
        size += len(words[-1])
        if size > 2 * JUDGED_CHARS:
            break
    return b"\n".join(words)


def _detect(data: bytes) -> str:
    detector = chardetng_py.EncodingDetector()
    detector.feed(data, last=True)
    found = label(detector.guess(tld=None, allow_utf8=False)) or "windows-1252"
    guess = _SAME_READING.get(found, found)
    if guess in _EAST_ASIAN or guess == "windows-1252":
        return guess
    western = _read(data, "windows-1252")
    # Signs such as "£5" or "© 2004" are no evidence of Polish or Turkish, which the detector takes them for.
    other = _read(data, guess)
    if len(other) == len(western):
        differing = [i for i, char in enumerate(western) if char != other[i]]
        if all(_stands_alone(western, i) for i in differing[:JUDGED_CHARS]):
            return "windows-1252"
    return guess


def _stands_alone(text: str, index: int) -> bool:
    """Whether a sign, no letter, stands where signs stand: not inside or at the edge of a word."""
    before, char, after = text[max(index - 1, 0) : index], text[index], text[index + 1 : index + 2]
    return not char.isalpha() and not after.isalpha() and (char in "©®" or not before.isalpha())


def _oddness(text: str, encoding: str) -> float:
    """How unlike running text a reading is: the share of its non-ASCII characters out of place, 0..1."""
    judged, odd = 0, 0
    common = _common(encoding) if encoding in _EAST_ASIAN else None
    for match in _WORDS.finditer(text):
        word = match.group()
        judged += sum(not char.isascii() for char in word)
        odd += _odd_east_asian(word, common) if common is not None else _odd_alphabetic(word)
        if judged >= JUDGED_CHARS:
            break
    return odd / judged if judged else 0.0


def _odd_east_asian(word: str, common: frozenset[str]) -> int:
    return sum(1 for char in word if char not in common and not char.isascii())


def _odd_alphabetic(word: str) -> int:
    """Signs inside words, small letters before capitals, two scripts in one word, long runs of accents."""
    odd, run, last, last_kind = 0, 0, "", ""
    for char in word:
        kind = _kind(char)
        run = run + 1 if kind == "accented" else 0
        inside = bool(last) and not (last.isascii() and char.isascii())
        if kind == "wrong" or (
            inside
            and (
                (kind == "sign") != (last_kind == "sign")
                or (last.islower() and char.isupper())
                or {kind, last_kind} in ({"other", "latin"}, {"other", "accented"})
                or run > 2
            )
        ):
            odd += 1
        last, last_kind = char, kind
    return min(odd, sum(not char.isascii() for char in word))


@functools.lru_cache(4096)
def _kind(char: str) -> str:
    """ "latin", "accented" (Latin, not ASCII), "other" (other letters), "space", "sign" or "wrong"."""
    if char.isascii():
        return "latin" if char.isalpha() else "space"
    category = unicodedata.category(char)
    if category in ("Cc", "Cn", "Co", "Cs") or char == "\ufffd":
        return "wrong"
    if category[0] in "LM":
        return "accented" if char <= "\u024f" and char not in "ªº" else "other"
    # Quotation marks, dashes and no-break spaces touch words in every language.
    return "space" if category in ("Pi", "Pf", "Pd", "Po", "Ps", "Zs", "Cf") else "sign"


@functools.cache
def _common(encoding: str) -> frozenset[str]:
    """What makes up nearly all of a text in an East Asian encoding: the first level of its character set."""
    rows, signs = {
        "gb18030": (range(0xB0, 0xD8), "gb2312"),
        "big5": (range(0xA4, 0xC7), "big5"),
        "shift_jis": (range(0xB0, 0xD0), "euc_jp"),
        "euc-jp": (range(0xB0, 0xD0), "euc_jp"),
        "euc-kr": (range(0xB0, 0xC9), "euc_kr"),
    }[encoding]
    kana = range(0xA4, 0xA6) if signs == "euc_jp" else range(0)
    # Rows A1 to A3 hold punctuation and full-width letters in all five.
    lead = (*range(0xA1, 0xA4), *kana, *rows)
    trail = (*range(0x40, 0x7F), *range(0xA1, 0xFF)) if encoding == "big5" else range(0xA1, 0xFF)
    level = _decodable(((a, b) for a in lead for b in trail), signs)
    # Python's codecs differ in these signs from the supersets that are read with.
    return frozenset(level) | frozenset("\u2014\u2015\xb7\u2022\u2026\uff5e")


def _decodable(pairs: Iterable[tuple[int, int]], codec: str) -> str:
    return b"".join(bytes(pair) for pair in pairs).decode(codec, "ignore")


# -- what Python's codecs leave undefined and the Encoding Standard does not


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


def _euc_jp_pair(pair: bytes) -> str:
    """NEC's and IBM's extensions, which Python's euc_jp lacks, by way of their places in Shift_JIS."""
    row, cell = pair[0] - 0xA1, pair[1] - 0xA1
    lead = row // 2 + (0x81 if row < 62 else 0xC1)
    trail = cell + 0x9F if row % 2 else cell + (0x40 if cell < 63 else 0x41)
    return bytes((lead, trail)).decode("cp932")


def _pair(encoding: str, pair: bytes) -> str | None:
    try:
        if encoding == "euc-jp":
            return _euc_jp_pair(pair) if len(pair) == 2 and min(pair) >= 0xA1 and max(pair) < 0xFF else None
        return pair.decode("cp950") if encoding == "big5" and len(pair) == 2 else None
    except UnicodeDecodeError:
        return None


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
    if encoding in _EAST_ASIAN:
        return "\ufffd", start + 1
    return _single(encoding, data[start : start + 1]), start + 1


_REPAIRS = frozenset({"utf-8", *_EAST_ASIAN, "windows-874"} | {f"windows-{number}" for number in range(1250, 1259)})
for _name in _REPAIRS:
    codecs.register_error(f"templatediff-{_name}", functools.partial(_repair, _name))
