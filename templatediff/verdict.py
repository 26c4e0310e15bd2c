"""Is there anything on the page to read, and is it a list? What a page shows as a whole -> P(empty), in words why, verdict.

A page is empty where it holds nothing but chrome: a frame without content, a shell that scripts fill, a consent wall, an
error page. Single leaves do not show that: on such pages some chrome always reads best. The page does; see
`templatediff.overall`. The forests of verdict.json are fitted by benchmarks/fit_verdicts.py, which holds all the rules that
there are but three: a page without any chrome is its sentences (`templatediff.overall.bare`), a few words without a sentence are
no text (`templatediff.overall.wordless`), and a long run of likely content is no shell's (`is_text`).
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np

from templatediff.context import Context
from templatediff.errors import TemplateError
from templatediff.fingerprint import Ints
from templatediff.marks import NOSCRIPT
from templatediff.score import Forest, forest, probability

CONTENT, LISTING, EMPTY, ERROR = "content", "listing", "empty", "error"

FORMAT = 1
PATH = Path(__file__).parent / "verdict.json"
MORE = 200  #: tokens of a page of few words
FEW_WORDS = 25  #: words of a page that is no more than a shell
LISTED = 0.5  #: P(listing) from which on a page is
FOUR = 4  #: entries that make a listing
TEXT = 120  #: tokens of a run of likely content that is a text, whatever stands around it
WALL = 0.5  #: share of the content in a dialog from which on it is a wall's


@cache
def forests() -> dict[str, Forest]:
    """The shipped forests: "empty_alone", "empty" (which knows what siblings show), "listing", and "early" for the first look."""
    found = json.loads(PATH.read_bytes())
    if found.get("format") != FORMAT:
        raise TemplateError(f"verdict.json is format {found.get('format')}, this release reads {FORMAT}")
    return {name: forest(document) for name, document in found["models"].items()}


def chance(name: str, row: dict[str, float]) -> float:
    """P by one of the forests, 0..1, 4 decimals."""
    return float(probability(_log_odds(name, row))[0])


def empty_chance(row: dict[str, float], among: bool) -> float:
    """P(empty), 0..1, 4 decimals: by what the page shows; among siblings a mean in log odds of that and of the forest that knows
    them. On its own the latter takes what a few goods have in common for chrome."""
    alone = _log_odds("empty_alone", row)
    return float(probability((alone + _log_odds("empty", row)) / 2 if among else alone)[0])


def _log_odds(name: str, row: dict[str, float]) -> Ints:
    model = forests()[name]
    return model.raw(np.array([[row[column] for column in model.columns]], np.float32))


def is_text(row: dict[str, float]) -> bool:
    """Whether a page has a run of TEXT tokens of likely content that no buttons follow and no dialog holds: it is not empty then,
    however much its frame is like that of empty pages.
    """
    return row["run"] >= np.log1p(TEXT) and row["buttons"] == 0 and row["dialog"] < WALL


def why_empty(context: Context, row: dict[str, float], copies: int) -> str:
    """The reason for calling a page empty, in words: the strongest of what speaks for it."""
    words = int(context.tokens.sum())
    if (context.page.marks[context.page.row] & NOSCRIPT > 0).any():
        return "nothing but a note for readers without scripts"
    buttons, front = round(np.expm1(row["buttons"])), row["way_back"] > 0
    if words < FEW_WORDS:
        return f"nothing but {words} word{'s' * (words != 1)}"
    if row["dialog"] > WALL:
        return "nothing but chrome: its text is a dialog's"
    if copies and row["content"] < np.log1p(MORE):
        return f"nothing but chrome: its few words of its own stand on {copies} more pages of the site"
    if buttons >= 2 and row["links"] < 0.2:
        return f"a wall: its text ends in {buttons} buttons, and there is nothing else"
    if front and row["content"] < np.log1p(MORE):
        return "nothing but chrome: a few words, and a way back to the front page"
    if row["explained"] > 0.7:
        return f"nothing but chrome: {row['explained']:.0%} of its text is the site's template"
    return "nothing but chrome: what reads like text is short and scattered over the page's frame"


def verdict_of(context: Context, row: dict[str, float], kept: Ints) -> str:
    """What a page that is not empty is: a listing, or content."""
    return LISTING if _lists(context, kept) or chance("listing", row) >= LISTED else CONTENT


def _lists(context: Context, kept: Ints) -> bool:
    """Whether what is kept is links for the most part, or entries."""
    tokens = context.tokens[kept]
    linked = float((tokens * context.link_share[kept]).sum())
    links = int(kept.take(context.page.link_leaf).sum())
    total = max(int(tokens.sum()), 1)
    return (links >= 5 and linked > 0.5 * total) or _entries(context, kept) > 0.6 * total


def _entries(context: Context, kept: Ints) -> int:
    """Kept tokens in records that begin with a linked line (an entry's title, kept or a heading) and go on without links, if
    there are FOUR."""
    record = np.where(kept | (context.page.heading > 0), context.record, -1)
    starts: set[int] = set()
    first_seen: set[int] = set()
    goes_on: set[int] = set()
    for row, share in zip(record.tolist(), context.link_share.tolist(), strict=True):
        if row < 0:
            continue
        if row not in first_seen:
            first_seen.add(row)
            if share > 0.8:
                starts.add(row)
        elif share < 0.2:
            goes_on.add(row)
    entries = starts & goes_on
    return int(context.tokens[kept & np.isin(record, sorted(entries))].sum()) if len(entries) >= FOUR else 0
