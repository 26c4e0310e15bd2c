"""Places whose value changes from page to page, between leaves and inside them, and of what type the values are.

A place is a container's last folded steps, and the label before it where each of several leaves has a label of its own (a
table of specifications). Where many leaves of a place share words in the same order ("By ... on ..."), the words are a
pattern and what stands between them are slots; else the whole leaf is the value. What is constant where it stands, though
it stands on a few pages only (an optional block), is no value; what is drawn from a pool (adverts, sections) is one.

The patterns are those of log mining (Vaarandi's LogCluster: frequent words in order, the rest are gaps), with typed values
as units of their own and frequency counted in pages.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from templatediff.fingerprint import Fingerprint
from templatediff.marks import CODE
from templatediff.patterns import Pattern, find_patterns
from templatediff.selectors import Selectors
from templatediff.values import DATE, value_type

MOST_PAGES = 40  #: pages looked at, those of smallest rank
LEAST_PAGES = 2
LEAST_SHARE = 0.1  #: a slot is on at least this share of a layout's pages
ANCHOR = 0.8  #: texts on more than this share of the pages stand fast; places are counted from them
STATIC = 0.5
FIXED = 0.9  #: a text on this share of the pages that have its place is constant there
LABELLED = 0.6  #: share of a place's leaves that must follow a label of their own for it to be split by labels
EXAMPLES = 3
_FAR = 6  # leaves after an anchor from which on places are no longer told apart

Place = tuple[int, int]  # local key, hash of the label or 0
Seen = tuple[int, int]  # number of a page, number of a leaf
Pairs = frozenset[tuple[int, int]]  # of local key and text hash


@dataclass(frozen=True, slots=True)
class Slot:
    """One slot: CSS `selector` on its first page, `type`, `share` of the layout's pages, up to three `examples`.

    `before` and `after` are the constant words around the value in its leaf, `label` the constant leaf before it.
    """

    selector: str
    type: str
    share: float
    examples: tuple[str, ...]
    before: str = ""
    after: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Value:
    """A slot's value in a leaf: text[start:end]."""

    slot: Slot
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Slots:
    """The slots of a layout. `all` in the order of the first page that has each."""

    all: tuple[Slot, ...] = ()
    anchors: Pairs = frozenset()  # (local key, text hash): stands fast
    static: frozenset[int] = frozenset()  # hashes of texts on more than half of the pages
    split: frozenset[int] = frozenset()  # local keys whose leaves are told apart by the label before them
    still: Pairs = frozenset()  # (local key, text hash): constant where it stands
    pools: Pairs = frozenset()  # (local key, text hash): one of few values
    inside: Mapping[Place, tuple[tuple[Pattern, tuple[Slot | None, ...]], ...]] = field(default_factory=dict)
    whole: Mapping[Place, Slot] = field(default_factory=dict)
    pooled: Mapping[Place, Slot] = field(default_factory=dict)  # of whole leaves out of a pool, where these differ

    def of(self, page: Fingerprint, texts: Sequence[str]) -> list[tuple[Value, ...]]:
        """The values in each leaf of a page of this layout, whose whole texts are given."""
        if not self.all:
            return [()] * len(page)
        return [
            ()
            if leaf.pair in self.still
            or leaf.pair in self.anchors
            or (leaf.text in self.static and leaf.pair not in self.pools)
            else self._values(leaf.place(self.split), texts[number], leaf.pair in self.pools)
            for number, leaf in enumerate(_leaves(page, self.anchors))
        ]

    def _values(self, place: Place, text: str, pooled: bool) -> tuple[Value, ...]:
        for pattern, slots in self.inside.get(place, ()):
            spans = pattern.spans(text)
            if spans is not None:
                return tuple(
                    Value(slot, *span) for slot, span in zip(slots, spans, strict=True) if slot and span[0] < span[1]
                )
        slot = (self.pooled.get(place) if pooled else None) or self.whole.get(place)
        return (Value(slot, 0, len(text)),) if slot else ()


@dataclass(frozen=True, slots=True)
class _Leaf:
    key: int
    text: int
    anchor: int  # hash of the nearest leaf before it that stands fast, 0 for none
    distance: int  # leaves since then, from 1

    @property
    def pair(self) -> tuple[int, int]:
        return self.key, self.text

    def place(self, split: frozenset[int]) -> Place:
        return self.key, self.anchor if self.key in split and self.distance == 1 else 0


def _leaves(page: Fingerprint, anchors: Pairs) -> Iterator[_Leaf]:
    anchor = distance = 0
    for key, text in zip(_keys(page), page.text_hash.tolist(), strict=True):
        distance = min(distance + 1, _FAR)
        yield _Leaf(key, text, anchor, distance)
        if (key, text) in anchors:
            anchor, distance = text, 0


def _keys(page: Fingerprint) -> list[int]:
    """Local key of each leaf's container."""
    found: list[int] = page.local_keys[page.row].tolist() if len(page) else []
    return found


