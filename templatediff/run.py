"""Whole crawls: the pipeline over every page of many sites, in one process or several.

A crawl is read twice. The first reading fingerprints every page and merges site profiles; these are spooled to a folder
in the form `learn` stores them, and the second reading applies that folder as `extract --templates` would: so learning
and extracting at once, or one after the other, give the same bytes.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
import weakref
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from templatediff.crawl import Skipped, Source, list_sources, read_source
from templatediff.drift import SiteFit, in_words
from templatediff.errors import InputError, PageError, UsageError
from templatediff.options import Options
from templatediff.page import Failure, Page, host_of, registrable_domain, utc_text
from templatediff.parallel import in_order
from templatediff.pipeline import (
    ALONE,
    Extraction,
    Tally,
    Template,
    extract_counted,
    failed,
    load_site,
    named_host,
    prepare,
)
from templatediff.profile import SiteProfile
from templatediff.rules import Rule, read_rules, reports
from templatediff.score import shipped
from templatediff.segment import Leaves
from templatediff.statics import write_statics
from templatediff.store import PROFILE_FILE, read_json, read_profile, site_folder, site_folders
from templatediff.text import valid
from templatediff.upkeep import put

log = logging.getLogger("templatediff")

SITE_FROM = ("auto", "folder", "domain")
_CHUNK = 24  # pages handed to a worker at a time
_KEPT_TEMPLATES = 600  # pages behind the derived templates that a worker keeps at hand
_FEW = 48  # pages up to which starting processes costs more than it saves


@dataclass(slots=True)
class Totals:
    """What a run counted. `failures` are (path, kind, message); `warnings` are said once each; `fits` tells for each
    site whose stored template was applied how well that fits the pages.
    """

    pages: int = 0
    failed: int = 0
    sites: int = 0
    layouts: int = 0
    static: int = 0
    dynamic: int = 0
    content: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    fits: dict[str, SiteFit] = field(default_factory=dict)


Progress = Callable[[str, int, int], None]


class _Spool:
    """A folder that goes when it is no longer used."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="templatediff-"))
        self.remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()  # a worker process reads the folder, the process that made it removes it


@dataclass(frozen=True, slots=True)
class _Given:
    """What a crawl's readings share; sent to every worker."""

    options: Options | None
    site: str | None
    site_from: str
    templates: str | None  # folder of stored templates or spooled profiles
    named: Mapping[str, Template] | None  # templates handed in by the caller
    spool: _Spool | None = None  # keeps the folder while the value lives
    fit: bool = False  # whether to measure how well stored templates fit
    rules: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)  # of each site, from the folder of templates


# where a page's site comes from: ("site", name) is settled; ("folder", folder, folder's name, host or "") waits until
# all pages of the folder are read
_Group = tuple[str, ...]


@dataclass(slots=True)
class _Read:
    """What the first reading of some sources found: the group of each page, None for what is no page."""

    groups: list[_Group | None]
    profiles: dict[_Group, SiteProfile]
    skipped: Counter[str]
    failures: list[tuple[str, str, str]]


class _Learner:
    """Reads sources into profiles, one for each group."""

    def __init__(self, given: _Given) -> None:
        self.given = given
        self.options = given.options or Options()

    def __call__(self, sources: Sequence[Source]) -> _Read:
        found = _Read([], {}, Counter(), [])
        for source in sources:
            page = read_source(source)
            if isinstance(page, Skipped):
                found.skipped[page.kind] += 1
                found.groups.append(None)
                continue
            leaves = made = None
            if page.failure is not None:
                found.failures.append((source.path, page.failure.kind, page.failure.message))
            else:
                try:
                    leaves, made = prepare(page, self.options)
                except PageError as error:
                    found.failures.append((source.path, error.kind, error.message))
                except Exception as error:
                    log.debug("%s", source.path, exc_info=True)
                    found.failures.append((source.path, "internal", f"{type(error).__name__}: {error}"))
            group = _group(self.given, source, page, leaves)
            found.groups.append(group)
            if made is not None and len(made):
                profile = found.profiles.get(group)
                if profile is None:
                    profile = found.profiles[group] = SiteProfile("", self.options)
                profile.add(made)
        return found

    @staticmethod
    def crashed(source: Source) -> _Read:
        """What is told of a page that killed the process twice that read it."""
        given = ("folder", source.folder, valid(source.folder_site), host_of(source.url) or "")
        return _Read([given], {}, Counter(), [(source.path, *_CRASH)])

    @staticmethod
    def joined(parts: list[_Read]) -> _Read:
        found = _Read([], {}, Counter(), [])
        for part in parts:
            found.groups.extend(part.groups)
            found.skipped.update(part.skipped)
            found.failures.extend(part.failures)
            for group, profile in part.profiles.items():
                if group in found.profiles:
                    found.profiles[group].absorb(profile)
                else:
                    found.profiles[group] = profile
        return found


