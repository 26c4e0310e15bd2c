from __future__ import annotations

import random
from collections.abc import Callable

import html_to_markdown
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from templatediff import render
from templatediff.leaves import Leaves
from templatediff.options import Options
from templatediff.segment import segment
from templatediff.text import tokens

COMMONMARK = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def leaves_of(page: str, kept: Callable[[str], bool] = lambda text: True) -> tuple[Leaves, list[bool]]:
    leaves = segment(page, rich=True)
    return leaves, [kept(text) for text in leaves.text]


def text(page: str, **options: object) -> str:
    return render.text(*leaves_of(page, **options))  # type: ignore[arg-type]


def html(page: str, url: str | None = None, **options: object) -> str:
    """The HTML without its wrapping element."""
    written = render.html(*leaves_of(page, **options), url=url)  # type: ignore[arg-type]
    return written.removeprefix("<div>").removesuffix("</div>")


def markdown(page: str, url: str | None = None, **options: object) -> str:
    return render.markdown(*leaves_of(page, **options), url=url)  # type: ignore[arg-type]


def without(*dropped: str) -> Callable[[str], bool]:
    return lambda text: text not in dropped


# Text


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        pytest.param("<p>one <b>two</b>three</p><p>four</p>", "one twothree\n\nfour", id="paragraphs"),
        pytest.param("<div>one<br>two<br><br>three</div>", "one\ntwo\n\nthree", id="line ends"),
        pytest.param("<p>one</p><br>two", "one\n\ntwo", id="line end between blocks"),
        pytest.param("<pre>\ndef f():\n\n\n    return 1\n</pre><p>x", "def f():\n\n\n    return 1\n\nx", id="code"),
        pytest.param("<p>x</p><ul><li>a<li>b</ul><p>y</p>", "x\n\na\nb\n\ny", id="list"),
        pytest.param("<ol><li>a<ul><li>b<li>c</ul><li>d</ol>", "a\nb\nc\nd", id="nested list"),
        pytest.param("<ul><li><p>a</p><p>b</p></li><li>c</li><li>d</li></ul>", "a\n\nb\n\nc\nd", id="loose item"),
        pytest.param("<ul><li>a</ul><ul><li>b</ul>", "a\n\nb", id="two lists"),
        pytest.param("<dl><dt>a<dd>b<dd>c<dt>d<dd>e</dl>", "a\nb\nc\n\nd\ne", id="definitions"),
        pytest.param(
            "<table><caption>t</caption><tr><th></th><th>A<th>B</tr><tr><td>x<td><td>1<br>2</tr></table>",
            "t\n\n\tA\tB\nx\t\t1 2",
            id="data table",
        ),
        pytest.param(
            "<table><tr><td>a<td>b</tr></table><table><tr><td>c<td>d</tr></table>",
            "a\tb\n\nc\td",
            id="two tables",
        ),
        pytest.param(
            "<table><tr><td><section>a</section>b</td><td>c</td></tr></table>",
            "a\n\nb\n\nc",
            id="layout table",
        ),
        pytest.param("", "", id="nothing"),
    ],
)
def test_text_separates_by_what_stands_between(page: str, expected: str) -> None:
    assert text(page) == expected
    plain = segment(page)
    assert render.text(plain, [True] * len(plain)) == expected, "inline markup is not needed"


def test_lines_of_different_blocks_are_not_joined_when_what_parted_them_is_dropped() -> None:
    assert text("<div>a<br>b<br>c</div>", kept=without("b")) == "a\nc"
    assert text("<div>a<br>b<br><br>c<br>d</div>", kept=without("b", "c")) == "a\n\nd"


def test_nothing_kept_gives_empty_results() -> None:
    leaves = segment("<p>a</p><img src=x.png><table><tr><td>1<td>2</table>", rich=True)
    for render_one in (render.text, render.html, render.markdown):
        assert render_one(leaves, [False] * len(leaves)) == ""


