"""What the leaves of a page show at a glance: no hashes, no evidence, no probabilities.

The cheap pre-check goes by it: how much prose there is, whether it is gathered, whether a heading stands before it or
buttons after it, how much lies in the frame.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from templatediff.segment import ASIDE, BUTTON, DIALOG, FOOTER, FORM, HEADER, LIST, NAV, NOSCRIPT, Leaves

FRAME = HEADER | NAV | FOOTER | ASIDE | FORM | DIALOG
ENOUGH = 8  #: words of a line that may be a sentence
LONG_WORD = 14  #: characters a word from which on a text is taken to be written without spaces

NAMES = (
    "leaves", "words", "linked", "link_share", "prose", "prose_leaves", "longest", "run", "gathered", "gathered_leaves",
    "framed", "dialog", "headings", "after_heading", "buttons", "rows", "items", "entries", "titled", "characters",
)  # fmt: skip
FEW_LINKS = 1  #: links and buttons beside which a sentence is still the page
_END = re.compile(r"[.!?\u0589\u061f\u06d4\u0964\u3002\uff01\uff1f\u2026]")
_STOP = re.compile(r"[.!?,;:\u0589\u060c\u061f\u06d4\u0964\u3001\u3002\uff0c\uff01\uff1f\u2026]")


def first_look(leaves: Leaves) -> dict[str, float]:
    """What the leaves show at a glance, by name; log1p of counts."""
    marks_of, rows = leaves.elements.marks, leaves.row
    parents = leaves.elements.parent
    words = np.zeros(len(leaves))
    prose = np.zeros(len(leaves), bool)
    linked = np.array(leaves.linked) / np.maximum([len(text) for text in leaves.text], 1)
    for number, text in enumerate(leaves.text):
        spaced = text.count(" ") + 1
        words[number] = spaced if len(text) <= LONG_WORD * spaced else len(text) / 1.5
        if words[number] >= ENOUGH and linked[number] < 0.5 and not leaves.heading[number]:
            prose[number] = _STOP.search(text) is not None
    marks = np.array([marks_of[row] for row in rows], np.int64)
    heading = np.array(leaves.heading)
    group = np.array(leaves.group)
    free = (marks & FRAME) == 0
    mass = words * prose
    above = np.array([parents[row] for row in rows], np.int64)
    by_parent: dict[int, list[float]] = {}
    for row, size in zip(above[prose].tolist(), mass[prose].tolist(), strict=True):
        by_parent.setdefault(row, []).append(size)
    gathered = max((sum(sizes) for sizes in by_parent.values()), default=0.0)
    title = " ".join((leaves.head.title or leaves.head.og_title or "").casefold().split())
    heads = np.flatnonzero(heading > 0)
    titled = any(len(leaves.text[head]) >= 4 and leaves.text[head].casefold() in title for head in heads.tolist())
    total = max(float(words.sum()), 1.0)
    counts = {
        "leaves": len(leaves),
        "words": float(words.sum()),
        "linked": float((words * linked).sum()),
        "prose": float(mass.sum()),
        "prose_leaves": int(prose.sum()),
        "longest": float(mass.max(initial=0)),
        "run": _run(prose, mass),
        "gathered": gathered,
        "gathered_leaves": max(map(len, by_parent.values()), default=0),
        "headings": len(heads),
        "after_heading": _after(heads, mass),
        "buttons": _buttons(prose, marks),
        "rows": float(words[group >= 0].sum()),
        "items": float(words[(marks & LIST > 0) & free & (linked < 0.5)].sum()),
        "entries": int((free & (linked > 0.8) & (words >= 3)).sum()),
        "characters": sum(map(len, leaves.text)),
    }
    return {name: float(np.log1p(count)) for name, count in counts.items()} | {
        "link_share": float((words * linked).sum() / total),
        "framed": float(mass[~free].sum() / max(float(mass.sum()), 1.0)),
        "dialog": float(mass[marks & DIALOG > 0].sum() / max(float(mass.sum()), 1.0)),
        "titled": float(titled),
    }


def framed(leaves: Leaves) -> bool:
    """Whether there is any chrome that a page could be nothing but, or no sentence at all; see `verdict.framed`."""
    chrome = sentences = 0
    for text, row, linked in zip(leaves.text, leaves.row, leaves.linked, strict=True):
        marks, in_link = leaves.elements.marks[row], 2 * linked > len(text)
        if marks & NOSCRIPT:
            return True
        chrome += in_link or marks & (BUTTON | DIALOG | FORM) > 0
        sentences += not in_link and _END.search(text) is not None
    return chrome > FEW_LINKS or not sentences


def _run(prose: Any, mass: Any) -> float:
    """Words of the heaviest run of neighbouring lines of prose."""
    if not len(prose):
        return 0.0
    number = np.cumsum(np.concatenate([[True], prose[1:] != prose[:-1]])) - 1
    return float(np.bincount(number, weights=mass).max())


def _after(heads: Any, mass: Any) -> float:
    """The most prose within the five lines after a heading."""
    running = np.concatenate([[0.0], np.cumsum(mass), np.full(5, mass.sum())])
    return float((running[heads + 6] - running[heads + 1]).max(initial=0.0))


def _buttons(prose: Any, marks: Any) -> int:
    """Buttons in a row directly after prose."""
    count, after = 0, False
    for is_prose, button in zip(prose.tolist(), (marks & BUTTON > 0).tolist(), strict=True):
        count += after and button
        after = is_prose or (after and button)
    return count
