from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from corpora.sentinel import SentinelPage, sentinel_pages
from templatediff.choose import guarded
from templatediff.fingerprint import Fingerprint, fingerprint
from templatediff.headline import own_title
from templatediff.label import label
from templatediff.options import Options
from templatediff.page import Page
from templatediff.pipeline import Template, extract, learn
from templatediff.score import shipped
from templatediff.segment import segment
from templatediff.verdict import EMPTY
from templatediff.yardstick import tokens
from tests.conftest import DEMO


def of(html: str) -> Fingerprint:
    return fingerprint(segment(html), Options(), content_hash=0)


def test_an_empty_page_is_called_empty_with_its_reason() -> None:
    for html in ("", "<div></div>", "<script>x()</script>"):
        found = label(of(html), None, shipped())
        assert found.verdict == EMPTY and found.reason


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


def test_an_article_told_again_in_one_piece_comes_out_once_with_its_paragraphs() -> None:
    paragraphs = [text * 2 for text in TEXTS[:4]]
    article = "<article><h1>Harbour notes</h1>" + "".join(f"<p>{one}" for one in paragraphs) + "</article>"
    again = "<div itemprop=articleBody>" + " ".join(paragraphs) + "</div>"
    for html in (article + again, again + article):
        made = extract(f"<title>Harbour notes</title><nav><a href=/>Home</a></nav>{html}")
        assert [made.text.count(one.strip()) for one in paragraphs] == [1] * 4
        assert all(one.strip() in made.text.split("\n\n") for one in paragraphs)
        reasons = {record["text"]: record["reasons"] for record in made.leaves}
        assert "stands on the page a second time, and that was kept" in reasons[" ".join(" ".join(paragraphs).split())]


def test_an_article_told_again_comes_out_once_whatever_menus_and_wrappers_hold() -> None:
    paragraphs = [text * 2 for text in TEXTS[:4]]
    words = ["The", "ferry", "said.", "Three", "1", "he", *TEXTS[3].split()[:5]]
    menu = "<ul>" + "".join(f"<li><a href=/{number}>{word}</a>" for number, word in enumerate(words)) + "</ul>"
    article = "<article><h1>Harbour notes</h1>" + "".join(f"<p>{one}" for one in paragraphs) + "</article>"
    written = json.dumps({"headline": "Harbour notes", "author": "Joan Merrick", "text": " ".join(paragraphs)})
    for again in (f"<div>{' '.join(paragraphs)}</div>", f"<div>{written}</div>"):
        for html in (article + again, again + article):
            made = extract(f"<title>Harbour notes</title>{menu}{html}<footer><a href=/end>storms</a></footer>")
            assert [made.text.count(one.strip()) for one in paragraphs] == [1] * 4
            assert all(one.strip() in made.text.split("\n\n") for one in paragraphs)
            assert not set(words) & set(made.text.split("\n\n"))


def test_a_paragraph_that_is_quoted_in_part_stays() -> None:
    quoted = " ".join(TEXTS[:4])
    page = f"<title>Harbour</title><h1>Harbour</h1><p>{quoted}</p><blockquote>{TEXTS[0]}</blockquote><p>{TEXTS[3]}</p>"
    assert quoted in extract(page).text


def beside(tokens: list[int], siblings: int = 2) -> Any:
    """What the guards look at: new leaves of so many unlinked tokens."""
    return SimpleNamespace(
        tokens=np.array(tokens),
        fresh=np.array(tokens),
        link_share=np.zeros(len(tokens)),
        site=SimpleNamespace(n=siblings),
    )


def test_where_little_that_is_new_was_kept_likely_text_is_kept_too() -> None:
    p = np.array([0.6, 0.2, 0.1])
    kept, why = guarded(beside([20, 60, 60]), p, p >= 0.5)
    assert kept.tolist() == [True, True, False]
    assert why is not None and "quarter" in why
    kept, why = guarded(beside([20, 60, 60], siblings=1), p, p >= 0.5)  # one page cannot tell what is new
    assert (kept.tolist(), why) == ([True, False, False], None)
    p = np.array([0.9, 0.2, 0.1])  # a short post that is sure, before many comments
    kept, why = guarded(beside([20, 60, 60]), p, p >= 0.5)
    assert (kept.tolist(), why) == ([True, False, False], None)


def test_a_page_of_content_is_never_emptied() -> None:
    p = np.array([0.2, 0.3, 0.3])
    kept, why = guarded(beside([5, 5, 5]), p, p >= 0.5)
    assert kept.tolist() == [False, True, True]
    assert why is not None and "likeliest" in why


def test_the_only_page_of_a_site_is_labelled_as_the_page_alone() -> None:
    """Its ids and classes counted as names that no other page has and went."""
    for path in sorted(DEMO.rglob("*.html")):
        alone, only = extract(path), learn([path], options=Options(short_leaves="keep")).extract(path)
        assert (only.siblings, only.mode) == (0, alone.mode)
        assert (only.text, only.verdict, only.confidence) == (alone.text, alone.verdict, alone.confidence)
        assert [leaf["p"] for leaf in only.leaves] == [leaf["p"] for leaf in alone.leaves]