# HTML


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        pytest.param("<h1>A <em>b</em></h1><div><div>text</div></div>", "<h1>A <em>b</em></h1><p>text</p>", id="div"),
        pytest.param("<h2><div>A</div><p>B</p></h2>", "<h2>A B</h2>", id="blocks in a heading"),
        pytest.param("<h2><p>" + "A" * 301 + "<p>b</h2>", "<p>" + "A" * 301 + "</p><p>b</p>", id="no heading"),
        pytest.param("<h2>A<ul><li>b</li></ul></h2>", "<h2>A</h2><ul><li>b</li></ul>", id="list in a heading"),
        pytest.param("<p>a<br>b<br><br>c</p>", "<p>a<br>b</p><p>c</p>", id="line ends"),
        pytest.param(
            "<ul><li>a<ol start=3><li>b</ol><li><p>c</p><p>d</p></ul>",
            '<ul><li>a<ol start="3"><li>b</li></ol></li><li><p>c</p><p>d</p></li></ul>',
            id="nested lists",
        ),
        pytest.param("<ul>a<div><li>b</li></div></ul>", "<ul><li>a</li><li>b</li></ul>", id="text beside items"),
        pytest.param("<div><li>b</li></div>", "<p>b</p>", id="item without a list"),
        pytest.param("<dl><div><dt>a</dt><dd>b</dd></div></dl>", "<dl><dt>a</dt><dd>b</dd></dl>", id="definition list"),
        pytest.param("<blockquote>a<p>b</p></blockquote>", "<blockquote><p>a</p><p>b</p></blockquote>", id="quotation"),
        pytest.param(
            "<pre class=x><code>if <b>a</b>:\n\n    b &lt; c</code></pre>",
            "<pre><code>if a:\n\n    b &lt; c</code></pre>",
            id="code keeps indentation",
        ),
        pytest.param(
            '<figure><a href="/b"><img src="/a.png" alt="An a"></a><figcaption>c</figcaption></figure>',
            '<figure><img src="/a.png" alt="An a"><figcaption>c</figcaption></figure>',
            id="figure",
        ),
        pytest.param(
            '<p><img src="a.png" alt=""> text <img src="b.png" alt="b">more</p>',
            '<p><img src="a.png" alt=""> text <img src="b.png" alt="b"> more</p>',
            id="images in text",
        ),
        pytest.param(
            '<a href="/x"><h3>T</h3><p>s</p></a>',
            '<h3><a href="/x">T</a></h3><p><a href="/x">s</a></p>',
            id="link around blocks",
        ),
        pytest.param("a<b> c <i></i></b>d <b><strong>e</strong></b>", "<p>a <b>c</b> d <b>e</b></p>", id="inline"),
        pytest.param(
            "<details><summary>s</summary>t</details>",
            "<details><summary>s</summary><p>t</p></details>",
            id="details",
        ),
        pytest.param('<div dir="rtl" lang="he">a</div>', '<div dir="rtl" lang="he"><p>a</p></div>', id="direction"),
    ],
)
def test_html_is_rebuilt(page: str, expected: str) -> None:
    assert html(page) == expected


def test_table_keeps_its_cells() -> None:
    page = """<table><caption>C</caption><thead><tr><th colspan=2>T</th></tr></thead>
        <tr><th></th><td>v</td></tr><tr><td rowspan=2>k</td><td>w</td></tr><tr><td>x</td></tr></table>"""
    assert html(page) == (
        '<table><caption>C</caption><thead><tr><th colspan="2">T</th></tr></thead>'
        '<tbody><tr><th></th><td>v</td></tr><tr><td rowspan="2">k</td><td>w</td></tr><tr><td>x</td></tr>'
        "</tbody></table>"
    )
    assert html(page, kept=without("x", "T")) == (
        "<table><caption>C</caption>"
        '<tbody><tr><th></th><td>v</td></tr><tr><td rowspan="1">k</td><td>w</td></tr></tbody></table>'
    )


