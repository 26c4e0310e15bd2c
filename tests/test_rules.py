from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import templatediff as td
from templatediff import rules
from templatediff.errors import TemplateError
from templatediff.html import parse
from templatediff.rules import read_rules
from tests.test_slots import page

DROP_ALL = '[[drop]]\nselector = "body"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A template folder with one site, and a crawl of it beside."""
    crawl = tmp_path / "crawl" / "example.org"
    crawl.mkdir(parents=True)
    for number in range(6):
        (crawl / f"{number}.html").write_text(page(number))
    td.learn_crawl([tmp_path / "crawl"], tmp_path / "templates", site="example.org")
    return tmp_path / "templates"


def kept(folder: Path) -> set[str]:
    records = td.load(folder)["example.org"].extract(page(1)).leaves
    return {record["text"] for record in records if record["content"]}


def of_site(folder: Path, text: str) -> None:
    (folder / "example.org" / "rules.toml").write_text(text)


@pytest.mark.parametrize(
    ("rule", "texts"),
    [
        ('selector = "footer"', {"4 Quay Street"}),
        ('selector = "table"', {"Weight", "3 kg", "Stock", "sold out"}),
        ('selector = "b"', {"Advert"}),
        ('text = "MENU of  the site"', {"Menu of the site"}),
        ('contains = "quay street"', {"4 Quay Street"}),
        ('regex = "^4 Q"', {"4 Quay Street"}),
        ('slot = "person"', {"Posted by Bo van Dyk on 2 May 2024"}),
        ('selector = "td"\ncontains = "kg"', {"3 kg"}),
        ('selector = "td"\ntext = "Weight"', set()),
    ],
)
def test_a_rule_decides_the_leaves_that_it_names(folder: Path, rule: str, texts: set[str]) -> None:
    of_site(folder, f"[[keep]]\n{rule}\n")
    (folder / "rules.toml").write_text(DROP_ALL)
    assert kept(folder) == texts


def test_rules_go_before_guards_and_say_so(folder: Path) -> None:
    (folder / "rules.toml").write_text(DROP_ALL)
    done = td.load(folder)["example.org"].extract(page(1))
    assert done.verdict == "empty" and done.text == "" and done.reason == "rules drop all that was kept"
    assert all("drop by selector 'body'" in leaf["reasons"][0] and leaf["p"] == 0.0 for leaf in done.leaves)


def test_keep_goes_before_drop_and_a_sites_own_file_before_that_of_all(folder: Path) -> None:
    of_site(folder, f'{DROP_ALL}[[keep]]\ntext = "Advert"\n')
    assert kept(folder) == {"Advert"}
    of_site(folder, DROP_ALL)
    (folder / "rules.toml").write_text('[[keep]]\ntext = "Advert"\n')
    assert kept(folder) == set()


def test_conflicts_and_rules_that_never_matched_are_reported(folder: Path) -> None:
    of_site(folder, '[[keep]]\ntext = "Advert"\n\n[[drop]]\ncontains = "adv"\n\n[[drop]]\ntext = "nowhere"\n')
    totals = td.Totals()
    list(td.extract_crawl([folder.parent / "crawl"], folder, site="example.org", totals=totals))
    told = [warning for warning in totals.warnings if "rules.toml" in warning]
    assert len(told) == 2
    assert told[0].startswith("drop by text 'nowhere' (") and told[0].endswith("rules.toml line 7) never matched")
    assert "goes before" in told[1] and told[1].endswith("on 6 pages where both match")


def test_several_processes_report_the_same(folder: Path) -> None:
    of_site(folder, '[[drop]]\ntext = "Advert"\n')
    totals = td.Totals()
    list(td.extract_crawl([folder.parent / "crawl"], folder, 2, site="example.org", totals=totals))
    assert not [warning for warning in totals.warnings if "rules.toml" in warning]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[keep]]\ntext = \n", "line 2"),
        (
            '[[keep]]\ntext = "a"\n\n[[remove]]\ntext = "b"\n',
            "line 4: 'remove' is unknown: rules are [[keep]] and [[drop]]",
        ),
        ('[[keep]]\n[[keep]]\nclass = "b"\n', "line 1: a rule without a condition"),
        ('[[keep]]\ntext = "a"\n[[keep]]\n\nclass = "b"\n', "line 5: 'class' is unknown: conditions are selector"),
        ('[keep]\ntext = "b"\n', "line 1: write [[keep]]"),
        ('[[drop]]\nselector = "div["\n', "line 2: selector 'div[' cannot be read"),
        ('[[drop]]\nregex = "("\n', "line 2: regex '(' cannot be read"),
        ('[[drop]]\nslot = "colour"\n', "line 2: slot is 'colour': choose date"),
        ("[[drop]]\ntext = 3\n", "line 2: text is 3: give a text in quotes"),
        ("[[drop]]\ntext = " + "9" * 5000, "line 2: a number that is too long"),
        ('[[drop]]\ntext = "a"\n\na = ' + "[" * 5000, "line 4: nested too deep"),
        ('[[drop]]\ntext = "a"\n[[drop.sub]]\ntext = "b"\n', "line 3: 'sub' is unknown"),
    ],
)
def test_a_mistake_is_one_error_with_its_line(folder: Path, text: str, expected: str) -> None:
    (folder / "rules.toml").write_text(text)
    with pytest.raises(TemplateError) as error:
        read_rules(folder, folder / "example.org")
    assert expected in str(error.value) and str(folder / "rules.toml") in str(error.value)


@pytest.mark.parametrize(
    "rule", ['selector = "' + "[" * 9000, 'regex = "' + "(" * 9000, 'slot = "' + "x" * 9000, '"' + "x" * 9000 + '" = "']
)
def test_long_mistakes_are_told_in_short(folder: Path, rule: str) -> None:
    (folder / "rules.toml").write_text(f'[[drop]]\n{rule}"\n')
    with pytest.raises(TemplateError, match="line 2") as error:
        read_rules(folder, folder / "example.org")
    assert len(str(error.value)) < 700


def test_rules_that_are_no_file_are_not_passed_over(folder: Path) -> None:
    (folder / "rules.toml").mkdir()
    with pytest.raises(TemplateError, match=r"rules\.toml is no file"):
        td.load(folder)
    (folder / "rules.toml").rmdir()
    (folder / "rules.toml").symlink_to(folder / "nowhere")
    with pytest.raises(TemplateError, match=r"rules\.toml is no file"):
        td.load(folder)


def test_a_page_is_parsed_once_for_all_selectors(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_site(folder, "".join(f'[[drop]]\nselector = "p.c{number}"\n' for number in range(50)))
    template = td.load(folder)["example.org"]
    calls: list[str] = []
    monkeypatch.setattr(rules, "parse", lambda text, **how: calls.append(text) or parse(text, **how))
    template.extract(page(1))
    assert len(calls) == 1


def test_every_mistake_is_told_at_once(folder: Path) -> None:
    of_site(folder, '[[drop]]\nslot = "x"\nregex = "("\n')
    (folder / "rules.toml").write_bytes(b'\n[[keep]]\ntext = "\xff"\n')
    with pytest.raises(TemplateError) as error:
        td.load(folder)
    assert Counter(str(error.value).split())["line"] == 3 and "line 3: not UTF-8" in str(error.value)


def test_learning_leaves_rules_alone(folder: Path) -> None:
    of_site(folder, DROP_ALL)
    td.learn_crawl([folder.parent / "crawl"], folder, site="example.org", update=True)
    assert (folder / "example.org" / "rules.toml").read_text() == DROP_ALL
