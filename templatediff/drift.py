"""Page + template -> does the template still fit: what is found of it, and how much of the page it does not explain.

A leaf of the template is found where its text stands at its place (its container's last three folded steps). Text alone
will not do: after a redesign most menus still name the same sections. Measured on news sites whose pages are years
apart, redesigned pages have at most .08 of the template at its place, but up to .83 of its text anywhere; others have .8
or more of both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from templatediff.fingerprint import Fingerprint, Ints
from templatediff.repetition import Level, pair_hash
from templatediff.sample import Sample

FOUND = 0.3  #: a page with less of the template than this ...
UNEXPLAINED = 0.3  #: ... and more text that it does not explain than this has another design
LEAST_LEAVES = 5  #: levels with fewer static leaves cannot tell
HALF, FIFTH, SEVERAL = 0.5, 0.2, 5  #: a site has drifted with more than half its pages, or with several and a fifth


@dataclass(frozen=True, slots=True)
class PageFit:
    """How one page fits its site's template.

    found        share, 0..1, of the static leaves of the level it fits best (a layout or the site), each weighted by the
                 pages it is on; None where no level has LEAST_LEAVES of them
    unexplained  share, 0..1, of the page's tokens in leaves whose text no page of the template has and whose place
                 (folded path from the body) neither; 1 for a page without text, unless the template knows such pages
    """

    layout: int | None
    found: float | None
    unexplained: float

    @property
    def drifted(self) -> bool:
        return (self.found is None or self.found < FOUND) and self.unexplained > UNEXPLAINED


@dataclass(slots=True)
class LayoutFit:
    """Pages of one layout added up; `found` counts `judged` pages."""

    pages: int = 0
    drifted: int = 0
    judged: int = 0
    found: float = 0.0
    unexplained: float = 0.0

    def add(self, page: PageFit) -> None:
        self.pages += 1
        self.drifted += page.drifted
        self.unexplained += page.unexplained
        if page.found is not None:
            self.judged += 1
            self.found += page.found

    @property
    def found_share(self) -> float | None:
        """Mean share of the template's leaves found, 4 decimals; None where nothing could be looked for."""
        return round(self.found / self.judged, 4) if self.judged else None

    @property
    def unexplained_share(self) -> float:
        """Mean share of page text unexplained, 4 decimals."""
        return round(self.unexplained / self.pages, 4) if self.pages else 0.0

    @property
    def verdict(self) -> bool:
        """Whether these pages have drifted away from the template."""
        return self.drifted > HALF * self.pages or (self.drifted >= SEVERAL and self.drifted > FIFTH * self.pages)


@dataclass(slots=True)
class SiteFit:
    """Pages of one site added up, as a whole and by layout (None: they fit no layout)."""

    whole: LayoutFit = field(default_factory=LayoutFit)
    layouts: dict[int | None, LayoutFit] = field(default_factory=dict)

    def add(self, page: PageFit) -> None:
        self.whole.add(page)
        self.layouts.setdefault(page.layout, LayoutFit()).add(page)

    @property
    def drifted(self) -> bool:
        return self.whole.verdict


def in_words(site: str, fit: LayoutFit) -> str:
    """The figures of a site that has drifted, for a warning."""
    found = "none" if fit.found_share is None else f"{fit.found_share:.0%}"
    return (
        f"{site} has drifted from its template: {fit.drifted:,} of {fit.pages:,} pages; {found} of the template's "
        f"leaves found, {fit.unexplained_share:.0%} of the text unexplained: learn again, or --update"
    )


def page_fit(page: Fingerprint, sample: Sample, layout: int | None) -> PageFit:
    """How a page fits. `page` is as the site's pages are compared (`Sample.as_seen`), `layout` the one it belongs to.

    Pages that the template was learnt from are not left out: they fit it.
    """
    levels = [sample.site, *(each.level for each in sample.layouts)]
    rows = page.row
    pairs = pair_hash(page.text_hash, page.local_keys[rows]) if len(page) else page.text_hash
    shares = [share for share in (_found(level, pairs) for level in levels) if share is not None]
    total = int(page.token_count.sum())
    if not total:  # as after a redesign to pages that scripts fill
        known_empty = not shares or any(not leader.token_count.any() for leader in sample.leaders)
        return PageFit(layout, None, 0.0) if known_empty else PageFit(layout, round(max(shares), 4), 1.0)
    known = _known((level.counts["text"].of(page.text_hash) for level in levels), len(page))
    places = _known((level.sums["region"].of(page.paths)[:, 0] for level in levels if level.sums), len(page.paths))
    unexplained = int(page.token_count[~known & ~places[rows]].sum()) / total
    return PageFit(layout, round(max(shares), 4) if shares else None, round(unexplained, 4))


def _found(level: Level, pairs: Ints) -> float | None:
    pair = level.counts["pair"]
    static = (pair.counts >= 2) & (2 * pair.counts > level.n)
    if int(static.sum()) < LEAST_LEAVES:
        return None
    weights = pair.counts[static]
    return float(weights[np.isin(pair.values[static], pairs)].sum() / weights.sum())


def _known(counts: Iterable[Ints], size: int) -> Ints:
    known = np.zeros(size, bool)
    for found in counts:
        known |= found > 0
    return known
