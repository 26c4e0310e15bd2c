from __future__ import annotations

import pytest

import templatediff as td
from templatediff.errors import UsageError
from templatediff.search import elsewhere, spans

TEXTS = [
    "The Tide turned", "at noon, and the co\u00adpper sank", "東京の", "駅で", "Crème brûlée", "tide tide", "cafe\u0301 x",
    "مُحَمَّد", "Iğdır", "がか",
]  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        pytest.param("tide", {0: [(4, 8)], 5: [(0, 4), (5, 9)]}, id="case"),
        pytest.param("turned\n   at", {0: [(9, 15)], 1: [(0, 2)]}, id="over-two-leaves"),
        pytest.param("copper", {1: [(17, 24)]}, id="soft-hyphen"),
        pytest.param("東京の駅", {2: [(0, 3)], 3: [(0, 1)]}, id="no-spaces-between-leaves"),
        pytest.param("cre\u0300me", {4: [(0, 5)]}, id="accents-apart"),
        pytest.param("BRÛLÉE", {4: [(6, 12)]}, id="accents-in-capitals"),
        pytest.param("creme brulee", {4: [(0, 12)]}, id="without-accents"),
        pytest.param("cafe", {6: [(0, 5)]}, id="accents-go-with-their-letter"),
        pytest.param("محمد", {7: [(0, 8)]}, id="without-vowel-signs"),
        pytest.param("ığdır", {8: [(0, 5)]}, id="dotless-i"),
        pytest.param("か", {9: [(1, 2)]}, id="voicing-counts"),
        pytest.param("turned noon", {}, id="absent"),
    ],
)
def test_spans(wanted: str, found: dict[int, list[tuple[int, int]]]) -> None:
    assert spans(TEXTS, wanted) == found


@pytest.mark.parametrize("empty", ["", " \n", "\u00ad"])
def test_an_empty_text_is_refused(empty: str) -> None:
    for look in (lambda: spans(TEXTS, empty), lambda: elsewhere("<p>x", empty)):
        with pytest.raises(UsageError, match="empty"):
            look()


PAGE = """<title>Otter &amp; pike</title><meta name=description content="a page about river beasts">
<script type="application/ld+json">{"articleBody": "The caf\\u00e9 by the \\"weir\\""}</script>
<style>.heron { color: grey }</style><body><!-- to do: swan --><noscript><p>Enable <b>scripts</b> now</p></noscript>
<img alt="A grebe at dawn" src=x.png><textarea>my comment</textarea><template><p>stencil</p></template>
<p title="tooltip words">Plain <b>text</b> of the page.</p><div hidden>hidden words</div>"""


@pytest.mark.parametrize(
    ("wanted", "places"),
    [
        ("otter & PIKE", ["title"]),
        ("river  beasts", ["meta description"]),
        ('the café by the "weir"', ["script (application/ld+json)"]),
        ("heron", ["style"]),
        ("swan", ["comment"]),
        ("enable scripts", ["noscript"]),
        ("grebe", ["attribute alt of img"]),
        ("my comment", ["textarea"]),
        ("stencil", ["template"]),
        ("tooltip", ["attribute title of p"]),
        ("zebra", []),
    ],
)
def test_elsewhere_names_what_is_no_leaf(wanted: str, places: list[str]) -> None:
    assert elsewhere(PAGE, wanted) == places
    page = td.extract(PAGE)
    assert page.explain(wanted) == [] and page.elsewhere(wanted) == places


def test_find_goes_across_inline_markup_and_tells_hidden_leaves() -> None:
    page = td.extract(PAGE)
    (leaf,) = page.explain("PLAIN text   of")
    assert leaf["found"] == [[0, 13]] and not leaf["hidden"]
    (leaf,) = page.explain("hidden words")
    assert leaf["hidden"] and leaf == page.explain()[leaf["leaf"]] | {"found": [[0, 12]]}
