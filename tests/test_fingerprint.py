from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from templatediff.fingerprint import Fingerprint, fingerprint
from templatediff.hashes import text_hash, token_hashes
from templatediff.options import Options
from templatediff.segment import segment


def of(html: str, **given_options: object) -> Fingerprint:
    options = Options(**given_options)  # type: ignore[arg-type]
    return fingerprint(segment(html, options, rich=options.markup == "keep"), options, content_hash=1)


def test_text_hash_ignores_case_and_space_and_folded_hash_ignores_values() -> None:
    page = of("<p>Read  more</p><p>READ more</p><p>3 comments</p><p>14 comments</p>")
    assert page.text_hash[0] == page.text_hash[1]
    assert page.text_hash[2] != page.text_hash[3] and page.folded_hash[2] == page.folded_hash[3]


def test_markup_keep_tells_short_leaves_apart_and_strip_does_not() -> None:
    html = "<p>Oslo</p><p><a href=/oslo>Oslo</a></p>"
    kept, stripped = of(html, markup="keep"), of(html, markup="strip")
    assert kept.text_hash[0] != kept.text_hash[1]
    assert stripped.text_hash[0] == stripped.text_hash[1]


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_ngrams_stay_inside_their_leaf(order: int) -> None:
    leaf, hashes = of("<p>a b c d</p><p>a b c d e f</p><p>x").ngram_hashes(order)
    expected = [max(0, tokens - order + 1) for tokens in (4, 6, 1)]
    assert np.bincount(leaf, minlength=3).tolist() == expected
    first, second = hashes[leaf == 0].tolist(), hashes[leaf == 1].tolist()
    assert first == second[: len(first)], "equal words give equal n-grams"


def test_tokens_follow_the_script() -> None:
    page = of("<p>東京へ行く</p><p>two words</p><p>สวัสดี</p>")
    assert page.token_count[0] == 5 and page.token_count[1] == 2 and page.token_count[2] >= 4


def test_stopwords_are_marked_in_the_declared_or_guessed_language() -> None:
    german = of("<html lang=de><p>der Hund und die Katze")
    assert (german.token_hash & 1).tolist() == [1, 0, 1, 1, 0]
    undeclared = of("<p>the cat and the dog and the boats of the harbour")
    assert (undeclared.token_hash & 1).tolist()[:3] == [1, 0, 1]


def test_character_counts() -> None:
    page = of("<p>Ab1, c. 日本。")
    assert (page.characters[0], page.digits[0], page.capitals[0]) == (11, 1, 1)
    assert (page.commas[0], page.sentence_ends[0]) == (1, 2)


def test_paths_fold_what_changes_and_tell_places_apart() -> None:
    one = of("<div id=post-17 class='entry css-1dbjc4n'><p>a")
    other = of("<div id=post-2345 class='entry css-9zq8xk2'><p>b")
    third = of("<div id=sidebar><p>c")
    assert one.local_keys[one.row[0]] == other.local_keys[other.row[0]] != third.local_keys[third.row[0]]
    assert one.paths[-1] == other.paths[-1] != third.paths[-1]
    assert one.tag_paths[-1] == third.tag_paths[-1]


@given(st.lists(st.text("ab 1.\u6771\u0e44\u00df\u0130,", max_size=12), max_size=8))
def test_the_tokens_of_a_page_are_those_of_its_leaves(texts: list[str]) -> None:
    page = of("".join(f"<p>{text}</p>" for text in texts))
    for number, text in enumerate(page.texts):
        found = page.token_hash[page.token_start[number] : page.token_start[number + 1]] & 0xFFFFFFFE
        assert found.tolist() == token_hashes(text).tolist()
        assert page.text_hash[number] == text_hash(text)


def test_link_targets_agree_between_schemes_and_spellings() -> None:
    html = "<link rel=canonical href='https://www.example.org/a/b'><p>"
    page = of(
        html
        + "<a href=/a/c>1</a> <a href=c>2</a> <a href=http://example.org/a/c>3</a> <a href=https://other.org/a/c>4</a>"
        "<a href=#top>5</a> <a href=mailto:x@y.z>6</a>"
    )
    assert len(set(page.link_target[:3].tolist())) == 1
    assert page.link_target[3] != page.link_target[0]
    assert page.link_kind.tolist() == [0, 0, 0, 1, 2, 3]
