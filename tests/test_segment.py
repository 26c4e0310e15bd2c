from __future__ import annotations

import pytest

from templatediff.marks import ARTICLE, CELL, CODE, FOOTER, HEADER, HIDDEN, LIST, NAV, QUOTE
from templatediff.options import Options
from templatediff.segment import segment


def leaves_of(html: str, **options: object) -> list[str]:
    return segment(html, Options(**options)).text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        pytest.param("<p>a<b>b</b>c</p>", ["abc"], id="inline tags join without a gap"),
        pytest.param("<p><b>a</b> <i>b</i></p>", ["a b"], id="white space between inline tags stays"),
        pytest.param("<p>a</p><p>b</p>", ["a", "b"], id="blocks separate"),
        pytest.param("<div>a<p>b</p>c</div>", ["a", "b", "c"], id="text around a block is leaves of the outer block"),
        pytest.param("<div>a<br>b<br><br>c</div>", ["a", "b", "c"], id="br ends a leaf"),
        pytest.param("a <p>b", ["a", "b"], id="text directly in the body"),
        pytest.param("<table><tr><td>a<td>b</table>", ["a", "b"], id="a cell is a leaf"),
        pytest.param("<a href=x><div>a</div><div>b</div></a>", ["a", "b"], id="blocks inside a link"),
        pytest.param("<x-card>a</x-card><x-card>b</x-card>", ["a", "b"], id="custom elements are blocks"),
        pytest.param("<p>a<img src=x alt=y>b", ["a b"], id="an image parts words"),
        pytest.param("<ul><li>a<ul><li>b</ul></ul>", ["a", "b"], id="nested list"),
        pytest.param("<script>a</script><style>b</style><!-- c --><p>d", ["d"], id="scripts, styles, comments"),
        pytest.param(
            "<input type=hidden value=a><textarea>b</textarea><select><option>c</select>d",
            ["d"],
            id="form values",
        ),
        pytest.param("<svg><title>a</title><text>b</text></svg><p>c", ["c"], id="vector graphics"),
        pytest.param("<template><p>a</p></template><p>b", ["b"], id="templates"),
        pytest.param("<object data=x.swf><p>a</p></object>", ["a"], id="the fallback of an object is shown"),
        pytest.param("<p>b\u00e4r &amp; \u732b &nbsp; x", ["b\u00e4r & \u732b x"], id="entities and spaces"),
        pytest.param("<p> \n </p><div></div>", [], id="nothing to read"),
        pytest.param("<frameset><frame src=a></frameset>", [], id="frameset"),
        pytest.param("", [], id="empty"),
    ],
)
def test_leaves(html: str, expected: list[str]) -> None:
    assert leaves_of(html) == expected


def test_noscript_counts_only_where_it_is_the_only_text() -> None:
    body = "<p>" + "Posts of a thread, kept for readers without scripts. " * 8
    assert leaves_of(f"<div>Loading</div><noscript><div>{body}</div></noscript>")[-1].startswith("Posts of a thread")
    assert leaves_of(f"<div>{body}</div><noscript>Please enable scripts.</noscript>") == [" ".join(body[3:].split())]


def test_code_keeps_lines_indentation_and_one_group() -> None:
    leaves = segment("<pre><code>def f():\n    return <b>1</b>\n\n\tx\n</code></pre><p>after")
    assert leaves.text == ["def f():", "    return 1", "\tx", "after"]
    assert leaves.breaks == [0, 1, 2, 0]
    assert len(set(leaves.group[:3])) == 1 and leaves.group[0] >= 0 and leaves.group[3] == -1


def test_br_continues_and_two_br_part() -> None:
    assert segment("<p>a<br>b<br><br>c").breaks == [0, 1, 0]