def find_slots(pages: Sequence[Fingerprint]) -> Slots:
    """The slots of a layout; `pages` are the leaders of its groups, in rank order."""
    pages = pages[:MOST_PAGES]
    selectors = Selectors(pages)
    if len(pages) < LEAST_PAGES:
        return Slots()
    on = Counter(text for page in pages for text in set(page.text_hash.tolist()))
    rows = [list(zip(_keys(page), page.text_hash.tolist(), strict=True)) for page in pages]
    pairs = Counter(pair for row in rows for pair in set(row))
    static = frozenset(text for text, count in on.items() if count > STATIC * len(pages))
    anchors = frozenset(pair for pair, count in pairs.items() if count > ANCHOR * len(pages) and count >= LEAST_PAGES)
    anchors = without_roaming(rows, anchors)
    walked = [list(_leaves(page, anchors)) for page in pages]
    still, pools = _repeated(walked, on, anchors)
    changing = [
        [
            (number, leaf)
            for number, leaf in enumerate(leaves)
            if leaf.pair not in anchors and leaf.pair not in still and (leaf.text not in static or leaf.pair in pools)
        ]
        for leaves in walked
    ]
    split = _split_by_labels(changing)
    places: dict[Place, list[Seen]] = {}
    for number, leaves_of_page in enumerate(changing):
        for leaf_number, leaf in leaves_of_page:
            places.setdefault(leaf.place(split), []).append((number, leaf_number))
    found: list[tuple[Seen, Slot]] = []
    inside: dict[Place, tuple[tuple[Pattern, tuple[Slot | None, ...]], ...]] = {}
    whole: dict[Place, Slot] = {}
    pooled: dict[Place, Slot] = {}
    for place, members in places.items():
        from_pool = [(walked[page][leaf].key, walked[page][leaf].text) in pools for page, leaf in members]
        made = _of_place(selectors, place, members, from_pool)
        if made.inside:
            inside[place] = tuple((pattern, slots) for _, pattern, slots in made.inside)
            found += [(first, slot) for first, _, slots in made.inside for slot in slots if slot]
        for kept, one in ((whole, made.whole), (pooled, made.pooled)):
            if one:
                kept[place] = one[1]
                found.append(one)
    found.sort(key=lambda one: one[0])
    return Slots(tuple(slot for _, slot in found), anchors, static, split, still, pools, inside, whole, pooled)


def without_roaming(rows: Sequence[list[tuple[int, int]]], anchors: Pairs) -> Pairs:
    """Anchors that have the same neighbour among the anchors at the same distance, before or after them, on at least half
    of the pages that have them.

    On a small site a title may stand on most pages, in lists of other pages, each time elsewhere. The second look is at
    neighbours that do not roam themselves.
    """
    steady = anchors
    for _ in range(2):
        beside: dict[tuple[int, int], tuple[Counter[object], Counter[object]]] = {}
        for row in rows:
            for side, walk in enumerate((row, row[::-1])):
                last, place = (0, 0), -1
                for number, pair in enumerate(walk):
                    if pair in anchors:
                        beside.setdefault(pair, (Counter(), Counter()))[side][last, number - place] += 1
                    if pair in steady:
                        last, place = pair, number
        steady = frozenset(
            pair
            for pair, found in beside.items()
            if max(max(side.values()) for side in found) >= STATIC * min(len(rows), sum(found[0].values()))
        )
    return steady


def _repeated(walked: list[list[_Leaf]], on: Counter[int], anchors: Pairs) -> tuple[Pairs, Pairs]:
    """(constant where they stand, drawn from a pool) of the texts on several pages that do not stand fast.

    A cell is a place and a distance from an anchor. A text is constant where it is what stands in its cells; it is of a
    pool where what stands there on other pages are texts that are repeated too.
    """
    cells: dict[tuple[int, int, int], dict[int, int]] = defaultdict(dict)  # cell -> page -> text
    for number, leaves in enumerate(walked):
        for leaf in leaves:
            if leaf.pair not in anchors:
                cells[leaf.key, leaf.anchor, leaf.distance].setdefault(number, leaf.text)
    shares: dict[tuple[int, int], list[tuple[int, float, float]]] = defaultdict(list)
    for (key, _, _), texts in cells.items():
        counts = Counter(texts.values())
        repeated = sum(count for text, count in counts.items() if on[text] > 1)
        for text, count in counts.items():
            if on[text] > 1:
                others = len(texts) - count
                shares[key, text].append((count, count / len(texts), (repeated - count) / others if others else 0.0))
    held = Counter(key for leaves in walked for key in {leaf.key for leaf in leaves})
    most = ANCHOR * len(walked)
    # on most pages, at places that are not: names that change from page to page must not make slots of the chrome
    still = {leaf.pair for leaves in walked for leaf in leaves if on[leaf.text] > most >= held[leaf.key]}
    pools = set()
    for place, found in shares.items():
        if place in still:
            continue
        total = sum(count for count, _, _ in found)
        own = sum(count * share for count, share, _ in found) / total
        pooled = sum(count * share for count, _, share in found) / total
        if own >= FIXED or (own >= STATIC and pooled < STATIC):
            still.add(place)
        elif pooled >= STATIC:
            pools.add(place)
    return frozenset(still), frozenset(pools)


