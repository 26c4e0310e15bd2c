"""What part of a crawl is read, and what is told of it: --include, --exclude, --dry-run, --report."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import templatediff as td
from corpora.generator import SiteSpec, generate_site, write_site
from templatediff._version import __version__
from templatediff.cli.program import program
from templatediff.store import PROFILE_FILE
from templatediff.survey import survey_crawl


def run(*arguments: object) -> Result:
    return CliRunner().invoke(program, [str(argument) for argument in arguments])


def lines(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight pages of a generated site with sidecars (their URLs), four of a folder without, a style sheet each."""
    folder = tmp_path_factory.mktemp("crawls") / "crawl"
    write_site(generate_site(SiteSpec(kinds=("news",), pages=8, seed=5)), folder / "generated", sidecars=True)
    for number, beast in enumerate(("otter", "heron", "pike", "swan")):
        page = folder / "river" / f"{beast}.html"
        page.parent.mkdir(exist_ok=True)
        page.write_text(
            f"<title>{beast}</title><div>Beasts of the river</div><p>The {beast} lives by the river and is seen "
            f"{number + 2} times a week, mostly in the early morning, when few people are about."
        )
    for place in ("generated", "river"):
        (folder / place / "style.css").write_text("p {}")
    return folder


def all_pages(crawl: Path) -> list[td.Page]:
    return list(td.read_crawl(crawl))


# --- which pages


def test_include_limits_what_comes_out_and_not_what_teaches(crawl: Path) -> None:
    whole = {record["path"]: record for record in lines(run("extract", crawl, "--leaves", "--jobs", 1))}
    some = lines(
        run("extract", crawl, "--leaves", "--jobs", 1, "--include", "*/otter.html", "--include", "river/pike*")
    )
    assert [record["path"] for record in some] == ["river/otter.html", "river/pike.html"]
    assert [whole[record["path"]] for record in some] == some


def test_exclude_limits_what_teaches_too(crawl: Path, tmp_path: Path) -> None:
    some = lines(run("extract", crawl, "--jobs", 1, "--exclude", "river/swan*", "--exclude", "*/pike.html"))
    river = {record["path"]: record["siblings"] for record in some if record["path"].startswith("river/")}
    assert river == {"river/heron.html": 1, "river/otter.html": 1}
    assert "2 excluded" in run("extract", crawl, "--exclude", "river/swan*", "--exclude", "*/pike.html").stderr
    without, given = tmp_path / "without", tmp_path / "given"
    assert run("learn", crawl, "-o", without, "--exclude", "river/*", "--quiet").exit_code == 0
    assert run("learn", crawl / "generated", "-o", given, "--quiet").exit_code == 0
    (one,), (other,) = ([*folder.glob(f"*/{PROFILE_FILE}")] for folder in (without, given))
    assert one.read_bytes() == other.read_bytes()


def test_globs_match_urls_where_they_are_known(crawl: Path) -> None:
    urls = [page.url for page in all_pages(crawl) if page.url]
    assert len(urls) == 8
    (record,) = lines(run("extract", crawl, "--include", urls[3]))
    assert record["url"] == urls[3]
    found = run("extract", crawl, "--include", "generated/*")  # their paths, which do not count
    assert (found.exit_code, found.stdout) == (2, "")
    assert "no page of the input matches generated/*" in found.stderr


def test_limit_counts_pages_that_teach(crawl: Path) -> None:
    some = lines(run("extract", crawl, "--limit", 2, "--include", "river/*"))
    assert [(record["path"], record["siblings"]) for record in some] == [
        ("river/heron.html", 1),
        ("river/otter.html", 1),
    ]


def test_check_leaves_excluded_pages_alone(crawl: Path, tmp_path: Path) -> None:
    run("learn", crawl, "-o", tmp_path / "t", "--quiet")
    result = run("template", "check", tmp_path / "t", crawl, "--exclude", "river/s*", "--format", "json")
    pages = {site["site"]: site["pages"] for site in json.loads(result.stdout)}
    assert pages["river"] == 3


def test_the_library_takes_globs_too(crawl: Path) -> None:
    paths = [record.path for record in td.extract_crawl(crawl, include=["river/*"], exclude=["*swan*"])]
    assert paths == ["river/heron.html", "river/otter.html", "river/pike.html"]