_CRASH = ("resource", "the process that read it died, twice: memory, or a crash in the parser")


def _group(given: _Given, source: Source, page: Page, leaves: Leaves | None) -> _Group:
    if given.site is not None:
        return ("site", given.site)
    if page.site:
        return ("site", page.site)
    if given.site_from == "folder":
        return ("site", valid(source.folder_site))
    host = host_of(page.url)
    if host:
        return ("site", registrable_domain(host) if given.site_from == "domain" else host)
    named = named_host(leaves) if leaves is not None else None
    if named and given.site_from == "domain":
        named = registrable_domain(named)
    return ("folder", source.folder, valid(source.folder_site), named or "")


def _resolve(groups: Iterable[_Group | None]) -> dict[_Group, str]:
    """The site of each group: the host named by more than half of a folder's pages, else each page's own, else the folder."""
    counts: dict[str, Counter[_Group]] = defaultdict(Counter)
    found: dict[_Group, str] = {}
    for group in groups:
        if group is None:
            continue
        if group[0] == "site":
            found[group] = group[1]
        else:
            counts[group[1]][group] += 1
    for members in counts.values():
        total = sum(members.values())
        chosen = next((group[3] for group, count in members.items() if group[3] and 2 * count > total), None)
        for group in members:
            found[group] = chosen or group[3] or group[2]
    return found


class _Applier:
    """Extracts sources with the templates of a folder, keeping a few derived templates at hand."""

    def __init__(self, given: _Given, parts: tuple[str, ...]) -> None:
        self.given = given
        self.parts = parts
        self.at_hand: OrderedDict[str, Template | None] = OrderedDict()

    def __call__(self, work: Sequence[tuple[Source, str]]) -> list[tuple[Extraction, Tally] | None]:
        return [self.one(source, site, self.parts) for source, site in work]

    @staticmethod
    def crashed(work: tuple[Source, str]) -> list[tuple[Extraction, Tally] | None]:
        """The record of a page that killed the process twice that worked on it."""
        source, site = work
        page = Page(b"", url=source.url, fetched=source.fetched, path=source.path)
        return [(failed(page, site, Failure(*_CRASH)), Tally())]

    @staticmethod
    def joined(
        parts: list[list[tuple[Extraction, Tally] | None]],
    ) -> list[tuple[Extraction, Tally] | None]:
        return [one for part in parts for one in part]

    def one(self, source: Source, site: str, parts: tuple[str, ...]) -> tuple[Extraction, Tally] | None:
        page = read_source(source)
        if isinstance(page, Skipped):
            return None
        template = self.template(site)
        options = template.options if template is not None else self.given.options or Options()
        rules = self.given.rules.get(site)
        return extract_counted(page, template, options, site, parts, fit=self.given.fit, rules=rules)

    def template(self, site: str) -> Template | None:
        if self.given.named is not None:
            return self.given.named.get(site)
        if self.given.templates is None:
            return None
        if site in self.at_hand:
            self.at_hand.move_to_end(site)
            return self.at_hand[site]
        place = Path(self.given.templates, site_folder(site))
        found = load_site(place) if place.is_dir() else None
        self.at_hand[site] = found
        while (
            len(self.at_hand) > 1 and sum(each.pages if each else 1 for each in self.at_hand.values()) > _KEPT_TEMPLATES
        ):
            self.at_hand.popitem(last=False)
        return found


