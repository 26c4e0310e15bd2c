from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import templatediff as td
from benchmarks import verdicts
from corpora.generator import EMPTY_SHELLS, SHELLS, SiteSpec, generate_pages, generate_shells
from corpora.sentinel import sentinel_pages
from templatediff import overall as module
from templatediff.evidence import Context
from templatediff.fingerprint import fingerprint
from templatediff.options import Options
from templatediff.segment import segment
from templatediff.verdict import chance, empty_chance, is_text

SPEC = SiteSpec(kinds=("news", "listing"), pages=8, seed=31)
FLOORS = {verdicts.ALONE: 0.95, verdicts.AMONG: 0.95}
MENU = "<nav><a href=/a>News</a> <a href=/b>Sport</a> <a href=/c>Weather</a></nav>"
STORY = "".join(
    f"<p>The ferry number {number} left the harbour at noon, and the captain, who knew the tides, went below.</p>"
    for number in range(8)
)


def row(html: str, p: list[float] | float = 0.9) -> dict[str, float]:
    context = Context(fingerprint(segment(html), Options(), content_hash=0), None, None)
    return module.features(context, np.full(context.n, p) if isinstance(p, float) else np.array(p), 0)


def test_a_page_alone_has_what_it_shows_and_nothing_of_siblings() -> None:
    found = row(STORY)
    assert list(found) and set(found) == set(module.NAMES)
    assert all(np.isnan(found[name]) for name in module.AMONG_NAMES)
    assert not any(np.isnan(found[name]) for name in module.ALONE_NAMES)


def test_the_best_leaves_count_what_a_page_lacks_as_nothing() -> None:
    assert module._best(np.array([0.9, 0.1]), np.array([20, 500]), 40) == pytest.approx((0.9 * 20 + 0.1 * 20) / 40)
    assert module._best(np.array([0.9]), np.array([20]), 40) == pytest.approx(0.45)


def test_buttons_and_a_way_back_count_directly_after_prose_only() -> None:
    sentence = "<p>We and our friends keep small files, so that we know you again.</p>"
    wall = row(f"{sentence}<button>Yes</button><button>No</button>")
    assert wall["buttons"] == pytest.approx(np.log1p(2))
    assert row(f"<button>Yes</button>{sentence}<p>Word</p><button>No</button>")["buttons"] == 0
    assert row(f"{sentence}<p><a href='/'>Front</a></p>")["way_back"] == 1
    assert row(f"<p><a href='/'>Front</a></p>{sentence}<p><a href='/news'>News</a></p>")["way_back"] == 0
    bar = row(f"{sentence}<p><a href='/'>Front</a></p><h1>Ferry</h1>{STORY}", [0.05, 0.05] + [0.9] * 9)
    assert bar["way_back"] == 0  # a notice above the site's name


def test_entries_are_the_linked_lines_of_one_kind() -> None:
    entries = "".join(
        f"<div><h2><a href=/{n}>The story number {n}</a></h2><p>What it is about.</p></div>" for n in range(6)
    )
    found = row(f"<h1>All stories</h1>{entries}")
    assert found["heads"] == pytest.approx(np.log1p(6)) and found["covered"] > 0.8
    assert found["teaser"] == pytest.approx(np.log1p(4)) and found["title_words"] == pytest.approx(np.log1p(4))
    assert row(STORY)["heads"] == 0


def test_a_story_is_content_alone_and_a_frame_is_empty_with_its_reason() -> None:
    assert td.extract(f"<title>Ferry</title>{MENU}<h1>Ferry</h1>{STORY}").verdict == "content"
    for html in (f"{MENU}<div id=root></div><script>x()</script>", f"<title>Ferry</title>{MENU}"):
        found = td.extract(html)
        assert (found.verdict, found.text) == ("empty", "") and found.reason


def test_a_page_of_linked_entries_is_a_listing() -> None:
    entries = "".join(
        f"<article><h2><a href=/story/{n}>The story of the ferry number {n}</a></h2><p>What the captain said of the tide on "
        f"day {n}, and why nobody believed him at noon.</p></article>"
        for n in range(12)
    )
    assert td.extract(f"<title>Stories</title>{MENU}<main><h1>Stories</h1>{entries}</main>").verdict == "listing"


def test_every_reason_is_given_in_words() -> None:
    pages = [*generate_pages(SPEC), *generate_shells(SPEC, EMPTY_SHELLS)]
    template = td.learn([td.Page(page.html, url=page.url) for page in pages])
    for page in pages:
        if page.kind in EMPTY_SHELLS:
            for found in (td.extract(page.html, url=page.url), template.extract(td.Page(page.html, url=page.url))):
                assert found.verdict != "empty" or (found.reason and len(found.reason.split()) >= 4)


