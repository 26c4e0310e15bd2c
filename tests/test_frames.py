from __future__ import annotations

import random

import numpy as np
import pytest

from benchmarks import frames
from templatediff.context import Context
from templatediff.fingerprint import fingerprint
from templatediff.leaves import Leaves
from templatediff.options import Options
from templatediff.segment import segment

FRAME = ["Home", "Sport", "We use cookies on this page.", "About us"]
TEXT = [
    "The ferry left the harbour at noon. The captain, who knew the tides, went below.",
    "Nobody on board had seen the second ship until its lights came out of the fog.",
]
PAGE = (
    "<title>The late ferry - The Paper</title><nav><a href=/>Home</a><p><a href=/s>Sport</a></nav>"
    f"<p>We use cookies on this page.</p><h1>The late ferry</h1><p>{TEXT[0]}</p><p>{TEXT[1]}</p><footer>About us</footer>"
)


def made(role: str, seed: int = 0, site: str = "a") -> Leaves:
    leaves = segment(PAGE)
    share = [float(text in TEXT) for text in leaves.text]
    context = Context(fingerprint(leaves, Options(), content_hash=0), None, None)
    page = frames.frame(leaves, context, frames.content_of(np.array(share), share), share)
    assert page is not None
    return frames.changed(page, role, site, "en", random.Random(seed))


@pytest.mark.parametrize("role", frames.ROLES)
@pytest.mark.parametrize("seed", range(4))
def test_the_frame_stays_and_its_links_with_it(role: str, seed: int) -> None:
    leaves = made(role, seed)
    assert [text for text in leaves.text if text in FRAME] == FRAME
    assert [(leaves.text[leaf], target) for leaf, target, _ in leaves.links][:2] == [("Home", "/"), ("Sport", "/s")]
    fingerprint(leaves, Options(), content_hash=0)  # the columns fit together


def test_a_brief_page_has_whole_sentences_of_the_text_and_an_empty_one_none() -> None:
    for seed in range(8):
        own = [text for text in made(frames.BRIEF, seed).text if text not in (*FRAME, "The late ferry")]
        assert own and " ".join(TEXT).startswith(" ".join(own)) and own[-1].endswith(".")
        assert made(frames.NOTHING, seed).text == FRAME


def test_errors_of_a_site_say_the_same() -> None:
    first, again, other = made(frames.ERROR, 1), made(frames.ERROR, 2), made(frames.ERROR, 1, site="b")
    assert first.text == again.text != other.text
    assert not set(TEXT) & set(first.text) and "The late ferry" not in first.text


def test_a_first_sentence_that_is_too_long_is_cut_and_ends_as_it_did() -> None:
    assert frames._beginning("One two three four five, six seven! Eight.", 5) == "One two three four five!"
    assert frames._beginning("一二三四五六七八九十一二三四五六七八九十。好。", 4) == "一二三四五六。"
    assert frames._beginning("One two. Three four. Five six.", 4) == "One two. Three four."


def test_a_frame_is_thinned_by_its_lines_and_content_stays() -> None:
    leaves = segment(PAGE)
    content = np.array([text in TEXT for text in leaves.text])
    kept = {site: frames.thinned(leaves, content, site).text for site in map(str, range(40))}
    assert all([text for text in texts if text in TEXT] == TEXT for texts in kept.values())
    assert {len(texts) for texts in kept.values()} >= {len(TEXT), len(leaves)}, "all of the frame, and nothing of it"
    other = segment(PAGE.replace("The late ferry", "Another"))
    assert all(
        set(frames.thinned(other, content, site).text) & set(FRAME) == set(texts) & set(FRAME)
        for site, texts in kept.items()
    )
