"""Fingerprints of a site -> what stands on how many of its pages.

Pages are first gathered into near-duplicate groups, each of which counts as one page. A level (the whole site, or one
layout) adds up what its groups hold; a view of a level leaves out the groups of the page that is looked at, so that
every statement is "on k of n *other* pages".

All tables hold integers, so that leaving out is exact and no sum depends on the order it was made in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from templatediff.fingerprint import Fingerprint, Ints

NEAR_DUPLICATE = 0.9  #: share of tokens that agree, of leaves that no third page has
SETS = ("text", "folded", "pair", "target", "token", "ngram", "title", "heading", "link_text")
SCALE = 10_000  #: shares are held as integers of this unit

_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Counts:
    """On how many groups each value stands: `values` sorted and distinct, `counts` beside them."""

    values: Ints
    counts: Ints

    def of(self, wanted: Ints) -> Ints:
        """Count of each wanted value, 0 where it is unknown; shape of `wanted`."""
        if not len(self.values) or not len(wanted):
            return np.zeros(len(wanted), np.int64)
        place = self.values.searchsorted(wanted)
        found = self.counts.take(place, mode="clip")
        found *= self.values.take(place, mode="clip") == wanted
        return found


@dataclass(frozen=True, slots=True)
class Sums:
    """Rows of integers added up by key: `keys` sorted and distinct, `table` of shape (keys, columns)."""

    keys: Ints
    table: Ints

    def of(self, wanted: Ints) -> Ints:
        """Row of each wanted key, zeros where it is unknown; shape (wanted, columns)."""
        if not len(self.keys):
            return np.zeros((len(wanted), self.table.shape[1]), np.int64)
        place = self.keys.searchsorted(wanted)
        found = self.table.take(place, axis=0, mode="clip")
        found *= (self.keys.take(place, mode="clip") == wanted)[:, None]
        return found


def among(values: Ints, wanted: Ints) -> Ints:
    """Which of the wanted values are among the sorted `values`, shape of `wanted`. For a page's few hundred a tenth of the
    cost of `numpy.isin`, which sorts or hashes both."""
    if not len(values):
        return np.zeros(len(wanted), bool)
    return np.asarray(values.take(values.searchsorted(wanted), mode="clip") == wanted)


def numbered(values: Ints) -> tuple[Ints, Ints, Ints]:
    """(distinct values in order, place of each value among them, how often each of them comes)."""
    if not len(values):
        return values, np.zeros(0, np.intp), np.zeros(0, np.intp)
    order = values.argsort()
    ordered = values.take(order)
    new = np.empty(len(values), bool)
    new[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    place = np.empty(len(values), np.intp)
    place[order] = new.cumsum() - 1
    return ordered[new], place, np.bincount(place)


def count(sets: Sequence[Ints], kind: type[np.unsignedinteger]) -> Counts:
    """Counts over several sets of distinct values."""
    if not sets:
        return Counts(np.zeros(0, kind), np.zeros(0, np.int64))
    values, counts = np.unique(np.concatenate(sets), return_counts=True)
    return Counts(values.astype(kind, copy=False), counts.astype(np.int64))


def add_up(keys: Ints, rows: Ints) -> Sums:
    """Sum the rows of equal keys. `keys` of shape (r,), `rows` of shape (r, columns)."""
    distinct, place = np.unique(keys, return_inverse=True)
    table = np.zeros((len(distinct), rows.shape[1]), np.int64)
    np.add.at(table, place, rows)
    return Sums(distinct, table)


def add_sums(parts: Sequence[Sums], columns: int) -> Sums:
    """Several tables of the same columns as one."""
    if not parts:
        return Sums(np.zeros(0, np.uint64), np.zeros((0, columns), np.int64))
    return add_up(np.concatenate([part.keys for part in parts]), np.concatenate([part.table for part in parts]))


# Columns of the slot table, by local structural key: groups that have it, leaves, tokens, linked characters,
# characters, leaves and tokens not found on other groups, distinct values (text, key).
SLOT_COLUMNS = ("present", "leaves", "tokens", "linked", "characters", "new_leaves", "new_tokens", "distinct")
# Columns of a region table, by path: groups that have it, share of the group's new unlinked tokens in SCALE units.
REGION_COLUMNS = ("present", "share")
# Columns of a lesson table: tokens, tokens times P(content) in SCALE units.
LESSON_COLUMNS = ("tokens", "content")


@dataclass(frozen=True, slots=True)
class Part:
    """What one group adds to a level: sets of the whole group, sums of its leader."""

    sets: dict[str, Ints]
    sums: dict[str, Sums] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Level:
    """A set of groups added up. `members` are group numbers."""

    members: frozenset[int]
    counts: dict[str, Counts]
    sums: dict[str, Sums]

    @property
    def n(self) -> int:
        return len(self.members)


@dataclass(frozen=True, slots=True)
class View:
    """A level without the groups of one page. `n` counts siblings."""

    level: Level
    own: tuple[Part, ...]

    @property
    def n(self) -> int:
        return self.level.n - len(self.own)

    def k(self, name: str, values: Ints) -> Ints:
        """On how many of the n siblings each value of the named set stands."""
        found = self.level.counts[name].of(values)
        for part in self.own:
            found -= among(part.sets[name], values)
        return np.maximum(found, 0, out=found) if self.own else found

    def total(self, name: str, keys: Ints) -> Ints:
        """Rows of the named sum over the siblings; shape (keys, columns)."""
        found = self.level.sums[name].of(keys)
        for part in self.own:
            found -= part.sums[name].of(keys)
        return np.maximum(found, 0, out=found) if self.own else found


def pair_hash(one: Ints, other: Ints) -> Ints:
    """Hash of a text at a place: order matters."""
    return np.asarray((one ^ (other >> np.uint64(17))) * _MIX + other)


def new_leaves(page: Fingerprint, site: View) -> Ints:
    """Which leaves of a page are not template by repetition alone: on fewer than one in five siblings (0 or 1)."""
    return (site.k("text", page.text_hash) * 5 <= site.n * (site.n >= 10)).astype(np.int64)


def new_tokens(page: Fingerprint, site: View) -> Ints:
    """Tokens of each leaf that are new and not linked, shape (n,)."""
    unlinked = 1.0 - page.linked / np.maximum(page.characters, 1)
    return np.asarray(np.rint(page.token_count * unlinked * new_leaves(page, site)), np.int64)


def subtree_sums(page: Fingerprint, values: Ints | None) -> Ints:
    """Sum of a leaf column, whole numbers, under each container (None: its leaves); shape (m,)."""
    running = np.zeros(len(page.parent) + 1, np.int64)
    np.cumsum(np.bincount(page.row, weights=values, minlength=len(page.parent)), out=running[1:], dtype=np.int64)
    return np.asarray(running.take(page.ends) - running[:-1])


def page_sets(page: Fingerprint, order: int) -> dict[str, Ints]:
    """The sets that one page adds."""
    local = page.local_keys[page.row] if len(page) else page.text_hash
    return {
        "text": np.unique(page.text_hash),
        "folded": np.unique(page.folded_hash),
        "pair": np.unique(pair_hash(page.text_hash, local)),
        "target": np.unique(page.link_target),
        "token": np.unique(page.token_hash),
        "ngram": np.unique(page.ngram_hashes(order)[1]),
        "title": np.unique(page.title_hashes),
        "heading": np.unique(page.text_hash[(page.heading > 0) & (page.heading <= 3)]),
        "link_text": np.unique(page.link_text),
    }


def page_sums(page: Fingerprint, site: View) -> dict[str, Sums]:
    """The sums that the leader of a group adds; `site` is the site level without the group."""
    if not len(page):
        empty = np.zeros(0, np.uint64)
        return {
            "slot": Sums(empty, np.zeros((0, len(SLOT_COLUMNS)), np.int64)),
            "region": Sums(empty, np.zeros((0, len(REGION_COLUMNS)), np.int64)),
            "tag_region": Sums(empty, np.zeros((0, len(REGION_COLUMNS)), np.int64)),
        }
    local = page.local_keys[page.row]
    fresh, unlinked = new_leaves(page, site), new_tokens(page, site)
    tokens = page.token_count
    pairs = pair_hash(page.text_hash, local)
    first_of_pair = np.zeros(len(page), np.int64)
    first_of_pair[np.unique(pairs, return_index=True)[1]] = 1
    slot = add_up(
        local,
        np.column_stack(
            [
                np.zeros_like(tokens),
                np.ones_like(tokens),
                tokens,
                page.linked,
                page.characters,
                fresh,
                tokens * fresh,
                first_of_pair,
            ]
        ),
    )
    slot.table[:, 0] = 1
    shares = subtree_sums(page, unlinked) * SCALE // max(int(unlinked.sum()), 1)
    sums = {"slot": slot}
    for name, paths in (("region", page.paths), ("tag_region", page.tag_paths)):
        table = add_up(paths, np.column_stack([np.zeros_like(shares), shares]))
        table.table[:, 0] = 1
        sums[name] = table
    return sums


def level(members: Sequence[int], parts: Sequence[Part]) -> Level:
    """Add up the parts of these groups."""
    chosen = [parts[number] for number in members]
    counts = {
        name: count([part.sets[name] for part in chosen], np.uint32 if name in ("token", "ngram") else np.uint64)
        for name in SETS
    }
    names = chosen[0].sums if chosen else {}
    sums = {name: add_sums([part.sums[name] for part in chosen], chosen[0].sums[name].table.shape[1]) for name in names}
    return Level(frozenset(members), counts, sums)


def near_duplicate_groups(pages: Sequence[Fingerprint]) -> list[list[int]]:
    """Groups of page numbers, each led by its first; the pages come in rank order.

    Two pages are near-duplicates if NEAR_DUPLICATE of the tokens of their leaves not found on a third page agree; with
    fewer than four pages only if their leaf sequences are equal. A page joins the first leader it resembles. Pages of
    equal leaf sequences count as one when "a third page" is looked for.
    """
    groups: list[list[int]] = []
    by_sequence: dict[bytes, int] = {}
    leaders: list[int] = []
    for number, page in enumerate(pages):
        sequence = page.text_hash.tobytes()
        if sequence in by_sequence and len(page):
            groups[by_sequence[sequence]].append(number)
        else:
            by_sequence[sequence] = len(groups)
            groups.append([number])
            leaders.append(number)
    if len(groups) < 4:
        return groups
    return _join_alike(groups, [pages[number] for number in leaders])


def _join_alike(groups: list[list[int]], leaders: list[Fingerprint]) -> list[list[int]]:
    weights = [_token_weights(page) for page in leaders]
    on = count([values for values, _ in weights], np.uint64)
    # leaves on exactly one page are a page's own; leaves on exactly two tie that pair together
    own: list[int] = []
    shared: dict[tuple[int, int], int] = {}
    holders: dict[int, int] = {}
    pair_tokens = [0] * len(leaders)
    for number, (values, tokens) in enumerate(weights):
        counts = on.of(values)
        own.append(int(tokens[counts == 1].sum()))
        for value, weight in zip(values[counts == 2].tolist(), tokens[counts == 2].tolist(), strict=True):
            pair_tokens[number] += weight
            if value in holders:
                place = (holders[value], number)
                shared[place] = shared.get(place, 0) + weight
            else:
                holders[value] = number
    leader_of: dict[int, int] = {}
    for number in range(len(leaders)):
        for other in range(number):
            agreeing = shared.get((other, number), 0)
            if not agreeing or other in leader_of:
                continue
            # tokens of either page's leaves that no third page has; shared ones stand in both
            alone = max(own[number], own[other])
            if agreeing >= NEAR_DUPLICATE * (agreeing + alone):
                leader_of[number] = other
                break
    merged: list[list[int]] = []
    place_of: dict[int, int] = {}
    for number, members in enumerate(groups):
        if number in leader_of:
            merged[place_of[leader_of[number]]].extend(members)
        else:
            place_of[number] = len(merged)
            merged.append(list(members))
    return merged


def _token_weights(page: Fingerprint) -> tuple[Ints, Ints]:
    """(distinct text hashes, tokens of the leaf each stands for)."""
    values, first = np.unique(page.text_hash, return_index=True)
    return values, page.token_count[first]
