"""`templatediff page`: the content of one page."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import click

from templatediff.cli.common import page_options, part_options, read_page, speech_options, spooled_stdin
from templatediff.cli.output import FORMATS, open_writer
from templatediff.cli.progress import Progress
from templatediff.errors import UsageError
from templatediff.options import Options
from templatediff.text import valid

if TYPE_CHECKING:
    from templatediff.page import Page
    from templatediff.pipeline import Extraction


@click.command()
@click.argument("file", metavar="FILE|-", type=click.Path(readable=False, path_type=Path))
@click.option(
    "--templates",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Apply the site's template stored in DIR.",
)
@click.option("--url", metavar="URL", help="Where the page was fetched: makes links absolute and finds the site.")
@click.option("--site", metavar="NAME", help="The page is of the site NAME.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", help="Default: text.")
@part_options
@page_options
@speech_options
def page(
    file: Path,
    templates: Path | None,
    url: str | None,
    site: str | None,
    form: str,
    parts: tuple[str, ...],
    options: Options | None,
    progress: Progress,
) -> int:
    """Write the content of one page, read from FILE or (-) from stdin.

    Without --templates the page itself is all the evidence.

    Exit status: 0 done; 1 the page failed; 2 wrong usage, or nothing could be read.
    """
    if parts and form != "jsonl":
        raise UsageError("--with adds keys to a JSON line: give --format jsonl")
    writer = open_writer(None, form, parts)
    given, folder = _read(file, url, site)
    with progress, writer:
        record = _extract(given, folder, templates, options, writer.parts, progress)
        if record.error is not None:
            progress.failure(record.path or "-", record.error.kind, record.error.message)
        writer.write(record)
    return 1 if record.error is not None else 0


def _read(file: Path, url: str | None, site: str | None) -> tuple[Page, str]:
    """The page, and the folder that names its site if nothing else does."""
    if file.is_dir():
        raise UsageError(f"{file} is a folder: templatediff extract reads crawls, page reads one page")
    page, folder = read_page(spooled_stdin() if file == Path("-") else file, str(file))
    return dataclasses.replace(page, url=url or page.url, site=valid(site or "") or page.site), folder


def _extract(
    page: Page,
    folder: str,
    templates: Path | None,
    options: Options | None,
    parts: tuple[str, ...],
    progress: Progress,
) -> Extraction:
    from templatediff import pipeline
    from templatediff.page import host_of
    from templatediff.rules import read_rules
    from templatediff.store import holds_site, site_folder, site_folders

    if templates is not None:
        site_folders(templates)  # refuses a folder that holds no template
    # What the page itself says names its site where its URL is not known.
    alone = pipeline.extract(page, options=options, parts=parts)
    site = page.site or host_of(alone.url) or folder
    if templates is None:
        return dataclasses.replace(alone, site=site)
    place = templates / site_folder(site)
    if not holds_site(place):
        progress.warn(f"no template of {site} in {templates}: the page is done in gist mode")
        if rules := read_rules(templates, place):
            used = options or Options()
            alone, _ = pipeline.extract_counted(page, None, used, site, parts, rules=rules)
        return dataclasses.replace(alone, site=site)
    template = pipeline.load_site(place)
    return pipeline.extract(dataclasses.replace(page, site=site), template=template, options=options, parts=parts)
