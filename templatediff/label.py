"""Probabilities -> labels: decode, verdict, guards, each with its reason.

Decoding keeps the leaves that maximise the page's expected F1, which for calibrated probabilities is a threshold on P;
cells of a data row and lines of a code block, and short lines with their neighbour, are judged as one.
The verdict comes next, from the page's own text; guards apply only to pages it calls content or listing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from templatediff.evidence import Context
from templatediff.fingerprint import Fingerprint, Ints
from templatediff.lessons import judgement
from templatediff.repetition import View
from templatediff.score import Weights
from templatediff.segment import FOOTER, MARK_NAMES, NAV
from templatediff.template import SiteTemplate

CONTENT, LISTING, EMPTY, ERROR = "content", "listing", "empty", "error"

LOWEST, HIGHEST = 0.3, 0.5  #: bounds of the threshold that the expected F1 may choose
NOTHING = 0.12  #: a page none of whose leaves reaches this P has nothing that reads like content
KEPT_OF_NEW = 0.25  #: a content page keeps at least this share of what is new on it

__all__ = ["CONTENT", "EMPTY", "ERROR", "LISTING", "Labels", "label"]


@dataclass(frozen=True)
class Labels:
    """The labels of one page. Columns over its leaves: `p` = P(content), `kept`; the rest is of the page.

    `siblings` counts the other pages that served as evidence. `reason` is None where the verdict needs no words.
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
        return view.k("text", self.context.page.text_hash), view.n

    def changes(self) -> list[str]:
        """ "static", "dynamic" or "unknown" for each leaf."""
        k, n = self.k_of_n()
        return ["unknown" if not n else "static" if 2 * count > n else "dynamic" for count in k.tolist()]

    def reasons(self, leaf: int) -> list[str]:
        """The strongest reasons for a leaf's label, in words, strongest first."""
        return [words for _, words in sorted(self._reasons(leaf), key=lambda one: (-one[0], one[1]))[:4]]

    def _reasons(self, leaf: int) -> list[tuple[float, str]]:
        context, page = self.context, self.context.page
        kept = bool(self.kept[leaf])
        found: list[tuple[float, str]] = []
        level, view = self.level
        if view is not None and level is not None:
            k = int(view.k("text", page.text_hash[leaf : leaf + 1])[0])
            where = "of this layout" if level == "layout" else "of the site"
            if (k * 2 > view.n) != kept:
                found.append((abs(2 * k / view.n - 1), f"on {k} of {view.n} other pages {where}"))
        share = float(context.link_share[leaf])
        if share > 0.5 and not kept:
            found.append((share * 0.8, f"{share:.0%} of its text is links"))
        marks = int(page.marks[page.row[leaf]])
        if not kept:
            found += [(0.6, f"inside {MARK_NAMES[bit]}") for bit in range(2) if marks & (1 << bit)]
            found += [(0.7, "inside nav")] if marks & NAV and not marks & 3 else []
            found += [(0.7, "inside footer")] if marks & FOOTER else []
        inside = bool(context.inside(context.majority_row)[leaf])
        if inside == kept:
            found.append(
                (
                    0.5 if kept else 0.4,
                    f"{'inside' if inside else 'outside'} the container of most of the page's new text",
                )
            )
        if context.site is not None and context.site_majority >= 0:
            there = bool(context.inside(context.site_majority)[leaf])
            if there == kept:
                found.append((0.65, f"{'inside' if there else 'outside'} the region that changes on every page"))
        if kept and int(page.sentence_ends[leaf]) and int(page.token_count[leaf]) >= 12:
            found.append((0.45, "reads as sentences"))
        if not kept and int(page.token_count[leaf]) <= 4:
            found.append((0.2, "few words"))
        return found


def label(page: Fingerprint, template: SiteTemplate | None, weights: Weights) -> Labels:
    """Label every leaf of a page. `page` is the whole fingerprint, not the capped one of a profile."""
    site: View | None = None
    layout: View | None = None
    layout_id: int | None = None
    order = 3
    if template is not None:
        page = template.sample.as_seen(page)
        site, layout, layout_id = template.views(page)
        order = template.options.ngram_order
    context = Context(page, site, layout, order)
    if not context.n:
        return _nothing(context, site, layout, layout_id, "no text in the page")
    p = judgement(context, site, layout, weights)
    p = _together(page, p, template.join_below if template is not None else 0)
    if not (p >= NOTHING).any():
        return _nothing(context, site, layout, layout_id, "nothing on the page reads like content", p)
    kept = p >= _threshold(p, context.tokens)
    kept, reason = _guard(context, p, kept)
    verdict = _verdict(context, kept)
    siblings = site.n if site is not None else 0
    return Labels(
        p,
        kept,
        verdict,
        reason,
        _expected_f1(p, kept, context.tokens),
        siblings,
        layout_id,
        context,
        site,
        layout,
    )


def _nothing(
    context: Context,
    site: View | None,
    layout: View | None,
    layout_id: int | None,
    reason: str,
    p: Ints | None = None,
) -> Labels:
    none = np.zeros(context.n) if p is None else p
    siblings = site.n if site is not None else 0
    return Labels(none, np.zeros(context.n, bool), EMPTY, reason, 1.0, siblings, layout_id, context, site, layout)


def _together(page: Fingerprint, p: Ints, join_below: int) -> Ints:
    """One P for what lives or dies together: rows of a data table, a code block, short lines with their neighbour."""
    unit = np.where(page.group >= 0, page.group, len(page.parent) + np.arange(len(page)))
    if join_below:
        unit = _joined(page, unit, join_below)
    _, place = np.unique(unit, return_inverse=True)
    tokens = np.maximum(page.token_count, 0.1)
    mean = np.bincount(place, weights=p * tokens) / np.bincount(place, weights=tokens)
    alone = np.bincount(place) == 1
    return np.round(np.where(alone[place], p, mean[place]), 4)


def _joined(page: Fingerprint, unit: Ints, join_below: int) -> Ints:
    """A paragraph or line of fewer tokens takes the unit of the leaf before it in the same container or parent."""
    joined = unit.copy()
    around = np.where(page.parent[page.row] >= 0, page.parent[page.row], 0)
    for number in range(1, len(page)):
        same = around[number] == around[number - 1] or page.row[number] == page.row[number - 1]
        plain = page.group[number] < 0 and page.heading[number] == 0 and page.linked[number] == 0
        if same and plain and page.token_count[number] < join_below and page.heading[number - 1] == 0:
            joined[number] = joined[number - 1]
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


def _verdict(context: Context, kept: Ints) -> str:
    tokens = context.tokens[kept]
    linked = float((tokens * context.link_share[kept]).sum())
    links = int(np.isin(context.page.link_leaf, np.flatnonzero(kept)).sum())
    return LISTING if links >= 5 and linked > 0.5 * max(int(tokens.sum()), 1) else CONTENT


def _expected_f1(p: Ints, kept: Ints, tokens: Ints) -> float:
    """Expected F1 of the choice if P is right, 0..1, 3 decimals."""
    hits = float((p * tokens)[kept].sum())
    size = float(tokens[kept].sum() + (p * tokens).sum())
    return round(2 * hits / size, 3) if size else 0.0


def headline(labels: Labels, texts: Sequence[str]) -> str | None:
    """The page's headline: its main heading if that agrees with the title, else the title without the site's part."""
    context, page = labels.context, labels.context.page
    place = context.main_heading
    if place >= 0 and (context.title_share[place] >= 0.5 or (page.heading[place] == 1 and not page.title)):
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
