"""Passages of likely content, and where leaves stand to them."""

from __future__ import annotations

import numpy as np
import pytest

from templatediff.evidence import Context
from templatediff.fingerprint import Ints
from templatediff.options import Options
from templatediff.page import Page
from templatediff.passages import NAMES, find, passage_rows
from templatediff.prepare import prepare

TEXT = "The lock keeper wrote down every barge that came through, and what it carried, for forty years."
PAGE = f"""<body><div><p>Home and away</p><p>Shop</p></div>
<main><h1>Locks</h1><div><p>{TEXT} One.</p><p>{TEXT} Two.</p><p>{TEXT} Three.</p></div></main>
<div><p>More of it</p><p>Login</p><p>Shop again</p><p>{TEXT} Four.</p></div></body>"""
FIRST = np.array([0.01, 0.02, 0.7, 0.9, 0.95, 0.9, 0.1, 0.0, 0.0, 0.5])


def column(name: str, first: Ints = FIRST, html: str = PAGE) -> list[float]:
    _, page = prepare(Page(html), Options())
    found: list[float] = passage_rows(Context(page, None, None), first, None, None)[:, NAMES.index(name)].tolist()
    return found


def test_a_leaf_is_told_from_which_side_and_how_far_the_main_passage_is() -> None:
    assert column("passage_side") == [-1, -1, 0, 0, 0, 0, 1, 1, 1, 1]
    distance = column("passage_distance")
    assert distance[2:6] == [0, 0, 0, 0]
    assert distance[0] < distance[1] <= 0 <= distance[6] < distance[7] < distance[9]


def test_each_passage_has_its_share_of_what_reads_like_content() -> None:
    share, rank = column("passage_share"), column("passage_rank")
    assert share[3] == share[4] > 0.8 and share[9] == pytest.approx(1 - share[3], abs=0.01)
    assert share[0] == 0 and rank[3] == 0 and rank[9] == 1
    assert np.isnan(rank[0])
    assert column("passage_before")[7] == share[3] and column("passage_after")[7] == share[9]


def test_a_gap_of_three_leaves_or_many_words_ends_a_passage() -> None:
    tokens = np.full(6, 5)
    near = find(np.array([0.9, 0.0, 0.0, 0.9, 0.9, 0.9]), tokens)
    far = find(np.array([0.9, 0.0, 0.0, 0.0, 0.9, 0.9]), tokens)
    wordy = find(np.array([0.9, 0.0, 0.9, 0.9, 0.9, 0.9]), np.array([5, 41, 5, 5, 5, 5]))
    assert near is not None and far is not None and wordy is not None
    assert near.number.tolist() == [0, -1, -1, 0, 0, 0]
    assert far.number.tolist() == [0, -1, -1, -1, 1, 1] and far.main == 1
    assert wordy.number.tolist() == [0, -1, 1, 1, 1, 1]


def test_the_container_of_the_main_passage_is_known() -> None:
    assert column("main_around") == [0, 0, 0, 1, 1, 1, 0, 0, 0, 0]  # the headline stands beside it, with little text
    parent = column("main_in_parent")
    assert parent[3] > 0.9 and parent[2] == pytest.approx(1.0) and parent[0] == parent[9] == 0.0


def test_a_page_without_any_likely_leaf_has_no_passage_and_its_columns_are_unknown() -> None:
    low = np.full(10, 0.1)
    assert find(low, np.full(10, 3)) is None
    assert np.isnan(column("passage_side", low)).all() and np.isnan(column("main_share", low)).all()
    assert column("page_over_5", low) == [0.0] * 10 and column("page_passages", low) == [0.0] * 10
    assert column("content_before", low)[0] == 0.0


def test_without_siblings_the_columns_about_them_are_unknown() -> None:
    for name in NAMES:
        if name.startswith(("site_", "layout_")):
            assert np.isnan(column(name)).all()