def test_shells_have_the_chrome_of_their_site_and_those_that_are_empty_no_content() -> None:
    site = {
        block.text for page in generate_pages(SPEC) for block in page.blocks if block.role in ("nav", "footer-link")
    }
    shells = list(generate_shells(SPEC))
    assert [page.kind for page in shells] == [kind for kind in SHELLS for _ in range(2)]
    assert shells == list(generate_shells(SPEC))
    for page in shells:
        assert (page.gold == "") == (page.kind in EMPTY_SHELLS)
        if page.kind in ("chrome", "error", "index", "brief"):
            assert {block.text for block in page.blocks if block.role in ("nav", "footer-link")} <= site
    errors = [page for page in shells if page.kind == "error"]
    texts = [[block.text for block in page.blocks if block.role == "error-text"] for page in errors]
    assert texts[0] == texts[1] and errors[0].url != errors[1].url


def test_the_matrix_counts_by_kind_and_f1_is_of_the_class() -> None:
    rows = [
        verdicts.Judged("a", "news", "content", "content", None, True),
        verdicts.Judged("b", "error", "empty", "empty", "why", False),
        verdicts.Judged("c", "chrome", "empty", "content", None, True),
    ]
    assert verdicts.f1(rows, "empty") == pytest.approx(2 / 3) and verdicts.f1(rows, "listing") == 1.0
    assert "| empty | chrome | 1 | 1 |  |  |  |" in verdicts.matrix(rows)
    assert list(verdicts.wrong(rows)) == ["- c (chrome): content, no reason given"]
    assert "no to 0 of 2 pages whose verdict is content, 0 of 0" in verdicts.told(rows)
    assert "1 of 1 pages whose verdict is empty" in verdicts.told(rows)


def test_fitted_sites_share_no_seed_and_no_pair_of_script_and_markup_with_those_measured() -> None:
    from benchmarks.fit_verdicts import fitted

    measured = verdicts.specs()
    assert {spec.seed for spec in fitted()}.isdisjoint(spec.seed for spec in measured)
    assert {(spec.script, spec.style) for spec in fitted()}.isdisjoint((spec.script, spec.style) for spec in measured)


def test_a_few_sentences_without_any_frame_are_content() -> None:
    for html in (
        "<title>Otters</title><p>Otters close their ears and nostrils under water.",
        "<title>good</title><p>good is told here in one sentence.",
        "<h1>Otters</h1><p>Otters close their ears and nostrils under water.</p><p>They open them on land.</p>",
        f"<h1>Ferry</h1>{STORY[:100]}</p><p><a href='/'>Front page</a></p>",
    ):
        found = td.extract(html)
        assert (found.verdict, bool(found.text)) == ("content", True), (html, found.reason)


def test_a_page_that_was_learnt_under_another_key_is_not_called_empty() -> None:
    html = f"<title>Ferry</title>{MENU}<h1>Ferry</h1>{STORY}"
    pages = [
        html,
        *(html.replace("ferry", other).replace("noon", f"{other} time") for other in ("tram", "bus", "boat", "mule")),
    ]
    template = td.learn([td.Page(page, url=f"https://a.example/{n}") for n, page in enumerate(pages)])
    assert template.extract(html).verdict == "content"


def test_what_follows_the_title_counts_whatever_its_element() -> None:
    found = row(f"<title>Ferry late again - Paper</title><div>Home</div><div><b>Ferry late again</b></div>{STORY}")
    assert found["title_said"] == pytest.approx(np.log1p(3)) and found["after_title_words"] > 4
    assert found["seen_said"] > 0 and found["seen_after_title"] > 4
    assert row(f"<title>Something else</title><div>Ferry late again</div>{STORY}")["title_said"] == 0


@pytest.mark.slow
def test_verdicts_on_generated_sites_hold() -> None:
    sites = [verdicts.judged(spec) for spec in verdicts.specs()]
    for mode in (verdicts.ALONE, verdicts.AMONG):
        rows = [row for site in sites for row in site[mode]]
        assert verdicts.f1(rows, "empty") >= FLOORS[mode] and verdicts.f1(rows, "listing") >= 0.9


@pytest.mark.slow
def test_no_sentinel_page_with_an_article_is_called_empty() -> None:
    for page in sentinel_pages(("single",)):
        found = td.extract(page.html)
        assert page.case == "near-empty" or found.verdict != "empty", (page.path, found.reason)
        assert page.case == "near-empty" or td.is_probably_content(page.html), page.path


def test_no_page_of_the_demonstration_crawl_is_called_empty() -> None:
    root = Path(__file__).resolve().parent.parent / "corpora" / "demo"
    for site in sorted(root.iterdir()):
        pages = sorted(site.rglob("*.html"))
        template = td.learn(pages)
        for page in pages:
            for found in (template.extract(page), td.extract(page)):
                wanted = "listing" if page.parent.name == "lists" else "content"
                assert found.verdict == wanted, (page.name, found.reason)


def test_a_page_without_any_chrome_is_its_sentences_however_few() -> None:
    assert td.extract("<title>good</title><p>It is told here in one sentence.").verdict == "content"
    assert td.extract("<p>Welcome").verdict == "empty"


