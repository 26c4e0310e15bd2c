from __future__ import annotations

from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

import templatediff as td
from templatediff import overall
from templatediff.fingerprint import fingerprint
from templatediff.glance import NAMES, columns, first_look
from templatediff.options import Options
from templatediff.segment import segment

DEMO = Path(__file__).parent.parent / "corpora" / "demo"
STORY = "<h1>Otters</h1>" + "<p>Otters close their ears and nostrils under water, and they open them on land.</p>" * 4


@pytest.mark.parametrize(
    "html",
    ["", "<div id=root></div><script>start()</script>", b"\x00\x01", "<p>" * 5000, "<title>Only a title</title>"],
    ids=["nothing", "shell", "bytes without text", "too deep", "title"],
)
def test_pages_without_text_and_pages_that_cannot_be_read_are_refused(html: str | bytes) -> None:
    assert td.is_probably_content(html) is False
    assert td.extract(html).verdict in ("empty", "error")


def test_pages_to_read_are_let_through() -> None:
    for page in [STORY, STORY.encode("utf-16"), td.Page(STORY), *sorted(DEMO.rglob("*.html"))]:
        assert td.is_probably_content(page) is True


def test_a_first_look_has_every_name() -> None:
    found = first_look(
        columns(segment(f"<title>Otters - Zoo</title>{STORY}<p><a href='https://zoo.example/'>Zoo</a>"), "zoo.example")
    )
    assert set(found) == set(NAMES)
    assert found["after_heading"] > 3 and found["titled"] == 1 and found["framed"] == 0 and found["way_back"] > 0


def test_the_pre_check_sees_what_the_verdict_sees() -> None:
    base = "https://zoo.example/otters"
    html = f"<title>Otters - Zoo</title><nav><a href=/>Zoo</a></nav>{STORY}<p><a href='{base[:20]}/'>Back</a><button>Yes</button>"
    for text in (html, STORY, "<p>東京へ。" * 3, *(page.read_text() for page in sorted(DEMO.rglob("*.html"))[:4])):
        leaves = segment(text)
        page = fingerprint(leaves, Options(), content_hash=0, url=base)
        assert first_look(columns(leaves, "zoo.example")) == first_look(overall.seen_columns(page))


def test_what_looks_like_a_path_is_refused() -> None:
    with pytest.raises(td.TemplateDiffError, match="looks like a path"):
        td.is_probably_content("pages/a.html")


# --- nothing the caller hands in is altered ----------------------------------------------------------------


@pytest.mark.parametrize("part", ["tree", "node"])
def test_a_parsed_tree_is_refused_and_left_alone(part: str) -> None:
    tree = LexborHTMLParser(STORY)
    before = tree.html
    given = tree if part == "tree" else tree.body
    for call in (td.extract, td.is_probably_content, lambda one: td.learn([one])):
        with pytest.raises(td.TemplateDiffError, match=r"a parsed tree .* is not taken.*give the page.s HTML"):
            call(given)  # type: ignore[operator]
    with pytest.raises(td.TemplateDiffError, match="give str"):
        td.Page(given)  # type: ignore[arg-type]
    assert tree.html == before


@pytest.mark.parametrize("html", [STORY, STORY.encode()], ids=["str", "bytes"])
def test_text_and_bytes_are_not_altered(html: str | bytes) -> None:
    copy = html[:1] + html[1:]
    page = td.Page(html, url="https://a.example/1")
    pages = [page, td.Page(STORY.replace("Otters", "Seals"), url="https://a.example/2")]
    given = list(pages)
    template = td.learn(pages)
    for made in (td.extract(html), template.extract(page)):
        assert made.markdown and made.html and made.leaves
    assert td.is_probably_content(html)
    assert html == copy and page.html is html and pages == given
    assert page == td.Page(copy, url="https://a.example/1")


def test_bytearrays_are_refused_since_they_could_change_later() -> None:
    with pytest.raises(td.TemplateDiffError, match="not bytearray"):
        td.extract(bytearray(STORY.encode()))  # type: ignore[arg-type]