def test_rows_of_a_data_table_share_a_group_and_layout_tables_do_not() -> None:
    data = segment("<table><tr><th>Weight<td>3 kg<tr><th>Height<td>2 m</table>")
    assert data.group[0] == data.group[1] != data.group[2] == data.group[3]
    titled = segment("<table><tr><td><h2>a</h2>b<td>c</table>")
    assert set(titled.group) == {-1}
    layout = segment("<table><tr><td><nav>a</nav><td><h1>b</h1><p>c</table>")
    assert set(layout.group) == {-1}
    nested = segment("<table><tr><td>a<td><table><tr><td>b<td>c</table></table>")
    assert nested.group[0] == -1 and nested.group[1] == nested.group[2] >= 0


def test_links_strong_and_headings_are_counted() -> None:
    leaves = segment("<h2>Over</h2><p>see <a href=' /x '>the <b>log</b></a> and <a href=/y>more</a>")
    assert leaves.heading == [2, 0]
    assert leaves.linked == [0, 11] and leaves.strong == [0, 3]
    assert leaves.links == [(1, "/x", "the log"), (1, "/y", "more")]


def test_a_link_around_blocks_belongs_to_each() -> None:
    leaves = segment("<a href=/x><h3>Title</h3><p>Teaser</p></a><p>out")
    assert leaves.linked == [5, 6, 0]
    assert leaves.links == [(0, "/x", "Title"), (1, "/x", "Teaser")]


def test_marks_are_inherited() -> None:
    leaves = segment(
        "<header>a</header><nav><ul><li>b</ul></nav><article><header>c</header><blockquote><p>d</blockquote></article>"
        "<div role=contentinfo>e</div><div hidden>f</div><div style='display: none'>g</div><table><td>h</table><pre>i</pre>"
    )
    marks = dict(zip(leaves.text, (leaves.elements.marks[row] for row in leaves.row), strict=True))
    assert marks["a"] == HEADER and marks["b"] == NAV | LIST
    assert marks["c"] == ARTICLE, "an article's own header is not the page's"
    assert marks["d"] == ARTICLE | QUOTE and marks["e"] == FOOTER
    assert marks["f"] == marks["g"] == HIDDEN
    assert marks["h"] & CELL and marks["i"] == CODE


def test_selectors_find_the_container_again() -> None:
    from selectolax.lexbor import LexborHTMLParser

    html = (
        "<body><p>x</p><div>a<span><a href=q><div>b<p>c</div></a></span></div><table><tr><td>d</table><pre>e\nf</pre>"
    )
    leaves = segment(html)
    tree = LexborHTMLParser(html)
    for text, row in zip(leaves.text, leaves.row, strict=True):
        (node,) = tree.css(leaves.elements.selector(row))
        assert text in node.text()


def test_leaf_tags_change_the_cut() -> None:
    html = "<div>a<p>b</p></div><section>c</section>"
    assert leaves_of(html) == ["a", "b", "c"]
    assert leaves_of(html, leaf_tags=frozenset({"div", "section"})) == ["a b", "c"]


def test_rich_markup_is_balanced_per_leaf_and_text_is_the_same() -> None:
    html = "<a href=/x><p>one <b>two</b></p><p>three</p></a><p>4 &lt; 5 <em>so"
    plain, rich = segment(html), segment(html, rich=True)
    assert plain.text == rich.text
    assert rich.markup == [
        '<a href="/x">one <b>two</b></a>',
        '<a href="/x">three</a>',
        "4 &lt; 5 <em>so</em>",
    ]


def test_images_stand_before_their_leaf() -> None:
    leaves = segment("<p>a</p><figure><img src=i.png alt='A  b'><figcaption>c</figcaption></figure>", rich=True)
    assert leaves.images == [(1, '<img src="i.png" alt="A b">', leaves.images[0][2])]


@pytest.mark.parametrize("depth", [300, 3000])
def test_deep_nesting_is_cut_like_any_other(depth: int) -> None:
    assert leaves_of("<div>" * depth + "deep") == ["deep"]


def test_comments_do_not_count_as_children() -> None:
    leaves = segment("<body><!-- a --><p>one</p><!-- b --><!-- c --><div><!-- d --><p>two</p></div>")
    assert [leaves.elements.selector(row) for row in leaves.row] == [
        "body > p:nth-child(1)",
        "body > div:nth-child(2) > p:nth-child(1)",
    ]
