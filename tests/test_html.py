from __future__ import annotations

import pytest

import templatediff as td
from templatediff.errors import PageError
from templatediff.html import parse, read_head, tag_ids
from templatediff.limits import DEFAULT


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("<div>" * 300 + "x", id="300 deep"),
        pytest.param("<div>" * 3000 + "x" + "</div>" * 3000, id="3,000 deep"),
        pytest.param("<svg>" + "<path d='M0 0'/>" * 20_000 + "</svg>x", id="a drawing of many elements"),
        pytest.param("<table>" + "<tr><td>x" * 20_000, id="20,000 rows without end tags"),
        pytest.param("<ul>" + "<li>x" * 20_000, id="20,000 entries without end tags"),
        pytest.param("<p>x" * 20_000, id="20,000 paragraphs without end tags"),
        pytest.param("<br>" * 50_000, id="50,000 line breaks"),
        pytest.param("<script>" + "document.write('<div>');" * 20_000 + "</script>x", id="tags inside a script"),
        pytest.param("<div data-x='" + "a b " * 20_000 + "'>x", id="a long attribute"),
        pytest.param("x < y " * 20_000, id="less-than signs"),
        pytest.param("<textarea>" + "<div>" * 20_000 + "</textarea>x", id="tags that are text"),
        pytest.param("<p title='" + "<div>" * 20_000 + "'>x", id="tags in an attribute"),
        pytest.param("<!-- > -->" + "<!--" + "<div>" * 20_000 + "-->x", id="tags in a comment"),
        pytest.param("<script>" + "a<b; " + "1, 2, " * 20_000 + "</script>x", id="numbers in a script after a <"),
        pytest.param("<p>" + "words and words " * 20_000 + "x", id="a long text"),
        pytest.param("<p data-x='" + "a>b " * 20_000 + "'>x", id="a long attribute with >"),
    ],
)
def test_large_but_harmless_pages_are_parsed(text: str) -> None:
    assert parse(text).body is not None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param("<div>" * 50_000, "too-deep", id="50,000 divs"),
        pytest.param("<div>" * 50_000 + "</div>" * 50_000, "too-deep", id="50,000 divs closed"),
        pytest.param("<ul><li>" * 30_000, "too-deep", id="30,000 nested lists"),
        pytest.param("<b i>" * 20_000 + "<i i>" * 20_000, "too-deep", id="formatting bomb"),
        pytest.param("<b><i>" * 9000 + "</b></i>" * 9000, "too-deep", id="crossed ends"),
        # what hid the depth once: each makes the parser nest 50,000 elements
        pytest.param("<p title='<!--'>" + "<div>" * 50_000, "too-deep", id="a comment in an attribute"),
        pytest.param("<p title='<script>'>" + "<div>" * 50_000, "too-deep", id="a script in an attribute"),
        pytest.param("<div></x>" * 50_000, "too-deep", id="ends of nothing"),
        pytest.param("<div a='</'>" * 50_000, "too-deep", id="ends in attributes"),
        pytest.param("<!-->" + "<div>" * 50_000, "too-deep", id="a comment that ends at once"),
        pytest.param("<!-- --!>" + "<div>" * 50_000, "too-deep", id="a comment that ends in --!>"),
        pytest.param("<! <a b='>" + "<div>" * 50_000, "too-deep", id="a comment without dashes"),
        pytest.param("<textarea><a b='</textarea>" + "<div>" * 50_000, "too-deep", id="a quote in a text"),
        pytest.param("<svg><style>" + "<g>" * 50_000, "too-deep", id="a style in a drawing"),
        pytest.param("<svg><![CDATA[><a b=']]>" + "<div>" * 50_000, "too-deep", id="a section in a drawing"),
        pytest.param("<div " + "a=b " * (20 * DEFAULT.max_attributes) + ">", "too-large", id="attributes"),
    ],
)
def test_pages_that_would_cost_the_square_are_refused_with_their_kind(text: str, kind: str) -> None:
    with pytest.raises(PageError) as caught:
        parse(text)
    assert caught.value.kind == kind


def test_the_head() -> None:
    head = read_head(
        parse(
            "<html lang=de dir=ltr><head><noscript><img src=t.gif></noscript><title> A \n B </title><title>no</title>"
            "<link rel='stylesheet canonical' href=' https://x.org/a '><meta property=og:url content=/b><base href=/c/>"
        )
    )
    assert (head.title, head.lang, head.direction) == ("A B", "de", "ltr")
    assert (head.canonical, head.og_url, head.base) == ("https://x.org/a", "/b", "/c/")


def test_a_frameset_has_no_body() -> None:
    assert parse("<frameset><frame src=a></frameset>").body is None


def test_unknown_elements_have_no_number() -> None:
    assert tag_ids(frozenset({"x-card"})) == frozenset() and len(tag_ids(frozenset({"p", "td"}))) == 2


def test_no_option_is_looked_for_in_a_long_choice() -> None:
    """The parser's time is quadratic in the options of a `select` that is not `multiple`."""
    story = "<h1>Otters</h1><p>Otters close their ears and nostrils under water, and they open them again on land.</p>"
    few, many = (
        f"{story}<sElect class=long>{'<Option value=1>One</option>' * count}</select><select><option>a</select><p>More."
        for count in (400, 600)
    )
    assert len(parse(few).parser.css("select:not([multiple])")) == 2
    assert len(parse(many).parser.css("select")) == 2
    assert not parse(many).parser.css("select:not([multiple])")
    assert parse(many).parser.css_first("select").attributes["class"] == "long"
    parts = ("markdown", "html", "leaves")
    assert td.extract(many, parts=parts).to_dict(parts) == td.extract(few, parts=parts).to_dict(parts)
