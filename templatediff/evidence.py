"""Leaf + page + template -> one row of numbers, by named columns.

Every evidence is a small function of a `Context` that gives one number a leaf, or of several columns at once where one
call of numpy gives them all; `EVIDENCE` lists them. Adding one is adding a function there (the shipped weights name the
columns they were fitted on, so others may stand beside them). Unknown is NaN, never a guess: without siblings all that
siblings could say is NaN.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from templatediff.addresses import ACTION, FRAGMENT, INSIDE, OUTSIDE
from templatediff.context import LEVELS, LONG, Context
from templatediff.fingerprint import Ints
from templatediff.gist import gist_scores
from templatediff.marks import MARK_NAMES
from templatediff.repetition import SLOT_COLUMNS, View, among

__all__ = [
    "EVIDENCE",
    "LEVELS",
    "LONG",
    "NAMES",
    "NAME_COLUMNS",
    "Context",
    "Evidence",
    "name_rows",
    "plain_rows",
    "rows",
]

Function = Callable[[Context], Ints]
Pick = Callable[[Context], View | None]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A named column. `siblings` tells whether it needs other pages.

    `block` gives several columns at once, shape (k, n), of which this is number `place`; `function` gives it alone.
    """

    name: str
    function: Function
    siblings: bool = False
    block: Function | None = None
    place: int = 0


Columns = tuple[tuple[str | tuple[str, ...], Function], ...]


def _listed(columns: Columns, siblings: bool = False) -> tuple[Evidence, ...]:
    found: list[Evidence] = []
    for names, function in columns:
        if isinstance(names, str):
            found.append(Evidence(names, function, siblings))
        else:
            found += [
                Evidence(name, partial(_one, function, place), siblings, function, place)
                for place, name in enumerate(names)
            ]
    return tuple(found)


def _one(block: Function, place: int, context: Context) -> Ints:
    return np.asarray(block(context)[place])


def _unknown(context: Context, columns: int) -> Ints:
    return np.full((columns, context.n), np.nan)


def _steps(name: str, steps: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"{name}_{step:+d}" for step in steps)


def _heights(*names: str, start: int = 0, end: int = LEVELS) -> tuple[str, ...]:
    return tuple(f"{name}_{height}" for name in names for height in range(start, end))


def _log(values: Ints) -> Ints:
    return np.log1p(np.maximum(values, 0))


# -- the leaf's own text, links and markup

_TAG_CODES = {
    "p": 1, "li": 2, "td": 3, "th": 4, "div": 5, "h1": 6, "h2": 6, "h3": 6, "h4": 6, "h5": 6, "h6": 6, "dt": 7,
    "dd": 8, "pre": 9, "blockquote": 10, "figcaption": 11, "button": 12, "section": 13, "article": 14, "body": 15,
    "label": 16, "address": 17, "header": 18, "footer": 19, "nav": 20, "aside": 21, "main": 22, "summary": 23,
    "form": 24, "center": 5, "caption": 11,
}  # fmt: skip


def _tag_code(context: Context) -> Ints:
    page = context.page
    codes = np.array([_TAG_CODES.get(tag, 0) for tag in page.tags] or [0], float)
    return codes.take(page.tag.take(page.row))


def _marked(context: Context) -> Ints:
    return np.asarray((context.marks & _MARK_BITS) > 0)


_MARK_BITS = np.array([[1 << bit] for bit in range(len(MARK_NAMES))])
_KINDS = (OUTSIDE, INSIDE, FRAGMENT, ACTION)


def _link_kinds(context: Context) -> Ints:
    """Share of each kind among a leaf's links; NaN for leaves without links."""
    page, n = context.page, context.n
    counts = np.bincount(page.link_leaf * 4 + page.link_kind, minlength=4 * n).reshape(n, 4).T
    shares = counts.take(_KINDS, axis=0) / np.maximum(context.link_counts, 1)
    return np.where(context.link_counts > 0, shares, np.nan)


