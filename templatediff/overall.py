"""What a page shows as a whole, in numbers: leaves with their probabilities -> one row, by named columns.

How much reads like content, whether it is gathered in one place or scattered over the frame, whether a heading stands before
it, whether buttons or a way back to the front page follow it, what the page shows at a glance whatever the probabilities are,
and, among siblings, how much of it the template explains, and whether what reads like content stands on any other page. The
forests of `templatediff.verdict` read it.
"""

from __future__ import annotations

import numpy as np

from templatediff.addresses import front_page
from templatediff.context import Context
from templatediff.fingerprint import Fingerprint, Ints
from templatediff.glance import NAMES as SEEN
from templatediff.glance import Columns, first_look
from templatediff.marks import ASIDE, BUTTON, DIALOG, FOOTER, FORM, HEADER, NAV, NOSCRIPT
from templatediff.repetition import subtree_sums

FRAME = HEADER | NAV | FOOTER | ASIDE | FORM
FEW, MORE = 40, 200  #: tokens of the best leaves that are looked at
SENTENCE = 5  #: tokens of a line with a full stop that says something
WORDS = 12  #: tokens of a page of labels
TITLE = 0.8  #: share of a leaf's tokens that stand in the title, from which on it says it
ENOUGH = 8  #: tokens of a line of prose
LONG = 24  #: and of one that is prose without stop or comma, in scripts that have none
LIKELY_ENOUGH = 0.35  #: P of a leaf that may be an entry of a listing, or what the page says before its way back
LIKELY = 0.5  #: P of a leaf that belongs to a run of content
SURE = 0.8  #: P of prose that is sure to be content

ALONE_NAMES = (
    "content", "prose", "prose_p", "best_few", "best_more", "all", "share", "run", "spread", "framed", "dialog",
    "titled", "heading_p", "way_back", "buttons", "links", "linked_content", "linked_prose", "heads", "covered", "teaser",
    "title_words", "headings", "rows", "sure_lines", "likely_lines", "likely_run", "title_said", "after_title",
    "after_title_words", *(f"seen_{name}" for name in SEEN),
)  # fmt: skip
AMONG_NAMES = ("fresh", "fresh_prose", "fresh_run", "explained", "region", "copies", "stray", "again")
NAMES = ALONE_NAMES + AMONG_NAMES


def bare(context: Context) -> bool:
    """Whether a page has a sentence and nothing that chrome is made of: no link, button, form, dialog or note about scripts.

    Such a page is its sentences, however few: there is no frame that they could be part of.
    """
    page = context.page
    marks = page.marks[page.row]
    return bool(_says(context).any()) and not (page.linked.any() or (marks & (BUTTON | FORM | DIALOG | NOSCRIPT)).any())


def wordless(context: Context) -> bool:
    """Whether a page has fewer than WORDS tokens in all, and no sentence and no line of prose among them: labels, not a text."""
    t = context.tokens
    return int(t.sum()) < WORDS and not (_says(context) | (t >= ENOUGH)).any()


def _says(context: Context) -> Ints:
    """Which leaves have a sentence."""
    return (context.page.sentence_ends > 0) & (context.tokens >= SENTENCE)


