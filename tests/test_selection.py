from __future__ import annotations

import pytest

from templatediff.errors import UsageError
from templatediff.page import Page
from templatediff.selection import Selection

URL = Page("", url="https://a.example/news/2024/otter.html?page=2", path="a/b.html")
PATH = Page("", path="news/otter.html")


@pytest.mark.parametrize(
    ("glob", "url", "path"),
    [
        ("*", True, True),
        ("*/news/*", True, False),
        ("news/*", False, True),
        ("*otter*", True, True),
        ("*?page=*", True, False),
        ("*/NEWS/*", False, False),
        ("*.html", False, True),
        ("*[0-9]", True, False),
        ("a/b.html", False, False),
    ],
)
def test_globs_match_the_url_where_it_is_known_else_the_path(glob: str, url: bool, path: bool) -> None:
    for page, matches in ((URL, url), (PATH, path)):
        assert Selection(include=(glob,)).shows(page) is matches
        assert Selection(exclude=(glob,)).excludes(page) is matches


def test_without_globs_all_pages_come_out() -> None:
    assert Selection().shows(URL) and not Selection().excludes(URL)


@pytest.mark.parametrize("given", [{"include": ("",)}, {"exclude": ("*", "")}, {"limit": 0}])
def test_what_cannot_be_meant_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Selection(**given)  # type: ignore[arg-type]
