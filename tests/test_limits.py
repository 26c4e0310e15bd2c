from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import templatediff as td
from templatediff.errors import UsageError
from templatediff.limits import DEFAULT, Limits

#: limit -> (limits, a page at it, a page over it, kind)
CASES = {
    "bytes": (Limits(max_bytes=1000), "<p>a".ljust(1000), "<p>a".ljust(1001), "too-large"),
    "nodes": (Limits(max_nodes=50), "<p>a</p>" * 50, "<p>a</p>" * 51, "too-large"),
    "depth": (Limits(max_depth=50), "<div>" * 49 + "a", "<div>" * 51 + "a", "too-deep"),
    "attributes": (Limits(max_attributes=50), f"<p {'a=b ' * 49}>a", f"<p {'a=b ' * 200}>a", "too-large"),
    "attributes of many body tags": (
        Limits(max_attributes=50),
        "<html c=d>" + "".join(f"<Body a{n}=b>" for n in range(49)) + "a",
        "<p>" + "".join(f"<Body a{n}=b></body>" for n in range(51)) + "a",
        "too-large",
    ),
    "leaves": (Limits(max_leaves=50), "<p>a" * 50, "<p>a" * 51, "too-large"),
    "lines of code": (Limits(max_leaves=50), "<pre>" + "a\n" * 50, "<pre>" + "a\n" * 51, "too-large"),
}


@pytest.mark.parametrize(("limits", "at", "over", "kind"), CASES.values(), ids=CASES)
def test_a_page_at_a_limit_passes_and_one_over_it_is_a_failure(
    limits: Limits, at: str, over: str, kind: str, tmp_path: Path
) -> None:
    for page, expected in ((at, None), (over, kind)):
        found = td.extract(page, limits=limits)
        assert (found.error and found.error.kind) == expected
        file = tmp_path / "a.html"
        file.write_text(page)
        for record in (td.extract(file, limits=limits), *td.extract_crawl(file, limits=limits)):
            assert (record.error and record.error.kind) == expected
        assert td.extract(page).error is None, "by default it is no trouble"


def test_learning_leaves_pages_over_a_limit_out() -> None:
    pages = ["<p>one</p>", "<p>two</p>" * 60]
    assert td.learn(pages, site="s").pages == 2
    assert td.learn(pages, site="s", limits=Limits(max_nodes=50)).pages == 1


@pytest.mark.parametrize("value", [{"max_bytes": 0}, {"max_seconds": -1.0}, {"max_leaves": True}, {"max_depth": 1.5}])
def test_a_limit_is_a_number_above_0(value: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(value))):
        Limits(**value)


def test_results_depend_on_all_but_time_and_memory() -> None:
    assert len(DEFAULT.deciding()) == 5
    assert replace(DEFAULT, max_seconds=1.0, max_memory=1 << 30).deciding() == DEFAULT.deciding()
