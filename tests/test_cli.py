from __future__ import annotations

import json
import logging
import os
import re
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from templatediff import run as crawl_run
from templatediff.cli import common, progress
from templatediff.cli.extract import extract
from templatediff.cli.program import program
from templatediff.errors import TemplateError

NOTES = {
    "kestrel": "The kestrel hangs in the wind above the verge and looks for voles in the grass.",
    "heron": "A heron stands in the water for an hour and strikes once, quicker than the eye follows.",
    "wren": "The wren is small and loud, and builds several nests of moss, of which its mate takes one.",
    "swift": "Swifts sleep on the wing, high above the town, and land only to bring up their young.",
    "crane": "Cranes come over in October in long lines, and one hears them well before one can see them.",
    "dipper": "The dipper walks on the bed of the stream and turns the pebbles over for larvae.",
}
PAGE = """<!DOCTYPE html><html lang=en><head><title>{name} - Field notes</title></head><body>
<div class=top><a href=/>Home</a> <a href=/birds>Birds</a> <a href=/about>About this site</a></div>
<h1>The {name}</h1><p>{text}</p><p>Seen on {day} May beside the {name} pond, by the second gate.</p>
<div class=foot>Field notes of a made-up valley. All birds are drawn from memory.</div></body></html>"""


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """A site of six pages, each in a folder of the crawl, with a style sheet beside them."""
    folder = tmp_path / "crawl"
    (folder / "birds").mkdir(parents=True)
    for day, (name, text) in enumerate(NOTES.items(), 1):
        (folder / "birds" / f"{name}.html").write_text(PAGE.format(name=name, text=text, day=day))
    (folder / "style.css").write_text("p { color: black }")
    return folder


