"""Tables and closing totals on narrow, plain and colourless terminals, with names of every kind."""

from __future__ import annotations

import re
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from templatediff.cli import progress, speech, table
from templatediff.cli.speech import printable, width

COLUMNS = ("site", "layout", "pages", "static leaves", "slots")
CHECKED = ("site", "layout", "verdict", "pages", "drifted", "leaves found", "text unexplained")
NAMES = {
    "short": "a.example",
    "long": "a-very-long-subdomain-of-some-kind.with-many-parts.harbour-gazette.example",
    "hebrew": "אתר החדשות של הנמל והאיים הסמוכים",
    "arabic": "صحيفة الميناء",
    "cjk": "東京港新聞編集部の公式サイトと地域のお知らせ",
    "thai": "นักข่าวท่าเรือ",
    "control": printable("bad\x1b[31mname\u202e\n"),
}
ROWS = [(name, str(number), "1,204", "36", "14") for name in NAMES.values() for number in range(2)]
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """stdout and stderr as a terminal, told apart from the one the tests run on."""
    for module in (table, progress, speech):
        monkeypatch.setattr(module, "is_terminal", lambda stream: True, raising=False)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    return monkeypatch


def told(drawn: str) -> str:
    """What a table says, without its lines, its folds and what is not seen."""
    return re.sub(r"[\s─━│┃┌┐└┘├┤┬┴┼┏┓┗┛┡┩╇┳╈\u2068\u2069]", "", ESCAPES.sub("", drawn))


@pytest.mark.parametrize("columns", [120, 80, 60, 40, 20])
@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_a_table_fits_and_loses_nothing(terminal: pytest.MonkeyPatch, columns: int, term: str) -> None:
    terminal.setenv("COLUMNS", str(columns))
    terminal.setenv("TERM", term)
    for heads, rows in ((COLUMNS, ROWS), (CHECKED, [(*row[:2], "drifted", *row[2:4], "98%", "100%") for row in ROWS])):
        drawn = table.table(heads, rows)
        stacked = drawn.startswith("site: ")
        for line in drawn.splitlines():
            assert stacked or width(ESCAPES.sub("", line)) <= columns, line
        assert "…" not in drawn
        if stacked:
            expected = [f"{head}: {cell}" for row in rows for head, cell in zip(heads, row, strict=True)]
            assert [line.replace("\u2068", "").replace("\u2069", "") for line in drawn.splitlines() if line] == expected
        else:
            letters = Counter(told("".join(heads) + "".join(map("".join, rows))))
            assert Counter(told(drawn)) == letters


@pytest.mark.parametrize(("columns", "style"), [(100, "boxed"), (80, "boxed"), (52, "open"), (40, "stacked")])
def test_what_gives_way_in_a_narrow_terminal(terminal: pytest.MonkeyPatch, columns: int, style: str) -> None:
    assert table._style(COLUMNS, ROWS, columns) == style


def test_cells_stay_in_their_columns_whatever_the_script(terminal: pytest.MonkeyPatch) -> None:
    terminal.setenv("COLUMNS", "120")
    lines = [ESCAPES.sub("", line) for line in table.table(COLUMNS, ROWS).splitlines()]
    assert len({width(line) for line in lines}) == 1
    plain = table._plain(COLUMNS, ROWS, 2).splitlines()
    assert len({width(line) for line in plain}) == 1


@pytest.mark.parametrize("columns", [120, 60, 40])
def test_names_from_right_to_left_are_isolated_line_by_line(terminal: pytest.MonkeyPatch, columns: int) -> None:
    terminal.setenv("COLUMNS", str(columns))
    for line in table.table(COLUMNS, ROWS).splitlines():
        depth = 0
        for character in line:
            depth += (character == "\u2068") - (character == "\u2069")
            if "\u0590" <= character <= "\u08ff":
                assert depth == 1, line
            if character in "│┃" or (character.isascii() and character.isdigit()):
                assert depth == 0, line
        assert depth == 0


def test_no_colour_where_none_is_wanted(terminal: pytest.MonkeyPatch) -> None:
    terminal.setenv("COLUMNS", "80")
    terminal.setenv("NO_COLOR", "1")
    assert not re.search(r"\x1b\[(?!0m|1m)", table.table(COLUMNS, ROWS))
    terminal.delenv("NO_COLOR")
    terminal.setenv("TERM", "dumb")
    assert "\x1b" not in table.table(COLUMNS, ROWS)


def test_a_pipe_gets_plain_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    text = table.table(COLUMNS, ROWS)
    assert not re.search(r"[\x1b\u2068│]", text)
    assert len(text.splitlines()) == len(ROWS) + 1
    assert all(name in text for name in NAMES.values())


TOTALS: Any = SimpleNamespace(
    pages=1204, failed=2, sites=3, layouts=1, static=10, dynamic=20, content=15,
    skipped=Counter(css=2, image=2000), warnings=[],
)  # fmt: skip


@pytest.mark.parametrize("columns", [80, 40, 20])
@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_totals_break_between_words(
    terminal: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], columns: int, environment: dict[str, str]
) -> None:
    terminal.setenv("COLUMNS", str(columns))
    for name, value in environment.items():
        terminal.setenv(name, value)
    progress.Progress().totals(TOTALS)
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert all(len(line.rstrip()) <= columns for line in said.splitlines())
    one_line = " ".join(said.split())
    assert one_line.startswith(
        "templatediff: 1,204 pages, 3 sites, 1 layout; leaves: 10 static, 20 dynamic, 15 content; "
    )
    assert one_line.endswith("2 failed; 2,002 files skipped (2,000 image, 2 css) (0.0 s)")
