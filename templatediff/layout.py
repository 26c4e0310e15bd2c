"""Fingerprints -> groups of pages made by one page template.

Two pages are alike by half the cosine of 1 + ln(count) over their containers' folded steps (element, id, classes without
digits and generated parts) and half the cosine of ln(1 + tokens) over the places that hold the text that is new on each
page. Steps alone told five page types of a forum apart, yet kinds of one site that share most of their chrome reach .85
to .99 by them; by the places of new text such kinds reach .38 at most, and pages of one kind .64 at least (generated sites
of 20 pages, semantic markup).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from templatediff.fingerprint import Fingerprint, Ints, text_hash

ALIKE = 0.75  #: least mean likeness of pages in one layout
FITS = 0.6  #: least likeness to a layout's centre for a page that is not part of the sample
_SALT = 0x5BD1E995  # keeps the keys of places apart from those of steps


def vector(page: Fingerprint, new: Ints) -> dict[int, float]:
    """Feature hash -> weight of one page, of length 1; empty for a page without containers.

    `new` tells of each leaf whether its text is new on the page, shape (n,).
    """
    if not len(page.step):
        return {}
    names, counts = np.unique(page.step, return_counts=True)
    steps: dict[int, float] = {}
    for name, weight in zip(names.tolist(), (1.0 + np.log(counts)).tolist(), strict=True):
        key = text_hash(page.steps[name])
        steps[key] = steps.get(key, 0.0) + weight
    places: dict[int, float] = {}
    fresh = new.astype(bool)
    keys, where = np.unique(page.local_keys[page.row][fresh], return_inverse=True)
    tokens = np.bincount(where, weights=page.token_count[fresh], minlength=len(keys))
    for key, weight in zip(keys.tolist(), np.log1p(tokens).tolist(), strict=True):
        if weight:
            places[key ^ _SALT] = weight
    return _unit({**_unit(steps), **_unit(places)})


def _unit(weights: dict[int, float]) -> dict[int, float]:
    length = float(np.sqrt(sum(weight * weight for weight in weights.values()))) or 1.0
    return {key: weight / length for key, weight in sorted(weights.items())}


def group(vectors: Sequence[dict[int, float]]) -> list[int]:
    """Layout number of each page (average linkage of cosines at ALIKE), numbered by first appearance."""
    if len(vectors) < 2:
        return [0] * len(vectors)
    matrix = _matrix(vectors)
    cosines = np.clip(matrix @ matrix.T, 0.0, 1.0).round(4)
    if len(vectors) == 2:
        return [0, 0 if cosines[0, 1] >= ALIKE else 1]
    # scipy's routine is the one scikit-learn's AgglomerativeClustering calls; importing it alone costs a tenth
    from scipy.cluster.hierarchy import fcluster, linkage

    distances = 1.0 - cosines[np.triu_indices(len(vectors), 1)]
    labels = fcluster(linkage(distances, "average"), 1.0 - ALIKE, "distance")
    numbers: dict[int, int] = {}
    return [numbers.setdefault(int(label), len(numbers)) for label in labels]


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
    return round(float(sum(weight * other.get(key, 0.0) for key, weight in one.items())), 4)


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
