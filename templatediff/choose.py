"""Probabilities -> what is kept: the choice of the best expected F1, and the guards of a page of content."""

from __future__ import annotations

import numpy as np

from templatediff.context import Context
from templatediff.fingerprint import Ints

LOWEST, HIGHEST = 0.35, 0.5  #: bounds of the threshold that the expected F1 may choose
KEPT_OF_NEW = 0.25  #: a content page keeps at least this share of what is new on it, unless
SURE_ENOUGH = 0.8  #: what it keeps has a mean P of so much: a short post before many comments


def best_threshold(p: Ints, tokens: Ints) -> float:
    """The P from which on keeping raises the expected F1: half of the best expected F1, within bounds."""
    order = np.argsort(-p, kind="stable")
    mass = np.cumsum((p * tokens)[order])
    kept = np.cumsum(tokens[order])
    total = float((p * tokens).sum())
    best = float((2 * mass / np.maximum(kept + total, 1e-9)).max(initial=0.0))
    return float(np.clip(best / 2, LOWEST, HIGHEST))


def guarded(context: Context, p: Ints, kept: Ints) -> tuple[Ints, str | None]:
    """Never empty a page of content; keep the rest where less than a quarter of what is new was kept, and that is not sure."""
    if not kept.any():
        return p >= p.max(), "nothing stood out: the likeliest text was kept"
    fresh = context.fresh * (context.link_share < 0.5)
    new, tokens = float(fresh.sum()), context.tokens[kept]
    if float((p[kept] * tokens).sum()) >= SURE_ENOUGH * float(tokens.sum()):
        return kept, None
    if new >= 40 and context.site is not None and context.site.n >= 2 and float(fresh[kept].sum()) < KEPT_OF_NEW * new:
        wider = kept | ((p >= LOWEST / 2) & (fresh > 0))
        if wider.sum() > kept.sum():
            return wider, "less than a quarter of the page's new text stood out: likely text was kept too"
    return kept, None


def expected_f1(p: Ints, kept: Ints, tokens: Ints) -> float:
    """Expected F1 of the choice if P is right, 0..1, 3 decimals."""
    hits = float((p * tokens)[kept].sum())
    size = float(tokens[kept].sum() + (p * tokens).sum())
    return round(2 * hits / size, 3) if size else 0.0
