"""The stages in their order: learn(pages), extract(page, template), and the same for whole crawls.

A crawl is read twice. The first reading fingerprints every page and merges site profiles; these are spooled to a folder
in the form `learn` stores them, and the second reading applies that folder as `extract --templates` would: so learning
and extracting at once, or one after the other, give the same bytes.
"""

from __future__ import annotations

import logging
import tempfile
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from templatediff import render
from templatediff.crawl import Skipped, Source, list_sources, read_source
from templatediff.decode import decode
from templatediff.errors import InputError, PageError, TemplateDiffError, UsageError
from templatediff.fingerprint import Fingerprint, bytes_hash, fingerprint, text_hash
from templatediff.label import EMPTY, ERROR, Labels, headline, label
from templatediff.lessons import teach
from templatediff.evidence import NAMES
from templatediff.options import Options
from templatediff.page import Failure, Page, host_of, normal_url, registrable_domain
from templatediff.parallel import in_order
from templatediff.profile import SiteProfile, merge as merge_profiles
from templatediff.sample import take
from templatediff.score import Weights, shipped
from templatediff.segment import Leaves, segment
from templatediff.template import (
    PROFILE_FILE,
    SiteTemplate,
    of_profile,
    read_json,
    read_profile,
    save_all,
    site_folder,
    site_folders,
)

log = logging.getLogger("templatediff")

PARTS = ("markdown", "html", "leaves")
SITE_FROM = ("auto", "folder", "domain")
_CHUNK = 24  # pages handed to a worker at a time
_KEPT_TEMPLATES = 600  # pages behind the derived templates that a worker keeps at hand
_FEW = 48  # pages up to which starting processes costs more than it saves


@dataclass(frozen=True)
class Extraction:
    """One page's content and what is known of it: the JSON line of DESIGN.md section 6, as attributes.

    `text` is "" if and only if `verdict` is "empty" or "error". `confidence` is the expected F1 of this page, 0..1.
    `markdown`, `html` and `leaves` (leaf records) are worked out when first asked for. str() gives the text.
    """

    path: str | None
    url: str | None
    site: str | None
    layout: int | None
    mode: str
    siblings: int
    title: str | None
    text: str
    verdict: str
    confidence: float
    reason: str | None
    fetched: str | None
    lang: str | None
    text_hash: str
    error: Failure | None
    _parts: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    _again: Callable[[tuple[str, ...]], Extraction] | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return self.text

    @property
    def markdown(self) -> str:
        """The content as Markdown."""
        return str(self._part("markdown"))

    @property
    def html(self) -> str:
        """The content as cleaned, sanitised HTML."""
        return str(self._part("html"))

    @property
    def leaves(self) -> list[dict[str, Any]]:
        """A record for every leaf of the page, kept or dropped (DESIGN.md section 6)."""
        found: list[dict[str, Any]] = self._part("leaves")
        return found

    def _part(self, name: str) -> Any:
        if name not in self._parts:
            if self._again is None:
                raise UsageError(f"{name} was not asked for: name it in parts=")
            self._parts.update(self._again((name,))._parts)
        return self._parts[name]

    def to_dict(self, parts: Sequence[str] = ()) -> dict[str, Any]:
        """The JSON line: the contract's keys in its order, then the named parts."""
        record: dict[str, Any] = {name: getattr(self, name) for name in _KEYS}
        record["error"] = {"kind": self.error.kind, "message": self.error.message} if self.error else None
        for part in PARTS:
            if part in parts:
                record[part] = self._part(part)
        return record

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_again": None}


_KEYS = (
    "path url site layout mode siblings title text verdict confidence reason fetched lang text_hash error"
).split()


@dataclass(slots=True)
class Totals:
    """What a run counted. `failures` are (path, kind, message); `warnings` are said once each."""

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


Progress = Callable[[str, int, int], None]


