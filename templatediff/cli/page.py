"""`templatediff page`: the content of one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from templatediff.cli.common import limit_options, page_options, part_options, speech_options
from templatediff.cli.output import FORMATS, open_writer
from templatediff.cli.progress import Progress
from templatediff.cli.single import extract_single, read_single
from templatediff.errors import UsageError
from templatediff.options import Options

if TYPE_CHECKING:
    from templatediff.parallel import Crew


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
@limit_options
@speech_options
def page(
    file: Path,
    templates: Path | None,
    url: str | None,
    site: str | None,
    form: str,
    parts: tuple[str, ...],
    options: Options | None,
    crew: Crew,
    progress: Progress,
) -> int:
    """Write the content of one page, read from FILE or (-) from stdin.

    Without --templates the page itself is all the evidence.

    Exit status: 0 done; 1 the page failed; 2 wrong usage, or nothing could be read.
    """
    if parts and form != "jsonl":
        raise UsageError("--with adds keys to a JSON line: give --format jsonl")
    writer = open_writer(None, form, parts)
    given, folder = read_single(file, url, site, "page", crew.limits)
    with progress, writer:
        record = extract_single(given, folder, templates, options, writer.parts, crew, progress)
        if record.error is not None:
            progress.failure(record.path or "-", record.error.kind, record.error.message)
        writer.write(record)
    return 1 if record.error is not None else 0
