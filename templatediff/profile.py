"""A site's mergeable memory: a bounded, order-free sample of fingerprints (DESIGN.md section 3).

A profile maps (fetch month, page key) to one fingerprint. What is kept is a pure function of the set of pages seen:
whatever their order, batches, processes or machines, the same pages give the same profile, byte for byte.
"""

from __future__ import annotations

import hashlib
import re
from bisect import insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import zstandard

from templatediff.errors import MismatchError, TemplateError, UsageError
from templatediff.fingerprint import Fingerprint
from templatediff.hashes import rank_of
from templatediff.options import Options
from templatediff.page import fetch_month, url_shape
from templatediff.remember import decode, encode

MONTHS = 6  #: the newest fetch months that are kept
PAGES_A_MONTH = 192  #: pages kept of each month, those of smallest rank
SHAPES_A_MONTH = 16  #: URL shapes of which a few pages are kept besides
PAGES_A_SHAPE = 4
_PRUNE_AT = 4  # prune when this many times a month's worth has gathered

FORMAT = 1
_MAGIC = b"templatediff profile\n"
MAX_PROFILE_BYTES = 1 << 30  # uncompressed; a larger one is taken for an attack
_MOST_ENTRIES = 100_000  # many times what a profile keeps; more are refused before any is read


@dataclass(frozen=True, slots=True)
class Entry:
    """One fingerprint in a profile, kept compressed until a template is derived."""

    rank: int
    key: str
    month: str
    shape: int  # hash of the URL shape
    version: tuple[str, int]  # (fetch time, content hash): the greater wins
    data: bytes  # compressed

    def fingerprint(self) -> Fingerprint:
        return decode(_decompress(self.data))


class Places:
    """Which pages a profile that has seen some already still has a place for: a page without one never gets it, whatever
    comes later, since smaller ranks only get more. So it need not be cut and counted at all.
    """

    def __init__(self) -> None:
        self._months: dict[str, _Month] = {}

    def __len__(self) -> int:
        return sum(len(month.ranks) for month in self._months.values())

    def lacks(self, key: str, fetched: str | None) -> bool:
        """Whether a profile of the pages that were `taken` stays as it is, whatever a page of this key holds."""
        months = self._months
        name = fetch_month(fetched)
        month = months.get(name)
        if month is None:
            return len(months) >= MONTHS and name < min(sorted(months)[-MONTHS:])
        if len(months) > MONTHS and name < min(sorted(months)[-MONTHS:]):
            return True
        place = (rank_of(key), key)
        if len(month.ranks) < PAGES_A_MONTH or place <= month.ranks[-1] or key in month.keys:
            return False
        shape = _shape_of(key)
        ranks = month.shapes.get(shape)
        if ranks is None:
            return len(month.shapes) >= SHAPES_A_MONTH and shape > max(month.shapes)
        return len(ranks) >= PAGES_A_SHAPE and place > ranks[-1]

    def taken(self, page: Fingerprint) -> None:
        """A page was added to the profile."""
        month = self._months.setdefault(fetch_month(page.fetched or None), _Month([], {}, set()))
        place, shape = (page.rank, page.key), _shape_of(page.key)
        if page.key in month.keys:
            return
        month.keys.add(page.key)
        for ranks, most in ((month.ranks, PAGES_A_MONTH), (month.shapes.setdefault(shape, []), PAGES_A_SHAPE)):
            insort(ranks, place)
            del ranks[most:]
        while len(month.shapes) > SHAPES_A_MONTH:
            del month.shapes[max(month.shapes)]
        if len(month.keys) > 2 * PAGES_A_MONTH:
            kept = [month.ranks, *month.shapes.values()]
            month.keys.intersection_update(key for ranks in kept for _, key in ranks)


@dataclass(slots=True)
class _Month:
    """Of one month the smallest places, (rank, key), in order; those of each of the smallest shapes; the keys of all of
    these, of which a newer version may come."""

    ranks: list[tuple[int, str]]
    shapes: dict[int, list[tuple[int, str]]]
    keys: set[str]


