"""What a run over a crawl would read: its sites, how each was found, URL shapes, what is skipped. Nothing is learned."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from templatediff.crawl import Fields, Skipped, Source, list_sources
from templatediff.given import Given, Progress
from templatediff.limits import Limits
from templatediff.options import Options
from templatediff.page import Failure, Page, host_of, registrable_domain, url_shape
from templatediff.parallel import Crew, crewed
from templatediff.reading import CHUNK, EXCLUDED, lost_page, no_page, prepared_page, read_page
from templatediff.selection import Selection
from templatediff.sites import Group, group_of, resolve
from templatediff.text import valid

NO_URL = "URL not known (globs match the path)"  #: stands for the shape of a page whose URL is not known
_SEGMENTS = re.compile(r"^\d+(?=/|$)")


@dataclass(slots=True)
class SiteSurvey:
    """One site of a crawl, "" for files of no site. Pages are those that a run would take; `shown` of them come out.

    found    how the site was found -> pages: "option", "sidecar", "URL", "links in the pages" (canonical, og:url), "folder"
    shapes   URL shape (`page.url_shape`, without its number of segments) -> pages
    skipped  kind of file that is no page, or "excluded" -> files
    failures (path, kind, message) of pages that could not be read
    """

    name: str
    pages: int = 0
    shown: int = 0
    found: Counter[str] = field(default_factory=Counter)
    shapes: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What one file is: a page (`group`, `shape`, `shown`, perhaps `failure`), or of a `kind` that is skipped."""

    group: Group | None = None
    shape: str = ""
    shown: bool = True
    failure: Failure | None = None
    kind: str | None = None


class _Surveyor:
    """Tells what files are. A page is cut into leaves only where its site may hang on what it says itself."""

    def __init__(self, given: Given) -> None:
        self.given = given

    def __call__(self, sources: Sequence[Source]) -> list[_Seen]:
        return [self._seen(source) for source in sources]

    def _seen(self, source: Source) -> _Seen:
        page = read_page(source, self.given)
        if isinstance(page, Skipped):
            return _Seen(kind=page.kind)
        failure = page.failure
        group = group_of(self.given, source, page, None)
        if failure is None and group[0] == "folder":
            leaves, _, failure = prepared_page(page, self.given.options or Options(), self.given.limits)
            group = group_of(self.given, source, page, leaves.head if leaves is not None else None)
        return _Seen(group, _shape(page), self.given.selection.shows(page), failure)

    @staticmethod
    def crashed(source: Source, why: str, given: Given) -> list[_Seen]:
        """What is told of a page that failed twice."""
        page = lost_page(source, why)
        if given.selection.excludes(page):
            return [_Seen(kind=EXCLUDED)]
        return [_Seen(group_of(given, source, page, None), _shape(page), given.selection.shows(page), page.failure)]

    @staticmethod
    def joined(parts: list[list[_Seen]]) -> list[_Seen]:
        return [one for part in parts for one in part]


def survey_crawl(
    paths: str | Path | Iterable[str | Path],
    jobs: int | Crew = 1,
    *,
    limits: Limits | None = None,
    site: str | None = None,
    site_from: str = "auto",
    limit: int | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    fetched: str | None = None,
    fields: Mapping[str, str] | None = None,
    ignore: Sequence[Path] = (),
    progress: Progress | None = None,
) -> list[SiteSurvey]:
    """What `extract_crawl` with these arguments would read, by site, in order of their names; files of no site come last.

    Pages that would fail only when they are parsed, or for want of text, are not told from others where their URL is known.
    Raises InputError where there is no page.
    """
    selection = Selection(tuple(include), tuple(exclude), limit)
    given_paths = [paths] if isinstance(paths, str | Path) else list(paths)
    sources = list_sources(given_paths, fetched=fetched, ignore=ignore, fields=Fields.of(fields))
    seen: list[_Seen] = []
    chunks = [sources[start : start + CHUNK] for start in range(0, len(sources), CHUNK)]
    with crewed(jobs, limits) as crew:
        given = Given(None, site, site_from, selection, limits=crew.limits)
        for part in crew.in_order(_Surveyor, (given,), chunks):
            seen.extend(part)
            if progress is not None:
                progress("survey", len(seen), len(sources))
    return _by_site(given, sources, seen)


def _by_site(given: Given, sources: list[Source], seen: list[_Seen]) -> list[SiteSurvey]:
    site_of = resolve(one.group for one in seen)
    found: dict[str, SiteSurvey] = {}
    of_folder: dict[str, set[str]] = defaultdict(set)
    for source, one in zip(sources, seen, strict=True):
        if one.group is None:
            continue
        name, how = site_of[one.group]
        of_folder[source.folder].add(name)
        survey = found.setdefault(name, SiteSurvey(name))
        if given.selection.limit is not None and survey.pages >= given.selection.limit:
            continue
        survey.pages += 1
        survey.shown += one.shown
        survey.found[how] += 1
        survey.shapes[one.shape] += 1
        if one.failure is not None:
            survey.failures.append((source.path, one.failure.kind, one.failure.message))
    if not found:
        raise no_page(Counter(one.kind for one in seen if one.kind is not None))
    for source, one in zip(sources, seen, strict=True):
        if one.kind is not None:
            name = _site_of_file(given, source, of_folder)
            name = name if name in found else ""
            found.setdefault(name, SiteSurvey(name)).skipped[one.kind] += 1
    return sorted(found.values(), key=lambda survey: (not survey.name, survey.name))


def _site_of_file(given: Given, source: Source, of_folder: dict[str, set[str]]) -> str:
    """The site that a file which is no page belongs to, as a page beside it would; "" where pages beside it differ."""
    if given.site is not None:
        return valid(given.site)
    if given.site_from == "folder":
        return valid(source.folder_site)
    host = host_of(source.url)
    if host:
        return registrable_domain(host) if given.site_from == "domain" else host
    names = of_folder.get(source.folder, set())
    return next(iter(names)) if len(names) == 1 else ""


def _shape(page: Page) -> str:
    shape = url_shape(page.url)
    return (_SEGMENTS.sub("", shape) or "/") if shape else NO_URL
