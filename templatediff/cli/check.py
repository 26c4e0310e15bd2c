"""`templatediff template check`: do these pages still fit their templates?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from templatediff.cli.common import Crawl, crawl_options, jobs_option, speech_options
from templatediff.cli.output import utf8
from templatediff.cli.progress import Progress
from templatediff.cli.sink import stdout
from templatediff.cli.speech import printable
from templatediff.cli.table import json_text, table
from templatediff.errors import InputError

if TYPE_CHECKING:
    from templatediff.drift import LayoutFit, SiteFit
    from templatediff.parallel import Crew

DRIFTED = 3  # exit status
COLUMNS = ("site", "layout", "verdict", "pages", "drifted", "leaves found", "text unexplained")


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@crawl_options
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", help="Default: text.")
@jobs_option
@speech_options
def check(folder: Path, crawl: Crawl, form: str, crew: Crew, progress: Progress) -> int:
    """Tell how well pages still fit the templates in DIR, and whether a site has drifted from its own.

    A page has drifted where less than 30 % of the template's leaves are found at their places and more than 30 % of its
    text lies at places that the template does not know. A site has drifted with more than half of its pages, or with five
    of them and a fifth.

    Exit status: 0 all fit; 1 all fit, but some pages failed; 2 wrong usage, or nothing could be done; 3 a site has drifted.
    """
    from templatediff.run import Totals, extract_crawl

    totals = Totals()
    with progress:
        for record in extract_crawl(
            crawl.paths,
            folder,
            crew,
            **crawl.arguments(),
            parts=(),
            totals=totals,
            progress=progress,
        ):
            if record.error is not None:
                progress.failure(record.path or "-", record.error.kind, record.error.message)
    if not totals.fits:
        raise InputError(f"nothing to compare: {folder} has no template with a profile for a site of these pages")
    fits = sorted(totals.fits.items())
    if form == "json":
        text = json_text([_description(name, fit) for name, fit in fits])
    else:
        text = table(COLUMNS, [row for name, fit in fits for row in _rows(name, fit)], left=3)
    with stdout() as out:
        out.write(utf8(text))
    progress.totals(totals, labelled=False)
    if any(fit.drifted for _, fit in fits):
        return DRIFTED
    return 1 if totals.failed else 0


def _by_layout(fit: SiteFit) -> list[tuple[int | None, LayoutFit]]:
    """The layouts by id, and last the pages that fit none."""
    return sorted(fit.layouts.items(), key=lambda item: (item[0] is None, item[0] or 0))


def _rows(site: str, fit: SiteFit) -> Iterator[Sequence[str]]:
    for layout, part in [*_by_layout(fit), ("all", fit.whole)]:
        yield (
            printable(site),
            "none" if layout is None else str(layout),
            "drifted" if part.verdict else "fits",
            f"{part.pages:,}",
            f"{part.drifted:,}",
            "-" if part.found_share is None else f"{part.found_share:.0%}",
            f"{part.unexplained_share:.0%}",
        )


def _description(site: str, fit: SiteFit) -> dict[str, Any]:
    layouts = [{"layout": layout, **_figures(part)} for layout, part in _by_layout(fit)]
    return {"site": site, **_figures(fit.whole), "layouts": layouts}


def _figures(part: LayoutFit) -> dict[str, Any]:
    return {
        "verdict": "drifted" if part.verdict else "fits",
        "pages": part.pages,
        "drifted": part.drifted,
        "found": part.found_share,
        "unexplained": part.unexplained_share,
    }
