from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import templatediff as td
from corpora.generator import SiteSpec, generate_pages
from templatediff import label as label_module
from templatediff.evidence import NAMES as EVIDENCE_NAMES
from templatediff.label import label
from templatediff.lessons import NAMES as LESSON_NAMES
from templatediff.lessons import attribution, forest_rows, judgement
from templatediff.options import Options
from templatediff.page import Page
from templatediff.prepare import prepare
from templatediff.reasons import Reasons
from templatediff.score import probability, shipped, shipped_visits
from templatediff.wording import THEME_OF, THEMES

DEMO = Path(__file__).parent.parent / "corpora" / "demo" / "www.harbour-gazette.example"


@pytest.fixture(scope="module")
def template() -> td.Template:
    return td.learn(sorted(DEMO.rglob("*.html")))


@pytest.fixture(scope="module")
def story(template: td.Template) -> list[dict[str, Any]]:
    return template.extract(DEMO / "harbour" / "mussel-beds-closed.html").explain()


def labels_of(html: str, template: td.Template | None = None) -> Any:
    return label(prepare(Page(html), Options())[1], template, shipped())


def test_what_the_columns_add_sums_up_to_the_score(template: td.Template) -> None:
    html = (DEMO / "harbour" / "mussel-beds-closed.html").read_text()
    for used in (template, None):
        labels = labels_of(html, used)
        rows = forest_rows(labels.context, labels.site, labels.layout_view, shipped())
        start, added, values = attribution(rows, shipped())
        assert added.shape == values.shape == (len(labels.p), len(EVIDENCE_NAMES + LESSON_NAMES))
        alone = judgement(labels.context, labels.site, labels.layout_view, shipped())
        assert probability(start + added.sum(axis=1)) == pytest.approx(alone, abs=2e-4)


def test_the_evidence_of_a_record_sums_up_to_its_score(story: list[dict[str, Any]]) -> None:
    plain = [leaf for leaf in story if not any("settled" in reason for reason in leaf["reasons"])]
    assert len(plain) > 30
    for leaf in plain:
        log_odds = sum(leaf["evidence"].values())
        assert 1 / (1 + np.exp(-log_odds)) == pytest.approx(leaf["p"], abs=0.03)
        assert set(leaf["evidence"]) <= {"start", *THEMES}
        sizes = [abs(value) for value in leaf["evidence"].values()]
        assert sizes == sorted(sizes, reverse=True)


def test_visits_are_those_of_the_shipped_weights() -> None:
    weights = shipped()
    digest, first, second = shipped_visits()
    assert digest == weights.digest, "python benchmarks/visits.py counts them anew"
    for forest, visits in ((weights.first, first), (weights.second, second)):
        assert len(visits) == len(forest.left)
        inner = forest.left != np.arange(len(forest.left))
        sides = visits[forest.left] + visits[forest.right]
        assert (visits[inner] == sides[inner]).all()


def test_contributions_sum_up_to_the_score_with_and_without_visits() -> None:
    forest = shipped().first
    rows = np.random.default_rng(5).normal(size=(7, len(forest.columns))).astype(np.float32)
    rows[2, ::3] = np.nan
    for visits in (None, shipped_visits()[1]):
        start, added = forest.contributions(rows, visits)
        assert start + added.sum(axis=1) == pytest.approx(forest.raw(rows), abs=1e-9)
    assert forest.visits(rows)[forest.root].tolist() == [7] * len(forest.root)


def test_every_column_has_a_theme() -> None:
    assert len(THEME_OF) == len(EVIDENCE_NAMES + LESSON_NAMES)
    assert set(THEME_OF) == set(THEMES) - {"other"}, "templatediff/wording.py has no words for a column"


def test_reasons_speak_for_the_label_and_against_it(story: list[dict[str, Any]]) -> None:
    by_text = {leaf["text"][:20]: leaf for leaf in story}
    kept, menu = by_text["The copper most like"], by_text["Announcements"]
    assert kept["content"] and "inside the container of most of the page's new text" in kept["reasons"]
    assert not menu["content"] and "inside nav" in menu["reasons"]
    assert "outside the container of most of the page's new text" in menu["reasons"]
    for leaf in story:
        assert not set(leaf["reasons"]) & set(leaf["against"])
        assert len(leaf["reasons"]) <= 6 and len(leaf["against"]) <= 2


def test_repetition_is_among_the_reasons_wherever_it_speaks(story: list[dict[str, Any]]) -> None:
    assert {(leaf["content"], 2 * leaf["k"] > leaf["n"]) for leaf in story} == {(a, b) for a in (0, 1) for b in (0, 1)}
    for leaf in story:
        pull = leaf["evidence"].get("repetition", 0.0)
        often = 2 * leaf["k"] > leaf["n"]
        if not pull or (pull < 0) != often:
            continue  # trees may take a number another way than a person would: then there are no words for it
        words = leaf["reasons" if leaf["content"] == (pull > 0) else "against"]
        assert any(re.search(r"\bon \S+ of \S+ other pages of th", one) for one in words), leaf


