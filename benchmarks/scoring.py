"""Scores of extracted text against gold text, and intervals for their means.

The first is the F1 of 4-token shingles of `../shared/score.py`, to the last digit, four times as fast:
tokens become integers and a shingle one 64-bit key, so that multisets are compared by numpy. The second is
the bag-of-words F1 of WCXB (lower-cased `\\w+` tokens). Texts are plain `str`; scores are in 0..1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

WORD = re.compile(r"\w+")
#: Thai, Lao, Burmese, Khmer, Japanese, Chinese (written without spaces) and Hangul: one token a character.
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
N = 4

Keys = npt.NDArray[np.int64]


def tokens(text: str) -> list[str]:
    """Tokens of score.py: word runs of the case-folded text, runs in unspaced scripts cut into characters.

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


def _score(hits: int, want: int, got: int) -> Score:
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
        """Precision, recall and F1 of `text` as score.py has them."""
        words = tokens(text)
        got = max(len(words) - N + 1, 1 if words else 0)
        if self._short is not None or len(words) < N:
            return _score(int(bool(words) and words == self._short), self.count, got)
        if self._large is not None:
            return _score((self._large & _tuples(words)).total(), self.count, got)
        keys, counts = np.unique(self._shingles(words), return_counts=True)
        places = np.searchsorted(self._keys, keys)
        places[places == len(self._keys)] = 0
        same = self._keys[places] == keys
        hits = int(np.minimum(self._counts[places[same]], counts[same]).sum())
        return _score(hits, self.count, got)


def _tuples(words: Sequence[str]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[place : place + N]) for place in range(len(words) - N + 1))


def score(gold: str, text: str) -> Score:
    """Shingle precision, recall and F1 of `text` against `gold`."""
    return Gold(gold).score(text)


def word_f1(gold: str, text: str) -> float:
    """Bag-of-words F1 as WCXB has it: multisets of the lower-cased `\\w+` runs, whatever their order.

    >>> word_f1("A cat. A dog.", "a dog, a cat!")
    1.0
    """
    want, got = Counter(WORD.findall(gold.lower())), Counter(WORD.findall(text.lower()))
    return _score(sum((want & got).values()), want.total(), got.total()).f1


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean over pages, its bootstrap interval, and how many pages and sites stand behind it."""

    value: float
    low: float
    high: float
    pages: int
    sites: int


def mean_by_site(
    values: Sequence[float],
    groups: Sequence[Hashable],
    *,
    draws: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> Mean:
    """Mean over pages with a percentile bootstrap interval that draws whole sites.

    Pages of one site share a template and fail together, so drawing pages would make intervals too narrow.
    `groups` names the site of each value. No values give nan. The same input and seed give the same interval.
    """
    if len(values) != len(groups):
        raise ValueError(f"{len(values)} values but {len(groups)} groups")
    if not values:
        return Mean(float("nan"), float("nan"), float("nan"), 0, 0)
    numbers = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    member = np.fromiter((numbers[group] for group in groups), np.int64, len(groups))
    sums = np.bincount(member, weights=np.asarray(values, np.float64))
    counts = np.bincount(member).astype(np.float64)
    drawn = np.random.default_rng(seed).integers(0, len(sums), (draws, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Mean(float(np.mean(values)), float(low), float(high), len(values), len(sums))
