"""The first reading of a crawl: which of its files are pages, of which sites they are, and what they teach.

`read` fingerprints every page and merges the profiles of each site; nothing is applied here (`templatediff.applying`).
"""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from templatediff.crawl import Skipped, Source, read_source
from templatediff.cuts import Cut, Keeper
from templatediff.errors import InputError, PageError
from templatediff.fingerprint import Fingerprint
from templatediff.given import Given, Progress, Totals
from templatediff.hashes import bytes_hash, page_key
from templatediff.html import Head, parse, read_head
from templatediff.leaves import Leaves
from templatediff.limits import Limits
from templatediff.options import Options
from templatediff.page import Failure, Page, fetched_text, html_bytes, normal_url
from templatediff.parallel import Crew
from templatediff.prepare import page_text, prepare
from templatediff.profile import PAGES_A_MONTH, Places, SiteProfile
from templatediff.sites import Group, group_of, resolve

log = logging.getLogger("templatediff")
_GROUPS_IN_MIND = 32  # of which a learner knows how full their profiles are
CHUNK = 24  # pages handed to a worker at a time
RESOURCE = "resource"  #: kind of failure: a page that took too long or too much memory, or crashed its process, twice
EXCLUDED = "excluded"  #: kind of skipped file: a page that the caller excluded


@dataclass(frozen=True, slots=True)
class Reading:
    """What the first reading found. `sources` are the pages that teach, in order; `sites` and `shown` (whether it comes
    out) tell of each, and `cuts` where what was cut of it is kept. `lost` are those of kind RESOURCE, by path: they are not
    opened again."""

    profiles: dict[str, SiteProfile]
    sources: list[Source]
    sites: list[str]
    shown: list[bool]
    cuts: list[Cut | None]
    lost: dict[str, Failure] = field(default_factory=dict)

    def work(self) -> list[Work]:
        """The pages that come out."""
        whole = zip(self.sources, self.sites, self.shown, self.cuts, strict=True)
        return [Work(source, site, self.lost.get(source.path), cut) for source, site, shown, cut in whole if shown]


class Work(NamedTuple):
    """A page, its site, where it is known already why it cannot be read, and where what was cut of it is kept."""

    source: Source
    site: str
    failure: Failure | None = None
    cut: Cut | None = None


@dataclass(slots=True)
class _Read:
    """What the reading of some sources found: of each its group, None for what is no page, whether it comes out, and where
    what was cut of it is kept."""

    groups: list[Group | None]
    shown: list[bool]
    cuts: list[Cut | None]
    profiles: dict[Group, SiteProfile]
    skipped: Counter[str]
    failures: list[tuple[str, str, str]]

    def __init__(self) -> None:
        self.groups, self.shown, self.cuts, self.profiles, self.skipped, self.failures = [], [], [], {}, Counter(), []

    def page(self, group: Group | None, shown: bool, cut: Cut | None = None) -> None:
        """One source more."""
        self.groups.append(group)
        self.shown.append(shown)
        self.cuts.append(cut)

    def add(self, part: _Read) -> None:
        self.groups.extend(part.groups)
        self.shown.extend(part.shown)
        self.cuts.extend(part.cuts)
        self.skipped.update(part.skipped)
        self.failures.extend(part.failures)
        for group, profile in part.profiles.items():
            if group in self.profiles:
                self.profiles[group].absorb(profile)
            else:
                self.profiles[group] = profile


class _Learner:
    """Reads sources into profiles, one for each group."""

    def __init__(self, given: Given) -> None:
        self.given = given
        self.options = given.options or Options()
        self.places: OrderedDict[Group, Places] = OrderedDict()
        self.full: set[str] = set()  # folders in which a group has as many pages as a profile keeps of a month
        self.keeper = Keeper(given.cuts) if given.cuts is not None else None

    def __call__(self, sources: Sequence[Source]) -> _Read:
        found = _Read()
        for source in sources:
            page = read_page(source, self.given)
            if isinstance(page, Skipped):
                found.skipped[page.kind] += 1
                found.page(None, False)
                continue
            shown = self.given.selection.shows(page)
            group = self.passed_over(source, page)
            if group is not None:
                found.page(group, shown)
                continue
            leaves, made, failure = prepared_page(page, self.options, self.given.limits)
            if failure is not None:
                found.failures.append((source.path, failure.kind, failure.message))
            group = group_of(self.given, source, page, leaves.head if leaves is not None else None)
            cut = None
            if shown and self.keeper is not None and leaves is not None and made is not None:
                cut = self.keeper.add(page, leaves, made)
            found.page(group, shown, cut)
            if made is not None and len(made):
                profile = found.profiles.get(group)
                if profile is None:
                    profile = found.profiles[group] = SiteProfile("", self.options)
                if made.fetched >= self.given.since:
                    profile.add(made)
                    self.taken(group, made)
        return found

    def passed_over(self, source: Source, page: Page) -> Group | None:
        """The group of a page that is not worth cutting now, since the second reading opens it and it can teach nothing: its
        site's profile has no place for it. None for all others."""
        if not self.given.again or page.failure is not None:
            return None
        group = group_of(self.given, source, page, None)
        if group[0] != "site":  # what its head names decides
            if self.given.teaches and group[1] not in self.full:
                return None
            group = group_of(self.given, source, page, _head(page, self.given.limits))
        if not self.given.teaches:
            return group
        places = self.places.get(group)
        if places is None or len(places) < PAGES_A_MONTH:
            return None
        key = page_key(normal_url(page.url), bytes_hash(html_bytes(page)))
        return group if places.lacks(key, fetched_text(page)) else None

    def taken(self, group: Group, made: Fingerprint) -> None:
        """A page was added to its group's profile."""
        if not self.given.again:
            return
        places = self.places.setdefault(group, Places())
        places.taken(made)
        if group[0] != "site" and len(places) >= PAGES_A_MONTH:
            self.full.add(group[1])
        self.places.move_to_end(group)
        if len(self.places) > _GROUPS_IN_MIND:
            self.places.popitem(last=False)

    @staticmethod
    def crashed(source: Source, why: str, given: Given) -> _Read:
        """What is told of a page that failed twice."""
        page = lost_page(source, why)
        found = _Read()
        if given.selection.excludes(page):
            found.skipped[EXCLUDED] += 1
            found.page(None, False)
        else:
            found.page(group_of(given, source, page, None), given.selection.shows(page))
            found.failures.append((source.path, RESOURCE, why))
        return found

    @staticmethod
    def joined(parts: list[_Read]) -> _Read:
        found = _Read()
        for part in parts:
            found.add(part)
        return found


