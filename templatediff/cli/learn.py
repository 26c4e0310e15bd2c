"""`templatediff learn`: the templates of a crawl's sites, into a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from templatediff.cli.common import Crawl, crawl_options, jobs_option, page_options, speech_options
from templatediff.cli.output import check_apart
from templatediff.cli.progress import Progress
from templatediff.errors import UsageError
from templatediff.options import Options

if TYPE_CHECKING:
    from templatediff.parallel import Crew


@click.command()
@crawl_options
@click.option(
    "-o",
    "--output",
    "output",
    metavar="DIR",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the templates into DIR, a folder for each site.",
)
@click.option(
    "--update",
    is_flag=True,
    help="Add to the templates in DIR; without it those of INPUT's sites are replaced.",
)
@click.option(
    "--since",
    metavar="DATE",
    help="With --update: forget what was fetched before DATE (ISO 8601), and undated pages, of INPUT's sites.",
)
@page_options
@jobs_option
@speech_options
def learn(
    crawl: Crawl,
    output: Path,
    update: bool,
    since: str | None,
    options: Options | None,
    crew: Crew,
    progress: Progress,
) -> int:
    """Learn the templates of a crawl's sites into a folder, for extract --templates.

    INPUT is a folder of pages or a page.

    Exit status: 0 done; 1 done, but some pages failed; 2 wrong usage, or nothing could be done.
    """
    if since is not None and not update:
        raise UsageError("--since forgets pages of templates that are there: it needs --update")
    check_apart(output, crawl.paths)

    from templatediff.page import utc_text
    from templatediff.run import Totals, learn_crawl

    since = utc_text(since, "--since")

    totals = Totals()
    with progress:
        learn_crawl(
            crawl.paths,
            output,
            crew,
            update=update,
            since=since,
            options=options,
            **crawl.arguments(),
            totals=totals,
            progress=progress,
        )
        for failure in totals.failures:
            progress.failure(*failure)
    progress.totals(totals, labelled=False)
    return 1 if totals.failed else 0
