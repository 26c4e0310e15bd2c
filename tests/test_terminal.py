"""What pages, paths and URLs hold never reaches a terminal as more than text, nor a file outside of the output."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import templatediff as td
from templatediff.cli import explain, output, progress, table
from templatediff.cli.program import program

EVIL = "\x1b[31m\x1b]0;owned\x07\x9b2J\u202egnp\u2066\x08\x00\x7f\r"
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
PAGE = """<!doctype html><title>Page {n} {evil}</title><ul class="{evil}" id="x{evil}"><li>Home {evil}<li>About us</ul>
<h1>Heading {n} {evil}</h1><p>A paragraph of page {n} alone {evil} which goes on to say {n} things in one go.
<p>Written on {n} May by {evil} somebody. <a href="https://a.example/{evil}">a link {evil}</a> &#27;[31m &#155;2J</p>"""


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    folder = tmp_path / "crawl"
    folder.mkdir()
    for number in range(5):
        file = folder / f"p{number}\x1b[31m\n\u202e\x9b.html"
        file.write_text(PAGE.format(n=number, evil=EVIL))
        file.with_name(file.name + ".meta.json").write_text(
            json.dumps({"site": f"../../site\n# {EVIL}", "url": f"https://a.example/../../{number}{EVIL}"})
        )
    (folder / "broken\x1b[31m\n.html").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    return folder


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(program, [str(argument) for argument in arguments])
    assert result.exit_code in (0, 1), result.stderr
    return result


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (explain, output, table):
        monkeypatch.setattr(module, "is_terminal", lambda stream: True)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("NO_COLOR", "1")


VERBS: dict[str, tuple[Any, ...]] = {
    "extract": ("extract", "CRAWL"),
    "extract leaves": ("extract", "CRAWL", "--leaves", "--with", "markdown,html"),
    "extract text": ("extract", "CRAWL", "--format", "text"),
    "extract markdown": ("extract", "CRAWL", "--format", "markdown", "-vv"),
    "dry run": ("extract", "CRAWL", "--dry-run"),
    "page": ("page", "PAGE"),
    "page html": ("page", "PAGE", "--format", "html"),
    "page jsonl": ("page", "PAGE", "--format", "jsonl"),
    "explain": ("explain", "PAGE", "--beside", "CRAWL", "-v"),
    "explain find": ("explain", "PAGE", "--find", "link"),
    "explain jsonl": ("explain", "PAGE", "--format", "jsonl"),
    "show": ("template", "show", "TEMPLATES", "--leaves"),
    "show json": ("template", "show", "TEMPLATES", "--format", "json"),
    "check": ("template", "check", "TEMPLATES", "CRAWL"),
    "check json": ("template", "check", "TEMPLATES", "CRAWL", "--format", "json"),
    "diff": ("template", "diff", "TEMPLATES", "TEMPLATES", "--leaves"),
    "upgrade": ("template", "upgrade", "TEMPLATES"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_nothing_that_a_terminal_obeys_reaches_it(verb: str, crawl: Path, tmp_path: Path, terminal: None) -> None:
    places = {"CRAWL": crawl, "PAGE": sorted(crawl.glob("p*.html"))[1], "TEMPLATES": tmp_path / "templates"}
    if "TEMPLATES" in VERBS[verb]:
        run("learn", crawl, "-o", places["TEMPLATES"])
    result = run(*(places.get(word, word) for word in VERBS[verb]))
    for said in (result.stdout, result.stderr):
        assert not OBEYED.search(said), ascii(OBEYED.findall(said))
    if verb.endswith("json") or verb == "extract":
        assert json.loads(result.stdout.splitlines()[0] if "\n{" in result.stdout else result.stdout)


def test_json_lines_in_a_pipe_hold_the_data_as_it_is(crawl: Path) -> None:
    first = json.loads(run("extract", crawl).stdout.splitlines()[1])
    assert (
        first["path"] == "p0\x1b[31m\n\u202e\x9b.html" and "\u202egnp" in first["text"] and "\x1b[31m" in first["text"]
    )


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_controls_are_no_text_but_directions_are(form: str, crawl: Path, tmp_path: Path) -> None:
    piped = run("extract", crawl, "--format", form, "-o", tmp_path / "out")
    assert piped.exit_code == 1
    for file in (tmp_path / "out").rglob("*.html.*"):
        text = file.read_text()
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text) and "\u202egnp" in text and "[31m" in text


def test_static_text_has_no_controls_and_no_forged_site(crawl: Path, tmp_path: Path) -> None:
    run("extract", crawl, "--template-text", tmp_path / "t.txt", "-o", tmp_path / "out.jsonl")
    text = (tmp_path / "t.txt").read_text()
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
    assert [line for line in text.splitlines() if line.startswith("# ")] == [text.splitlines()[0]]


def test_nothing_is_written_outside_of_the_output(crawl: Path, tmp_path: Path) -> None:
    out = tmp_path / "a" / "b" / "c" / "out"
    for verb in ("learn", "report"):
        run(verb, crawl, "-o", out / verb)
    run("extract", crawl, "-o", out / "extract")
    run("extract", crawl, "-o", out / "html", "--format", "html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "crawl"]
    assert [path.name for path in out.parent.iterdir()] == ["out"]
    assert sorted(path.name for path in out.iterdir()) == ["extract", "html", "learn", "report"]
    names = [path.relative_to(out).as_posix() for path in out.rglob("*")]
    assert not [name for name in names if OBEYED.search(name) or ".." in name.split("/")]
    assert len(list((out / "learn").iterdir())) == 1


def test_a_line_of_the_log_stays_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    progress.log_to_stderr(2)
    log = logging.getLogger("templatediff")
    try:
        log.warning("%s: odd", "a\ntemplatediff: forged\x1b[31m")
        try:
            raise ValueError("x\x1b[31m")
        except ValueError:
            log.debug("b\nc", exc_info=True)
    finally:
        progress.log_to_stderr(0, quiet=True)
    first, second, *traceback = capsys.readouterr().err.splitlines()
    assert first == "templatediff: a\\ntemplatediff: forged\\x1b[31m: odd"
    assert second == "templatediff: b\\nc" and traceback[-1] == "ValueError: x\\x1b[31m"


def test_a_title_never_ends_the_document_head() -> None:
    page = td.extract(
        "<title>&lt;/title>&lt;script>x&lt;/script></title><h1>a</h1><p>A sentence of some length is here."
    )
    assert "<script" not in output.body(page, "html")