def test_layout_tables_are_unwrapped() -> None:
    page = "<table><tr><td>a</td></tr><tr><td>b</td></tr></table>"
    assert html(page) == "<p>a</p><p>b</p>"
    page = "<table><tr><td><form><h2>a</h2></form></td><td>b</td></tr></table>"
    assert html(page) == "<h2>a</h2><p>b</p>"
    assert markdown(page) == "## a\n\nb"


@pytest.mark.parametrize("span", ["9007199254740991", "-1", "0", "two", "1e3", "1001", "", " ", "²"])
def test_spans_that_say_nothing_are_ignored(span: str) -> None:
    page = (
        f"<table><tr><td colspan='{span}'>a</td><td rowspan='{span}'>b</td></tr><tr><td>c</td><td>d</td></tr></table>"
    )
    expected = "<table><tbody><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></tbody></table>"
    assert html(page) == expected
    assert markdown(page) == "| a | b |\n| --- | --- |\n| c | d |"


def test_language_and_direction_are_kept_on_the_wrapping_element() -> None:
    page = "<html lang='ar' dir='RTL'><body><p>مرحبا</p>"
    assert render.html(*leaves_of(page)) == '<div lang="ar" dir="rtl"><p>مرحبا</p></div>'
    page = "<html lang='\"><script>' dir='x'><body><p>a</p>"
    assert render.html(*leaves_of(page)) == "<div><p>a</p></div>"


@pytest.mark.parametrize(
    ("base", "url", "expected"),
    [
        ("", "https://a.example/x/y.html", "https://a.example/x/b.html"),
        ("", None, "b.html"),
        ("/z/", "https://a.example/x/y.html", "https://a.example/z/b.html"),
        ("https://c.example/", None, "https://c.example/b.html"),
        ("http://[", "https://a.example/x/", "https://a.example/x/b.html"),
    ],
)
def test_links_and_images_are_absolute_where_an_address_is_known(base: str, url: str | None, expected: str) -> None:
    head = f'<head><base href="{base}"></head>' if base else ""
    page = f'<html>{head}<body><p>a <a href=" b.html">c</a> <img src="b.html" alt="d"></p>'
    assert html(page, url=url) == f'<p>a <a href="{expected}">c</a> <img src="{expected}" alt="d"></p>'
    assert markdown(page, url=url) == f"a [c]({expected}) ![d]({expected})"


@pytest.mark.parametrize(
    ("page", "images"),
    [
        pytest.param("<section><img src=1><p>yes</p></section>", 1, id="beside kept text"),
        pytest.param("<header><img src=1><p>no</p></header><p>yes</p>", 0, id="beside dropped text"),
        pytest.param("<header><img src=1></header><p>no</p><p>yes</p>", 0, id="alone, nearest text dropped"),
        pytest.param("<div><p>yes</p><div><img src=1></div><p>no</p></div>", 1, id="one side kept"),
        pytest.param("<figure><img src=1><figcaption>no</figcaption></figure><p>yes</p>", 0, id="caption dropped"),
        pytest.param("<p>yes <img src=1></p><p>no <img src=1></p>", 1, id="in text"),
        pytest.param("<img src=1>", 0, id="no text at all"),
        pytest.param('<p>yes</p><img src="data:image/gif;base64,AAAA"><img alt=x>', 0, id="no source"),
    ],
)
def test_images_go_with_the_text_beside_them(page: str, images: int) -> None:
    kept = lambda text: not text.startswith("no")  # noqa: E731
    assert html(page, kept=kept).count("<img") == images
    assert markdown(page, kept=kept).count("![") == images


