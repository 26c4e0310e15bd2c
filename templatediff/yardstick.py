"""The yardstick: precision, recall and F1 of 4-token shingles of a text against a gold text.

Nothing here knows how a text was extracted. Tokens are the word runs of the case-folded text, one token a character in
scripts written without spaces; shingles are multisets. Tokens become integers and a shingle one 64-bit key, so that
multisets are compared by numpy, four times as fast as by counting tuples.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

WORD = re.compile(r"\w+")
#: Thai, Lao, Burmese, Khmer, Japanese, Chinese (written without spaces) and Hangul: one token a character.
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
N = 4  #: tokens of a shingle

Keys = npt.NDArray[np.int64]


def tokens(text: str) -> list[str]:
    """Word runs of the case-folded text, runs in unspaced scripts cut into characters.

    >>> tokens("Straße 7, 東京へ")
    ['strasse', '7', '東', '京', 'へ']
    """
    folded = text.casefold()
    words = WORD.findall(folded)
    if not UNSPACED.search(folded):
        return words
    found: list[str] = []
    for word in words:
        if UNSPACED.search(word):
            found.extend(word)
        else:
            found.append(word)
    return found


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and F1, each in 0..1; two empty texts agree (1, 1, 1)."""

    precision: float
    recall: float
    f1: float


def of_counts(hits: int, want: int, got: int) -> Score:
    """The score of `hits` things in common between `want` of the gold and `got` of the text."""
    if not want and not got:
        return Score(1.0, 1.0, 1.0)
    precision = hits / got if got else 0.0
    recall = hits / want if want else 0.0
    return Score(precision, recall, 2 * precision * recall / (precision + recall) if hits else 0.0)


class Gold:
    """A gold text made ready to score many texts against it.

    >>> Gold("the cat sat on the mat").score("the cat sat on the mat today").f1
    0.8571428571428571
    """

    __slots__ = ("_counts", "_ids", "_keys", "_large", "_short", "count")

    def __init__(self, gold: str) -> None:
        words = tokens(gold)
        #: number of shingles in the gold
        self.count = max(len(words) - N + 1, 1 if words else 0)
        self._short: list[str] | None = words if len(words) < N else None
        self._ids = {word: number for number, word in enumerate(dict.fromkeys(words), start=1)}
        # Four ids must fit into 63 bits. A gold text of 55,000 different words is compared the slow way.
        self._large: Counter[tuple[str, ...]] | None = _tuples(words) if len(self._ids) >= 55_000 else None
        keys = self._shingles(words if self._large is None else [])
        self._keys, self._counts = np.unique(keys, return_counts=True)

    def _shingles(self, words: Sequence[str]) -> Keys:
        """Keys of the shingles made of gold words only: no other shingle can be in the gold."""
        if len(words) < N:
            return np.empty(0, np.int64)
        get = self._ids.get
        ids = np.fromiter((get(word, 0) for word in words), np.int64, len(words))
        base = len(self._ids) + 1
        known = ids > 0
        whole = known[:-3] & known[1:-2] & known[2:-1] & known[3:]
        pairs = ids[:-1] * base + ids[1:]
        left, right = pairs[:-2][whole], pairs[2:][whole]
        return left * (base * base) + right

    def score(self, text: str) -> Score:
        """Precision, recall and F1 of `text` over shingles."""
        words = tokens(text)
        got = max(len(words) - N + 1, 1 if words else 0)
        if self._short is not None or len(words) < N:
            return of_counts(int(bool(words) and words == self._short), self.count, got)
        if self._large is not None:
            return of_counts((self._large & _tuples(words)).total(), self.count, got)
        keys, counts = np.unique(self._shingles(words), return_counts=True)
        places = np.searchsorted(self._keys, keys)
        places[places == len(self._keys)] = 0
        same = self._keys[places] == keys
        hits = int(np.minimum(self._counts[places[same]], counts[same]).sum())
        return of_counts(hits, self.count, got)


def _tuples(words: Sequence[str]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[place : place + N]) for place in range(len(words) - N + 1))


def score(gold: str, text: str) -> Score:
    """Shingle precision, recall and F1 of `text` against `gold`."""
    return Gold(gold).score(text)
