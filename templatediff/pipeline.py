"""The stages in their order: learn(pages), extract(page, template). `templatediff.run` does so for whole crawls."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from templatediff.drift import page_fit
from templatediff.errors import InputError, PageError, TemplateDiffError, UsageError
from templatediff.extraction import Extraction, failed
from templatediff.fingerprint import Fingerprint
from templatediff.label import label, overruled
from templatediff.leaves import Leaves
from templatediff.lessons import FirstLooks, teach
from templatediff.limits import DEFAULT, Limits
from templatediff.options import Options
from templatediff.page import Failure, Page, host_of
from templatediff.prepare import as_page, named_host, page_text, prepare
from templatediff.profile import SiteProfile
from templatediff.profile import merge as merge_profiles
from templatediff.record import Tally, record_of, values_of
from templatediff.repetition import View
from templatediff.rules import Rule, judge, read_rules
from templatediff.sample import Sample, take
from templatediff.score import Weights, shipped
from templatediff.store import PROFILE_FILE, TEMPLATE_FILE, out_of_step, read_json, read_profile, save_all, site_folders
from templatediff.template import SiteTemplate, of_profile
from templatediff.text import valid

log = logging.getLogger("templatediff")


class Template(SiteTemplate):
    """A site's template: made by `learn` or `load`, never changed, shared freely between threads."""

    def extract(self, page: Page | str | bytes | Path) -> Extraction:
        """The content of one page of this site. Never raises for what a page holds: see `.verdict` and `.error`."""
        return extract(page, template=self)

    def views(self, page: Fingerprint) -> tuple[View, View | None, int | None]:
        """(site, layout, layout id) as the page sees them, without its own near-duplicate group."""
        return self._taught.views(page)

    @cached_property
    def _taught(self) -> Sample:
        """The sample with what the score makes of its own pages: found when first asked for, since labelling alone needs it."""
        return self.sample if self.profile is None else teach(self.sample, self.weights, self.options.ngram_order)

    def get_ready(self, looks: FirstLooks) -> None:
        """Finds out what labelling needs; `looks` keeps what that tells of the template's own pages."""
        if self.profile is not None:
            self.__dict__["_taught"] = teach(self.sample, self.weights, self.options.ngram_order, looks)

    def update(self, pages: Iterable[Page | str | bytes | Path]) -> Template:
        """A new template, as learned on this one's pages and these."""
        if self.profile is None:
            raise UsageError(
                f"the template of {self.site} has no profile: only the machine that learned it can update it"
            )
        added = learn(pages, site=self.site, options=self.options)
        assert added.profile is not None
        return replace(derive(merge_profiles(self.profile, added.profile)), rules=self.rules)

    def save(self, folder: str | Path) -> None:
        """Write DIR/<site>/template.json and the profile beside it. Raises OutputError."""
        save_all({self.site: self}, Path(folder))


def derive(profile: SiteProfile, weights: Weights | None = None) -> Template:
    """The template of a profile: a pure function of what the profile holds (and of the weights)."""
    weights = weights or shipped()
    return Template(**of_profile(profile, take(profile), weights).__dict__)


def load_site(folder: Path, looks: FirstLooks | None = None) -> Template:
    """The template in one site's folder, from its profile, or from template.json alone, with the user's rules.

    With `looks`, which keeps what is found out about the profile's pages, it is ready to label pages. Raises TemplateError.
    """
    rules = read_rules(folder.parent, folder)
    profile = read_profile(folder)
    # a damaged or newer template.json is refused even where the profile makes it unnecessary: it says the folder is not ours
    stored = read_json(folder, shipped()) if profile is None or (folder / TEMPLATE_FILE).is_file() else None
    made = derive(profile) if profile is not None else Template(**stored.__dict__)
    made = replace(made, rules=rules) if rules else made
    if looks is not None:
        made.get_ready(looks)
    return made


def load(folder: str | Path) -> dict[str, Template]:
    """The templates of a template folder by site. Raises InputError (no such folder), TemplateError (damaged)."""
    places = site_folders(Path(folder))
    found = [load_site(place) for place in places]
    for place, template in zip(places, found, strict=True):
        if template.profile is None:
            log.warning(ALONE, template.site)
        elif out_of_step(template, place):
            log.warning(OUT_OF_STEP, place / TEMPLATE_FILE, folder)
    return {template.site: template for template in found}


ALONE = f"%s has no {PROFILE_FILE}: working from {TEMPLATE_FILE} alone, with less evidence"
OUT_OF_STEP = f"%s is not of the {PROFILE_FILE} beside it, which counts: templatediff template upgrade %s renews it"