# --- dry run


def test_a_dry_run_tells_sites_and_writes_nothing(crawl: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    result = run(
        "extract", crawl, "--dry-run", "-o", tmp_path / "out", "--report", tmp_path / "r.json",
        "--template-text", tmp_path / "t.txt", "--templates", tmp_path / "t", "--update",
    )  # fmt: skip
    assert result.exit_code == 0 and result.stderr == ""
    assert sorted(tmp_path.rglob("*")) == before
    blocks = [block.splitlines() for block in result.stdout.split("\n\n")]
    host = next(page.url for page in all_pages(crawl) if page.url).split("/")[2].removeprefix("www.")
    by_site = {block[0].partition(":")[0]: block for block in blocks}
    assert set(by_site) == {host, "river", "no site"}
    assert by_site["no site"][1:] == ["  skipped: 1 css"]  # no page lies beside it
    assert by_site["river"] == [
        "river: 4 pages, named by the folder",
        "  4  URL not known (globs match the path)",
        "  skipped: 1 css",
    ]
    assert by_site[host][0] == f"{host}: 8 pages, found by URL"
    assert sum(int(line.split()[0]) for line in by_site[host][1:]) == 8


def test_a_dry_run_says_what_extract_does(crawl: Path) -> None:
    """Sites and numbers of pages are those of the run, whatever the options."""
    for options in (
        [],
        ["--site-from", "folder"],
        ["--site", "a.example"],
        ["--limit", "3"],
        ["--exclude", "river/[ops]*"],
    ):
        records = lines(run("extract", crawl, "--jobs", 1, *options))
        planned = run("extract", crawl, "--dry-run", *options)
        counts: dict[str, int] = {}
        for record in records:
            counts[record["site"]] = counts.get(record["site"], 0) + 1
        told = {}
        for line in planned.stdout.splitlines():
            if line and not line.startswith(" "):
                site, _, rest = line.partition(":")
                told[site] = int(rest.split()[0]) if rest else 0
        assert told.pop("no site", 0) == 0
        assert told == counts


def test_a_dry_run_tells_how_sites_were_found(crawl: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    (folder / "www.heron.org").mkdir(parents=True)
    (folder / "www.heron.org" / "a.html").write_text("<p>The heron stands in the water for an hour.")
    (folder / "named").mkdir()
    (folder / "named" / "b.html").write_text(
        "<link rel=canonical href=https://pike.org/b><p>The pike waits in the reeds."
    )
    (folder / "broken.html").write_bytes(b"\x00\x01\x02binary" * 100)
    found = {survey.name: survey for survey in survey_crawl(folder)}
    assert {name: dict(survey.found) for name, survey in found.items()} == {
        "heron.org": {"URL": 1},
        "pike.org": {"links in the pages": 1},
        "mixed": {"folder": 1},
    }
    assert dict(found["heron.org"].shapes) == {"/a.html": 1}
    assert found["mixed"].failures[0][:2] == ("broken.html", "binary")
    result = run("extract", folder, "--dry-run")
    assert result.exit_code == 1 and "broken.html: binary" in result.stderr
    assert "  cannot be read: 1 binary" in result.stdout
    result = run("extract", folder, "--dry-run", "--include", "*heron*")
    assert "pike.org: 1 page, found by the pages' canonical links or og:url\n  0 of them come out" in result.stdout
    named = survey_crawl(crawl, site="a.example")
    assert [dict(survey.found) for survey in named] == [{"option": 12}]


def test_a_dry_run_of_nothing_is_an_error(tmp_path: Path) -> None:
    result = run("extract", tmp_path, "--dry-run")
    assert (result.exit_code, result.stdout) == (2, "") and "no HTML page" in result.stderr


def test_a_dry_run_of_excluded_pages_is_the_error_of_the_run(crawl: Path) -> None:
    said = [run("extract", crawl, "--exclude", "*", *dry).stderr for dry in ((), ("--dry-run",))]
    assert said[0] == said[1] and "(skipped: 2 css, 12 excluded)" in said[0]


# --- report


def test_a_json_report_counts_by_site(crawl: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.html").write_bytes(b"\x00\x01\x02binary" * 100)
    file = tmp_path / "report.json"
    for _ in range(2):  # the report of the run before is not read as input
        result = run("extract", crawl, tmp_path, "--report", file, "-o", tmp_path / "out", "--exclude", "*swan*")
        assert result.exit_code == 1
    report = json.loads(file.read_text(encoding="utf-8"))
    assert list(report) == ["version", "options", "totals", "warnings", "sites"]
    assert report["version"] == __version__
    assert report["options"]["exclude"] == ["*swan*"] and report["options"]["format"] == "markdown"
    assert report["totals"]["pages"] == 12 and report["totals"]["failed"] == 1
    assert report["totals"]["skipped"]["excluded"] == 1
    assert sum(site["pages"] for site in report["sites"].values()) == 12
    for site in report["sites"].values():
        assert sum(site["verdicts"].values()) == sum(site["layouts"].values()) == site["pages"]
    (failure,) = [failure for site in report["sites"].values() for failure in site["failures"]]
    assert failure["path"].endswith("bad.html") and failure["kind"] == "binary" and failure["message"]
    index = [json.loads(line) for line in (tmp_path / "out" / "index.jsonl").read_text().splitlines()]
    assert len(index) == 12


def test_a_csv_report_has_a_row_for_each_page(crawl: Path, tmp_path: Path) -> None:
    page = tmp_path / "odd" / 'a "b", c.html'
    page.parent.mkdir()
    page.write_text('<title>One, "two"\n three</title><p>Some words, and a line of them, on a page.')
    (tmp_path / "odd" / "bad.html").write_bytes(b"\x00\x01\x02binary" * 100)
    file = tmp_path / "report.CSV"
    result = run("extract", crawl, page.parent, "--report", file, "--quiet")
    records = [json.loads(line) for line in result.stdout.splitlines()]
    data = file.read_bytes()
    assert b"\r" not in data
    rows = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
    assert list(rows[0]) == ["path", "url", "title", "fetched", "verdict", "words", "confidence", "error"]
    assert len(rows) == len(records) == 14
    for row, record in zip(rows, records, strict=True):
        for key in ("path", "url", "title", "fetched", "verdict"):
            assert row[key] == (record[key] or "")
        assert float(row["confidence"]) == record["confidence"]
        assert (int(row["words"]) > 0) == bool(record["text"])
    assert [row["error"].partition(":")[0] for row in rows if row["error"]] == ["binary"]


def test_no_cell_of_a_csv_report_is_a_formula(tmp_path: Path) -> None:
    bombs = ["=HYPERLINK(&quot;http://evil.example&quot;)", "+1+cmd|x", "-2-1", "@SUM(A1)", "\uff1d1+1"]
    for number, bomb in enumerate(bombs):
        page = tmp_path / "odd" / f"{bomb[0]}{number}.html"
        page.parent.mkdir(exist_ok=True)
        page.write_text(f"<title>{bomb}</title><h1>{bomb}</h1><p>Some words, and a line of them, on page {number}.")
    file = tmp_path / "report.csv"
    assert run("extract", tmp_path / "odd", "--report", file, "--quiet").exit_code == 0
    rows = list(csv.DictReader(io.StringIO(file.read_text(), newline="")))
    assert {row["path"][:2] for row in rows} == {row["title"][:2] for row in rows} == {f"'{bomb[0]}" for bomb in bombs}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("report.txt", "give a file that ends in .json or .csv"),
        ("-", "--report needs a file"),
        ("no/report.json", "there is no folder"),
        ("out.json", "is the input or the output"),
    ],
)
def test_a_report_that_cannot_be_is_refused_first(
    crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("extract", crawl, "-o", "out.json", "--format", "jsonl", "--report", name)
    assert (result.exit_code, result.stdout) == (2, "") and message in result.stderr
    assert not any(tmp_path.iterdir())


def test_a_report_changes_no_record_and_is_whole_or_part(
    crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = run("extract", crawl, "--jobs", 1)
    file = tmp_path / "r.csv"
    assert run("extract", crawl, "--jobs", 1, "--report", file).stdout == plain.stdout
    whole = file.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["r.csv"]

    def broken(self: object, record: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("templatediff.cli.output.JsonLines.write", broken)
    assert run("extract", crawl, "--jobs", 1, "--report", file).exit_code == 2
    assert file.read_bytes() == whole and (tmp_path / "r.csv.part").exists()
