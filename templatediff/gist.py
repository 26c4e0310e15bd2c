"""What a single page is about, and how near each leaf is to it.

The gist is the page's non-stopword tokens, weighted as in TF-IDF: 1 + ln(count) times the inverse share of the site's
pages that have the token (1 without siblings). A leaf's score is the mean weight, in the *rest* of the page, of its
own tokens: a menu entry's words seldom return in the page, an article's do.
"""

from __future__ import annotations

import numpy as np

from templatediff.fingerprint import Fingerprint, Ints
from templatediff.repetition import View


def gist_scores(page: Fingerprint, site: View | None = None) -> Ints:
    """Similarity of each leaf to the rest of the page, 0..1, shape (n,); 0 for leaves of stopwords alone."""
    n = len(page)
    if not len(page.token_hash):
        return np.zeros(n)
    distinct, token = np.unique(page.token_hash, return_inverse=True)
    leaf = np.repeat(np.arange(n), page.token_count)
    content = (distinct & 1) == 0
    weight = content.astype(float)
    if site is not None and site.n:
        share = site.k("token", distinct) / site.n
        weight *= 1.0 - 0.9 * share
    total = np.bincount(token, minlength=len(distinct))
    pairs, inside = np.unique(leaf * len(distinct) + token, return_counts=True)
    rest = total[pairs % len(distinct)] - inside
    value = np.log1p(rest) * weight[pairs % len(distinct)]
    summed = np.bincount(pairs // len(distinct), weights=value * inside, minlength=n)
    meant = np.bincount(leaf, weights=content[token].astype(float), minlength=n)
    top = np.log1p(max(int(total[content].max(initial=1)), 1))
    return np.round(np.where(meant > 0, summed / np.maximum(meant, 1) / max(top, 1e-9), 0.0), 4)


def stop_share(page: Fingerprint) -> Ints:
    """Share of stopwords among each leaf's tokens, 0..1, shape (n,)."""
    stops = np.concatenate([[0], np.cumsum(page.token_hash & 1)])
    found = stops[page.token_start[1:]] - stops[page.token_start[:-1]]
    return np.asarray(found / np.maximum(page.token_count, 1))


def title_share(page: Fingerprint) -> Ints:
    """Share of each leaf's tokens that the page's title holds, 0..1, shape (n,)."""
    if not page.title or not len(page):
        return np.zeros(len(page))
    from templatediff.fingerprint import token_hashes

    known = np.isin(page.token_hash & np.uint32(0xFFFFFFFE), token_hashes(page.title))
    running = np.concatenate([[0], np.cumsum(known)])
    return np.asarray(
        (running[page.token_start[1:]] - running[page.token_start[:-1]]) / np.maximum(page.token_count, 1)
    )
