"""What the verbs for one page share: its options, reading it, and extracting it with or without a stored template."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from templatediff.cli.common import Verb, field_option, read_page, spooled_stdin
from templatediff.cli.progress import Progress
from templatediff.errors import PageError, UsageError
from templatediff.limits import Limits
from templatediff.options import Options
from templatediff.text import valid

if TYPE_CHECKING:
    from templatediff.extraction import Extraction
    from templatediff.page import Page
    from templatediff.parallel import Crew


@dataclass(frozen=True, slots=True)
class Single:
    """One page to read, what is known of it, and the folder of templates to apply: the arguments of `page` and `explain`."""

    file: Path
    templates: Path | None
    url: str | None
    site: str | None
    fields: Mapping[str, str]

    def spooled(self, limits: Limits) -> Path:
        """The file, or one that holds what is on stdin."""
        return spooled_stdin(limits.max_bytes) if self.file == Path("-") else self.file


def single_options(verb: Verb) -> Verb:
    """FILE, --templates, --url, --site and --field, given to the verb as `single`."""

    @click.argument("file", metavar="FILE|-", type=click.Path(readable=False, path_type=Path))
    @click.option(
        "--templates",
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="Apply the site's template stored in DIR.",
    )
    @click.option("--url", metavar="URL", help="Where the page was fetched: finds the site and makes links absolute.")
    @click.option("--site", metavar="NAME", help="The page is of the site NAME.")
    @field_option
    @functools.wraps(verb)
    def with_single(
        file: Path, templates: Path | None, url: str | None, site: str | None, fields: dict[str, str], **rest: Any
    ) -> Any:
        return verb(single=Single(file, templates, url, site, fields), **rest)

    return with_single


def extract_single(
    single: Single,
    verb: str,
    options: Options | None,
    parts: tuple[str, ...],
    crew: Crew,
    progress: Progress,
) -> Extraction:
    """The page's content with the template that the folder of templates has of its site, else by the page itself."""
    from templatediff.extraction import failed
    from templatediff.page import Failure, host_of
    from templatediff.store import site_folders

    page, folder = _read(single, verb, crew.limits)
    if single.templates is not None:
        site_folders(single.templates)  # refuses a folder that holds no template
    try:
        record, warning = crew.call(extracted, page, folder, single.templates, options, parts, crew.limits)
    except PageError as error:
        return failed(page, page.site or host_of(page.url) or folder, Failure(error.kind, error.message))
    if warning:
        progress.warn(warning)
    return record


def _read(single: Single, verb: str, limits: Limits) -> tuple[Page, str]:
    """The page, and the folder that names its site if nothing else does."""
    if single.file.is_dir():
        raise UsageError(f"{single.file} is a folder: templatediff extract reads crawls, {verb} reads one page")
    page, folder = read_page(single.spooled(limits), str(single.file), limits.max_bytes, single.fields)
    return dataclasses.replace(page, url=single.url or page.url, site=valid(single.site or "") or page.site), folder


def extracted(
    page: Page,
    folder: str,
    templates: Path | None,
    options: Options | None,
    parts: tuple[str, ...],
    limits: Limits,
) -> tuple[Extraction, str | None]:
    """The work on it, done in a process of its own; the record, and what is to be warned of."""
    from templatediff import pipeline
    from templatediff.page import host_of
    from templatediff.rules import read_rules
    from templatediff.store import holds_site, site_folder

    # What the page itself says names its site where its URL is not known.
    alone = pipeline.extract(page, options=options, parts=parts, limits=limits)
    site = page.site or host_of(alone.url) or folder
    if templates is None:
        return dataclasses.replace(alone, site=site), None
    place = templates / site_folder(site)
    if not holds_site(place):
        if rules := read_rules(templates, place):
            used = options or Options()
            alone, _ = pipeline.extract_counted(page, None, used, site, parts, rules=rules, limits=limits)
        warning = f"no template of {site} in {templates}: the page is done in gist mode"
        return dataclasses.replace(alone, site=site), warning
    template = pipeline.load_site(place)
    page = dataclasses.replace(page, site=site)
    return pipeline.extract(page, template=template, options=options, parts=parts, limits=limits), None
