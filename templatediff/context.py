"""One page beside its siblings: what several evidences need, each worked out once.

Columns over leaves have shape (n,), over containers (m,). What siblings know is looked up once for each distinct value of
the page, in order, which the sorted tables answer fastest, and then given to all leaves that have it.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from templatediff.fingerprint import Fingerprint, Ints
from templatediff.gist import stop_counts, title_share
from templatediff.repetition import SCALE, View, numbered, pair_hash, subtree_sums

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
        self._counts: dict[tuple[str, str], Ints] = {}

    # -- the page's own leaves

    @cached_property
    def tokens(self) -> Ints:
        return self.page.token_count

    @cached_property
    def some_tokens(self) -> Ints:
        """Tokens, at least one: to divide by."""
        return np.maximum(self.tokens, 1)

    @cached_property
    def some_characters(self) -> Ints:
        return np.maximum(self.page.characters, 1)

    @cached_property
    def link_share(self) -> Ints:
        return self.page.linked / self.some_characters

    @cached_property
    def linked_tokens(self) -> Ints:
        return np.asarray(self.tokens * self.link_share)

    @cached_property
    def unlinked(self) -> Ints:
        return self.tokens * (1.0 - self.link_share)

    @cached_property
    def log_tokens(self) -> Ints:
        return np.log1p(self.tokens)

    @cached_property
    def stops(self) -> Ints:
        """Share of stopwords among each leaf's tokens, 0..1."""
        return np.asarray(stop_counts(self.page) / self.some_tokens)

    @cached_property
    def title_share(self) -> Ints:
        return title_share(self.page)

    @cached_property
    def page_start(self) -> Ints:
        """Tokens before each leaf."""
        return self.page.token_start[:-1]

    @cached_property
    def token_sum(self) -> int:
        return int(self.tokens.sum())

    @cached_property
    def marks(self) -> Ints:
        return self.page.marks.take(self.page.row)

    @cached_property
    def texts(self) -> tuple[Ints, Ints, Ints]:
        """(distinct text hashes, place of each leaf's among them, leaves of each)."""
        return numbered(self.page.text_hash)

    @cached_property
    def copies(self) -> Ints:
        """How many leaves of the page have each leaf's text, itself included."""
        _, place, counts = self.texts
        return counts.take(place)

    @cached_property
    def local_keys(self) -> Ints:
        return self.page.local_keys.take(self.page.row)

    @cached_property
    def places(self) -> tuple[Ints, Ints, Ints]:
        """(distinct local keys, place of each leaf's among them, leaves of each)."""
        return numbered(self.local_keys)

    @cached_property
    def same_key(self) -> tuple[Ints, Ints]:
        """(place of each leaf's local key among the distinct ones, leaves of each distinct key)."""
        return self.places[1:]

    def same_mean(self, values: Ints) -> Ints:
        """Mean of a column over the leaves of each leaf's local key."""
        place, counts = self.same_key
        return np.asarray((np.bincount(place, weights=values, minlength=len(counts)) / counts).take(place))

    @cached_property
    def pairs(self) -> Ints:
        """Hash of each leaf's text at its place."""
        return pair_hash(self.page.text_hash, self.local_keys)

    @cached_property
    def link_counts(self) -> Ints:
        return np.bincount(self.page.link_leaf, minlength=self.n)

    def per_leaf(self, values: Ints) -> Ints:
        """Mean of a link column by leaf; NaN for leaves without links."""
        sums = np.bincount(self.page.link_leaf, weights=values, minlength=self.n)
        return np.where(self.link_counts > 0, sums / np.maximum(self.link_counts, 1), np.nan)

    def neighbour(self, values: Ints, step: int) -> Ints:
        """The value of the leaf `step` places further on (backwards if negative); NaN past the ends."""
        moved = np.full(self.n, np.nan)
        if step > 0:
            moved[:-step] = values[step:]
        elif self.n > -step:
            moved[-step:] = values[:step]
        return moved

    def within(self, values: Ints, reach: int) -> Ints:
        """Sums of columns, shape (k, n), over the leaves at most `reach` places away."""
        running = np.zeros((len(values), self.n + 1))
        np.cumsum(values, axis=1, out=running[:, 1:])
        places = np.arange(self.n)
        after = np.minimum(places + (reach + 1), self.n)
        return np.asarray(running.take(after, axis=1) - running.take(np.maximum(places - reach, 0), axis=1))

    def window(self, values: Ints, reach: int) -> Ints:
        """Sum of a column over the leaves at most `reach` places away."""
        return np.asarray(self.within(values[None, :], reach)[0])

    # -- its containers

    @cached_property
    def depth(self) -> Ints:
        """Nesting depth of each container."""
        return self.page.depth

    @cached_property
    def ancestors(self) -> Ints:
        """Row of the container and of those around it, shape (LEVELS, n); the body stands in where there are no more."""
        rows = np.empty((LEVELS, self.n), np.intp)
        rows[0] = self.page.row
        parent = np.maximum(self.page.parent, 0)
        for height in range(1, LEVELS):
            parent.take(rows[height - 1], out=rows[height], mode="clip")
        return rows

    @cached_property
    def subtree_tokens(self) -> Ints:
        return subtree_sums(self.page, self.tokens)

    @cached_property
    def subtree_linked(self) -> Ints:
        return subtree_sums(self.page, np.rint(self.linked_tokens))

    @cached_property
    def subtree_leaves(self) -> Ints:
        return subtree_sums(self.page, None)

    @cached_property
    def paths(self) -> tuple[Ints, Ints, Ints]:
        """(distinct paths, place of each container's among them, containers of each)."""
        return numbered(self.page.paths)

    @cached_property
    def tag_paths(self) -> tuple[Ints, Ints, Ints]:
        return numbered(self.page.tag_paths)

    @cached_property
    def repeats(self) -> tuple[Ints, Ints]:
        """(how often each container's path stands on the page, how many of these came before it), shape (m,) each."""
        _, place, counts = self.paths
        order = place.argsort(kind="stable")
        starts = counts.cumsum() - counts
        before = np.empty(len(place), np.int64)
        before[order] = np.arange(len(place)) - starts.take(place.take(order))
        return counts.take(place), before

    @cached_property
    def record(self) -> Ints:
        """Row of the container that makes each leaf part of a record: the lowest above its own whose path stands three
        times or more on the page; -1 for leaves that are in none."""
        often = self.repeats[0] >= RECORDS
        if len(often):
            often[0] = False  # the body
        found = np.full(self.n, -1, np.int64)
        for height in range(LEVELS - 1, 0, -1):
            rows = self.ancestors[height]
            np.copyto(found, rows, where=often.take(rows))
        return found

    def inside(self, row: int) -> Ints:
        """1 for leaves below this container (or in it), else 0; NaN for row -1."""
        if row < 0:
            return np.full(self.n, np.nan)
        return np.asarray(((self.page.row >= row) & (self.page.row < self.page.ends[row])).astype(float))

    # -- what of it is new

    @cached_property
    def fresh(self) -> Ints:
        """New unlinked tokens of each leaf: all unlinked ones where there are no siblings."""
        if self.site is None:
            return np.rint(self.unlinked).astype(np.int64)
        new = self.k(self.site, "text") * 5 <= self.site.n * (self.site.n >= 10)
        return np.asarray(np.rint(self.unlinked * new).astype(np.int64))

    @cached_property
    def prose(self) -> Ints:
        """New unlinked tokens of leaves that read like sentences."""
        like = (self.page.sentence_ends + self.page.commas > 0) & (self.tokens >= 8)
        return self.fresh * like

    @cached_property
    def single(self) -> Ints:
        """New unlinked tokens of leaves outside records."""
        return self.fresh * (self.record < 0)

    @cached_property
    def fresh_under(self) -> Ints:
        """Share of the page's new unlinked tokens under each container, 0..1."""
        return subtree_sums(self.page, self.fresh) / max(int(self.fresh.sum()), 1)

    @cached_property
    def prose_under(self) -> Ints:
        return subtree_sums(self.page, self.prose) / max(int(self.prose.sum()), 1)

    @cached_property
    def single_under(self) -> Ints:
        """Share of the page's new unlinked tokens outside records under each container, 0..1."""
        return subtree_sums(self.page, self.single) / max(int(self.single.sum()), 1)

    @cached_property
    def majority_row(self) -> int:
        """The lowest container that holds more than half of the page's new unlinked tokens."""
        return _lowest_majority(self.fresh_under)

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

    # -- what the siblings know

    def k(self, view: View, name: str, of: str = "text") -> Ints:
        """On how many of a view's siblings each leaf's text (or `of` "folded", "pair"; each link's "target", "link_text") stands
        in the named set."""
        key = ("layout" if view is self.layout else "site", name + of)
        if key not in self._counts:
            if of == "text":
                self._counts[key] = view.k(name, self.texts[0]).take(self.texts[1])
            elif of == "pair":
                self._counts[key] = view.k(name, self.pairs)
            else:
                self._counts[key] = view.k(name, getattr(self.page, _COLUMN_OF[of]))
        return self._counts[key]

    def slot_rows(self, view: View) -> Ints:
        """Row of the level's slot table for each of the page's distinct local keys, shape (keys, len(SLOT_COLUMNS))."""
        name = "layout" if view is self.layout else "site"
        if name not in self._slot_rows:
            self._slot_rows[name] = view.total("slot", self.places[0])
        return self._slot_rows[name]

    def region_mean(self, view: View | None, name: str) -> Ints:
        """Mean share over the siblings of each container's path, shape (m,); NaN without siblings."""
        paths, place, _ = self.paths if name == "region" else self.tag_paths
        if view is None:
            return np.full(len(place), np.nan)
        return np.asarray((view.total(name, paths)[:, 1] / SCALE / view.n).take(place))

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
    def site_majority(self) -> int:
        """The lowest container whose path held more than half of the siblings' new unlinked tokens; -1 if none."""
        best = np.fmax(self.site_region, self.site_tag_region) if self.site is not None else self.site_region
        if not len(best) or np.isnan(best).all():
            return -1
        return _lowest_majority(best)

    @cached_property
    def site_ngrams(self) -> tuple[Ints, Ints]:
        """(mean share of siblings that have each of a leaf's n-grams, share of siblings that have four in five of them)."""
        if self.site is None:
            return np.full(self.n, np.nan), np.full(self.n, np.nan)
        leaf, hashes = self.page.ngram_hashes(self.order)
        n = self.site.n
        # a large table is searched three times as fast for values in order
        order = hashes.argsort()
        found = np.empty(len(hashes), np.int64)
        found[order] = self.site.k("ngram", hashes.take(order))
        counts = np.bincount(leaf, minlength=self.n)
        mean = np.bincount(leaf, weights=found / n, minlength=self.n) / np.maximum(counts, 1)
        low = np.zeros(self.n)
        if len(leaf):
            # by leaf, then by k: one sort of both in one number
            ordered = leaf * (n + 1) + found
            ordered.sort()
            starts = counts.cumsum() - counts
            chosen = np.minimum(starts + counts // 5, len(leaf) - 1)
            low = np.where(counts > 0, ordered.take(chosen) % (n + 1) / n, 0.0)
        return np.where(counts > 0, mean, np.nan), low

    @cached_property
    def known(self) -> Ints:
        """Best estimate of the share of siblings that have each leaf, by text or, for long leaves, by n-grams."""
        if self.site is None:
            return np.full(self.n, np.nan)
        exact = self.k(self.site, "text") / self.site.n
        return np.where(self.tokens >= LONG, np.maximum(exact, self.site_ngrams[1]), exact)


_COLUMN_OF = {"folded": "folded_hash", "target": "link_target", "link_text": "link_text"}


def _lowest_majority(shares: Ints) -> int:
    """Row of the lowest container with a share over a half, the body if there is none."""
    rows = np.flatnonzero(shares > 0.5)
    return int(rows[-1]) if len(rows) else 0  # document order: among nested containers the later one lies lower