def extract_crawl(
    paths: str | Path | Iterable[str | Path],
    templates: str | Path | Mapping[str, Template] | None = None,
    jobs: int = 1,
    *,
    options: Options | None = None,
    site: str | None = None,
    site_from: str = "auto",
    update: bool = False,
    limit: int | None = None,
    fetched: str | None = None,
    parts: Sequence[str] | None = None,
    ignore: Sequence[Path] = (),
    template_text: str | Path | None = None,
    see: Callable[[Template], None] | None = None,
    totals: Totals | None = None,
    progress: Progress | None = None,
) -> Iterator[Extraction]:
    """The content of every page of a crawl, in byte order of `path`.

    paths      folders and files
    templates  a folder of stored templates, or templates by site: applied, and nothing is learned (with `update`:
               the folder learns from the crawl first)
    jobs       processes; none is started for 1
    site       the site of every page; else `site_from` "auto", "folder" or "domain" finds it
    limit      pages of each site, the first in order
    parts      of "markdown", "html", "leaves", what each record brings along; None works them out when asked for
    ignore     files and folders that are never read (the output)
    template_text  a file for the static text of the sites, each leaf once (`templatediff.template.static_text`)
    see        is shown the template of each site that has one, by name, before the first record
    totals     is counted up while the records are drawn

    Raises InputError where there is no page, TemplateError for damaged templates. A page that fails is a record.
    """
    totals = totals if totals is not None else Totals()
    if template_text is not None:
        ignore = [*ignore, Path(template_text), Path(f"{template_text}.part")]
    given, sources, sites, spool = _first_reading(
        _several(paths),
        templates,
        jobs,
        options,
        site,
        site_from,
        update,
        limit,
        fetched,
        ignore,
        totals,
        progress,
    )
    try:
        if template_text is not None:
            _write_statics(given, sources, sites, Path(template_text))
        if see is not None:
            for template in _templates(given, sites):
                see(template)
        yield from _second_reading(given, sources, sites, jobs, parts, totals, progress)
    finally:
        if spool is not None and parts is not None:
            spool.remove()  # else it lives as long as a record that may still be asked for its parts


def _first_reading(
    paths: list[str | Path],
    templates: str | Path | Mapping[str, Template] | None,
    jobs: int,
    options: Options | None,
    site: str | None,
    site_from: str,
    update: bool,
    limit: int | None,
    fetched: str | None,
    ignore: Sequence[Path],
    totals: Totals,
    progress: Progress | None,
) -> tuple[_Given, list[Source], list[str], _Spool | None]:
    """(given with templates in place, pages, site of each page, the spool to clean up)."""
    folder = Path(templates) if isinstance(templates, (str, Path)) else None
    named = templates if isinstance(templates, Mapping) else None
    if update and folder is None:
        raise UsageError("update needs a folder of templates to learn into")
    if folder is not None and any(Path(path).resolve().is_relative_to(folder.resolve()) for path in paths):
        raise UsageError(f"the template folder {folder} is or holds the input: give another folder for the templates")
    given = _Given(options, site, _site_from(site_from), None, named, fit=templates is not None and not update)
    sources = list_sources(paths, fetched=fetched, ignore=[*ignore, *([folder] if folder else [])])
    profiles, sources, sites = _read(given, sources, jobs, limit, totals, progress)
    if named is not None:
        _check_options(given, named)
        return replace(given, rules={name: template.rules for name, template in named.items()}), sources, sites, None
    if folder is not None:
        given = replace(
            given, rules={name: read_rules(folder, folder / site_folder(name)) for name in sorted(set(sites))}
        )  # fmt: skip
    spool = None
    if folder is not None and not update:
        site_folders(folder)
        absent = sorted({name for name in sites if not Path(folder, site_folder(name)).is_dir()})
        for name in absent:
            totals.warnings.append(f"no template of {name} in {folder}: its pages are done in gist mode")
        alone = [name for name in sorted(set(sites)) if _has_no_profile(Path(folder, site_folder(name)))]
        totals.warnings.extend(ALONE % name for name in alone)
        _check_options(
            given,
            {name: _Stored(Path(folder, site_folder(name))) for name in sorted(set(sites) - set(absent))},
        )
    elif folder is not None:
        _save_profiles(profiles, folder, True, totals)
    else:
        spool = _Spool()
        folder = spool.folder
        for name in list(profiles):
            place = folder / site_folder(name)
            place.mkdir()
            profiles.pop(name).save(place / PROFILE_FILE)
    return replace(given, templates=str(folder), spool=spool), sources, sites, spool


def _has_no_profile(place: Path) -> bool:
    return place.is_dir() and not (place / PROFILE_FILE).is_file()


