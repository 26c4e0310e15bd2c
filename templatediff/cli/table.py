"""Rows as a table: drawn for a terminal, in plain columns elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from templatediff.cli.speech import is_terminal, printable, width

TEXT_WIDTH = 100  # characters of a leaf's text in a listing


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], left: int = 2) -> str:
    """The table as text; the first `left` columns are words, the others numbers, which stand to the right.

    >>> print(table(("site", "pages"), [("a.example", "1,200"), ("b", "7")], left=1), end="")
    site       pages
    a.example  1,200
    b              7
    """
    return _drawn(columns, rows, left) if is_terminal(sys.stdout) else _plain(columns, rows, left)


def _plain(columns: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    rows = [columns, *rows]
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        pads = [" " * (most - width(cell)) for most, cell in zip(widths, row, strict=True)]
        cells = [cell + pad if at < left else pad + cell for at, (cell, pad) in enumerate(zip(row, pads, strict=True))]
        lines.append("  ".join(cells).rstrip() + "\n")
    return "".join(lines)


def _drawn(columns: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table()
    for number, column in enumerate(columns):
        drawn.add_column(column, justify="left" if number < left else "right")
    for row in rows:
        drawn.add_row(*map(Text, row))
    console = Console(file=sys.stdout)
    with console.capture() as capture:
        console.print(drawn)
    return capture.get()


def short(text: str) -> str:
    """A leaf's text in one line, its beginning if it is long."""
    text = printable(" ".join(text.split()))
    return text if len(text) <= TEXT_WIDTH else text[: TEXT_WIDTH - 1] + "…"


def json_text(value: object) -> str:
    """The value as JSON for people and programs."""
    import json

    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
