"""The generator's promises: same seed same bytes, complete truth, and knobs that do what they say."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from corpora.generator import (
    DYNAMIC,
    KINDS,
    SCRIPTS,
    STATIC_CONTENT,
    STYLES,
    GeneratedPage,
    SiteSpec,
    generate_pages,
    generate_site,
    score_blocks,
    write_site,
)
from corpora.generator.blocks import kept_shares, tokens
from corpora.make_demo import demo_pages

REPO = Path(__file__).resolve().parent.parent
INLINE = frozenset(["a", "b", "strong", "em", "i", "code", "tt", "span", "font", "small"])
UNSEEN = frozenset(["script", "style", "noscript", "template", "head"])


def visible_runs(html: str) -> list[str]:
    """The visible texts of a page, cut at every element that is not inline; written for this test alone."""
    runs: list[list[str]] = [[]]

    def walk(node: LexborNode) -> None:
        child = node.first_child
        while child is not None:
            if child.is_text_node:
                runs[-1].append(child.text_content or "")
            elif child.is_element_node and child.tag not in UNSEEN:
                if child.tag in INLINE:
                    walk(child)
                else:
                    runs.append([])
                    walk(child)
                    runs.append([])
            child = child.next

    body = LexborHTMLParser(html).body
    assert body is not None
    walk(body)
    texts = (" ".join("".join(run).split()) for run in runs)
    return [text for text in texts if text]


def truth_runs(page: GeneratedPage) -> list[str]:
    return [" ".join(block.text.split()) for block in page.blocks]


def roles(spec: SiteSpec) -> Counter[str]:
    return Counter(block.role for page in generate_site(spec).pages for block in page.blocks)


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_visible_text_is_in_the_truth_in_order(kind: str, script: str) -> None:
    spec = SiteSpec(kinds=(kind,), script=script, pages=3, seed=5, static_content=STATIC_CONTENT)
    site = generate_site(spec)
    assert len({page.path for page in site.pages}) == len(site.pages) == 5  # and two licence pages
    for page in site.pages:
        assert visible_runs(page.html) == truth_runs(page)
        assert f'dir="{"rtl" if script in ("arabic", "hebrew") else "ltr"}"' in page.html


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("seed", range(4))
def test_truth_is_complete_in_every_markup(style: str, seed: int) -> None:
    kinds = ("news", "forum", "product", "listing", "docs")
    site = generate_site(SiteSpec(kinds=kinds, style=style, seed=seed, pages=5, near_duplicates=1))
    for page in site.pages:
        assert visible_runs(page.html) == truth_runs(page)


def test_same_seed_same_bytes_in_another_process(tmp_path: Path) -> None:
    command = [
        sys.executable,
        str(REPO / "corpora/generate.py"),
        "--kind",
        "soup",
        "--kind",
        "docs",
        "--seed",
        "9",
    ]
    for name, hash_seed in (("one", "1"), ("two", "2")):
        subprocess.run(
            [*command, "--near-duplicates", "2", "-o", str(tmp_path / name)],
            check=True,
            capture_output=True,
            env={"PYTHONHASHSEED": hash_seed},
        )
    for folders in (("one", "two"), ("one-gold", "two-gold")):
        first, second = (
            {path.relative_to(tmp_path / folder): path.read_bytes() for path in (tmp_path / folder).rglob("*.*")}
            for folder in folders
        )
        assert first == second
        assert first


def test_other_seed_other_site() -> None:
    first, second = (generate_site(SiteSpec(seed=seed)) for seed in (1, 2))
    assert not {page.html for page in first.pages} & {page.html for page in second.pages}
    assert first.host != second.host


@pytest.mark.parametrize("script", ["chinese", "japanese", "thai"])
def test_unspaced_scripts_have_no_spaces_within_sentences(script: str) -> None:
    site = generate_site(SiteSpec(script=script, seed=2))
    paragraphs = [b.text for page in site.pages for b in page.blocks if b.role == "paragraph"]
    spaced = sum(text.count(" ") for text in paragraphs) / sum(map(len, paragraphs))
    assert spaced < (0.04 if script == "thai" else 0.001)  # Thai parts sentences and clauses by a space


@pytest.mark.parametrize("kind", KINDS)
def test_a_third_to_two_thirds_of_a_page_is_chrome(kind: str) -> None:
    for script in SCRIPTS:
        counts: Counter[bool] = Counter()
        for page in generate_site(SiteSpec(kinds=(kind,), script=script, seed=1)).pages:
            for block in page.blocks:
                counts[block.kind == "content"] += len(tokens(block.text))
        assert 0.33 < counts[False] / counts.total() < 0.67, script


def test_template_and_promo_texts_stay_the_same_from_page_to_page() -> None:
    site = generate_site(SiteSpec(kinds=("product",), pages=8, seed=3))
    for kind in ("template", "promo"):
        texts = [{b.text for b in page.blocks if b.kind == kind and b.static} for page in site.pages]
        common = set.intersection(*texts)
        for page_texts in texts:
            optional = {b.text for page in site.pages for b in page.blocks if b.role.startswith("optional")}
            assert page_texts - optional == common - optional


def test_slot_values_stand_in_their_block_and_static_blocks_have_none() -> None:
    kinds = ("news", "forum", "product", "listing", "docs")
    for page in generate_site(SiteSpec(kinds=kinds, pages=10, seed=4)).pages:
        for block in page.blocks:
            assert bool(block.slots) != block.static
            assert all(slot.value in block.text for slot in block.slots if block.role != "code")


def test_a_byline_has_a_person_and_a_date_between_constant_words() -> None:
    byline = next(b for b in generate_site(SiteSpec(seed=1)).pages[0].blocks if b.role == "byline")
    assert [slot.type for slot in byline.slots] == ["person", "date"]
    assert byline.text == f"By {byline.slots[0].value} on {byline.slots[1].value}"


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 1.0])
def test_optional_blocks_stand_on_their_share_of_the_pages(share: float) -> None:
    site = generate_site(SiteSpec(pages=20, seed=6, optional_share=share))
    for number in range(2):
        carriers = [page for page in site.pages if any(b.role == f"optional-{number}" for b in page.blocks)]
        assert len(carriers) == round(20 * share)


def test_dynamic_boilerplate_can_be_chosen() -> None:
    kinds = ("news", "forum", "product", "listing", "docs")
    spec = SiteSpec(kinds=kinds, pages=5, seed=2)
    bare = generate_site(spec.but(dynamic=()))
    assert not [b for page in bare.pages for b in page.blocks if b.kind == "dynamic"]
    for name in DYNAMIC:
        alone = generate_site(spec.but(dynamic=(name,)))
        assert [b for page in alone.pages for b in page.blocks if b.kind == "dynamic"], name


def test_related_links_are_titles_of_other_pages() -> None:
    site = generate_site(SiteSpec(pages=40, seed=2))
    titles = {page.title for page in site.pages}
    related = [(page, b.text) for page in site.pages for b in page.blocks if b.role == "related"]
    assert all(text != page.title for page, text in related)
    assert sum(text in titles for _, text in related) > len(related) / 2  # the rest: pages outside the crawl


def test_the_quotation_stands_on_two_pages_of_fifty() -> None:
    site = generate_site(SiteSpec(pages=50, seed=8))
    quotes = [b for page in site.pages for b in page.blocks if b.role == "quotation"]
    assert len(quotes) == 2
    assert len({b.text for b in quotes}) == 1
    assert all(b.static and b.kind == "content" for b in quotes)


def test_static_content_can_be_chosen() -> None:
    spec = SiteSpec(kinds=("product", "docs", "news"), pages=30, seed=3, static_content=())
    assert not roles(spec).keys() & {"spec-label", "column-label", "quotation", "refrain", "see-also"}
    full = roles(spec.but(static_content=STATIC_CONTENT))
    assert full.keys() >= {"spec-label", "column-label", "quotation", "refrain", "see-also"}


def test_licence_pages_share_all_their_content() -> None:
    first, second = generate_site(SiteSpec(pages=4, static_content=("licence",))).pages[-2:]
    assert first.gold == second.gold
    assert first.path != second.path
    assert all(b.static for b in first.blocks if b.kind == "content")


def test_near_duplicates_differ_in_one_sentence() -> None:
    site = generate_site(SiteSpec(pages=10, seed=3, near_duplicates=4))
    copies = [page for page in site.pages if page.original]
    assert len(copies) == 4
    for copy in copies:
        assert copy.original is not None
        original = site.page(copy.original)
        pairs = zip(copy.gold.split("\n\n"), original.gold.split("\n\n"), strict=True)
        changed = [(mine, theirs) for mine, theirs in pairs if mine != theirs]
        assert len(changed) == 1
        assert changed[0][0].startswith(changed[0][1])
        assert copy.url != original.url


def test_a_redesign_changes_layout_and_chrome_from_its_month_on() -> None:
    months = ("2024-01", "2024-02", "2024-03")
    site = generate_site(SiteSpec(pages=9, seed=1, months=months, redesign="2024-03"))
    assert [page.fetched[:7] for page in site.pages] == [month for month in months for _ in range(3)]
    assert [page.layout for page in site.pages] == ["semantic"] * 6 + ["semantic@2"] * 3
    menus = [tuple(b.text for b in page.blocks if b.kind == "template") for page in site.pages]
    assert len(set(menus[:6])) == len(set(menus[6:])) == 1
    assert menus[0] != menus[-1]
    assert "<main" in site.pages[0].html
    assert "<main" not in site.pages[-1].html


def test_urls_canonical_prefix_and_length() -> None:
    spec = SiteSpec(pages=2, host="www.made-up.example", prefix="www.made-up.example/")
    page = generate_site(spec).pages[0]
    assert page.path.startswith("www.made-up.example/stories/")
    assert page.url
    assert f'<link rel="canonical" href="{page.url}">' in page.html
    bare = generate_site(spec.but(urls=False, canonical=False)).pages[0]
    assert bare.url is None
    assert "canonical" not in bare.html
    assert bare.blocks == page.blocks
    assert len(generate_site(spec.but(length=3)).pages[0].gold) > 2 * len(page.gold)


@pytest.mark.parametrize("place", ["first", "last", "none"])
def test_the_cookie_bar_stands_where_it_is_told(place: str) -> None:
    page = generate_site(SiteSpec(pages=1, cookie_bar=place)).pages[0]
    places = [number for number, b in enumerate(page.blocks) if b.role == "cookie-bar"]
    assert places == {"first": [0], "last": [len(page.blocks) - 3], "none": []}[place]


def test_promo_disclaimer_and_newsletter_can_be_left_out() -> None:
    spec = SiteSpec(kinds=("news", "forum", "product", "listing", "docs"), pages=5)
    counts = roles(spec)
    assert counts["in-article-promo"] == counts["disclaimer"] == 5
    off = roles(spec.but(in_article_promo=False, disclaimer=False, newsletter=False))
    assert not off.keys() & {"in-article-promo", "disclaimer", "newsletter"}


def test_the_first_kind_gives_the_markup_and_layouts_are_the_kinds() -> None:
    site = generate_site(SiteSpec(kinds=("tables", "forum", "forum"), pages=6))
    assert [page.layout for page in site.pages] == ["tables", "forum", "forum"] * 2
    assert all("<table" in page.html and "<div" not in page.html for page in site.pages)


def test_random_class_names_differ_from_page_to_page() -> None:
    first, second = (
        set(re.findall(r"css-\w+", page.html)) for page in generate_site(SiteSpec(kinds=("soup",), pages=2)).pages
    )
    assert first
    assert not first & second


@pytest.mark.parametrize(
    "wrong",
    [{"kinds": ("shop",)}, {"script": "klingon"}, {"months": ("May",)}, {"pages": 0}, {"optional_share": 2}],
)
def test_unknown_knob_values_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        SiteSpec().but(**wrong)


def test_gold_gets_full_marks_and_the_whole_page_leaks_everything() -> None:
    site = generate_site(SiteSpec(kinds=("news", "docs", "product"), pages=6, seed=2))
    best = score_blocks(site, {page.path: page.gold for page in site.pages})
    assert best["content"]["recall"] == best["content"]["static"]["recall"] == 1
    assert {kind: side["leaked"] for kind, side in best["leaked"].items()} == {
        "dynamic": 0,
        "promo": 0,
        "template": 0,
    }
    assert best["unknown"] == 0
    assert best["worst"] == []
    whole = score_blocks(site, {page.path: " ".join(b.text for b in page.blocks) for page in site.pages})
    assert whole["content"]["recall"] == 1
    assert all(side["share"] == 1 for side in whole["leaked"].values())
    nothing = score_blocks(site, {})
    assert nothing["content"]["recall"] == 0


def test_a_cut_block_counts_for_its_share_and_a_moved_one_whole() -> None:
    page = generate_site(SiteSpec(pages=1, seed=2)).pages[0]
    number, block = next((n, b) for n, b in enumerate(page.blocks) if b.role == "paragraph")
    half = " ".join(block.text.split()[: len(block.text.split()) // 2])
    shares, unknown = kept_shares(page, page.gold.replace(block.text, half))
    assert 0.3 < shares[number] < 0.6
    shares, unknown = kept_shares(page, page.gold.replace(block.text, "") + "\n\n" + block.text)
    assert shares[number] == 1
    shares, unknown = kept_shares(page, page.gold + "\n\nnever heard of this")
    assert unknown == 4


def test_a_leaked_promo_is_seen_and_a_title_kept_once_is_no_leaked_breadcrumb() -> None:
    site = generate_site(SiteSpec(pages=3, seed=2))
    promo = next(b.text for b in site.pages[0].blocks if b.role == "disclaimer")
    score = score_blocks(site, {page.path: page.gold + "\n\n" + promo for page in site.pages})
    assert score["roles"]["promo/disclaimer"]["share"] == 1
    assert score["leaked"]["dynamic"]["leaked"] == 0
    assert {row[2] for row in score["worst"]} == {"disclaimer"}


def test_written_files_lie_where_score_py_looks(tmp_path: Path) -> None:
    site = generate_site(SiteSpec(pages=2))
    write_site(site, tmp_path / "crawl", tmp_path / "gold", sidecars=True)
    for page in site.pages:
        assert (tmp_path / "crawl" / page.path).read_text(encoding="utf-8") == page.html
        gold = tmp_path / "gold" / (page.path.removesuffix(".html") + ".gold.txt")
        assert gold.read_text(encoding="utf-8") == page.gold + "\n"
        assert (tmp_path / "crawl" / (page.path + ".meta.json")).exists()


def test_pages_come_one_at_a_time_and_are_those_of_the_site() -> None:
    spec = SiteSpec(pages=5, seed=4)
    assert tuple(generate_pages(spec)) == generate_site(spec).pages


def test_lead_and_refrain_knobs() -> None:
    spec = SiteSpec(pages=30, seed=4)
    for shared in (False, True):
        site = generate_site(spec.but(lead_as_teaser=shared, shared_refrain=shared))
        leads = {b.text for page in site.pages for b in page.blocks if b.role == "lead"}
        teasers = {b.text for page in site.pages for b in page.blocks if b.role == "related-teaser"}
        assert bool(leads & teasers) == shared
        refrains = [{b.text for b in page.blocks if b.role == "refrain"} for page in site.pages]
        assert all(len(refrain) <= 1 for refrain in refrains)
        assert (len(set.union(*refrains)) == 1) == shared


def test_the_demonstration_crawl_is_what_its_script_writes() -> None:
    pages = list(demo_pages())
    assert len(pages) == 17
    for path, html, gold in pages:
        assert (REPO / f"corpora/demo/{path}.html").read_text(encoding="utf-8") == html
        assert (REPO / f"corpora/demo-gold/{path}.gold.txt").read_text(encoding="utf-8") == gold
        position = 0
        runs = visible_runs(html)
        for line in gold.strip().split("\n\n"):  # the gold is a subsequence of what is seen
            position = runs.index(line, position) + 1
    assert len(list((REPO / "corpora/demo").rglob("*.html"))) == 17
    assert len({path.split("/")[0] for path, _, _ in pages}) == 2