def _several(paths: str | Path | Iterable[str | Path]) -> list[str | Path]:
    return [paths] if isinstance(paths, str | Path) else list(paths)


@dataclass(frozen=True, slots=True)
class _Stored:
    """The options of a stored template, read only when asked for."""

    folder: Path

    @property
    def options(self) -> Options:
        profile = read_profile(self.folder)
        return profile.options if profile is not None else read_json(self.folder, shipped()).options


def _check_options(given: _Given, templates: Mapping[str, Any]) -> None:
    if given.options is None:
        return
    for name, template in templates.items():
        differing = template.options.differing(given.options)
        if differing:
            raise UsageError(
                f"the template of {name} was made with different {', '.join(differing)}: leave the option out, or learn again"
            )


def _site_from(site_from: str) -> str:
    if site_from not in SITE_FROM:
        raise UsageError(f"site_from is {site_from!r}: choose {', '.join(SITE_FROM)}")
    return site_from


def _read(
    given: _Given,
    sources: list[Source],
    jobs: int,
    limit: int | None,
    totals: Totals,
    progress: Progress | None,
) -> tuple[dict[str, SiteProfile], list[Source], list[str]]:
    """First reading: (profile of each site, sources that are pages, site of each). Raises InputError for no page."""
    groups, profiles = _learn_all(given, sources, jobs, totals, progress)
    site_of = _resolve(groups)
    pages = [
        (source, site_of[group], group) for source, group in zip(sources, groups, strict=True) if group is not None
    ]
    if not pages:
        seen = ", ".join(f"{count} {kind}" for kind, count in sorted(totals.skipped.items()))
        raise InputError(f"no HTML page in the input{f' (skipped: {seen})' if seen else ''}")
    if limit is not None:
        taken: Counter[str] = Counter()
        chosen = []
        for source, name, group in pages:
            taken[name] += 1
            if taken[name] <= limit:
                chosen.append((source, name, group))
        if len(chosen) < len(pages):
            # learn from these pages alone; what else is in the folders has had its say on the sites' names
            again = Totals()
            groups, profiles = _learn_all(given, [source for source, _, _ in chosen], jobs, again, progress)
            totals.failures[:] = again.failures
            pages = chosen
    by_site: dict[str, SiteProfile] = {}
    for group in sorted(profiles):
        name = site_of[group]
        if name not in by_site:
            by_site[name] = SiteProfile(name, given.options or Options())
        by_site[name].absorb(profiles.pop(group))
    totals.failed = 0
    totals.sites = len({name for _, name, _ in pages})
    return by_site, [source for source, _, _ in pages], [name for _, name, _ in pages]


def _learn_all(
    given: _Given, sources: list[Source], jobs: int, totals: Totals, progress: Progress | None
) -> tuple[list[_Group | None], dict[_Group, SiteProfile]]:
    groups: list[_Group | None] = []
    profiles: dict[_Group, SiteProfile] = {}
    chunks = [sources[start : start + _CHUNK] for start in range(0, len(sources), _CHUNK)]
    totals.failures.clear()
    totals.skipped.clear()
    for read in in_order(_Learner, (given,), chunks, jobs if len(sources) > _FEW else 1):
        groups.extend(read.groups)
        totals.skipped.update(read.skipped)
        totals.failures.extend(read.failures)
        for group, profile in read.profiles.items():
            if group in profiles:
                profiles[group].absorb(profile)
            else:
                profiles[group] = profile
        if progress is not None:
            progress("learn", len(groups), len(sources))
    return groups, profiles


