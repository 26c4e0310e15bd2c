"""What a single page is about, and how near each leaf is to it.

The gist is the page's non-stopword tokens, weighted as in TF-IDF: 1 + ln(count) times the inverse share of the site's
pages that have the token (1 without siblings). A leaf's score is the mean weight, in the *rest* of the page, of its
own tokens: a menu entry's words seldom return in the page, an article's do.
"""

from __future__ import annotations

import numpy as np

from templatediff.fingerprint import Fingerprint, Ints
from templatediff.repetition import View, among


def gist_scores(page: Fingerprint, site: View | None = None) -> Ints:
    """Similarity of each leaf to the rest of the page, 0..1, shape (n,); 0 for leaves of stopwords alone."""
    n = len(page)
    if not len(page.token_hash):
        return np.zeros(n)
    # a (leaf, token) pair as one number: sorting those is several times cheaper than finding their distinct rows
    pairs = page.token_leaf.astype(np.uint64)
    pairs <<= np.uint64(32)
    pairs |= page.token_hash
    pairs.sort()
    pairs, inside = _runs(pairs)
    distinct, total = _runs(np.sort(page.token_hash))
    content = (distinct & 1) == 0
    weight = content.astype(float)
    if site is not None and site.n:
        share = site.k("token", distinct) / site.n
        weight *= 1.0 - 0.9 * share
    leaf = (pairs >> np.uint64(32)).astype(np.intp)
    token = distinct.searchsorted(pairs.astype(np.uint32))
    value = np.log1p(total.take(token) - inside) * weight.take(token)
    summed = np.bincount(leaf, weights=value * inside, minlength=n)
    meant = page.token_count - stop_counts(page)
    top = np.log1p(max(int(total[content].max(initial=1)), 1))
    return np.round(np.where(meant > 0, summed / np.maximum(meant, 1) / max(top, 1e-9), 0.0), 4)


def _runs(ordered: Ints) -> tuple[Ints, Ints]:
    """(distinct values, how often each comes) of a sorted column that is not empty."""
    new = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    starts = np.concatenate([[0], new])
    return ordered.take(starts), np.diff(starts, append=len(ordered))


def stop_counts(page: Fingerprint) -> Ints:
    """How many stopwords are among each leaf's tokens, shape (n,)."""
    running = np.zeros(len(page.token_hash) + 1, np.int64)
    np.cumsum(page.token_hash & 1, out=running[1:])
    return np.diff(running.take(page.token_start))


def title_share(page: Fingerprint) -> Ints:
    """Share of each leaf's tokens that the page's title holds, 0..1, shape (n,)."""
    if not page.title or not len(page):
        return np.zeros(len(page))
    from templatediff.hashes import token_hashes

    running = np.zeros(len(page.token_hash) + 1, np.int64)
    np.cumsum(among(np.sort(token_hashes(page.title)), page.token_hash & np.uint32(0xFFFFFFFE)), out=running[1:])
    return np.asarray(np.diff(running.take(page.token_start)) / np.maximum(page.token_count, 1))