_OF_THE_LEAF: Columns = (
    ("tokens", lambda c: c.log_tokens),
    ("token_length", lambda c: c.page.characters / c.some_tokens),
    ("digit_share", lambda c: c.page.digits / c.some_characters),
    ("sentence_rate", lambda c: c.page.sentence_ends / c.some_tokens),
    ("comma_rate", lambda c: c.page.commas / c.some_tokens),
    ("capital_rate", lambda c: c.page.capitals / c.some_tokens),
    ("stop_share", lambda c: c.stops),
    ("strong_share", lambda c: c.page.strong / c.some_characters),
    ("copies", lambda c: np.log(c.copies)),
    ("link_share", lambda c: c.link_share),
    ("links", lambda c: np.log1p(c.link_counts)),
    (("links_outside", "links_inside", "links_fragment", "links_action"), _link_kinds),
    ("tag", _tag_code),
    ("heading", lambda c: c.page.heading),
    ("breaks", lambda c: np.minimum(c.page.breaks, 3)),
    ("grouped", lambda c: c.page.group >= 0),
    (tuple(f"in_{name}" for name in MARK_NAMES), _marked),
    ("depth", lambda c: c.depth.take(c.page.row)),
    ("place", lambda c: _log(c.page.place.take(c.page.row))),
)

# -- where the leaf stands in its page, what the page is about, and what stands near


def _page_wide(context: Context) -> Ints:
    """Numbers of the page, the same for every leaf."""
    c, total = context, max(context.token_sum, 1)
    values = [
        np.log1p(float(c.page.token_start[-1])),
        float(c.linked_tokens.sum()) / total,
        float(c.prose.sum()) / total,
        float(c.fresh.sum()) / total,
        np.log1p(float(c.prose.sum())),
    ]
    return np.array(values)[:, None]


def _after_heading(context: Context) -> Ints:
    """Tokens since the headline, signed and logarithmic; NaN without one."""
    if context.main_heading < 0:
        return np.full(context.n, np.nan)
    distance = context.page_start - context.page_start[context.main_heading]
    return np.asarray(np.sign(distance) * np.log1p(np.abs(distance)))


def _common_depth(context: Context) -> Ints:
    """How many steps above a leaf the container stands that it shares with the headline; NaN without one."""
    if context.main_heading < 0:
        return np.full(context.n, np.nan)
    page = context.page
    shared = np.zeros(len(page.parent), np.int64)  # depth of the lowest container of each that holds the headline
    row = int(page.row[context.main_heading])
    chain = [row]
    while page.parent[row] >= 0:
        row = int(page.parent[row])
        chain.append(row)
    for row in reversed(chain):
        shared[row : page.ends[row]] = context.depth[row]
    return (context.depth - shared).take(page.row)


def _since_prose(context: Context) -> Ints:
    """Tokens to the nearest leaf of new prose before and after the leaf, logarithmic; 12 where there is none."""
    found = np.full((2, context.n), 12.0)
    at = np.flatnonzero(context.prose >= 12)
    if not len(at):
        return found
    middle = context.page_start + context.tokens / 2
    places = np.arange(context.n)
    for row, chosen in enumerate((at.searchsorted(places) - 1, at.searchsorted(places, side="right"))):
        valid = (chosen >= 0) & (chosen < len(at))
        other = at.take(chosen, mode="clip")
        np.copyto(found[row], np.log1p(np.abs(middle - middle.take(other))), where=valid)
    return found


def _moved(values: Function, steps: tuple[int, ...]) -> Function:
    return lambda c: np.array([c.neighbour(values(c), step) for step in steps])


def _near(context: Context) -> Ints:
    """Sums over the leaves near by: new prose and tokens, then links and new tokens as shares of the tokens."""
    c = context
    columns = np.array([c.prose, c.tokens, c.linked_tokens, c.fresh])
    prose, tokens, linked, fresh = np.array([c.within(columns, 3), c.within(columns, 8)]).transpose(1, 0, 2)
    some = np.maximum(tokens, 1)
    return np.concatenate([_log(prose), _log(tokens / _SPANS), linked / some, fresh / some])


_SPANS = np.array([[7], [17]])


def _same_container(context: Context) -> Ints:
    found = np.zeros((2, context.n))
    found[0, 1:] = found[1, :-1] = context.page.row[1:] == context.page.row[:-1]
    return found


