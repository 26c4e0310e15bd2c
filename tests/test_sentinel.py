"""The sentinel pages: their truth must be exact before anything is measured on them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from html import unescape
from pathlib import Path

import msgspec
import pytest

from benchmarks import sentinel
from corpora.sentinel import CASES, PAGES, SentinelPage, gold_line, sentinel_pages
from templatediff.judge import GoldPage, Results, evaluate, summary
from templatediff.yardstick import tokens

FOLDER = Path(__file__).parent.parent / "corpora" / "sentinel"
WORD = re.compile(r"\w+")


@cache
def pages() -> tuple[SentinelPage, ...]:
    return tuple(sentinel_pages())


def single(case: str) -> SentinelPage:
    (page,) = (page for page in pages() if page.set == "single" and page.case == case)
    return page


def gold() -> Iterator[GoldPage]:
    yield from (msgspec.json.decode(gold_line(page), type=GoldPage) for page in pages())


def body_text(page: SentinelPage) -> str:
    body = page.html.partition("<body>")[2]
    return unescape(re.sub(r"<[^<>]*>", " ", body))


def test_there_are_forty_pages_and_sites_of_six() -> None:
    counts = Counter(page.set for page in pages())
    assert counts["single"] == len(CASES) >= 40
    assert counts["multi"] == PAGES * len(CASES) and PAGES == 6


def test_the_same_pages_come_again() -> None:
    assert tuple(sentinel_pages()) == pages()


def test_nothing_here_imports_the_extractor() -> None:
    for file in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not any(name.split(".")[0] == "templatediff" for name in names), file.name


def test_tokens_stand_in_their_block_alone() -> None:
    for page in pages():
        by_name = {block.name: block for block in page.blocks}
        owners = Counter(token for block in by_name.values() for token in block.tokens)
        assert owners and max(owners.values()) == 1, page.path
        assert all(block.tokens for block in by_name.values()), page.path


def test_a_token_is_one_token_of_letters() -> None:
    for token in {token for page in pages() for block in page.blocks for token in block.tokens}:
        assert tokens(token) == [token] and token.isalpha() and len(token) >= 4


def test_the_blocks_are_all_that_a_reader_sees() -> None:
    for page in pages():
        seen = Counter(WORD.findall(body_text(page)))
        told = Counter(word for block in page.blocks for word in WORD.findall(block.text))
        assert set(seen) == set(told), page.path
        copies = page.case in ("menu-copies", "article-copies")
        assert copies or seen == told, page.path


def test_chrome_of_a_site_is_shared_and_content_is_not() -> None:
    for case in CASES:
        site = [page for page in pages() if page.set == "multi" and page.case == case]
        texts = [{block.name: block.text for block in page.blocks} for page in site]
        for name in ("menu", "footer-line", "promo", "newsletter", "paid-teaser", "appeal", "consent", "legal"):
            assert len({text.get(name) for text in texts}) == 1, (case, name)
        for name in {block.name for page in site for block in page.blocks if block.content}:
            assert len({text[name] for text in texts}) == PAGES, (case, name)


def test_lengths_and_link_densities_are_those_of_the_names() -> None:
    def text(case: str, name: str) -> str:
        return next(block.text for block in single(case).blocks if block.name == name)

    for count in (120, 250, 408, 500, 800, 1500):
        case = "one-paragraph-408" if count == 408 else f"length-{count}"
        assert len(text(case, "p1")) == count
    assert [len(text(f"appeal-{name}", "appeal")) for name in ("81", "60-stop", "59")] == [81, 60, 59]
    assert text("appeal-60-stop", "appeal").endswith(".") and text("appeal-59", "appeal")[-1].isalpha()
    for density in (143, 278):
        found = re.search(r'<p>([^<]*)<a href="/join">([^<]*)</a>\.</p>', single(f"appeal-{density}").html)
        assert found is not None
        assert len(found[2]) / (len(found[1]) + len(found[2]) + 1) == pytest.approx(density / 1000, abs=0.005)


def test_malformed_pages_have_the_blocks_of_the_well_formed_one() -> None:
    well = [(block.name, block.content) for block in single("well-formed").blocks]
    for case in sentinel.MALFORMED:
        assert [(block.name, block.content) for block in single(case).blocks] == well
    assert single("unclosed-paragraphs").html.count("</p>") < single("well-formed").html.count("</p>")
    assert "<i></b>" in single("crossed-tags").html and "</section></td>" in single("stray-ends").html


def test_the_gold_keeps_all_and_leaks_nothing_and_the_page_leaks_everything() -> None:
    results = {page.path: page.gold for page in pages()}
    best = summary(evaluate(gold(), Results(results)).pages)
    assert best.kept == best.blocks and best.leaked == best.siblings_leaked == 0 and best.f1 == 1.0
    worst = summary(evaluate(gold(), Results({page.path: body_text(page) for page in pages()})).pages)
    assert worst.leaked == worst.chrome > 1000 and worst.siblings_leaked == worst.siblings > 80


def test_the_eight_blocks_that_are_no_prose_are_there() -> None:
    found = evaluate(gold(), Results({page.path: page.gold for page in pages()}))
    assert sentinel._non_prose([page for page in found.pages if page.set == "single"]) == (8, 8)
    assert sentinel._malformed([page for page in found.pages if page.set == "multi"]) == (18, 18)


def test_a_lost_block_of_one_page_is_listed_by_case(tmp_path: Path) -> None:
    results = {page.path: page.gold for page in pages()}
    results["single/promo.html"] = body_text(single("promo"))
    results["single/terms.html"] = ""
    lines = list(sentinel.faults(evaluate(gold(), Results(results))))
    assert "- single: leaked: promo: menu, 1 pages, 100% of its tokens in the output" in lines
    assert "- single: leaked (needs siblings): promo: promo, 1 pages, 100% of its tokens in the output" in lines
    assert "- single: lost: terms: quotation, 1 pages, 0% of its tokens in the output" in lines