def test_reasons_state_facts(story: list[dict[str, Any]]) -> None:
    """k of n in words is k of n of the record; what is said of tags and links holds."""
    for leaf in story:
        for words in leaf["reasons"] + leaf["against"]:
            assert not (words.startswith("on ") and words.endswith("other pages of this layout")) or (
                words.startswith(f"on {leaf['k'] or 'none'} of {leaf['n']} ")
            )
            if words.startswith("few words"):
                assert leaf["tokens"] <= 4
            if words.startswith("a heading"):
                assert ":nth-child" in leaf["selector"] and "h" in leaf["selector"].rsplit("> ", 1)[1][:1]


def test_repetition_is_told_where_it_is_all_there_is() -> None:
    same = "Printed on recycled paper by the harbour press in the old town hall, every Friday, since 1921."
    pages = [
        f"<body><div>{page.gold[:400].replace(chr(10), '</div><div>')}</div><div>{same}</div>"
        for page in generate_pages(SiteSpec(kinds=("flat",), pages=8, seed=3))
    ]
    made = td.learn(pages, site="example.org")
    (leaf,) = made.extract(pages[0]).explain("recycled paper")
    assert not leaf["content"]
    assert any("of 7 other pages" in words for words in leaf["reasons"]), leaf


def test_settled_leaves_say_so(story: list[dict[str, Any]]) -> None:
    (leaf,) = [leaf for leaf in story if leaf["text"].startswith("Corrections: if you")]
    assert leaf["p"] == label_module.SETTLED
    assert any(words.startswith("settled by repetition: on ") for words in leaf["reasons"])


TOGETHER = """<h1>Dormouse</h1><p>A dormouse sleeps for seven months of the year, in a nest of bark.</p>
<table><tr><th>Length<td>nine centimetres</td></tr><tr><th>Weight<td>thirty grams</td></tr></table>
<dl><dt>Range<dd>From the coast to the foothills</dl><pre>a = 1\nb = 2</pre>"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nine centimetres", "labelled together with the row of its table: 0.10 by itself"),
        ("Range", "labelled together with the term and what defines it: 0.10 by itself"),
        ("a = 1", "labelled together with its block of code: 0.10 by itself"),
    ],
)
def test_leaves_that_live_and_die_together_say_so(text: str, words: str) -> None:
    """Were each of them .10 alone and .90 with the others, that would be the first reason."""
    labels = labels_of(TOGETHER)
    texts = [leaf["text"] for leaf in td.extract(TOGETHER).leaves]
    alone, together = np.full(len(texts), 0.1), np.full(len(texts), 0.9)
    every = np.ones(len(texts), bool)
    steps = replace(labels.steps, alone=alone, settled=alone, threshold=0.5, chosen=every)
    reasons = Reasons(replace(labels, p=together, kept=every, steps=steps))
    assert reasons.of(texts.index(text))[0] == words
    unmoved = replace(steps, alone=together, settled=together)
    reasons = Reasons(replace(labels, p=together, kept=every, steps=unmoved))
    assert not any("together" in one for one in reasons.of(texts.index(text)))


def test_a_guard_names_itself_first_and_only_where_it_decided() -> None:
    labels = labels_of(TOGETHER)
    every = np.ones(len(labels.p), bool)
    chosen = every.copy()
    chosen[2:] = False
    low = np.full(len(every), 0.2)
    steps = replace(labels.steps, alone=low, settled=low, threshold=0.5, chosen=chosen, guard="a guard says so")
    reasons = Reasons(replace(labels, p=low, kept=every, steps=steps))
    assert all(reasons.of(leaf)[0] == "a guard says so" for leaf in range(2, len(every)))
    assert not any("a guard says so" in reasons.of(leaf) for leaf in range(2))


def test_leaves_of_an_empty_page_are_dropped_since_it_is_empty() -> None:
    page = td.extract("<title>A title</title><div>Home Menu</div><div>Footer of all pages</div>")
    assert page.verdict == "empty" and page.reason and page.reason.startswith("nothing but 6 words")
    likely = [leaf for leaf in page.leaves if leaf["p"] >= 0.5]
    assert likely and all(leaf["reasons"][0] == "the page as a whole is empty" for leaf in likely)
    assert str(td.extract("<body><p>Welcome").reason).startswith("nothing but 1 word")


def test_the_evidence_of_a_long_page_is_worked_out_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    html = "".join(f"<p>Leaf {number} says {number * number} and some words more." for number in range(20))
    whole = td.extract(html).explain()
    monkeypatch.setattr("templatediff.reasons.BLOCK", 7)
    sizes: list[int] = []

    def seen(rows: Any, weights: Any) -> Any:
        sizes.append(len(rows[0]))
        return attribution(rows, weights)

    monkeypatch.setattr("templatediff.reasons.attribution", seen)
    assert td.extract(html).explain() == whole
    assert sizes and set(sizes) == {7, 6}


def test_a_page_without_text_has_no_leaf_to_explain() -> None:
    assert td.extract("<script>x()</script>").explain() == []


def test_labels_without_reasons_cost_no_attribution(monkeypatch: pytest.MonkeyPatch, template: td.Template) -> None:
    def never(*arguments: object) -> None:
        raise AssertionError("worked out for nobody")

    monkeypatch.setattr("templatediff.reasons.attribution", never)
    page = template.extract(DEMO / "harbour" / "mussel-beds-closed.html")
    assert page.text and page.markdown
    with pytest.raises(AssertionError):
        label_reasons = Reasons(labels_of("<p>Some words that stand on a page, and some more.</p>")).of(0)
        assert label_reasons
