"""Bytes, and the encodings declared for them -> the encoding that they are read by: what gives the most plausible text."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable

import chardetng_py  # type: ignore[import-untyped]

from templatediff.charsets import EAST_ASIAN, SAME_READING, label, read

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
_CYRILLIC = ("windows-1251", "koi8-r", "koi8-u")
HIGH_BYTES = bytes(range(128, 256))
# Bounded, and begun only where a word begins: a megabyte of letters takes linear time.
_BYTE_WORDS = re.compile(rb"(?:(?<![A-Za-z])[A-Za-z]{0,40})?[\x80-\xff][^\x00-\x1f<>]{0,200}")
_WORDS = re.compile(r"(?:(?<![^\W\d_])[^\W\d_]{0,40})?[^\x00-\x7f][^\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]*")


def plausible(data: bytes, declared: list[str]) -> str:
    """The first declared encoding that reads about as well as the best guess, else that guess."""
    guess = _detect(data)
    if declared and declared[0] == guess:
        return guess
    sample = _sample(data)
    oddness = functools.cache(lambda name: _oddness(read(sample, name), name))
    rivals = [guess]
    # The detector drops an East Asian encoding at its first wrong byte, and cut characters are common.
    high = len(sample) - len(sample.translate(None, HIGH_BYTES))
    if guess not in EAST_ASIAN and high >= FEW_BYTES and oddness(guess) > BENEFIT:
        rivals += EAST_ASIAN
    best = min(rivals, key=oddness)
    for name in declared:
        if high < FEW_BYTES and "\ufffd" not in read(sample, name):
            return name
        enough = high >= SURE_BYTES if best in EAST_ASIAN else _differing(sample, name, best) >= SURE_CHARS
        sure = best == guess and enough
        if oddness(name) <= oddness(best) + (_margin(name, best) if sure else BENEFIT):
            return name
    return best


def _differing(sample: bytes, one: str, other: str) -> int:
    """Non-ASCII characters in which two readings differ."""
    first, second = read(sample, one), read(sample, other)
    if len(first) == len(second):
        return sum(a != b for a, b in zip(first, second, strict=True))
    return len(second) - len(second.encode("ascii", "ignore"))


def _margin(declared: str, best: str) -> float:
    """How much odder a declared reading may be where there is text enough to be sure of the guess."""
    # Little in the characters tells GBK from EUC-KR, but their frequencies do, which the detector knows;
    # and "iso-8859-1" is what is declared by those who declare nothing.
    if declared == "windows-1252" or (declared in EAST_ASIAN and best in EAST_ASIAN):
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
    guess = SAME_READING.get(found, found)
    if guess in EAST_ASIAN or guess == "windows-1252":
        return guess
    western = read(data, "windows-1252")
    # Signs such as "£5" or "© 2004" are no evidence of Polish or Turkish, which the detector takes them for.
    other = read(data, guess)
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
    common = _common(encoding) if encoding in EAST_ASIAN else None
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
