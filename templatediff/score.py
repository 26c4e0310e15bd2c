"""Rows of evidence -> P(content).

The shipped weights are boosted trees (benchmarks/train.py fits them on labelled sites, siblings withheld at random) in
readable JSON with their provenance; prediction needs numpy alone. Few rows step down all trees together: each round moves
every (row, tree) pair one node further, and leaves point at themselves. The rows of a page are judged as bits instead: each
question is asked once of all rows (two in three are asked by several trees), the answers are packed 64 rows to a number, and
which rows come by a node is one AND (after Lucchese et al., "QuickScorer", 2015, with rows in place of leaves as the bits).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import Any, TypeVar

import numpy as np

from templatediff.errors import TemplateError
from templatediff.fingerprint import Ints

FORMAT = 2

Mixed = TypeVar("Mixed", float, Ints)


@dataclass(frozen=True)
class Forest:
    """Boosted trees over named columns. Arrays over all nodes of all trees; `root` holds each tree's first node.

    A row goes left where its value is at most `threshold`; where it is NaN, `missing_left` decides.
    """

    columns: tuple[str, ...]
    baseline: float
    root: Ints
    feature: Ints
    threshold: Ints
    left: Ints
    right: Ints
    missing_left: Ints
    value: Ints
    depth: int

    def raw(self, rows: Ints) -> Ints:
        """Log odds of each row; `rows` of shape (n, columns), float32, NaN where unknown."""
        n = len(rows)
        if n >= _MANY:
            questions = np.ascontiguousarray(rows.T, np.float32)
            parts = [self._tables.ends(questions[:, start : start + _AT_ONCE]) for start in range(0, n, _AT_ONCE)]
            ends = parts[0] if len(parts) == 1 else np.concatenate(parts)
            return np.asarray(self.baseline + self._tables.value.take(ends).sum(axis=1))
        if not n:
            return np.zeros(0)
        node = np.broadcast_to(self.root, (n, len(self.root))).copy()
        flat = np.ascontiguousarray(rows, np.float32).ravel()
        offset = (np.arange(n) * rows.shape[1])[:, None]
        for _ in range(self.depth):
            value = flat[offset + self.feature[node]]
            goes_left = (value <= self.threshold[node]) | (np.isnan(value) & self.missing_left[node])
            node = np.where(goes_left, self.left[node], self.right[node])
        return np.asarray(self.baseline + self.value[node].sum(axis=1))

    @cached_property
    def _tables(self) -> _Tables:
        return _tables_of(self)

    def paths(self, rows: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
        """The rows' way down all trees, a level at a time: (node, feature asked there, node after), shape (n, trees) each."""
        n = len(rows)
        flat = np.ascontiguousarray(rows, np.float32).ravel()
        offset = (np.arange(n) * rows.shape[1])[:, None]
        node = np.broadcast_to(self.root, (n, len(self.root))).copy()
        for _ in range(self.depth):
            feature = self.feature[node]
            value = flat[offset + feature]
            goes_left = (value <= self.threshold[node]) | (np.isnan(value) & self.missing_left[node])
            after = np.where(goes_left, self.left[node], self.right[node])
            yield node, feature, after
            node = after

    def visits(self, rows: Ints) -> Ints:
        """How many of the rows come by each node."""
        found = np.bincount(self.root, minlength=len(self.left)) * len(rows)
        for node, _, after in self.paths(rows):
            found += np.bincount(after[after != node], minlength=len(found))
        return found

    def means(self, visits: Ints | None = None) -> Ints:
        """Log odds expected at each node of its tree: the mean of its two sides, weighed by the rows that come by each;
        without `visits` both weigh alike."""
        weight = np.ones(len(self.left)) if visits is None else visits + 1.0
        ends = self.left == np.arange(len(self.left))
        whole = weight[self.left] + weight[self.right]
        found = self.value
        for _ in range(self.depth):
            both = found[self.left] * weight[self.left] + found[self.right] * weight[self.right]
            found = np.where(ends, self.value, both / whole)
        return found

    def contributions(self, rows: Ints, visits: Ints | None = None) -> tuple[float, Ints]:
        """(log odds of no row in particular, what each column adds to those of each row, shape (n, columns)).

        Their sum is `raw`. A question in a tree adds to its column the step from what was expected before the answer to
        what is expected after it (A. Saabas, "Interpreting random forests", 2014); see `means`.
        """
        means = self.means(visits)
        n, width = rows.shape
        offset = (np.arange(n) * width)[:, None]
        found = np.zeros(n * width)
        for node, feature, after in self.paths(rows):
            step = means[after] - means[node]
            found += np.bincount((offset + feature).ravel(), weights=step.ravel(), minlength=n * width)
        return self.baseline + float(means[self.root].sum()), found.reshape(n, width)

    def probability(self, rows: Ints) -> Ints:
        """P of each row, 4 decimals."""
        return probability(self.raw(rows))