_OF_THE_PAGE: Columns = (
    ("position", lambda c: c.page_start / max(int(c.page.token_start[-1]), 1)),
    ("start", lambda c: _log(c.page_start)),
    ("to_end", lambda c: _log(c.page.token_start[-1] - c.page.token_start[1:])),
    (("page_tokens", "page_link_share", "page_prose_share", "page_fresh_share", "page_prose"), _page_wide),
    ("after_heading", _after_heading),
    ("heading_steps", _common_depth),
    (("prose_before", "prose_after"), _since_prose),
    ("gist", lambda c: gist_scores(c.page, c.site)),
    ("title_share", lambda c: c.title_share),
    ("is_title", lambda c: among(c.page.title_hashes, c.page.text_hash)),
    (_steps("tokens", (-2, -1, 1, 2)), _moved(lambda c: c.log_tokens, (-2, -1, 1, 2))),
    (_steps("link_share", (-2, -1, 1, 2)), _moved(lambda c: c.link_share, (-2, -1, 1, 2))),
    (_steps("stop_share", (-1, 1)), _moved(lambda c: c.stops, (-1, 1))),
    (_steps("heading", (-1, 1)), _moved(lambda c: c.page.heading, (-1, 1))),
    (_steps("same_key", (-1, 1)), _same_container),
    (
        tuple(f"{name}_within_{reach}" for name in ("prose", "tokens", "link_share", "fresh") for reach in (3, 8)),
        _near,
    ),
)

# -- records of equal structure on the page, and the containers around the leaf


def _at(*columns: Function, start: int = 0, end: int = LEVELS) -> Function:
    """Columns over containers, each read at the containers `start` to `end` - 1 steps above each leaf's own."""

    def read(c: Context) -> Ints:
        values = np.array([column(c) for column in columns])
        return values.take(c.ancestors[start:end], axis=1).reshape(-1, c.n)

    return read


def _under_links(c: Context) -> Ints:
    return np.asarray(c.subtree_linked / np.maximum(c.subtree_tokens, 1))


def _fresh_density(c: Context) -> Ints:
    """New unlinked tokens among all tokens under each container."""
    return np.asarray(c.fresh_under * max(int(c.fresh.sum()), 1) / np.maximum(c.subtree_tokens, 1))


def _of_records(c: Context) -> Ints:
    """Columns over containers, read at each leaf's record: 0 and -1 for leaves in none."""
    columns = np.array([_log(c.repeats[0]), _log(c.repeats[1]), _log(c.subtree_tokens), _under_links(c)])
    found = columns.take(c.record, axis=1, mode="clip")
    return np.where(c.record >= 0, found, _NO_RECORD)


_NO_RECORD = np.array([[0.0], [-1.0], [-1.0], [-1.0]])


def _single_wide(c: Context) -> Ints:
    single = float(c.single.sum())
    return np.array([np.log1p(single), single / max(c.token_sum, 1)])[:, None]


_OF_THE_TREE: Columns = (
    ("same_leaves", lambda c: _log(c.same_key[1]).take(c.same_key[0])),
    ("same_tokens", lambda c: _log(c.same_mean(c.tokens))),
    ("same_link_share", lambda c: c.same_mean(c.link_share)),
    ("same_stop_share", lambda c: c.same_mean(c.stops)),
    ("same_fresh", lambda c: c.same_mean(c.fresh > 0)),
    (
        _heights("under_tokens", "under_links", "under_leaf_tokens", start=1),
        _at(
            lambda c: _log(c.subtree_tokens),
            _under_links,
            lambda c: _log(c.subtree_tokens / np.maximum(c.subtree_leaves, 1)),
            start=1,
        ),
    ),
    (_heights("under_fresh", "under_prose"), _at(lambda c: c.fresh_under, lambda c: c.prose_under)),
    (_heights("fresh_density", start=1, end=4), _at(_fresh_density, start=1, end=4)),
    (_heights("repeats", "single", start=1), _at(lambda c: _log(c.repeats[0]), lambda c: c.single_under, start=1)),
    (("record_count", "record_place", "record_tokens", "record_links"), _of_records),
    ("single_before", lambda c: _log(np.cumsum(c.single) - c.single)),
    (("page_single", "page_single_share"), _single_wide),
    ("in_majority", lambda c: c.inside(c.majority_row)),
    ("majority_steps", lambda c: c.depth.take(c.page.row) - c.depth[c.majority_row]),
)

# -- what the siblings say


def _site(c: Context) -> View | None:
    return c.site


def _layout(c: Context) -> View | None:
    return c.layout


def _siblings_of(pick: Pick) -> Function:
    return lambda c: np.full(c.n, np.log1p(float(view.n)) if (view := pick(c)) else 0.0)


