"""`explain`: the labels of `extract` and `page`, with the reasons."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import templatediff as td
from templatediff.beside import extract_beside
from templatediff.cli.program import program
from templatediff.errors import InputError, UsageError

DEMO = Path(__file__).parent.parent / "corpora" / "demo"
STORY = DEMO / "www.harbour-gazette.example" / "harbour" / "mussel-beds-closed.html"
GAZETTE = "harbour-gazette.example"
ADDED = ["leaf", "hidden", "against", "evidence"]


def run(*arguments: object, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(program, [str(argument) for argument in arguments], input=stdin)


def leaves(*arguments: object, stdin: bytes = b"") -> list[dict[str, Any]]:
    result = run("explain", *arguments, "--format", "jsonl", stdin=stdin)
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def as_extracted(explained: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The leaf records of `extract` that explained leaves are."""
    assert all(list(leaf)[-4:] == ADDED for leaf in explained)
    return [{key: value for key, value in leaf.items() if key not in ADDED} for leaf in explained]


@pytest.fixture(scope="module")
def extracted() -> dict[str, list[dict[str, Any]]]:
    result = run("extract", DEMO, "--leaves", "--jobs", 1)
    return {record["path"]: record["leaves"] for record in map(json.loads, result.stdout.splitlines())}


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("learned") / "t"
    assert run("learn", DEMO, "-o", folder, "--quiet", "--jobs", 1).exit_code == 0
    return folder


def test_alone_it_is_page(extracted: object) -> None:
    (record,) = map(json.loads, run("page", STORY, "--format", "jsonl", "--leaves").stdout.splitlines())
    assert as_extracted(leaves(STORY)) == record["leaves"]
    assert as_extracted(leaves("-", stdin=STORY.read_bytes())) == record["leaves"]


@pytest.mark.parametrize("path", ["harbour/mussel-beds-closed.html", "lists/latest.html"])
def test_beside_the_crawl_it_is_extract(extracted: dict[str, list[dict[str, Any]]], path: str) -> None:
    name = f"www.harbour-gazette.example/{path}"
    assert as_extracted(leaves(DEMO / name, "--beside", DEMO)) == extracted[name]


def test_with_templates_it_is_page_and_extract(templates: Path, extracted: dict[str, list[dict[str, Any]]]) -> None:
    explained = as_extracted(leaves(STORY, "--templates", templates))
    assert explained == extracted[STORY.relative_to(DEMO).as_posix()]
    (record,) = map(
        json.loads, run("page", STORY, "--templates", templates, "--format", "jsonl", "--leaves").stdout.splitlines()
    )
    assert explained == record["leaves"]


def test_a_page_outside_the_crawl_is_explained_as_its_template_would(tmp_path: Path, templates: Path) -> None:
    """A copy's own near-duplicate is left out: it is not explained by itself."""
    copy = tmp_path / "copy.html"
    shutil.copy(STORY, copy)
    (beside,) = {leaf["n"] for leaf in leaves(copy, "--beside", DEMO)}
    (inside,) = {leaf["n"] for leaf in leaves(STORY, "--beside", DEMO)}
    assert beside == inside == 6
    new = tmp_path / "new.html"
    new.write_text(STORY.read_text().replace("mussel", "oyster").replace("Mussel", "Oyster"))
    explained = leaves(new, "--beside", DEMO, "--site", GAZETTE)
    (record,) = map(
        json.loads,
        run(
            "page", new, "--templates", templates, "--site", GAZETTE, "--format", "jsonl", "--leaves"
        ).stdout.splitlines(),
    )
    assert as_extracted(explained) == record["leaves"]


