"""`templatediff extract`: learn from a crawl, then give the content of every page."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from templatediff.cli.common import (
    Crawl,
    crawl_options,
    jobs_option,
    page_options,
    part_options,
    speech_options,
)
from templatediff.cli.output import FORMATS, Writer, check_apart, chosen_format, open_writer, output_paths
from templatediff.cli.progress import Progress
from templatediff.cli.speech import is_terminal
from templatediff.errors import OutputError, UsageError
from templatediff.options import Options

if TYPE_CHECKING:
    from templatediff.pipeline import Extraction


@click.command()
@crawl_options
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(path_type=Path),
    help="Write JSON lines to the file OUT (.gz and .zst are compressed), other formats into the folder "
    "OUT: one file a page, and index.jsonl. Default: stdout.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="Default: jsonl on stdout and for an OUT that ends in .jsonl[.gz|.zst], else markdown.",
)
@part_options
@click.option(
    "--templates",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Apply the templates stored in DIR and learn nothing.",
)
@click.option("--update", is_flag=True, help="With --templates: first learn from INPUT into DIR.")
@click.option(
    "--template-text",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the static text of each site (address, legal notice, menus) into FILE, each leaf once.",
)
@page_options
@jobs_option
@speech_options
def extract(
    crawl: Crawl,
    output: Path | None,
    form: str | None,
    parts: tuple[str, ...],
    templates: Path | None,
    update: bool,
    template_text: Path | None,
    options: Options | None,
    jobs: int,
    progress: Progress,
) -> int:
    """Learn the templates of a crawl's sites, then write the content of every page.

    INPUT is a folder of pages, a page, or - for one page on stdin.

    Exit status: 0 done; 1 done, but some pages failed; 2 wrong usage, or nothing could be done.
    """
    if update and templates is None:
        raise UsageError("--update needs --templates DIR, the folder to learn into")
    target = None if output == Path("-") else output
    check_apart(target, crawl.paths)
    _check_template_text(template_text, target, crawl)
    writer = open_writer(target, form, parts)
    if target is None and chosen_format(target, form) == "html":
        _refuse_several(crawl)
    progress.records_on_terminal = target is None and is_terminal(sys.stdout)
    return _run(crawl, writer, output_paths(target), templates, update, template_text, options, jobs, progress)


def _check_template_text(file: Path | None, target: Path | None, crawl: Crawl) -> None:
    """Refuses a file that is something else already; better said before an hour of learning than after."""
    if file is None:
        return
    if file == Path("-"):
        raise UsageError("--template-text needs a file: stdout is for the records")
    place = os.path.realpath(file)
    if place in {os.path.realpath(path) for path in (*crawl.paths, *([target] if target else []))}:
        raise UsageError(f"--template-text {file} is the input or the output: give another file")
    if not file.parent.is_dir():
        raise OutputError(f"cannot write {file}: there is no folder {file.parent}")


def _refuse_several(crawl: Crawl) -> None:
    """HTML of several pages cannot share stdout; better said before an hour of learning than after."""
    from templatediff.crawl import read_crawl

    if crawl.limit is None and len(list(itertools.islice(read_crawl(crawl.paths), 2))) > 1:
        raise UsageError("several pages of HTML need a folder: give -o FOLDER")


def _run(
    crawl: Crawl,
    writer: Writer,
    ignore: tuple[Path, ...],
    templates: Path | None,
    update: bool,
    template_text: Path | None,
    options: Options | None,
    jobs: int,
    progress: Progress,
) -> int:
    from templatediff.run import Totals, extract_crawl

    totals = Totals()
    with progress, writer:
        records = extract_crawl(
            crawl.paths,
            templates,
            jobs,
            options=options,
            site=crawl.site,
            site_from=crawl.site_from,
            update=update,
            limit=crawl.limit,
            fetched=crawl.fetched,
            parts=writer.parts,
            ignore=ignore,
            template_text=template_text,
            totals=totals,
            progress=progress,
        )
        with contextlib.closing(cast("Generator[Extraction]", records)):  # ends its processes on an error
            for record in records:
                if record.error is not None:
                    progress.failure(record.path or "-", record.error.kind, record.error.message)
                writer.write(record)
    progress.totals(totals)
    return 1 if totals.failed else 0
