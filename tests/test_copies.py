from __future__ import annotations

import numpy as np

from templatediff.copies import copied
from templatediff.fingerprint import Fingerprint, fingerprint
from templatediff.label import SETTLED
from templatediff.options import Options
from templatediff.pipeline import extract
from templatediff.segment import segment


def of(html: str) -> Fingerprint:
    return fingerprint(segment(html), Options(), content_hash=0)


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
    assert all("second time" in leaf["reasons"][0] and leaf["p"] <= SETTLED for leaf in dropped)


def test_the_copy_that_is_clearly_likelier_stays() -> None:
    page = of(f"<div>{_paragraphs(STANZAS)}</div><section>{_paragraphs(STANZAS)}</section>")
    p = np.array([0.6] * 4 + [0.9] * 4)
    assert copied(page, p, p > 0.5).tolist() == [True] * 4 + [False] * 4


def test_a_refrain_and_a_quotation_may_come_again() -> None:
    verses = [*STANZAS[:2], "Row home,", "row home", *STANZAS[2:], "Row home,", "row home"]
    song = of(f"<div>{_paragraphs(verses)}</div>")
    whole = np.full(len(verses), 0.9)
    assert not copied(song, whole, whole > 0.5).any()
    twice = of(f"<div>{_paragraphs(STANZAS + STANZAS)}</div>")  # in one container: the page's own doing
    assert not copied(twice, np.full(8, 0.9), np.ones(8, bool)).any()
    thread = of(f"<div>{_paragraphs(STANZAS)}</div><div><blockquote>{STANZAS[2]}</blockquote><p>Was it?</p></div>")
    assert not copied(thread, np.full(6, 0.9), np.ones(6, bool)).any()


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
    assert not copied(Counting(), ones, ones > 0).any()  # type: ignore[arg-type]
    assert len(read) == 1