def _shape_of(key: str) -> int:
    return rank_of(url_shape(key) if "://" in key else "")


class SiteProfile:
    """The pages of one site that are remembered. `add` and `absorb` change it; `merge` gives a new one."""

    def __init__(self, site: str, options: Options) -> None:
        self.site = site
        self.options = options
        self._entries: dict[tuple[str, str], Entry] = {}
        self._limit = _PRUNE_AT * PAGES_A_MONTH

    def add(self, page: Fingerprint) -> None:
        """Remember a page, unless smaller ranks or a newer version of it leave no place for it."""
        version = (page.fetched, page.content_hash)
        month = fetch_month(page.fetched or None)
        old = self._entries.get((month, page.key))
        if old is not None and old.version > version:
            return
        self._put(Entry(page.rank, page.key, month, _shape_of(page.key), version, _compress(encode(page))))

    def absorb(self, other: SiteProfile) -> None:
        """Add all of another profile of the same site. Raises MismatchError where the options differ."""
        differing = self.options.differing(other.options)
        if differing:
            raise MismatchError(
                f"profiles of {self.site} were made with different {', '.join(differing)}: learn again with the same options",
                differing,
            )
        for entry in other._entries.values():
            self._put(entry)

    def _put(self, entry: Entry) -> None:
        place = (entry.month, entry.key)
        old = self._entries.get(place)
        if old is None or _wins(entry, old):
            self._entries[place] = entry
            if len(self._entries) > self._limit:
                self._entries = {(kept.month, kept.key): kept for kept in _select(self._entries.values())}
                self._limit = len(self._entries) + _PRUNE_AT * PAGES_A_MONTH

    def entries(self) -> list[Entry]:
        """What is kept, newest month last, in rank order within a month."""
        return _select(self._entries.values())

    def sampled(self, entry: Entry) -> bool:
        """Whether an entry is one of the month's smallest ranks (the part that site-level counts are taken from)."""
        ranks = sorted((other.rank, other.key) for other in self._entries.values() if other.month == entry.month)
        return (entry.rank, entry.key) <= ranks[:PAGES_A_MONTH][-1]

    def __len__(self) -> int:
        return len(self.entries())

    def since(self, date: str) -> SiteProfile:
        """A new profile of the pages fetched at `date` (as in `Page.fetched`) or later; undated pages are not."""
        kept = SiteProfile(self.site, self.options)
        for entry in self.entries():  # not of all that has gathered: that depends on the order of the pages
            if entry.version[0] >= date:
                kept._put(entry)
        return kept

    def to_bytes(self) -> bytes:
        """The profile uncompressed: equal profiles give equal bytes."""
        return b"".join(self._pieces())

    def digest(self) -> str:
        """The SHA-256 of `to_bytes`, the first 16 hexadecimal digits: by it template.json names the profile it is of."""
        made = hashlib.sha256()
        for piece in self._pieces():
            made.update(piece)
        return made.hexdigest()[:16]

    def _pieces(self) -> Iterator[bytes]:
        """The bytes, an entry at a time: all at once, twice over, would take more memory than learning does."""
        encode = msgspec.msgpack.encode
        entries = self.entries()
        yield _MAGIC + b"\x94" + encode(FORMAT) + encode(self.site) + encode(self.options.to_dict())
        yield b"\xdd" + len(entries).to_bytes(4, "big")
        for entry in entries:
            yield encode(_decompress(entry.data))

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "profile") -> SiteProfile:
        """The reverse of `to_bytes`. Raises TemplateError for anything that is not a profile this release reads."""
        if not data.startswith(_MAGIC):
            raise TemplateError(f"{name} is not a templatediff profile: learn again")
        try:
            stored = msgspec.msgpack.decode(memoryview(data)[len(_MAGIC) :], type=_Stored)
        except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError) as error:
            newer = re.match(rb"\x94([\x00-\x7f])", data[len(_MAGIC) : len(_MAGIC) + 2])
            if newer and newer.group(1)[0] > FORMAT:
                raise TemplateError(_newer(name, newer.group(1)[0])) from None
            raise TemplateError(f"{name} is damaged ({error}): learn again") from None
        if stored.format > FORMAT:
            raise TemplateError(_newer(name, stored.format))
        try:
            options = Options.from_dict(stored.options)
        except ValueError as error:
            raise TemplateError(f"{name} is damaged ({error}): learn again") from None
        profile = cls(stored.site, options)
        try:
            for raw in stored.entries:
                profile.add(decode(raw))
        except (TemplateError, UsageError) as error:
            raise TemplateError(f"{name} is damaged ({error}): learn again") from None
        return profile

    def save(self, file: Path) -> None:
        """Write the compressed profile to a file, which the caller puts in place."""
        size = sum(map(len, self._pieces()))
        compressor = zstandard.ZstdCompressor(level=10, write_checksum=True)
        # a stream writer that is closed after a failed write hides its error by its own
        packed = compressor.compressobj(size=size)
        with file.open("wb") as raw:
            for piece in self._pieces():
                raw.write(packed.compress(piece))
            raw.write(packed.flush())

    @classmethod
    def load(cls, file: Path) -> SiteProfile:
        """Read what `save` wrote. Raises TemplateError for a damaged, newer or foreign file."""
        return cls.from_bytes(_decompress(file.read_bytes(), str(file)), str(file))


