from __future__ import annotations

import json
from pathlib import Path

import templatediff as td
from corpora.generator import SiteSpec, generate_site
from templatediff.options import Options
from templatediff.store import PROFILE_FILE, TEMPLATE_FILE

PROSE = "The lock keeper counts the herons every morning before breakfast, and writes {0} into his book, as for years."


def site_of(body: str, pages: int = 6, **options: object) -> td.Template:
    html = [f"<nav>Menu of the site</nav><div id=main>{body.format(number)}</div>" for number in range(pages)]
    return td.learn(html, site="example.org", options=Options(**options))  # type: ignore[arg-type]


def test_static_leaves_and_slots_of_a_layout() -> None:
    template = site_of(
        "<h1>Story {0}</h1><p class=date>{0} May 2024</p><p class=price>{0},50 €</p><p>Read it aloud.</p>"
    )
    (layout,) = template.layouts
    assert [(leaf.text, leaf.k, leaf.n) for leaf in layout.static] == [
        ("Menu of the site", 6, 6),
        ("Read it aloud.", 6, 6),
    ]
    assert [leaf.selector for leaf in layout.static] == ["nav", "div#main > p:nth-child(4)"]
    assert [(slot.type, slot.before, slot.selector) for slot in layout.slots] == [
        ("count", "Story", "h1"),
        ("date", "", "p.date"),
        ("price", "", "p.price"),
    ]
    assert all(slot.share == 1.0 and 1 <= len(slot.examples) <= 3 for slot in layout.slots)


def test_the_static_text_is_said_once() -> None:
    shared = "<footer>4 Quay Street</footer>"
    html = [
        f"<div class=a><h1>Story {n}</h1><p>{PROSE.format(n)}</p><p>Read it aloud.</p></div>{shared}" for n in range(6)
    ]
    html += [f"<table>{''.join(f'<tr><td>{n}{m}<td>x{m * n}' for m in range(9))}</table>{shared}" for n in range(6)]
    text = td.learn(html, site="example.org").text
    assert text.startswith("# example.org\n\n") and text.endswith("\n")
    assert text.count("4 Quay Street") == 1 and text.count("Read it aloud.") == 1 and "Story" not in text


def test_static_is_what_stays_at_its_place() -> None:
    """Headlines that other pages list are on every page and belong to none of its places; a menu's words stay."""
    titles = [
        "Herons",
        "Two new locks",
        "Rope and sail",
        "Quay walls",
        "The mole at night",
        "Old boats",
        "Gulls",
        "Ice",
        "Tides",
    ]

    def page(number: int) -> str:
        others = sorted(titles, key=lambda title: (number + 1) * (titles.index(title) + 1) % 11)  # no two alike
        listed = "".join(f"<li><a href=/{title}>{title}</a>" for title in others if title != titles[number])
        early = "<p class=intro>4 Quay Street</p>" if number == 0 else ""
        return (
            f"<title>{titles[number]}</title><nav><ul><li>Start<li>Herons<li>People</ul></nav>"
            f"<h1>{titles[number]}</h1>{early}<p>{PROSE.format(number)}</p>"
            f"<ul class=more>{listed}</ul><footer>4 Quay Street</footer>"
        )

    template = td.learn([page(number) for number in range(9)], site="example.org")
    (layout,) = template.layouts
    assert [(leaf.text, leaf.selector) for leaf in layout.static] == [
        ("Start", "nav > ul:nth-child(1) > li:nth-child(1)"),
        ("Herons", "nav > ul:nth-child(1) > li:nth-child(2)"),
        ("People", "nav > ul:nth-child(1) > li:nth-child(3)"),
        ("4 Quay Street", "footer"),
    ]
    assert template.text == "# example.org\n\nStart\n\nHerons\n\nPeople\n\n4 Quay Street\n"


def test_a_slots_value_is_in_the_leaf_record() -> None:
    template = site_of("<p class=date>1{0} May 2024</p><p>" + PROSE)
    records = template.extract(
        "<nav>Menu of the site</nav><div id=main><p class=date>9 June 2025</p><p>Else.</div>"
    ).leaves
    assert [(record["slot"], record["value"]) for record in records][:2] == [
        (None, None),
        ("date", "9 June 2025"),
    ]


def test_template_json_is_sorted_indented_and_says_what_made_it(tmp_path: Path) -> None:
    template = site_of(f"<p>{PROSE}")
    template.save(tmp_path)
    text = (tmp_path / "example.org" / TEMPLATE_FILE).read_text(encoding="utf-8")
    document = json.loads(text)
    assert text == json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    assert document["format"] == 1 and document["pages"] == 6 and document["site"] == "example.org"
    assert document["templatediff"] == td.__version__ and document["weights"] == template.weights.digest
    assert document["options"] == Options().to_dict()


def test_saving_leaves_whole_files_and_no_others(tmp_path: Path) -> None:
    template = site_of(f"<p>{PROSE}")
    template.save(tmp_path)
    template.save(tmp_path)
    assert sorted(file.name for file in (tmp_path / "example.org").iterdir()) == [PROFILE_FILE, TEMPLATE_FILE]


def test_short_leaves_auto_goes_by_the_sites_own_word_counts() -> None:
    whole = site_of(f"<p>{PROSE}</p><p>{PROSE}</p>")
    broken = site_of(
        f"<p>{PROSE}</p>" + "".join(f"<p>{word} {{0}}</p>" for word in ["Sea", "Port", "Pier", "Lock", "Quay", "Boat"])
    )
    assert whole.join_below == 0, "paragraphs are whole: short ones stand alone"
    assert 5 <= broken.join_below <= 15, "most are a word or two: they are judged with their neighbour"
    assert site_of(f"<p>{PROSE}</p>", short_leaves="join").join_below >= 5
    assert site_of(f"<p>{PROSE}</p><p>Sea {{0}}</p><p>Port {{0}}</p>", short_leaves="keep").join_below == 0


def test_short_leaves_changes_labels_and_never_fingerprints() -> None:
    body = f"<div><p>{PROSE}</p><p>Word {{0}}</p></div>"
    kept, joined = site_of(body, short_leaves="keep"), site_of(body, short_leaves="join")
    page = f"<nav>Menu of the site</nav><div id=main>{body.format(99)}</div>"
    one, other = kept.extract(page).leaves, joined.extract(page).leaves
    assert one[1]["p"] != one[2]["p"] and other[1]["p"] == other[2]["p"]
    prints = [[entry.data for entry in template.profile.entries()] for template in (kept, joined) if template.profile]
    assert prints[0] == prints[1]


def test_the_old_design_stays_as_a_layout_of_its_own() -> None:
    spec = SiteSpec(kinds=("news",), pages=40, seed=9, months=("2023-01", "2024-05"), redesign="2024-05")
    site = generate_site(spec)
    template = td.learn([td.Page(page.html, url=page.url, fetched=page.fetched) for page in site.pages], site=site.name)
    truth = {
        layout: sum(page.layout == layout for page in site.pages) for layout in {page.layout for page in site.pages}
    }
    assert sorted(layout.pages for layout in template.layouts) == sorted(truth.values())


def test_a_minority_layout_is_learned() -> None:
    site = generate_site(SiteSpec(kinds=("news", "news", "news", "forum", "forum"), pages=20, seed=6, style="semantic"))
    template = td.learn([td.Page(page.html, url=page.url) for page in site.pages], site=site.name)
    assert [layout.pages for layout in template.layouts] == [12, 8]
