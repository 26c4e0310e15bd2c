"""`templatediff template upgrade`: the files of a template folder as this release writes them."""

from __future__ import annotations

from pathlib import Path

import click

from templatediff.cli.common import speech_options
from templatediff.cli.output import utf8
from templatediff.cli.progress import Progress
from templatediff.cli.sink import stdout
from templatediff.cli.speech import printable


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@speech_options
def upgrade(folder: Path, progress: Progress) -> int:
    """Rewrite templates of older releases as this release writes them.

    template.json of an older format is brought to this one; where there is a profile, all is derived from it anew.
    """
    from templatediff.template import FORMAT
    from templatediff.upkeep import upgrade_folder

    with progress:
        done = upgrade_folder(folder)
    lines = []
    for each in done:
        found = "no readable template.json" if each.found is None else f"format {each.found}"
        what = "rewritten" if each.changed else "as it was"
        lines.append(f"{printable(each.site)}: {found}, now format {FORMAT}: {what}\n")
    with stdout() as out:
        out.write(utf8("".join(lines)))
    return 0
