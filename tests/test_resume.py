"""Runs that are broken off, and go on: whatever the point, the bytes are those of an unbroken run."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from templatediff.cli.output import Folder, JsonLines
from templatediff.cli.program import program
from templatediff.cli.sink import PartFile
from templatediff.errors import OutputError
from templatediff.journal import Entry, Row
from templatediff.lock import fresh
from templatediff.names import part_name
from templatediff.page import Failure
from templatediff.record import Tally
from templatediff.rules import Rule
from tests.archives import put, record, response, warc_gz

PAGE = """<!doctype html><title>Note {n}</title><div class=top><a href=/>Home</a> <a href=/all>All notes</a></div>
<h1>Note {n}</h1><p>This is note {n}, of {words} words or so, and no other note says the same.<p>Seen on {n} May."""
FORMS = ["out.jsonl", "out.jsonl.gz", "out.jsonl.zst", "out"]


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    folder = tmp_path / "crawl"
    folder.mkdir()
    for number in range(12):
        (folder / f"{number:02}.html").write_text(PAGE.format(n=number, words=number * 37))
    (folder / "05.html").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    return folder


def run(*arguments: object) -> Result:
    return CliRunner().invoke(program, [str(argument) for argument in arguments])


def contents(place: Path) -> dict[str, bytes]:
    if place.is_file():
        return {place.name: place.read_bytes()}
    return {file.relative_to(place).as_posix(): file.read_bytes() for file in place.rglob("*") if file.is_file()}


class Broken(Exception):
    pass


def break_off(after: int, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Within the block, writing ends like a process that is killed after so many records."""
    patch = pytest.MonkeyPatch()
    for kind in (JsonLines, Folder):
        write = kind.write

        def written(self: Any, record: Any, write: Any = write) -> None:
            nonlocal after
            if after == 0:
                raise KeyboardInterrupt
            after -= 1
            write(self, record)

        patch.setattr(kind, "write", written)
    return patch


@pytest.mark.parametrize("name", FORMS)
def test_a_run_goes_on_after_an_interrupt_to_the_same_bytes(
    name: str, crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, whole, report = tmp_path / name, tmp_path / "whole" / name, tmp_path / "report.json"
    assert run("extract", crawl, "-o", whole, "--report", report).exit_code == 1
    expected, told = contents(whole), json.loads(report.read_text())
    assert len(expected) in (1, 12)
    for after in (7, 2):
        patch = break_off(after, monkeypatch)
        stopped = run("extract", crawl, "-o", out, *["--resume"] * (after == 2))
        patch.undo()
        assert stopped.exit_code == 130
        assert "--resume goes on with it" in stopped.stderr and stopped.stderr.endswith("interrupted\n")
        assert not out.exists() and out.with_name(name + ".part").exists()
        if after == 7 and name == "out":  # a file of the next page, half written
            (out.with_name("out.part") / "08.html.md").write_text("half a")
            with (out.with_name("out.part") / "index.jsonl").open("ab") as index:
                index.write(b'{"path":"08.html","url"')
        elif after == 7:  # a record cut short
            with out.with_name(name + ".part").open("r+b") as part:
                part.truncate(max(0, part.seek(0, os.SEEK_END) - 9))
    other = tmp_path / "other.json"
    done = run("extract", crawl, "-o", out, "--resume", "--report", other)
    assert done.exit_code == 1 and done.stderr.count("05.html: ") == 1
    assert contents(out) == expected
    again = json.loads(other.read_text())
    told["options"].pop("output"), again["options"].pop("output")
    assert again == told, "the report is of the whole run"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [name, "whole", "crawl", "report.json", "other.json"]
    )


def stopped(crawl: Path, out: Path, monkeypatch: pytest.MonkeyPatch, *options: object) -> None:
    patch = break_off(4, monkeypatch)
    assert run("extract", crawl, "-o", out, *options).exit_code == 130
    patch.undo()


