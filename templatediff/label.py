"""Probabilities -> labels: decode, verdict, guards, each with its reason.

Decoding keeps the leaves that maximise the page's expected F1, which for calibrated probabilities is a threshold on P;
cells of a data row and lines of a code block, and short lines with their neighbour, are judged as one. The verdict is of
the page as a whole (`templatediff.verdict`) and comes first; the guards apply only to pages it calls content or listing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from templatediff.context import Context
from templatediff.fingerprint import Fingerprint, Ints
from templatediff.lessons import FirstLooks, judgement
from templatediff.overall import bare, features
from templatediff.repetition import View, among, numbered
from templatediff.rules import Ruling
from templatediff.score import Weights
from templatediff.segment import CELL, HEADER_CELL, TERM
from templatediff.template import SiteTemplate
from templatediff.verdict import chance, why_empty

CONTENT, LISTING, EMPTY, ERROR = "content", "listing", "empty", "error"

LOWEST, HIGHEST = 0.35, 0.5  #: bounds of the threshold that the expected F1 may choose
NOTHING = 0.12  #: a page none of whose leaves reaches this P has nothing that reads like content
ENOUGH = 5  #: siblings from which on repetition can decide by itself
LONG_ENOUGH = 8  #: tokens of a leaf that is settled by itself
RUN = 3  #: leaves of a run that is settled as a whole
SURE, DOUBTFUL = 0.85, 0.3  #: P of leaves between which doubtful ones stay, and of those at least
PLAIN, FEW_LINES = 0.2, 2  #: link share of these, how many of them
AGAIN = 2  #: copies on the page of a line that is settled for coming again
EMPTY_FROM = 0.6  #: P(empty) from which on a page is
FOUR = 4  #: entries that make a listing
LISTED = 0.5  #: P(listing) from which on a page is
SETTLED = 0.1  #: P of what is settled, at most
KEPT_OF_NEW = 0.25  #: a content page keeps at least this share of what is new on it
COPY_LEAVES, COPY_TOKENS, COPY_SHARE = 2, 40, 0.15  #: leaves, tokens and share of the kept text that make a copied run
COPY_GAP = 3  #: kept leaves further on at most that the next leaf of a copied run may stand
CLEARER = 0.05  #: by how much higher the mean P of the second copy must be to be the one that stays
NO_LAYOUT = "fits no layout of the site: judged by the site as a whole"

__all__ = ["CONTENT", "EMPTY", "ERROR", "LISTING", "Labels", "label"]


@dataclass(frozen=True, slots=True)
class Steps:
    """How the labels came about. Columns over the leaves: P by the score alone, P after `_settled`, the unit that each
    leaf was labelled with (leaves of one unit share a number), what was kept before the guards, and what was dropped after
    them because its text stands on the page in another place, which was kept.

    `threshold` is the P from which on a leaf is kept; `guard` says in words which guard kept more.
    """

    alone: Ints
    settled: Ints
    unit: Ints
    threshold: float
    chosen: Ints
    copies: Ints
    guard: str | None = None


@dataclass(frozen=True)
class Labels:
    """The labels of one page. Columns over its leaves: `p` = P(content), `kept`; the rest is of the page.

    `siblings` counts the other pages that served as evidence. `reason` is None where the verdict needs no words. `weights`
    and `steps` (None for a page without text) are for whoever asks why: see `templatediff.reasons`.
    """

    p: Ints
    kept: Ints
    verdict: str
    reason: str | None
    confidence: float
    siblings: int
    layout: int | None
    context: Context
    site: View | None
    layout_view: View | None
    weights: Weights
    steps: Steps | None = None
    ruling: Ruling | None = None

    @property
    def level(self) -> tuple[str | None, View | None]:
        """The level that k of n is stated at: the layout where it has two siblings or more, else the site."""
        if self.layout_view is not None and self.layout_view.n >= 2:
            return "layout", self.layout_view
        if self.site is not None and self.site.n:
            return "site", self.site
        return None, None

    def k_of_n(self) -> tuple[Ints, int]:
        """On how many of how many siblings each leaf's text stands; n is 0 in gist mode."""
        _, view = self.level
        if view is None:
            return np.zeros(len(self.p), np.int64), 0
        return self.context.k(view, "text"), view.n

    def changes(self) -> list[str]:
        """ "static", "dynamic" or "unknown" for each leaf."""
        k, n = self.k_of_n()
        return ["unknown" if not n else "static" if 2 * count > n else "dynamic" for count in k.tolist()]