@pytest.mark.parametrize("printed", [False, True], ids=["at a second address", "printed"])
@pytest.mark.parametrize("site", ["www.harbour-gazette.example", "www.werkstatt-lindner.example"])
def test_a_page_that_the_crawl_has_twice_is_not_empty(site: str, printed: bool) -> None:
    """Near-duplicates alone were evidence enough, however sure the text."""
    pages = [path.read_text() for path in sorted(Path("corpora/demo", site).rglob("*.html"))]
    once = td.learn(pages)
    texts = [once.extract(page).text for page in pages]
    body = ["".join(f"<p>{line}</p>" for line in text.split("\n\n")) for text in texts]
    second = body if printed else [page + "<!-- again -->" for page in pages]
    twice = td.learn(pages + second)
    for page, text in zip(pages, texts, strict=True):
        made = twice.extract(page)
        assert (made.verdict, len(made.text) > 0.8 * len(text)) == (once.extract(page).verdict, True), made.reason


def test_walls_that_a_crawl_has_again_and_again_are_empty() -> None:
    pages = generate_pages(SPEC)
    walls = [page for page in generate_shells(SPEC) if page.kind == "consent"]
    walls = [page.html + f"<!-- {number} -->" for page in walls for number in range(3)]
    template = td.learn([page.html for page in pages] + walls)
    assert [template.extract(wall).verdict for wall in walls] == ["empty"] * len(walls)


def test_a_long_run_of_likely_content_is_no_empty_page() -> None:
    """Six pages of terms and definitions, 160 to 220 tokens each, were empty for headings and a frame like those of shells."""
    short = row(f"<h1>Ferry</h1>{STORY}", [0.9] * 9)
    long = short | {"run": float(np.log1p(150)), "buttons": 0.0, "dialog": 0.0}
    assert is_text(long)
    assert not is_text(long | {"run": float(np.log1p(100))})
    assert not is_text(long | {"buttons": float(np.log1p(2))}) and not is_text(long | {"dialog": 0.9})


def test_a_few_words_without_a_sentence_are_no_text() -> None:
    for html in (
        "<title>App</title><div>Menu</div><div>Sign in</div><div>All rights reserved</div>",
        "<title>Moved</title><h1>Moved</h1>This may be found <a href=x>here</a>",
    ):
        found = td.extract(html)
        assert found.verdict == "empty" and str(found.reason).startswith("nothing but ") and found.confidence >= 0.5
    assert td.extract("<title>Moved</title><h1>Moved</h1>This may be found in another place.").verdict == "content"


def _brief(number: int, length: int = 1) -> str:
    """A page of a paper with a consent text and a call at its end: a headline and so many sentences."""
    names = ("ferry", "tug", "barge")[:length]
    said = " ".join(f"The {name} number {number} left the harbour at {number + 1} o'clock." for name in names)
    return (
        f"<title>Ship {number} leaves - The Paper</title>"
        "<div><p>We keep notes on your visit, as the law has it, unless you say no.</p><button>Yes</button><button>No</button>"
        f"</div><header><a href=/>The Paper</a>{MENU}</header>"
        f"<main><article><h1>Ship {number} leaves</h1><p>{said}</p></article></main>"
        "<aside><h3>More</h3><ul><li><a href=/x>Tides of the week</a></ul><div><p>Get our letter in the morning.</p>"
        "<form><input><button>Send</button></form></div></aside>"
        "<footer><p>The Paper, Harbour Road 4</p><a href=/law>Law</a></footer>"
    )


def test_pages_of_a_few_sentences_in_a_frame_of_chrome_are_content_among_siblings() -> None:
    pages = [_brief(number, 1 + number % 3) for number in range(8)]
    template = td.learn([td.Page(page, url=f"https://a.example/{number}") for number, page in enumerate(pages)])
    for number, page in enumerate(pages):
        found = template.extract(td.Page(page, url=f"https://a.example/{number}"))
        assert found.verdict == "content" and f"The ferry number {number} left" in found.text, found.reason
        assert "notes on your visit" not in found.text and "our letter" not in found.text


def test_an_error_page_with_a_way_back_is_empty_among_the_same_pages() -> None:
    said = "The ferry number 0 left the harbour at 1 o'clock."
    missing = (
        _brief(0)
        .replace("Ship 0 leaves", "Not here")
        .replace(f"{said}</p>", "It is gone.</p><p><a href=/>Front page</a></p>")
    )
    pages = [*(_brief(number, 3) for number in range(1, 8)), missing, missing.replace("Tides", "Winds")]
    given = [td.Page(page, url=f"https://a.example/{number}") for number, page in enumerate(pages)]
    template = td.learn(given)
    assert [template.extract(page).verdict for page in given] == ["content"] * 7 + ["empty"] * 2


def test_among_siblings_what_the_page_shows_counts_as_much_as_what_they_show() -> None:
    seen = row(f"<title>Ferry</title>{MENU}<h1>Ferry</h1>{STORY}")
    alone, known, both = empty_chance(seen, False), chance("empty", seen), empty_chance(seen, True)
    assert alone == chance("empty_alone", seen) and min(alone, known) <= both <= max(alone, known)
