"""Gold and results -> what was kept and what leaked, page by page and set by set, whatever tool made the results.

Gold is a file of JSON lines, or a folder of `<page>.gold.txt`. A line names its page by `path` (or, without one, by
`url`), has its gold `text`, and may have a `set` and `blocks`: parts of the page, each with a `name`, its `text`, and
`content`: true for content, false for chrome, null for what counts on neither side. A block is looked for by its own
tokens: those in `tokens`, else those of its text that stand in no other block of the page. A content block is kept if
KEPT or more of them are in the result; any other has leaked if a single one is. `needs_siblings` marks chrome that
one page alone cannot show to be chrome; it is counted apart.
"""

from __future__ import annotations

import gzip
import os
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec
import zstandard

from templatediff.errors import InputError
from templatediff.yardstick import Score, score, tokens

KEPT = 0.95  #: share of a content block's own tokens from which on it is kept
ENDING = ".gold.txt"
TOLD = 10  #: faults of a file that are told one by one


class GoldBlock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One part of a page; see the module's docstring."""

    name: str
    text: str
    content: bool | None
    needs_siblings: bool = False
    tokens: tuple[str, ...] | None = None


class GoldPage(msgspec.Struct, frozen=True):
    """One page of the gold. Keys that are not named here are left alone."""

    text: str
    path: str | None = None
    url: str | None = None
    set: str | None = None
    blocks: tuple[GoldBlock, ...] = ()


class _Result(msgspec.Struct, frozen=True):
    text: str | None
    path: str | None = None
    url: str | None = None


Line = TypeVar("Line", GoldPage, _Result)


@dataclass(frozen=True, slots=True)
class BlockScore:
    """One block: `share` of its own tokens in the result, 0..1, and `wrong`: content that is lost, or what has leaked."""

    name: str
    content: bool | None
    needs_siblings: bool
    share: float
    wrong: bool


@dataclass(frozen=True, slots=True)
class PageScore:
    """One page: its score, `found` (is there a result for it), and its blocks; those without own tokens are left out."""

    page: str
    set: str | None
    found: bool
    score: Score
    blocks: tuple[BlockScore, ...]


@dataclass(frozen=True)
class Summary:
    """Means over pages, and counts of blocks."""

    pages: int
    precision: float
    recall: float
    f1: float
    missing: int  #: pages without a result, which count as empty text
    blocks: int = 0  #: content blocks
    kept: int = 0
    chrome: int = 0  #: blocks that one page can show to be chrome
    leaked: int = 0
    siblings: int = 0  #: chrome that needs siblings
    siblings_leaked: int = 0