@dataclass(frozen=True, slots=True)
class Looks:
    """A page beside its siblings: the views that it is judged in, and the near-duplicates that were left out of them."""

    context: Context
    site: View | None = None
    layout: View | None = None
    layout_id: int | None = None
    copies: int = 0

    @property
    def views(self) -> tuple[View | None, View | None, int | None]:
        return self.site, self.layout, self.layout_id


def _look(page: Fingerprint, template: SiteTemplate | None) -> Looks:
    if template is None:
        return Looks(Context(page, None, None))
    page = template.sample.as_seen(page)
    site, layout, layout_id = template.views(page)
    context = Context(page, site, layout, template.options.ngram_order)
    return Looks(context, site, layout, layout_id, template.sample.copies(page.key))


def _probabilities(
    looks: Looks, template: SiteTemplate | None, weights: Weights, known: FirstLooks | None = None
) -> tuple[Ints, Ints, Ints, Ints]:
    """(P(content), unit, P by the score alone, P after `_settled`) of each leaf."""
    alone = judgement(looks.context, looks.site, looks.layout, weights, known)
    settled = _settled(looks.context, alone)
    p, unit = _together(looks.context, settled, template.join_below if template is not None else 0)
    return p, unit, alone, settled


def judged_leaves(page: Fingerprint, template: SiteTemplate | None, weights: Weights) -> tuple[Context, Ints, int]:
    """What the verdict is made of: the page beside its siblings, P(content) of its leaves, its near-duplicates."""
    looks = _look(page, template)
    return looks.context, _probabilities(looks, template, weights)[0], looks.copies


def label(
    page: Fingerprint, template: SiteTemplate | None, weights: Weights, known: FirstLooks | None = None
) -> Labels:
    """Label every leaf of a page. `page` is the whole fingerprint, not the capped one of a profile; `known` is what deriving the
    template found out about its own pages."""
    looks = _look(page, template)
    context, site, layout, layout_id = looks.context, looks.site, looks.layout, looks.layout_id
    if not context.n:
        return _nothing(looks, weights, "no text in the page")
    p, unit, alone, settled = _probabilities(looks, template, weights, known)
    nowhere = np.zeros(context.n, bool)
    none = Steps(alone, settled, unit, NOTHING, nowhere, nowhere)
    if not (p >= NOTHING).any():
        return _nothing(looks, weights, "nothing on the page reads like content", p, none)
    row = features(context, p, looks.copies)
    empty = chance("empty" if context.site is not None else "empty_alone", row)
    if empty >= EMPTY_FROM and not bare(context):
        return _nothing(looks, weights, why_empty(context, row, looks.copies), p, none, empty)
    threshold = _threshold(p, context.tokens)
    chosen = p >= threshold
    kept, guard = _guard(context, p, chosen)
    copies = _copied(context.page, p, kept)
    p, kept = np.where(copies, np.minimum(p, SETTLED), p), kept & ~copies
    steps = Steps(alone, settled, unit, threshold, chosen, copies, guard)
    reason = guard
    verdict = _verdict(context, row, kept)
    siblings = site.n if site is not None else 0
    if siblings and layout_id is None:
        reason = f"{NO_LAYOUT}; {reason}" if reason else NO_LAYOUT
    confidence = _expected_f1(p, kept, context.tokens)
    return Labels(
        p, kept, verdict, reason, confidence, siblings, layout_id, context, site, layout, weights, steps
    )  # fmt: skip


def overruled(labels: Labels, ruling: Ruling) -> Labels:
    """The labels as the user's rules will have them: these go before the score, the decoding and the guards."""
    if not (ruling.keep | ruling.drop).any():
        return replace(labels, ruling=ruling)
    p = np.where(ruling.keep, 1.0, np.where(ruling.drop, 0.0, labels.p))
    kept = (labels.kept | ruling.keep) & ~ruling.drop
    if not kept.any():
        reason = "rules drop all that was kept" if labels.kept.any() else labels.reason
        return replace(labels, p=p, kept=kept, verdict=EMPTY, reason=reason, confidence=1.0, ruling=ruling)
    reason = "rules keep text of what is else empty" if labels.verdict == EMPTY else labels.reason
    verdict = _verdict(labels.context, features(labels.context, p, 0), kept)
    confidence = _expected_f1(p, kept, labels.context.tokens)
    return replace(
        labels, p=p, kept=kept, verdict=verdict, reason=reason, confidence=confidence, ruling=ruling
    )  # fmt: skip


