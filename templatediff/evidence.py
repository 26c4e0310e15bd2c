"""Leaf + page + template -> one row of numbers, by named columns.

Every evidence is a small function of a `Context` that gives one number a leaf; `EVIDENCE` lists them. Adding one is
adding a function there (the shipped weights name the columns they were fitted on, so others may stand beside them).
Unknown is NaN, never a guess: without siblings all that siblings could say is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from templatediff import segment
from templatediff.fingerprint import ACTION, FRAGMENT, INSIDE, OUTSIDE, Fingerprint, Ints
from templatediff.gist import gist_scores, stop_share, title_share
from templatediff.repetition import SCALE, View, new_tokens, pair_hash, subtree_sums

LONG = 30  #: tokens from which on a leaf is matched by its n-grams as well
LEVELS = 6  #: containers above a leaf that evidence looks at


class Context:
    """One page beside its siblings; what several evidences need is worked out once."""

    def __init__(self, page: Fingerprint, site: View | None, layout: View | None, order: int = 3) -> None:
        self.page = page
        self.site = site if site is not None and site.n else None
        self.layout = layout if layout is not None and layout.n else None
        self.order = order
        self.n = len(page)

    @cached_property
    def tokens(self) -> Ints:
        return self.page.token_count

    @cached_property
    def link_share(self) -> Ints:
        return self.page.linked / np.maximum(self.page.characters, 1)

    @cached_property
    def unlinked(self) -> Ints:
        return self.tokens * (1.0 - self.link_share)

    @cached_property
    def stops(self) -> Ints:
        return stop_share(self.page)

    @cached_property
    def depth(self) -> Ints:
        """Nesting depth of each container, shape (m,)."""
        found: list[int] = []
        for above in self.page.parent.tolist():
            found.append(0 if above < 0 else found[above] + 1)
        return np.array(found, np.int64)

    @cached_property
    def ancestors(self) -> Ints:
        """Row of the container and of those around it, shape (LEVELS, n); the body stands in where there are no more."""
        rows = [self.page.row]
        for _ in range(LEVELS - 1):
            rows.append(np.maximum(self.page.parent[rows[-1]], 0))
        return np.array(rows)

    @cached_property
    def subtree_tokens(self) -> Ints:
        return subtree_sums(self.page, self.tokens)

    @cached_property
    def subtree_linked(self) -> Ints:
        return subtree_sums(self.page, np.rint(self.tokens * self.link_share))

    @cached_property
    def subtree_leaves(self) -> Ints:
        return subtree_sums(self.page, np.ones(self.n, np.int64))

    @cached_property
    def fresh(self) -> Ints:
        """New unlinked tokens of each leaf: all unlinked ones where there are no siblings."""
        if self.site is None:
            return np.rint(self.unlinked).astype(np.int64)
        return new_tokens(self.page, self.site)

    @cached_property
    def prose(self) -> Ints:
        """New unlinked tokens of leaves that read like sentences."""
        like = (self.page.sentence_ends + self.page.commas > 0) & (self.tokens >= 8)
        return self.fresh * like

    @cached_property
    def fresh_under(self) -> Ints:
        """Share of the page's new unlinked tokens under each container, 0..1."""
        return subtree_sums(self.page, self.fresh) / max(int(self.fresh.sum()), 1)

    @cached_property
    def prose_under(self) -> Ints:
        return subtree_sums(self.page, self.prose) / max(int(self.prose.sum()), 1)

    def region_mean(self, view: View | None, name: str) -> Ints:
        """Mean share over the siblings of each container's path, shape (m,); NaN without siblings."""
        paths = self.page.paths if name == "region" else self.page.tag_paths
        if view is None:
            return np.full(len(paths), np.nan)
        return view.total(name, paths)[:, 1] / SCALE / view.n

    @cached_property
    def site_region(self) -> Ints:
        return self.region_mean(self.site, "region")

    @cached_property
    def site_tag_region(self) -> Ints:
        return self.region_mean(self.site, "tag_region")

    @cached_property
    def layout_region(self) -> Ints:
        return self.region_mean(self.layout, "region")

    @cached_property
    def local_keys(self) -> Ints:
        return self.page.local_keys[self.page.row]

    @cached_property
    def same_key(self) -> tuple[Ints, Ints]:
        """(place of each leaf's local key among the distinct ones, leaves of each distinct key)."""
        _, place, counts = np.unique(self.local_keys, return_inverse=True, return_counts=True)
        return place, counts

    def slot(self, view: View | None) -> Ints:
        """Row of the slot table for each leaf's local key, shape (n, 8)."""
        return view.total("slot", self.local_keys) if view is not None else np.full((self.n, 8), np.nan)

    @cached_property
    def site_slot(self) -> Ints:
        return self.slot(self.site)

    @cached_property
    def layout_slot(self) -> Ints:
        return self.slot(self.layout)

    @cached_property
    def ngrams(self) -> tuple[Ints, Ints]:
        return self.page.ngram_hashes(self.order)

    def ngram_shares(self, view: View) -> tuple[Ints, Ints]:
        """(mean share of siblings that have each of a leaf's n-grams, share of siblings that have four in five of them)."""
        leaf, hashes = self.ngrams
        shares = view.k("ngram", hashes) / view.n
        counts = np.bincount(leaf, minlength=self.n)
        mean = np.bincount(leaf, weights=shares, minlength=self.n) / np.maximum(counts, 1)
        low = np.zeros(self.n)
        if len(leaf):
            ordered = np.lexsort((shares, leaf))
            starts = np.concatenate([[0], np.cumsum(counts)])[:-1]
            chosen = np.minimum(starts + counts // 5, len(leaf) - 1)
            low = np.where(counts > 0, shares[ordered][chosen], 0.0)
        return np.where(counts > 0, mean, np.nan), low

    @cached_property
    def site_ngrams(self) -> tuple[Ints, Ints]:
        if self.site is None:
            return np.full(self.n, np.nan), np.full(self.n, np.nan)
        return self.ngram_shares(self.site)

    @cached_property
    def known(self) -> Ints:
        """Best estimate of the share of siblings that have each leaf, by text or, for long leaves, by n-grams."""
        if self.site is None:
            return np.full(self.n, np.nan)
        exact = self.site.k("text", self.page.text_hash) / self.site.n
        return np.where(self.tokens >= LONG, np.maximum(exact, self.site_ngrams[1]), exact)

    def per_leaf(self, values: Ints, how: str = "mean") -> Ints:
        """A link column gathered by leaf; NaN for leaves without links."""
        leaf = self.page.link_leaf
        counts = np.bincount(leaf, minlength=self.n)
        sums = np.bincount(leaf, weights=values, minlength=self.n)
        if how == "sum":
            return sums
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)

    def neighbour(self, values: Ints, step: int) -> Ints:
        """The value of the leaf `step` places further on (backwards if negative); NaN past the ends."""
        moved = np.full(self.n, np.nan)
        if step > 0:
            moved[:-step] = values[step:]
        elif self.n > -step:
            moved[-step:] = values[:step]
        return moved

    def window(self, values: Ints, reach: int) -> Ints:
        """Sum of a column over the leaves at most `reach` places away."""
        running = np.concatenate([[0.0], np.cumsum(values)])
        places = np.arange(self.n)
        return running[np.minimum(places + reach + 1, self.n)] - running[np.maximum(places - reach, 0)]

    @cached_property
    def main_heading(self) -> int:
        """The leaf that is likeliest the page's headline: the highest heading that shares most with the title; -1 if none."""
        heading = self.page.heading
        if not (heading > 0).any():
            return -1
        score = np.where(heading > 0, self.title_share + 0.3 * (heading == 1) - 0.05 * heading, -9.0)
        if self.site is not None:
            score = score - 1.0 * (self.known > 0.5)
        return int(np.argmax(score))

    @cached_property
    def title_share(self) -> Ints:
        return title_share(self.page)

    @cached_property
    def page_start(self) -> Ints:
        """Tokens before each leaf."""
        return self.page.token_start[:-1]

    @cached_property
    def majority_row(self) -> int:
        """The lowest container that holds more than half of the page's new unlinked tokens."""
        return _lowest_majority(self.fresh_under, self.page.parent)

    @cached_property
    def site_majority(self) -> int:
        """The lowest container whose path held more than half of the siblings' new unlinked tokens; -1 if none."""
        best = np.fmax(self.site_region, self.site_tag_region) if self.site is not None else self.site_region
        if not len(best) or np.isnan(best).all():
            return -1
        return _lowest_majority(best, self.page.parent)

    def inside(self, row: int) -> Ints:
        """1 for leaves below this container (or in it), else 0; NaN for row -1."""
        if row < 0:
            return np.full(self.n, np.nan)
        flags: list[bool] = []
        for number, above in enumerate(self.page.parent.tolist()):
            flags.append(number == row or (above >= 0 and flags[above]))
        return np.array(flags)[self.page.row].astype(float)


