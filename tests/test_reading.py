from __future__ import annotations

import json
from pathlib import Path

import pytest

from templatediff import profile
from templatediff.crawl import list_sources
from templatediff.given import Given, Totals
from templatediff.parallel import Crew
from templatediff.reading import Reading, read


@pytest.fixture
def crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sites of one folder, one known by its addresses and one by what its pages say, and pages that cannot be used."""
    monkeypatch.setattr(profile, "PAGES_A_MONTH", 12)
    monkeypatch.setattr("templatediff.reading.PAGES_A_MONTH", 12)
    folder = tmp_path / "crawl"
    folder.mkdir()
    for number in range(90):
        said = f"<link rel=canonical href=https://said.example/{number}>" if number % 3 else ""
        file = folder / f"{number:02}.html"
        file.write_text(f"{said}<div>Menu</div><p>Story {number} of the day{'<div>' * (5000 if number == 80 else 0)}")
        if not said:
            sidecar = {"url": f"https://known.example/{number}", "fetched": f"2024-0{1 + number % 2}-01T00:00:00Z"}
            file.with_name(file.name + ".meta.json").write_text(json.dumps(sidecar))
    return folder


def found(crawl: Path, **given: bool) -> tuple[Reading, Totals]:
    totals = Totals()
    return read(Given(**given), list_sources([crawl]), Crew(), totals, None), totals  # type: ignore[arg-type]


def test_pages_without_a_place_are_passed_over_and_the_profiles_are_the_same(
    crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, totals = found(crawl)
    assert [kind for _, kind, _ in totals.failures] == ["too-deep"]
    cut = []
    monkeypatch.setattr("templatediff.reading.prepare", _counting(cut))
    part, _ = found(crawl, again=True)
    assert len(cut) < 70
    assert part.sites == whole.sites and set(whole.sites) == {"known.example", "said.example"}
    assert {name: one.to_bytes() for name, one in part.profiles.items()} == {
        name: one.to_bytes() for name, one in whole.profiles.items()
    }


def test_where_nothing_is_learnt_no_page_is_cut(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = found(crawl)
    cut: list[object] = []
    monkeypatch.setattr("templatediff.reading.prepare", _counting(cut))
    part, _ = found(crawl, again=True, teaches=False)
    assert not cut and not part.profiles
    assert (part.sites, part.shown) == (whole.sites, whole.shown)


def _counting(cut: list[object]) -> object:
    from templatediff.prepare import prepare

    def counted(*given: object, **named: object) -> object:
        cut.append(given)
        return prepare(*given, **named)  # type: ignore[arg-type]

    return counted