EVIL = [
    "<script>alert(1)</script><p>a</p>",
    "<p onclick=alert(1)>a <a href='javascript:alert(1)'>b</a></p>",
    "<p>a <a href=' java\nscript:alert(1)'>b</a> <a href='&#1;javascript:alert(1)'>c</a></p>",
    "<p>a <a href='JaVaScRiPt&colon;alert(1)'>b</a> <a href='vbscript:x'>c</a> <a href='data:text/html,x'>d</a></p>",
    "<p>a <img src='javascript:alert(1)' onerror=alert(1) alt='\"><script>alert(1)</script>'></p>",
    "<p>a &lt;script&gt;alert(1)&lt;/script&gt; <a href='\"onmouseover=alert(1) x=\"'>b</a></p>",
    "<svg><script>alert(1)</script></svg><math><mtext><style><img src=x onerror=alert(1)></style></math><p>a</p>",
    "<p style='background:url(javascript:x)'>a <b style=x onfocus=y>b</b></p><style>p{}</style>",
    "<table><tr><td onclick=x>a<td colspan='2\" onclick=\"x'>b</table>",
    "<div lang='x\" onclick=\"y' dir='\"><script>'>a</div>",
    "<p>b</p><noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<form action='javascript:x'><button formaction='javascript:x'>a</button></form>",
    "<p>a</p><iframe srcdoc='<script>'></iframe>",
    "<base href='javascript:alert(1)//'><p>a <a href='x'>b</a></p>",
    "<pre><code>&lt;img src=x onerror=alert(1)&gt;</code></pre><xmp><script>alert(1)</script></xmp>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'><p>a<meta http-equiv=refresh content=0></p>",
    "<p>a <a href='jav&#x09;ascript:alert(1)'>b</a> <a href='java&NewLine;script&colon;alert(1)'>c</a></p>",
    "<p>a <a href='\x01\x1fjavascript:alert(1)'>b</a> <a href='&#106avascript&#0000058alert(1)'>c</a></p>",
    "<p>a <a href='\u2028javascript:alert(1)'>b</a> <a href='feed:javascript:x'>c</a> <a href=blob:x>d</a></p>",
    "<p>a <a href='data:image/svg+xml,<svg onload=x>'>b</a> <img src='data:image/svg+xml,<svg onload=x>' alt=x></p>",
    "<svg><a xlink:href='javascript:x'><text>a</text></a><animate attributeName=href values=javascript:x></svg><p>b",
    "<math href='javascript:x'><mi xlink:href='javascript:x'>a</mi><maction actiontype=statusline>b</maction></math>",
    "<p>a<details open ontoggle=x><summary>b</summary>c</details><video src=x onerror=y></video><body onload=z>",
    "<p>a<object data=javascript:x></object><embed src=javascript:x><link rel=stylesheet href=x.css><isindex>",
    "<p>a<template><script>x</script></template><div><template shadowrootmode=open><img src=x onerror=y></template>",
    "<noscript><style></noscript><img src=x onerror=alert(1)></style><p>a",
    "<math><annotation-xml encoding=text/html><p>a<style></math><img src=x onerror=y></style>",
    "<p>a <img srcset='javascript:x 2x' lowsrc=javascript:x dynsrc=javascript:x src=a.png alt=b longdesc=javascript:x>",
    "<p>a <a href=x ping=javascript:x target=_top download rel=opener>b</a> <q cite='javascript:x'>c</q>",
    "<blockquote cite='javascript:x'>a</blockquote><del cite='javascript:x'>b</del><table background=javascript:x><td>c",
]


def assert_safe(written: str) -> None:
    tree = LexborHTMLParser(f"<!doctype html><body>{written}")
    assert tree.body is not None
    for node in tree.body.traverse():
        assert node.tag not in ("script", "style", "iframe", "object", "embed", "form", "svg", "math", "base")
        for name, value in node.attributes.items():
            assert not name.startswith("on") and name not in ("style", "srcdoc", "formaction")
            squeezed = "".join((value or "").split()).lower()
            assert not squeezed.startswith(("javascript:", "vbscript:", "data:", "\x01"))


@pytest.mark.parametrize("page", EVIL)
def test_html_is_safe_to_open(page: str) -> None:
    for url in (None, "https://a.example/"):
        leaves, kept = leaves_of(page)
        assert_safe(render.html(leaves, kept, url=url))
        assert_safe(COMMONMARK.render(render.markdown(leaves, kept, url=url)))


