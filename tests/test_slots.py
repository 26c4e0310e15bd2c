from __future__ import annotations

import random

import templatediff as td
from benchmarks.slots import Tally, measure
from corpora.generator import SiteSpec

NAMES = ["Ann Lee", "Bo van Dyk", "Cy O'Hara", "Di Berg", "Ed Stone", "Flo Hill"]
WORDS = ["boat", "pier", "lock", "quay", "light", "sea", "rope", "sail", "mast", "tide", "crane", "shed"]


def page(number: int, extra: str = "") -> str:
    rng = random.Random(number)
    prose = " ".join(rng.choices(WORDS, k=40))
    return (
        f"<nav>Menu of the site</nav><h1>{' '.join(rng.choices(WORDS, k=3))} {number}x</h1>"
        f"<p class=by>Posted by {NAMES[number % 6]} on {number + 1} May 2024</p><p>{prose}.</p>"
        f"<table><tr><th>Weight<td>{number + 2} kg<tr><th>Stock<td>{('in stock', 'sold out')[number % 2]}</table>"
        f"<div class=ad><b>Advert</b></div>{extra}<footer>4 Quay Street</footer>"
    )


def site(pages: int = 8, **options: object) -> td.Template:
    return td.learn([page(number) for number in range(pages)], site="example.org")


def test_a_byline_gives_its_person_and_its_date_with_the_words_around() -> None:
    (layout,) = site().layouts
    byline = [slot for slot in layout.slots if slot.selector == "p.by"]
    assert [(slot.type, slot.before, slot.after) for slot in byline] == [
        ("person", "Posted by", "on"),
        ("date", "on", ""),
    ]


def test_cells_are_told_apart_by_their_labels() -> None:
    slots = {slot.label: slot for slot in site().layouts[0].slots if slot.label}
    assert {label: slot.type for label, slot in slots.items()} == {"Weight": "number", "Stock": "options"}
    assert slots["Stock"].examples == ("in stock", "sold out") or set(slots["Stock"].examples) == {
        "in stock",
        "sold out",
    }


def test_leaf_records_have_every_value_of_a_leaf() -> None:
    record = next(leaf for leaf in site().extract(page(9)).leaves if leaf["text"].startswith("Posted"))
    assert (record["slot"], record["value"]) == ("person", "Di Berg")
    assert record["slots"] == [
        {"type": "person", "value": "Di Berg", "start": 10},
        {"type": "date", "value": "10 May 2024", "start": 21},
    ]
    assert record["text"][10:17] == "Di Berg"


def test_an_optional_block_is_no_slot_and_a_pool_is_one() -> None:
    promo = "<div class=promo><p>Join our circle of readers today.</p></div>"
    pool = [f"<div class=offer><p>Offer of {word} for everybody</p></div>" for word in ("boats", "ropes", "sails")]
    html = [page(n, (promo if n % 3 else "") + pool[n % 3]) for n in range(9)]
    template = td.learn(html, site="example.org")
    examples = {example for slot in template.layouts[0].slots for example in slot.examples}
    assert "Join our circle of readers today." not in examples
    assert examples & {"boats", "ropes", "sails", "Offer of boats for everybody"}


def test_the_order_of_pages_changes_no_slot() -> None:
    html = [page(number) for number in range(8)]
    one = td.learn(html, site="example.org").to_json()
    assert one == td.learn(html[::-1], site="example.org").to_json()


def test_there_are_no_slots_without_siblings() -> None:
    assert td.learn([page(1)], site="example.org").layouts[0].slots == ()
    assert all(leaf["slot"] is None and leaf["slots"] == [] for leaf in td.extract(page(1)).leaves)


def test_slots_are_found_on_generated_sites() -> None:
    """The quick part of benchmarks/slots.py, whose matching rule this is."""
    total = Tally()
    for kind, script, seed in (
        ("news", "thai", 7),
        ("product", "hebrew", 8),
        ("forum", "latin", 9),
        ("tables", "chinese", 10),
    ):
        total.add(measure(SiteSpec(kinds=(kind,), script=script, pages=10, seed=seed)))
    figures = total.figures()
    assert figures["precision"] >= 0.93 and figures["recall"] >= 0.93, figures
