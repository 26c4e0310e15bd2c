r"""Scores of extracted text against gold text, and intervals for their means.

The F1 of 4-token shingles is the package's own (`templatediff.yardstick`), the same that `templatediff eval` gives; beside
it the bag-of-words F1 of WCXB (lower-cased `\w+` tokens). Texts are plain `str`; scores are in 0..1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from templatediff.yardstick import WORD, Gold, N, of_counts, score, tokens

__all__ = ["Gold", "Mean", "N", "mean_by_site", "score", "tokens", "word_f1"]


def word_f1(gold: str, text: str) -> float:
    """Bag-of-words F1 as WCXB has it: multisets of the lower-cased `\\w+` runs, whatever their order.

    >>> word_f1("A cat. A dog.", "a dog, a cat!")
    1.0
    """
    want, got = Counter(WORD.findall(gold.lower())), Counter(WORD.findall(text.lower()))
    return of_counts(sum((want & got).values()), want.total(), got.total()).f1


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
