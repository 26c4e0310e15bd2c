"""`templatediff explain`: every leaf of a page, kept or dropped, and why."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from templatediff.cli.common import jobs_option, page_options, speech_options
from templatediff.cli.output import for_terminal, json_line, utf8
from templatediff.cli.progress import Progress
from templatediff.cli.single import Single, extract_single, single_options
from templatediff.cli.sink import stdout
from templatediff.cli.speech import is_terminal, plural, printable, say
from templatediff.cli.table import short
from templatediff.errors import UsageError
from templatediff.options import Options

if TYPE_CHECKING:
    from templatediff.extraction import Extraction
    from templatediff.parallel import Crew

INDENT = " " * 6
_RANGE = re.compile(r"([01]|[01]?\.[0-9]+)-([01]|[01]?\.[0-9]+)")
# `templatediff.extraction` names these, but it loads numpy, which --help need not wait for
EXPLAINED, SOURCE = "explained", "source"


@click.command()
@single_options
@click.option(
    "--beside",
    metavar="INPUT",
    multiple=True,
    type=click.Path(path_type=Path),
    help="First learn from INPUT, a crawl, as extract does; FILE may be one of its pages. Repeatable.",
)
@click.option(
    "--find", metavar="TEXT", help="Only leaves that hold TEXT; if none does, say where on the page it stands."
)
@click.option(
    "--p",
    "between",
    metavar="LOW-HIGH",
    callback=lambda ctx, param, value: p_range(value or "0-1"),
    help="Only leaves whose P(content) is from LOW to HIGH, as in .2-.8: the close calls.",
)
@click.option("--format", "form", type=click.Choice(("text", "jsonl")), default="text", help="Default: text.")
@page_options
@jobs_option
@speech_options
def explain(
    single: Single,
    beside: tuple[Path, ...],
    find: str | None,
    between: tuple[float, float],
    form: str,
    options: Options | None,
    crew: Crew,
    progress: Progress,
) -> int:
    """Tell why each leaf of a page was kept or dropped.

    FILE is a page, - reads it from stdin. Without --templates and --beside the page itself is all the evidence. In page
    order, each leaf has its label, P(content), the number of other pages that have it, its slot, the strongest reasons
    (because) and what speaks against the label (despite).

    Exit status: 0 done; 1 the page failed; 2 wrong usage, or nothing could be read.
    """
    if find is not None and not find.strip():
        raise UsageError("--find is empty: give some text of the page")
    if single.templates is not None and beside:
        raise UsageError("--templates applies what was learned and --beside learns: give one of the two")
    with progress:
        if beside:
            record = _extract_beside(single, beside, options, crew, progress)
        else:
            record = extract_single(single, "explain", options, (EXPLAINED, SOURCE), crew, progress)
        leaves = record.explain(find) if record.error is None else []
        shown = [leaf for leaf in leaves if between[0] <= leaf["p"] <= between[1]]
    if record.error is not None:
        progress.failure(record.path or "-", record.error.kind, record.error.message)
        return 1
    with stdout() as out:
        if form == "jsonl":
            for leaf in shown:
                line = json_line(leaf)
                out.write(for_terminal(line) if is_terminal(sys.stdout) else line)
        else:
            lines = [*_head(record, leaves, len(shown), find), *_body(shown, whole=bool(progress.verbose))]
            out.write(utf8("".join(f"{line}\n" for line in lines)))
    if find is not None and not leaves and form == "jsonl":
        say(_nowhere(record, find))
    return 0


def p_range(text: str) -> tuple[float, float]:
    """The value of --p.

    >>> p_range(".4-.6"), p_range("0-1")
    ((0.4, 0.6), (0.0, 1.0))
    >>> p_range("0.6")
    Traceback (most recent call last):
    ...
    templatediff.errors.UsageError: --p is '0.6': give two numbers from 0 to 1, the lower first, as in .4-.6
    """
    found = _RANGE.fullmatch(text.strip())
    if found is None or not (ends := (float(found[1]), float(found[2])))[0] <= ends[1] <= 1:
        raise UsageError(f"--p is {text!r}: give two numbers from 0 to 1, the lower first, as in .4-.6")
    return ends


def _extract_beside(
    single: Single, beside: tuple[Path, ...], options: Options | None, crew: Crew, progress: Progress
) -> Extraction:
    from templatediff.beside import extract_beside

    return extract_beside(
        single.spooled(crew.limits),
        beside,
        crew,
        options=options,
        site=single.site,
        url=single.url,
        fields=single.fields,
        parts=(EXPLAINED, SOURCE),
        progress=progress,
    )


def _head(record: Extraction, leaves: Sequence[dict[str, Any]], shown: int, find: str | None) -> Iterator[str]:
    """What is said of the page, and how many of its leaves are there or hold the text, and are shown."""
    if record.mode == "template":
        layout = "no layout" if record.layout is None else f"layout {record.layout}"
        evidence = f"{layout} of {record.site}, beside {plural(record.siblings, 'other page')}"
    else:
        evidence = "by the page alone"
    yield printable(f"{record.path or '-'}: {record.verdict}, confidence {record.confidence:.2f}; {evidence}")
    if record.reason:
        yield printable(f"of the whole page: {record.reason}")
    some = f", {shown:,} shown" if shown < len(leaves) else ""
    if find is not None:
        yield _nowhere(record, find) if not leaves else f"{plural(len(leaves), 'leaf')} with {_quoted(find)}{some}"
    else:
        kept = sum(leaf["content"] for leaf in leaves)
        yield f"{plural(len(leaves), 'leaf')}, {kept:,} kept{some}"


def _body(leaves: Sequence[dict[str, Any]], *, whole: bool) -> Iterator[str]:
    """Each leaf with its reasons; long texts are cut unless they are wanted `whole` or something was found in them."""
    for leaf in leaves:
        yield ""
        yield _line(leaf)
        yield INDENT + (_marked(leaf) if "found" in leaf else printable(leaf["text"]) if whole else short(leaf["text"]))
        for word, reasons in (("because", leaf["reasons"]), ("despite", leaf["against"])):
            if reasons:
                yield f"{INDENT}{word} {'; '.join(map(printable, reasons))}"


def _line(leaf: dict[str, Any]) -> str:
    """Label, score, k of n and slot of a leaf."""
    told = [f"{'kept' if leaf['content'] else 'dropped':7}  P {leaf['p']:.2f}"]
    if leaf["n"] is not None:
        told.append(f"on {leaf['k']} of {leaf['n']} ({leaf['level']})")
    if leaf["slot"] is not None:
        told.append(f"slot {leaf['slot']}")
    if leaf["hidden"]:
        told.append("hidden")
    return f"{leaf['leaf'] + 1:>4}  " + "  ".join(told)


def _marked(leaf: dict[str, Any]) -> str:
    """A leaf's text with what was found in it between [[ and ]]."""
    text, shown, place = leaf["text"], "", 0
    for start, end in leaf["found"]:
        shown += f"{text[place:start]}[[{text[start:end]}]]"
        place = end
    return printable(shown + text[place:])


def _quoted(find: str) -> str:
    return f'"{short(find)}"'


def _nowhere(record: Extraction, find: str) -> str:
    places = record.elsewhere(find)
    if not places:
        return f"{_quoted(find)} is not in the page"
    return f"{_quoted(find)} is in no leaf; it stands in: {', '.join(map(printable, places))}"
