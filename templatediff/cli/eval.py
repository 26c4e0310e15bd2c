"""`templatediff eval`: any tool's results against gold text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from templatediff.cli.common import speech_options, stdin
from templatediff.cli.output import utf8
from templatediff.cli.progress import Progress
from templatediff.cli.sink import stdout
from templatediff.cli.speech import plural, printable
from templatediff.cli.table import json_text, table

if TYPE_CHECKING:
    from templatediff.judge import PageScore, Summary, Verdicts

SCORES = ("precision", "recall", "F1")
BLOCKS = ("kept", "leaked", "need siblings, leaked")


@click.command("eval")
@click.argument("gold", metavar="GOLD", type=click.Path(path_type=Path))
@click.argument("results", metavar="RESULTS", type=click.Path(path_type=Path))
@click.option("--pages", is_flag=True, help="A line for every page besides, with the blocks that it lost or leaked.")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", help="Default: text.")
@speech_options
def eval_(gold: Path, results: Path, pages: bool, form: str, progress: Progress) -> int:
    """Score RESULTS, JSON lines with path (or url) and text that any tool may have made, against GOLD.

    GOLD is a file of JSON lines with path (or url), text and, if wished, set and blocks, or a folder of PAGE.gold.txt.
    The score is F1 of 4-token shingles, per page, then averaged. A page without a result counts as empty text.
    RESULTS may be - for stdin.
    """
    from templatediff.judge import evaluate, read_gold, read_results

    with progress:
        wanted = read_gold(gold)
        found = evaluate(wanted, read_results(stdin() if str(results) == "-" else results))
        if form == "json":
            text = json_text(found.to_dict())
        else:
            text = _table(found) + ("\n" + _listing(found) if pages else "")
        missing = [page.page for page in found.pages if not page.found]
        if missing:
            progress.warn(
                f"{plural(len(missing), 'page')} without a result, scored as empty text (first: {missing[0]})"
            )
        if found.unknown:
            count = plural(len(found.unknown), "result")
            progress.warn(f"{count} for pages that the gold does not have, left out (first: {found.unknown[0]})")
    with stdout() as out:
        out.write(utf8(text))
    return 0


def _table(found: Verdicts) -> str:
    from templatediff.judge import summary

    sets, whole = found.sets(), summary(found.pages)
    blocks = any(page.blocks for page in found.pages)
    rows = [_row(name or "-", one, blocks) for name, one in sets.items()] if len(sets) > 1 else []
    columns = ("set", "pages", *SCORES, *(BLOCKS if blocks else ()))
    return table(columns, [*rows, _row("all", whole, blocks)], left=1)


def _row(name: str, one: Summary, blocks: bool) -> Sequence[str]:
    cells = [printable(name), f"{one.pages:,}", *(f"{value:.4f}" for value in (one.precision, one.recall, one.f1))]
    if blocks:
        cells += [f"{one.kept:,} of {one.blocks:,}", f"{one.leaked:,} of {one.chrome:,}"]
        cells.append(f"{one.siblings_leaked:,} of {one.siblings:,}")
    return cells


def _listing(found: Verdicts) -> str:
    blocks = any(page.blocks for page in found.pages)
    columns = ("page", *SCORES, *(("lost", "leaked") if blocks else ()))
    return table(columns, list(_page_rows(found.pages, blocks)), left=1)


def _page_rows(pages: Sequence[PageScore], blocks: bool) -> Iterator[Sequence[str]]:
    for page in pages:
        scores = (page.score.precision, page.score.recall, page.score.f1)
        cells = [printable(page.page), *(f"{value:.4f}" for value in scores)]
        if blocks:
            wrong = [block for block in page.blocks if block.wrong]
            cells += [
                printable(", ".join(block.name for block in wrong if block.content is side)) for side in (True, False)
            ]
        yield cells
