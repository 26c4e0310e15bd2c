"""Profile -> Template: what stays and what changes on a site, layout by layout; export and import.

template.json is for people, and for `extract` where the profile is gone; from the profile everything is derived anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from templatediff._version import __version__
from templatediff.fingerprint import Fingerprint
from templatediff.options import Options
from templatediff.profile import SiteProfile
from templatediff.remember import MAX_TEXT
from templatediff.repetition import REGION_COLUMNS, SETS, SLOT_COLUMNS, Counts, Level, View, add_sums, pair_hash
from templatediff.rules import Rule
from templatediff.sample import LayoutSample, Sample
from templatediff.score import Weights
from templatediff.selectors import Selectors
from templatediff.slots import Slot, Slots, find_slots, without_roaming
from templatediff.text import without_controls

FORMAT = 1
STATIC_SHARE = 0.5  #: a leaf is static if it is on more than this share of a layout's pages
STATIC_PAGES = 2
MOST_JOINED = 1000  #: tokens
MOST_PAGES = 100_000  #: pages of a layout that template.json may speak of: many times what a profile holds
SLOT_PAGES = 4  #: layouts of fewer pages read their slots from the whole site


@dataclass(frozen=True, slots=True)
class StaticLeaf:
    """A leaf that stays: on `k` of the layout's `n` pages (near-duplicates count once), on half of them or more at one
    place, which `selector` names. `hash` is its text's key.
    """

    text: str
    selector: str
    k: int
    n: int
    hash: int


@dataclass(frozen=True, slots=True)
class Layout:
    """One group of alike pages: `signature` is its 12 weightiest features, by which `nearest` knows it again."""

    id: int
    pages: int
    signature: str
    static: tuple[StaticLeaf, ...]
    slots: tuple[Slot, ...]
    centre: Mapping[int, float]


@dataclass(frozen=True, eq=False)
class SiteTemplate:
    """A site's template. Made by `of_profile`; never changed. `profile` is None where only template.json was there;
    `stored_layouts` and `stored_digest` (of the profile that is gone) are then what that told.

    `rules` are the user's own, read from a template folder; they are not part of what is saved.
    `join_below`: leaves of fewer tokens are labelled together with their neighbour in the same container (0: never).
    """

    site: str
    options: Options
    pages: int
    sample: Sample
    join_below: int
    weights: Weights
    profile: SiteProfile | None = None
    stored_layouts: tuple[Layout, ...] = ()
    stored_digest: str | None = None
    rules: tuple[Rule, ...] = ()

    @cached_property
    def layouts(self) -> tuple[Layout, ...]:
        """The layouts with their static leaves and slots, by number of pages."""
        if self.profile is None:
            return self.stored_layouts
        return tuple(_layout(layout, self.sample, self._slots[layout.id]) for layout in self.sample.layouts)

    @cached_property
    def text(self) -> str:
        """The site's static text, each leaf once: see `static_text` for the form. Long leaves are cut, and end in "\u2026"."""
        return static_text(self.site, self.layouts)

    @cached_property
    def _slots(self) -> dict[int, Slots]:
        """Layout id -> its slots; found when first asked for, since labelling does without them."""
        if self.profile is None:
            return {}
        return {layout.id: find_slots(_leaders(layout.level, self.sample)) for layout in self.sample.layouts}

    @cached_property
    def _site_slots(self) -> Slots:
        """The slots that the pages of all layouts share."""
        return find_slots(_leaders(self.sample.site, self.sample)) if self.profile is not None else Slots()

    def slots_of(self, layout: int | None) -> Slots:
        """The slots that a page of a layout is read by: the layout's, or the site's where the layout has few pages."""
        of_layout = next((one for one in self.sample.layouts if one.id == layout), None)
        if of_layout is None or of_layout.level.n < SLOT_PAGES:
            return self._site_slots
        return self._slots.get(of_layout.id, Slots())

    def views(self, page: Fingerprint) -> tuple[View, View | None, int | None]:
        """(site, layout, layout id) as the page sees them, without its own near-duplicate group."""
        return self.sample.views(page)

    def to_json(self) -> dict[str, Any]:
        """The content of template.json."""
        return {
            "format": FORMAT,
            "layouts": [_layout_json(layout) for layout in self.layouts],
            "options": self.options.to_dict(),
            "join_below": self.join_below,
            "pages": self.pages,
            "profile": self.profile.digest() if self.profile is not None else self.stored_digest,
            "site": self.site,
            "templatediff": __version__,
            "weights": self.weights.digest,
        }