def test_controls_go_before_anything_is_judged_by_what_is_left() -> None:
    page = "<p>a <a href='java\x01script:alert(1)'>b</a></p><p>\x01# c \x1b[1md</p><img src='\x02x.png' alt='g\x9b'>"
    assert html(page) == '<p>a <a>b</a></p><p># c [1md</p><p><img src="x.png" alt="g"></p>'
    assert markdown(page) == "a b\n\n\\# c [1md\n\n![g](x.png)"


# Markdown


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        pytest.param("<h1>A</h1><h3>1. B</h3><p>c</p>", "# A\n\n### 1. B\n\nc", id="headings"),
        pytest.param("<p>a<br>b</p>", "a  \nb", id="line end"),
        pytest.param(
            "<ol><li><blockquote>a<br><a href='http://e.example/'>b</a></blockquote><p>c</p></ol>",
            "1. > a  \n   > [b](http://e.example/)\n\n   c",
            id="line end in a list",
        ),
        pytest.param("<ul><li>a<ol><li>b<li>c</ol><li>d</ul>", "- a\n  1. b\n  2. c\n- d", id="nested lists"),
        pytest.param(
            "<pre><code>func <span>main</span>() {\n\tx := `1`\n\n\treturn\n}</code></pre>",
            "```\nfunc main() {\n\tx := `1`\n\n\treturn\n}\n```",
            id="code",
        ),
        pytest.param("<ul><li>a<pre>x\n  y</pre></ul>", "- a\n\n  ```\n  x\n    y\n  ```", id="code in a list"),
        pytest.param("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b", id="quotation"),
        pytest.param(
            "<figure><img src='http://e.example/a.png' alt='[A]'><figcaption>b <i>c</i></figcaption></figure>",
            "![\\[A\\]](http://e.example/a.png)\n\nb *c*",
            id="figure",
        ),
        pytest.param(
            "<p>A <a href='http://e.example/a_(b) c'>link [1]</a>, <b>bold</b> and <i>i</i>talic</p>",
            "A [link \\[1\\]](http://e.example/a_(b)%20c), **bold** and *i*talic",
            id="inline",
        ),
        pytest.param("<p>H<sub>2</sub>O <kbd>Ctrl</kbd><kbd>C</kbd></p>", "H2O `CtrlC`", id="no form in Markdown"),
        pytest.param(
            "<p><code>a <a href='http://e.example/'>b</a></code> <code><a href='http://e.example/'>c</a></code></p>",
            "`a b` [`c`](http://e.example/)",
            id="links in code",
        ),
        pytest.param("<p>a<b>“b”</b>c <b>“d”</b></p>", "a“b”c **“d”**", id="stars that would show"),
        pytest.param("<dl><dt>a<dd>b</dl>", "a\n\nb", id="definitions"),
        pytest.param(
            "<h2><img src='http://e.example/a.png' alt='a'> b</h2>",
            "## ![a](http://e.example/a.png) b",
            id="logo",
        ),
    ],
)
def test_markdown(page: str, expected: str) -> None:
    assert markdown(page) == expected


@pytest.mark.parametrize(
    "words",
    [
        "# no heading",
        "1. no list",
        "12) no list",
        "- no list",
        "+ no list",
        "> no quotation",
        "===",
        "---",
        "| a | b |",
        "~~~",
        "*no* **stress** _at_ __all__ snake_case_name __init__ 2*3*4 5 * 6",
        "[no](link) [x]: y ![no](image) a]",
        "`no code` <b>no tag</b> &amp; &nbsp; &#35; ~~no~~ a <",
        "C:\\*.txt \\ \\\\ a\\",
        "Wow!",
        "<!-- no comment -->",
        "https://e.example/a_b_c/_d_",
    ],
)
def test_text_that_looks_like_markdown_is_read_back_as_it_was(words: str) -> None:
    from html import escape

    page = f"<p>{escape(words)}</p><p>x {escape(words)}<a href='http://e.example/'>y</a></p><p>b<br>{escape(words)}</p>"
    page += f"<ul><li>{escape(words)}</ul><table><tr><td>{escape(words)}<td><b>{escape(words)}</b></table>"
    leaves, kept = leaves_of(page)
    read_back = segment(COMMONMARK.render(render.markdown(leaves, kept)), rich=True)
    assert read_back.text == leaves.text
    assert [link[1] for link in read_back.links] == ["http://e.example/"]


