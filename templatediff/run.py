"""Whole crawls: the pipeline over every page of many sites, in one process or several.

A crawl is read twice. The first reading fingerprints every page and merges site profiles; these are spooled to a folder
in the form `learn` stores them, and the second reading applies that folder as `extract --templates` would: so learning
and extracting at once, or one after the other, give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from templatediff import cuts
from templatediff.applying import Applier, apply
from templatediff.crawl import Fields, Source, list_sources
from templatediff.errors import InputError, OutputError, UsageError
from templatediff.extraction import Extraction
from templatediff.given import Given, Progress, Totals
from templatediff.journal import Entry, Journal, inputs_of, templates_hash
from templatediff.limits import Limits
from templatediff.names import part_name
from templatediff.options import Options
from templatediff.page import utc_text
from templatediff.parallel import Crew, crewed
from templatediff.pipeline import ALONE, Template
from templatediff.profile import SiteProfile
from templatediff.reading import Reading, read
from templatediff.rules import read_rules
from templatediff.score import shipped
from templatediff.selection import Selection
from templatediff.spool import Spool, writing_temporaries
from templatediff.statics import write_statics
from templatediff.store import PROFILE_FILE, holds_site, read_json, read_profile, site_folder, site_folders
from templatediff.upkeep import put

__all__ = ["Progress", "Totals", "extract_crawl", "learn_crawl"]


def extract_crawl(
    paths: str | Path | Iterable[str | Path],
    templates: str | Path | Mapping[str, Template] | None = None,
    jobs: int | Crew = 1,
    *,
    options: Options | None = None,
    limits: Limits | None = None,
    site: str | None = None,
    site_from: str = "auto",
    update: bool = False,
    limit: int | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    fetched: str | None = None,
    fields: Mapping[str, str] | None = None,
    carry: Sequence[str] = (),
    parts: Sequence[str] | None = None,
    ignore: Sequence[Path] = (),
    template_text: str | Path | None = None,
    see: Callable[[Template], None] | None = None,
    totals: Totals | None = None,
    progress: Progress | None = None,
    journal: Journal | None = None,
) -> Iterator[Extraction]:
    """The content of every page of a crawl, in byte order of `path`; of an archive in stored order.

    paths      folders, files and archives
    templates  a folder of stored templates, or templates by site: applied, and nothing is learned (with `update`:
               the folder learns from the crawl first)
    jobs       processes; none is started for 1. Or a crew of the caller's, which brings its limits
    limits     what one page may take; those on time and memory hold in processes that are started
    site       the site of every page; else `site_from` "auto", "folder" or "domain" finds it
    limit      pages of each site, the first in order
    include    globs on the URL, else the path (`templatediff.selection.Selection`): only such pages come out
    exclude    globs: such pages neither teach nor come out
    fields     names of the fields of JSON lines: {"html": "raw", "url": "address", "fetched": "when"}, any of them
    carry      fields of a JSON line or sidecar that go into `source` of its page's record
    parts      of "markdown", "html", "leaves", what each record brings along; None works them out when asked for
    ignore     files and folders that are never read (the output)
    template_text  a file for the static text of the sites, each leaf once (`templatediff.template.static_text`)
    see        is shown the template of each site that has one, by name, before the first record
    totals     is counted up while the records are drawn
    journal    keeps what a run needs to go on (`templatediff.journal`); pages that it knows to be done are counted, but
               their records do not come again. Not with templates by site

    Raises InputError where there is no page, TemplateError for damaged templates. A page that fails is a record.
    """
    totals = totals if totals is not None else Totals()
    if template_text is not None:
        ignore = [*ignore, Path(template_text), part_name(Path(template_text))]
    with crewed(jobs, limits) as crew:
        given = Given(
            options, site, site_from, Selection(tuple(include), tuple(exclude), limit), fields=Fields.of(fields, carry),
            limits=crew.limits,
        )  # fmt: skip
        given, reading = prepared(
            _several(paths), given, templates, crew, update, fetched, ignore, totals, progress, keep=True
        )
        work = reading.work()
        if not work:
            raise InputError(f"no page of the input matches {' or '.join(given.selection.include)}")
        try:
            if template_text is not None:
                _write_statics(given, reading, Path(template_text))
            if see is not None:
                for template in _templates(given, reading.sites):
                    see(template)
            past = _begun(journal, given, reading) if journal is not None else ()
            yield from apply(given, work, crew, parts, totals, progress, journal, past)
        finally:
            if given.cuts is not None:
                cuts.remove(given.cuts)
            if given.spool is not None and parts is not None:
                given.spool.remove()  # else it lives as long as a record that may still be asked for its parts


def _begun(journal: Journal, given: Given, reading: Reading) -> Sequence[Entry]:
    assert given.templates is not None, "templates are in a folder"
    inputs = inputs_of((source.path, source.file) for source in reading.sources)
    templates = templates_hash(Path(given.templates), reading.sites, given.rules)
    return journal.begin(inputs, templates, [given.rules.get(each.site, ()) for each in reading.work()])


def prepared(
    paths: Sequence[str | Path],
    given: Given,
    templates: str | Path | Mapping[str, Template] | None,
    crew: Crew,
    update: bool,
    fetched: str | None,
    ignore: Sequence[Path],
    totals: Totals,
    progress: Progress | None,
    keep: bool = False,
) -> tuple[Given, Reading]:
    """The first reading, and what is given with the templates in place that it calls for. With `keep` what is cut to learn
    from is kept for a second reading."""
    folder = Path(templates) if isinstance(templates, (str, Path)) else None
    if update and folder is None:
        raise UsageError("update needs a folder of templates to learn into")
    if folder is not None and any(Path(path).resolve().is_relative_to(folder.resolve()) for path in paths):
        raise UsageError(f"the template folder {folder} is or holds the input: give another folder for the templates")
    given = replace(given, fit=templates is not None and not update, teaches=templates is None or update, again=True)
    sources = list_sources(paths, fetched=fetched, ignore=[*ignore, *([folder] if folder else [])], fields=given.fields)
    if given.teaches:
        spool = Spool()
        given = replace(given, spool=spool, cuts=str(spool.folder) if keep else None)
    reading = read(given, sources, crew, totals, progress)
    if isinstance(templates, Mapping):
        _check_options(given, templates)
        rules = {name: template.rules for name, template in templates.items()}
        return replace(given, named=templates, rules=rules), reading
    if folder is None:
        assert given.spool is not None
        try:
            _spool(reading.profiles, given.spool)
        except OutputError:  # what was kept may have taken the room; it can be done without
            cuts.remove(str(given.spool.folder))
            _spool(reading.profiles, given.spool)
        return replace(given, templates=str(given.spool.folder)), reading
    names = sorted(set(reading.sites))
    given = replace(given, rules={name: read_rules(folder, folder / site_folder(name)) for name in names})
    if update:
        _save_profiles(reading.profiles, folder, True, totals)
    else:
        _check_stored(given, folder, names, totals)
    return replace(given, templates=str(folder)), reading


def _spool(profiles: dict[str, SiteProfile], spool: Spool) -> None:
    """The profiles in a folder of templates; `profiles` is emptied, so that memory stays bounded."""
    for name in list(profiles):
        place = spool.folder / site_folder(name)
        with writing_temporaries():
            place.mkdir(exist_ok=True)
            profiles[name].save(place / PROFILE_FILE)
        del profiles[name]


def _check_stored(given: Given, folder: Path, names: Sequence[str], totals: Totals) -> None:
    """Warn of sites without a stored template, or without a profile; refuse templates of other options."""
    site_folders(folder)
    absent = [name for name in names if not holds_site(Path(folder, site_folder(name)))]
    for name in absent:
        totals.warnings.append(f"no template of {name} in {folder}: its pages are done in gist mode")
    alone = [name for name in names if _has_no_profile(Path(folder, site_folder(name)))]
    totals.warnings.extend(ALONE % name for name in alone)
    _check_options(given, {name: _Stored(Path(folder, site_folder(name))) for name in names if name not in absent})


def _has_no_profile(place: Path) -> bool:
    return holds_site(place) and not (place / PROFILE_FILE).is_file()


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


def _check_options(given: Given, templates: Mapping[str, Any]) -> None:
    if given.options is None:
        return
    for name, template in templates.items():
        differing = template.options.differing(given.options)
        if differing:
            raise UsageError(
                f"the template of {name} was made with different {', '.join(differing)}: leave the option out, or learn again"
            )


def _write_statics(given: Given, reading: Reading, file: Path) -> None:
    pages: dict[str, list[Source]] = {}
    for source, name in zip(reading.sources, reading.sites, strict=True):
        if source.path not in reading.lost:
            pages.setdefault(name, []).append(source)
    write_statics(file, _templates(given, reading.sites), pages)


def _templates(given: Given, sites: Iterable[str]) -> Iterator[Template]:
    """The templates of these sites by name, one at hand at a time."""
    applier = Applier(given, ())
    for name in sorted(set(sites)):
        template = applier.template(name)
        if template is not None:
            yield template


def learn_crawl(
    paths: str | Path | Iterable[str | Path],
    folder: str | Path,
    jobs: int | Crew = 1,
    *,
    update: bool = False,
    since: str | None = None,
    options: Options | None = None,
    limits: Limits | None = None,
    site: str | None = None,
    site_from: str = "auto",
    limit: int | None = None,
    exclude: Sequence[str] = (),
    fetched: str | None = None,
    fields: Mapping[str, str] | None = None,
    ignore: Sequence[Path] = (),
    totals: Totals | None = None,
    progress: Progress | None = None,
) -> list[str]:
    """Learn the sites of a crawl into a folder of templates; the names of the sites that were written, in order.

    With `update` the folder's own memory of these sites is kept and added to, else it is replaced; what was fetched before
    `since` (ISO 8601), and undated pages, are dropped from the memory of these sites first. The other arguments are those of
    `extract_crawl`. Raises InputError, OutputError, TemplateError, MismatchError, UsageError.
    """
    if since is not None and not update:
        raise UsageError("since drops older pages from templates that are there: it needs update")
    since = utc_text(since, "since")
    totals = totals if totals is not None else Totals()
    with crewed(jobs, limits) as crew:
        selection = Selection(exclude=tuple(exclude), limit=limit)
        given = Given(
            options, site, site_from, selection, since=since or "", fields=Fields.of(fields), limits=crew.limits
        )  # fmt: skip
        sources = list_sources(_several(paths), fetched=fetched, ignore=[*ignore, Path(folder)], fields=given.fields)
        reading = read(given, sources, crew, totals, progress)
    profiles = reading.profiles
    if not profiles:
        raise InputError("no page with text to learn from")
    totals.pages = len(reading.sources)
    totals.failed = len(totals.failures)
    del sources, reading  # the names of a hundred thousand pages take as much memory as deriving their template
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
