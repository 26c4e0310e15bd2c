from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from corpora.generator import GeneratedSite, SiteSpec, generate_site, write_site
from templatediff.cli.program import program
from templatediff.store import PROFILE_FILE, TEMPLATE_FILE

SPEC = SiteSpec(kinds=("news",), pages=16, seed=21, months=("2023-01", "2024-05"))


def run(*arguments: object) -> Result:
    return CliRunner().invoke(program, [str(argument) for argument in arguments])


def written(folder: Path, spec: SiteSpec, numbers: slice) -> Path:
    site = generate_site(spec)
    part = GeneratedSite(site.name, site.host, site.pages[numbers], site.lang, site.script)
    write_site(part, folder, sidecars=True)
    return folder


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders: old (what teaches), same (later pages), changed (later pages of a redesign), t (learnt from old)."""
    folder = tmp_path_factory.mktemp("crawls")
    written(folder / "old", SPEC, slice(0, 8))
    written(folder / "same", SPEC, slice(8, 16))
    written(folder / "changed", SPEC.but(redesign="2024-05"), slice(8, 16))
    assert run("learn", folder / "old", "-o", folder / "t", "--jobs", 1).exit_code == 0
    return folder


def described(result: Result) -> Any:
    return json.loads(result.stdout)


def test_check_stays_quiet_where_the_design_stays(crawls: Path) -> None:
    result = run("template", "check", crawls / "t", crawls / "same", "--jobs", 1)
    assert result.exit_code == 0
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[0] == ["site", "layout", "verdict", "pages", "drifted", "leaves", "found", "text", "unexplained"]
    assert rows[-1][1:5] == ["all", "fits", "8", "0"]
    assert "drifted from" not in result.stderr


def test_check_raises_the_alarm_on_a_redesign(crawls: Path) -> None:
    result = run("template", "check", crawls / "t", crawls / "changed", "--format", "json", "--jobs", 1)
    assert result.exit_code == 3
    (site,) = described(result)
    assert site["verdict"] == "drifted" and site["pages"] == site["drifted"] == 8
    assert site["found"] < 0.1 and site["unexplained"] > 0.5
    assert [layout["layout"] for layout in site["layouts"]] == [None]


def test_drift_wins_over_failed_pages(crawls: Path, tmp_path: Path) -> None:
    written(tmp_path, SPEC.but(redesign="2024-05"), slice(8, 16))
    (tmp_path / "broken.html").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    result = run("template", "check", crawls / "t", tmp_path, "--jobs", 1)
    assert result.exit_code == 3 and "broken.html: binary" in result.stderr


def test_extract_warns_of_drift_with_the_figures_of_check(crawls: Path) -> None:
    checked = run("template", "check", crawls / "t", crawls / "changed", "--jobs", 1)
    extracted = run("extract", crawls / "changed", "--templates", crawls / "t", "--jobs", 1)
    warnings = [[line for line in result.stderr.splitlines() if "drifted" in line] for result in (checked, extracted)]
    assert warnings[0] == warnings[1] and len(warnings[0]) == 1
    assert "has drifted from its template: 8 of 8 pages; 0% of the template's leaves found" in warnings[0][0]
    assert extracted.exit_code == 0
    assert "drifted" not in run("extract", crawls / "same", "--templates", crawls / "t", "--jobs", 1).stderr


def test_after_an_update_the_redesign_fits(crawls: Path, tmp_path: Path) -> None:
    for part in ("old", "changed"):
        run("learn", crawls / part, "-o", tmp_path / "t", "--update", "--jobs", 1)
    assert run("template", "check", tmp_path / "t", crawls / "changed", "--jobs", 1).exit_code == 0


def test_check_without_a_template_or_a_profile_has_nothing_to_compare(crawls: Path, tmp_path: Path) -> None:
    site = next((crawls / "t").iterdir()).name
    alone = tmp_path / "t" / site
    alone.mkdir(parents=True)
    (alone / TEMPLATE_FILE).write_bytes((crawls / "t" / site / TEMPLATE_FILE).read_bytes())
    result = run("template", "check", tmp_path / "t", crawls / "same", "--jobs", 1)
    assert result.exit_code == 2 and "no template with a profile for a site of these pages" in result.stderr
    result = run("template", "check", crawls / "t", crawls / "same", "--site", "b.example", "--jobs", 1)
    assert result.exit_code == 2


def test_merge_and_its_refusal(crawls: Path, tmp_path: Path) -> None:
    run("learn", crawls / "same", "-o", tmp_path / "two", "--jobs", 1)
    result = run("template", "merge", crawls / "t", tmp_path / "two", "-o", tmp_path / "both")
    assert result.exit_code == 0 and f"1 site in {tmp_path / 'both'}" in result.stderr
    run("learn", crawls / "old", crawls / "same", "-o", tmp_path / "whole", "--jobs", 1)
    for file in (TEMPLATE_FILE, PROFILE_FILE):
        (one,), (other,) = ([*(tmp_path / name).glob(f"*/{file}")] for name in ("both", "whole"))
        assert one.read_bytes() == other.read_bytes()
    run("learn", crawls / "same", "-o", tmp_path / "other", "--ngram-order", 2, "--jobs", 1)
    result = run("template", "merge", crawls / "t", tmp_path / "other", "-o", tmp_path / "none")
    assert result.exit_code == 2 and "different ngram_order" in result.stderr
    assert not (tmp_path / "none").exists()


def test_diff_as_table_list_and_json(crawls: Path, tmp_path: Path) -> None:
    run("learn", crawls / "changed", "-o", tmp_path / "new", "--jobs", 1)
    result = run("template", "diff", crawls / "t", tmp_path / "new")
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0][:3] == ["site", "layout", "pages"]
    assert [line[1:3] for line in lines[1:]] == [["0", "appeared"], ["0", "disappeared"]]
    run("learn", crawls / "same", "-o", tmp_path / "same", "--jobs", 1)
    (site,) = described(run("template", "diff", crawls / "t", tmp_path / "same", "--format", "json"))
    (layout,) = site["layouts"]
    assert site["status"] == "both" and layout["old"]["id"] == layout["new"]["id"] == 0 and layout["likeness"] > 0.9
    listed = run("template", "diff", crawls / "t", tmp_path / "same", "--leaves").stdout
    assert all(leaf["selector"] in listed for leaf in layout["came"])
    assert run("template", "diff", crawls / "t", tmp_path / "same", "--site", "none").exit_code == 2


def test_upgrade_says_what_became_of_each_site(crawls: Path) -> None:
    result = run("template", "upgrade", crawls / "t")
    assert result.exit_code == 0 and result.stdout.endswith(": format 1, now format 1: as it was\n")


def test_since_needs_update(crawls: Path, tmp_path: Path) -> None:
    result = run("learn", crawls / "old", "-o", tmp_path / "t", "--since", "2024-01-01")
    assert result.exit_code == 2 and "--since" in result.stderr and "--update" in result.stderr