def run(*arguments: object, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(program, [str(argument) for argument in arguments], input=stdin)


def records(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def page_of(name: str) -> bytes:
    return PAGE.format(name=name, text=NOTES[name], day=9).encode()


# --- the main job


def test_extract_writes_a_line_a_page_and_totals_on_stderr(crawl: Path) -> None:
    result = run("extract", crawl, "--jobs", 1)
    assert result.exit_code == 0
    found = records(result)
    assert [record["path"] for record in found] == sorted(f"birds/{name}.html" for name in NOTES)
    for record in found:
        name = Path(record["path"]).stem
        assert NOTES[name] in record["text"]
        assert "drawn from memory" not in record["text"]
        assert "About this site" not in record["text"]
    assert " ".join(found[0]) == (
        "path url site layout mode siblings title text verdict confidence reason fetched lang text_hash error"
    )
    (line,) = result.stderr.splitlines()
    assert line.startswith("templatediff: 6 pages, 1 site, 1 layout; leaves: ")
    assert "; 0 failed; 1 file skipped (1 css) (" in line


def test_extract_learns_and_applies_through_templates(crawl: Path, tmp_path: Path) -> None:
    templates = tmp_path / "templates"
    plain = run("extract", crawl)
    learned = run("learn", crawl, "-o", templates)
    assert learned.exit_code == 0
    assert learned.stdout == ""
    assert learned.stderr.startswith("templatediff: 6 pages, 1 site, 1 layout; ")
    assert run("extract", crawl, "--templates", templates).stdout == plain.stdout
    other = tmp_path / "other"
    assert run("extract", crawl, "--templates", other, "--update").stdout == plain.stdout
    assert sorted(file.relative_to(other) for file in other.rglob("*")) == sorted(
        file.relative_to(templates) for file in templates.rglob("*")
    )


def test_template_show_counts_and_lists(crawl: Path, tmp_path: Path) -> None:
    templates = tmp_path / "templates"
    run("learn", crawl, "-o", templates, "--site", "valley.example", "--quiet")
    head, row = run("template", "show", templates).stdout.splitlines()
    assert head.split("  ")[0] == "site"
    assert row.split()[:3] == ["valley.example", "0", "6"] or row.split()[:3] == ["valley.example", "1", "6"]
    listing = run("template", "show", templates, "--leaves").stdout
    assert "6 of 6  Field notes of a made-up valley." in listing
    (description,) = json.loads(run("template", "show", templates, "--format", "json").stdout)
    assert description["site"] == "valley.example"
    assert any("drawn from memory" in leaf["text"] for leaf in description["layouts"][0]["static"])
    wrong = run("template", "show", templates, "--site", "nowhere.example")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "there are valley.example" in wrong.stderr


def test_page_writes_one_page(crawl: Path) -> None:
    result = run("page", crawl / "birds" / "heron.html")
    assert (result.exit_code, result.stderr) == (0, "")
    assert NOTES["heron"] in result.stdout
    assert run("page", "-", stdin=page_of("heron")).stdout == result.stdout.replace("2 May", "9 May")


def test_page_takes_the_template_of_its_site(crawl: Path, tmp_path: Path) -> None:
    templates = tmp_path / "templates"
    run("learn", crawl, "-o", templates, "--site", "valley.example", "--quiet")
    arguments = ("page", "-", "--templates", templates, "--format", "jsonl")
    (record,) = records(run(*arguments, "--site", "valley.example", stdin=page_of("wren")))
    assert (record["path"], record["mode"], record["site"]) == ("-", "template", "valley.example")
    (record,) = records(run(*arguments, "--url", "https://www.valley.example/x", stdin=page_of("wren")))
    assert (record["mode"], record["url"]) == ("template", "https://www.valley.example/x")
    result = run(*arguments, "--site", "nowhere.example", stdin=page_of("wren"))
    assert records(result)[0]["mode"] == "gist"
    assert "nowhere.example" in result.stderr


# --- inputs


def test_a_page_on_stdin_is_called_dash(crawl: Path) -> None:
    result = run("extract", "-", stdin=page_of("crane"))
    assert result.exit_code == 0
    (record,) = records(result)
    assert (record["path"], record["site"]) == ("-", "stdin")
    assert NOTES["crane"] in record["text"]


def test_inputs_come_from_a_list_too(crawl: Path, tmp_path: Path) -> None:
    names = [str(crawl / "birds" / f"{name}.html") for name in NOTES]
    listed = tmp_path / "list.txt"
    listed.write_text("\n".join([*names[:2], "", *names[1:3]]))
    from_file = run("extract", "--files-from", listed)
    assert [record["path"] for record in records(from_file)] == ["heron.html", "kestrel.html", "wren.html"]
    from_stdin = run("extract", "--files-from", "-", stdin="\r\n".join(names[:3]).encode())
    assert from_stdin.stdout == from_file.stdout
    mixed = run("extract", *names[1:3], "--files-from", "-", stdin=names[0].encode())
    assert mixed.stdout == from_file.stdout


def test_limit_takes_pages_of_each_site(crawl: Path) -> None:
    assert len(records(run("extract", crawl, "--limit", 2))) == 2


def test_output_is_never_read_as_input(crawl: Path) -> None:
    first = run("extract", crawl, "-o", crawl / "out", "--format", "html")
    again = run("extract", crawl, "-o", crawl / "out", "--format", "html")
    assert first.exit_code == again.exit_code == 0
    assert first.stderr.split(" (")[0] == again.stderr.split(" (")[0]
    assert len((crawl / "out" / "index.jsonl").read_text().splitlines()) == 6


def test_a_folder_and_a_file_are_told_by_the_ending(crawl: Path, tmp_path: Path) -> None:
    run("extract", crawl, "-o", tmp_path / "out.jsonl", "--with", "markdown")
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 6
    result = run("extract", crawl, "-o", tmp_path / "out")
    assert result.stdout == ""
    assert "# The wren" in (tmp_path / "out" / "birds" / "wren.html.md").read_text()
    assert len((tmp_path / "out" / "index.jsonl").read_text().splitlines()) == 6


def test_jobs_and_the_order_of_inputs_leave_the_bytes_alone(crawl: Path) -> None:
    pages = sorted((crawl / "birds").iterdir())
    expected = run("extract", *pages, "--jobs", 1).stdout
    assert run("extract", *reversed(pages), "--jobs", 2).stdout == expected


# --- what goes wrong, and how it is said


def test_a_failed_page_is_named_and_the_others_come_out(crawl: Path) -> None:
    (crawl / "birds" / "bad\x1b[31m.html").write_bytes(b"\x00\x01\x02binary" * 100)
    result = run("extract", crawl, "--quiet")
    assert result.exit_code == 1
    found = records(result)
    assert len(found) == 7
    (failed,) = [record for record in found if record["error"]]
    assert (failed["error"]["kind"], failed["verdict"], failed["text"]) == ("binary", "error", "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("templatediff: birds/bad\\x1b[31m.html: binary: ")
    assert "; 1 failed; " in run("extract", crawl).stderr


def test_a_failed_page_has_the_keys_of_with_too(crawl: Path) -> None:
    (crawl / "bad.html").write_bytes(b"\x00\x01\x02binary" * 100)
    result = run("extract", crawl, "--with", "markdown,html", "--leaves", "--quiet")
    assert result.exit_code == 1
    failed, *others = records(result)
    assert list(failed) == list(others[0])
    assert (failed["markdown"], failed["html"], failed["leaves"]) == ("", "", [])
    assert others[0]["leaves"]


REFUSALS: list[tuple[str, list[str], bytes, str]] = [
    ("no-input", ["extract"], b"", "nothing to read: name a crawl folder"),
    ("no-such-input", ["extract", "nowhere"], b"", "nowhere"),
    ("no-page", ["extract", "{empty}"], b"", "no "),
    ("nothing-on-the-list", ["extract", "--files-from", "-"], b"\n", "no path in -"),
    ("no-such-list", ["extract", "--files-from", "nowhere"], b"", "cannot read nowhere: No such file"),
    ("stdin-and-others", ["extract", "-", "{crawl}"], b"<p>", "stands alone"),
    ("no-html-on-stdin", ["extract", "-"], b"plain words", "stdin is no HTML page (text)"),
    ("two-ways-to-name-sites", ["extract", "{crawl}", "--site", "a", "--site-from", "folder"], b"", "one of"),
    ("empty-site", ["extract", "{crawl}", "--site", " "], b"", "--site is empty"),
    ("unknown-site-from", ["extract", "{crawl}", "--site-from", "x"], b"", "'auto', 'folder', 'domain'"),
    ("unknown-format", ["extract", "{crawl}", "--format", "pdf"], b"", "'jsonl', 'text', 'markdown', 'html'"),
    ("unknown-key", ["extract", "{crawl}", "--with", "pdf"], b"", "choose from markdown, html, leaves"),
    ("key-without-json", ["extract", "{crawl}", "--format", "text", "--leaves"], b"", "--with adds keys"),
    ("several-pages-of-html", ["extract", "{crawl}", "--format", "html"], b"", "give -o FOLDER"),
    ("update-of-nothing", ["extract", "{crawl}", "--update"], b"", "--update needs --templates"),
    ("template-text-stdout", ["extract", "{crawl}", "--template-text", "-"], b"", "--template-text needs a file"),
    (
        "template-text-input",
        ["extract", "{crawl}/style.css", "--template-text", "{crawl}/style.css"],
        b"",
        "the input or",
    ),
    ("template-text-nowhere", ["extract", "{crawl}", "--template-text", "no/x.txt"], b"", "there is no folder no"),
    ("no-templates", ["extract", "{crawl}", "--templates", "nowhere"], b"", "nowhere"),
    ("output-over-input", ["extract", "{crawl}", "-o", "{crawl}"], b"", "is or holds the input"),
    ("texts-over-page", ["extract", "{crawl}", "--template-text", "{crawl}/birds/heron.html"], b"", "is an HTML page"),
    ("limit-of-none", ["extract", "{crawl}", "--limit", "0"], b"", "x>=1"),
    ("no-jobs", ["extract", "{crawl}", "--jobs", "0"], b"", "x>=1"),
    ("no-date", ["extract", "{crawl}", "--fetched", "soon"], b"", "ISO 8601"),
    ("ngram-order", ["extract", "{crawl}", "--ngram-order", "6"], b"", "'6' is not one of '1', '2', '3', '4', '5'"),
    ("short-leaves", ["learn", "{crawl}", "-o", "t", "--short-leaves", "x"], b"", "'auto', 'join', 'keep'"),
    ("markup", ["page", "-", "--markup", "x"], b"<p>", "'strip', 'keep'"),
    ("leaf-tags", ["page", "-", "--leaf-tags", "<div>"], b"<p>", "names of HTML elements"),
    ("unknown-tag", ["page", "-", "--leaf-tags", "p,card"], b"<p>", "--leaf-tags is 'p,card': give names of HTML"),
    ("no-tag", ["page", "-", "--leaf-tags", ","], b"<p>", "--leaf-tags is ',': give names of HTML elements"),
    ("year-alone", ["extract", "-", "--fetched", "2024"], b"<p>", "--fetched is '2024': give a date or time"),
    ("since", ["learn", "-", "-o", "t", "--update", "--since", "now"], b"<p>", "--since is 'now': give a date"),
    ("quiet-and-loud", ["page", "-", "-q", "-v"], b"<p>", "opposite"),
    ("page-of-a-folder", ["page", "{crawl}"], b"", "is a folder"),
    ("page-of-nothing", ["page", "nowhere"], b"", "nowhere"),
    ("page-of-css", ["page", "{crawl}/style.css"], b"", "is no HTML page (css)"),
    ("keys-of-a-page", ["page", "-", "--leaves"], b"<p>", "give --format jsonl"),
    ("learn-without-output", ["learn", "{crawl}"], b"", "'-o'"),
    ("show-nothing", ["template", "show", "{empty}"], b"", "no template"),
    ("show-nowhere", ["template", "show", "nowhere"], b"", "nowhere"),
    ("unknown-verb", ["extrct"], b"", "No such command 'extrct'"),
    ("unknown-option", ["extract", "--colour"], b"", "No such option"),
]


@pytest.mark.parametrize(("arguments", "stdin", "message"), [pytest.param(*r[1:], id=r[0]) for r in REFUSALS])
def test_misuse_is_one_line_and_status_2(
    crawl: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    stdin: bytes,
    message: str,
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    result = run(*(each.format(crawl=crawl, empty=tmp_path / "empty") for each in arguments), stdin=stdin)
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("templatediff: error: ")
    assert message in line
    assert "/templatediff-" not in line  # the name of a temporary file tells nobody anything
    assert sorted(file.name for file in tmp_path.iterdir()) == ["crawl", "empty"]


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (TemplateError("a.json is damaged:\n line 1"), 2, "error: a.json is damaged: line 1"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (PermissionError(13, "Permission denied", "x.html"), 2, "error: x.html: Permission denied"),
        (KeyError("a"), 2, "error: unexpected KeyError: 'a' (a fault of templatediff; -vv shows where)"),
        (MemoryError(), 2, "error: unexpected MemoryError: (a fault of templatediff; -vv shows where)"),
        (BrokenPipeError(32, "Broken pipe"), 2, "error: Broken pipe"),
    ],
)  # fmt: skip
def test_an_error_is_one_line_and_never_a_traceback(
    crawl: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, status: int, said: str
) -> None:
    def broken(*arguments: object, **rest: object) -> Iterator[None]:
        raise error
        yield

    monkeypatch.setattr(crawl_run, "extract_crawl", broken)
    result = run("extract", crawl)
    assert result.exit_code == status
    assert result.stderr.strip() == f"templatediff: {said}"


def command(*arguments: object, **rest: Any) -> subprocess.Popen[bytes]:
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | rest
    return subprocess.Popen([sys.executable, "-m", "templatediff", *map(str, arguments)], **pipes)


def test_a_reader_that_stops_early_ends_the_run_quietly(crawl: Path) -> None:
    process = command("extract", crawl, "--quiet", "--with", "html,leaves")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait() == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_under_stdout_is_one_line(crawl: Path) -> None:
    with open("/dev/full", "wb") as full:
        process = command("extract", crawl, "--quiet", stdout=full)
        _, stderr = process.communicate()
    assert stderr == b"templatediff: error: cannot write standard output: No space left on device\n"
    assert process.returncode == 2


def test_a_closed_stdout_is_one_line(crawl: Path) -> None:
    script = f'"{sys.executable}" -m templatediff extract "{crawl}" --quiet >&-'
    done = subprocess.run(script, shell=True, capture_output=True, check=False)
    assert done.stderr == b"templatediff: error: standard output is closed: give -o FILE, or leave it open\n"
    assert done.returncode == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unwritable for root")
def test_an_output_without_permission_is_one_line(crawl: Path, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=stat.S_IRUSR)
    result = run("extract", crawl, "-o", locked / "out.jsonl")
    assert result.exit_code == 2
    assert "Permission denied" in result.stderr


# --- progress


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(progress, "time", found)
    return found


def work(meter: progress.Progress, clock: Clock, pages: int, seconds_a_page: float) -> None:
    with meter:
        for stage in ("learn", "extract"):
            for done in range(1, pages + 1):
                clock.now += seconds_a_page
                meter(stage, done, pages)


def test_no_terminal_gets_one_plain_line_a_minute(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    work(progress.Progress(), clock, pages=100, seconds_a_page=0.9)
    assert capsys.readouterr().err.splitlines() == [
        "templatediff: learning: 67 of 100 pages, 1.1 pages/s, 0:30 left",
        "templatediff: extracting: 34 of 100 pages, 1.1 pages/s, 0:59 left",
    ]


def test_a_quick_or_quiet_run_shows_no_progress(
    clock: Clock, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    work(progress.Progress(quiet=True), clock, pages=100, seconds_a_page=10)
    monkeypatch.setattr(progress, "is_terminal", lambda stream: True)
    work(progress.Progress(), clock, pages=99, seconds_a_page=0.01)
    assert capsys.readouterr().err == ""


def test_a_terminal_sees_pages_speed_and_time_left(
    clock: Clock, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "is_terminal", lambda stream: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    meter = progress.Progress()
    with meter:
        meter("learn", 0, 0)
        clock.now += 50
        meter("learn", 500, 2000)
        meter.failure("[bold]a\x1b.html", "binary", "no text")
    shown = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().err)
    assert "500/2000 pages  10.0 pages/s  2:30 left" in shown
    assert "templatediff: [bold]a\\x1b.html: binary: no text" in shown


def test_totals_say_what_was_done(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    totals: Any = SimpleNamespace(
        pages=1204, failed=2, sites=3, layouts=1, static=10, dynamic=20, content=15,
        skipped=Counter(css=2, image=2000), warnings=["b.example is not in t\x07"],
    )  # fmt: skip
    meter = progress.Progress()
    clock.now += 3.21
    meter.totals(totals)
    assert capsys.readouterr().err.splitlines() == [
        "templatediff: warning: b.example is not in t\\x07",
        "templatediff: 1,204 pages, 3 sites, 1 layout; leaves: 10 static, 20 dynamic, 15 content; 2 failed; "
        "2,002 files skipped (2,000 image, 2 css) (3.2 s)",
    ]
    progress.Progress(quiet=True).totals(totals)
    assert capsys.readouterr().err == ""


def test_verbose_shows_the_log_and_quiet_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    for verbose, lines in ((0, 0), (1, 1), (2, 2), (0, 0)):
        progress.log_to_stderr(verbose)
        logging.getLogger("templatediff").info("read a\x1b.html")
        logging.getLogger("templatediff.crawl").debug("skipped b")
        assert capsys.readouterr().err.count("templatediff: ") == lines


# --- starting


def test_help_and_version_start_without_the_heavy_parts() -> None:
    heavy = {"numpy", "sklearn", "scipy", "nltk", "selectolax", "rich", "nh3", "msgspec"}
    code = f"import sys, templatediff.cli.program; print(*sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"\n"


def test_the_module_runs_as_the_script_does() -> None:
    process = command("--version")
    stdout, _ = process.communicate()
    assert stdout.startswith(b"templatediff, version ")
    assert process.returncode == 0


@pytest.mark.parametrize("arguments", [(), ("template",)])
def test_no_verb_shows_the_verbs(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Commands:" in result.stderr


def test_jobs_default_to_the_cores() -> None:
    assert common.cores() >= 1
    assert next(each for each in extract.params if each.name == "jobs").default is common.cores


def test_template_text_changes_no_record_and_is_never_read(crawl: Path) -> None:
    plain = run("extract", crawl)
    file = crawl / "static.html"
    for _ in range(2):
        assert run("extract", crawl, "--template-text", file).stdout == plain.stdout
        assert file.read_text(encoding="utf-8").startswith("# ")


def test_a_mistake_in_rules_is_one_line_and_status_2(crawl: Path, tmp_path: Path) -> None:
    templates = tmp_path / "templates"
    run("learn", crawl, "-o", templates, "--site", "valley.example", "--quiet")
    (templates / "rules.toml").write_text('[[keep]]\nslot = "size"\n')
    for arguments in (["extract", crawl], ["page", next(crawl.rglob("*.html"))]):
        wrong = run(*arguments, "--templates", templates, "--site", "valley.example")
        assert wrong.exit_code == 2 and "rules.toml line 2: slot is 'size'" in wrong.stderr


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_page_over_the_memory_limit_is_one_record_and_the_others_come_out(crawl: Path, jobs: int) -> None:
    before = {record["path"]: record["text"] for record in records(run("extract", crawl))}
    many = "".join(f"<p>word{number} of{number} many{number}" for number in range(40_000))
    (crawl / "birds" / "huge.html").write_text(f"<!doctype html><title>Huge</title>{many}")
    result = run("extract", crawl, "--max-memory", "60M", "--jobs", jobs)
    assert result.exit_code == 1 and result.stderr.count("huge.html: resource: ") == 1
    found = {record["path"]: record for record in records(result)}
    huge = found.pop("birds/huge.html")
    assert huge["verdict"] == "error" and huge["error"]["kind"] == "resource"
    assert {path: record["text"] for path, record in found.items()} == before
