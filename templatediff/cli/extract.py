"""`templatediff extract`: learn from a crawl, then give the content of every page."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from templatediff.cli.common import (
    Crawl,
    Verb,
    crawl_options,
    jobs_option,
    page_options,
    part_options,
    speech_options,
)
from templatediff.cli.ledger import Ledger, check_ending, open_ledger
from templatediff.cli.output import (
    FORMATS,
    Writer,
    check_apart,
    check_no_page,
    chosen_format,
    open_writer,
    output_paths,
    utf8,
)
from templatediff.cli.plan import plan
from templatediff.cli.progress import Progress
from templatediff.cli.resume import Journal
from templatediff.cli.sink import stdout
from templatediff.cli.speech import is_terminal
from templatediff.errors import OutputError, UsageError
from templatediff.names import part_name
from templatediff.options import Options

if TYPE_CHECKING:
    from templatediff.extraction import Extraction
    from templatediff.journal import Row
    from templatediff.parallel import Crew


@dataclass(frozen=True, slots=True)
class Output:
    """Where results go: -o (None: stdout), --format, --with, and the files of --template-text and --report."""

    target: Path | None
    form: str | None
    parts: tuple[str, ...]
    template_text: Path | None
    report: Path | None

    def side_files(self) -> dict[str, Path]:
        """The files beside the records, by option."""
        named = {"--template-text": self.template_text, "--report": self.report}
        return {option: file for option, file in named.items() if file is not None}

    def paths(self) -> tuple[Path, ...]:
        """What is never to be read as input."""
        sides = [path for file in self.side_files().values() for path in (file, part_name(file))]
        return (*output_paths(self.target), *sides)


def output_options(verb: Verb) -> Verb:
    """-o, --format, --with, --leaves, --template-text and --report, given to the verb as `output`."""

    @click.option(
        "-o",
        "--output",
        "target",
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
        "--template-text",
        metavar="FILE",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Write the static text of each site (address, legal notice, menus) into FILE, each leaf once.",
    )
    @click.option(
        "--report",
        metavar="FILE",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Write what was done into FILE: .json the options, the totals, and per site verdicts, layouts and "
        "failures; .csv a row for each page.",
    )
    @functools.wraps(verb)
    def with_output(
        target: Path | None,
        form: str | None,
        parts: tuple[str, ...],
        template_text: Path | None,
        report: Path | None,
        **rest: Any,
    ) -> Any:
        target = None if target == Path("-") else target
        return verb(output=Output(target, form, parts, template_text, report), **rest)

    return with_output


@click.command()
@crawl_options
@click.option(
    "--include",
    metavar="GLOB",
    multiple=True,
    help="Write only pages whose URL, or path where no URL is known, matches GLOB; the others teach all the same. "
    "* matches / too. Repeatable.",
)
@click.option(
    "--carry",
    metavar="NAME,...",
    callback=lambda ctx, param, value: tuple(name.strip() for name in (value or "").split(",") if name.strip()),
    help="Copy these fields of a page's JSON line or sidecar into the key `source` of its record.",
)
@output_options
@click.option(
    "--templates",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Apply the templates stored in DIR and learn nothing.",
)
@click.option("--update", is_flag=True, help="With --templates: first learn from INPUT into DIR.")
@click.option(
    "--resume",
    is_flag=True,
    help="Go on with what an unfinished run of the same options, input and templates left as OUT.part; without one begin.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Only tell per site what would be read: pages, how the site was found, URL shapes, what is skipped.",
)
@page_options
@jobs_option
@speech_options
def extract(
    crawl: Crawl,
    include: tuple[str, ...],
    carry: tuple[str, ...],
    output: Output,
    templates: Path | None,
    update: bool,
    resume: bool,
    dry_run: bool,
    options: Options | None,
    crew: Crew,
    progress: Progress,
) -> int:
    """Learn the templates of a crawl's sites, then write the content of every page.

    INPUT is a folder of pages, a page, an archive (WARC, WACZ, zip, tar, JSON lines), or - for a page or JSON lines on stdin.

    Exit status: 0 done; 1 done, but some pages failed; 2 wrong usage, or nothing could be done.
    """
    if update and templates is None:
        raise UsageError("--update needs --templates DIR, the folder to learn into")
    if resume and output.target is None:
        raise UsageError("--resume goes on with an unfinished OUT.part: it needs -o OUT")
    check_apart(output.target, crawl.paths)
    _check_side_files(output, crawl)
    writer = open_writer(output.target, output.form, output.parts, resume=resume)
    asked: dict[str, Any] = crawl.arguments() | {"include": include, "ignore": output.paths()}
    if dry_run:
        return _show_plan(
            crawl, asked | {"ignore": [*output.paths(), *([templates] if templates else [])]}, crew, progress
        )
    if output.target is None and chosen_format(None, output.form) == "html":
        _refuse_several(crawl, include)
    progress.records_on_terminal = output.target is None and is_terminal(sys.stdout)
    if carry and output.target is None and chosen_format(None, output.form) != "jsonl":
        raise UsageError(
            "--carry adds a key to JSON lines: give --format jsonl, or -o FOLDER, whose index.jsonl has it"
        )
    asked |= {
        "carry": carry,
        "templates": templates,
        "update": update,
        "options": options,
        "template_text": output.template_text,
    }
    return _run(crawl, asked, writer, output, crew, progress)


def _check_side_files(output: Output, crawl: Crawl) -> None:
    """Refuses a file that is something else already; better said before an hour of learning than after."""
    taken = {os.path.realpath(path) for path in (*crawl.paths, *([output.target] if output.target else []))}
    for option, file in output.side_files().items():
        if file == Path("-"):
            raise UsageError(f"{option} needs a file: stdout is for the records")
        if os.path.realpath(file) in taken:
            raise UsageError(f"{option} {file} is the input or the output: give another file")
        taken.add(os.path.realpath(file))
        check_no_page(option, file)
        if option == "--report":
            check_ending(file)
        if not file.parent.is_dir():
            raise OutputError(f"cannot write {file}: there is no folder {file.parent}")


def _refuse_several(crawl: Crawl, include: tuple[str, ...]) -> None:
    """HTML of several pages cannot share stdout; better said before an hour of learning than after."""
    from templatediff.crawl import read_crawl
    from templatediff.selection import Selection

    chosen = Selection(include, crawl.exclude)
    pages = (
        page
        for page in read_crawl(crawl.paths, fields=crawl.fields)
        if chosen.shows(page) and not chosen.excludes(page)
    )
    if crawl.limit is None and len(list(itertools.islice(pages, 2))) > 1:
        raise UsageError("several pages of HTML need a folder: give -o FOLDER")


def _show_plan(crawl: Crawl, asked: dict[str, Any], crew: Crew, progress: Progress) -> int:
    from templatediff.survey import survey_crawl

    with progress:
        surveys = survey_crawl(crawl.paths, crew, **asked, progress=progress)
    failures = [failure for survey in surveys for failure in survey.failures]
    for failure in failures:
        progress.failure(*failure)
    with stdout() as out:
        out.write(utf8(plan(surveys)))
    return 1 if failures else 0


def _run(crawl: Crawl, asked: dict[str, Any], writer: Writer, output: Output, crew: Crew, progress: Progress) -> int:
    from templatediff.journal import Row
    from templatediff.run import Totals, extract_crawl

    totals = Totals()
    told = _told(crawl, asked, output)
    try:
        with progress, open_ledger(output.report, told) as ledger, contextlib.ExitStack() as opened:
            journal = None
            if output.target is not None and not _is_special(output.target):
                options = {name: value for name, value in told.items() if name not in ("input", "output", "templates")}
                options |= {"limits": crew.limits.deciding()}
                journal = opened.enter_context(Journal(output.target, writer, options, _shown(ledger, progress)))
            opened.enter_context(writer)
            records = extract_crawl(
                crawl.paths, jobs=crew, **asked, parts=writer.parts, totals=totals, progress=progress, journal=journal
            )  # fmt: skip
            with contextlib.closing(cast("Generator[Extraction]", records)):  # ends its processes on an error
                for record in records:
                    if record.error is not None:
                        progress.failure(record.path or "-", record.error.kind, record.error.message)
                    writer.write(record)
                    if output.report is not None:
                        ledger.add(Row.of(record))
            ledger.close(totals)
    except (KeyboardInterrupt, OutputError):
        if writer.kept and output.target is not None:
            progress.warn(f"{part_name(output.target)} is kept: the same command with --resume goes on with it")
        raise
    progress.totals(totals)
    return 1 if totals.failed else 0


def _shown(ledger: Ledger, progress: Progress) -> Callable[[Row], None]:
    def show(row: Row) -> None:
        if row.error is not None:
            progress.failure(row.path, row.error.kind, row.error.message)
        ledger.add(row)

    return show


def _is_special(target: Path) -> bool:
    """A pipe or a device is written as it is, and keeps nothing."""
    return target.exists() and not target.is_file() and not target.is_dir()


def _told(crawl: Crawl, asked: dict[str, Any], output: Output) -> dict[str, Any]:
    """The options of a run, for its report."""
    options: Options | None = asked["options"]
    named = {
        "input": [str(path) for path in crawl.paths],
        "output": str(output.target) if output.target else None,
        "format": chosen_format(output.target, output.form),
        "with": list(output.parts),
        "templates": str(asked["templates"]) if asked["templates"] else None,
        "update": asked["update"],
        "include": list(asked["include"]),
        "carry": list(asked["carry"]),
        **crawl.arguments(),
    }
    return named | ((options or Options()).to_dict() if asked["templates"] is None or options else {})
