"""Kept leaves -> those that are the lesser copy of others: an article that stands on its page twice."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from templatediff.fingerprint import Fingerprint, Ints

COPY_LEAVES, COPY_TOKENS, COPY_SHARE = 2, 40, 0.15  #: leaves, tokens and share of the kept text that make a copied run
COPY_GAP = 3  #: kept leaves further on at most that the next leaf of a copied run may stand
CLEARER = 0.05  #: by how much higher the mean P of the second copy must be to be the one that stays
#: of a leaf that repeats others: tokens, others, share of it that they are
WHOLE_TOKENS, WHOLE_LEAVES, WHOLE_SHARE = 60, 3, 0.8
TELLING = 20  #: characters of a leaf that is found in another by more than chance


def copied(page: Fingerprint, p: Ints, kept: Ints) -> Ints:
    """Kept leaves that are the lesser copy of a run of others in another container: an article that stands on the page
    twice, for wide and narrow screens or for print. The first copy stays unless P of the second is clearly higher.

    Single lines may come again (a refrain, a quotation in a forum); what goes is a run of some length, at least
    COPY_SHARE of all that is kept. `benchmarks/labels.py` counts the pages that this makes better and worse.
    """
    drop = np.zeros(len(page), bool)
    places = np.flatnonzero(kept & (page.token_count > 0))
    least = max(COPY_TOKENS, COPY_SHARE * int(page.token_count[places].sum()))
    parents = page.parent[page.row]
    for run in _copied_runs(page.text_hash[places].tolist()):
        if len(run) < COPY_LEAVES:
            continue
        first, second = places[[one for one, _ in run]], places[[two for _, two in run]]
        tokens = page.token_count[second]
        if tokens.sum() < least or first[-1] >= second[0]:
            continue
        if (parents[first[[0, -1]]] == parents[second[[0, -1]]]).all():
            continue
        clearer = float(((p[second] - p[first]) * tokens).sum() / tokens.sum()) > CLEARER
        drop[first if clearer else second] = True
    return drop


def retold(page: Fingerprint, p: Ints, kept: Ints) -> tuple[Ints, Ints]:
    """Kept leaves that tell others of the page over again in one piece, for search engines or scripts, and these others, in
    order, which take their place: they have the page's structure. Both as P, 0 where there is nothing of the kind.
    """
    whole, parts = np.zeros(len(page)), np.zeros(len(page))
    least = max(WHOLE_TOKENS, COPY_SHARE * int(page.token_count[kept].sum()))
    for place in np.flatnonzero(kept & (page.token_count >= least)).tolist():
        told = _told(page.texts, p, page.texts[place])
        if told:
            whole[place] = p[place]
            parts[told] = np.maximum(parts[told], p[place])
    return whole, parts


def _told(texts: Sequence[str], p: Ints, text: str) -> list[int]:
    """The leaves that a text tells one after the other, if there are WHOLE_LEAVES of TELLING characters and they and the
    short ones between them are WHOLE_SHARE of it.

    Short ones are looked for between two long ones alone: a word of a menu stands somewhere in most texts.
    """
    room = int((1 - WHOLE_SHARE) * len(text))  # for what is no leaf's
    found: list[tuple[int, int, int]] = []  # (leaf, start and end in the text)
    for number, other in enumerate(texts):
        size = len(other)
        if not TELLING <= size < len(text):
            continue
        if found and other == texts[found[-1][0]] and p[number] > p[found[-1][0]]:  # a headline after the crumbs
            found[-1] = (number, *found[-1][1:])
        end = found[-1][2] if found else 0
        start = text.find(other, end, end + room + size)
        if start >= 0:
            room -= start - end
            found.append((number, start, start + size))
    if len(found) < WHOLE_LEAVES:
        return []
    told = [number for number, _, _ in found]
    covered = sum(end - start for _, start, end in found)
    for (before, _, end), (after, start, _) in pairwise(found):
        for number in range(before + 1, after):
            at = text.find(texts[number], end, start)
            if at >= 0:
                end = at + len(texts[number])
                covered += len(texts[number])
                told.append(number)
    return sorted(told) if covered >= WHOLE_SHARE * len(text) else []


def _copied_runs(texts: Sequence[int]) -> list[list[tuple[int, int]]]:
    """Runs of (place, later place of the same text) in which both go on side by side, over gaps below COPY_GAP."""
    seen: dict[int, int] = {}
    runs: list[list[tuple[int, int]]] = []
    for place, text in enumerate(texts):
        before = seen.setdefault(text, place)
        if before == place:
            continue
        last = runs[-1][-1] if runs else None
        if last is not None and 0 < before - last[0] <= COPY_GAP and place - last[1] <= COPY_GAP:
            runs[-1].append((before, place))
        else:
            runs.append([(before, place)])
    return runs
