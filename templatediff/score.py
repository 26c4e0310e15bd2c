"""Rows of evidence -> P(content).

The shipped weights are boosted trees (benchmarks/train.py fits them on labelled sites, siblings withheld at random) in
readable JSON with their provenance; prediction needs numpy alone. All trees step down together: each round moves every
(row, tree) pair one node further, and leaves point at themselves.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
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
        """Log odds of each row; `rows` of shape (n, columns), NaN where unknown."""
        n = len(rows)
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
    place = {name: number for number, name in enumerate(names)}
    if wanted == names:
        return matrix
    chosen = np.full((len(matrix), len(wanted)), np.nan, np.float32)
    for number, name in enumerate(wanted):
        if name in place:
            chosen[:, number] = matrix[:, place[name]]
    return chosen
