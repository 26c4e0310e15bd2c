from __future__ import annotations

from pathlib import Path

import pytest

import templatediff as td
from templatediff.errors import OutputError
from tests.test_slots import page

NOTICE = "All texts belong to their authors, and nobody may print them without asking first. " * 5


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    for site in ("a.example", "b.example"):
        (tmp_path / "in" / site).mkdir(parents=True)
        for number in range(4):
            text = page(number, f"<p>{NOTICE}</p><p>Office of {site}</p>")
            (tmp_path / "in" / site / f"{number}.html").write_text(text)
    return tmp_path / "in"


def test_the_file_has_each_sites_static_text_in_full_and_once(crawl: Path, tmp_path: Path) -> None:
    file = tmp_path / "static.txt"
    done = list(td.extract_crawl([crawl], template_text=file))
    text = file.read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if line.startswith("# ")] == ["# a.example", "# b.example"]
    assert text.count(NOTICE.strip()) == 2 and text.count("Office of a.example") == text.count("4 Quay Street") - 1 == 1
    assert "Posted by" not in text and len(done) == 8 and not list(tmp_path.glob("*.part"))
    cut = td.learn(sorted(crawl.glob("a.example/*")), site="a.example").text
    assert NOTICE[:240] + "…" in cut and cut.startswith("# a.example\n\nMenu of the site\n\n")


def test_a_file_that_cannot_be_written_is_an_error_before_any_record(crawl: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError):
        next(iter(td.extract_crawl([crawl], template_text=tmp_path / "folder")))
    assert not list(tmp_path.glob("*.part"))
