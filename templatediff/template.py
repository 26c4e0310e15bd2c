"""Profile -> Template: what stays and what changes on a site, layout by layout; export and import.

A template folder holds one folder a site: template.json for people (and for `extract` where the profile is gone), and
profile.zst, from which everything is derived anew. Nothing in either is ever executed.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from templatediff._version import __version__
from templatediff.errors import InputError, OutputError, TemplateError
from templatediff.fingerprint import Fingerprint
from templatediff.names import safe_component
from templatediff.options import Options
from templatediff.profile import SiteProfile
from templatediff.repetition import REGION_COLUMNS, SETS, SLOT_COLUMNS, Counts, Level, View, add_sums
from templatediff.sample import LayoutSample, Sample
from templatediff.score import Weights
from templatediff.slots import Slot, find_slots

FORMAT = 1
TEMPLATE_FILE = "template.json"
PROFILE_FILE = "profile.zst"
STATIC_SHARE = 0.5  #: a leaf is static if it is on more than this share of a layout's pages
STATIC_PAGES = 2
_MAX_JSON = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class StaticLeaf:
    """A leaf that stays: on `k` of the layout's `n` pages (near-duplicates count once). `hash` is its text's key."""

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


@dataclass(frozen=True)
class SiteTemplate:
    """A site's template. Made by `of_profile`; never changed. `profile` is None where only template.json was there.

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

    @cached_property
    def layouts(self) -> tuple[Layout, ...]:
        """The layouts with their static leaves and slots, by number of pages."""
        if self.profile is None:
            return self.stored_layouts
        return tuple(_layout(layout, self.sample) for layout in self.sample.layouts)

    @cached_property
    def _slots(self) -> dict[int, dict[int, Slot]]:
        """Layout id -> local structural key -> slot."""
        if self.profile is None:
            return {}
        return {layout.id: dict(_slots_of(layout, self.sample)) for layout in self.sample.layouts}

    def slots_of(self, layout: int | None) -> dict[int, Slot]:
        """The slots of a layout by local structural key; empty for no layout and without a profile."""
        return self._slots.get(layout, {}) if layout is not None else {}

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


def _layout(layout: LayoutSample, sample: Sample) -> Layout:
    members = sorted(layout.level.members)
    leaders = [sample.leaders[number] for number in members]
    slots = tuple(slot for _, slot in _slots_of(layout, sample))
    weightiest = sorted(layout.centre, key=lambda key: (-layout.centre[key], key))[:12]
    signature = "-".join(f"{key >> 48:04x}" for key in sorted(weightiest))
    return Layout(layout.id, layout.pages, signature, _static(leaders, layout.level), slots, layout.centre)


def _slots_of(layout: LayoutSample, sample: Sample) -> list[tuple[int, Slot]]:
    return find_slots([sample.leaders[number] for number in sorted(layout.level.members)], layout.level)


def _static(leaders: list[Fingerprint], level: Level) -> tuple[StaticLeaf, ...]:
    """Static leaves in the order in which the first page that has each shows them."""
    found: dict[int, StaticLeaf] = {}
    for page in leaders:
        on = level.counts["text"].of(page.text_hash)
        for number in np.flatnonzero((on >= STATIC_PAGES) & (on > STATIC_SHARE * level.n)).tolist():
            key = int(page.text_hash[number])
            if key not in found:
                selector = page.selector(int(page.row[number]))
                found[key] = StaticLeaf(page.texts[number], selector, int(on[number]), level.n, key)
    return tuple(found.values())