class Template(SiteTemplate):
    """A site's template: made by `learn` or `load`, never changed, shared freely between threads."""

    def extract(self, page: Page | str | bytes | Path) -> Extraction:
        """The content of one page of this site. Never raises for what a page holds: see `.verdict` and `.error`."""
        return extract(page, template=self)

    def update(self, pages: Iterable[Page | str | bytes | Path]) -> Template:
        """A new template, as learned on this one's pages and these."""
        if self.profile is None:
            raise UsageError(f"the template of {self.site} has no profile: only the machine that learned it can update it")
        added = learn(pages, site=self.site, options=self.options)
        assert added.profile is not None
        return derive(merge_profiles(self.profile, added.profile))

    def save(self, folder: str | Path) -> None:
        """Write DIR/<site>/template.json and the profile beside it. Raises OutputError."""
        save_all({self.site: self}, Path(folder))


def derive(profile: SiteProfile, weights: Weights | None = None) -> Template:
    """The template of a profile: a pure function of what the profile holds (and of the weights)."""
    weights = weights or shipped()
    sample = teach(take(profile), weights.first, NAMES, profile.options.ngram_order)
    made = of_profile(profile, sample, weights.digest)
    return Template(**made.__dict__)


def load_site(folder: Path) -> Template:
    """The template in one site's folder, from its profile, or from template.json alone. Raises TemplateError."""
    profile = read_profile(folder)
    if profile is not None:
        return derive(profile)
    log.warning("%s has no %s: working from template.json alone, with less evidence", folder, PROFILE_FILE)
    return Template(**read_json(folder).__dict__)


def load(folder: str | Path) -> dict[str, Template]:
    """The templates of a template folder by site. Raises InputError (no such folder), TemplateError (damaged)."""
    found = [load_site(place) for place in site_folders(Path(folder))]
    return {template.site: template for template in found}


def learn(
    pages: Iterable[Page | str | bytes | Path], site: str | None = None, *, options: Options | None = None
) -> Template:
    """Learn the template of one site from its pages (Page, str of HTML, bytes, or Path of a file), in any order.

    `site` names it; else the first site, in alphabetical order, that most of the pages name. Pages that cannot be used
    are left out. Raises InputError where no page is left.
    """
    options = options or Options()
    prints: list[Fingerprint] = []
    named: Counter[str] = Counter()
    for given in pages:
        page = as_page(given)
        if page.failure is not None:
            log.warning("%s: %s", page.path or "a page", page.failure.message)
            continue
        try:
            leaves, made = _prepare(page, options)
        except PageError as error:
            log.warning("%s: %s", page.path or "a page", error)
            continue
        prints.append(made)
        host = page.site or host_of(page.url) or _named_host(leaves)
        if host:
            named[host] += 1
    if not prints:
        raise InputError("no page to learn from")
    if site is None:
        site = min(named, key=lambda name: (-named[name], name)) if named else "site"
    profile = SiteProfile(site, options)
    for made in prints:
        profile.add(made)
    return derive(profile)


def as_page(given: Page | str | bytes | Path, url: str | None = None) -> Page:
    """A Page from what a caller has. A short str without "<" that looks like a path or URL raises UsageError."""
    if isinstance(given, Page):
        return replace(given, url=url) if url is not None else given
    if isinstance(given, Path):
        found = read_source(list_sources([given])[0])
        if isinstance(found, Skipped):
            found = Page(b"", path=found.path, failure=Failure("not-html", f"looks like {found.kind}, not like HTML"))
        return replace(found, url=url) if url is not None else found
    if isinstance(given, bytes):
        return Page(given, url=url)
    if not isinstance(given, str):
        raise UsageError(f"a page is HTML as str or bytes, a Path or a Page, not {type(given).__name__}")
    if "<" not in given and len(given) < 1024 and "\n" not in given.strip():
        text = given.strip()
        if text.startswith(("http://", "https://", "/", "./", "../")) or text.lower().endswith((".html", ".htm")):
            raise UsageError(f"{text!r} looks like a path or URL, not like HTML: give a Path, or the page's own text")
    return Page(given, url=url)


def extract(
    html: Page | str | bytes | Path,
    url: str | None = None,
    template: SiteTemplate | None = None,
    *,
    options: Options | None = None,
    parts: Sequence[str] = (),
) -> Extraction:
    """The content of one page; without a template, by what the page itself shows (gist mode).

    html      HTML as str or bytes, the Path of a file, or a Page
    url       where it was fetched: makes links absolute
    template  the site's, from `learn` or `load`
    options   for gist mode (a template brings its own)
    parts     of "markdown", "html", "leaves", what to work out now rather than when asked for

    Never raises for what a page holds: see `.verdict`, `.reason` and `.error`. Misuse raises UsageError.
    """
    page = as_page(html, url)
    if template is not None and options is not None and template.options.differing(options):
        raise UsageError(f"the template was made with other options: {', '.join(template.options.differing(options))}")
    used = template.options if template is not None else options or Options()
    made, _ = _extract(page, template, used, page.site or host_of(page.url), tuple(parts))

    def again(wanted: tuple[str, ...]) -> Extraction:
        return _extract(page, template, used, None, wanted)[0]

    return replace(made, _again=again)


