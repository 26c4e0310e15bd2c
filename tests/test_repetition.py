from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from templatediff.fingerprint import Fingerprint, fingerprint
from templatediff.options import Options
from templatediff.profile import SiteProfile
from templatediff.repetition import (
    SCALE,
    SLOT_COLUMNS,
    Counts,
    View,
    add_up,
    among,
    level,
    near_duplicate_groups,
    new_leaves,
    numbered,
    page_sets,
    page_sums,
    subtree_sums,
)
from templatediff.repetition import Part as Part_
from templatediff.sample import take
from templatediff.segment import segment


def of(html: str, number: int = 0) -> Fingerprint:
    return fingerprint(segment(html), Options(), content_hash=number, key_url=f"https://example.org/{number}")


def words(first: int, count: int) -> str:
    return " ".join(f"w{number}" for number in range(first, first + count))


def test_counts_of_unknown_values_are_zero() -> None:
    counts = Counts(np.array([3, 7], np.uint64), np.array([2, 5]))
    assert counts.of(np.array([7, 8, 3, 1], np.uint64)).tolist() == [5, 0, 2, 0]
    assert Counts(np.zeros(0, np.uint64), np.zeros(0, np.int64)).of(np.array([1], np.uint64)).tolist() == [0]


def test_k_of_n_leaves_the_page_itself_out() -> None:
    pages = [of(f"<p>menu</p><p>text {number}</p>", number) for number in range(4)]
    parts = [Part_(page_sets(page, 3)) for page in pages]
    site = level(range(4), parts)
    view = View(site, (parts[2],))
    assert view.n == 3
    assert view.k("text", pages[2].text_hash).tolist() == [3, 0]
    assert View(site, ()).k("text", pages[2].text_hash).tolist() == [4, 1]


def test_subtree_sums_and_regions_say_where_new_text_sits() -> None:
    html = "<nav><a href=/>Home page</a></nav><div id=main><p>{0} a b c d</p><p>{0} e f g h</p></div><footer>Imprint</footer>"
    pages = [of(html.format(f"n{number}"), number) for number in range(3)]
    parts = [Part_(page_sets(page, 3)) for page in pages]
    view = View(level(range(3), parts), (parts[0],))
    assert new_leaves(pages[0], view).tolist() == [0, 1, 1, 0]
    assert subtree_sums(pages[0], pages[0].token_count)[0] == 13
    region = page_sums(pages[0], view)["region"]
    main = pages[0].paths[pages[0].parent[pages[0].row[1]]]
    nav = pages[0].paths[pages[0].row[0]]
    assert region.of(np.array([main, nav], np.uint64))[:, 1].tolist() == [SCALE, 0]


def test_slot_sums_count_distinct_values_and_new_leaves() -> None:
    pages = [of(f"<ul class=l><li>Sea</li><li>Port {number}</li></ul>", number) for number in range(3)]
    parts = [Part_(page_sets(page, 3)) for page in pages]
    site = level(range(3), parts)
    sums = [page_sums(page, View(site, (part,))) for page, part in zip(pages, parts, strict=True)]
    key = pages[0].local_keys[pages[0].row[0]]
    row = dict(zip(SLOT_COLUMNS, sums[0]["slot"].of(np.array([key]))[0].tolist(), strict=True))
    assert row == {
        "present": 1, "leaves": 2, "tokens": 3, "linked": 0, "characters": 9, "new_leaves": 1, "new_tokens": 2, "distinct": 2,
    }  # fmt: skip


def test_add_up_joins_equal_keys() -> None:
    found = add_up(np.array([5, 2, 5], np.uint64), np.array([[1, 1], [2, 2], [3, 3]]))
    assert found.keys.tolist() == [2, 5] and found.table.tolist() == [[2, 2], [4, 4]]


CHROME = "<nav>Home News Sport Contact Imprint</nav>"


@pytest.mark.parametrize(
    ("bodies", "groups"),
    [
        pytest.param([words(0, 50), words(0, 50), words(100, 50)], [[0, 1], [2]], id="equal pages, fewer than four"),
        pytest.param([words(0, 50), words(0, 49), words(100, 50)], [[0], [1], [2]], id="alike is not equal, fewer than four"),
        pytest.param(
            [
                "".join(f"<p>{words(number * 10, 10)}" for number in range(20)),
                "".join(f"<p>{words(number * 10, 10)}" for number in range(1, 20)) + f"<p>{words(900, 10)}",
                words(1000, 60), words(2000, 60), words(3000, 60),
            ],
            [[0, 1], [2], [3], [4]],
            id="nineteen of twenty paragraphs agree",
        ),
        pytest.param(
            [
                "".join(f"<p>{words(number * 10, 10)}" for number in range(20)),
                "".join(f"<p>{words(number * 10, 10)}" for number in range(5, 20)) + f"<p>{words(900, 50)}",
                words(1000, 60), words(2000, 60), words(3000, 60),
            ],
            [[0], [1], [2], [3], [4]],
            id="three quarters agree",
        ),
        pytest.param([words(0, 5)] * 5, [[0, 1, 2, 3, 4]], id="the same page five times"),
        pytest.param(["a", "b", "c", "d"], [[0], [1], [2], [3]], id="little text under the same menu"),
    ],
)  # fmt: skip
def test_near_duplicates(bodies: list[str], groups: list[list[int]]) -> None:
    pages = [of(f"{CHROME}<p>{body}", number) for number, body in enumerate(bodies)]
    assert near_duplicate_groups(pages) == groups


def test_a_group_counts_as_one_page_and_is_left_out_as_one() -> None:
    """Content that a near-duplicate shares must not look like template."""
    body = "".join(f"<p>{words(number * 10, 10)}" for number in range(20))
    pages = [of(f"{CHROME}{body}<p>print", 0), of(f"{CHROME}{body}<p>screen", 1)]
    pages += [of(f"{CHROME}<p>{words(1000 * number, 60)}", number) for number in range(2, 6)]
    profile = SiteProfile("example.org", Options())
    for page in pages:
        profile.add(page)
    sample = take(profile)
    assert sample.site.n == 5
    site, _, _ = sample.views(pages[0])
    assert site.n == 4
    assert site.k("text", pages[0].text_hash).tolist() == [4, *[0] * 21]


@given(st.lists(st.integers(0, 20)), st.lists(st.integers(0, 20)))
def test_lookups_in_sorted_columns_agree_with_numpy(one: list[int], other: list[int]) -> None:
    values, wanted = np.array(one, np.uint64), np.array(other, np.uint64)
    assert among(np.unique(values), wanted).tolist() == np.isin(wanted, values).tolist()
    distinct, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    assert [found.tolist() for found in numbered(values)] == [distinct.tolist(), place.tolist(), counts.tolist()]
