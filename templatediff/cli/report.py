"""`templatediff report`: labels, templates and evidence as a folder of plain HTML to look at."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from templatediff.cli.common import Crawl, crawl_options_or_none, jobs_option, page_options, speech_options
from templatediff.cli.output import check_apart
from templatediff.cli.progress import Progress
from templatediff.cli.speech import plural, say
from templatediff.errors import UsageError
from templatediff.options import Options

if TYPE_CHECKING:
    from templatediff.parallel import Crew


@click.command()
@crawl_options_or_none
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    required=True,
    type=click.Path(path_type=Path),
    help="Write the report into FOLDER; one that an earlier report made is replaced.",
)
@click.option(
    "--templates",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Apply the templates stored in DIR and learn nothing; without INPUT, report on the templates alone.",
)
@page_options
@jobs_option
@speech_options
def report(
    crawl: Crawl,
    output: Path,
    templates: Path | None,
    options: Options | None,
    crew: Crew,
    progress: Progress,
) -> int:
    """Show a crawl, or stored templates, as plain HTML: open FOLDER/index.html in a browser.

    There are the sites and layouts, each template drawn on a page, and every page's text with the label of each leaf and
    the evidence for it. Nothing of the pages runs or is loaded.

    Exit status: 0 done; 1 done, but some pages failed; 2 wrong usage, or nothing could be done.
    """
    if not crawl.paths and templates is None:
        raise UsageError("nothing to report on: name a crawl folder or pages, or --templates DIR")
    if not crawl.paths and options is not None:
        raise UsageError(
            "templates bring their own options: leave --leaf-tags and the like out where there is no INPUT"
        )
    check_apart(output, crawl.paths if templates is None else (*crawl.paths, templates), earlier=False)

    from templatediff.report.folder import ReportFolder
    from templatediff.report.write import write_report
    from templatediff.run import Totals

    folder = ReportFolder(output)
    folder.check()
    totals = Totals()
    with progress:
        if inputs := [path for path in crawl.paths if folder.target.is_relative_to(os.path.realpath(path))]:
            progress.warn(f"{output} is inside {inputs[0]}: whatever reads that later takes the report for pages, too")
        files, size = write_report(
            crawl.paths,
            output,
            templates,
            crew,
            options=options,
            **crawl.arguments(),
            totals=totals,
            progress=progress,
        )
        for failure in totals.failures:
            progress.failure(*failure)
    progress.totals(totals, labelled=bool(crawl.paths))
    if not progress.quiet:
        say(f"{plural(files, 'file')}, {size / 1e6:,.1f} MB: open {output / 'index.html'}")
    return 1 if totals.failed else 0
