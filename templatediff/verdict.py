"""Is there anything on the page to read? Leaves with their probabilities -> P(empty), and in words why.

A page is empty where it holds nothing but chrome: a frame without content, a shell that scripts fill, a consent wall, an
error page. Single leaves do not show that: on such pages some chrome always reads best. The page does: how much reads like
content, whether it is gathered in one place or scattered over the frame, whether a heading stands before it, whether
buttons or a way back to the front page follow it, and, among siblings, how much of it the template explains.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np

from templatediff.errors import TemplateError
from templatediff.evidence import Context
from templatediff.fingerprint import Ints, front_page
from templatediff.glance import FEW_LINKS
from templatediff.repetition import subtree_sums
from templatediff.score import Forest, forest
from templatediff.segment import ASIDE, BUTTON, DIALOG, FOOTER, FORM, HEADER, NAV, NOSCRIPT

FORMAT = 1
PATH = Path(__file__).parent / "verdict.json"
FRAME = HEADER | NAV | FOOTER | ASIDE | FORM
FEW, MORE = 40, 200  #: tokens of the best leaves that are looked at
SURE = 0.8  #: P of prose that is sure to be content
IN_A_ROW = 3  #: lines of it that no frame has
ENTRIES, COVERED, TEASER = 4, 0.6, 6  #: entries, share of the content that they cover, words of the text of each
SENTENCE = 5  #: tokens of a line with a full stop that is read
FEW_WORDS = 25  #: words of a page that is no more than a shell
LIKELY_ENOUGH = 0.35  #: P of a leaf that may be an entry of a listing
LIKELY = 0.5  #: P of a leaf that belongs to a run of content

ALONE_NAMES = (
    "content", "prose", "prose_p", "best_few", "best_more", "all", "share", "run", "spread", "framed", "dialog",
    "titled", "heading_p", "way_back", "buttons", "links", "linked_content", "linked_prose", "heads", "covered", "teaser",
    "title_words", "headings", "rows",
)  # fmt: skip
AMONG_NAMES = ("fresh", "fresh_prose", "explained", "region", "copies", "stray")
NAMES = ALONE_NAMES + AMONG_NAMES


@cache
def forests() -> dict[str, Forest]:
    """The shipped forests: "empty" among siblings, "empty_alone", "listing", and "early" for the first look."""
    found = json.loads(PATH.read_bytes())
    if found.get("format") != FORMAT:
        raise TemplateError(f"verdict.json is format {found.get('format')}, this release reads {FORMAT}")
    return {name: forest(document) for name, document in found["models"].items()}


def chance(name: str, row: dict[str, float]) -> float:
    """P by one of the forests, 0..1, 4 decimals."""
    model = forests()[name]
    return float(model.probability(np.array([[row[column] for column in model.columns]], np.float32))[0])


def features(context: Context, p: Ints, copies: int) -> dict[str, float]:
    """What the page as a whole shows, by name; those of AMONG_NAMES are NaN without siblings. `copies`: near-duplicates of it."""
    page, t = context.page, context.tokens
    mass = p * t
    total, inside = max(float(t.sum()), 1.0), max(float(mass.sum()), 1e-9)
    prose = (page.sentence_ends + page.commas > 0) & (t >= 8) & (page.heading == 0)
    marks = page.marks[page.row]
    found = {
        "content": float(np.log1p(mass.sum())),
        "prose": float(np.log1p(mass[prose].sum())),
        "prose_p": float(mass[prose].sum() / max(int(t[prose].sum()), 1)),
        "best_few": _best(p, t, FEW),
        "best_more": _best(p, t, MORE),
        "all": float(np.log1p(t.sum())),
        "share": float(mass.sum() / total),
        "run": float(np.log1p(_longest_run(p, t))),
        "spread": _spread(context, mass),
        "framed": float(mass[marks & FRAME > 0].sum() / inside),
        "dialog": float(mass[marks & DIALOG > 0].sum() / inside),
        "titled": float(_titled(context, p)),
        "way_back": float(_followed(context, prose, np.isin(np.arange(len(page)), _front_links(context)))),
        "buttons": float(np.log1p(_followed(context, prose, marks & BUTTON > 0))),
        "links": float((t * context.link_share).sum() / total),
        "linked_content": float((mass * context.link_share).sum() / inside),
        "linked_prose": float((mass * context.link_share)[prose].sum() / inside),
        "heading_p": float(p[context.main_heading]) if context.main_heading >= 0 else 0.0,
        "headings": float(mass[page.heading > 0].sum() / inside),
        "rows": float(mass[page.group >= 0].sum() / inside),
        **_entries(context, p),
    }
    unlinked = max(float(context.unlinked.sum()), 1.0)
    if context.site is None:
        return found | dict.fromkeys(AMONG_NAMES, float("nan"))
    fresh = context.fresh
    region = context.inside(context.site_majority) if context.site_majority >= 0 else np.ones(len(page), bool)
    return found | {
        "fresh": float(np.log1p((p * fresh).sum())),
        "fresh_prose": float(np.log1p((p * fresh)[prose].sum())),
        "explained": float(1 - fresh.sum() / unlinked),
        "region": float((p * fresh)[region > 0].sum() / max(float((p * fresh).sum()), 1e-9)),
        "copies": float(copies > 0),
        "stray": float(context.layout is None),
    }


def framed(context: Context) -> bool:
    """Whether there is any chrome that a page could be nothing but: links, buttons, a dialog, a stand-in for scripts.

    A page without that is its sentences, however few.
    """
    page = context.page
    marks = page.marks[page.row]
    prose = (page.sentence_ends > 0) & (context.tokens >= SENTENCE) & (context.link_share < 0.5)
    chrome = (marks & (BUTTON | DIALOG | NOSCRIPT | FORM) > 0) | (context.link_share > 0.5)
    return bool(chrome.sum() > FEW_LINKS) or bool((marks & NOSCRIPT > 0).any()) or not prose.any()


def text_stands(context: Context, p: Ints, row: dict[str, float], copies: int) -> bool:
    """Whether there is text that no frame has, so that the page is not empty whatever the forest says: three lines of sure
    prose in a row with no buttons after, or, among siblings, two likely ones with FEW new tokens that no near-duplicate has;
    or a likely headline and entries of one kind, each a linked line with text of its own, that hold most of what is likely
    (a frame's own lists have no headline of the page)."""
    t, page = context.tokens, context.page
    entries = row["heads"] >= np.log1p(ENTRIES) and row["covered"] >= COVERED and row["teaser"] >= np.log1p(TEASER)
    if entries and row["heading_p"] >= LIKELY:
        return True
    prose = (page.sentence_ends > 0) & (t >= 8) & (context.link_share < 0.5)
    sure, likely = prose & (p >= SURE), prose & (p >= LIKELY)
    ones = np.ones(len(page), np.int64)
    if context.site is None:
        return row["buttons"] == 0 and _longest_run(sure.astype(float), ones) >= IN_A_ROW
    if copies or not sure.any():
        return False
    new = likely.astype(float)
    return _longest_run(new, ones) >= IN_A_ROW - 1 and _longest_run(new, context.fresh) >= FEW


def why_empty(context: Context, row: dict[str, float], copies: int) -> str:
    """The reason for calling a page empty, in words: the strongest of what speaks for it."""
    words = int(context.tokens.sum())
    if (context.page.marks[context.page.row] & NOSCRIPT > 0).any():
        return "nothing but a note for readers without scripts"
    buttons, front = round(np.expm1(row["buttons"])), row["way_back"] > 0
    if words < FEW_WORDS:
        return (
            f"nothing but {words} {'word' if words == 1 else 'words'}: what else the page shows, scripts must put there"
        )
    if row["dialog"] > 0.5:
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


def _entries(context: Context, p: Ints) -> dict[str, float]:
    """Of the kind of linked line that comes most often in what is likely content: how often, how much of the content lies
    between its first and its last, how much text follows it (the median), how long it is itself."""
    t = context.tokens
    likely = np.flatnonzero((p >= LIKELY_ENOUGH) & (t > 0))
    heads = likely[(context.link_share[likely] > 0.8)]
    if not len(heads):
        return {"heads": 0.0, "covered": 0.0, "teaser": 0.0, "title_words": 0.0}
    keys, counts = np.unique(context.local_keys[heads], return_counts=True)
    best = keys[np.argmax(counts)]
    places = heads[context.local_keys[heads] == best]
    running = np.concatenate([[0], np.cumsum(np.where(p >= LIKELY_ENOUGH, t, 0))])
    gaps = np.diff(running[places]) - t[places[:-1]]
    last = float(np.median(gaps)) if len(gaps) else 0.0
    covered = float(running[places[-1]] - running[places[0]] + t[places[-1]] + last)
    return {
        "heads": float(np.log1p(len(places))),
        "covered": min(1.0, covered / max(float(running[-1]), 1.0)),
        "teaser": float(np.log1p(last)),
        "title_words": float(np.log1p(np.median(t[places]))),
    }


def _best(p: Ints, t: Ints, wanted: int) -> float:
    """Mean P of the likeliest `wanted` tokens; what the page lacks counts as 0."""
    order = np.argsort(-p, kind="stable")
    taken = np.clip(wanted - (np.cumsum(t[order]) - t[order]), 0, t[order])
    return float((p[order] * taken).sum() / wanted)


def _longest_run(p: Ints, t: Ints) -> float:
    """Tokens of the heaviest run of neighbouring leaves that are likely content."""
    likely = p >= LIKELY
    if not likely.any():
        return 0.0
    number = np.cumsum(np.concatenate([[True], likely[1:] != likely[:-1]])) - 1
    return float(np.bincount(number, weights=t * likely).max())


def _spread(context: Context, mass: Ints) -> float:
    """Share of the page's leaves under the smallest container that holds half of what reads like content."""
    under = subtree_sums(context.page, np.rint(mass * 100))
    holds = under * 2 >= max(int(under.max(initial=0)), 1)
    leaves = context.subtree_leaves
    return float(leaves[holds].min(initial=len(mass)) / max(len(mass), 1))


def _titled(context: Context, p: Ints) -> bool:
    """Whether text that is likely content follows the page's main heading."""
    place = context.main_heading
    if place < 0:
        return False
    after = slice(place + 1, place + 6)
    return bool(((p[after] >= LIKELY) & (context.page.heading[after] == 0) & (context.tokens[after] >= 8)).any())


def _followed(context: Context, prose: Ints, sought: Ints) -> int:
    """How many leaves of the sought kind stand in a row directly after a leaf of prose."""
    count, open_ = 0, False
    for is_prose, is_sought in zip(prose.tolist(), sought.tolist(), strict=True):
        count += open_ and is_sought
        open_ = is_prose or (open_ and is_sought)
    return count


def _front_links(context: Context) -> Ints:
    """The leaves that are a link to the site's front page."""
    page = context.page
    leaves = page.link_leaf[page.link_target == front_page()]
    return np.asarray(leaves[context.link_share[leaves] > 0.5])