def _second_reading(
    given: _Given,
    sources: list[Source],
    sites: list[str],
    jobs: int,
    parts: Sequence[str] | None,
    totals: Totals,
    progress: Progress | None,
) -> Iterator[Extraction]:
    wanted = tuple(parts) if parts is not None else ()
    work = list(zip(sources, sites, strict=True))
    chunks = [work[start : start + _CHUNK] for start in range(0, len(work), _CHUNK)]
    layouts: set[tuple[str | None, int]] = set()
    applier = _Applier(given, wanted) if parts is None else None
    matched: Counter[Rule] = Counter()
    conflicts: Counter[tuple[Rule, Rule]] = Counter()
    totals.failures.clear()
    done = 0
    for chunk, records in zip(
        chunks, in_order(_Applier, (given, wanted), chunks, jobs if len(work) > _FEW else 1), strict=True
    ):
        for (source, name), record in zip(chunk, records, strict=True):
            done += 1
            if record is None:  # it was a page in the first reading: the file changed since
                failure = Failure("changed", "changed while it was read")
                record = failed(Page(b"", path=source.path), name, failure), Tally()
            made, tally = record
            totals.pages += 1
            totals.static += tally.static
            totals.dynamic += tally.dynamic
            totals.content += tally.content
            matched.update(tally.matched)
            conflicts.update(tally.conflicts)
            if tally.fit is not None:
                totals.fits.setdefault(name, SiteFit()).add(tally.fit)
            if made.error is not None:
                totals.failed += 1
                totals.failures.append((source.path, made.error.kind, made.error.message))
            if made.layout is not None:
                layouts.add((made.site, made.layout))
                totals.layouts = len(layouts)
            if progress is not None:
                progress("extract", done, len(work))
            yield replace(made, _again=_on_demand(applier, source, name)) if applier is not None else made
    in_play = dict.fromkeys(rule for name in sorted(set(sites)) for rule in given.rules.get(name, ()))
    totals.warnings.extend(reports(list(in_play), matched, conflicts))
    totals.warnings.extend(in_words(name, fit.whole) for name, fit in sorted(totals.fits.items()) if fit.drifted)


def _write_statics(given: _Given, sources: list[Source], sites: list[str], file: Path) -> None:
    pages: dict[str, list[Source]] = {}
    for source, name in zip(sources, sites, strict=True):
        pages.setdefault(name, []).append(source)
    write_statics(file, _templates(given, sites), pages)


def _templates(given: _Given, sites: Iterable[str]) -> Iterator[Template]:
    """The templates of these sites by name, one at hand at a time."""
    applier = _Applier(given, ())
    for name in sorted(set(sites)):
        template = applier.template(name)
        if template is not None:
            yield template


def _on_demand(applier: _Applier, source: Source, site: str) -> Callable[[tuple[str, ...]], Extraction]:
    def again(parts: tuple[str, ...]) -> Extraction:
        found = applier.one(source, site, parts)
        if found is None or found[0].error is not None:
            raise InputError(f"{source.path} can no longer be read")
        return found[0]

    return again


def learn_crawl(
    paths: str | Path | Iterable[str | Path],
    folder: str | Path,
    jobs: int = 1,
    *,
    update: bool = False,
    since: str | None = None,
    options: Options | None = None,
    site: str | None = None,
    site_from: str = "auto",
    limit: int | None = None,
    fetched: str | None = None,
    ignore: Sequence[Path] = (),
    totals: Totals | None = None,
    progress: Progress | None = None,
) -> list[str]:
    """Learn the sites of a crawl into a folder of templates; the names of the sites that were written, in order.

    With `update` the folder's own memory of these sites is kept and added to, else it is replaced; then `since` (ISO 8601)
    drops what was fetched before it, and undated pages, from the memory of these sites. The other arguments are those of
    `extract_crawl`. Raises InputError, OutputError, TemplateError, MismatchError, UsageError.
    """
    if since is not None and not update:
        raise UsageError("since drops older pages from templates that are there: it needs update")
    since = utc_text(since)
    totals = totals if totals is not None else Totals()
    given = _Given(options, site, _site_from(site_from), None, None)
    sources = list_sources(_several(paths), fetched=fetched, ignore=[*ignore, Path(folder)])
    profiles, pages, _ = _read(given, sources, jobs, limit, totals, progress)
    if not profiles:
        raise InputError("no page with text to learn from")
    totals.pages = len(pages)
    totals.failed = len(totals.failures)
    del sources, pages, _  # the names of a hundred thousand pages take as much memory as deriving their template
    return _save_profiles(profiles, Path(folder), update, totals, since)


def _save_profiles(
    profiles: dict[str, SiteProfile], folder: Path, update: bool, totals: Totals, since: str | None = None
) -> list[str]:
    """Derive and write one site after the other; `profiles` is emptied, so that memory stays bounded."""
    written = []
    for name in sorted(profiles):
        template = put(profiles.pop(name), folder, update=update, since=since)
        if template is None:
            totals.warnings.append(f"no page of {name} was fetched since {since}: its template is left as it was")
            continue
        totals.layouts += len(template.layouts)
        written.append(name)
    return written
