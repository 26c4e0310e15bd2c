"""Text as people and as counters see it: normal form, tokens, n-grams, stopwords. The one home of nltk.

Tokens follow the script: words where words are spaced, single characters in Chinese, Japanese, Thai, Lao, Burmese and
Khmer (so that word n-grams become character n-grams there).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_WORD = re.compile(r"\w+")
_LONE = re.compile("[\ud800-\udfff]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_WORD_OR_END = re.compile(r"\w+|\n")
_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"\d+(?:[.,:/\-\u2013 \u00a0\u202f]\d+)*")
_IDENTIFIER = re.compile(r"\b(?=[0-9a-f\-]{0,64}\d)(?=[0-9a-f\-]{0,64}[a-f])[0-9a-f]{6,64}(?:-[0-9a-f]{4,64}){0,8}\b")

VALUE_MARK = "0"  #: what numbers, dates, prices and ids are folded to


def normal(text: str) -> str:
    """The form in which two texts count as the same: case folded, white space single.

    >>> normal("  Read\\u00a0MORE \\n now ")
    'read more now'
    """
    return " ".join(text.casefold().split())


def valid(text: str) -> str:
    r"""The text in a form that UTF-8 can hold: undecodable bytes of a file name (PEP 383) as \xe9, other lone surrogates
    as \ud800.

    >>> valid("caf\udce9"), valid("caf\u00e9")
    ('caf\\xe9', 'caf\xe9')
    """
    if text.isascii():
        return text
    return _LONE.sub(_spelled, text)


def without_controls(text: str) -> str:
    r"""The text without control characters other than tab and line end: they are no text, and a terminal obeys them.

    >>> without_controls("a\x1b[2Jb\x9b1m\n")
    'a[2Jb1m\n'
    """
    return _CONTROLS.sub("", text)


def has_controls(text: str) -> bool:
    """Whether `without_controls` would change the text."""
    return _CONTROLS.search(text) is not None


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


def fold_values(normalised: str) -> str:
    """A normalised text with its numbers, dates, prices and hexadecimal ids folded to one mark.

    >>> fold_values("posted 12.05.2024, 1,204 views, id 9f3c2ab1")
    'posted 0, 0 views, id 0'
    """
    if not _DIGIT.search(normalised):
        return normalised
    return _NUMBER.sub(VALUE_MARK, _IDENTIFIER.sub(VALUE_MARK, normalised))


def tokens(text: str) -> list[str]:
    """The tokens of a text, case folded.

    >>> tokens("The Harbour, 2024"), tokens("東京へ go")
    (['the', 'harbour', '2024'], ['東', '京', 'へ', 'go'])
    """
    words = _WORD.findall(text.casefold())
    if text.isascii() or not UNSPACED.search(text):
        return words
    found: list[str] = []
    for word in words:
        found.extend(word) if UNSPACED.search(word) else found.append(word)
    return found


def folded_tokens(lines: str) -> list[str]:
    """The tokens of case-folded lines, a line end after those of each but the last: all lines of a page at once take half the
    time of one after the other.

    >>> folded_tokens("the harbour, 2024\\n\\n東京へ go")
    ['the', 'harbour', '2024', '\\n', '\\n', '東', '京', 'へ', 'go']
    """
    words = _WORD_OR_END.findall(lines)
    if lines.isascii() or not UNSPACED.search(lines):
        return words
    found: list[str] = []
    for word in words:
        found.extend(word) if UNSPACED.search(word) else found.append(word)
    return found


def ngrams(words: Sequence[str], order: int) -> list[tuple[str, ...]]:
    """Word n-grams of exactly this order, in order; the whole text as one where it is shorter.

    >>> ngrams(["a", "b", "c"], 2), ngrams(["a"], 3)
    ([('a', 'b'), ('b', 'c')], [('a',)])
    """
    from nltk.util import ngrams as nltk_ngrams

    if len(words) < order:
        return [tuple(words)] if words else []
    return list(nltk_ngrams(words, order))


@cache
def _stopwords() -> dict[str, frozenset[str]]:
    import stopwordsiso

    return {
        code: frozenset(words) for code, words in ((c, stopwordsiso.stopwords(c)) for c in sorted(stopwordsiso.langs()))
    }


@cache
def _languages_of_stopwords() -> dict[str, tuple[str, ...]]:
    """Stopword -> codes of the languages that list it, in alphabetical order."""
    found: dict[str, list[str]] = {}
    for code, words in _stopwords().items():
        for word in words:
            found.setdefault(word.casefold(), []).append(code)
    return {word: tuple(codes) for word, codes in found.items()}


def stopwords(lang: str | None, frequent: Iterable[str] = ()) -> frozenset[str]:
    """The stopwords of a language code ("de", "pt-BR"), or of the language whose list holds most of `frequent`.

    `frequent` are the page's most frequent tokens, most frequent first. A declared language whose list holds none of
    them is not believed. Empty where nothing fits: the gist then goes by frequency alone. Ties break by code.
    Words: the package stopwordsiso (57 languages).
    """
    frequent = list(frequent)
    declared = (lang or "").lower().replace("_", "-").split("-")[0]
    listed = _stopwords().get(declared)
    if listed is not None and (not frequent or any(word in listed for word in frequent)):
        return listed
    votes: dict[str, int] = {}
    for place, word in enumerate(frequent):
        for code in _languages_of_stopwords().get(word, ()):
            votes[code] = votes.get(code, 0) + len(frequent) - place
    if not votes:
        return frozenset()
    return _stopwords()[min(votes, key=lambda code: (-votes[code], code))]


def visible(text: str) -> bool:
    """Is there anything to see: a character that is neither white space nor a control character?

    >>> visible("a"), visible(" \\x01\\n"), visible("")
    (True, False, False)
    """
    return any(character.isprintable() and not character.isspace() for character in text)