def of_profile(profile: SiteProfile, sample: Sample, weights: Weights) -> SiteTemplate:
    """The template of a profile and the sample taken from it; `weights` are those the sample was taught with."""
    join_below = _join_below(sample, profile.options)
    return SiteTemplate(profile.site, profile.options, sample.pages, sample, join_below, weights, profile)


def _join_below(sample: Sample, options: Options) -> int:
    """How many tokens a paragraph must have to stand alone.

    "keep": any number (0). "join": as many as the lower quartile of the site's paragraphs that have sentences, at least
    5 and at most 15. "auto": the same, but only where the site's paragraphs are broken up: where half or more of its
    new leaves without links have fewer tokens than that. Else single lines are how the site writes, and stand alone.
    """
    if options.short_leaves == "keep":
        return 0
    lengths: list[int] = []
    sentences: list[int] = []
    for page in sample.leaders:
        plain = (page.linked * 2 <= page.characters) & (page.heading == 0) & (page.group < 0)
        lengths += page.token_count[plain].tolist()
        sentences += page.token_count[plain & (page.sentence_ends > 0)].tolist()
    if not sentences:
        return 5 if options.short_leaves == "join" else 0
    bound = int(np.clip(np.quantile(np.array(sentences), 0.25), 5, 15))
    if options.short_leaves == "join":
        return bound
    short = sum(length < bound for length in lengths)
    return bound if short * 2 >= len(lengths) else 0


def _layout(layout: LayoutSample, sample: Sample, slots: Slots) -> Layout:
    weightiest = sorted(layout.centre, key=lambda key: (-layout.centre[key], key))[:12]
    signature = "-".join(f"{key >> 48:04x}" for key in sorted(weightiest))
    static = _static(_leaders(layout.level, sample), layout.level, sample.site)
    return Layout(layout.id, layout.pages, signature, static, slots.all, layout.centre)


def _leaders(level: Level, sample: Sample) -> list[Fingerprint]:
    """The leaders of a level's groups, in rank order."""
    return [sample.leaders[number] for number in sorted(level.members)]


def _static(leaders: list[Fingerprint], level: Level, site: Level) -> tuple[StaticLeaf, ...]:
    """Static leaves in the order in which the first page that has each at its place shows them.

    A place is a container's last folded steps. Headlines that pages of the site have and others list now here, now there
    are no part of the template, on however many pages they are.
    """
    selectors = Selectors(leaders)
    rows: list[list[tuple[int, int]]] = []
    staying: list[list[int]] = []
    headlines: set[tuple[int, int]] = set()
    for page in leaders:
        local = page.local_keys[page.row] if len(page) else page.text_hash
        on = level.counts["text"].of(page.text_hash)
        at_place = level.counts["pair"].of(pair_hash(page.text_hash, local))
        stays = (on > STATIC_SHARE * level.n) & (at_place >= max(STATIC_PAGES, STATIC_SHARE * level.n))
        rows.append(list(zip(local.tolist(), page.text_hash.tolist(), strict=True)))
        staying.append(np.flatnonzero(stays).tolist())
        named = sum(site.counts[name].of(page.text_hash) > 0 for name in ("title", "heading"))
        headlines |= {rows[-1][number] for number in np.flatnonzero(stays & (named > 0)).tolist()}
    pairs = frozenset(row[number] for row, numbers in zip(rows, staying, strict=True) for number in numbers)
    wandering = headlines - without_roaming(rows, pairs)
    found: dict[int, StaticLeaf] = {}
    for place, (page, row) in enumerate(zip(leaders, rows, strict=True)):
        on = level.counts["text"].of(page.text_hash)
        for number in staying[place]:
            key = row[number][1]
            if key not in found and row[number] not in wandering:
                selector = selectors.of(place, int(page.row[number]))
                found[key] = StaticLeaf(page.texts[number], selector, int(on[number]), level.n, key)
    return tuple(found.values())


def static_text(site: str, layouts: Sequence[Layout], in_full: Mapping[int, str] | None = None) -> str:
    """A site's static text for people: "# SITE", then for each layout its static leaves in page order, an empty line
    between; a leaf that an earlier layout has is not said again. From the second layout on, "## layout ID" goes before.

    `in_full` gives the text of long leaves by their hash; a template remembers the beginning only, marked by "\u2026".
    """
    lines = [f"# {' '.join(site.split())}"]
    said: set[int] = set()
    for place, layout in enumerate(layouts):
        new = [leaf for leaf in layout.static if leaf.hash not in said]
        said |= {leaf.hash for leaf in new}
        if place and new:
            lines.append(f"## layout {layout.id}")
        for leaf in new:
            cut = leaf.text + "\u2026" if len(leaf.text) >= MAX_TEXT else leaf.text
            lines.append((in_full or {}).get(leaf.hash, cut))
    return without_controls("\n\n".join(lines)) + "\n"


