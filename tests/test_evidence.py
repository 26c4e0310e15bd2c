from __future__ import annotations

import numpy as np
import pytest

from corpora.generator import SiteSpec, generate_site
from templatediff.evidence import EVIDENCE, NAME_COLUMNS, NAMES, Context, Evidence, name_rows, plain_rows, rows
from templatediff.fingerprint import Fingerprint, fingerprint
from templatediff.gist import gist_scores
from templatediff.lessons import NAMES as FURTHER
from templatediff.lessons import further_rows
from templatediff.options import Options
from templatediff.profile import SiteProfile
from templatediff.sample import Sample, take
from templatediff.segment import segment


def of(html: str, number: int = 0, **given: object) -> Fingerprint:
    options = Options(**given)  # type: ignore[arg-type]
    return fingerprint(segment(html), options, content_hash=number, key_url=f"https://example.org/{number}")


def sample_of(pages: list[Fingerprint], options: Options | None = None) -> Sample:
    profile = SiteProfile("example.org", options or Options())
    for page in pages:
        profile.add(page)
    return take(profile)


def column(context: Context, name: str) -> list[float]:
    (found,) = [evidence for evidence in EVIDENCE if evidence.name == name]
    return np.asarray(found.function(context)).tolist()


def test_names_are_unique_and_rows_have_one_column_each() -> None:
    assert len(set(NAMES)) == len(NAMES) and not set(NAMES) & set(FURTHER)
    matrix = rows(Context(of("<p>a</p><p>b</p>"), None, None), {})
    assert matrix.shape == (2, len(NAMES)) and matrix.dtype == np.float32


def test_what_only_siblings_can_say_is_unknown_without_them() -> None:
    matrix = rows(Context(of("<nav><a href=/>Home</a></nav><p>Some words, and a sentence."), None, None), {})
    for place, evidence in enumerate(EVIDENCE):
        if evidence.siblings:
            assert np.isnan(matrix[:, place]).all() or evidence.name == "known_within_3", evidence.name


@pytest.mark.parametrize("html", ["<p>one", "<div>", "<a href=x>y</a>" * 30, "<p>" + "word " * 5000])
def test_odd_pages_give_finite_or_unknown_numbers(html: str) -> None:
    page = of(html)
    context = Context(page, None, None)
    matrix = rows(context, {})
    assert not np.isinf(matrix).any()
    if len(page):
        assert further_rows(context, np.full(len(page), 0.5), None, None).shape == (len(page), len(FURTHER))


def test_k_of_n_evidence() -> None:
    pages = [of(f"<div>Menu</div><p>Story {number} of the day", number) for number in range(5)]
    site, layout, _ = sample_of(pages).views(pages[0])
    context = Context(pages[0], site, layout)
    assert column(context, "site_text") == [1.0, 0.0]
    assert column(context, "site_folded") == [1.0, 1.0], "value-folded repetition stands apart"


def test_the_region_of_new_text_on_the_siblings_is_found() -> None:
    html = "<nav>Menu of the site</nav><div id=main><p>{0} {0}a {0}b {0}c</p></div><div id=side>Contact us today</div>"
    pages = [of(html.format(f"n{number}"), number) for number in range(4)]
    site, layout, _ = sample_of(pages).views(pages[1])
    context = Context(pages[1], site, layout)
    assert column(context, "site_region_0") == [0.0, 1.0, 0.0]
    assert column(context, "in_site_majority") == [0.0, 1.0, 0.0]


def test_a_long_leaf_with_one_changed_word_is_still_known() -> None:
    text = " ".join(f"w{number}" for number in range(60))
    pages = [of(f"<p>{text.replace('w30', f'x{number}')}</p><p>own {number}", number) for number in range(4)]
    site, layout, _ = sample_of(pages).views(pages[0])
    assert site.k("text", pages[0].text_hash).tolist() == [0, 0]
    assert column(Context(pages[0], site, layout), "site_known") == [1.0, 0.0]


@pytest.mark.parametrize(("order", "known"), [(1, True), (5, False)])
def test_the_ngram_order_decides_how_exact_long_leaves_are_matched(order: int, known: bool) -> None:
    """Every fifth word differs: single words still agree, 5-grams never do."""
    options = Options(ngram_order=order)
    pages = [
        of(
            "<p>" + " ".join(f"w{word}" if word % 6 else f"x{word}n{number}" for word in range(60)),
            number,
            ngram_order=order,
        )
        for number in range(3)
    ]
    site, layout, _ = sample_of(pages, options).views(pages[0])
    assert (column(Context(pages[0], site, layout, order), "site_known")[0] == 1.0) is known


def test_names_count_by_the_table_alone_and_at_every_height() -> None:
    page = of("<div class='post-body'><div id=sidebar><p>one</div><p>two</div>")
    found = name_rows(Context(page, None, None), {"body": 1.0, "post": 3.0, "sidebar": -2.0})
    by_name = [dict(zip(NAME_COLUMNS, row, strict=True)) for row in found.tolist()]
    assert (by_name[0]["name_1"], by_name[0]["name_2"], by_name[0]["name_sum"]) == (-2.0, 2.0, 0.0)
    assert (by_name[1]["name_1"], by_name[1]["name_least"], by_name[1]["name_most"]) == (2.0, 2.0, 2.0)
    assert np.isnan(name_rows(Context(page, None, None), {})).all()


def test_records_are_told_from_what_stands_once() -> None:
    records = "".join(f"<div class=c><p>reply {number} {number}a</div>" for number in range(4))
    page = of(f"<article><p>The story itself.</article><section>{records}</section>")
    context = Context(page, None, None)
    assert (context.record >= 0).tolist() == [False, True, True, True, True]
    assert column(context, "record_place")[1:] == [0.0, *np.log1p([1, 2, 3]).tolist()]
    assert column(context, "single_before")[1] > 0.0


def test_the_gist_prefers_what_the_rest_of_the_page_speaks_of() -> None:
    story = "The lighthouse keeper counts ships. "
    page = of(
        f"<html lang=en><p>{story}<p>Ships pass the lighthouse, and the keeper waves.<p>Log in to comment<p>Privacy policy"
    )
    scores = gist_scores(page)
    assert scores[:2].min() > scores[2:].max() == 0.0


def test_evidence_can_be_added_without_touching_the_rest() -> None:
    page = of("<p>a</p><p>bb</p>")
    own = Evidence("characters", lambda context: context.page.characters.astype(float))
    assert plain_rows(Context(page, None, None), (*EVIDENCE, own))[:, -1].tolist() == [1.0, 2.0]


def test_a_pages_own_place_in_the_sample_does_not_show() -> None:
    """Learned with or without the page, its evidence is the same."""
    site = generate_site(SiteSpec(kinds=("news",), pages=6, seed=8))
    pages = [of(page.html, number) for number, page in enumerate(site.pages)]
    for name in ("text", "ngram", "target"):
        inside, _, _ = sample_of(pages).views(pages[0])
        outside, _, _ = sample_of(pages[1:]).views(pages[0])
        values = (
            pages[0].text_hash
            if name == "text"
            else pages[0].link_target
            if name == "target"
            else pages[0].ngram_hashes(3)[1]
        )
        assert inside.n == outside.n == len(pages) - 1
        assert np.array_equal(inside.k(name, values), outside.k(name, values))
