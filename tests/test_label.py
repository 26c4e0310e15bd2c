from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from corpora.sentinel import SentinelPage, sentinel_pages
from templatediff import label as module
from templatediff.evidence import Context
from templatediff.fingerprint import Fingerprint, fingerprint
from templatediff.label import EMPTY, label, own_title
from templatediff.options import Options
from templatediff.page import Page
from templatediff.pipeline import Template, extract, learn
from templatediff.score import shipped
from templatediff.segment import segment
from templatediff.yardstick import tokens


def of(html: str) -> Fingerprint:
    return fingerprint(segment(html), Options(), content_hash=0)


def test_the_threshold_is_half_of_the_best_expected_f1_within_bounds() -> None:
    sure = np.array([0.99, 0.99, 0.01])
    assert module._threshold(sure, np.array([50, 50, 50])) == pytest.approx(0.5, abs=0.01)
    doubtful = np.array([0.4, 0.38, 0.35])
    assert module.LOWEST <= module._threshold(doubtful, np.array([50, 50, 50])) < 0.4


def test_cells_of_a_data_row_and_lines_of_code_live_and_die_together() -> None:
    page = of("<table><tr><th>Weight<td>three kilograms in all<tr><th>Height<td>2 m</table><pre>a = 1\nb = 2</pre>")
    p = module._together(Context(page, None, None), np.array([0.1, 0.9, 0.2, 0.2, 0.9, 0.1]), 0)[0]
    assert p[0] == p[1] == pytest.approx((0.1 + 0.9 * 4) / 5, abs=1e-3)
    assert p[2] == p[3] and p[4] == p[5]


def test_column_labels_go_with_the_row_below_them() -> None:
    page = of("<table><tr><th>Day<th>Tide<tr><td>Monday the third<td>low at noon</table><table><tr><th>Alone</table>")
    context = Context(page, None, None)
    p, _ = module._together(context, np.array([0.1, 0.1, 0.9, 0.9, 0.1]), 0)
    assert p[0] == p[1] == p[2] == p[3] == pytest.approx((0.1 * 2 + 0.9 * 6) / 8, abs=1e-3)
    assert p[4] == 0.1


def test_short_leaves_join_their_neighbour_only_when_told() -> None:
    page = of("<div><p>A sentence of quite a few words stands here.</p><p>So it is.</p></div>")
    p = np.array([0.9, 0.1])
    assert module._together(Context(page, None, None), p, 0)[0].tolist() == [0.9, 0.1]
    joined, _ = module._together(Context(page, None, None), p, 5)
    assert joined[0] == joined[1] > 0.5


def test_an_empty_page_is_called_empty_with_its_reason() -> None:
    for html in ("", "<div></div>", "<script>x()</script>"):
        found = label(of(html), None, shipped())
        assert found.verdict == EMPTY and found.reason


def test_a_content_page_is_never_emptied() -> None:
    page = of("<p>one two three</p><p>four five six</p>")
    context = Context(page, None, None)
    kept, reason = module._guard(context, np.array([0.2, 0.25]), np.zeros(2, bool))
    assert kept.tolist() == [False, True] and reason and "likeliest" in reason


def site_of(texts: list[str]) -> tuple[Template, list[str]]:
    pages = [
        f"<title>{text[:12]} - The Paper</title><nav><a href=/>Home</a></nav><div id=main><p>{text}</div>"
        for text in texts
    ]
    return learn(pages, site="example.org"), pages


TEXTS = [
    "The ferry was late again on Tuesday, and nobody at the pier could say why it had been held back.",
    "A choir of nine sang in the old customs house, where the echo is kinder than the heating, they said.",
    "Three herons have settled by the lock, and the lock keeper counts them every morning before breakfast.",
    "The council voted for a new roof on the school, which will be finished before the storms, it hopes.",
    "Rain kept the fair away, so the bakers sold their buns from the fire station door until they ran out.",
]


def test_every_label_carries_its_evidence() -> None:
    template, pages = site_of(TEXTS)
    leaves = template.extract(pages[0]).leaves
    menu, story = leaves[0], leaves[1]
    assert (menu["content"], menu["k"], menu["n"], menu["change"]) == (False, 4, 4, "static")
    assert (story["content"], story["k"], story["n"], story["change"]) == (True, 0, 4, "dynamic")
    assert "inside nav" in menu["reasons"] and story["reasons"]
    assert [leaf["start"] for leaf in leaves] == [0, len(menu["text"]) + 2]