def _standing(pick: Pick) -> Function:
    """On which share of a level's siblings the leaf's text stands, whether on any, its folded text, its text at its place,
    and, on average, the targets of its links."""

    def shares(c: Context) -> Ints:
        view = pick(c)
        if view is None:
            return _unknown(c, 5)
        text = c.k(view, "text")
        counts = np.array([text, text > 0, c.k(view, "folded", "folded"), c.k(view, "pair", "pair")])
        found = np.empty((5, c.n))
        np.divide(counts, view.n, out=found[:4])
        found[1] = counts[1]
        found[4] = c.per_leaf(c.k(view, "target", "target") / view.n)
        return found

    return shares


_PRESENT, _LEAVES, _TOKENS, _LINKED, _CHARACTERS, _NEW, _DISTINCT = map(
    SLOT_COLUMNS.index, ("present", "leaves", "tokens", "linked", "characters", "new_leaves", "distinct")
)


def _slots(pick: Pick) -> Function:
    """What the leaf's slot holds on a level's siblings, worked out for each distinct slot of the page."""

    def ratios(c: Context) -> Ints:
        view = pick(c)
        if view is None:
            return _unknown(c, 6)
        table = c.slot_rows(view).T
        above, below = table.take(_ABOVE, axis=0), table.take(_BELOW, axis=0)
        found = np.empty((6, table.shape[1]))
        found[0] = table[_PRESENT] / view.n
        found[1:] = np.where(below > 0, above / np.maximum(below, 1), np.nan)
        found[1:3] = _log(found[1:3])
        return found.take(c.places[1], axis=1)

    return ratios


_ABOVE = (_TOKENS, _LEAVES, _LINKED, _NEW, _DISTINCT)
_BELOW = (_LEAVES, _PRESENT, _CHARACTERS, _LEAVES, _LEAVES)


def _of_a_level(name: str, pick: Pick) -> Columns:
    """What stands on how many siblings of a level, and what its slots hold there."""
    standing = ("text", "text_any", "folded", "pair", "targets")
    slots = ("present", "tokens", "leaves", "links", "new", "distinct")
    return (
        (tuple(f"{name}_{column}" for column in standing), _standing(pick)),
        (tuple(f"{name}_slot_{column}" for column in slots), _slots(pick)),
    )


def _known_near(c: Context) -> Ints:
    both = np.array([c.tokens * np.nan_to_num(c.known), c.tokens])
    known, tokens = c.within(both, 3)
    return np.asarray(known / np.maximum(tokens, 1))


def _elsewhere(c: Context) -> Ints:
    """Whether the leaf is a title, a heading, a link's text on any sibling; how many of its links lead by such words."""
    if c.site is None:
        return _unknown(c, 4)
    found = np.empty((4, c.n))
    for row, name in enumerate(("title", "heading", "link_text")):
        found[row] = c.k(c.site, name) > 0
    hits = (c.k(c.site, "title", "link_text") > 0) | (c.k(c.site, "heading", "link_text") > 0)
    found[3] = c.per_leaf(hits)
    return found


_OF_THE_SITE: Columns = (
    *_of_a_level("site", _site),
    *_of_a_level("layout", _layout),
    (
        _heights("site_region", "site_tag_region", "layout_region"),
        _at(lambda c: c.site_region, lambda c: c.site_tag_region, lambda c: c.layout_region),
    ),
    ("in_site_majority", lambda c: c.inside(c.site_majority)),
    ("site_ngrams", lambda c: c.site_ngrams[0]),
    ("site_ngrams_low", lambda c: c.site_ngrams[1]),
    ("site_known", lambda c: c.known),
    (_steps("known", (-1, 1)), _moved(lambda c: c.known, (-1, 1))),
    ("known_within_3", _known_near),
    (("is_other_title", "is_other_heading", "is_other_link", "links_to_titles"), _elsewhere),
)

EVIDENCE: tuple[Evidence, ...] = (
    *_listed(_OF_THE_LEAF + _OF_THE_PAGE + _OF_THE_TREE),
    Evidence("site_n", _siblings_of(_site)),
    Evidence("layout_n", _siblings_of(_layout)),
    *_listed(_OF_THE_SITE, siblings=True),
)
# What ids and classes say, by a table of name parts that the weights bring: at the leaf's container and above it.
NAME_COLUMNS = (*(f"name_{height}" for height in range(LEVELS)), "name_least", "name_most", "name_sum")

_NAME_PARTS = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{3,}")