def test_nothing_is_escaped_without_need() -> None:
    words = "A snake_case (b) [1] 3.5 - x #1 a|b C# 50% x > y, A. Smith & Sons! ~5"
    assert markdown(f"<p>{words}</p>") == words


def test_what_stands_in_cells_becomes_lines_of_the_cell() -> None:
    page = """<table><tr><th colspan=2>Shop</th></tr>
        <tr><th>Hours</th><td><ul><li>Mo 9-5</li><li>Tu 9-6</li></ul></td></tr>
        <tr><th>Where</th><td><p>Here</p><p>There|where</p></td></tr>
        <tr><td>a<br>b</td><td><pre>x\n  y</pre></td></tr></table>"""
    assert markdown(page) == (
        "| Shop |  |\n| --- | --- |\n| Hours | Mo 9-5<br>Tu 9-6 |\n| Where | Here<br>There\\|where |\n"
        "| a<br>b | `x`<br>`  y` |"
    )
    assert tokens(text(page)) == tokens("Shop Hours Mo 9 5 Tu 9 6 Where Here There where a b x y")


def test_cells_keep_their_columns_under_spans() -> None:
    page = """<table><tr><th rowspan=2>a</th><th colspan=2>b</th></tr><tr><td>c</td><td>d</td></tr>
        <tr><td></td><td>e</td><td>f</td></tr></table>"""
    assert [line.replace(" ", "") for line in markdown(page).split("\n")] == [
        "|a|b||", "|---|---|---|", "||c|d|", "||e|f|",
    ]  # fmt: skip


def test_rows_longer_than_the_first_are_shown_whole() -> None:
    page = "<table><tr><td>a</td></tr><tr><td>b</td><td>c</td><td>d</td></tr></table>"
    leaves, kept = leaves_of(page)
    assert segment(COMMONMARK.render(render.markdown(leaves, kept))).text == ["a", "b", "c", "d"]


def test_a_very_uneven_table_does_not_swell() -> None:
    page = "<table><tr>" + "<td>a</td>" * 3000 + "</tr>" + "<tr><td>b</td></tr>" * 3000 + "</table>"
    assert len(markdown(page)) < 100_000
    page = "<table>" + "<tr><td rowspan=1000 colspan=1000>a</td><td>b</td></tr>" * 3000 + "</table>"
    assert len(markdown(page)) < 1_000_000


@pytest.mark.parametrize("fault", [RuntimeError("failed"), type("PanicException", (BaseException,), {})("panic")])
def test_markdown_falls_back_to_escaped_text(monkeypatch: pytest.MonkeyPatch, fault: BaseException) -> None:
    def fail(*arguments: object) -> None:
        raise fault

    monkeypatch.setattr(html_to_markdown, "convert", fail)
    assert markdown("<p>a *b*</p><p># c</p>") == "a \\*b\\*\n\n\\# c"


def test_page_characters_that_mark_escapes_here_do_no_harm() -> None:
    page = "<p>a\ufdd0b \ufdef<i>\ufdd1c</i> <code>\ufdd2</code></p><pre>\ufdd3</pre>"
    assert markdown(page) == "a\ufffdb \ufffd*\ufffdc* `\ufffd`\n\n```\n\ufffd\n```"


# Both, on anything