def _layout_json(layout: Layout) -> dict[str, Any]:
    return {
        "centre": {f"{key:016x}": weight for key, weight in layout.centre.items()},
        "id": layout.id,
        "pages": layout.pages,
        "signature": layout.signature,
        "slots": [
            {
                "after": slot.after,
                "before": slot.before,
                "examples": list(slot.examples),
                "label": slot.label,
                "selector": slot.selector,
                "share": slot.share,
                "type": slot.type,
            }
            for slot in layout.slots
        ],
        "static": [
            {
                "hash": f"{leaf.hash:016x}",
                "k": leaf.k,
                "n": leaf.n,
                "selector": leaf.selector,
                "text": leaf.text,
            }
            for leaf in layout.static
        ],
    }


def of_document(document: dict[str, Any], weights: Weights) -> SiteTemplate:
    """A template from the content of template.json alone: static leaves without leave-one-out.

    Raises ValueError, KeyError, TypeError, AttributeError or OverflowError for what is no such content.
    """
    layouts = tuple(_read_layout(value) for value in document["layouts"])
    options = Options.from_dict(document["options"])
    site, pages, join_below = document["site"], int(document["pages"]), int(document["join_below"])
    digest = document.get("profile")  # the first releases of format 1 did not write it
    if not isinstance(site, str) or not isinstance(digest, str | None):
        raise TypeError("site or profile is no text")
    if not 0 <= pages <= MOST_PAGES or not 0 <= join_below <= MOST_JOINED:
        raise ValueError(f"pages is {pages}, join_below {join_below}")
    return SiteTemplate(site, options, pages, _sample_of(layouts, pages), join_below, weights, None, layouts, digest)


def _read_layout(value: dict[str, Any]) -> Layout:
    static = tuple(
        StaticLeaf(str(leaf["text"]), str(leaf["selector"]), int(leaf["k"]), int(leaf["n"]), int(leaf["hash"], 16))
        for leaf in value["static"]
    )
    slots = tuple(
        Slot(
            str(slot["selector"]),
            str(slot["type"]),
            float(slot["share"]),
            tuple(map(str, slot["examples"])),
            *(str(slot.get(name, "")) for name in ("before", "after", "label")),
        )
        for slot in value["slots"]
    )
    centre = {int(key, 16): float(weight) for key, weight in value["centre"].items()}
    if any(not 0 <= leaf.hash < 1 << 64 or not 0 <= leaf.k <= leaf.n <= MOST_PAGES for leaf in static):
        raise ValueError("a static leaf has impossible numbers")
    if not 0 <= int(value["pages"]) <= MOST_PAGES:
        raise ValueError(f"a layout of {value['pages']} pages")
    return Layout(int(value["id"]), int(value["pages"]), str(value["signature"]), static, slots, centre)


def _sample_of(layouts: tuple[Layout, ...], pages: int) -> Sample:
    """Counts from the static leaves alone; every other count is unknown and stands at none."""
    made = []
    for layout in layouts:
        n = max((leaf.n for leaf in layout.static), default=layout.pages)
        counts = _counts({leaf.hash: leaf.k for leaf in layout.static})
        members = frozenset(range(n))
        made.append(LayoutSample(layout.id, (), layout.pages, dict(layout.centre), Level(members, counts, _no_sums())))
    everywhere: dict[int, int] = {}
    for layout in layouts:
        for leaf in layout.static:
            everywhere[leaf.hash] = everywhere.get(leaf.hash, 0) + leaf.k
    total = sum(layout.level.n for layout in made)
    site = Level(frozenset(range(total)), _counts(everywhere), _no_sums())
    return Sample(site, (), (), {}, (), tuple(made), pages)


def _counts(known: dict[int, int]) -> dict[str, Counts]:
    keys = sorted(known)
    text = Counts(np.array(keys, np.uint64), np.array([known[key] for key in keys], np.int64))
    empty = {name: np.zeros(0, np.uint32 if name in ("token", "ngram") else np.uint64) for name in SETS}
    counts = {name: Counts(values, np.zeros(0, np.int64)) for name, values in empty.items()}
    return counts | {"text": text, "folded": text}


def _no_sums() -> dict[str, Any]:
    return {
        "slot": add_sums([], len(SLOT_COLUMNS)),
        "region": add_sums([], len(REGION_COLUMNS)),
        "tag_region": add_sums([], len(REGION_COLUMNS)),
    }
