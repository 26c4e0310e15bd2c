from __future__ import annotations

import pytest

import templatediff as td
from corpora.generator import SiteSpec, generate_site
from templatediff.compare import compare, compare_all, matched

PROSE = (
    "The lock keeper counts the herons every morning, and writes number {0} into his book, as he has done for years."
)
PAGE = "<div class=top><nav>Menu of the site</nav></div><div id=main><h1>Story {0}</h1><p class=when>{1}</p><p>{2}</p></div>{3}"


def template(
    last: str = "<footer>All rights kept</footer>", when: str = "{0} May 2024", page: str = PAGE
) -> td.Template:
    html = [page.format(n, when.format(10 + n), PROSE.format(n), last) for n in range(6)]
    return td.learn(html, site="example.org")


def test_nothing_changes_between_equal_templates() -> None:
    (layout,) = compare(template(), template()).layouts
    assert not layout.changed and layout.likeness == 1.0


def test_leaves_that_came_and_went() -> None:
    (layout,) = compare(template(), template("<footer>Nothing reserved</footer>")).layouts
    assert [leaf.text for leaf in layout.came] == ["Nothing reserved"]
    assert [leaf.text for leaf in layout.went] == ["All rights kept"]
    assert not layout.moved


def test_a_leaf_that_moved() -> None:
    moved = PAGE.replace("<nav>Menu of the site</nav>", "").replace(
        "{3}", "{3}<div class=end><nav>Menu of the site</nav></div>"
    )
    (layout,) = compare(template(), template(page=moved)).layouts
    assert [old.text for old, _ in layout.moved] == ["Menu of the site"]
    assert not layout.came and not layout.went


def test_a_leaf_does_not_move_because_another_came_before_it() -> None:
    more = PAGE.replace("<div class=top>", "<div class=top><nav>A new menu</nav>")
    (layout,) = compare(template(), template(page=more)).layouts
    assert [leaf.text for leaf in layout.came] == ["A new menu"] and not layout.moved


def test_a_slot_that_changed_its_type() -> None:
    (layout,) = compare(template(), template(when="{0},50 €")).layouts
    assert [(old.type, new.type) for old, new in layout.slots_changed] == [("date", "price")]


def test_layouts_are_told_apart_and_followed_whatever_their_numbers() -> None:
    spec = SiteSpec(kinds=("news", "news", "forum"), pages=18, seed=5, style="semantic")
    site = generate_site(spec)
    kinds = {kind: [td.Page(p.html, url=p.url) for p in site.pages if p.kind == kind] for kind in ("news", "forum")}
    news, forum = kinds["news"], kinds["forum"]
    before, after = td.learn([*news, *forum], site="a"), td.learn([*news[:4], *forum], site="a")
    assert [layout.pages for layout in before.layouts] == [12, 6] and [layout.pages for layout in after.layouts] == [
        6,
        4,
    ]
    assert [pair[:2] for pair in sorted(matched(before.layouts, after.layouts))] == [(0, 1), (1, 0)]
    alone = td.learn(news, site="a")
    assert [(c.old is None, c.new is None) for c in compare(alone, before).layouts] == [(False, False), (True, False)]
    assert [(c.old is None, c.new is None) for c in compare(before, alone).layouts] == [(False, False), (False, True)]


def test_a_redesign_is_a_layout_that_went_and_one_that_came() -> None:
    spec = SiteSpec(kinds=("news",), pages=16, seed=9, months=("2023-01", "2024-05"), redesign="2024-05")
    pages = [td.Page(page.html, url=page.url) for page in generate_site(spec).pages]
    change = compare(td.learn(pages[:8], site="a"), td.learn(pages[8:], site="a"))
    assert [(layout.old is None, layout.new is None) for layout in change.layouts] == [(True, False), (False, True)]


@pytest.mark.parametrize(("old", "new", "status"), [(True, False, "disappeared"), (False, True, "appeared")])
def test_sites_that_one_side_has_alone(old: bool, new: bool, status: str) -> None:
    made = {"example.org": template()}
    (change,) = compare_all(made if old else {}, made if new else {})
    assert change.status == status and len(change.layouts) == 1
    assert (change.layouts[0].to_dict()["old"] is not None) is old
