"""Places whose value changes from page to page, and of what type the values are.

A slot is a place of a layout (the last folded steps of a container) that most pages fill, each with a value of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from templatediff.fingerprint import Fingerprint
from templatediff.repetition import SLOT_COLUMNS, Level

LEAST_SHARE = 0.5  #: a slot is on at least this share of a layout's pages
LEAST_PAGES = 2
LEAST_NEW = 0.5  #: at least this share of its leaves is on no other page
EXAMPLES = 3

_DATE = re.compile(r"\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\b|\b\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})\b|\d{4}\u5e74\d{1,2}\u6708"
                   r"|\b\d{1,2}\.?\s+\w{3,12}\.?,?\s+(?:\u05d1)?\d{4}\b|\b\w{3,12}\.?\s+\d{1,2},?\s+\d{4}\b")  # fmt: skip
_TIME = re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?\b")
_PRICE = re.compile(
    r"(?:[$\u20ac\u00a3\u00a5\u20aa\u0e3f\u20bd\u20b9]|\b(?:USD|EUR|GBP|JPY|CHF|kr|z\u0142)\b)\s?\d|\d\s?(?:[$\u20ac\u00a3\u00a5\u20aa\u0e3f\u20bd\u20b9\u5186\u5143]|\b(?:USD|EUR|GBP|JPY|CHF|kr|z\u0142)\b)"
)
_NUMBER = re.compile(r"[+\-\u2212]?\d[\d.,\u00a0\u202f ]*%?")
_IDENTIFIER = re.compile(r"[#\w\-./]*\d[\w\-./]*")


@dataclass(frozen=True, slots=True)
class Slot:
    """One slot: CSS `selector` on its first page, `type`, `share` of the layout's pages, up to three `examples`."""

    selector: str
    type: str
    share: float
    examples: tuple[str, ...]


def slot_type(values: Sequence[str], link_share: float = 0.0) -> str:
    """What most of the values are: "date", "time", "price", "number", "count", "identifier", "links", "options", "text".

    "count" is a number with constant words around it; "options" are few distinct values on many pages.

    >>> slot_type(["12.05.2024", "1 June 2023"]), slot_type(["4,50 \\u20ac", "EUR 12"]), slot_type(["3 comments", "0 comments"])
    ('date', 'price', 'count')
    """
    if not values:
        return "text"
    kinds = Counter(map(_kind, values))
    kind, most = kinds.most_common(1)[0] if len(kinds) == 1 else max(kinds.items(), key=lambda one: (one[1], one[0]))
    if kind != "text" and most * 5 >= len(values) * 4:
        return kind
    if link_share > 0.8:
        return "links"
    if len(values) >= 6 and len(set(values)) * 3 <= len(values):
        return "options"
    return "text"


def _kind(value: str) -> str:
    value = value.strip()
    words = len(value.split())
    if words <= 12 and _DATE.search(value):
        return "date"
    if words <= 6 and _PRICE.search(value):
        return "price"
    if words <= 6 and _TIME.search(value):
        return "time"
    if _NUMBER.fullmatch(value):
        return "number"
    if words <= 4 and re.search(r"\d", value):
        return "identifier" if _IDENTIFIER.fullmatch(value) else "count"
    return "text"


def find_slots(pages: Sequence[Fingerprint], layout: Level) -> list[tuple[int, Slot]]:
    """(local key, slot) of a layout's slots, in the order of the first page that has each.

    `pages` are the leaders of its groups.
    """
    table = layout.sums["slot"]
    column = {name: table.table[:, place] for place, name in enumerate(SLOT_COLUMNS)}
    chosen = (
        (column["present"] >= max(LEAST_PAGES, LEAST_SHARE * layout.n))
        & (column["new_leaves"] >= LEAST_NEW * column["leaves"])
        & (column["distinct"] > 0)
    )
    wanted = set(table.keys[chosen].tolist())
    if not wanted:
        return []
    present = dict(zip(table.keys.tolist(), column["present"].tolist(), strict=True))
    values: dict[int, list[str]] = {}
    places: dict[int, str] = {}
    linked: dict[int, list[float]] = {}
    for page in pages:
        keys = page.local_keys[page.row] if len(page) else np.zeros(0, np.uint64)
        for number, key in enumerate(keys.tolist()):
            if key not in wanted:
                continue
            if key not in places:
                places[key] = page.selector(int(page.row[number]))
            values.setdefault(key, []).append(page.texts[number])
            linked.setdefault(key, []).append(page.linked[number] / max(int(page.characters[number]), 1))
    found = []
    for key, selector in places.items():
        share = round(present[key] / layout.n, 4)
        examples = tuple(dict.fromkeys(values[key]))[:EXAMPLES]
        kind = slot_type(values[key], sum(linked[key]) / len(linked[key]))
        found.append((key, Slot(selector, kind, share, examples)))
    return found