class _Stored(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    format: int
    site: str
    options: dict[str, object]
    # of the bytes that are read, no copies
    entries: Annotated[list[memoryview], msgspec.Meta(max_length=_MOST_ENTRIES)]


def _newer(name: str, number: int) -> str:
    return f"{name} is format {number}, this release reads {FORMAT}: upgrade, or run templatediff learn again"


def merge(one: SiteProfile, other: SiteProfile) -> SiteProfile:
    """A new profile of what both saw: commutative, associative, idempotent.

    The site's name is the smaller of the two. Raises MismatchError where the options differ.
    """
    merged = SiteProfile(min(one.site, other.site), one.options)
    merged.absorb(one)
    merged.absorb(other)
    return merged


def _wins(one: Entry, other: Entry) -> bool:
    """Whether an entry takes the place of another of its month and key. Of one version are those of the same bytes: they may have
    been read in different charsets."""
    if one.version != other.version:
        return one.version > other.version
    return one.data != other.data and _decompress(one.data) > _decompress(other.data)


def _select(entries: Iterable[Entry]) -> list[Entry]:
    """The sample: a pure function of the set of entries, so that selecting in parts changes nothing."""
    months: dict[str, list[Entry]] = {}
    for entry in entries:
        months.setdefault(entry.month, []).append(entry)
    kept: list[Entry] = []
    for month in sorted(months)[-MONTHS:]:
        ordered = sorted(months[month], key=lambda entry: (entry.rank, entry.key))
        chosen = {(entry.rank, entry.key): entry for entry in ordered[:PAGES_A_MONTH]}
        for entry in _of_shapes(ordered):
            chosen[entry.rank, entry.key] = entry
        kept.extend(chosen[place] for place in sorted(chosen))
    return kept


def _of_shapes(ordered: list[Entry]) -> Iterator[Entry]:
    counts = dict.fromkeys(sorted({entry.shape for entry in ordered})[:SHAPES_A_MONTH], 0)
    for entry in ordered:
        if counts.get(entry.shape, PAGES_A_SHAPE) < PAGES_A_SHAPE:
            counts[entry.shape] += 1
            yield entry


def _compress(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=3).compress(data)


def _decompress(data: bytes, name: str = "a profile") -> bytes:
    try:
        size = zstandard.frame_content_size(data)
        if size < 0 or size > MAX_PROFILE_BYTES:
            raise TemplateError(f"{name} is damaged: it says to hold {size:,} bytes; learn again")
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=MAX_PROFILE_BYTES)
    except zstandard.ZstdError as error:
        raise TemplateError(f"{name} is damaged ({error}): learn again") from None