def test_without_siblings_change_is_unknown_and_there_is_no_k_of_n() -> None:
    leaf = extract(f"<p>{TEXTS[0]}").leaves[0]
    assert (leaf["change"], leaf["k"], leaf["n"], leaf["level"]) == ("unknown", None, None, None)


def test_the_title_loses_what_the_siblings_titles_share() -> None:
    template, pages = site_of(TEXTS)
    assert template.extract(pages[0]).title == TEXTS[0][:12].strip()
    assert own_title(of("<title>A - B</title><p>x"), None) == "A - B"


STANZAS = [
    f"The {one} boat came over the bar at {two}, and nobody on the quay said a word about it until the lamps were lit."
    for one, two in (("first", "dawn"), ("second", "noon"), ("third", "four"), ("last", "dusk"))
]


def _paragraphs(texts: list[str]) -> str:
    return "".join(f"<p>{text}</p>" for text in texts)


def test_an_article_that_stands_on_the_page_twice_is_kept_once() -> None:
    body = _paragraphs(STANZAS)
    page = extract(f"<title>Boats</title><div class=wide><h1>Boats</h1>{body}</div><div class=narrow>{body}</div>")
    assert [page.text.count(text) for text in STANZAS] == [1, 1, 1, 1]
    dropped = [leaf for leaf in page.leaves if not leaf["content"] and leaf["text"] in STANZAS]
    assert len(dropped) == 4
    assert all("second time" in leaf["reasons"][0] and leaf["p"] <= module.SETTLED for leaf in dropped)


def test_the_copy_that_is_clearly_likelier_stays() -> None:
    page = of(f"<div>{_paragraphs(STANZAS)}</div><section>{_paragraphs(STANZAS)}</section>")
    p = np.array([0.6] * 4 + [0.9] * 4)
    assert module._copied(page, p, p > 0.5).tolist() == [True] * 4 + [False] * 4


def test_a_refrain_and_a_quotation_may_come_again() -> None:
    verses = [*STANZAS[:2], "Row home,", "row home", *STANZAS[2:], "Row home,", "row home"]
    song = of(f"<div>{_paragraphs(verses)}</div>")
    whole = np.full(len(verses), 0.9)
    assert not module._copied(song, whole, whole > 0.5).any()
    twice = of(f"<div>{_paragraphs(STANZAS + STANZAS)}</div>")  # in one container: the page's own doing
    assert not module._copied(twice, np.full(8, 0.9), np.ones(8, bool)).any()
    thread = of(f"<div>{_paragraphs(STANZAS)}</div><div><blockquote>{STANZAS[2]}</blockquote><p>Was it?</p></div>")
    assert not module._copied(thread, np.full(6, 0.9), np.ones(6, bool)).any()


def multi(case: str) -> Iterator[tuple[SentinelPage, str]]:
    """The pages of a sentinel site and their texts among one another."""
    pages = [page for page in sentinel_pages(("multi",)) if page.case == case]
    template = learn([Page(page.html, path=page.path) for page in pages], site=case)
    yield from ((page, template.extract(Page(page.html, path=page.path)).text) for page in pages)


@pytest.mark.parametrize(("case", "block"), [("lines", "address"), ("documentation", "admonition-note")])
def test_doubtful_lines_in_the_middle_of_content_stay(case: str, block: str) -> None:
    for page, text in multi(case):
        (found,) = (one for one in page.blocks if one.name == block)
        assert set(found.tokens) <= set(tokens(text)), page.path


def test_a_line_that_most_pages_have_twice_goes() -> None:
    for page, text in multi("forum"):
        for block in page.blocks:
            if block.name.startswith("signature"):
                assert not set(block.tokens) & set(tokens(text)), (page.path, block.name)


def test_a_line_that_comes_a_thousand_times_is_looked_up_once() -> None:
    """Columns over all leaves were read anew for each copy: 200,000 lines took minutes."""
    made = of("<div>" + "the same line of text<br>" * 1000)
    read = []

    class Counting:
        text_hash, token_count, row = made.text_hash, made.token_count, made.row

        @property
        def parent(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
            read.append(1)
            return made.parent

        def __len__(self) -> int:
            return len(made)

    ones = np.ones(len(made))
    assert not module._copied(Counting(), ones, ones > 0).any()  # type: ignore[arg-type]
    assert len(read) == 1
