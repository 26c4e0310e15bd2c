"""Leaf + page + template -> one row of numbers, by named columns.

Every evidence is a small function of a `Context` that gives one number a leaf; `EVIDENCE` lists them. Adding one is
adding a function there (the shipped weights name the columns they were fitted on, so others may stand beside them).
Unknown is NaN, never a guess: without siblings all that siblings could say is NaN.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from templatediff import segment
from templatediff.fingerprint import ACTION, FRAGMENT, INSIDE, OUTSIDE, Fingerprint, Ints
from templatediff.gist import gist_scores, stop_share, title_share
from templatediff.repetition import SCALE, SLOT_COLUMNS, View, new_tokens, pair_hash, subtree_sums

LONG = 30  #: tokens from which on a leaf is matched by its n-grams as well
LEVELS = 6  #: containers above a leaf that evidence looks at
RECORDS = 3  #: containers of one path that make records (posts, comments, entries, teasers)


class Context:
    """One page beside its siblings; what several evidences need is worked out once."""

    def __init__(self, page: Fingerprint, site: View | None, layout: View | None, order: int = 3) -> None:
        self.page = page
        self.site = site if site is not None and site.n else None
        self.layout = layout if layout is not None and layout.n else None
        self.order = order
        self.n = len(page)
        self._slot_rows: dict[str, Ints] = {}

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

    def slot_rows(self, view: View) -> Ints:
        """Row of the level's slot table for each leaf's local key, shape (n, len(SLOT_COLUMNS))."""
        name = "layout" if view is self.layout else "site"
        if name not in self._slot_rows:
            self._slot_rows[name] = view.total("slot", self.local_keys)
        return self._slot_rows[name]

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
        return np.asarray(running[np.minimum(places + reach + 1, self.n)] - running[np.maximum(places - reach, 0)])

    @cached_property
    def repeats(self) -> tuple[Ints, Ints]:
        """(how often each container's path stands on the page, how many of these came before it), shape (m,) each."""
        _, place, counts = np.unique(self.page.paths, return_inverse=True, return_counts=True)
        order = np.argsort(place, kind="stable")
        starts = np.concatenate([[0], np.cumsum(counts)])[:-1]
        before = np.empty(len(place), np.int64)
        before[order] = np.arange(len(place)) - starts[place[order]]
        return counts[place], before

    @cached_property
    def record(self) -> Ints:
        """Row of the container that makes each leaf part of a record: the lowest above its own whose path stands three
        times or more on the page; -1 for leaves that are in none."""
        counts, _ = self.repeats
        found = np.full(self.n, -1, np.int64)
        for height in range(LEVELS - 1, 0, -1):
            rows = self.ancestors[height]
            found = np.where((counts[rows] >= RECORDS) & (rows > 0), rows, found)
        return found

    @cached_property
    def single(self) -> Ints:
        """New unlinked tokens of leaves outside records."""
        return self.fresh * (self.record < 0)

    @cached_property
    def single_under(self) -> Ints:
        """Share of the page's new unlinked tokens outside records under each container, 0..1."""
        return subtree_sums(self.page, self.single) / max(int(self.single.sum()), 1)

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
Pick = Callable[[Context], View | None]


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


def _any(view: View | None, context: Context, name: str, values: Ints) -> Ints:
    """Any sibling at all: 1 or 0."""
    if view is None:
        return np.full(context.n, np.nan)
    return (view.k(name, values) > 0).astype(float)


def _same(context: Context, values: Ints) -> Ints:
    place, counts = context.same_key
    return (np.bincount(place, weights=values, minlength=len(counts)) / counts)[place]


def _in_page_copies(context: Context) -> Ints:
    _, place, counts = np.unique(context.page.text_hash, return_inverse=True, return_counts=True)
    return np.log(counts[place])


def _link_pool(context: Context) -> Ints:
    if context.site is None:
        return np.full(context.n, np.nan)
    hits = (context.site.k("title", context.page.link_text) > 0) | (
        context.site.k("heading", context.page.link_text) > 0
    )
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


def _after_heading(context: Context) -> Ints:
    """Tokens since the headline, signed and logarithmic; NaN without one."""
    if context.main_heading < 0:
        return np.full(context.n, np.nan)
    distance = context.page_start - context.page_start[context.main_heading]
    return np.asarray(np.sign(distance) * np.log1p(np.abs(distance)))


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


def _moved(values: Function, step: int) -> Function:
    return lambda c: c.neighbour(values(c), step)


def _within(values: Function, among: Function, reach: int) -> Function:
    """Sum of one column among the sum of another over the leaves near by."""
    return lambda c: c.window(values(c), reach) / np.maximum(c.window(among(c), reach), 1)


def _at(values: Function, height: int) -> Function:
    """A column over containers, read at the container `height` steps above each leaf's own."""
    return lambda c: np.asarray(values(c)[c.ancestors[height]])


def _siblings_of(pick: Pick) -> Function:
    return lambda c: np.full(c.n, np.log1p(float(view.n)) if (view := pick(c)) else 0.0)


def _shared(pick: Pick, name: str, values: Function) -> Function:
    return lambda c: _share(pick(c), c, name, values(c))


def _slot_ratio(pick: Pick, above: str, below: str | None, *, log: bool = False) -> Function:
    """One column of the slot table by another (by the number of siblings where `below` is None)."""
    over = SLOT_COLUMNS.index(above)

    def ratio(c: Context) -> Ints:
        view = pick(c)
        if view is None:
            return np.full(c.n, np.nan)
        table = c.slot_rows(view)
        if below is None:
            return np.asarray(table[:, over] / view.n)
        found = _ratio(table[:, over], table[:, SLOT_COLUMNS.index(below)])
        return _log(found) if log else found

    return ratio


def _site(c: Context) -> View | None:
    return c.site


def _layout(c: Context) -> View | None:
    return c.layout


def _tokens(c: Context) -> Ints:
    return c.tokens


def _linked_tokens(c: Context) -> Ints:
    return np.asarray(c.tokens * c.link_share)


def _known_tokens(c: Context) -> Ints:
    return np.asarray(c.tokens * np.nan_to_num(c.known))


def _link_kind(kind: int) -> Function:
    return lambda c: c.per_leaf((c.page.link_kind == kind).astype(float))


def _whole(value: Callable[[Context], float]) -> Function:
    """A number of the page, the same for every leaf."""
    return lambda c: np.full(c.n, value(c))


def _page_share(values: Function) -> Function:
    return _whole(lambda c: float(values(c).sum()) / max(int(c.tokens.sum()), 1))


def _under_tokens(c: Context) -> Ints:
    return _log(c.subtree_tokens)


def _under_links(c: Context) -> Ints:
    return np.asarray(c.subtree_linked / np.maximum(c.subtree_tokens, 1))


def _under_leaf_tokens(c: Context) -> Ints:
    return _log(c.subtree_tokens / np.maximum(c.subtree_leaves, 1))


def _of_record(values: Callable[[Context], Ints], unknown: float) -> Function:
    """A column over containers, read at each leaf's record; `unknown` for leaves in none."""
    return lambda c: np.where(c.record >= 0, values(c)[c.record], unknown)


def _before_records(c: Context) -> Ints:
    """New tokens outside records that stand before each leaf, logarithmic."""
    return _log(np.cumsum(c.single) - c.single)


def _fresh_density(c: Context) -> Ints:
    """New unlinked tokens among all tokens under each container."""
    return np.asarray(c.fresh_under * max(int(c.fresh.sum()), 1) / np.maximum(c.subtree_tokens, 1))


# The leaf's own text, links and markup.
_OF_THE_LEAF: tuple[tuple[str, Function], ...] = (
    ("tokens", lambda c: _log(c.tokens)),
    ("token_length", lambda c: c.page.characters / np.maximum(c.tokens, 1)),
    ("digit_share", lambda c: c.page.digits / np.maximum(c.page.characters, 1)),
    ("sentence_rate", lambda c: c.page.sentence_ends / np.maximum(c.tokens, 1)),
    ("comma_rate", lambda c: c.page.commas / np.maximum(c.tokens, 1)),
    ("capital_rate", lambda c: c.page.capitals / np.maximum(c.tokens, 1)),
    ("stop_share", lambda c: c.stops),
    ("strong_share", lambda c: c.page.strong / np.maximum(c.page.characters, 1)),
    ("copies", _in_page_copies),
    ("link_share", lambda c: c.link_share),
    ("links", lambda c: _log(c.per_leaf(np.ones(len(c.page.link_leaf)), "sum"))),
    ("links_outside", _link_kind(OUTSIDE)),
    ("links_inside", _link_kind(INSIDE)),
    ("links_fragment", _link_kind(FRAGMENT)),
    ("links_action", _link_kind(ACTION)),
    ("tag", _tag_code),
    ("heading", lambda c: c.page.heading.astype(float)),
    ("breaks", lambda c: np.minimum(c.page.breaks, 3).astype(float)),
    ("grouped", lambda c: (c.page.group >= 0).astype(float)),
    *((f"in_{name}", _marked(1 << bit)) for bit, name in enumerate(segment.MARK_NAMES)),
    ("depth", lambda c: c.depth[c.page.row].astype(float)),
    ("place", lambda c: _log(c.page.place[c.page.row])),
)

# Where the leaf stands in its page, what the page is about, and what stands near.
_OF_THE_PAGE: tuple[tuple[str, Function], ...] = (
    ("position", lambda c: c.page_start / max(int(c.page.token_start[-1]), 1)),
    ("start", lambda c: _log(c.page_start)),
    ("to_end", lambda c: _log(c.page.token_start[-1] - c.page.token_start[1:])),
    ("page_tokens", _whole(lambda c: np.log1p(float(c.page.token_start[-1])))),
    ("page_link_share", _page_share(_linked_tokens)),
    ("page_prose_share", _page_share(lambda c: c.prose)),
    ("page_fresh_share", _page_share(lambda c: c.fresh)),
    ("page_prose", _whole(lambda c: np.log1p(float(c.prose.sum())))),
    ("after_heading", _after_heading),
    ("heading_steps", _common_depth),
    ("prose_before", lambda c: _since_last_prose(c, True)),
    ("prose_after", lambda c: _since_last_prose(c, False)),
    ("gist", lambda c: gist_scores(c.page, c.site)),
    ("title_share", lambda c: c.title_share),
    ("is_title", lambda c: np.isin(c.page.text_hash, c.page.title_hashes).astype(float)),
    *((f"tokens_{step:+d}", _moved(lambda c: _log(c.tokens), step)) for step in (-2, -1, 1, 2)),
    *((f"link_share_{step:+d}", _moved(lambda c: c.link_share, step)) for step in (-2, -1, 1, 2)),
    *((f"stop_share_{step:+d}", _moved(lambda c: c.stops, step)) for step in (-1, 1)),
    *((f"heading_{step:+d}", _moved(lambda c: c.page.heading.astype(float), step)) for step in (-1, 1)),
    ("same_key_-1", lambda c: (c.neighbour(c.page.row, -1) == c.page.row).astype(float)),
    ("same_key_+1", lambda c: (c.neighbour(c.page.row, 1) == c.page.row).astype(float)),
    ("prose_within_3", lambda c: _log(c.window(c.prose, 3))),
    ("prose_within_8", lambda c: _log(c.window(c.prose, 8))),
    ("tokens_within_3", lambda c: _log(c.window(c.tokens, 3) / 7)),
    ("tokens_within_8", lambda c: _log(c.window(c.tokens, 8) / 17)),
    ("link_share_within_3", _within(_linked_tokens, _tokens, 3)),
    ("link_share_within_8", _within(_linked_tokens, _tokens, 8)),
    ("fresh_within_3", _within(lambda c: c.fresh, _tokens, 3)),
    ("fresh_within_8", _within(lambda c: c.fresh, _tokens, 8)),
)

# Records of equal structure on the page, and the containers around the leaf.
_OF_THE_TREE: tuple[tuple[str, Function], ...] = (
    ("same_leaves", lambda c: _log(c.same_key[1][c.same_key[0]])),
    ("same_tokens", lambda c: _log(_same(c, c.tokens))),
    ("same_link_share", lambda c: _same(c, c.link_share)),
    ("same_stop_share", lambda c: _same(c, c.stops)),
    ("same_fresh", lambda c: _same(c, (c.fresh > 0).astype(float))),
    *((f"under_tokens_{height}", _at(_under_tokens, height)) for height in range(1, LEVELS)),
    *((f"under_links_{height}", _at(_under_links, height)) for height in range(1, LEVELS)),
    *((f"under_leaf_tokens_{height}", _at(_under_leaf_tokens, height)) for height in range(1, LEVELS)),
    *((f"under_fresh_{height}", _at(lambda c: c.fresh_under, height)) for height in range(LEVELS)),
    *((f"under_prose_{height}", _at(lambda c: c.prose_under, height)) for height in range(LEVELS)),
    *((f"fresh_density_{height}", _at(_fresh_density, height)) for height in (1, 2, 3)),
    *((f"repeats_{height}", _at(lambda c: _log(c.repeats[0]), height)) for height in range(1, LEVELS)),
    *((f"single_{height}", _at(lambda c: c.single_under, height)) for height in range(1, LEVELS)),
    ("record_count", _of_record(lambda c: _log(c.repeats[0]), 0.0)),
    ("record_place", _of_record(lambda c: _log(c.repeats[1]), -1.0)),
    ("record_tokens", _of_record(lambda c: _log(c.subtree_tokens), -1.0)),
    ("record_links", _of_record(_under_links, -1.0)),
    ("single_before", _before_records),
    ("page_single", _whole(lambda c: np.log1p(float(c.single.sum())))),
    ("page_single_share", _page_share(lambda c: c.single)),
    ("in_majority", lambda c: c.inside(c.majority_row)),
    ("majority_steps", lambda c: (c.depth[c.page.row] - c.depth[c.majority_row]).astype(float)),
)


def _of_a_level(name: str, pick: Pick) -> tuple[tuple[str, Function], ...]:
    """What stands on how many siblings of a level, and what its slots hold there."""
    return (
        (f"{name}_text", _shared(pick, "text", lambda c: c.page.text_hash)),
        (f"{name}_text_any", lambda c: _any(pick(c), c, "text", c.page.text_hash)),
        (f"{name}_folded", _shared(pick, "folded", lambda c: c.page.folded_hash)),
        (f"{name}_pair", _shared(pick, "pair", lambda c: pair_hash(c.page.text_hash, c.local_keys))),
        (f"{name}_targets", lambda c: _link_known(c, pick(c))),
        (f"{name}_slot_present", _slot_ratio(pick, "present", None)),
        (f"{name}_slot_tokens", _slot_ratio(pick, "tokens", "leaves", log=True)),
        (f"{name}_slot_leaves", _slot_ratio(pick, "leaves", "present", log=True)),
        (f"{name}_slot_links", _slot_ratio(pick, "linked", "characters")),
        (f"{name}_slot_new", _slot_ratio(pick, "new_leaves", "leaves")),
        (f"{name}_slot_distinct", _slot_ratio(pick, "distinct", "leaves")),
    )


# What the siblings say.
_OF_THE_SITE: tuple[tuple[str, Function], ...] = (
    *_of_a_level("site", _site),
    *_of_a_level("layout", _layout),
    *((f"site_region_{height}", _at(lambda c: c.site_region, height)) for height in range(LEVELS)),
    *((f"site_tag_region_{height}", _at(lambda c: c.site_tag_region, height)) for height in range(LEVELS)),
    *((f"layout_region_{height}", _at(lambda c: c.layout_region, height)) for height in range(LEVELS)),
    ("in_site_majority", lambda c: c.inside(c.site_majority)),
    ("site_ngrams", lambda c: c.site_ngrams[0]),
    ("site_ngrams_low", lambda c: c.site_ngrams[1]),
    ("site_known", lambda c: c.known),
    ("known_-1", _moved(lambda c: c.known, -1)),
    ("known_+1", _moved(lambda c: c.known, 1)),
    ("known_within_3", _within(_known_tokens, _tokens, 3)),
    ("is_other_title", lambda c: _any(c.site, c, "title", c.page.text_hash)),
    ("is_other_heading", lambda c: _any(c.site, c, "heading", c.page.text_hash)),
    ("is_other_link", lambda c: _any(c.site, c, "link_text", c.page.text_hash)),
    ("links_to_titles", _link_pool),
)

EVIDENCE: tuple[Evidence, ...] = (
    *(Evidence(name, function) for name, function in _OF_THE_LEAF + _OF_THE_PAGE + _OF_THE_TREE),
    Evidence("site_n", _siblings_of(_site)),
    Evidence("layout_n", _siblings_of(_layout)),
    *(Evidence(name, function, siblings=True) for name, function in _OF_THE_SITE),
)
# What ids and classes say, by a table of name parts that the weights bring: at the leaf's container and above it.
NAME_COLUMNS = (*(f"name_{height}" for height in range(LEVELS)), "name_least", "name_most", "name_sum")

_NAME_PARTS = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{3,}")


def name_parts(step: str) -> frozenset[str]:
    """The words in the id and classes of a folded step, in lower case.

    >>> sorted(name_parts("div#mainContent.post-body")), name_parts("p")
    (['body', 'content', 'main', 'post'], frozenset())
    """
    names = step[len(step.partition(".")[0].partition("#")[0]) :]
    return frozenset(part.lower() for part in _NAME_PARTS.findall(names))


def name_rows(context: Context, table: Mapping[str, float]) -> Ints:
    """Log odds of content that the table gives the names around each leaf, shape (leaves, NAME_COLUMNS), NaN for no name.

    A container's figure is the mean over the parts of its names that the table knows.
    """
    page = context.page.origin or context.page
    figures = np.array([_name_figure(step, table) for step in page.steps] or [np.nan])
    of_rows = figures[page.step]
    chain = of_rows[context.ancestors]
    known = ~np.isnan(chain)
    none = ~known.any(axis=0)
    least = np.where(none, np.nan, np.where(known, chain, np.inf).min(axis=0))
    most = np.where(none, np.nan, np.where(known, chain, -np.inf).max(axis=0))
    total = np.where(none, np.nan, np.nansum(chain, axis=0))
    return np.round(np.column_stack([*chain, least, most, total]), 4).astype(np.float32)


def _name_figure(step: str, table: Mapping[str, float]) -> float:
    found = [table[part] for part in sorted(name_parts(step)) if part in table]
    return sum(found) / len(found) if found else float("nan")


NAMES: tuple[str, ...] = (*(evidence.name for evidence in EVIDENCE), *NAME_COLUMNS)


def rows(context: Context, names: Mapping[str, float], evidence: tuple[Evidence, ...] = EVIDENCE) -> Ints:
    """The evidence matrix of a page, shape (leaves, columns), float32, NaN where unknown, 4 decimals.

    Its columns are those of `evidence`, then NAME_COLUMNS by the table `names`.
    """
    return np.hstack([plain_rows(context, evidence), name_rows(context, names)])


def plain_rows(context: Context, evidence: tuple[Evidence, ...] = EVIDENCE) -> Ints:
    """The part of the evidence matrix that needs no table of names."""
    matrix = np.empty((context.n, len(evidence)), np.float32)
    if context.n:
        for column, one in enumerate(evidence):
            matrix[:, column] = one.function(context)
    return np.round(matrix, 4)
