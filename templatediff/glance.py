"""What the leaves of a page show at a glance: no hashes, no evidence, no probabilities.

The cheap pre-check goes by it: how much prose there is, whether it is gathered, whether a heading or the page's title
stands before it, buttons, short lines or a way back to the front page after it, how much lies in the frame.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from templatediff.leaves import Leaves
from templatediff.marks import ASIDE, BUTTON, DIALOG, FOOTER, FORM, HEADER, LIST, NAV, NOSCRIPT
from templatediff.page import host_of

FRAME = HEADER | NAV | FOOTER | ASIDE | FORM | DIALOG
ENOUGH = 8  #: words of a line that may be a sentence
LONG = 24  #: words of a line that is prose without a stop, in scripts that have none
SHORT = 4  #: words of a line that may be a button
LONG_WORD = 14  #: characters a word from which on a text is taken to be written without spaces
SAID = 4  #: characters of a line that may be the title
NEXT = 5  #: lines after a heading that are looked at

NAMES = (
    "leaves", "words", "linked", "link_share", "prose", "prose_leaves", "longest", "run", "gathered", "gathered_leaves",
    "framed", "dialog", "headings", "after_heading", "buttons", "rows", "items", "entries", "titled", "characters",
    "said", "after_title", "tail", "chrome", "noscript", "sentences", "way_back", "level",
)  # fmt: skip
_END = re.compile(r"[.!?\u0589\u061f\u06d4\u0964\u3002\uff01\uff1f\u2026]")
_STOP = re.compile(r"[.!?,;:\u0589\u060c\u061f\u06d4\u0964\u3001\u3002\uff0c\uff01\uff1f\u2026]")
_FRONT = re.compile(r"(?:(?:https?:)?//[^/?#]+)?/?", re.I)


@dataclass(frozen=True, slots=True)
class Columns:
    """Of each leaf its text, characters in links, level as a heading, group, the marks and the parent of its container, and
    whether it is a link to the front page; and the page's title."""

    text: Sequence[str]
    linked: Any
    heading: Any
    group: Any
    marks: Any
    parent: Any
    front: Any
    title: str


def columns(leaves: Leaves, home: str | None) -> Columns:
    """The columns of segmented leaves; `home`: the site's host, where it is known."""
    marks, parent, rows = leaves.elements.marks, leaves.elements.parent, leaves.row
    front = np.zeros(len(leaves), bool)
    roots = [(leaf, target) for leaf, target, _ in leaves.links if target and _FRONT.fullmatch(target)]
    front[[leaf for leaf, target in roots if target == "/" or host_of(target) == home is not None]] = True
    return Columns(
        leaves.text,
        np.array(leaves.linked, np.int64),
        np.array(leaves.heading, np.int64),
        np.array(leaves.group, np.int64),
        np.array([marks[row] for row in rows], np.int64),
        np.array([parent[row] for row in rows], np.int64),
        front,
        leaves.head.title or leaves.head.og_title or "",
    )


def first_look(page: Columns) -> dict[str, float]:
    """What the leaves show at a glance, by name; log1p of counts."""
    size = len(page.text)
    characters = np.array([len(text) for text in page.text], np.int64)
    spaces = np.array([text.count(" ") + 1 for text in page.text], np.int64)
    words = np.where(characters <= LONG_WORD * spaces, spaces, characters / 1.5)
    linked = page.linked / np.maximum(characters, 1)
    plain = (linked < 0.5) & (page.heading == 0)
    prose = plain & (words >= LONG)
    sentences = 0
    for number in np.flatnonzero((linked < 0.5) & (words >= ENOUGH)).tolist():
        text = page.text[number]
        prose[number] |= bool(plain[number]) and _STOP.search(text) is not None
        sentences += _END.search(text) is not None
    marks, heading = page.marks, page.heading
    free = (marks & FRAME) == 0
    mass = words * prose
    gathered = np.bincount(page.parent + 1, weights=mass)
    lines = np.bincount(page.parent + 1, weights=prose)
    title = " ".join(page.title.casefold().split())
    saying = [
        number
        for number in np.flatnonzero((linked < 0.5) & (words <= 2 * LONG)).tolist()
        if len(page.text[number]) >= SAID and page.text[number].casefold() in title
    ]
    heads = np.flatnonzero(heading > 0)
    # of several leaves that say the title the longest, of these the last: crumbs come before the headline
    said = max(saying, key=lambda number: (characters[number], number), default=-1)
    total = max(float(words.sum()), 1.0)
    counts = {
        "leaves": size,
        "words": float(words.sum()),
        "linked": float((words * linked).sum()),
        "prose": float(mass.sum()),
        "prose_leaves": int(prose.sum()),
        "longest": float(mass.max(initial=0)),
        "run": _run(prose, mass),
        "gathered": float(gathered.max(initial=0)),
        "gathered_leaves": float(lines.max(initial=0)),
        "headings": len(heads),
        "after_heading": _after(heads, mass),
        "buttons": _followed(prose, marks & BUTTON > 0),
        "rows": float(words[page.group >= 0].sum()),
        "items": float(words[(marks & LIST > 0) & free & (linked < 0.5)].sum()),
        "entries": int((free & (linked > 0.8) & (words >= 3)).sum()),
        "characters": int(characters.sum()),
        "said": float(words[said]) if said >= 0 else 0.0,
        "after_title": float(mass[said + 1 : said + 1 + NEXT].sum()) if said >= 0 else 0.0,
        "tail": _followed(prose, plain & (words <= SHORT)),
        "chrome": int(((marks & (BUTTON | DIALOG | NOSCRIPT | FORM) > 0) | (linked > 0.5)).sum()),
        "noscript": int((marks & NOSCRIPT > 0).sum()),
        "sentences": sentences,
        "way_back": _followed(prose, page.front & (linked > 0.5)),
    }
    return {name: float(np.log1p(count)) for name, count in counts.items()} | {
        "link_share": float((words * linked).sum() / total),
        "framed": float(mass[~free].sum() / max(float(mass.sum()), 1.0)),
        "dialog": float(mass[marks & DIALOG > 0].sum() / max(float(mass.sum()), 1.0)),
        "titled": float(any(heading[number] > 0 for number in saying)),
        "level": float(heading[heads].min(initial=9)),
    }


def _run(prose: Any, mass: Any) -> float:
    """Words of the heaviest run of neighbouring lines of prose."""
    if not len(prose):
        return 0.0
    number = np.cumsum(np.concatenate([[True], prose[1:] != prose[:-1]])) - 1
    return float(np.bincount(number, weights=mass).max())


def _after(heads: Any, mass: Any) -> float:
    """The most prose within the lines after a heading."""
    running = np.concatenate([[0.0], np.cumsum(mass), np.full(NEXT, mass.sum())])
    return float((running[heads + NEXT + 1] - running[heads + 1]).max(initial=0.0))


def _followed(prose: Any, sought: Any) -> int:
    """How many lines of the sought kind stand in a row directly after prose, over the page."""
    count, after = 0, False
    for is_prose, is_sought in zip(prose.tolist(), sought.tolist(), strict=True):
        count += after and is_sought
        after = is_prose or (after and is_sought)
    return count