WORDS = st.sampled_from(
    ["word", "two words", "#", "1.", "- ", "*", "_x_", "|", "a]", "[b](c)", "`", "&lt;b&gt;", "&amp;amp;", "!", "\\",
     " ", "\n", "\ufdd0", "\0", "東京", "ก", "שלום", "~~", "&#0;", "\x1b[1m", ">", "==="]
)  # fmt: skip
NAMES = [
    "div", "p", "span", "a", "b", "i", "em", "code", "u", "ul", "ol", "li", "dl", "dt", "dd", "table", "tr", "td",
    "th", "thead", "tbody", "caption", "h1", "h2", "pre", "blockquote", "figure", "figcaption", "section",
    "article", "details", "summary", "button", "center", "font", "main", "my-thing",
]  # fmt: skip
ATTRIBUTES = st.sampled_from(
    ["", "", "", " href='/x y'", " href='javascript:x'", " colspan=3", " rowspan=2", " colspan=1000", " dir=rtl",
     " onclick=x", " start=5", " hidden"]
)  # fmt: skip
PIECES = st.one_of(
    WORDS,
    st.sampled_from(["<br>", "<hr>", "<img src=a.png alt='b [c'>", "<img>", "<script>x</script>", "<!-- c -->"]),
    st.builds("<{}{}>".format, st.sampled_from(NAMES), ATTRIBUTES),
    st.builds("</{}>".format, st.sampled_from(NAMES)),
)
PAGES = st.lists(PIECES, max_size=60).map("".join)


def tokens_of(leaves: Leaves, kept: list[bool]) -> list[str]:
    return [token for words, keep in zip(leaves.text, kept, strict=True) if keep for token in tokens(words)]


@settings(max_examples=300, deadline=None)
@given(PAGES, st.randoms(use_true_random=False), st.booleans())
def test_every_kept_word_comes_out_once_and_nothing_raises(page: str, chance: random.Random, all_kept: bool) -> None:
    leaves = segment(page, rich=True)
    kept = [all_kept or chance.random() < 0.7 for _ in leaves.text]
    expected = tokens_of(leaves, kept)
    assert tokens(render.text(leaves, kept)) == expected
    written = render.html(leaves, kept, url="https://e.example/a/")
    assert_safe(written)
    again = segment(written)
    assert tokens_of(again, [True] * len(again)) == expected
    converted = COMMONMARK.render(render.markdown(leaves, kept, url="https://e.example/a/"))
    assert_safe(converted)
    again = segment(converted)
    assert tokens_of(again, [True] * len(again)) == expected


@settings(max_examples=60, deadline=None)
@given(PAGES, st.sets(st.sampled_from(["div", "p", "tr", "li", "ul", "table", "h1", "pre", "dl"]), min_size=1))
def test_nothing_is_lost_with_other_leaf_containers(page: str, tags: set[str]) -> None:
    leaves = segment(page, Options(leaf_tags=frozenset(tags)), rich=True)
    kept = [True] * len(leaves)
    expected = tokens_of(leaves, kept)
    assert tokens(render.text(leaves, kept)) == expected
    again = segment(render.html(leaves, kept))
    assert tokens_of(again, [True] * len(again)) == expected
    again = segment(COMMONMARK.render(render.markdown(leaves, kept)))
    assert tokens_of(again, [True] * len(again)) == expected


@pytest.mark.parametrize(
    "page",
    [
        pytest.param("<div>" * 3000 + "a", id="divs"),
        pytest.param("<ul><li>" * 1500 + "a" + "</li><li>b</li></ul>" * 1500, id="lists"),
        pytest.param("<blockquote>" * 3000 + "a", id="quotations"),
        pytest.param("<b>" * 300 + "<p>a</p>" * 300, id="formatting"),
        pytest.param("<p>" + "a <b>b</b> <i>c</i> " * 20_000, id="one long paragraph"),
        pytest.param("<p>a" * 20_000, id="many paragraphs"),
        pytest.param("<h2>a<ul><li>b</ul>" * 200, id="headings around lists"),
    ],
)
def test_extreme_pages_are_rendered(page: str) -> None:
    leaves, kept = leaves_of(page)
    expected = tokens_of(leaves, kept)
    assert tokens(render.text(leaves, kept)) == expected
    again = segment(render.html(leaves, kept))
    assert tokens_of(again, [True] * len(again)) == expected
    written = tokens(render.markdown(leaves, kept))
    assert [word for word in written if not word.isdigit()] == expected