def _nothing(
    looks: Looks,
    weights: Weights,
    reason: str,
    p: Ints | None = None,
    steps: Steps | None = None,
    confidence: float = 1.0,
) -> Labels:
    context, (site, layout, layout_id) = looks.context, looks.views
    none = np.zeros(context.n) if p is None else p
    siblings = site.n if site is not None else 0
    return Labels(
        none, np.zeros(context.n, bool), EMPTY, reason, round(confidence, 3), siblings, layout_id, context, site, layout,
        weights, steps,
    )  # fmt: skip


def _settled(context: Context, p: Ints) -> Ints:
    """P where repetition decides by itself: with ENOUGH siblings, what most of them have at the same place is no content
    if it is long, stands in a run of such leaves, or comes AGAIN on the page. Headings, cells, terms, lines of
    code and a lone short line (a label, "See also") may be; so may a headline that other pages list.

    Out of fold this moves no set of ten sites or more by over .002; it makes the difference on pages without structure,
    where chrome and content share one container (generated sites of that kind leaked all of it before).
    """
    if context.site is None or context.site.n < ENOUGH:
        return p
    page, n = context.page, context.site.n
    plain = (page.group < 0) & (page.heading == 0)
    free = plain & ~among(page.title_hashes, page.text_hash)
    here = 2 * context.k(context.site, "pair", "pair") > n
    anywhere = 2 * context.k(context.site, "text") > n
    static = here & plain & (context.marks & (CELL | TERM) == 0)
    number = np.cumsum(np.concatenate([[True], static[1:] != static[:-1]])) - 1
    run = np.bincount(number)[number]
    long = (context.tokens >= LONG_ENOUGH) & (page.characters >= 3 * LONG_ENOUGH)
    longer = (context.tokens >= 2 * LONG_ENOUGH) & (page.characters >= 8 * LONG_ENOUGH)
    settled = (static & ((run >= RUN) | (context.copies >= AGAIN))) | (free & ((here & long) | (anywhere & longer)))
    return np.where(settled, np.minimum(p, SETTLED), p)


def _together(context: Context, p: Ints, join_below: int) -> tuple[Ints, Ints]:
    """One P for what lives or dies together: rows of a data table, a code block, short paragraphs with their neighbour, doubtful
    lines with the content that they stand in.
    Second comes the unit of each leaf, a number that such leaves share.

    P is the mean over tokens; in a row of a data table, over the cells that are not on most siblings, if there are any,
    so that a label stays beside a changing value; likewise a term and its definition.
    """
    page = context.page
    repeated = np.nan_to_num(context.known) > 0.5
    unit = np.where(page.group >= 0, page.group, len(page.parent) + np.arange(len(page)))
    if join_below:
        unit = _joined(page, unit, join_below, repeated)
    unit = _between(context, p, unit)
    unit, terms = _defined(page, _headed(page, unit))
    _, place, leaves = numbered(unit)
    tokens = np.maximum(page.token_count, 0.1)
    in_rows = ((page.group >= 0) & (context.marks & CELL > 0)) | terms
    changing = np.where(in_rows & repeated, 0.0, tokens)
    weight = np.where(np.bincount(place, weights=changing)[place] > 0, changing, tokens)
    mean = np.bincount(place, weights=p * weight) / np.bincount(place, weights=weight)
    return np.round(np.where(leaves[place] == 1, p, mean[place]), 4), place


def _between(context: Context, p: Ints, unit: Ints) -> Ints:
    """A doubtful short line or two between two leaves of SURE content take the unit of the one before: the lines of an address
    in the text, the label of a note. Out of fold 6 of 750 real pages get better by it and 5 worse among siblings, 6 and 7 alone,
    all by little."""
    page, joined = context.page, unit.copy()
    plain = (context.link_share < PLAIN) & (page.heading == 0) & (page.group < 0)
    doubtful = (p >= DOUBTFUL) & (p < SURE) & plain & (context.tokens <= LONG_ENOUGH)
    if not (p[doubtful] < HIGHEST).any():
        return unit
    _, place, _ = numbered(unit)
    tokens = np.maximum(context.tokens, 0.1)
    sure = (np.bincount(place, weights=p * tokens) / np.bincount(place, weights=tokens))[place] >= SURE
    starts = np.flatnonzero(np.diff(doubtful, prepend=False, append=False)).reshape(-1, 2)
    for start, end in starts.tolist():
        if start > 0 and end < len(p) and end - start <= FEW_LINES and sure[start - 1] and sure[end]:
            joined[start:end] = joined[start - 1]
    return joined


