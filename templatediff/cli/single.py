"""What the verbs for one page share: reading it, and extracting it with or without a stored template."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from templatediff.cli.common import read_page, spooled_stdin
from templatediff.cli.progress import Progress
from templatediff.errors import PageError, UsageError
from templatediff.limits import Limits
from templatediff.options import Options
from templatediff.text import valid

if TYPE_CHECKING:
    from templatediff.extraction import Extraction
    from templatediff.page import Page
    from templatediff.parallel import Crew


def read_single(file: Path, url: str | None, site: str | None, verb: str, limits: Limits) -> tuple[Page, str]:
    """The page in FILE or, for -, on stdin, and the folder that names its site if nothing else does."""
    if file.is_dir():
        raise UsageError(f"{file} is a folder: templatediff extract reads crawls, {verb} reads one page")
    place = spooled_stdin(limits.max_bytes) if file == Path("-") else file
    page, folder = read_page(place, str(file), limits.max_bytes)
    return dataclasses.replace(page, url=url or page.url, site=valid(site or "") or page.site), folder


def extract_single(
    page: Page,
    folder: str,
    templates: Path | None,
    options: Options | None,
    parts: tuple[str, ...],
    crew: Crew,
    progress: Progress,
) -> Extraction:
    """The page's content with the template that the folder of templates has of its site, else by the page itself."""
    from templatediff.extraction import failed
    from templatediff.page import Failure, host_of
    from templatediff.store import site_folders

    if templates is not None:
        site_folders(templates)  # refuses a folder that holds no template
    try:
        record, warning = crew.call(extracted, page, folder, templates, options, parts, crew.limits)
    except PageError as error:
        return failed(page, page.site or host_of(page.url) or folder, Failure(error.kind, error.message))
    if warning:
        progress.warn(warning)
    return record


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
