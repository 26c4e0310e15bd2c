from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import templatediff as td
from templatediff import upgrade
from templatediff.errors import TemplateError
from templatediff.store import PROFILE_FILE, TEMPLATE_FILE
from templatediff.upgrade import upgraded
from templatediff.upkeep import Upgraded, upgrade_folder

PAGES = [f"<nav>Menu</nav><p>Page {number} tells of the tide and of the boats that wait for it." for number in range(4)]


def renamed(document: dict[str, Any]) -> dict[str, Any]:
    """The step from a made-up format 0, in which `site` was called `host`."""
    return {**{name: value for name, value in document.items() if name != "host"}, "site": document["host"]}


@pytest.fixture
def older(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a template in the made-up format 0."""
    td.learn(PAGES, site="a.example").save(tmp_path)
    file = tmp_path / "a.example" / TEMPLATE_FILE
    document = json.loads(file.read_text(encoding="utf-8"))
    document["host"] = document.pop("site")
    document["format"] = 0
    file.write_text(json.dumps(document), encoding="utf-8")
    monkeypatch.setattr(upgrade, "STEPS", {0: renamed})
    return tmp_path


@pytest.mark.parametrize("with_profile", [True, False])
def test_an_older_format_is_read_and_rewritten(older: Path, with_profile: bool) -> None:
    if not with_profile:
        (older / "a.example" / PROFILE_FILE).unlink()
    assert list(td.load(older)) == ["a.example"]
    assert upgrade_folder(older) == [Upgraded("a.example", 0, True)]
    document = json.loads((older / "a.example" / TEMPLATE_FILE).read_text(encoding="utf-8"))
    assert document["format"] == 1 and document["site"] == "a.example" and "host" not in document
    assert upgrade_folder(older) == [Upgraded("a.example", 1, False)]


def test_with_a_profile_a_damaged_template_is_made_anew(tmp_path: Path) -> None:
    td.learn(PAGES, site="a.example").save(tmp_path)
    file = tmp_path / "a.example" / TEMPLATE_FILE
    before = file.read_bytes()
    file.write_bytes(b"{")
    assert upgrade_folder(tmp_path) == [Upgraded("a.example", None, True)]
    assert file.read_bytes() == before


def test_a_newer_file_is_not_touched(tmp_path: Path) -> None:
    td.learn(PAGES, site="a.example").save(tmp_path)
    file = tmp_path / "a.example" / TEMPLATE_FILE
    file.write_text('{"format": 7}')
    with pytest.raises(TemplateError, match="format 7, this release reads 1: upgrade"):
        upgrade_folder(tmp_path)
    assert file.read_text() == '{"format": 7}'


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"format": 0}, "format 0, which no release has written"),
        ({"format": -3}, "format -3, which no release has written"),
        ({"format": True}, "does not say which format"),
        ({"format": "1"}, "does not say which format"),
        ({}, "does not say which format"),
    ],
)
def test_formats_that_never_were(document: dict[str, Any], said: str) -> None:
    with pytest.raises(TemplateError, match=said):
        upgraded(document, "x/template.json")


def test_the_argument_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrade, "STEPS", {0: renamed})
    document = {"format": 0, "host": "a"}
    assert upgraded(document, "x") == {"format": 1, "site": "a"}
    assert document == {"format": 0, "host": "a"}
