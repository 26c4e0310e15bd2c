"""Probabilities -> labels: decode, verdict, guards, each with its reason.

Decoding keeps the leaves that maximise the page's expected F1, which for calibrated probabilities is a threshold on P;
cells of a data row and lines of a code block, and short lines with their neighbour, are judged as one. The verdict is of
the page as a whole (`templatediff.verdict`) and comes first; the guards apply only to pages it calls content or listing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from templatediff.choose import best_threshold, expected_f1, guarded
from templatediff.context import Context
from templatediff.copies import copied, retold
from templatediff.fingerprint import Fingerprint, Ints
from templatediff.lessons import FirstLooks, judgement
from templatediff.marks import CELL, TERM
from templatediff.overall import bare, features, wordless
from templatediff.repetition import View, among
from templatediff.rules import Ruling
from templatediff.score import Weights
from templatediff.template import SiteTemplate
from templatediff.units import LONG_ENOUGH, together
from templatediff.verdict import EMPTY, empty_chance, is_text, verdict_of, why_empty

NOTHING = 0.12  #: a page none of whose leaves reaches this P has nothing that reads like content
ENOUGH = 5  #: siblings from which on repetition can decide by itself
RUN = 3  #: leaves of a run that is settled as a whole
AGAIN = 2  #: copies on the page of a line that is settled for coming again
EMPTY_FROM = 0.55  #: P(empty) from which on a page is
SETTLED = 0.1  #: P of what is settled, at most
NO_LAYOUT = "fits no layout of the site: judged by the site as a whole"


@dataclass(frozen=True, slots=True)
class Steps:
    """How the labels came about. Columns over the leaves: P by the score alone, P after `_settled`, the unit that each
    leaf was labelled with (leaves of one unit share a number), what was kept before the guards, what was dropped after
    them because its text stands on the page in another place, which was kept, and what was kept in the place of such a leaf.

    `threshold` is the P from which on a leaf is kept; `guard` says in words which guard kept more.
    """

    alone: Ints
    settled: Ints
    unit: Ints
    threshold: float
    chosen: Ints
    copies: Ints
    parts: Ints
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
    p, unit = together(looks.context, settled, template.join_below if template is not None else 0)
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
    none = Steps(alone, settled, unit, NOTHING, nowhere, nowhere, nowhere)
    if not (p >= NOTHING).any():
        return _nothing(looks, weights, "nothing on the page reads like content", p, none)
    row = features(context, p, looks.copies)
    empty = empty_chance(row, context.site is not None)
    if wordless(context) or (empty >= EMPTY_FROM and not bare(context) and not is_text(row)):
        return _nothing(looks, weights, why_empty(context, row, looks.copies), p, none, max(empty, EMPTY_FROM))
    threshold = best_threshold(p, context.tokens)
    chosen = p >= threshold
    kept, guard = guarded(context, p, chosen)
    whole, parts = retold(context.page, p, kept)
    p, kept = np.maximum(p, parts), kept | (parts > 0)
    copies = copied(context.page, p, kept) | (whole > 0)
    p, kept = np.where(copies, np.minimum(p, SETTLED), p), kept & ~copies
    steps = Steps(alone, settled, unit, threshold, chosen, copies, parts > 0, guard)
    reason = guard
    verdict = verdict_of(context, row, kept)
    siblings = site.n if site is not None else 0
    if siblings and layout_id is None:
        reason = f"{NO_LAYOUT}; {reason}" if reason else NO_LAYOUT
    confidence = expected_f1(p, kept, context.tokens)
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
    verdict = verdict_of(labels.context, features(labels.context, p, 0), kept)
    confidence = expected_f1(p, kept, labels.context.tokens)
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