def _extract(
    page: Page, template: SiteTemplate | None, options: Options, site: str | None, parts: tuple[str, ...]
) -> tuple[Extraction, Counter[str]]:
    """The extraction and its leaf counts (static, dynamic, content)."""
    if site is None and template is not None:
        site = template.site
    if page.failure is not None:
        return _failed(page, site, page.failure), Counter()
    try:
        text = _text(page)
        leaves, made = _prepare(page, options, text)
        labels = label(made, template, shipped())
        return _record(page, site, text, leaves, labels, template, options, parts)
    except PageError as error:
        return _failed(page, site, Failure(error.kind, error.message)), Counter()
    except TemplateDiffError:
        raise
    except Exception as error:
        # one page must not end the run; the log has the traceback
        log.debug("%s", page.path, exc_info=True)
        return _failed(page, site, Failure("internal", f"{type(error).__name__}: {error}")), Counter()


def _text(page: Page) -> str:
    return page.html if isinstance(page.html, str) else decode(page.html, page.charset).text


def _prepare(page: Page, options: Options, text: str | None = None) -> tuple[Leaves, Fingerprint]:
    if text is None:
        text = _text(page)
    raw = page.html if isinstance(page.html, bytes) else page.html.encode("utf-8", "surrogatepass")
    leaves = segment(text, options, rich=options.markup == "keep")
    key_url = normal_url(page.url)
    fetched = page.fetched if isinstance(page.fetched, str) else None
    made = fingerprint(
        leaves, options, content_hash=bytes_hash(raw), key_url=key_url, url=key_url, fetched=fetched
    )  # fmt: skip
    return leaves, made


def _failed(page: Page, site: str | None, failure: Failure) -> Extraction:
    return Extraction(
        page.path, page.url, site, None, "gist", 0, None, "", ERROR, 0.0, failure.message,
        page.fetched if isinstance(page.fetched, str) else None, None, f"{text_hash(''):016x}", failure,
    )  # fmt: skip


def _record(
    page: Page,
    site: str | None,
    text: str,
    leaves: Leaves,
    labels: Labels,
    template: SiteTemplate | None,
    options: Options,
    parts: tuple[str, ...],
) -> tuple[Extraction, Counter[str]]:
    kept = labels.kept.tolist()
    content = render.text(leaves, kept)
    verdict, reason = labels.verdict, labels.reason
    if not leaves.has_body:
        reason = "the page has no body"
    if not content.strip():
        verdict, content = EMPTY, ""
    head = leaves.head
    made = Extraction(
        path=page.path,
        url=page.url or _absolute(head.canonical) or _absolute(head.og_url),
        site=site,
        layout=labels.layout if labels.siblings else None,
        mode="template" if labels.siblings else "gist",
        siblings=labels.siblings,
        title=headline(labels, leaves.text),
        text=content,
        verdict=verdict,
        confidence=labels.confidence,
        reason=reason,
        fetched=page.fetched if isinstance(page.fetched, str) else None,
        lang=head.lang,
        text_hash=f"{bytes_hash(content.encode('utf-8', 'surrogatepass')):016x}",
        error=None,
    )
    if "markdown" in parts or "html" in parts:
        rich = leaves if leaves.markup else segment(text, options, rich=True)
        if "markdown" in parts:
            made._parts["markdown"] = render.markdown(rich, kept, url=made.url)
        if "html" in parts:
            made._parts["html"] = render.html(rich, kept, url=made.url)
    changes = Counter(labels.changes())
    counts = Counter(static=changes["static"], dynamic=changes["dynamic"], content=sum(kept))
    if "leaves" in parts:
        made._parts["leaves"] = _leaf_records(leaves, labels, template)
    return made, counts