@dataclass(frozen=True)
class Verdicts:
    """All pages of the gold, in its order, and the results that it does not know."""

    pages: tuple[PageScore, ...]
    unknown: tuple[str, ...] = field(default=())

    def sets(self) -> dict[str | None, Summary]:
        """By set, in the order of the gold."""
        names = dict.fromkeys(page.set for page in self.pages)
        return {name: summary(page for page in self.pages if page.set == name) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values."""
        pages = [
            {"page": page.page, "set": page.set, "found": page.found, **asdict(page.score)}
            | ({"blocks": [asdict(block) for block in page.blocks]} if page.blocks else {})
            for page in self.pages
        ]
        sets = [{"set": name, **asdict(one)} for name, one in self.sets().items()]
        return {"all": asdict(summary(self.pages)), "sets": sets, "pages": pages, "unknown": list(self.unknown)}


@dataclass(frozen=True, slots=True)
class Results:
    """What a tool gave: `texts` by path, or by URL where a line has no path; `urls` leads from the URL of a line with both to
    its path, to None where several lines have it."""

    texts: Mapping[str, str]
    urls: Mapping[str, str | None] = field(default_factory=dict)

    def key(self, page: GoldPage) -> str | None:
        """The key of a page's result: the same path, else the same URL where either side has no path. None: it has none.

        Raises InputError where several results have the URL that alone names the page.
        """
        for name in (page.path, page.url):
            if name is not None and name in self.texts:
                return name
        if page.path is not None or page.url is None or page.url not in self.urls:
            return None
        found = self.urls[page.url]
        if found is None:
            raise InputError(f"{page.url!r} is the URL of several results: name the page in the gold by its path")
        return found


def evaluate(gold: Iterable[GoldPage], results: Results) -> Verdicts:
    """Score results against gold; a page without a result counts as empty text.

    Raises InputError where gold and results have no page in common, or a URL names several results.
    """
    pages = []
    known = set()
    for page in gold:
        key = results.key(page)
        known.add(key)
        text = results.texts[key] if key is not None else ""
        pages.append(
            PageScore(key_of(page), page.set, key is not None, score(page.text, text), tuple(_blocks(page, text)))
        )
    unknown = tuple(key for key in results.texts if key not in known)
    if pages and unknown and len(unknown) == len(results.texts):
        raise InputError(f"no page in common: the gold has {pages[0].page!r}, the results have {unknown[0]!r}")
    return Verdicts(tuple(pages), unknown)


def summary(pages: Iterable[PageScore]) -> Summary:
    """Means and counts over pages; of no page, zeros."""
    listed = list(pages)
    size = max(len(listed), 1)
    precision, recall, f1 = (
        sum(getattr(page.score, name) for page in listed) / size for name in ("precision", "recall", "f1")
    )
    counts: Counter[str] = Counter()
    for block in (block for page in listed for block in page.blocks):
        if block.content:
            counts["blocks"] += 1
            counts["kept"] += not block.wrong
        elif block.content is False:
            counts["siblings" if block.needs_siblings else "chrome"] += 1
            counts["siblings_leaked" if block.needs_siblings else "leaked"] += block.wrong
    missing = sum(not page.found for page in listed)
    return Summary(len(listed), precision, recall, f1, missing, **counts)


def key_of(page: GoldPage | _Result) -> str:
    """What names a page: its path, else its URL."""
    return page.path if page.path is not None else page.url or ""


def _blocks(page: GoldPage, text: str) -> Iterator[BlockScore]:
    if not page.blocks:
        return
    found = set(tokens(text))
    where = Counter(token for block in page.blocks for token in set(tokens(block.text)))
    for block in page.blocks:
        own = (
            {token for token in tokens(block.text) if where[token] == 1} if block.tokens is None else set(block.tokens)
        )
        if own:
            share = len(own & found) / len(own)
            wrong = block.content is not None and (share < KEPT if block.content else share > 0)
            yield BlockScore(block.name, block.content, block.needs_siblings, round(share, 4), wrong)


# --- reading -----------------------------------------------------------------------------------------------


def read_gold(place: Path) -> list[GoldPage]:
    """The gold in a file of JSON lines, or in a folder of `<page>.gold.txt`, which are of the pages `<page>.html`.

    Raises InputError, which names every line that is not as it should be.
    """
    if place.is_dir():
        files = sorted(place.rglob(f"*{ENDING}"))
        names = [file.relative_to(place).as_posix().removesuffix(ENDING) + ".html" for file in files]
        texts = [file.read_text(encoding="utf-8", errors="replace") for file in files]
        found = [GoldPage(text, path=name) for name, text in zip(names, texts, strict=True)]
    else:
        found = list(_read(place, GoldPage).values())
    if not found:
        raise InputError(f"no gold in {place}: it holds JSON lines with path and text, or a folder of *{ENDING}")
    return found


def read_results(place: Path | BinaryIO) -> Results:
    """Texts by path or URL, from JSON lines (.gz and .zst by the file's ending). Raises InputError as `read_gold` does."""
    found = _read(place, _Result)
    urls: dict[str, str | None] = {}
    for key, result in found.items():
        if result.url is not None and result.path is not None:
            urls[result.url] = None if result.url in urls else key
    return Results({key: result.text or "" for key, result in found.items()}, urls)


def _read(place: Path | BinaryIO, kind: type[Line]) -> dict[str, Line]:
    name = os.fspath(place) if isinstance(place, Path) else "stdin"
    decoder = msgspec.json.Decoder(kind)
    found: dict[str, Line] = {}
    faults: list[str] = []
    for number, line in enumerate(_lines(place), start=1):
        line = line.removeprefix(BOM_UTF8) if number == 1 else line
        if not line.strip():
            continue
        try:
            record = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            faults.append(f"line {number}: {error}{_keys(line)}")
            continue
        except RecursionError:
            faults.append(f"line {number}: JSON is nested too deep")
            continue
        key = key_of(record)
        fault = "has neither path nor url" if not key else f"{key!r} comes twice" if key in found else _fault(record)
        if fault is not None:
            faults.append(f"line {number}: {fault}")
        found.setdefault(key, record)
    if faults:
        more = f"; and {len(faults) - TOLD:,} more" if len(faults) > TOLD else ""
        raise InputError(f"{name}: {'; '.join(faults[:TOLD])}{more}")
    return found


def _keys(line: bytes) -> str:
    """The keys of a line that is an object, for whoever has named them otherwise."""
    try:
        names = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    return f"; its keys are {', '.join(list(names)[:TOLD])}"


def _fault(record: GoldPage | _Result) -> str | None:
    """What is wrong with the blocks of a page: names that come twice, tokens that no text can have."""
    if not isinstance(record, GoldPage):
        return None
    names = Counter(block.name for block in record.blocks)
    for name, count in names.items():
        if count > 1:
            return f"block {name!r} comes twice"
    for block in record.blocks:
        for token in block.tokens or ():
            if tokens(token) != [token]:
                return f"block {block.name!r}: {token!r} is no single token in lower case"
    return None


def _lines(place: Path | BinaryIO) -> Iterator[bytes]:
    if not isinstance(place, Path):
        yield from place
        return
    try:
        with place.open("rb") as stream:
            if place.name.endswith(".zst"):
                yield from _unzstd(stream.read()).split(b"\n")
            else:
                yield from gzip.GzipFile(fileobj=stream) if place.name.endswith(".gz") else stream
    except (OSError, EOFError, zstandard.ZstdError) as error:
        raise InputError(f"cannot read {place}: {getattr(error, 'strerror', None) or error}") from None


def _unzstd(data: bytes) -> bytes:
    """All frames, decompressed. The library's own stream reader takes a torn frame for the end."""
    parts = []
    while data:
        frame = zstandard.ZstdDecompressor().decompressobj()
        parts.append(frame.decompress(data))
        if not frame.eof:
            raise EOFError("Compressed file ended before the end of its last frame")
        data = frame.unused_data
    return b"".join(parts)
