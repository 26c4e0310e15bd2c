"""What `Extraction.explain` gives of a page -> what its file in the report holds: marked text, the evidence as compact data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from templatediff.report.tally import Record, is_doubtful
from templatediff.report.words import MOST_TEXT, shortened, visible

LEAVES_A_FILE = 2000  #: a longer page is shown in parts

Run = tuple[str, str | None]  # text, type of the slot it is a value of


def runs(leaf: Record, most: int = MOST_TEXT) -> list[Run]:
    """A leaf's text cut at its slots; whatever is beyond `most` characters is left out, and said so.

    >>> runs({"text": "By Ann, 3 May", "slots": [{"type": "date", "value": "3 May", "start": 8}]})
    [('By Ann, ', None), ('3 May', 'date')]
    """
    text: str = leaf["text"]
    cut, found, place = shortened(text, most), [], 0
    for slot in leaf["slots"]:
        start, end = slot["start"], min(slot["start"] + len(slot["value"]), len(cut))
        if place <= start < end:
            found += [(cut[place:start], None)] * (start > place) + [(cut[start:end], slot["type"])]
            place = end
    if place < len(cut):
        found.append((cut[place:], None))
    return found


def label_of(leaf: Record) -> str:
    """The classes of a leaf: k(ept) or d(ropped), and q(uestionable)."""
    return ("k" if leaf["content"] else "d") + (" q" if is_doubtful(leaf["p"]) else "")


def evidence(leaves: Sequence[Record]) -> dict[str, Any]:
    """The evidence of each leaf as lists, what comes again and again said once: the script unpacks it.

    A selector is the number of first steps that it shares with the one before it, and its other steps.

    >>> leaf = {"p": 0.9, "k": 0, "n": 2, "level": "site", "change": "dynamic", "tokens": 5, "reasons": ["new"], "hidden": False}
    >>> found = evidence([leaf | {"selector": "body > p", "against": []}, leaf | {"selector": "body > b", "against": ["new"]}])
    >>> found["words"], found["leaves"][1]
    (['site', 'dynamic', 'new'], [0.9, 0, 2, 0, 1, 5, 1, 'b', [2], [2], 0])
    """
    words: dict[str, int] = {}
    rows = []
    before: list[str] = []
    for leaf in leaves:
        steps = visible(leaf["selector"]).split(" > ")
        shared = _shared(before, steps)
        before = steps
        level, change, reasons, against = (
            [words.setdefault(visible(word), len(words)) for word in said]
            for said in ([leaf["level"] or ""], [leaf["change"]], leaf["reasons"], leaf["against"])
        )
        rows.append(
            [
                leaf["p"],
                leaf["k"],
                leaf["n"],
                *level,
                *change,
                leaf["tokens"],
                shared,
                " > ".join(steps[shared:]),
                reasons,
                against,
                int(leaf["hidden"]),
            ]
        )
    return {"words": list(words), "leaves": rows}


def _shared(before: Sequence[str], steps: Sequence[str]) -> int:
    shared = 0
    for one, other in zip(before, steps, strict=False):
        if one != other:
            break
        shared += 1
    return shared


def files_of(leaves: Sequence[Record]) -> Iterator[Sequence[Record]]:
    """The leaves of each file that shows the page; one file, of no leaf, where there is none."""
    for start in range(0, max(len(leaves), 1), LEAVES_A_FILE):
        yield leaves[start : start + LEAVES_A_FILE]
