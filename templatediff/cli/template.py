"""`templatediff template`: look into a folder of learned templates."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from templatediff.cli.common import speech_options
from templatediff.cli.output import utf8
from templatediff.cli.progress import Progress
from templatediff.cli.sink import stdout
from templatediff.cli.speech import is_terminal, plural, printable, width
from templatediff.errors import InputError

if TYPE_CHECKING:
    from templatediff.template import Layout, SiteTemplate

COLUMNS = ("site", "layout", "pages", "static leaves", "slots")
TEXT_WIDTH = 100  # characters of a leaf's text in a listing


@click.group()
def template() -> None:
    """Look into learned templates."""


@template.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--site", metavar="NAME", help="Only the site NAME.")
@click.option("--leaves", is_flag=True, help="List the static leaves and slots too.")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", help="Default: text.")
@speech_options
def show(folders: tuple[Path, ...], site: str | None, leaves: bool, form: str, progress: Progress) -> int:
    """Show each site's layouts: pages, static leaves and slots.

    DIR is a folder written by learn -o or extract --update.
    """
    from templatediff.pipeline import load

    with progress:
        found = {(folder, name): each for folder in folders for name, each in sorted(load(folder).items())}
    shown = {key: each for key, each in found.items() if site in (None, key[1])}
    if not shown:
        known = ", ".join(sorted({name for _, name in found})) or "none"
        raise InputError(f"no template of {site} in {', '.join(map(str, folders))}: there are {known}")
    templates = list(shown.values())
    if form == "json":
        text = _json([_description(each) for each in templates])
    elif is_terminal(sys.stdout):
        text = _drawn(templates)
    else:
        text = _plain(templates)
    if leaves and form == "text":
        text += "".join(f"\n{line}\n" if line.endswith(":") else f"{line}\n" for line in _listing(templates))
    with stdout() as out:
        out.write(utf8(text))
    return 0


def _rows(templates: Sequence[SiteTemplate]) -> list[tuple[str, ...]]:
    return [
        (
            printable(each.site),
            str(layout.id),
            f"{layout.pages:,}",
            f"{len(layout.static):,}",
            f"{len(layout.slots):,}",
        )
        for each in templates
        for layout in each.layouts
    ]


def _plain(templates: Sequence[SiteTemplate]) -> str:
    """Columns set apart by spaces, the numbers to the right."""
    rows = [COLUMNS, *_rows(templates)]
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell + pad if column < 2 else pad + cell
            for column, cell in enumerate(row)
            if (pad := " " * (widths[column] - width(cell))) is not None
        ]
        lines.append("  ".join(cells).rstrip() + "\n")
    return "".join(lines)


def _drawn(templates: Sequence[SiteTemplate]) -> str:
    """The same as a table for a terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for number, column in enumerate(COLUMNS):
        table.add_column(column, justify="left" if number < 2 else "right")
    for row in _rows(templates):
        table.add_row(*map(Text, row))
    console = Console(file=sys.stdout)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def _listing(templates: Sequence[SiteTemplate]) -> list[str]:
    """Per layout its static leaves with k of n, then its slots with their type and share of pages."""
    lines = []
    for each in templates:
        for layout in each.layouts:
            lines.append(f"{printable(each.site)}, layout {layout.id}, {plural(layout.pages, 'page')}:")
            lines += [
                f"  static  {leaf.k} of {leaf.n}  {_short(leaf.text)}  [{printable(leaf.selector)}]"
                for leaf in layout.static
            ]
            lines += [
                f"  slot    {slot.type}  on {slot.share:.0%}  {_short(' | '.join(slot.examples))}"
                f"  [{printable(slot.selector)}]"
                for slot in layout.slots
            ]
    return lines


def _short(text: str) -> str:
    text = printable(" ".join(text.split()))
    return text if len(text) <= TEXT_WIDTH else text[: TEXT_WIDTH - 1] + "…"


def _description(template: SiteTemplate) -> dict[str, Any]:
    return {
        "site": template.site,
        "pages": template.pages,
        "options": template.options.to_dict(),
        "layouts": [_layout(layout) for layout in template.layouts],
    }


def _layout(layout: Layout) -> dict[str, Any]:
    return {
        "id": layout.id,
        "pages": layout.pages,
        "signature": layout.signature,
        "static": [{"text": leaf.text, "selector": leaf.selector, "k": leaf.k, "n": leaf.n} for leaf in layout.static],
        "slots": [
            {
                "selector": slot.selector,
                "type": slot.type,
                "share": slot.share,
                "examples": list(slot.examples),
            }
            for slot in layout.slots
        ],
    }


def _json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