def learn(
    pages: Iterable[Page | str | bytes | Path],
    site: str | None = None,
    *,
    options: Options | None = None,
    weights: Weights | None = None,
    limits: Limits = DEFAULT,
) -> Template:
    """Learn the template of one site from its pages (Page, str of HTML, bytes, or Path of a file), in any order.

    `site` names it; else the first site, in alphabetical order, that most of the pages name. Pages that cannot be used
    are left out. `weights` other than the shipped ones serve measuring. Raises InputError where no page is left.
    """
    options = options or Options()
    site = site if site is None else valid(site)
    profile = SiteProfile(site or "", options)
    taught = False
    named: Counter[str] = Counter()
    for given in pages:
        page = as_page(given, limits=limits)
        if page.failure is not None:
            log.warning("%s: %s", page.path or "a page", page.failure.message)
            continue
        try:
            leaves, made = prepare(page, options, limits=limits)
        except PageError as error:
            log.warning("%s: %s", page.path or "a page", error)
            continue
        profile.add(made)
        taught = True
        host = page.site or host_of(page.url) or named_host(leaves.head)
        if host:
            named[host] += 1
    if not taught:
        raise InputError("no page to learn from")
    if site is None:
        profile.site = min(named, key=lambda name: (-named[name], name)) if named else "site"
    return derive(profile, weights)


def extract(
    html: Page | str | bytes | Path,
    url: str | None = None,
    template: SiteTemplate | None = None,
    *,
    options: Options | None = None,
    parts: Sequence[str] = (),
    limits: Limits = DEFAULT,
) -> Extraction:
    """The content of one page; without a template, by what the page itself shows (gist mode).

    html      HTML as str or bytes, the Path of a file, or a Page
    url       where it was fetched: makes links absolute
    template  the site's, from `learn` or `load`
    options   for gist mode (a template brings its own)
    parts     of "markdown", "html", "leaves", what to work out now rather than when asked for
    limits    what the page may take; those on time and memory are for worker processes

    Never raises for what a page holds: see `.verdict`, `.reason` and `.error`. Misuse raises UsageError.
    """
    page = as_page(html, url, limits)
    if template is not None and options is not None and template.options.differing(options):
        raise UsageError(f"the template was made with other options: {', '.join(template.options.differing(options))}")
    used = template.options if template is not None else options or Options()

    def extracted(site: str | None, wanted: tuple[str, ...]) -> Extraction:
        try:
            return extract_counted(page, template, used, site, wanted, limits=limits)[0]
        except MemoryError:
            return failed(page, site, Failure("resource", "memory ran out"))

    def again(wanted: tuple[str, ...]) -> Extraction:
        return extracted(None, wanted)

    made = extracted(page.site or host_of(page.url), tuple(parts))

    return replace(made, _again=again)


def extract_counted(
    page: Page,
    template: SiteTemplate | None,
    options: Options,
    site: str | None,
    parts: tuple[str, ...],
    *,
    fit: bool = False,
    rules: Sequence[Rule] | None = None,
    limits: Limits = DEFAULT,
    prepared: tuple[Leaves, Fingerprint] | None = None,
    looks: FirstLooks | None = None,
) -> tuple[Extraction, Tally]:
    """The extraction and what it adds to the totals; `fit` also measures how well the template fits the page.

    `rules` are the template's own if they are not given. `prepared` is what `prepare` gave for this page; its HTML is then
    looked at for rules and for parts that are made from it alone. `looks` is what deriving the template found out. Raises
    MemoryError: the caller knows whether to try again.
    """
    if site is None and template is not None:
        site = template.site
    if page.failure is not None:
        return failed(page, site, page.failure), Tally()
    try:
        text = page_text(page)
        leaves, made = prepared or prepare(page, options, text, limits)
        labels = label(made, template, template.weights if template is not None else shipped(), looks)
        if rules is None:
            rules = template.rules if template is not None else ()
        if rules:
            labels = overruled(labels, judge(rules, text, leaves, values_of(leaves, labels, template)))
        record, tally = record_of(page, site, text, leaves, labels, template, options, parts, limits)
        if fit and template is not None and template.profile is not None:
            tally = replace(tally, fit=page_fit(labels.context.page, template.sample, labels.layout))
        return record, tally
    except PageError as error:
        return failed(page, site, Failure(error.kind, error.message)), Tally()
    except (TemplateDiffError, MemoryError):
        raise
    except Exception as error:
        # one page must not end the run; the log has the traceback
        log.debug("%s", page.path, exc_info=True)
        return failed(page, site, Failure("internal", f"{type(error).__name__}: {error}")), Tally()
