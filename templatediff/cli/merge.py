"""`templatediff template merge`: several folders of templates as one."""

from __future__ import annotations

from pathlib import Path

import click

from templatediff.cli.common import speech_options
from templatediff.cli.progress import Progress
from templatediff.cli.speech import plural, say


@click.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder to write into; it may be one of DIR, and other sites in it stay.",
)
@speech_options
def merge(folders: tuple[Path, ...], output: Path, progress: Progress) -> int:
    """Merge folders of templates, as if all their pages had been learnt at once.

    A site that several DIR have is merged; others stand side by side. Templates made with different options are refused.
    """
    from templatediff.upkeep import merge_folders

    with progress:
        names = merge_folders(folders, output)
    if not progress.quiet:
        say(f"{plural(len(names), 'site')} in {output}")
    return 0
