"""Rows as a table: drawn for a terminal, in plain columns elsewhere."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from templatediff.cli.speech import escaped_json, is_terminal, printable, width

TEXT_WIDTH = 100  # characters of a leaf's text in a listing


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], left: int = 2) -> str:
    """The table as text; the first `left` columns are words, the others numbers, which stand to the right.

    >>> print(table(("site", "pages"), [("a.example", "1,200"), ("b", "7")], left=1), end="")
    site       pages
    a.example  1,200
    b              7
    """
    rows = [tuple(map(printable, row)) for row in rows]
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
    """The table for the terminal at hand. Nothing is cut: where it is narrow words are folded, lines between columns go,
    and at last each row becomes lines of its own."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=sys.stdout)
    style = _style(columns, rows, console.width)
    if style == STACKED:
        return _stacked(columns, rows)
    drawn = Table(
        box=box.HEAVY_HEAD if style == BOXED else None,
        padding=(0, 1) if style == BOXED else (0, 2, 0, 0),
        pad_edge=style == BOXED,
    )
    for number, column in enumerate(columns):
        if number == 0:
            drawn.add_column(column, overflow="fold")
        else:
            drawn.add_column(
                column, justify="left" if number < left else "right", min_width=_least(columns, rows, number)
            )
    for row in rows:
        drawn.add_row(*map(Text, row))
    with console.capture() as capture:
        console.print(drawn)
    return "".join(f"{_isolated(line.rstrip())}\n" for line in capture.get().splitlines())


BOXED, OPEN, STACKED = "boxed", "open", "stacked"
NARROWEST = {BOXED: 16, OPEN: 12}  # columns that a first cell is folded to at least


def _style(columns: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> str:
    """How a table is drawn in this many columns."""
    others = sum(_least(columns, rows, number) for number in range(1, len(columns)))
    first = max(width(row[0]) for row in [columns, *rows])
    if room - others - 3 * len(columns) - 1 >= min(first, NARROWEST[BOXED]):
        return BOXED
    return OPEN if room - others - 2 * len(columns) >= min(first, NARROWEST[OPEN]) else STACKED


def _least(columns: Sequence[str], rows: Sequence[Sequence[str]], number: int) -> int:
    """Columns that a column needs if its head is broken between words."""
    words = columns[number].split()
    return max(map(width, [*words, *(row[number] for row in rows)]))


def _stacked(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Each row as lines "column: cell", with an empty line between rows."""
    blocks = ["".join(f"{name}: {_isolated(cell)}\n" for name, cell in zip(columns, row, strict=True)) for row in rows]
    return "\n".join(blocks)


_RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
_RUN = re.compile(f"[{_RIGHT_TO_LEFT}](?:(?:(?!  |[│┃]).)*[{_RIGHT_TO_LEFT}])?")


def _isolated(line: str) -> str:
    """A line of a table, its cells that run from right to left kept from turning the order of those after them (UAX 9)."""
    return _RUN.sub(lambda run: f"\u2068{run[0]}\u2069", line)


def short(text: str) -> str:
    """A leaf's text in one line, its beginning if it is long."""
    text = printable(" ".join(text.split()))
    return text if len(text) <= TEXT_WIDTH else text[: TEXT_WIDTH - 1] + "…"


def json_text(value: object) -> str:
    """The value as JSON for people and programs."""
    import json

    return escaped_json(json.dumps(value, ensure_ascii=False, indent=2)) + "\n"
