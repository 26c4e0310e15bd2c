"""Which leaves of a page are in its gold text.

Gold texts say what the content is, not where it stands: `align` finds the leaves again. It gives each
leaf's share in the gold (the truth that weights are fitted to) and the leaf oracle: the choice of leaves
whose text scores best, as far as a local search can tell. The oracle's F1 is the ceiling of any extractor
that keeps or drops whole leaves.

1. A chain: leaves in page order matched to ever later places of the gold, the heaviest such chain (weighted
   longest increasing subsequence). Where a text stands several times on the page, the copy beside other
   matched leaves is the one the gold means. Leaves of fewer than four tokens take part: most values of a
   record are short.
2. Leaves that are whole lines of the gold, and leaves between whose neighbours a gold shingle runs, join
   in.
3. A local search flips leaves while F1 of 4-token shingles rises (scoring.py), with shingles over the seams
   counted.

What the gold skips inside its range (headline, byline, caption) stays out, since it adds no shingle of the
gold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchmarks.scoring import N, tokens

#: The chain considers at most this many gold places for one leaf; commoner texts say little about the place.
MAX_PLACES = 24
#: What a page token skipped costs in the chain, in tokens matched: enough to prefer a near copy to a far one.
SKIP = 0.002
MAX_SWEEPS = 6


@dataclass(frozen=True, slots=True)
class Alignment:
    """The result of `align`, one entry a leaf, in page order.

    share   part of the leaf's tokens that the gold has, 0..1; a text that stands more often on the page than
            in the gold counts for the copies in the gold's order only
    oracle  is the leaf in the best choice found
    f1      shingle F1 of the chosen leaves joined, as score.py would give it
    """

    share: list[float]
    oracle: list[bool]
    f1: float


def align(leaves: Sequence[str], gold: str) -> Alignment:
    """Find the `leaves` (texts in page order) that make up `gold`.

    >>> align(["Home", "One two three four five", "Share this", "six seven eight nine"],
    ...       "One two three four five. Six seven eight nine.")
    Alignment(share=[0.0, 1.0, 0.0, 1.0], oracle=[False, True, False, True], f1=1.0)
    """
    target = _Gold(gold)
    words = [target.ids(tokens(leaf)) for leaf in leaves]
    if not target.words:
        return Alignment([0.0] * len(words), [False] * len(words), 1.0)
    if len(target.words) < N:
        return _align_short(words, target)
    chain = _chain(words, target)
    kept = [bool(ids) and weight >= 0.5 * len(ids) for ids, weight in zip(words, chain, strict=True)]
    _join_lines(words, target, kept)
    _join_runs(words, target, kept)
    search = _Search(words, target, kept)
    search.run()
    share = search.shares()
    for place, ids in enumerate(words):
        if 0 < len(ids) < N and kept[place]:
            share[place] = max(share[place], chain[place] / len(ids))
    _settle_wordless(words, kept, share)
    return Alignment(share, kept, search.f1())


class _Gold:
    """The gold as numbers: words from 1 (0 is a word that it has not), its shingles and where they stand."""

    def __init__(self, gold: str) -> None:
        self.lines = [line for line in map(tokens, gold.splitlines()) if line]
        words = tokens(gold)
        self._numbers = {word: number for number, word in enumerate(dict.fromkeys(words), start=1)}
        self.words = tuple(self._numbers[word] for word in words)
        self.places: dict[tuple[int, ...], list[int]] = {}
        for place in range(len(words) - N + 1):
            self.places.setdefault(self.words[place : place + N], []).append(place)
        self.count = {shingle: len(places) for shingle, places in self.places.items()}
        self._short_places: list[dict[tuple[int, ...], list[int]]] = []

    def ids(self, words: Sequence[str]) -> tuple[int, ...]:
        get = self._numbers.get
        return tuple([get(word, 0) for word in words])

    def short_places(self, ids: tuple[int, ...]) -> list[int]:
        """Where a run of one to three words stands in the gold."""
        if not self._short_places:
            for length in range(1, N):
                table: dict[tuple[int, ...], list[int]] = {}
                for place in range(len(self.words) - length + 1):
                    table.setdefault(self.words[place : place + length], []).append(place)
                self._short_places.append(table)
        return self._short_places[len(ids) - 1].get(ids, [])


def _windows(ids: Sequence[int]) -> list[tuple[int, ...]]:
    return list(zip(ids, ids[1:], ids[2:], ids[3:], strict=False))


# --- 1. the chain ------------------------------------------------------------------------------------------


def _chain(words: Sequence[tuple[int, ...]], target: _Gold) -> list[float]:
    """Per leaf the number of its tokens that the chain matches, 0 for leaves outside the chain.

    best[i] = weight[i] + max over earlier j at an earlier gold place of (best[j] - SKIP * tokens between),
    kept in a Fenwick tree of prefix maxima over gold places: O(leaves * places * log gold).
    """
    size = len(target.words) + 1
    tree: list[tuple[float, int]] = [(0.0, -1)] * (size + 1)
    entries: list[tuple[float, int, float, int]] = []  # value, leaf, matched tokens, entry before
    passed = 0
    best_end = (0.0, -1)
    for leaf, ids in enumerate(words):
        passed += len(ids)
        matched, starts = _candidates(ids, target)
        if not starts:
            continue
        # A lone short text may be anywhere; it is worth less than the same number of tokens in running text.
        weight = matched if len(ids) >= N else matched * 0.5
        fresh: list[tuple[int, int]] = []
        for start in starts:
            value, before = 0.0, -1
            node = start
            while node > 0:
                if tree[node][0] > value:
                    value, before = tree[node]
                node &= node - 1
            # Tree values carry the skip cost of all tokens up to their leaf: distance becomes a difference.
            total = weight if before < 0 else max(weight, value - SKIP * (passed - len(ids)) + weight)
            if before >= 0 and total <= weight:
                before = -1
            entries.append((total, leaf, matched, before))
            fresh.append((start, len(entries) - 1))
            if total > best_end[0]:
                best_end = (total, len(entries) - 1)
        for start, entry in fresh:
            value = entries[entry][0] + SKIP * passed
            node = start + 1
            while node <= size:
                if value > tree[node][0]:
                    tree[node] = (value, entry)
                node += node & -node
    found = [0.0] * len(words)
    entry = best_end[1]
    while entry >= 0:
        _, leaf, matched, entry = entries[entry]
        found[leaf] = matched
    return found


def _candidates(ids: tuple[int, ...], target: _Gold) -> tuple[float, list[int]]:
    """How many tokens of the leaf the gold has in running text, and where in the gold the leaf may begin."""
    if not ids:
        return 0.0, []
    if len(ids) < N:
        if 0 in ids:
            return 0.0, []
        places = target.short_places(ids)
        return float(len(ids)), places if len(places) <= MAX_PLACES else []
    rarest: list[int] = []
    offset = 0
    covered, end = 0, 0
    for place, shingle in enumerate(_windows(ids)):
        found = target.places.get(shingle)
        if found is None:
            continue
        covered += place + N - max(place, end)
        end = place + N
        if not rarest or len(found) < len(rarest):
            rarest, offset = found, place
    if not rarest or len(rarest) > MAX_PLACES:
        return 0.0, []
    return float(covered), sorted({max(0, start - offset) for start in rarest})


# --- 2. joining in -----------------------------------------------------------------------------------------


def _join_lines(words: Sequence[tuple[int, ...]], target: _Gold, kept: list[bool]) -> None:
    """Take in leaves that are whole lines of the gold, as often as the gold has the line."""
    left = Counter(target.ids(line) for line in target.lines)
    for ids, chosen in zip(words, kept, strict=True):
        if chosen and ids in left:
            left[ids] -= 1
    for place, ids in enumerate(words):
        if not kept[place] and left.get(ids, 0) > 0:
            left[ids] -= 1
            kept[place] = True


def _join_runs(words: Sequence[tuple[int, ...]], target: _Gold, kept: list[bool]) -> None:
    """Take in runs of leaves over whose seams a gold shingle runs that the leaves kept so far do not give."""
    flat = [word for ids in words for word in ids]
    owner = [place for place, ids in enumerate(words) for _ in ids]
    have = Counter(_windows([word for word, place in zip(flat, owner, strict=True) if kept[place]]))
    for start, shingle in enumerate(_windows(flat)):
        first, last = owner[start], owner[start + N - 1]
        if first != last and have[shingle] < target.count.get(shingle, 0):
            between = [place for place in range(first, last + 1) if words[place]]
            if all(kept[place] for place in between):
                continue
            have[shingle] += 1
            # Only short leaves: a long one has shingles of its own to be judged by.
            for place in between:
                kept[place] = kept[place] or len(words[place]) < N


def _settle_wordless(words: Sequence[tuple[int, ...]], kept: list[bool], share: list[float]) -> None:
    """Leaves without a token (rules, bullets) follow their neighbours: kept when both sides are."""
    worded = [place for place, ids in enumerate(words) if ids]
    for before, after in pairwise(worded):
        if kept[before] and kept[after]:
            for place in range(before + 1, after):
                kept[place], share[place] = True, 1.0


def _align_short(words: Sequence[tuple[int, ...]], target: _Gold) -> Alignment:
    """A gold text shorter than a shingle: score.py wants exactly its tokens, so leaves that add up to it
    or none."""
    size = len(target.words)
    # Per number of gold words the leaves that give them; later leaves take over, so that the first whole is
    # close.
    reached: dict[int, tuple[int, ...]] = {0: ()}
    for place, ids in enumerate(words):
        for count, chosen in sorted(reached.items(), reverse=True):
            if ids and target.words[count : count + len(ids)] == ids:
                reached[count + len(ids)] = (*chosen, place)
        if size in reached:
            break
    whole = reached.get(size, ())
    kept = [place in whole for place in range(len(words))]
    return Alignment([float(keep) for keep in kept], kept, float(bool(whole)))


# --- 3. the local search -----------------------------------------------------------------------------------


class _Search:
    """Flips leaves while F1 rises. Only the gold's shingles are counted one by one; others by number."""

    def __init__(self, words: Sequence[tuple[int, ...]], target: _Gold, kept: list[bool]) -> None:
        self.words = words
        self.kept = kept
        self.want = target.count
        self.inner = [self._known(_windows(ids)) for ids in words]
        # A leaf can bring gold shingles from inside, or over a seam through its first or last word.
        self.hopeful = [
            bool(inner) or bool(ids and (ids[0] or ids[-1])) for ids, inner in zip(words, self.inner, strict=True)
        ]
        self.total_want = len(target.words) - N + 1
        self.got: dict[tuple[int, ...], int] = {}
        self.hits = 0
        self.length = 0
        chosen = [word for ids, keep in zip(words, kept, strict=True) if keep for word in ids]
        self._add(self._known(_windows(chosen)))
        self.length = len(chosen)

    def _known(self, shingles: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
        want = self.want
        return [shingle for shingle in shingles if shingle in want]

    def _add(self, shingles: list[tuple[int, ...]]) -> None:
        got, want = self.got, self.want
        for shingle in shingles:
            count = got.get(shingle, 0)
            if count < want[shingle]:
                self.hits += 1
            got[shingle] = count + 1

    def _remove(self, shingles: list[tuple[int, ...]]) -> None:
        got, want = self.got, self.want
        for shingle in shingles:
            count = got[shingle] - 1
            if count < want[shingle]:
                self.hits -= 1
            got[shingle] = count

    def f1(self, hits: int | None = None, length: int | None = None) -> float:
        hits = self.hits if hits is None else hits
        length = self.length if length is None else length
        if not hits:
            return 0.0
        return 2 * hits / (max(length - N + 1, 1) + self.total_want)

    def run(self) -> None:
        for _ in range(MAX_SWEEPS):
            if not self._sweep():
                return

    def _sweep(self) -> bool:
        words, kept = self.words, self.kept
        after = self._next_kept()
        left: tuple[int, ...] = ()
        changed = False
        for place, ids in enumerate(words):
            if not ids or not (kept[place] or self.hopeful[place]):
                continue
            if self._flip(place, left, self._right(after[place])):
                changed = True
            if kept[place]:
                left = (left + ids)[1 - N :]
        return changed

    def _next_kept(self) -> list[int]:
        """Per leaf the next kept leaf behind it, len(words) if there is none."""
        found = [0] * len(self.words)
        following = len(self.words)
        for place in range(len(self.words) - 1, -1, -1):
            found[place] = following
            if self.kept[place] and self.words[place]:
                following = place
        self._after = found
        return found

    def _right(self, place: int) -> tuple[int, ...]:
        """The first three kept words from leaf `place` on."""
        words: tuple[int, ...] = ()
        while place < len(self.words) and len(words) < N - 1:
            words += self.words[place]
            place = self._after[place]
        return words[: N - 1]

    def _flip(self, place: int, left: tuple[int, ...], right: tuple[int, ...]) -> bool:
        """Turn the leaf over if that raises F1; says whether it did."""
        ids = self.words[place]
        if len(ids) >= N:
            seams = self._known(_windows(left + ids[: N - 1])) + self._known(_windows(ids[1 - N :] + right))
        else:
            seams = self._known(_windows(left + ids + right))
        with_leaf = self.inner[place] + seams if len(ids) >= N else seams
        without = self._known(_windows(left + right))
        before = self.f1()
        hits = self.hits
        if self.kept[place]:
            self._remove(with_leaf)
            self._add(without)
            length = self.length - len(ids)
        else:
            self._remove(without)
            self._add(with_leaf)
            length = self.length + len(ids)
        if self.f1(self.hits, length) > before + 1e-12:
            self.kept[place] = not self.kept[place]
            self.length = length
            return True
        if self.kept[place]:
            self._remove(without)
            self._add(with_leaf)
        else:
            self._remove(with_leaf)
            self._add(without)
        assert self.hits == hits
        return False

    def shares(self) -> list[float]:
        """Per leaf the part of its tokens under gold shingles: those of the kept text, or for a leaf left out
        its own, as far as the kept leaves leave occurrences in the gold."""
        left = dict(self.want)
        covered = [0] * len(self.words)
        flat = [word for ids, keep in zip(self.words, self.kept, strict=True) if keep for word in ids]
        owner = [place for place, ids in enumerate(self.words) if self.kept[place] for _ in ids]
        self._cover(flat, owner, left, covered)
        for place, ids in enumerate(self.words):
            if not self.kept[place] and self.inner[place]:
                self._cover(ids, [place] * len(ids), left, covered)
        return [count / len(ids) if ids else 0.0 for count, ids in zip(covered, self.words, strict=True)]

    def _cover(
        self, flat: Sequence[int], owner: Sequence[int], left: dict[tuple[int, ...], int], covered: list[int]
    ) -> None:
        end = 0
        for start, shingle in enumerate(_windows(flat)):
            if left.get(shingle, 0) > 0:
                left[shingle] -= 1
                for place in range(max(start, end), start + N):
                    covered[owner[place]] += 1
                end = start + N


def place_of(leaves: Sequence[str], text: str) -> int:
    """The first leaf whose tokens are those of `text` (a headline, say), -1 if there is none.

    >>> place_of(["Home", "A  Day Out!"], "a day out")
    1
    """
    wanted = tokens(text)
    return next((place for place, leaf in enumerate(leaves) if wanted and tokens(leaf) == wanted), -1)