def test_pages_of_one_url_keep_their_names_when_a_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [
        record("response", response(PAGE.format(n=n, words=n * 37).encode()), f"https://a.example/{n // 6}")
        for n in range(12)
    ]
    crawl, out, whole = put(tmp_path / "x.warc.gz", warc_gz(records)), tmp_path / "out", tmp_path / "whole"
    assert run("extract", crawl, "-o", whole).exit_code == 0
    stopped(crawl, out, monkeypatch)
    assert run("extract", crawl, "-o", out, "--resume").exit_code == 0
    assert contents(out) == contents(whole)


@pytest.mark.parametrize("name", FORMS)
def test_a_second_run_into_the_same_output_is_refused(
    name: str, crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, refused = tmp_path / name, []
    for kind in (JsonLines, Folder):

        def written(self: Any, record: Any, write: Any = kind.write) -> None:
            write(self, record)
            if len(refused) < 2:  # in the midst of the first run
                refused.append(None)
                refused[-1] = run("extract", crawl, "-o", out, *["--resume"] * len(refused[1:]))

        monkeypatch.setattr(kind, "write", written)
    assert run("extract", crawl, "-o", out).exit_code == 1
    monkeypatch.undo()
    for second in refused:
        assert second.exit_code == 2 and f"another run is writing {out}:" in second.stderr, second.stderr
    assert run("extract", crawl, "-o", tmp_path / "whole" / name).exit_code == 1
    assert contents(out) == contents(tmp_path / "whole" / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["crawl", name, "whole"])


def test_a_second_run_into_the_same_report_is_refused(
    crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report, texts, refused = tmp_path / "r.csv", tmp_path / "t.txt", []
    write = JsonLines.write

    def written(self: Any, record: Any) -> None:
        write(self, record)
        if not refused:  # in the midst of the first run
            refused.append(None)
            refused[0] = run("extract", crawl, "-o", tmp_path / "other.jsonl", "--report", report)

    monkeypatch.setattr(JsonLines, "write", written)
    assert run("extract", crawl, "-o", tmp_path / "out.jsonl", "--report", report).exit_code == 1
    monkeypatch.undo()
    assert refused[0].exit_code == 2 and f"another run is writing {report}:" in refused[0].stderr
    assert len(report.read_bytes().splitlines()) == 13 and not (tmp_path / "other.jsonl").exists()
    handle = fresh(part_name(texts), texts)
    second = run("extract", crawl, "--template-text", texts)
    assert second.exit_code == 2 and f"another run is writing {texts}:" in second.stderr
    os.close(handle)
    assert run("extract", crawl, "--template-text", texts).exit_code == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crawl", "out.jsonl", "r.csv", "t.txt"]


@pytest.mark.parametrize("resume", [[], ["--resume"]])
def test_what_a_resume_that_was_killed_packed_anew_goes(
    resume: list[str], crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.jsonl.zst"
    stopped(crawl, out, monkeypatch)
    again = out.with_name("out.jsonl.zst.part.again")
    again.write_bytes(b"half a")
    assert run("extract", crawl, "-o", out, *resume).exit_code == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crawl", "out.jsonl.zst"]
    # killed before the first record, it leaves no line to go on with
    out.with_name("out.jsonl.zst.part").write_bytes(b"")
    again.write_bytes(b"half a")
    assert run("extract", crawl, "-o", out, *resume).exit_code == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crawl", "out.jsonl.zst"]


@pytest.mark.parametrize("name", FORMS[1:3])
def test_kills_before_the_first_new_record_lose_none_that_was_written(
    name: str, crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compressor holds back what it is given; all of it goes through a new one when a run goes on."""
    out, whole = tmp_path / name, tmp_path / "whole" / name
    assert run("extract", crawl, "-o", whole).exit_code == 1
    stopped(crawl, out, monkeypatch)
    part, journal = (tmp_path / f"{name}.part{ending}" for ending in ("", ".journal"))
    before, told = part.read_bytes(), journal.read_bytes()
    file = PartFile(out)
    file.reopen(file.count())  # and killed now: nothing is closed
    assert part.read_bytes() == before
    journal.write_bytes(told)
    stopped(crawl, out, monkeypatch, "--resume")
    assert PartFile(out).count() == 8
    assert run("extract", crawl, "-o", out, "--resume").exit_code == 1
    assert contents(out) == contents(whole)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["crawl", "whole", name])


def test_what_differs_is_refused_and_left_as_it_is(
    crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, part = tmp_path / "out.jsonl", tmp_path / "out.jsonl.part"
    stopped(crawl, out, monkeypatch)
    before = part.read_bytes()
    cases: list[tuple[Sequence[object], str]] = [
        (["--limit", 3], "other options (limit)"),
        (["--leaves"], "other options (with)"),
        (["--exclude", "*07*", "--site", "x"], "other options (exclude, site)"),
        (["--max-leaves", 500], "other options (limits)"),
        (["--ngram-order", 2], "other options (ngram_order)"),
    ]
    for options, why in cases:
        refused = run("extract", crawl, "-o", out, "--resume", *options)
        assert refused.exit_code == 2 and why in refused.stderr, refused.stderr
    page = crawl / "03.html"
    text = page.read_text()
    page.write_text(text + " ")
    assert "another input (03.html" in run("extract", crawl, "-o", out, "--resume").stderr
    page.write_text(text.replace("no other", "yes, any"))  # as long as it was
    assert "other templates" in run("extract", crawl, "-o", out, "--resume").stderr
    page.write_text(text)
    (crawl / "99.html").write_text(text)
    assert "another input (99.html" in run("extract", crawl, "-o", out, "--resume").stderr
    (crawl / "99.html").unlink()
    assert part.read_bytes() == before and not out.exists()
    assert run("extract", crawl, "-o", out, "--resume", "--jobs", 2, "--max-seconds", 50).exit_code == 1
    assert len(out.read_bytes().splitlines()) == 12


def test_templates_and_rules_are_part_of_a_run(crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, templates = tmp_path / "out.jsonl", tmp_path / "templates"
    assert run("learn", crawl, "-o", templates).exit_code == 1
    rules = templates / "rules.toml"
    rules.write_text('[[drop]]\ncontains = "Seen on"\n[[keep]]\ncontains = "Seen on 3"\n[[keep]]\ntext = "nowhere"\n')
    whole = run("extract", crawl, "--templates", templates)
    stopped(crawl, out, monkeypatch, "--templates", templates)
    kept = rules.read_text()
    rules.write_text("")
    assert "other templates" in run("extract", crawl, "-o", out, "--templates", templates, "--resume").stderr
    rules.write_text(kept)
    done = run("extract", crawl, "-o", out, "--templates", templates, "--resume")
    assert out.read_text() == whole.stdout
    assert [line for line in done.stderr.splitlines() if "rules" in line] == [
        line for line in whole.stderr.splitlines() if "rules" in line
    ], "rules that matched before the break have matched"


def test_resume_needs_an_output_and_begins_where_there_is_none(crawl: Path, tmp_path: Path) -> None:
    refused = run("extract", crawl, "--resume")
    assert refused.exit_code == 2 and "needs -o OUT" in refused.stderr
    out = tmp_path / "out.jsonl"
    for _ in range(2):
        assert run("extract", crawl, "-o", out, "--resume").exit_code == 1
        assert len(out.read_bytes().splitlines()) == 12


def test_without_resume_a_run_begins_anew(crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.jsonl"
    stopped(crawl, out, monkeypatch)
    assert run("extract", crawl, "-o", out, "--limit", 3).exit_code == 0
    assert len(out.read_bytes().splitlines()) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crawl", "out.jsonl"]


def test_a_part_without_its_journal_is_refused(crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.jsonl"
    stopped(crawl, out, monkeypatch)
    journal = tmp_path / "out.jsonl.part.journal"
    for damage in (b"", b"[]\n", b"\xff\n", b'{"format": 99}\n'):
        journal.write_bytes(damage)
        refused = run("extract", crawl, "-o", out, "--resume")
        assert refused.exit_code == 2 and "no journal that this release reads" in refused.stderr


def test_an_entry_survives_its_line() -> None:
    rules = [Rule("keep", "rules.toml:1", False, text=text) for text in "abc"]
    row = Row("caf\udce9\n", None, "\u202e", None, "s", 2, "error", 0, 0.5, Failure("resource", "why"))
    tally = Tally(1, 2, 3, None, frozenset(rules[:2]), frozenset([(rules[2], rules[0])]))
    entry = Entry(row, tally)
    assert Entry.of_line(entry.to_line(rules), rules) == entry
    for line in (b"", b"{}", b'{"row": 1, "tally": {}}', b"[" * 100_000):
        with pytest.raises(ValueError):
            Entry.of_line(line, rules)


def test_links_in_the_way_are_replaced_and_not_followed(crawl: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("mine")
    out = tmp_path / "out.jsonl"
    for name in ("out.jsonl.part", "out.jsonl.part.journal", "t.txt.part", "r.csv.part"):
        (tmp_path / name).symlink_to(mine)
    for options in ([], ["--resume"]):
        done = run(
            "extract", crawl, "-o", out, "--template-text", tmp_path / "t.txt", "--report", tmp_path / "r.csv", *options
        )
        assert done.exit_code == 1
        assert mine.read_text() == "mine" and not out.is_symlink() and len(out.read_bytes().splitlines()) == 12


def test_a_full_disk_is_one_error_and_nothing_stands_under_the_name(
    crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.jsonl"
    write = JsonLines.write
    left = [3]

    def full(self: JsonLines, record: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OutputError(f"cannot write {out}: No space left on device")
        write(self, record)

    monkeypatch.setattr(JsonLines, "write", full)
    failed = run("extract", crawl, "-o", out)
    monkeypatch.undo()
    assert failed.exit_code == 2 and failed.stderr.count("No space left") == 1 and not out.exists()
    assert run("extract", crawl, "-o", out, "--resume").exit_code == 1
    assert len(out.read_bytes().splitlines()) == 12


KILL_POINTS = 6


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMS)
def test_a_run_goes_on_after_kills_at_any_point(name: str, tmp_path: Path) -> None:
    crawl = tmp_path / "crawl"
    crawl.mkdir()
    for number in range(400):
        (crawl / f"{number:03}.html").write_text(PAGE.format(n=number, words=number * 37))
    whole, out = tmp_path / "whole" / name, tmp_path / name
    command = [sys.executable, "-m", "templatediff", "extract", str(crawl), "--quiet", "-o"]
    start = time.monotonic()
    subprocess.run([*command, str(whole)], check=True)
    took = time.monotonic() - start
    chance = random.Random(7)
    kills = 0
    for _ in range(KILL_POINTS):
        process = subprocess.Popen([*command, str(out), "--resume"])
        time.sleep(took * chance.uniform(0.2, 0.9))
        kills += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        if out.exists():  # done, if killed before it could say so
            assert contents(out) == contents(whole)
            break
    assert kills
    subprocess.run([*command, str(out), "--resume"], check=True)
    assert contents(out) == contents(whole)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["crawl", "whole", name])


def test_control_c_ends_cleanly(crawl: Path, tmp_path: Path) -> None:
    """A real one, to a real process: it hangs in a list of files that never comes, or in the run."""
    for number in range(100, 400):
        (crawl / f"{number}.html").write_text(PAGE.format(n=number, words=number * 37))
    out = tmp_path / "out.jsonl"
    part = out.with_name("out.jsonl.part")
    for _ in range(5):
        process = subprocess.Popen(
            [sys.executable, "-m", "templatediff", "extract", str(crawl), "-o", str(out)],
            stderr=subprocess.PIPE,
            text=True,
            # background jobs of a shell are deaf to it
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        while process.poll() is None and not (part.exists() and part.stat().st_size):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate()
        if process.returncode not in (0, 1):
            break
        out.unlink()  # it was done before the signal came
    assert process.returncode == 130 and "Traceback" not in told and told.endswith("interrupted\n")
    assert part.exists() and not out.exists()
