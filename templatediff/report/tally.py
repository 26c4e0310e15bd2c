"""What a report counts while pages go by, for the whole crawl and for each layout."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

BINS = 20  #: bars of the distribution of scores
DOUBT = (0.4, 0.6)  #: P(content) of a doubtful leaf lies between these, ends included
MOST_DOUBTFUL = 20  #: pages named on the overview
FEW = 15  #: siblings up to which k of n is shown for each k
PARTS = ("kept", "changing", "unknown", "static")  #: what a page's text is: content, or dropped and what else is known

Record = Mapping[str, Any]  # a leaf record of DESIGN.md section 6


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a histogram: leaves kept and dropped."""

    label: str
    kept: int
    dropped: int


@dataclass(slots=True)
class Tally:
    """Counts over pages. Columns `scores` over BINS; `repeated` counts (kept, k, n); `words` are tokens by PARTS."""

    pages: int = 0
    failed: int = 0
    leaves: int = 0
    kept: int = 0
    static: int = 0
    dynamic: int = 0
    doubtful: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)
    scores: list[list[int]] = field(default_factory=lambda: [[0, 0] for _ in range(BINS)])
    repeated: Counter[tuple[bool, int, int]] = field(default_factory=Counter)

    def add(self, verdict: str, leaves: Sequence[Record], failed: bool = False) -> None:
        """One page more."""
        self.pages += 1
        self.failed += failed
        self.verdicts[verdict] += 1
        self.leaves += len(leaves)
        for leaf in leaves:
            kept, change, p = leaf["content"], leaf["change"], leaf["p"]
            self.kept += kept
            self.static += change == "static"
            self.dynamic += change == "dynamic"
            self.doubtful += is_doubtful(p)
            self.words[part_of(leaf)] += leaf["tokens"]
            self.scores[min(int(p * BINS), BINS - 1)][not kept] += 1
            if leaf["n"]:
                self.repeated[kept, leaf["k"], leaf["n"]] += 1

    def shares(self) -> dict[str, float]:
        """Share of the text, 0..1, of each of PARTS; all 0 where there is no text."""
        total = self.words.total()
        return {part: self.words[part] / total if total else 0.0 for part in PARTS}

    def score_bars(self) -> list[Bar]:
        """The distribution of P(content)."""
        return [
            Bar(f"{number / BINS:.2f} to {(number + 1) / BINS:.2f}", *counts)
            for number, counts in enumerate(self.scores)
        ]

    def repetition_bars(self) -> list[Bar]:
        """On how many of the siblings the leaves stand: for each k where siblings are FEW, else in tenths of n."""
        most = max((n for _, _, n in self.repeated), default=0)
        if not most:
            return []
        names = [str(k) for k in range(most + 1)] if most <= FEW else _TENTHS
        bars = [[0, 0] for _ in names]
        for (kept, k, n), count in self.repeated.items():
            place = k if most <= FEW else 0 if not k else 11 if k == n else 1 + min(int(10 * k / n), 9)
            bars[place][not kept] += count
        return [Bar(name, *counts) for name, counts in zip(names, bars, strict=True)]


_TENTHS = ["none", *(f"{10 * tenth} to {10 * tenth + 10} %" for tenth in range(10)), "all"]


def is_doubtful(p: float) -> bool:
    """
    >>> [is_doubtful(p) for p in (0.39, 0.4, 0.5, 0.6, 0.61)]
    [False, True, True, True, False]
    """
    return DOUBT[0] <= p <= DOUBT[1]


def part_of(leaf: Record) -> str:
    """Which of PARTS a leaf is."""
    if leaf["content"]:
        return "kept"
    return {"static": "static", "dynamic": "changing"}.get(leaf["change"], "unknown")


@dataclass(slots=True)
class Doubtful:
    """The pages with the most doubtful leaves, at most MOST_DOUBTFUL of them; ties go to the earlier page."""

    _heap: list[tuple[int, int, Any]] = field(default_factory=list)
    _seen: int = 0

    def add(self, count: int, page: Any) -> None:
        self._seen += 1
        if count:
            heapq.heappush(self._heap, (count, -self._seen, page))
            if len(self._heap) > MOST_DOUBTFUL:
                heapq.heappop(self._heap)

    def pages(self) -> list[tuple[int, Any]]:
        """(doubtful leaves, page), most first."""
        return [(count, page) for count, _, page in sorted(self._heap, key=lambda one: one[:2], reverse=True)]
