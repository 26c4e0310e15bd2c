"""`templatediff page`: the content of one page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from templatediff.cli.common import limit_options, page_options, part_options, speech_options
from templatediff.cli.output import FORMATS, open_writer
from templatediff.cli.progress import Progress
from templatediff.cli.single import Single, extract_single, single_options
from templatediff.errors import UsageError
from templatediff.options import Options

if TYPE_CHECKING:
    from templatediff.parallel import Crew


@click.command()
@single_options
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", help="Default: text.")
@part_options
@page_options
@limit_options
@speech_options
def page(
    single: Single,
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
    with progress, writer:
        record = extract_single(single, "page", options, writer.parts, crew, progress)
        if record.error is not None:
            progress.failure(record.path or "-", record.error.kind, record.error.message)
        writer.write(record)
    return 1 if record.error is not None else 0
