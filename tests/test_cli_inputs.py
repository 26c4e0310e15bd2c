"""Archives and JSON lines on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from templatediff.cli.program import program
from tests.archives import lines_of, put, record, response, warc_gz, zip_of

BEASTS = ("otter", "heron", "pike", "swan", "crane")
HOST = "https://www.example.com"


def page_of(beast: str) -> str:
    return (
        f"<title>{beast}</title><div>Beasts of the river</div><p>The {beast} lives by the river and is seen "
        f"{len(beast)} times a week, mostly in the early morning, when few people are about."
    )


def run(*arguments: object, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(program, [str(argument) for argument in arguments], input=stdin)


def records(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def lines() -> bytes:
    return lines_of({"id": beast, "url": f"{HOST}/{beast}/", "html": page_of(beast)} for beast in BEASTS)


@pytest.fixture
def zipped(tmp_path: Path) -> Path:
    members = [(f"www.example.com/{beast}.html", page_of(beast).encode()) for beast in BEASTS]
    return put(tmp_path / "in/x.zip", zip_of([*members, ("www.example.com/style.css", b"p {}")]))


@pytest.fixture
def warc(tmp_path: Path) -> Path:
    blocks = [record("response", response(page_of(beast).encode()), f"{HOST}/{beast}/?a=1") for beast in BEASTS]
    gone = record("response", response(b"<p>gone", status="404 Not Found"), f"{HOST}/dodo/")
    return put(tmp_path / "in/x.warc.gz", warc_gz([*blocks, gone]))


def test_json_lines_on_stdin(lines: bytes) -> None:
    result = run("extract", "-", "--carry", "id, none", stdin=b"\n" + lines)
    assert result.exit_code == 0
    found = records(result)
    assert [(one["path"], one["source"]) for one in found] == [
        (f"-!{number}", {"id": beast, "none": None}) for number, beast in enumerate(BEASTS, 2)
    ]
    assert [list(one)[-1] for one in found] == ["source"] * 5
    assert {(one["site"], one["mode"]) for one in found} == {("example.com", "template")}
    assert "Beasts of the river" not in found[0]["text"]


def test_lines_on_stdin_without_url_are_of_a_site_called_so() -> None:
    (one,) = records(run("extract", "-", stdin=lines_of([{"html": page_of("otter")}])))
    assert (one["path"], one["site"], one["url"]) == ("-!1", "stdin", None)


def test_a_json_line_without_html_is_named_with_its_fields_and_gives_status_1(lines: bytes) -> None:
    result = run("extract", "-", stdin=lines + b'{"text": "words", "title": "x"}\n')
    assert result.exit_code == 1
    assert "-!6" in result.stderr and "text, title" in result.stderr and "1 failed" in result.stderr
    assert records(result)[-1]["error"]["kind"] == "no-html"


def test_fields_can_be_named(tmp_path: Path) -> None:
    line = {"address": f"{HOST}/a", "raw": page_of("otter"), "when": "2024-05-01T10:00:00Z", "html": "<p>no"}
    file = put(tmp_path / "x.jsonl", lines_of([line]))
    (one,) = records(run("extract", file, "--field", "html=raw", "--field", "url=address", "--field", "fetched=when"))
    assert (one["url"], one["fetched"]) == (f"{HOST}/a", "2024-05-01T10:00:00Z")
    assert "otter" in one["text"]


def test_fields_can_be_named_for_one_page(tmp_path: Path) -> None:
    made = lines_of({"raw": page_of(beast), "address": f"{HOST}/{beast}/"} for beast in BEASTS)
    file = put(tmp_path / "x.jsonl", made)
    names = ["--field", "html=raw", "--field", "url=address"]
    (one,) = records(run("page", f"{file}!2", *names, "--format", "jsonl"))
    assert (one["url"], one["path"]) == (f"{HOST}/heron/", "x.jsonl!2") and "The heron lives" in one["text"]
    assert "The otter lives" in run("page", "-", *names, stdin=made.splitlines()[0]).stdout
    assert "name it with --field html=NAME" in run("page", f"{file}!2").stderr
    beside = run("explain", f"{file}!2", "--beside", file, *names, "--find", "heron lives")
    assert beside.exit_code == 0 and "layout 0 of example.com, beside 4 other pages" in beside.stdout
    assert run("page", file, "--field", "raw=html").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--field", "text=x"], "give html=NAME, url=NAME or fetched=NAME"),
        (["--field", "html="], "give html=NAME"),
        (["--field", "html=a", "--field", "html=b"], "names html twice"),
        (["--carry", "id", "--format", "text"], "--carry adds a key to JSON lines"),
    ],
)
def test_misuse_is_refused(zipped: Path, arguments: list[str], message: str) -> None:
    result = run("extract", zipped, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_a_dry_run_counts_what_is_in_archives(zipped: Path, warc: Path) -> None:
    told = run("extract", zipped.parent, "--dry-run").stdout
    assert "example.com: 10 pages, found by URL" in told
    assert "1 HTTP 404" in told and "1 css" in told


def test_globs_choose_members_by_url(zipped: Path, warc: Path) -> None:
    some = records(run("extract", zipped.parent, "--include", "*/otter*", "--exclude", "*/pike*"))
    assert [one["url"] for one in some] == [f"{HOST}/otter/?a=1", f"{HOST}/otter.html"]
    assert {one["siblings"] for one in some} == {3}, "the same beast under two names is one page"


def test_learning_from_an_archive_is_learning_from_its_folder(zipped: Path, tmp_path: Path) -> None:
    for beast in BEASTS:
        put(tmp_path / f"folder/www.example.com/{beast}.html", page_of(beast).encode())
    for name, place in (("a", zipped), ("b", tmp_path / "folder")):
        assert run("learn", place, "-o", tmp_path / name, "--quiet").exit_code == 0
    files = sorted(file.relative_to(tmp_path / "a") for file in (tmp_path / "a").rglob("*") if file.is_file())
    assert len(files) >= 2
    assert [(tmp_path / "a" / file).read_bytes() for file in files] == [
        (tmp_path / "b" / file).read_bytes() for file in files
    ]


def test_one_page_of_an_archive(zipped: Path) -> None:
    result = run("page", f"{zipped}!www.example.com/otter.html")
    assert result.exit_code == 0 and "The otter lives" in result.stdout
    one = lines_of([{"html": page_of("otter"), "url": f"{HOST}/a"}])
    assert "The otter lives" in run("page", "-", stdin=one).stdout
    two = run("page", "-", stdin=one * 2)
    assert two.exit_code == 2 and "name one of them" in two.stderr and "/tmp" not in two.stderr
    several = run("page", zipped)
    assert several.exit_code == 2 and "holds 6 pages or files" in several.stderr
    beside = run("explain", f"{zipped}!www.example.com/otter.html", "--beside", zipped, "--find", "river")
    assert beside.exit_code == 0 and "beside 4 other pages" in beside.stdout


def test_files_of_archived_pages_are_called_after_host_and_path(warc: Path, tmp_path: Path) -> None:
    assert run("extract", warc, "-o", tmp_path / "out", "--quiet").exit_code == 0
    names = sorted(str(file.relative_to(tmp_path / "out")) for file in (tmp_path / "out").rglob("*.md"))
    assert names == sorted(f"www.example.com/{beast}/index.html%3Fa=1.md" for beast in BEASTS)


def test_the_lost_part_of_an_archive_is_named_and_gives_status_1(zipped: Path) -> None:
    data = zipped.read_bytes()
    zipped.write_bytes(data[: data.index(b"style.css")])
    result = run("extract", zipped)
    assert result.exit_code == 1
    assert "x.zip" in result.stderr and "cut short" in result.stderr and "1 failed" in result.stderr
    assert [one["verdict"] for one in records(result)][-1] == "error" and len(records(result)) == 6


def test_nothing_is_written_beside_the_output(tmp_path: Path) -> None:
    members = [(name, page_of("otter").encode()) for name in ("../../evil.html", "/tmp/evil.html", "a.html")]
    file = put(tmp_path / "deep/er/x.zip", zip_of(members))
    assert run("extract", file, "-o", tmp_path / "deep/out", "--quiet").exit_code == 1
    found = sorted(str(place.relative_to(tmp_path)) for place in tmp_path.rglob("*") if place.is_file())
    assert found == ["deep/er/x.zip", "deep/out/index.jsonl", "deep/out/x.zip!a.html.md"]