def _absolute(url: str | None) -> str | None:
    return url if url and normal_url(url) else None


def _leaf_records(leaves: Leaves, labels: Labels, template: SiteTemplate | None) -> list[dict[str, Any]]:
    """The leaf records of DESIGN.md section 6, in page order."""
    page = labels.context.page
    level, _ = labels.level
    k, n = labels.k_of_n()
    changes = labels.changes()
    slots = template.slots_of(labels.layout) if template is not None else {}
    keys = page.local_keys[page.row].tolist() if len(page) else []
    records = []
    start = 0
    for number, text in enumerate(leaves.text):
        slot = slots.get(keys[number]) if changes[number] == "dynamic" else None
        records.append(
            {
                "selector": leaves.elements.selector(leaves.row[number]),
                "start": start,
                "tokens": int(page.token_count[number]),
                "change": changes[number],
                "k": int(k[number]) if n else None,
                "n": n if n else None,
                "level": level,
                "content": bool(labels.kept[number]),
                "p": round(float(labels.p[number]), 4),
                "slot": slot.type if slot else None,
                "value": text if slot else None,
                "reasons": labels.reasons(number),
                "text": text,
            }
        )
        start += len(text) + 2
    return records


def _named_host(leaves: Leaves) -> str | None:
    return host_of(leaves.head.canonical) or host_of(leaves.head.og_url)


# --- whole crawls


@dataclass(frozen=True, slots=True)
class _Given:
    """What a crawl's readings share; sent to every worker."""

    options: Options | None
    site: str | None
    site_from: str
    templates: str | None  # folder of stored templates or spooled profiles
    named: Mapping[str, Template] | None  # templates handed in by the caller


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

    def __call__(self, sources: list[Source]) -> _Read:
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
                    leaves, made = _prepare(page, self.options)
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


def _group(given: _Given, source: Source, page: Page, leaves: Leaves | None) -> _Group:
    if given.site is not None:
        return ("site", given.site)
    if page.site:
        return ("site", page.site)
    if given.site_from == "folder":
        return ("site", source.folder_site)
    host = host_of(page.url)
    if host:
        return ("site", registrable_domain(host) if given.site_from == "domain" else host)
    named = _named_host(leaves) if leaves is not None else None
    if named and given.site_from == "domain":
        named = registrable_domain(named)
    return ("folder", source.folder, source.folder_site, named or "")


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

    def __call__(self, work: list[tuple[Source, str]]) -> list[tuple[Extraction, Counter[str]] | None]:
        return [self.one(source, site, self.parts) for source, site in work]

    def one(self, source: Source, site: str, parts: tuple[str, ...]) -> tuple[Extraction, Counter[str]] | None:
        page = read_source(source)
        if isinstance(page, Skipped):
            return None
        template = self.template(site)
        options = template.options if template is not None else self.given.options or Options()
        return _extract(page, template, options, site, parts)

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
        while len(self.at_hand) > 1 and sum(each.pages if each else 1 for each in self.at_hand.values()) > _KEPT_TEMPLATES:
            self.at_hand.popitem(last=False)
        return found