def test_the_site_of_a_page_outside_the_crawl(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>Nobody may gather mussels between the mole and the point, said the board.</p>")
    with pytest.raises(InputError, match=r"names no site, and the input has harbour.*: name its site with --site"):
        extract_beside(page, [DEMO])
    with pytest.raises(InputError, match=r"is of nowhere\.example, and"):
        extract_beside(page, [DEMO], site="nowhere.example")
    assert extract_beside(page, [DEMO], url=f"https://www.{GAZETTE}/a").site == GAZETTE
    assert extract_beside(page, [STORY.parent.parent]).site == GAZETTE  # the only one there is
    with pytest.raises(UsageError, match="tells its URL and site"):
        extract_beside(STORY, [DEMO], site=GAZETTE)


def test_text_has_every_leaf_in_page_order(templates: Path) -> None:
    result = run("explain", STORY, "--templates", templates)
    lines = result.stdout.splitlines()
    assert lines[0].endswith(f": content, confidence 0.96; layout 0 of {GAZETTE}, beside 8 other pages")
    explained = leaves(STORY, "--templates", templates)
    kept = sum(leaf["content"] for leaf in explained)
    assert lines[1] == f"{len(explained)} leaves, {kept} kept"
    heads = [line for line in lines if line[:6].strip().isdigit()]
    assert [line[:6].strip() for line in heads] == [str(number) for number in range(1, len(explained) + 1)]
    assert [line.split()[1] for line in heads] == ["kept" if leaf["content"] else "dropped" for leaf in explained]
    assert re.search(r"  P 0\.0\d  on 6 of 6 \(layout\)", heads[0])
    assert any(line.startswith("      because ") and "inside nav" in line for line in lines)
    assert any(line.startswith("      despite ") for line in lines)


def test_find_shows_what_holds_the_text(templates: Path) -> None:
    result = run("explain", STORY, "--templates", templates, "--find", "COPPER most\nlikely")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[1] == '1 leaf with "COPPER most likely"'
    assert "      The [[copper most likely]] comes from paint." in result.stdout
    (leaf,) = leaves(STORY, "--templates", templates, "--find", "copper most likely")
    assert leaf["text"][slice(*leaf["found"][0])] == "copper most likely"


def test_leaves_of_a_range_of_p_alone(templates: Path) -> None:
    every = leaves(STORY, "--templates", templates)
    some = leaves(STORY, "--templates", templates, "--p", ".2-.8")
    assert some == [leaf for leaf in every if 0.2 <= leaf["p"] <= 0.8] and 0 < len(some) < len(every)
    lines = run("explain", STORY, "--templates", templates, "--p", "0.2-0.8").stdout.splitlines()
    assert lines[1] == f"{len(every)} leaves, 8 kept, {len(some)} shown"
    assert sum(line.startswith("      because") for line in lines) == len(some)


@pytest.mark.parametrize(
    ("find", "said"),
    [
        ("beds & boats", '"beds & boats" is in no leaf; it stands in: title'),
        ("zebra", '"zebra" is not in the page'),
    ],
)
def test_find_says_where_else_a_text_stands(find: str, said: str) -> None:
    page = b"<title>Beds &amp; boats</title><p content=x>Some words of the page.</p><!-- x -->"
    result = run("explain", "-", "--find", find, stdin=page)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == said
    result = run("explain", "-", "--find", find, "--format", "jsonl", stdin=page)
    assert (result.exit_code, result.stdout) == (0, "")
    assert said.partition(";")[0] in result.stderr


def test_control_characters_of_a_page_are_spelled_out() -> None:
    result = run("explain", "-", stdin="<p class='\x1b[1m'>Red \u202ealert and some \x1b[31mmore words.</p>".encode())
    assert result.exit_code == 0
    assert "\x1b" not in result.stdout and "\u202e" not in result.stdout and "\\u202ealert" in result.stdout


def test_a_failed_page_is_named() -> None:
    result = run("explain", "-", stdin=b"<p>" + b"<b>" * 5000 + b"x")
    assert result.exit_code == 1 and "-: too-deep: " in result.stderr and result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([DEMO], "explain reads one page"),
        ([STORY, "--find", " "], "--find is empty"),
        ([STORY, "--p", ".8-.2"], "--p is '.8-.2': give two numbers from 0 to 1, the lower first, as in .4-.6"),
        ([STORY, "--p", "half"], "--p is 'half'"),
        ([STORY, "--templates", "t", "--beside", DEMO], "give one of the two"),
        ([STORY, "--beside", "nowhere"], "nowhere: no such file or folder"),
        ([STORY, "--templates", "nowhere"], "nowhere"),
    ],
)
def test_misuse(arguments: list[object], message: str) -> None:
    result = run("explain", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr and len(result.stderr.splitlines()) == 1


def test_records_of_a_crawl_explain_themselves() -> None:
    records = td.extract_crawl(DEMO)
    record = next(record for record in records if record.path and record.path.endswith("mussel-beds-closed.html"))
    assert [leaf["text"][:22] for leaf in record.explain("most likely comes")] == ["The copper most likely"]
    assert record.elsewhere("zebra") == []
