"""Fingerprints -> groups of pages made by one page template.

Two pages are alike by the cosine of 1 + ln(count) over their containers' folded steps (element, id, classes without
digits and generated parts), and by the cosine of how their new text is spread over the containers' folded paths. Steps
alone tell forum pages from others, yet kinds of one site that share most of their chrome reach .85 by them. By where new
text lies such kinds reach .79 on average, pages of one kind .98 (generated sites, semantic markup) and .78 to .98 (blogs).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from templatediff.fingerprint import Fingerprint, Ints
from templatediff.hashes import text_hash
from templatediff.repetition import subtree_sums

ALIKE = 0.85  #: least mean likeness of pages in one layout
GAP, LEAST_CUT, MOST_CUT = 0.05, 0.75, 0.94
LEAST_UNLIKE = 0.01  #: unlikeness that is taken for this much when gaps are compared
FITS = 0.6  #: least likeness to a layout's centre for a page that is not part of the sample
STEPS_SHARE = 0.4  #: how much the steps count; the rest is the spread of new text
LEAST_SPREAD = 0.15  #: containers of a smaller share of the page's new tokens do not count
_SALT = 0x5BD1E995  # keeps the keys of paths apart from those of steps


def vector(page: Fingerprint, new: Ints) -> dict[int, float]:
    """Feature hash -> weight of one page, of length 1; empty for a page without containers.

    `new` tells of each leaf whether its text is new on the page, shape (n,).
    """
    if not len(page.step):
        return {}
    names, counts = np.unique(page.step, return_counts=True)
    steps: dict[int, float] = {}
    for name, weight in zip(names.tolist(), (1.0 + np.log(counts)).tolist(), strict=True):
        key = _step_key(page.steps[name])
        steps[key] = steps.get(key, 0.0) + weight
    tokens = page.token_count * new
    shares = subtree_sums(page, tokens) / max(int(tokens.sum()), 1)
    spread: dict[int, float] = {}
    holding = np.flatnonzero(shares)
    for key, share in zip(page.paths.take(holding).tolist(), shares.take(holding).tolist(), strict=True):
        spread[key ^ _SALT] = spread.get(key ^ _SALT, 0.0) + share
    spread = {key: share for key, share in spread.items() if share >= LEAST_SPREAD}
    weighted = {key: weight * STEPS_SHARE**0.5 for key, weight in _unit(steps).items()}
    weighted |= {key: weight * (1.0 - STEPS_SHARE) ** 0.5 for key, weight in _unit(spread).items()}
    return _unit(weighted)


_step_key = lru_cache(1 << 14)(text_hash)  # pages of a site share most of their steps


def _unit(weights: dict[int, float]) -> dict[int, float]:
    length = float(np.sqrt(sum(weight * weight for weight in weights.values()))) or 1.0
    return {key: weight / length for key, weight in sorted(weights.items())}


def group(vectors: Sequence[dict[int, float]]) -> list[int]:
    """Layout number of each page (average linkage of cosines at ALIKE), numbered by first appearance."""
    if len(vectors) < 2:
        return [0] * len(vectors)
    matrix = _matrix(vectors)
    cosines = matrix @ matrix.T  # with 1,500 groups 18 MB: worked on in place
    del matrix
    np.clip(cosines, 0.0, 1.0, out=cosines)
    np.round(cosines, 4, out=cosines)
    if len(vectors) == 2:
        return [0, 0 if cosines[0, 1] >= ALIKE else 1]
    # scipy's routine is the one scikit-learn's AgglomerativeClustering calls; importing it alone costs a tenth
    from scipy.cluster.hierarchy import fcluster, linkage

    distances = np.concatenate([1.0 - row[number + 1 :] for number, row in enumerate(cosines)])
    del cosines
    tree = linkage(distances, "average").round(4)
    labels = fcluster(tree, 1.0 - _cut(1.0 - tree[:, 2]), "distance")
    numbers: dict[int, int] = {}
    return [numbers.setdefault(int(label), len(numbers)) for label in labels]


def _cut(merges: Ints) -> float:
    """Least likeness inside a layout: in the middle of a gap among the likenesses at which groups merge, where one is wide
    enough and lies between alike and barely alike; else ALIKE. Of several gaps it is the one over which unlikeness grows
    by the greatest factor: kinds may be alike in pairs, too, and the gap between pairs be the widest.

    Kinds that share their chrome merge at up to .91, pages of one kind at .97 or more; without a gap ALIKE decides.
    """
    ordered = np.sort(merges)[::-1]
    gaps = ordered[:-1] - ordered[1:]
    wide = (gaps >= GAP) & (ordered[1:] >= LEAST_CUT) & (ordered[1:] <= MOST_CUT) & (ordered[:-1] >= ALIKE)
    if not wide.any():
        return ALIKE
    growth = (1.0 - ordered[1:]) / np.maximum(1.0 - ordered[:-1], LEAST_UNLIKE)
    place = int(np.argmax(np.where(wide, growth.round(4), -1.0)))
    return float(ordered[place] + ordered[place + 1]) / 2


def centre(vectors: Sequence[dict[int, float]]) -> dict[int, float]:
    """Mean direction of a layout's pages, rounded to 4 places, features of no weight left out."""
    total: dict[int, float] = {}
    for one in vectors:
        for key, weight in one.items():
            total[key] = total.get(key, 0.0) + weight
    rounded = {key: round(weight, 4) for key, weight in _unit(total).items()}
    return {key: weight for key, weight in rounded.items() if weight}


def cosine(one: dict[int, float], other: dict[int, float]) -> float:
    """Likeness of two vectors, 0..1, 4 decimals."""
    if len(other) < len(one):
        one, other = other, one
    return min(1.0, round(float(sum(weight * other.get(key, 0.0) for key, weight in one.items())), 4))


def nearest(page: dict[int, float], centres: Sequence[dict[int, float]]) -> int | None:
    """Index of the layout a page belongs to, the first of the most alike; None where none fits."""
    best, found = FITS, None
    for number, middle in enumerate(centres):
        likeness = cosine(page, middle)
        if likeness > best or (found is None and likeness >= FITS):
            best, found = likeness, number
    return found


def _matrix(vectors: Sequence[dict[int, float]]) -> Ints:
    columns = {key: place for place, key in enumerate(sorted({key for one in vectors for key in one}))}
    matrix = np.zeros((len(vectors), len(columns)))
    for row, one in enumerate(vectors):
        for key, weight in one.items():
            matrix[row, columns[key]] = weight
    return matrix
