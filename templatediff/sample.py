"""Profile -> sample: the pages a template is derived from, their near-duplicate groups, layouts and counts.

Which pages: the newest fetch months that together hold ENOUGH pages, at the level of the site and, over all months, in
each layout, so that a redesign is learnt from its first pages while the old design stays as layouts of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from templatediff.fingerprint import Fingerprint, Ints
from templatediff.layout import centre, group, nearest, vector
from templatediff.profile import PAGES_A_MONTH, Entry, SiteProfile
from templatediff.repetition import (
    Level,
    Part,
    View,
    level,
    near_duplicate_groups,
    new_leaves,
    page_sets,
    page_sums,
)
from templatediff.steps import step_forms

NAMES_SHARED = 0.3
ENOUGH = 24  #: pages from which on older fetch months are left out


@dataclass(frozen=True, slots=True)
class LayoutSample:
    """One layout: `id` 0, 1, ... by falling page count; `groups` are numbers of near-duplicate groups."""

    id: int
    groups: tuple[int, ...]
    pages: int
    centre: dict[int, float]
    level: Level


@dataclass(frozen=True, slots=True)
class Sample:
    """The pages of one site that stand for it, added up. Columns over groups: `parts`, `leaders`."""

    site: Level
    parts: tuple[Part, ...]
    leaders: tuple[Fingerprint, ...]
    groups_of: dict[str, tuple[int, ...]]  # page key -> its groups
    layout_of: tuple[int, ...]  # layout id of each group
    layouts: tuple[LayoutSample, ...]
    pages: int
    known: frozenset[str] = frozenset()  # folded steps and plainer forms of them, as `known_steps` has them
    by_depth: bool = False  # ids and classes are made anew for each page: elements go by name and depth

    def as_seen(self, page: Fingerprint) -> Fingerprint:
        """The page as this site's pages are compared: names that no two of them share are left out.

        As it is where no pages are known (a template without its profile).
        """
        if not self.parts:
            return page
        return page.with_names(self.known, self.by_depth)

    def layout_for(self, page: Fingerprint) -> int | None:
        """Id of the layout a page belongs to: its own where it is in the sample, else the nearest; None if none fits."""
        groups = self.groups_of.get(page.key)
        if groups:
            return self.layout_of[groups[-1]]
        site = view_without(self.site, (), self.parts)
        return nearest(vector(page, new_leaves(page, site)), [layout.centre for layout in self.layouts])

    def copies(self, key: str) -> int:
        """How many other pages are near-duplicates of this one."""
        own = set(self.groups_of.get(key, ()))
        return sum(not own.isdisjoint(groups) for groups in self.groups_of.values()) - 1 if own else 0

    def views(self, page: Fingerprint) -> tuple[View, View | None, int | None]:
        """(site, layout, layout id) as the page sees them: without its own near-duplicate groups."""
        own = self.groups_of.get(page.key, ())
        found = self.layout_for(page)
        layout = None if found is None else view_without(self.layouts[found].level, own, self.parts)
        return view_without(self.site, own, self.parts), layout, found


def view_without(whole: Level, groups: Sequence[int], parts: Sequence[Part]) -> View:
    """A level as seen by a page of these groups."""
    return View(whole, tuple(parts[number] for number in groups if number in whole.members))


def take(profile: SiteProfile) -> Sample:
    """Derive the sample of a profile. A pure function of what the profile holds."""
    entries = profile.entries()
    chosen = _of_newest_months(entries)
    ordered = sorted(
        range(len(entries)),
        key=lambda number: (entries[number].rank, entries[number].key, entries[number].month),
    )
    entries = [entries[number] for number in ordered]
    shared: dict[str, str] = {}  # most texts and names stand on many pages: one copy of each
    pages = [_sharing(entry.fingerprint(), shared) for entry in entries]
    known, by_depth = known_steps(pages)
    pages = [page.with_names(known, by_depth) for page in pages]
    groups = near_duplicate_groups(pages)
    order = profile.options.ngram_order
    sets = [[page_sets(pages[number], order) for number in members] for members in groups]
    parts = [Part(_union(found)) for found in sets]
    site_groups = [
        number for number, members in enumerate(groups)
        if any((entries[m].month, entries[m].key) in chosen for m in members)
    ]  # fmt: skip
    site = level(site_groups, parts)
    leaders = [pages[members[0]] for members in groups]
    views = [view_without(site, [number], parts) for number in range(len(parts))]
    vectors = [vector(leader, new_leaves(leader, view)) for leader, view in zip(leaders, views, strict=True)]
    parts = [Part(part.sets, page_sums(leader, view)) for part, leader, view in zip(parts, leaders, views, strict=True)]
    site = level(site_groups, parts)
    # where names are made anew for each page, paths cannot tell kinds of pages apart: one layout
    labels = [0] * len(vectors) if by_depth else group(vectors)
    layouts, layout_of = _layouts(labels, groups, entries, vectors, parts)
    groups_of: dict[str, tuple[int, ...]] = {}
    for number, members in enumerate(groups):
        for member in members:
            key = pages[member].key
            groups_of[key] = tuple(dict.fromkeys((*groups_of.get(key, ()), number)))
    return Sample(site, tuple(parts), tuple(leaders), groups_of, layout_of, layouts, len(pages), known, by_depth)


def known_steps(pages: Sequence[Fingerprint]) -> tuple[frozenset[str], bool]:
    """(steps and plainer forms that stand on two pages or more, whether the site's names are made anew for each page).

    Of one page all are known: a site's only page is labelled as it is without a template. The latter: three or more pages,
    and of the named steps, each counted once a page, fewer than NAMES_SHARED are known.
    Ids that name one page's sections, and generated class names, say nothing of the site.
    """
    forms = Counter(form for page in pages for form in {form for step in page.steps for form in step_forms(step)})
    known = frozenset(form for form, count in forms.items() if count >= min(2, len(pages)))
    named = [step in known for page in pages for step in page.steps if "#" in step or "." in step]
    return known, len(pages) > 2 and len(named) > 0 and sum(named) < NAMES_SHARED * len(named)


def _sharing(page: Fingerprint, shared: dict[str, str]) -> Fingerprint:
    def one(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(shared.setdefault(text, text) for text in texts)

    return replace(page, texts=one(page.texts), steps=one(page.steps), tags=one(page.tags), names=one(page.names))


def _union(sets: list[dict[str, Ints]]) -> dict[str, Ints]:
    if len(sets) == 1:
        return sets[0]
    return {name: np.unique(np.concatenate([one[name] for one in sets])) for name in sets[0]}


def _of_newest_months(entries: Sequence[Entry]) -> set[tuple[str, str]]:
    """(month, key) of the site level's pages: smallest ranks of the newest months that together hold ENOUGH pages."""
    chosen: set[tuple[str, str]] = set()
    for month in sorted({entry.month for entry in entries}, reverse=True):
        if len(chosen) >= ENOUGH:
            break
        chosen |= {(entry.month, entry.key) for entry in [e for e in entries if e.month == month][:PAGES_A_MONTH]}
    return chosen


def _layouts(
    labels: Sequence[int],
    groups: Sequence[Sequence[int]],
    entries: Sequence[Entry],
    vectors: Sequence[dict[int, float]],
    parts: Sequence[Part],
) -> tuple[tuple[LayoutSample, ...], tuple[int, ...]]:
    members_of: dict[int, list[int]] = {}
    for number, label in enumerate(labels):
        members_of.setdefault(label, []).append(number)
    pages_of = {label: sum(len(groups[number]) for number in members) for label, members in members_of.items()}
    ordered = sorted(members_of, key=lambda label: (-pages_of[label], members_of[label][0]))
    layouts = []
    for place, label in enumerate(ordered):
        members = members_of[label]
        recent: list[int] = []
        months = {number: max(entries[page].month for page in groups[number]) for number in members}
        for month in sorted(set(months.values()), reverse=True):
            if len(recent) >= ENOUGH:
                break
            recent.extend(number for number in members if months[number] == month)
        recent.sort()
        middle = centre([vectors[number] for number in recent])
        layouts.append(LayoutSample(place, tuple(members), pages_of[label], middle, level(recent, parts)))
    place_of = {label: place for place, label in enumerate(ordered)}
    return tuple(layouts), tuple(place_of[label] for label in labels)