def features(context: Context, p: Ints, copies: int) -> dict[str, float]:
    """What the page as a whole shows, by name; those of AMONG_NAMES are NaN without siblings. `copies`: near-duplicates of it.

    14 times the parse, with what it has the context work out.
    """
    page, t = context.page, context.tokens
    mass = p * t
    total, inside = max(float(t.sum()), 1.0), max(float(mass.sum()), 1e-9)
    prose = ((page.sentence_ends + page.commas > 0) & (t >= ENOUGH) | (t >= LONG)) & (page.heading == 0)
    read = ((page.sentence_ends > 0) & (t >= ENOUGH) | (t >= LONG)) & (context.link_share < 0.5)
    ones = np.ones(len(page), np.int64)
    marks = context.marks
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
        "way_back": float(_followed(prose & (p >= LIKELY_ENOUGH), _front_links(context))),
        "buttons": float(np.log1p(_followed(prose, marks & BUTTON > 0))),
        "links": float((t * context.link_share).sum() / total),
        "linked_content": float((mass * context.link_share).sum() / inside),
        "linked_prose": float((mass * context.link_share)[prose].sum() / inside),
        "heading_p": float(p[context.main_heading]) if context.main_heading >= 0 else 0.0,
        "headings": float(mass[page.heading > 0].sum() / inside),
        "rows": float(mass[page.group >= 0].sum() / inside),
        "sure_lines": float(_longest_run(p * read, ones, SURE)),
        "likely_lines": float(_longest_run(p * read, ones)),
        "likely_run": float(np.log1p(_longest_run(p * read, t))),
        **_entries(context, p),
        **_after_title(context, p, prose),
        **{f"seen_{name}": value for name, value in first_look(seen_columns(context.page)).items()},
    }
    unlinked = max(float(context.unlinked.sum()), 1.0)
    if context.site is None:
        return found | dict.fromkeys(AMONG_NAMES, float("nan"))
    fresh = context.fresh
    region = context.inside(context.site_majority) if context.site_majority >= 0 else np.ones(len(page), bool)
    return found | {
        "fresh": float(np.log1p((p * fresh).sum())),
        "fresh_prose": float(np.log1p((p * fresh)[prose].sum())),
        "fresh_run": float(np.log1p(_longest_run(p * read, fresh))),
        "explained": float(1 - fresh.sum() / unlinked),
        "region": float((p * fresh)[region > 0].sum() / max(float((p * fresh).sum()), 1e-9)),
        "copies": float(np.log1p(copies)),
        "stray": float(context.layout is None),
        "again": float(mass[prose & (context.k(context.site, "text") > 0)].sum() / max(float(mass[prose].sum()), 1e-9)),
    }


def _after_title(context: Context, p: Ints, prose: Ints) -> dict[str, float]:
    """Of the unlinked leaf that says most of the page's title, whatever its element: how much of it, and what follows."""
    t = context.tokens
    said = np.where((context.title_share >= TITLE) & (context.link_share < 0.5), context.title_share * t, 0.0)
    if not said.any():
        return {"title_said": 0.0, "after_title": 0.0, "after_title_words": 0.0}
    place = len(said) - 1 - int(np.argmax(said[::-1]))  # the last: crumbs come before the headline
    after = slice(place + 1, place + 6)
    return {
        "title_said": float(np.log1p(said[place])),
        "after_title": float(np.log1p((p * t)[after].sum())),
        "after_title_words": float(np.log1p((t * prose)[after].sum())),
    }


def seen_columns(page: Fingerprint) -> Columns:
    """What `templatediff.glance` looks at, from the whole fingerprint of a page."""
    front = np.zeros(len(page), bool)
    front[page.link_leaf[page.link_target == front_page()]] = True
    marks, parent = page.marks[page.row], page.parent[page.row]
    return Columns(page.texts, page.linked, page.heading, page.group, marks, parent, front, page.title or "")


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


def _longest_run(p: Ints, t: Ints, least: float = LIKELY) -> float:
    """Tokens of the heaviest run of neighbouring leaves of this P or more."""
    likely = p >= least
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


def _followed(prose: Ints, sought: Ints) -> int:
    """How many leaves of the sought kind stand in a row directly after a leaf of prose."""
    if not sought.any():
        return 0
    count, open_ = 0, False
    for is_prose, is_sought in zip(prose.tolist(), sought.tolist(), strict=True):
        count += open_ and is_sought
        open_ = is_prose or (open_ and is_sought)
    return count


def _front_links(context: Context) -> Ints:
    """Which leaves are a link to the site's front page."""
    page = context.page
    leaves = page.link_leaf[page.link_target == front_page()]
    found = np.zeros(len(page), bool)
    found[leaves[context.link_share[leaves] > 0.5]] = True
    return found