def read_page(source: Source, given: Given) -> Page | Skipped:
    """The page in a file, or what it is instead; a page that the caller excluded is a file of kind EXCLUDED."""
    page = read_source(source, given.limits.max_bytes)
    if isinstance(page, Page) and given.selection.exclude and given.selection.excludes(page):
        return Skipped(source.path, EXCLUDED)
    return page


def lost_page(source: Source, why: str) -> Page:
    """A page that failed twice, by what is known without opening it."""
    return Page(b"", source.url, source.fetched, source.path, failure=Failure(RESOURCE, why))


def prepared_page(
    page: Page, options: Options, limits: Limits
) -> tuple[Leaves | None, Fingerprint | None, Failure | None]:
    """The leaves and the fingerprint of a page, or why there are none; MemoryError alone is raised for what a page holds."""
    if page.failure is not None:
        return None, None, page.failure
    try:
        return *prepare(page, options, limits=limits), None
    except PageError as error:
        return None, None, Failure(error.kind, str(error))
    except MemoryError:
        raise
    except Exception as error:
        log.debug("%s", page.path, exc_info=True)
        return None, None, Failure("internal", f"{type(error).__name__}: {error}")


def _head(page: Page, limits: Limits) -> Head | None:
    """What a page says of itself, None for one that cannot be parsed."""
    try:
        return read_head(parse(page_text(page), limits=limits))
    except PageError:
        return None


def no_page(skipped: Counter[str]) -> InputError:
    """The error of an input without a page, with what is there instead."""
    seen = ", ".join(f"{count} {kind}" for kind, count in sorted(skipped.items()))
    return InputError(f"no HTML page in the input{f' (skipped: {seen})' if seen else ''}")


def read(given: Given, sources: list[Source], crew: Crew, totals: Totals, progress: Progress | None) -> Reading:
    """Read a crawl's files. Raises InputError where there is no page."""
    found = _read_all(given, sources, crew, totals, progress)
    site_of = {group: name for group, (name, _) in resolve(found.groups).items()}
    pages = [
        (source, site_of[group], shown, cut)
        for source, group, shown, cut in zip(sources, found.groups, found.shown, found.cuts, strict=True)
        if group is not None
    ]
    if not pages:
        raise no_page(totals.skipped)
    profiles = found.profiles
    lost = _lost(found.failures)
    if given.selection.limit is not None:
        chosen = first_of_each(pages, given.selection.limit)
        if len(chosen) < len(pages):
            # learn from these pages alone; what else is in the folders has had its say on the sites' names
            names = {source.path for source, *_ in chosen}
            gone = [failure for failure in found.failures if failure[0] in lost and failure[0] in names]
            again = Totals()
            left = [source for source, *_ in chosen if source.path not in lost]
            profiles = _read_all(replace(given, cuts=None), left, crew, again, progress).profiles
            lost |= _lost(again.failures)
            totals.failures[:] = sorted(again.failures + gone, key=lambda failure: failure[0])
            pages = chosen
    by_site: dict[str, SiteProfile] = {}
    for group in sorted(profiles):
        name = site_of[group]
        if name not in by_site:
            by_site[name] = SiteProfile(name, given.options or Options())
        by_site[name].absorb(profiles.pop(group))
    totals.failed = 0
    totals.sites = len({name for _, name, shown, _ in pages if shown})
    told, sites, shown, kept = (list(column) for column in zip(*pages, strict=True))
    return Reading(by_site, told, sites, shown, kept, lost)


def _lost(failures: Iterable[tuple[str, str, str]]) -> dict[str, Failure]:
    return {path: Failure(kind, why) for path, kind, why in failures if kind == RESOURCE}


_Page = tuple[Source, str, bool, Cut | None]


def first_of_each(pages: list[_Page], limit: int) -> list[_Page]:
    """The first pages of each site, at most `limit` of one."""
    taken: Counter[str] = Counter()
    chosen = []
    for page in pages:
        taken[page[1]] += 1
        if taken[page[1]] <= limit:
            chosen.append(page)
    return chosen


def _read_all(given: Given, sources: list[Source], crew: Crew, totals: Totals, progress: Progress | None) -> _Read:
    chunks = [sources[start : start + CHUNK] for start in range(0, len(sources), CHUNK)]
    found = _Read()
    for part in crew.in_order(_Learner, (given,), chunks):
        found.add(part)
        if progress is not None:
            progress("learn", len(found.groups), len(sources))
    totals.failures[:] = found.failures
    totals.skipped.clear()
    totals.skipped.update(found.skipped)
    return found
