from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from templatediff.steps import fold_name, fold_step


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("col-md-6", "col-md-0"),
        ("postid-1234", "postid-0"),
        ("styles_wrapper__x7Kq2", "styles-wrapper"),
        ("mainContent", "mainContent"),
        ("h1", "h0"),
        ("container", "container"),
    ],
)
def test_fold_name(name: str, expected: str) -> None:
    assert fold_name(name) == expected


@given(st.from_regex(r"(#[a-cA-C0-2_:-]{1,9})?([.][a-cA-C0-2_:-]{0,9}){0,8}", fullmatch=True))
def test_plain_names_are_folded_as_all_others_are(names: str) -> None:
    identity, *classes = names.split(".")
    folded = [name for name in map(fold_name, classes[:6]) if name][:3]
    head = f"#{fold_name(identity[1:])}" if identity and fold_name(identity[1:]) else ""
    assert fold_step("div", names) == "".join(["div", head, *(f".{name}" for name in folded)])


@pytest.mark.parametrize("part", ["a" * 50_000 + "1" * 9, "aB" * 50_000, "a-" * 50_000 + "!"])
def test_the_longest_names_are_folded_in_one_pass(part: str) -> None:
    assert fold_step("div", "." + part).startswith("div")


def test_fold_step_of_the_body_has_no_classes() -> None:
    assert fold_step("body", "#home.page-id-4.logged-in") == "body"