def _headed(page: Fingerprint, unit: Ints) -> Ints:
    """The column labels of a data table, a row of header cells alone, take the unit of the row below them: on a site whose
    tables have the same columns they stand on every page."""
    heads = (page.group >= 0) & (page.marks[page.row] & HEADER_CELL > 0)
    if not heads.any():
        return unit
    joined = unit.copy()
    starts = np.flatnonzero(np.concatenate([[True], page.group[1:] != page.group[:-1]])).tolist()
    for start, end in pairwise(starts):
        below = page.group[end] >= 0 and not heads[end]
        if below and heads[start:end].all() and _table(page, int(page.row[start])) == _table(page, int(page.row[end])):
            joined[start:end] = unit[end]
    return joined


def _table(page: Fingerprint, row: int) -> int:
    """Row of the table that a container lies in, -1 for none."""
    while row >= 0 and page.tags[page.tag[row]] != "table":
        row = int(page.parent[row])
    return row


def _defined(page: Fingerprint, unit: Ints) -> tuple[Ints, Ints]:
    """A term takes the unit of what follows it in the same list, which defines it; and which leaves are such terms."""
    terms = page.marks[page.row] & TERM > 0
    if not terms.any():
        return unit, terms
    joined, parent = unit.copy(), page.parent[page.row]
    terms[:-1] &= parent[:-1] == parent[1:]
    terms[-1] = False
    for number in np.flatnonzero(terms)[::-1].tolist():
        joined[number] = joined[number + 1]
    return joined, terms


def _joined(page: Fingerprint, unit: Ints, join_below: int, repeated: Ints) -> Ints:
    """A paragraph (`p`) of fewer tokens takes the unit of the leaf before it under the same parent, where the siblings have
    both or neither."""
    joined = unit.copy()
    paragraph = np.array([tag == "p" for tag in page.tags] or [False])[page.tag[page.row]]
    parent = page.parent[page.row]
    plain = (page.group < 0) & (page.heading == 0) & (page.linked == 0)
    joins = (paragraph & plain & (page.token_count < join_below))[1:] & (parent[1:] == parent[:-1])
    joins &= (page.heading[:-1] == 0) & (repeated[1:] == repeated[:-1])
    for before in np.flatnonzero(joins).tolist():
        joined[before + 1] = joined[before]
    return joined


def _threshold(p: Ints, tokens: Ints) -> float:
    """The P from which on keeping raises the expected F1: half of the best expected F1, within bounds."""
    order = np.argsort(-p, kind="stable")
    mass = np.cumsum((p * tokens)[order])
    kept = np.cumsum(tokens[order])
    total = float((p * tokens).sum())
    best = float((2 * mass / np.maximum(kept + total, 1e-9)).max(initial=0.0))
    return float(np.clip(best / 2, LOWEST, HIGHEST))


def _guard(context: Context, p: Ints, kept: Ints) -> tuple[Ints, str | None]:
    """Never empty a page of content; keep the rest where less than a quarter of what is new was kept."""
    if not kept.any():
        return p >= p.max(), "nothing stood out: the likeliest text was kept"
    fresh = context.fresh * (context.link_share < 0.5)
    new = float(fresh.sum())
    if new >= 40 and context.site is not None and context.site.n >= 2 and float(fresh[kept].sum()) < KEPT_OF_NEW * new:
        wider = kept | ((p >= LOWEST / 2) & (fresh > 0))
        if wider.sum() > kept.sum():
            return wider, "less than a quarter of the page's new text stood out: likely text was kept too"
    return kept, None


def _copied(page: Fingerprint, p: Ints, kept: Ints) -> Ints:
    """Kept leaves that are the lesser copy of a run of others in another container: an article that stands on the page
    twice, for wide and narrow screens or for print. The first copy stays unless P of the second is clearly higher.

    Single lines may come again (a refrain, a quotation in a forum); what goes is a run of some length, at least
    COPY_SHARE of all that is kept. `benchmarks/labels.py` counts the pages that this makes better and worse.
    """
    drop = np.zeros(len(page), bool)
    places = np.flatnonzero(kept & (page.token_count > 0))
    least = max(COPY_TOKENS, COPY_SHARE * int(page.token_count[places].sum()))
    parents = page.parent[page.row]
    for run in _copied_runs(page.text_hash[places].tolist()):
        if len(run) < COPY_LEAVES:
            continue
        first, second = places[[one for one, _ in run]], places[[two for _, two in run]]
        tokens = page.token_count[second]
        if tokens.sum() < least or first[-1] >= second[0]:
            continue
        if (parents[first[[0, -1]]] == parents[second[[0, -1]]]).all():
            continue
        clearer = float(((p[second] - p[first]) * tokens).sum() / tokens.sum()) > CLEARER
        drop[first if clearer else second] = True
    return drop


