"""Passages: runs of leaves that read like content by the first judgement, and where a leaf stands to them.

One page holds one long passage, another forty short ones; one leaf goes on with the main passage, another begins a second
after 300 words of menus. The same P means more in the one case than in the other. The second forest reads these columns to
learn what is usual for which kind of page, rather than have kinds of pages named.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from templatediff.context import Context
from templatediff.fingerprint import Fingerprint, Ints
from templatediff.repetition import SCALE, View, subtree_sums

LIKELY = 0.3  #: P of the first judgement from which on a leaf is of a passage
STRONG = 0.6  #: P from which on distance to a leaf is measured
GAP_LEAVES, GAP_TOKENS = 3, 40  #: a passage goes on over fewer leaves below LIKELY, and at most so many tokens of them
MOST_OF_MAIN = 0.9  #: the main container is the lowest that holds this share of the main passage

_BOUNDS = (0.9, 0.7, 0.5, 0.3, 0.1)
_PROSE_TOKENS = 15

_OF_PAGE = (
    *(f"page_over_{round(bound * 10)}" for bound in _BOUNDS),
    "page_linked", "page_sentences", "page_grouped", "page_doubt", "page_best", "page_highest", "page_in_records",
    "page_passages",
)  # fmt: skip
_OF_SITE = ("site_page_content", "site_page_share", "layout_page_content", "layout_page_share", "page_to_site")
_OF_MAIN = (
    "main_share", "main_sentences", "main_start", "main_depth", "main_density", "main_p", "main_li", "main_td", "main_headings",
)  # fmt: skip
_OF_LEAF = (
    "passage_share", "passage_before", "passage_after", "passage_in_main", "passage_side", "passage_distance",
    "passage_sentences", "passage_links", "passage_rank", "passage_to_main", "passage_tokens",
    "main_around", "main_in_parent", "main_in_grandparent", "main_at_step",
    "content_before", "content_after", "since_strong", "until_strong", "heading_first",
)  # fmt: skip
NAMES = _OF_PAGE + _OF_SITE + _OF_MAIN + _OF_LEAF


@dataclass(frozen=True, slots=True)
class Passages:
    """The passages of a page. `number` of each leaf's, -1 for none; `mass` of each, in expected content tokens; `main` is the
    number of the one with the most."""

    number: Ints
    mass: Ints
    main: int


def find(first: Ints, tokens: Ints) -> Passages | None:
    """The passages of a page; None where no leaf is likely.

    >>> find(np.array([0.9, 0.1, 0.8, 0.0, 0.0, 0.0, 0.7]), np.array([10, 2, 10, 1, 1, 1, 5])).number.tolist()
    [0, -1, 0, -1, -1, -1, 1]
    """
    likely = np.flatnonzero(first >= LIKELY)
    if not len(likely):
        return None
    before = np.concatenate([[0], np.cumsum(tokens)])
    gap_leaves = likely[1:] - likely[:-1] - 1
    gap_tokens = before[likely[1:]] - before[likely[:-1] + 1]
    numbers = np.cumsum(np.concatenate([[0], (gap_leaves >= GAP_LEAVES) | (gap_tokens > GAP_TOKENS)]))
    number = np.full(len(first), -1)
    number[likely] = numbers
    mass = np.bincount(numbers, weights=(first * tokens)[likely])
    return Passages(number, mass, int(np.argmax(mass)))


def passage_rows(context: Context, first: Ints, site: View | None, layout: View | None) -> Ints:
    """The columns named NAMES over a page's leaves, shape (leaves, len(NAMES)), NaN where unknown. `first` is P(content) of
    each leaf by the first forest; `site` and `layout` are the levels with what the siblings teach."""
    n = context.n
    mass = first * context.tokens
    found = find(first, context.tokens)
    page = _of_page(context, first, mass, found)
    columns: dict[str, Ints] = {name: np.full(n, value) for name, value in zip(_OF_PAGE, page, strict=True)}
    columns |= {
        name: np.full(n, value) for name, value in zip(_OF_SITE, _of_site(context, mass, site, layout), strict=True)
    }
    if found is None:
        unknown = np.full(n, np.nan)
        columns |= dict.fromkeys(_OF_MAIN + _OF_LEAF, unknown)
    else:
        columns |= _of_main(context, mass, found)
        columns |= _of_passage(context, mass, found)
    columns |= _of_order(context, first, mass)
    return np.asarray(np.array([columns[name] for name in NAMES]).T)


def _of_page(context: Context, first: Ints, mass: Ints, found: Passages | None) -> list[float]:
    """The page as a whole: how much of it reads like content, how surely, and what that is made of."""
    tokens, page = context.tokens, context.page
    total, every = max(float(mass.sum()), 1e-6), max(float(tokens.sum()), 1.0)
    order = np.argsort(-first, kind="stable")
    best = (2 * np.cumsum(mass[order]) / (np.cumsum(tokens[order]) + total)).max(initial=0.0)
    return [
        *(float(tokens[first > bound].sum()) / every for bound in _BOUNDS),
        float((mass * context.link_share).sum()) / total,
        float(mass[_sentences(context)].sum()) / total,
        float(mass[page.group >= 0].sum()) / total,
        float((mass * (1.0 - first)).sum()) / total,
        float(best),
        float(first.max(initial=0.0)),
        float(mass[context.record >= 0].sum()) / total,
        float(np.log1p(len(found.mass))) if found is not None else 0.0,
    ]


def _sentences(context: Context) -> Ints:
    return (context.tokens >= _PROSE_TOKENS) & (context.page.sentence_ends > 0)


def _of_site(context: Context, mass: Ints, site: View | None, layout: View | None) -> list[float]:
    """How much content the siblings have a page, and how the page compares: logarithms of tokens, and shares."""
    found: list[float] = []
    for view in (site, layout):
        if view is None or not view.n or "path_lesson" not in view.level.sums:
            found += [np.nan, np.nan]
            continue
        tokens, content = view.total("path_lesson", context.page.paths[:1])[0].tolist()
        found += [float(np.log1p(content / SCALE / view.n)), content / SCALE / max(tokens, 1)]
    return [*found, float(np.log1p(mass.sum())) - found[0]]


def _of_main(context: Context, mass: Ints, found: Passages) -> dict[str, Ints]:
    """The main passage: its share of the page, what it is made of, and which containers hold it."""
    page, n = context.page, context.n
    inside = found.number == found.main
    main = np.where(inside, mass, 0.0)
    whole = max(float(main.sum()), 1e-6)
    under = subtree_sums(page, np.rint(main * SCALE)) / SCALE
    holds = np.flatnonzero(under >= MOST_OF_MAIN * float(under[0]))
    container = int(holds[np.argmax(context.depth[holds])])
    tag = page.tag[page.row]
    above = np.maximum(page.parent[page.row], 0)
    higher = np.maximum(page.parent[above], 0)
    at_step = np.bincount(page.step[page.row], weights=main, minlength=len(page.steps)) / whole
    of_page = {
        "main_share": whole / max(float(mass.sum()), 1e-6),
        "main_sentences": float(main[_sentences(context)].sum()) / whole,
        "main_start": int(np.argmax(inside)) / n,
        "main_depth": float(context.depth[container]),
        "main_density": float(under[container]) / max(float(context.subtree_tokens[container]), 1.0),
        "main_p": float(main[_is(page, "p")[tag]].sum()) / whole,
        "main_li": float(main[_is(page, "li", "dd")[tag]].sum()) / whole,
        "main_td": float(main[_is(page, "td", "th")[tag]].sum()) / whole,
        "main_headings": float(main[page.heading > 0].sum()) / whole,
    }
    return {name: np.full(n, value) for name, value in of_page.items()} | {
        "main_around": context.inside(container),
        "main_in_parent": under[above] / whole,
        "main_in_grandparent": under[higher] / whole,
        "main_at_step": at_step[page.step[page.row]],
    }


def _is(page: Fingerprint, *names: str) -> Ints:
    """Which of the page's distinct elements have one of these names."""
    return np.array([tag in names for tag in page.tags], bool)


