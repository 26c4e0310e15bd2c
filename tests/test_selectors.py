from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from corpora.generator import SiteSpec, generate_site
from templatediff.fingerprint import fingerprint
from templatediff.options import Options
from templatediff.remember import decode, encode
from templatediff.segment import segment
from templatediff.selectors import Selectors, names


def selectors(*pages: str) -> list[tuple[str, str]]:
    """(text, selector) of the leaves of the first page."""
    options = Options()
    prints = [
        decode(encode(fingerprint(segment(page, options), options, content_hash=n))) for n, page in enumerate(pages)
    ]
    made = Selectors(prints)
    return [(text, made.of(0, int(row))) for text, row in zip(prints[0].texts, prints[0].row, strict=True)]


def test_names_go_before_positions() -> None:
    page = (
        "<div id=top><p>a</p></div><div class='box wide'><p class=x>b</p><p>c</p></div>"
        "<div class=box><p class=x>d</p></div><div><p itemprop=author>e</p></div><div aria-label='Contact us'>f</div>"
    )
    assert dict(selectors(page, page)) == {
        "a": "div#top > p:nth-child(1)",
        "b": "div.wide p.x",
        "c": "div.wide > p:nth-child(2)",
        "d": "body > div:nth-child(3) > p:nth-child(1)",
        "e": 'p[itemprop="author"]',
        "f": 'div[aria-label="Contact us"]',
    }


def test_names_that_change_are_left_alone() -> None:
    assert names("#post-12.css-1dbjc4n.item-3.Card_root__2kAbC.card") == [".card"]
    assert names("") == [] and names("#a:b.1x.md:w-2") == []
    pages = [f"<div class='c{word}'><p>{word}</p></div>" for word in ("ab", "cd", "ef")]
    assert selectors(*pages) == [("ab", "body > div:nth-child(1) > p:nth-child(1)")]


@pytest.mark.parametrize("kind", ["semantic", "soup", "tables", "flat", "product", "forum"])
def test_a_selector_finds_its_leaf_and_nothing_else(kind: str) -> None:
    site = generate_site(SiteSpec(kinds=(kind,), pages=3, seed=21))
    html = [page.html for page in site.pages]
    tree = LexborHTMLParser(html[0])
    for text, selector in selectors(*html):
        found = tree.css(selector)
        assert len(found) == 1, selector
        assert text[:40] in " ".join(found[0].text(deep=True).split()) or kind == "flat" or text.startswith(" "), (
            selector
        )
