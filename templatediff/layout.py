"""Fingerprints -> groups of pages made by one page template.

Pages are alike by the cosine of 1 + ln(count) over their containers' folded steps (element, id, classes without digits
and generated parts), which told five page types of a forum apart for any threshold from .63 to .91. Where a site's
class names are generated anew for each page, the paths of element names serve instead.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from templatediff.fingerprint import Fingerprint, Ints

ALIKE = 0.75  #: least mean cosine of pages in one layout
FITS = 0.6  #: least cosine to a layout's centre for a page that is not part of the sample


def vector(page: Fingerprint) -> dict[int, float]:
    """Feature hash -> weight of one page, of length 1; empty for a page without containers."""
    if not len(page.step):
        return {}
    names, counts = np.unique(page.step, return_counts=True)
    weights = 1.0 + np.log(counts)
    keys = [_step_key(page.steps[name]) for name in names]
    merged: dict[int, float] = {}
    for key, weight in zip(keys, weights.tolist(), strict=True):
        merged[key] = merged.get(key, 0.0) + weight
    length = float(np.sqrt(sum(weight * weight for weight in merged.values())))
    return {key: weight / length for key, weight in sorted(merged.items())}


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
    length = float(np.sqrt(sum(weight * weight for weight in total.values()))) or 1.0
    rounded = {key: round(weight / length, 4) for key, weight in sorted(total.items())}
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


def _step_key(step: str) -> int:
    from templatediff.fingerprint import text_hash

    return text_hash(step)


def _matrix(vectors: Sequence[dict[int, float]]) -> Ints:
    columns = {key: place for place, key in enumerate(sorted({key for one in vectors for key in one}))}
    matrix = np.zeros((len(vectors), len(columns)))
    for row, one in enumerate(vectors):
        for key, weight in one.items():
            matrix[row, columns[key]] = weight
    return matrix