def _of_passage(context: Context, mass: Ints, found: Passages) -> dict[str, Ints]:
    """Each leaf's own passage, or the one that it stands within, and its place beside the main one."""
    n, last = context.n, len(found.mass) - 1
    total = max(float(mass.sum()), 1e-6)
    number = found.number
    own, of = number >= 0, np.maximum(number, 0)
    before = np.maximum.accumulate(number)
    after = np.minimum.accumulate(np.where(own, number, last + 1)[::-1])[::-1]
    share = found.mass / total
    left = np.where(before >= 0, share[np.maximum(before, 0)], 0.0)
    right = np.where(after <= last, share[np.minimum(after, last)], 0.0)
    within = own | ((before >= 0) & (before == after))
    place = np.arange(n)
    main = np.flatnonzero(number == found.main)
    start, end = int(main[0]), int(main[-1])
    running = np.concatenate([[0], np.cumsum(context.tokens)])
    to_start = np.log1p(np.maximum(running[start] - running[place + 1], 0))
    from_end = np.log1p(np.maximum(running[place] - running[end + 1], 0))
    sizes = np.maximum(found.mass, 1e-9)
    likely = number[own]
    sentences = np.bincount(likely, weights=(mass * _sentences(context))[own], minlength=last + 1) / sizes
    links = np.bincount(likely, weights=(mass * context.link_share)[own], minlength=last + 1) / sizes
    tokens = np.bincount(likely, weights=context.tokens[own], minlength=last + 1)
    rank = np.empty(last + 1)
    rank[np.argsort(-found.mass, kind="stable")] = np.arange(last + 1)

    def of_own(values: Ints) -> Ints:
        return np.where(own, values[of], np.nan)

    return {
        "passage_share": np.where(within, left, 0.0),
        "passage_before": left,
        "passage_after": right,
        "passage_in_main": (number == found.main).astype(float),
        "passage_side": np.sign(np.where(place < start, -1.0, np.where(place > end, 1.0, 0.0))),
        "passage_distance": np.where(place < start, -to_start, np.where(place > end, from_end, 0.0)),
        "passage_sentences": of_own(sentences),
        "passage_links": of_own(links),
        "passage_rank": of_own(rank),
        "passage_to_main": of_own(found.mass / sizes[found.main]),
        "passage_tokens": of_own(np.log1p(tokens)),
    }


def _of_order(context: Context, first: Ints, mass: Ints) -> dict[str, Ints]:
    """How much content stands before and after each leaf, how far the next sure leaf is, how its section's heading reads."""
    n = context.n
    total = max(float(mass.sum()), 1e-6)
    place, so_far = np.arange(n), np.cumsum(mass)
    running = np.concatenate([[0], np.cumsum(context.tokens)])
    strong = first >= STRONG
    last = np.concatenate([[-1], np.maximum.accumulate(np.where(strong, place, -1))])[:n]
    following = np.concatenate([np.minimum.accumulate(np.where(strong, place, n)[::-1])[::-1], [n]])[1 : n + 1]
    since = np.log1p(np.maximum(running[place] - running[last + 1], 0))
    until = np.log1p(np.maximum(running[np.minimum(following, n)] - running[place + 1], 0))
    heading = np.maximum.accumulate(np.where(context.page.heading > 0, place, -1)) if n else place
    return {
        "content_before": (so_far - mass) / total,
        "content_after": (total - so_far) / total,
        "since_strong": np.where(last >= 0, since, np.nan),
        "until_strong": np.where(following < n, until, np.nan),
        "heading_first": np.where(heading >= 0, first[np.maximum(heading, 0)], np.nan),
    }