def _copied_runs(texts: Sequence[int]) -> list[list[tuple[int, int]]]:
    """Runs of (place, later place of the same text) in which both go on side by side, over gaps below COPY_GAP."""
    seen: dict[int, int] = {}
    runs: list[list[tuple[int, int]]] = []
    for place, text in enumerate(texts):
        before = seen.setdefault(text, place)
        if before == place:
            continue
        last = runs[-1][-1] if runs else None
        if last is not None and 0 < before - last[0] <= COPY_GAP and place - last[1] <= COPY_GAP:
            runs[-1].append((before, place))
        else:
            runs.append([(before, place)])
    return runs


def _verdict(context: Context, row: dict[str, float], kept: Ints) -> str:
    return LISTING if _lists(context, kept) or chance("listing", row) >= LISTED else CONTENT


def _lists(context: Context, kept: Ints) -> bool:
    """Whether what is kept is links for the most part, or entries."""
    tokens = context.tokens[kept]
    linked = float((tokens * context.link_share[kept]).sum())
    links = int(kept.take(context.page.link_leaf).sum())
    total = max(int(tokens.sum()), 1)
    return (links >= 5 and linked > 0.5 * total) or _entries(context, kept) > 0.6 * total


def _entries(context: Context, kept: Ints) -> int:
    """Kept tokens in records that begin with a linked line (an entry's title, kept or a heading) and go on without links, if
    there are FOUR."""
    record = np.where(kept | (context.page.heading > 0), context.record, -1)
    starts: set[int] = set()
    first_seen: set[int] = set()
    goes_on: set[int] = set()
    for row, share in zip(record.tolist(), context.link_share.tolist(), strict=True):
        if row < 0:
            continue
        if row not in first_seen:
            first_seen.add(row)
            if share > 0.8:
                starts.add(row)
        elif share < 0.2:
            goes_on.add(row)
    entries = starts & goes_on
    return int(context.tokens[kept & np.isin(record, sorted(entries))].sum()) if len(entries) >= FOUR else 0


def _expected_f1(p: Ints, kept: Ints, tokens: Ints) -> float:
    """Expected F1 of the choice if P is right, 0..1, 3 decimals."""
    hits = float((p * tokens)[kept].sum())
    size = float(tokens[kept].sum() + (p * tokens).sum())
    return round(2 * hits / size, 3) if size else 0.0


def headline(labels: Labels, texts: Sequence[str]) -> str | None:
    """The page's headline: the highest heading that is its title or a part of it, else its main heading if that agrees with
    the title, else the title without the site's part. A part that most siblings' titles have too is the site's."""
    context, page = labels.context, labels.context.page
    of_site = np.zeros(len(page), bool)
    if context.site is not None:
        of_site = 2 * context.k(context.site, "title") > context.site.n
    named = np.flatnonzero((page.heading > 0) & among(page.title_hashes, page.text_hash) & ~of_site)
    if len(named):
        return texts[int(named[np.argmin(page.heading[named])])]
    place = context.main_heading
    if (
        place >= 0
        and not of_site[place]
        and (context.title_share[place] >= 0.5 or (page.heading[place] == 1 and not page.title))
    ):
        return texts[place]
    return own_title(page, labels.site) or (texts[place] if place >= 0 else None)


def own_title(page: Fingerprint, site: View | None) -> str | None:
    """The title without the parts that siblings' titles have too ("Story - Section - Site" gives "Story")."""
    import re

    from templatediff.fingerprint import text_hash

    if not page.title:
        return None
    parts = re.split(r"\s+[|\-\u2013\u2014\u00b7:\u00bb\u2022]\s+", page.title)
    if site is not None and site.n and len(parts) > 1:
        shared = site.k("title", np.array([text_hash(part) for part in parts], np.uint64))
        own = [part for part, count in zip(parts, shared.tolist(), strict=True) if 2 * count <= site.n]
        if own:
            return max(own, key=len)
    return page.title