def _layout_json(layout: Layout) -> dict[str, Any]:
    return {
        "centre": {f"{key:016x}": weight for key, weight in layout.centre.items()},
        "id": layout.id,
        "pages": layout.pages,
        "signature": layout.signature,
        "slots": [
            {
                "examples": list(slot.examples),
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


def save_all(templates: Mapping[str, SiteTemplate], folder: Path) -> None:
    """Write each site's folder under `folder`, every file whole or not at all. Raises OutputError."""
    try:
        for site in sorted(templates):
            place = folder / site_folder(site)
            place.mkdir(parents=True, exist_ok=True)
            template = templates[site]
            if template.profile is not None:
                with _replaced(place / PROFILE_FILE) as part:
                    template.profile.save(part)
            text = json.dumps(template.to_json(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
            with _replaced(place / TEMPLATE_FILE) as part:
                part.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    except OSError as error:
        raise OutputError(f"cannot write the template into {folder}: {error.strerror or error}") from error


def site_folder(site: str) -> str:
    """A folder name for a site: one component, safe on any file system, no two sites alike.

    >>> site_folder("example.org"), site_folder("news/a"), site_folder("News/a")
    ('example.org', 'news%2Fa', '%4Eews%2Fa')
    """
    escaped = "".join(
        f"%{ord(character):02X}" if character in "%/" or "A" <= character <= "Z" else character for character in site
    )
    name = safe_component(escaped)
    if len(name.encode("utf-8", "surrogateescape")) <= 150:
        return name
    import hashlib

    return name.encode()[:120].decode(errors="ignore") + "~" + hashlib.sha256(site.encode()).hexdigest()[:16]


@contextmanager
def _replaced(file: Path) -> Iterator[Path]:
    """A new file beside `file` that takes its place when the block ends well."""
    handle, name = tempfile.mkstemp(prefix=file.name + ".", suffix=".part", dir=file.parent)
    os.close(handle)
    part = Path(name)
    try:
        yield part
        part.chmod(0o666 & ~_umask())
        os.replace(part, file)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def site_folders(folder: Path) -> list[Path]:
    """The folders of a template folder that hold a site. Raises InputError where there is no such folder or no site."""
    if not folder.is_dir():
        raise InputError(f"no template folder {folder}: make one with templatediff learn -o {folder}")
    found = sorted(
        (place for place in folder.iterdir() if (place / TEMPLATE_FILE).is_file() or (place / PROFILE_FILE).is_file()),
        key=lambda place: os.fsencode(place.name),
    )
    if not found:
        raise InputError(f"no template in {folder}: make one with templatediff learn -o {folder}")
    return found


def _read_profile(file: Path) -> SiteProfile:
    try:
        return SiteProfile.load(file)
    except OSError as error:
        raise TemplateError(f"cannot read {file}: {error.strerror}") from error


def read_profile(place: Path) -> SiteProfile | None:
    """The profile in a site's folder, None where there is none."""
    file = place / PROFILE_FILE
    return _read_profile(file) if file.is_file() else None


def read_json(place: Path, weights: Weights) -> SiteTemplate:
    """A template from template.json alone: static leaves without leave-one-out. Raises TemplateError."""
    file = place / TEMPLATE_FILE
    try:
        if file.stat().st_size > _MAX_JSON:
            raise TemplateError(f"{file} is {file.stat().st_size:,} bytes: more than a template can have")
        document = json.loads(file.read_bytes())
        number = document["format"]
        if isinstance(number, int) and number > FORMAT:
            raise TemplateError(
                f"{file} is format {number}, this release reads {FORMAT}: upgrade, or run templatediff learn again"
            )
        layouts = tuple(_read_layout(value) for value in document["layouts"])
        options = Options.from_dict(document["options"])
        site, pages, join_below = document["site"], int(document["pages"]), int(document["join_below"])
        if not isinstance(site, str):
            raise TypeError("site is no text")
    except OSError as error:
        raise TemplateError(f"cannot read {file}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        what = f"{type(error).__name__}: {error}" if not isinstance(error, RecursionError) else "nested too deep"
        raise TemplateError(f"{file} is damaged ({what}): learn again") from None
    return SiteTemplate(site, options, pages, _sample_of(layouts, pages), join_below, weights, None, layouts)


def _read_layout(value: dict[str, Any]) -> Layout:
    static = tuple(
        StaticLeaf(str(leaf["text"]), str(leaf["selector"]), int(leaf["k"]), int(leaf["n"]), int(leaf["hash"], 16))
        for leaf in value["static"]
    )
    slots = tuple(
        Slot(str(slot["selector"]), str(slot["type"]), float(slot["share"]), tuple(map(str, slot["examples"])))
        for slot in value["slots"]
    )
    centre = {int(key, 16): float(weight) for key, weight in value["centre"].items()}
    if any(not 0 <= leaf.hash < 1 << 64 or not 0 <= leaf.k <= leaf.n for leaf in static):
        raise ValueError("a static leaf has impossible numbers")
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
