"""Probabilities -> one for each unit: leaves that live or die together share theirs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from templatediff.choose import HIGHEST
from templatediff.context import Context
from templatediff.fingerprint import Fingerprint, Ints
from templatediff.marks import CELL, HEADER_CELL, TERM
from templatediff.repetition import numbered

LONG_ENOUGH = 8  #: tokens of a leaf that is settled by itself
SURE, DOUBTFUL = 0.85, 0.3  #: P of leaves between which doubtful ones stay, and of those at least
PLAIN, FEW_LINES = 0.2, 2  #: link share of these, how many of them


def together(context: Context, p: Ints, join_below: int) -> tuple[Ints, Ints]:
    """One P for what lives or dies together: rows of a data table, a code block, short paragraphs with their neighbour, doubtful
    lines with the content that they stand in.
    Second comes the unit of each leaf, a number that such leaves share.

    P is the mean over tokens; in a row of a data table, over the cells that are not on most siblings, if there are any,
    so that a label stays beside a changing value; likewise a term and its definition.
    """
    page = context.page
    repeated = np.nan_to_num(context.known) > 0.5
    unit = np.where(page.group >= 0, page.group, len(page.parent) + np.arange(len(page)))
    if join_below:
        unit = _joined(page, unit, join_below, repeated)
    unit = _between(context, p, unit)
    unit, terms = _defined(page, _headed(page, unit))
    _, place, leaves = numbered(unit)
    weight = _weights(context, place, terms, repeated)
    mean = np.bincount(place, weights=p * weight) / np.bincount(place, weights=weight)
    return np.round(np.where(leaves[place] == 1, p, mean[place]), 4), place


def _weights(context: Context, place: Ints, terms: Ints, repeated: Ints) -> Ints:
    """Tokens by which the leaves of a unit count in its mean: in a row of a data table and in a term with its definition those of
    leaves that most siblings have count for nothing beside others."""
    page = context.page
    tokens = np.maximum(page.token_count, 0.1)
    in_rows = ((page.group >= 0) & (context.marks & CELL > 0)) | terms
    changing = np.where(in_rows & repeated, 0.0, tokens)
    return np.where(np.bincount(place, weights=changing)[place] > 0, changing, tokens)


def _between(context: Context, p: Ints, unit: Ints) -> Ints:
    """A doubtful short line or two between two leaves of SURE content take the unit of the one before: the lines of an address
    in the text, the label of a note. Out of fold 6 of 750 real pages get better by it and 5 worse among siblings, 6 and 7 alone,
    all by little."""
    page, joined = context.page, unit.copy()
    plain = (context.link_share < PLAIN) & (page.heading == 0) & (page.group < 0)
    doubtful = (p >= DOUBTFUL) & (p < SURE) & plain & (context.tokens <= LONG_ENOUGH)
    if not (p[doubtful] < HIGHEST).any():
        return unit
    _, place, _ = numbered(unit)
    tokens = np.maximum(context.tokens, 0.1)
    sure = (np.bincount(place, weights=p * tokens) / np.bincount(place, weights=tokens))[place] >= SURE
    starts = np.flatnonzero(np.diff(doubtful, prepend=False, append=False)).reshape(-1, 2)
    for start, end in starts.tolist():
        if start > 0 and end < len(p) and end - start <= FEW_LINES and sure[start - 1] and sure[end]:
            joined[start:end] = joined[start - 1]
    return joined


def _headed(page: Fingerprint, unit: Ints) -> Ints:
    """The column labels of a data table, a row of header cells alone, take the unit of the row below them: on a site whose
    tables have the same columns they stand on every page."""
    heads = (page.group >= 0) & (page.marks[page.row] & HEADER_CELL > 0)
    if not heads.any():
        return unit
    joined = unit.copy()
    starts = np.flatnonzero(np.concatenate([[True], page.group[1:] != page.group[:-1]])).tolist()
    for start, end in pairwise(starts):
        below = page.group[end] >= 0 and not heads[end]
        if below and heads[start:end].all() and _table(page, int(page.row[start])) == _table(page, int(page.row[end])):
            joined[start:end] = unit[end]
    return joined


def _table(page: Fingerprint, row: int) -> int:
    """Row of the table that a container lies in, -1 for none."""
    while row >= 0 and page.tags[page.tag[row]] != "table":
        row = int(page.parent[row])
    return row


def _defined(page: Fingerprint, unit: Ints) -> tuple[Ints, Ints]:
    """A term takes the unit of what follows it in the same list, which defines it; and which leaves are such terms."""
    terms = page.marks[page.row] & TERM > 0
    if not terms.any():
        return unit, terms
    joined, parent = unit.copy(), page.parent[page.row]
    terms[:-1] &= parent[:-1] == parent[1:]
    terms[-1] = False
    for number in np.flatnonzero(terms)[::-1].tolist():
        joined[number] = joined[number + 1]
    return joined, terms


def _joined(page: Fingerprint, unit: Ints, join_below: int, repeated: Ints) -> Ints:
    """A paragraph (`p`) of fewer tokens takes the unit of the leaf before it under the same parent, where the siblings have
    both or neither."""
    joined = unit.copy()
    paragraph = np.array([tag == "p" for tag in page.tags] or [False])[page.tag[page.row]]
    parent = page.parent[page.row]
    plain = (page.group < 0) & (page.heading == 0) & (page.linked == 0)
    joins = (paragraph & plain & (page.token_count < join_below))[1:] & (parent[1:] == parent[:-1])
    joins &= (page.heading[:-1] == 0) & (repeated[1:] == repeated[:-1])
    for before in np.flatnonzero(joins).tolist():
        joined[before + 1] = joined[before]
    return joined
