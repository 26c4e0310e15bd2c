"""`templatediff template`: look into a folder of learned templates, and what else is done to one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from templatediff.cli.check import check
from templatediff.cli.common import speech_options
from templatediff.cli.diff import diff
from templatediff.cli.merge import merge
from templatediff.cli.output import utf8
from templatediff.cli.progress import Progress
from templatediff.cli.sink import stdout
from templatediff.cli.speech import plural, printable
from templatediff.cli.table import json_text, short, table
from templatediff.cli.upgrade import upgrade
from templatediff.errors import InputError

if TYPE_CHECKING:
    from templatediff.slots import Slot
    from templatediff.template import Layout, SiteTemplate

COLUMNS = ("site", "layout", "pages", "static leaves", "slots")


@click.group()
def template() -> None:
    """Look into learned templates, compare, merge and check them."""


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
        text = json_text([_description(each) for each in templates])
    else:
        text = table(COLUMNS, _rows(templates))
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


def _listing(templates: Sequence[SiteTemplate]) -> list[str]:
    """Per layout its static leaves with k of n, then its slots with their type and share of pages."""
    lines = []
    for each in templates:
        for layout in each.layouts:
            lines.append(f"{printable(each.site)}, layout {layout.id}, {plural(layout.pages, 'page')}:")
            lines += [
                f"  static  {leaf.k} of {leaf.n}  {short(leaf.text)}  [{printable(leaf.selector)}]"
                for leaf in layout.static
            ]
            lines += [
                f"  slot    {slot.type}  on {slot.share:.0%}  {short(_around(slot))}  [{printable(slot.selector)}]"
                for slot in layout.slots
            ]
    return lines


def _around(slot: Slot) -> str:
    """The examples of a slot between the words that stay: "Weight: 3 kg | 4 kg", "Posted by [Ann Lee | Bo Dyk] on"."""
    examples = " | ".join(slot.examples)
    if slot.before or slot.after:
        examples = f"{slot.before} [{examples}] {slot.after}".strip()
    return f"{slot.label}: {examples}" if slot.label else examples


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
                "before": slot.before,
                "after": slot.after,
                "label": slot.label,
            }
            for slot in layout.slots
        ],
    }


for verb in (merge, diff, check, upgrade):
    template.add_command(verb)