def _split_by_labels(changing: list[list[tuple[int, _Leaf]]]) -> frozenset[int]:
    """Local keys most of whose leaves follow a label directly, the labels being two or more and each on several pages."""
    total: Counter[int] = Counter()
    after: dict[int, Counter[int]] = defaultdict(Counter)
    for leaves in changing:
        for _, leaf in leaves:
            total[leaf.key] += 1
            if leaf.distance == 1 and leaf.anchor:
                after[leaf.key][leaf.anchor] += 1
    return frozenset(
        key for key, labels in after.items() if len(labels) > 1 and sum(labels.values()) >= LABELLED * total[key]
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """The slots of one place, each with where it was first seen: patterns; whole leaves; those out of a pool."""

    inside: Sequence[tuple[Seen, Pattern, tuple[Slot | None, ...]]] = ()
    whole: tuple[Seen, Slot] | None = None
    pooled: tuple[Seen, Slot] | None = None


def _of_place(selectors: Selectors, place: Place, members: list[Seen], from_pool: list[bool]) -> _Found:
    pages = selectors.pages
    on = {number for number, _ in members}
    texts = [pages[number].texts[leaf] for number, leaf in members]
    if len(on) < max(LEAST_PAGES, LEAST_SHARE * len(pages)) or len(set(texts)) < 2:
        return _Found()
    first, at = pages[members[0][0]], members[0][1]
    label = first.texts[at - 1] if place[1] else ""
    code = int(first.marks[first.row[at]]) & CODE
    patterns = [] if code else find_patterns([(number, text) for (number, _), text in zip(members, texts, strict=True)])
    rest = list(range(len(members)))
    made = []
    for pattern in patterns:
        spans = {number: found for number in rest if (found := pattern.spans(texts[number])) is not None}
        slots = _slots_of(selectors, members, texts, spans, pattern, label)
        if any(slots):
            rest = [number for number in rest if number not in spans]
            made.append((members[min(spans)], pattern, slots))

    def of_whole(chosen: list[int]) -> tuple[Seen, Slot] | None:
        if (
            len({members[number][0] for number in chosen}) < LEAST_PAGES
            or len({texts[number] for number in chosen}) < 2
        ):
            return None
        spans = {number: [(0, len(texts[number]))] for number in chosen}
        (slot,) = _slots_of(selectors, members, texts, spans, None, label)
        return (members[chosen[0]], slot) if slot else None

    pooled = of_whole([number for number in rest if from_pool[number]])
    others = of_whole([number for number in rest if not from_pool[number]])
    if pooled and others and pooled[1].type != others[1].type:
        return _Found(made, others, pooled)
    return _Found(made, of_whole(rest))


def _slots_of(
    selectors: Selectors,
    members: list[Seen],
    texts: list[str],
    spans: Mapping[int, Sequence[tuple[int, int]]],
    pattern: Pattern | None,
    label: str,
) -> tuple[Slot | None, ...]:
    """One slot a gap, None for a gap that never changes."""
    if not spans:
        return (None,)
    first = min(spans)
    page, leaf = members[first]
    pages = selectors.pages
    selector = selectors.of(page, int(pages[page].row[leaf]))
    on = len({members[number][0] for number in spans})
    linked = sum(_linked(pages, members[number]) for number in spans) / len(spans)
    made: list[Slot | None] = []
    for gap, (start, end) in enumerate(spans[first]):
        values = [texts[number][slice(*found[gap])] for number, found in spans.items()]
        if len(set(values)) < 2:
            made.append(None)
            continue
        edges = [0, *(place for span in spans[first] for place in span), len(texts[first])]
        before = texts[first][edges[2 * gap] : start].strip()
        after = texts[first][end : edges[2 * gap + 3]].strip()
        kind = value_type(
            values,
            link_share=linked if pattern is None else 0.0,
            per_page=len(spans) / on,
            beside_date=pattern is not None and DATE in pattern.kinds,
            constant=bool(pattern and pattern.words),
        )
        shown = tuple(dict.fromkeys(value for value in values if value))[:EXAMPLES]
        made.append(Slot(selector, kind, round(on / len(pages), 4), shown, before, after, label))
    return tuple(made)


def _linked(pages: Sequence[Fingerprint], member: Seen) -> float:
    page, leaf = pages[member[0]], member[1]
    return float(page.linked[leaf]) / max(int(page.characters[leaf]), 1)