def extract_crawl(
    paths: Iterable[str | Path],
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
    totals     is counted up while the records are drawn

    Raises InputError where there is no page, TemplateError for damaged templates. A page that fails is a record.
    """
    totals = totals if totals is not None else Totals()
    given, sources, sites, spool = _first_reading(
        list(paths), templates, jobs, options, site, site_from, update, limit, fetched, ignore, totals, progress
    )
    try:
        yield from _second_reading(given, sources, sites, jobs, parts, totals, progress)
    finally:
        if spool is not None:
            spool.cleanup()


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
) -> tuple[_Given, list[Source], list[str], tempfile.TemporaryDirectory[str] | None]:
    """(given with templates in place, pages, site of each page, the spool to clean up)."""
    folder = Path(templates) if isinstance(templates, (str, Path)) else None
    named = templates if isinstance(templates, Mapping) else None
    if update and folder is None:
        raise UsageError("update needs a folder of templates to learn into")
    given = _Given(options, site, _site_from(site_from), None, named)
    sources = list_sources(paths, fetched=fetched, ignore=[*ignore, *([folder] if folder else [])])
    profiles, sources, sites = _read(given, sources, jobs, limit, totals, progress)
    if named is not None:
        _check_options(given, named)
        return given, sources, sites, None
    spool = None
    if folder is not None and not update:
        site_folders(folder)
        absent = sorted({name for name in sites if not Path(folder, site_folder(name)).is_dir()})
        for name in absent:
            totals.warnings.append(f"no template of {name} in {folder}: its pages are done in gist mode")
        _check_options(given, {name: _Stored(Path(folder, site_folder(name))) for name in sorted(set(sites) - set(absent))})
    elif folder is not None:
        _save_profiles(profiles, folder, update=True)
    else:
        spool = tempfile.TemporaryDirectory(prefix="templatediff-")
        folder = Path(spool.name)
        for name in list(profiles):
            place = folder / site_folder(name)
            place.mkdir()
            profiles.pop(name).save(place / PROFILE_FILE)
    return replace(given, templates=str(folder)), sources, sites, spool


@dataclass(frozen=True, slots=True)
class _Stored:
    """The options of a stored template, read only when asked for."""

    folder: Path

    @property
    def options(self) -> Options:
        profile = read_profile(self.folder)
        return profile.options if profile is not None else read_json(self.folder).options


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
    given: _Given, sources: list[Source], jobs: int, limit: int | None, totals: Totals, progress: Progress | None
) -> tuple[dict[str, SiteProfile], list[Source], list[str]]:
    """First reading: (profile of each site, sources that are pages, site of each). Raises InputError for no page."""
    groups, profiles = _learn_all(given, sources, jobs, totals, progress)
    site_of = _resolve(groups)
    pages = [(source, site_of[group], group) for source, group in zip(sources, groups, strict=True) if group is not None]
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
    totals.failures.clear()
    done = 0
    for chunk, records in zip(chunks, in_order(_Applier, (given, wanted), chunks, jobs if len(work) > _FEW else 1), strict=True):
        for (source, name), record in zip(chunk, records, strict=True):
            done += 1
            if record is None:  # it was a page in the first reading: the file changed since
                made, counts = _failed(Page(b"", path=source.path), name, Failure("changed", "changed while it was read")), Counter()
            else:
                made, counts = record
            totals.pages += 1
            totals.static += counts["static"]
            totals.dynamic += counts["dynamic"]
            totals.content += counts["content"]
            if made.error is not None:
                totals.failed += 1
                totals.failures.append((source.path, made.error.kind, made.error.message))
            if made.layout is not None:
                layouts.add((made.site, made.layout))
                totals.layouts = len(layouts)
            if progress is not None:
                progress("extract", done, len(work))
            yield replace(made, _again=_on_demand(applier, source, name)) if applier is not None else made


def _on_demand(applier: _Applier, source: Source, site: str) -> Callable[[tuple[str, ...]], Extraction]:
    def again(parts: tuple[str, ...]) -> Extraction:
        found = applier.one(source, site, parts)
        if found is None or found[0].error is not None:
            raise InputError(f"{source.path} can no longer be read")
        return found[0]

    return again


def learn_crawl(
    paths: Iterable[str | Path],
    folder: str | Path,
    jobs: int = 1,
    *,
    update: bool = False,
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

    With `update` the folder's own memory of these sites is kept and added to, else it is replaced. The other arguments
    are those of `extract_crawl`. Raises InputError, OutputError, TemplateError, MismatchError.
    """
    totals = totals if totals is not None else Totals()
    given = _Given(options, site, _site_from(site_from), None, None)
    sources = list_sources(list(paths), fetched=fetched, ignore=[*ignore, Path(folder)])
    profiles, pages, _ = _read(given, sources, jobs, limit, totals, progress)
    totals.pages = len(pages)
    totals.failed = len(totals.failures)
    names = _save_profiles(profiles, Path(folder), update)
    return names


def _save_profiles(profiles: dict[str, SiteProfile], folder: Path, update: bool) -> list[str]:
    """Derive and write one site after the other; `profiles` is emptied, so that memory stays bounded."""
    names = sorted(profiles)
    for name in names:
        profile = profiles.pop(name)
        if update:
            place = folder / site_folder(name)
            known = read_profile(place) if place.is_dir() else None
            if known is not None:
                known.site = name
                known.absorb(profile)
                profile = known
        save_all({name: derive(profile)}, folder)
    return names