def name_parts(step: str) -> frozenset[str]:
    """The words in the id and classes of a folded step, in lower case.

    >>> sorted(name_parts("div#mainContent.post-body")), name_parts("p")
    (['body', 'content', 'main', 'post'], frozenset())
    """
    return frozenset(_sorted_parts(step))


@lru_cache(1 << 15)
def _sorted_parts(step: str) -> tuple[str, ...]:
    """The same in order, kept for steps seen lately: pages of a site share theirs, and a look-up takes a tenth of the search."""
    names = step[len(step.partition(".")[0].partition("#")[0]) :]
    return tuple(sorted({part.lower() for part in _NAME_PARTS.findall(names)}))


def name_rows(context: Context, table: Mapping[str, float]) -> Ints:
    """Log odds of content that the table gives the names around each leaf, shape (leaves, NAME_COLUMNS), NaN for no name.

    A container's figure is the mean over the parts of its names that the table knows.
    """
    return np.asarray(_name_columns(context, table).T)


def _name_columns(context: Context, table: Mapping[str, float]) -> Ints:
    page = context.page.origin or context.page
    figures = np.array(_name_figures(page.steps, table) or [np.nan])
    chain = figures.take(page.step).take(context.ancestors)
    found = np.empty((len(NAME_COLUMNS), context.n))
    found[:LEVELS] = chain
    np.fmin.reduce(chain, axis=0, out=found[LEVELS])  # NaN where all are
    np.fmax.reduce(chain, axis=0, out=found[LEVELS + 1])
    total = np.nansum(chain, axis=0)
    found[LEVELS + 2] = np.where(np.isnan(found[LEVELS]), np.nan, total)
    return np.round(found, 4).astype(np.float32)


def _name_figures(steps: Sequence[str], table: Mapping[str, float]) -> list[float]:
    """Mean of what the table gives the name parts of each step, NaN where it knows none.

    >>> _name_figures(["div#mainContent.post-body", "p", "div.Post.post"], {"content": 1.0, "post": 2.0, "p": 9.0})
    [1.5, nan, 2.0]
    """
    found: list[float] = []
    for step in steps:
        figures = [table[part] for part in _sorted_parts(step) if part in table]
        found.append(sum(figures) / len(figures) if figures else np.nan)
    return found


NAMES: tuple[str, ...] = (*(evidence.name for evidence in EVIDENCE), *NAME_COLUMNS)


def rows(context: Context, names: Mapping[str, float], evidence: tuple[Evidence, ...] = EVIDENCE) -> Ints:
    """The evidence matrix of a page, shape (leaves, columns), float32, NaN where unknown, 4 decimals.

    Its columns are those of `evidence`, then NAME_COLUMNS by the table `names`. A column's values lie side by side in memory.
    Among siblings 20 times the parse, alone 13 times: a third is gist, n-grams and the title, the rest calls of numpy.
    """
    matrix = np.empty((len(evidence) + len(NAME_COLUMNS), context.n), np.float32)
    _fill(matrix[: len(evidence)], context, evidence)
    matrix[len(evidence) :] = _name_columns(context, names)
    return np.asarray(matrix.T)


def plain_rows(context: Context, evidence: tuple[Evidence, ...] = EVIDENCE) -> Ints:
    """The part of the evidence matrix that needs no table of names."""
    matrix = np.empty((len(evidence), context.n), np.float32)
    _fill(matrix, context, evidence)
    return np.asarray(matrix.T)


def _fill(matrix: Ints, context: Context, evidence: tuple[Evidence, ...]) -> None:
    if not context.n:
        return
    for start, end, function in _PLAN if evidence is EVIDENCE else _plan(evidence):
        matrix[start:end] = function(context)
    np.round(matrix, 4, out=matrix)


def _plan(evidence: tuple[Evidence, ...]) -> list[tuple[int, int, Function]]:
    """(first column, end, what gives them): blocks that stand there whole are asked for once."""
    plan: list[tuple[int, int, Function]] = []
    start = 0
    while start < len(evidence):
        block, end = evidence[start].block, start + 1
        if block is not None:
            while end < len(evidence) and evidence[end].block is block:
                end += 1
            whole = [one for one in EVIDENCE if one.block is block]
            if list(evidence[start:end]) == whole:
                plan.append((start, end, block))
                start = end
                continue
        plan.append((start, start + 1, evidence[start].function))
        start += 1
    return plan


_PLAN = _plan(EVIDENCE)
