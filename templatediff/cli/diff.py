"""`templatediff template diff`: what changed between two folders of templates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from templatediff.cli.common import speech_options
from templatediff.cli.output import utf8
from templatediff.cli.progress import Progress
from templatediff.cli.sink import stdout
from templatediff.cli.speech import printable
from templatediff.cli.table import json_text, short, table
from templatediff.errors import InputError

if TYPE_CHECKING:
    from templatediff.compare import LayoutChange, SiteChange

COLUMNS = ("site", "layout", "pages", "came", "went", "moved", "slots changed")


@click.command()
@click.argument("old", metavar="OLD", type=click.Path(path_type=Path))
@click.argument("new", metavar="NEW", type=click.Path(path_type=Path))
@click.option("--site", metavar="NAME", help="Only the site NAME.")
@click.option("--leaves", is_flag=True, help="List the leaves and slots that came, went, moved or changed.")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", help="Default: text.")
@speech_options
def diff(old: Path, new: Path, site: str | None, leaves: bool, form: str, progress: Progress) -> int:
    """Show what changed from the templates in OLD to those in NEW.

    Layouts that appeared or disappeared; in the others the static leaves that came, went or moved, and the slots that
    came, went or changed their type. The exit status is 0 whether or not anything changed.
    """
    from templatediff.compare import compare_all
    from templatediff.pipeline import load

    with progress:
        before, after = load(old), load(new)
        if site is not None:
            before, after = ({name: each for name, each in found.items() if name == site} for found in (before, after))
            if not before and not after:
                raise InputError(f"no template of {site} in {old} or {new}")
        changes = compare_all(before, after)
        if form == "json":
            text = json_text([each.to_dict() for each in changes])
        else:
            text = table(COLUMNS, [row for each in changes for row in _rows(each)])
            if leaves:
                text += "".join(f"{line}\n" for each in changes for line in _listing(each))
    with stdout() as out:
        out.write(utf8(text))
    return 0


def _rows(change: SiteChange) -> Iterator[Sequence[str]]:
    for layout in change.layouts:
        slots = len(layout.slots_came) + len(layout.slots_went) + len(layout.slots_changed)
        counts = (
            [f"{count:,}" for count in (len(layout.came), len(layout.went), len(layout.moved), slots)]
            if layout.old is not None and layout.new is not None
            else [""] * 4
        )
        pages = f"{layout.old.pages if layout.old else 0:,} to {layout.new.pages if layout.new else 0:,}"
        yield (printable(change.site), _name(layout), pages, *counts)


def _name(layout: LayoutChange) -> str:
    if layout.old is None:
        return f"{layout.new.id if layout.new else '-'} appeared"
    if layout.new is None:
        return f"{layout.old.id} disappeared"
    return str(layout.new.id) if layout.old.id == layout.new.id else f"{layout.new.id}, was {layout.old.id}"


def _listing(change: SiteChange) -> Iterator[str]:
    for layout in change.layouts:
        if layout.old is None or layout.new is None or not layout.changed:
            continue
        yield f"\n{printable(change.site)}, layout {_name(layout)}:\n"
        for word, found in (("came", layout.came), ("went", layout.went)):
            for leaf in found:
                yield f"  {word}   {short(leaf.text)}  [{printable(leaf.selector)}]"
        for one, other in layout.moved:
            yield f"  moved  {short(other.text)}  [{printable(one.selector)}] to [{printable(other.selector)}]"
        for word, slots in (("came", layout.slots_came), ("went", layout.slots_went)):
            for slot in slots:
                yield f"  {word}   slot {slot.type}  [{printable(slot.selector)}]"
        for before, after in layout.slots_changed:
            yield f"  slot   {before.type} to {after.type}  [{printable(after.selector)}]"