_MANY = 32  #: rows from which on bits are faster than steps
_AT_ONCE = 320  #: rows judged at once
_ASKED_AT_ONCE = 256  #: questions put to them at once


@dataclass(frozen=True, slots=True)
class _Tables:
    """A forest as bits want it. Questions are distinct (column, threshold) pairs, those that unknown values answer with no
    first (`plain` of them), then those that they answer with yes, asked the other way round.

    levels   of each depth: places of the nodes that ask among all nodes there, their questions; places of the leaves, and
             where these go in a table of shape (width, trees)
    value    of each tree's leaves, shape (trees * width,)
    """

    column: Ints
    threshold: Ints
    plain: int
    levels: tuple[tuple[Ints, Ints, Ints, Ints], ...]
    value: Ints
    trees: int
    bits: int

    def ends(self, asked: Ints) -> Ints:
        """Places in `value` of the leaves that the rows end in, shape (n, trees); `asked` holds the rows as columns.

        For 150 rows of the shipped first forest: 0.65 ms, of which a third asks; stepping down takes 1.7 ms.
        """
        n = asked.shape[1]
        words = -(-n // 64)
        packed = self._answers(asked, words)
        found = np.zeros(((1 << self.bits) * self.trees, words), np.uint64)
        here = np.full((self.trees, words), ~np.uint64(0))
        for asking, question, leaves, places in self.levels:
            if len(leaves):
                found[places] = here.take(leaves, axis=0)
            if len(asking):
                above, half = here.take(asking, axis=0), len(asking)
                here = np.empty((2 * half, words), np.uint64)
                np.bitwise_and(above, packed.take(question, axis=0), out=here[:half])
                np.bitwise_xor(above, here[:half], out=here[half:])
        return self._numbers(found.reshape(1 << self.bits, self.trees, words), n)

    def _answers(self, asked: Ints, words: int) -> Ints:
        """The rows that answer yes to each question, as bits, shape (questions, words); some questions at a time, so that what
        is in between stays near the processor."""
        n, questions = asked.shape[1], len(self.column)
        packed = np.zeros((questions, words), np.uint64)
        in_bytes = packed.view(np.uint8)[:, : -(-n // 8)]
        values, answers = np.empty((_ASKED_AT_ONCE, n), np.float32), np.empty((_ASKED_AT_ONCE, n), bool)
        start = 0
        while start < questions:
            end = min(start + _ASKED_AT_ONCE, self.plain if start < self.plain else questions)
            asked.take(self.column[start:end], axis=0, out=values[: end - start], mode="clip")
            compare = np.less_equal if start < self.plain else np.greater
            compare(values[: end - start], self.threshold[start:end], out=answers[: end - start])
            in_bytes[start:end] = np.packbits(answers[: end - start], axis=1)
            start = end
        np.invert(packed[self.plain :], out=packed[self.plain :])
        return packed

    def _numbers(self, found: Ints, n: int) -> Ints:
        """From the rows of each leaf, as bits, to the leaf of each row: a bit of its number is set where a leaf is found
        whose number has that bit."""
        planes = np.empty((self.bits, *found.shape[1:]), np.uint64)
        for bit in range(self.bits - 1, -1, -1):
            half = len(found) // 2
            np.bitwise_or.reduce(found[half:], axis=0, out=planes[bit])
            found = found[:half] | found[half:]
        unpacked = np.unpackbits(planes.view(np.uint8), axis=2, count=n)
        numbers = unpacked[0]
        for bit in range(1, self.bits):
            numbers |= np.left_shift(unpacked[bit], bit, out=unpacked[bit])
        ends = np.ascontiguousarray(numbers.T).astype(np.intp)
        ends += np.arange(self.trees) << self.bits
        return ends


def _tables_of(forest: Forest) -> _Tables:
    asks = forest.left != np.arange(len(forest.left))
    nodes = np.flatnonzero(asks)
    keys = [
        (bool(missing), int(column), float(threshold))
        for missing, column, threshold in zip(
            forest.missing_left[nodes], forest.feature[nodes], forest.threshold[nodes], strict=True
        )
    ]
    distinct = sorted(set(keys))
    place = {key: number for number, key in enumerate(distinct)}
    question = np.zeros(len(asks), np.intp)
    question[nodes] = [place[key] for key in keys]
    trees = len(forest.root)
    tree = np.repeat(np.arange(trees), np.diff(np.append(forest.root, len(asks))))
    before = np.cumsum(~asks) - ~asks  # leaves before each node
    number = before - before[forest.root][tree]
    bits = max(1, int(number[~asks].max(initial=0)).bit_length())
    value = np.zeros((trees, 1 << bits))
    value[tree[~asks], number[~asks]] = forest.value[~asks]
    levels = []
    here = forest.root
    while len(here):
        asking, leaves = np.flatnonzero(asks[here]), np.flatnonzero(~asks[here])
        levels.append((asking, question[here[asking]], leaves, (number * trees + tree)[here[leaves]]))
        here = np.concatenate([forest.left[here[asking]], forest.right[here[asking]]])
    return _Tables(
        column=np.array([column for _, column, _ in distinct], np.intp),
        threshold=np.array([threshold for _, _, threshold in distinct], np.float32)[:, None],
        plain=sum(not missing for missing, _, _ in distinct),
        levels=tuple(levels),
        value=value.ravel(),
        trees=trees,
        bits=bits,
    )


def probability(log_odds: Ints) -> Ints:
    """Log odds as probabilities, 4 decimals."""
    return np.asarray(np.round(1.0 / (1.0 + np.exp(-log_odds)), 4))


def forest(document: dict[str, Any]) -> Forest:
    """A forest from its JSON form: {"columns", "baseline", "trees": [{"feature", "threshold", "left", "right",
    "missing_left", "value"}, ...]}; leaves have feature -1. Raises TemplateError where it does not fit together."""
    root: list[int] = []
    parts: dict[str, list[Any]] = {
        name: [] for name in ("feature", "threshold", "left", "right", "missing_left", "value")
    }
    depth = 0
    for tree in document["trees"]:
        start = len(parts["feature"])
        root.append(start)
        size = len(tree["feature"])
        if any(len(tree[name]) != size for name in parts):
            raise TemplateError("weights: the columns of a tree differ in length")
        for name in ("feature", "threshold", "missing_left", "value"):
            parts[name].extend(tree[name])
        for place in range(size):
            leaf = tree["feature"][place] < 0
            for name in ("left", "right"):
                parts[name].append(start + (place if leaf else tree[name][place]))
        depth = max(depth, _depth(tree))
    feature = np.array(parts["feature"], np.int64)
    return Forest(
        columns=tuple(document["columns"]),
        baseline=float(document["baseline"]),
        root=np.array(root, np.int64),
        feature=np.maximum(feature, 0),
        threshold=np.array(parts["threshold"], np.float32),
        left=np.array(parts["left"], np.int64),
        right=np.array(parts["right"], np.int64),
        missing_left=np.array(parts["missing_left"], bool),
        value=np.array(parts["value"], np.float64),
        depth=depth,
    )


def _depth(tree: dict[str, Any]) -> int:
    levels = [0] * len(tree["feature"])
    for place, feature in enumerate(tree["feature"]):
        if feature >= 0:
            for side in ("left", "right"):
                levels[tree[side][place]] = levels[place] + 1
    return max(levels, default=0)


@dataclass(frozen=True)
class Weights:
    """What ships: `first` judges a leaf by its evidence; `second` by that and the first judgement of its neighbourhood
    and of the same places on the siblings; P is a mean of both in log odds (`mixed`). `names` gives parts of ids and classes
    the log odds of content inside them. `digest` names the file's content."""

    names: dict[str, float]
    first: Forest
    second: Forest
    second_share: float  # of the second forest in the mean
    temperature: float  # what that is divided by, so that P is a probability on pages of sites that were not fitted on
    digest: str
    provenance: dict[str, Any]

    def mixed(self, first: Mixed, second: Mixed) -> Mixed:
        """The log odds of both forests as those of P."""
        return (first * (1.0 - self.second_share) + second * self.second_share) / self.temperature


@cache
def shipped() -> Weights:
    """The weights in the package, read once."""
    return read_weights(files("templatediff").joinpath("weights.json").read_bytes())


def read_weights(data: bytes) -> Weights:
    """Weights from the bytes of a weights.json. Raises TemplateError for another format."""
    document = json.loads(data)
    if document.get("format") != FORMAT:
        raise TemplateError(f"weights.json is format {document.get('format')}, this release reads {FORMAT}")
    names = {str(part): float(figure) for part, figure in document["names"].items()}
    digest = hashlib.sha256(data).hexdigest()[:12]
    return Weights(
        names,
        forest(document["first"]),
        forest(document["second"]),
        float(document["second_share"]),
        float(document["temperature"]),
        digest,
        document["provenance"],
    )


@cache
def shipped_visits() -> tuple[str, Ints, Ints]:
    """(digest of the weights that they are of, visits of the first forest's nodes, of the second's), read once.

    benchmarks/visits.py counts them. They serve explanations alone: no label depends on them.
    """
    document = json.loads(files("templatediff").joinpath("visits.json").read_bytes())
    return document["weights"], np.array(document["first"], np.int64), np.array(document["second"], np.int64)


def columns(matrix: Ints, names: tuple[str, ...], wanted: tuple[str, ...]) -> Ints:
    """The wanted columns of an evidence matrix, NaN where it lacks one."""
    if wanted == names:
        return matrix
    places = _places(names, wanted)
    chosen = matrix.T.take(places, axis=0)  # a column's values lie side by side: see `evidence.plain_rows`
    chosen[places < 0] = np.nan
    return np.asarray(chosen.T)


@lru_cache(16)
def _places(names: tuple[str, ...], wanted: tuple[str, ...]) -> Ints:
    place = {name: number for number, name in enumerate(names)}
    return np.array([place.get(name, -1) for name in wanted], np.intp)