def _lowest_majority(shares: Ints, parent: Ints) -> int:
    rows = np.flatnonzero(shares > 0.5)
    if not len(rows):
        return 0
    deepest = rows[-1]  # document order: among nested containers the later one lies lower
    return int(deepest)


Function = Callable[[Context], Ints]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A named column. `siblings` tells whether it needs other pages."""

    name: str
    function: Function
    siblings: bool = False


def _share(view: View | None, context: Context, name: str, values: Ints) -> Ints:
    if view is None:
        return np.full(context.n, np.nan)
    return view.k(name, values) / view.n


def _anchored(view: View | None, context: Context, name: str, values: Ints) -> Ints:
    """Any sibling at all: 1 or 0."""
    if view is None:
        return np.full(context.n, np.nan)
    return (view.k(name, values) > 0).astype(float)


def _region_at(context: Context, shares: Ints, level: int) -> Ints:
    return shares[context.ancestors[level]]


def _density(context: Context, level: int) -> Ints:
    """New unlinked tokens among all tokens under an ancestor."""
    rows = context.ancestors[level]
    total = max(int(context.fresh.sum()), 1)
    return context.fresh_under[rows] * total / np.maximum(context.subtree_tokens[rows], 1)


def _link_density(context: Context, level: int) -> Ints:
    rows = context.ancestors[level]
    return context.subtree_linked[rows] / np.maximum(context.subtree_tokens[rows], 1)


def _same(context: Context, values: Ints) -> Ints:
    place, counts = context.same_key
    return (np.bincount(place, weights=values, minlength=len(counts)) / counts)[place]


def _in_page_copies(context: Context) -> Ints:
    _, place, counts = np.unique(context.page.text_hash, return_inverse=True, return_counts=True)
    return np.log(counts[place])


def _pool(context: Context, name: str) -> Ints:
    return _anchored(context.site, context, name, context.page.text_hash)


def _link_pool(context: Context) -> Ints:
    if context.site is None:
        return np.full(context.n, np.nan)
    hits = (context.site.k("title", context.page.link_text) > 0) | (context.site.k("heading", context.page.link_text) > 0)
    return context.per_leaf(hits.astype(float))


def _link_known(context: Context, view: View | None) -> Ints:
    if view is None:
        return np.full(context.n, np.nan)
    return context.per_leaf(view.k("target", context.page.link_target) / view.n)


def _ratio(above: Ints, below: Ints) -> Ints:
    return np.where(below > 0, above / np.maximum(below, 1), np.nan)


def _marked(bit: int) -> Function:
    return lambda context: (context.page.marks[context.page.row] & bit > 0).astype(float)


_TAG_CODES = {
    "p": 1, "li": 2, "td": 3, "th": 4, "div": 5, "h1": 6, "h2": 6, "h3": 6, "h4": 6, "h5": 6, "h6": 6, "dt": 7,
    "dd": 8, "pre": 9, "blockquote": 10, "figcaption": 11, "button": 12, "section": 13, "article": 14, "body": 15,
    "label": 16, "address": 17, "header": 18, "footer": 19, "nav": 20, "aside": 21, "main": 22, "summary": 23,
    "form": 24, "center": 5, "caption": 11,
}  # fmt: skip


def _tag_code(context: Context) -> Ints:
    page = context.page
    codes = np.array([_TAG_CODES.get(tag, 0) for tag in page.tags] or [0], float)
    return codes[page.tag[page.row]]


def _log(values: Ints) -> Ints:
    return np.log1p(np.maximum(values, 0))


def _constant(value: float) -> Function:
    return lambda context: np.full(context.n, value)


def _after_heading(context: Context) -> Ints:
    """Tokens since the headline, signed and logarithmic; NaN without one."""
    if context.main_heading < 0:
        return np.full(context.n, np.nan)
    distance = context.page_start - context.page_start[context.main_heading]
    return np.sign(distance) * np.log1p(np.abs(distance))


def _common_depth(context: Context) -> Ints:
    """How many steps above a leaf the container stands that it shares with the headline; NaN without one."""
    if context.main_heading < 0:
        return np.full(context.n, np.nan)
    chain = set()
    row = int(context.page.row[context.main_heading])
    while row >= 0:
        chain.add(row)
        row = int(context.page.parent[row])
    shared = np.array([number in chain for number in range(len(context.page.parent))])
    steps = np.zeros(len(shared), np.int64)
    for number, above in enumerate(context.page.parent.tolist()):
        steps[number] = 0 if shared[number] else steps[above] + 1
    return steps[context.page.row].astype(float)


def _since_last_prose(context: Context, backwards: bool) -> Ints:
    """Tokens to the nearest leaf of new prose before (or after) the leaf, logarithmic; 12 where there is none."""
    middle = context.page_start + context.tokens / 2
    at = np.flatnonzero(context.prose >= 12)
    if not len(at):
        return np.full(context.n, 12.0)
    place = np.searchsorted(at, np.arange(context.n), side="left" if backwards else "right")
    chosen = place - 1 if backwards else place
    valid = (chosen >= 0) & (chosen < len(at))
    other = at[np.clip(chosen, 0, len(at) - 1)]
    return np.where(valid, np.log1p(np.abs(middle - middle[other])), 12.0)


def _table() -> tuple[Evidence, ...]:
    rows: list[Evidence] = []

    def put(name: str, function: Function, siblings: bool = False) -> None:
        rows.append(Evidence(name, function, siblings))

    # the leaf's own text
    put("tokens", lambda c: _log(c.tokens))
    put("token_length", lambda c: c.page.characters / np.maximum(c.tokens, 1))
    put("digit_share", lambda c: c.page.digits / np.maximum(c.page.characters, 1))
    put("sentence_rate", lambda c: c.page.sentence_ends / np.maximum(c.tokens, 1))
    put("comma_rate", lambda c: c.page.commas / np.maximum(c.tokens, 1))
    put("capital_rate", lambda c: c.page.capitals / np.maximum(c.tokens, 1))
    put("stop_share", lambda c: c.stops)
    put("strong_share", lambda c: c.page.strong / np.maximum(c.page.characters, 1))
    put("copies", _in_page_copies)
    # links
    put("link_share", lambda c: c.link_share)
    put("links", lambda c: _log(c.per_leaf(np.ones(len(c.page.link_leaf)), "sum")))
    put("links_outside", lambda c: c.per_leaf((c.page.link_kind == OUTSIDE).astype(float)))
    put("links_inside", lambda c: c.per_leaf((c.page.link_kind == INSIDE).astype(float)))
    put("links_fragment", lambda c: c.per_leaf((c.page.link_kind == FRAGMENT).astype(float)))
    put("links_action", lambda c: c.per_leaf((c.page.link_kind == ACTION).astype(float)))
    # markup
    put("tag", _tag_code)
    put("heading", lambda c: c.page.heading.astype(float))
    put("breaks", lambda c: np.minimum(c.page.breaks, 3).astype(float))
    put("grouped", lambda c: (c.page.group >= 0).astype(float))
    for bit, name in enumerate(segment.MARK_NAMES):
        put(f"in_{name}", _marked(1 << bit))
    put("depth", lambda c: c.depth[c.page.row].astype(float))
    put("place", lambda c: _log(c.page.place[c.page.row]))
    # position
    put("position", lambda c: c.page_start / max(int(c.page.token_start[-1]), 1))
    put("start", lambda c: _log(c.page_start))
    put("to_end", lambda c: _log(c.page.token_start[-1] - c.page.token_start[1:]))
    put("page_tokens", lambda c: np.full(c.n, np.log1p(float(c.page.token_start[-1]))))
    put("page_link_share", lambda c: np.full(c.n, float((c.tokens * c.link_share).sum()) / max(int(c.tokens.sum()), 1)))
    put("page_prose_share", lambda c: np.full(c.n, float(c.prose.sum()) / max(int(c.tokens.sum()), 1)))
    put("page_fresh_share", lambda c: np.full(c.n, float(c.fresh.sum()) / max(int(c.tokens.sum()), 1)))
    put("page_prose", lambda c: np.full(c.n, np.log1p(float(c.prose.sum()))))
    put("after_heading", _after_heading)
    put("heading_steps", _common_depth)
    put("prose_before", lambda c: _since_last_prose(c, True))
    put("prose_after", lambda c: _since_last_prose(c, False))
    # gist
    put("gist", lambda c: gist_scores(c.page, c.site))
    put("title_share", lambda c: c.title_share)
    put("is_title", lambda c: np.isin(c.page.text_hash, c.page.title_hashes).astype(float))
    # neighbours
    for step in (-2, -1, 1, 2):
        put(f"tokens_{step:+d}", lambda c, step=step: c.neighbour(_log(c.tokens), step))  # type: ignore[misc]
        put(f"link_share_{step:+d}", lambda c, step=step: c.neighbour(c.link_share, step))  # type: ignore[misc]
    for step in (-1, 1):
        put(f"stop_share_{step:+d}", lambda c, step=step: c.neighbour(c.stops, step))  # type: ignore[misc]
        put(f"same_key_{step:+d}", lambda c, step=step: (c.neighbour(c.page.row, step) == c.page.row).astype(float))  # type: ignore[misc]
        put(f"heading_{step:+d}", lambda c, step=step: c.neighbour(c.page.heading.astype(float), step))  # type: ignore[misc]
        put(f"known_{step:+d}", lambda c, step=step: c.neighbour(c.known, step), True)  # type: ignore[misc]
    for reach in (3, 8):
        put(f"prose_within_{reach}", lambda c, r=reach: _log(c.window(c.prose, r)))  # type: ignore[misc]
        put(f"link_share_within_{reach}", lambda c, r=reach: c.window(c.tokens * c.link_share, r) / np.maximum(c.window(c.tokens, r), 1))  # type: ignore[misc]
        put(f"fresh_within_{reach}", lambda c, r=reach: c.window(c.fresh, r) / np.maximum(c.window(c.tokens, r), 1))  # type: ignore[misc]
        put(f"tokens_within_{reach}", lambda c, r=reach: _log(c.window(c.tokens, r) / (2 * r + 1)))  # type: ignore[misc]
    # records of equal structure on the page
    put("same_leaves", lambda c: _log(c.same_key[1][c.same_key[0]]))
    put("same_tokens", lambda c: _log(_same(c, c.tokens)))
    put("same_link_share", lambda c: _same(c, c.link_share))
    put("same_stop_share", lambda c: _same(c, c.stops))
    put("same_fresh", lambda c: _same(c, (c.fresh > 0).astype(float)))
    # containers around the leaf
    for height in range(1, LEVELS):
        put(f"under_tokens_{height}", lambda c, h=height: _log(c.subtree_tokens[c.ancestors[h]]))  # type: ignore[misc]
        put(f"under_links_{height}", lambda c, h=height: _link_density(c, h))  # type: ignore[misc]
        put(f"under_leaf_tokens_{height}", lambda c, h=height: _log(c.subtree_tokens[c.ancestors[h]] / np.maximum(c.subtree_leaves[c.ancestors[h]], 1)))  # type: ignore[misc]
    for height in range(LEVELS):
        put(f"under_fresh_{height}", lambda c, h=height: _region_at(c, c.fresh_under, h))  # type: ignore[misc]
        put(f"under_prose_{height}", lambda c, h=height: _region_at(c, c.prose_under, h))  # type: ignore[misc]
    for height in (1, 2, 3):
        put(f"fresh_density_{height}", lambda c, h=height: _density(c, h))  # type: ignore[misc]
    put("in_majority", lambda c: c.inside(c.majority_row))
    put("majority_steps", lambda c: (c.depth[c.page.row] - c.depth[c.majority_row]).astype(float))
    # the same containers on the siblings
    for height in range(LEVELS):
        put(f"site_region_{height}", lambda c, h=height: _region_at(c, c.site_region, h), True)  # type: ignore[misc]
        put(f"site_tag_region_{height}", lambda c, h=height: _region_at(c, c.site_tag_region, h), True)  # type: ignore[misc]
        put(f"layout_region_{height}", lambda c, h=height: _region_at(c, c.layout_region, h), True)  # type: ignore[misc]
    put("in_site_majority", lambda c: c.inside(c.site_majority), True)
    # repetition
    for name, pick in (("site", lambda c: c.site), ("layout", lambda c: c.layout)):
        put(f"{name}_n", lambda c, pick=pick: np.full(c.n, np.log1p(float(pick(c).n)) if pick(c) else 0.0))  # type: ignore[misc]
        put(f"{name}_text", lambda c, pick=pick: _share(pick(c), c, "text", c.page.text_hash), True)  # type: ignore[misc]
        put(f"{name}_text_any", lambda c, pick=pick: _anchored(pick(c), c, "text", c.page.text_hash), True)  # type: ignore[misc]
        put(f"{name}_folded", lambda c, pick=pick: _share(pick(c), c, "folded", c.page.folded_hash), True)  # type: ignore[misc]
        put(f"{name}_pair", lambda c, pick=pick: _share(pick(c), c, "pair", pair_hash(c.page.text_hash, c.local_keys)), True)  # type: ignore[misc]
        put(f"{name}_targets", lambda c, pick=pick: _link_known(c, pick(c)), True)  # type: ignore[misc]
    put("site_ngrams", lambda c: c.site_ngrams[0], True)
    put("site_ngrams_low", lambda c: c.site_ngrams[1], True)
    put("site_known", lambda c: c.known, True)
    put("known_within_3", lambda c: c.window(c.tokens * np.nan_to_num(c.known), 3) / np.maximum(c.window(c.tokens, 3), 1), True)
    # slots
    for name, pick_slot, pick in (
        ("site", lambda c: c.site_slot, lambda c: c.site),
        ("layout", lambda c: c.layout_slot, lambda c: c.layout),
    ):
        put(f"{name}_slot_present", lambda c, s=pick_slot, pick=pick: s(c)[:, 0] / pick(c).n if pick(c) else np.full(c.n, np.nan), True)  # type: ignore[misc]
        put(f"{name}_slot_tokens", lambda c, s=pick_slot: _log(_ratio(s(c)[:, 2], s(c)[:, 1])), True)  # type: ignore[misc]
        put(f"{name}_slot_leaves", lambda c, s=pick_slot: _log(_ratio(s(c)[:, 1], s(c)[:, 0])), True)  # type: ignore[misc]
        put(f"{name}_slot_links", lambda c, s=pick_slot: _ratio(s(c)[:, 3], s(c)[:, 4]), True)  # type: ignore[misc]
        put(f"{name}_slot_new", lambda c, s=pick_slot: _ratio(s(c)[:, 5], s(c)[:, 1]), True)  # type: ignore[misc]
        put(f"{name}_slot_distinct", lambda c, s=pick_slot: _ratio(s(c)[:, 7], s(c)[:, 1]), True)  # type: ignore[misc]
    # what other pages call themselves and each other
    put("is_other_title", lambda c: _pool(c, "title"), True)
    put("is_other_heading", lambda c: _pool(c, "heading"), True)
    put("is_other_link", lambda c: _pool(c, "link_text"), True)
    put("links_to_titles", _link_pool, True)
    return tuple(rows)


EVIDENCE: tuple[Evidence, ...] = _table()
NAMES: tuple[str, ...] = tuple(evidence.name for evidence in EVIDENCE)


def rows(context: Context, evidence: tuple[Evidence, ...] = EVIDENCE) -> Ints:
    """The evidence matrix of a page, shape (leaves, columns), float32, NaN where unknown, 4 decimals."""
    if not context.n:
        return np.zeros((0, len(evidence)), np.float32)
    matrix = np.empty((context.n, len(evidence)), np.float32)
    for column, one in enumerate(evidence):
        matrix[:, column] = one.function(context)
    return np.round(matrix, 4)


