"""What the first reading of a crawl made of its pages, kept on disk, so that the second need not cut them again.

To write a page down and read it back takes an eighth of the time of decoding, parsing, segmenting and fingerprinting it (pages
of news sites, 76 KB each in this form). Each process appends to a file of its own; what is told of a page is where in it
that lies. The files serve one run and are no format: another release need not read them.
"""

from __future__ import annotations

import logging
import os
import tempfile
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from templatediff.fingerprint import Fingerprint
from templatediff.hashes import bytes_hash
from templatediff.leaves import Leaves
from templatediff.page import Page, fetched_text, html_bytes

log = logging.getLogger("templatediff")

_ENDING = ".cuts"
MOST = 256 << 20  #: bytes that one process keeps; pages that come later are cut twice

_OF_LEAVES = ("linked", "strong", "heading", "breaks", "group", "row")  # columns that are the leaves' own
_OF_ELEMENTS = ("parent", "place", "marks")
_COLUMNS = tuple(
    one.name for one in fields(Fingerprint) if one.type == "Ints" and one.name not in _OF_LEAVES + _OF_ELEMENTS
)
_PLAIN = ("key", "rank", "fetched", "content_hash", "url", "title", "lang", "steps", "tags", "names")


class Cut(NamedTuple):
    """Where in which file a page's leaves and fingerprint lie."""

    file: str
    start: int
    size: int


class _Kept(msgspec.Struct, array_like=True):
    url: str | None
    fetched: str | None
    site: str | None
    source: dict[str, Any] | None
    leaves: Leaves
    plain: tuple[
        str, int, str, int, str | None, str | None, str | None, tuple[str, ...], tuple[str, ...], tuple[str, ...]
    ]
    columns: list[tuple[str, memoryview]]


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(_Kept)


class Keeper:
    """Appends pages to a new file in a folder, as long as there is room."""

    def __init__(self, folder: str, most: int = MOST) -> None:
        self.folder = folder
        self.most = most
        self.name = ""
        self.size = 0

    def add(self, page: Page, leaves: Leaves, made: Fingerprint) -> Cut | None:
        """Where the page lies now; None where there is no room for it."""
        if self.size >= self.most:
            return None
        try:
            data = _packed(page, leaves, made)
            if self.size + len(data) > self.most:
                self.most = self.size
                return None
            if not self.name:
                handle, self.name = tempfile.mkstemp(_ENDING, dir=self.folder)
                os.close(handle)
            with open(self.name, "ab") as file:
                file.write(data)
        except (UnicodeError, OverflowError, TypeError) as error:  # carried fields may hold what this form cannot
            log.debug("%s is not kept: %s", page.path, error)
            return None
        except OSError as error:
            log.debug("%s: no pages are kept: %s", self.folder, error)
            self.most = 0
            with suppress(OSError):  # others need the room more
                os.unlink(self.name)
            return None
        cut = Cut(self.name, self.size, len(data))
        self.size += len(data)
        return cut


def _packed(page: Page, leaves: Leaves, made: Fingerprint) -> bytes:
    columns = []
    for name in _COLUMNS:
        column = np.ascontiguousarray(getattr(made, name))
        columns.append((column.dtype.str, memoryview(column.tobytes())))
    source = dict(page.source) if page.source is not None else None
    plain = tuple(getattr(made, name) for name in _PLAIN)
    return _ENCODER.encode(_Kept(page.url, fetched_text(page), page.site, source, leaves, plain, columns))


def read(cut: Cut, path: str) -> tuple[Page, Leaves, Fingerprint] | None:
    """The page of this path without its HTML, its leaves and its fingerprint; None where the file is gone or another."""
    try:
        with open(cut.file, "rb") as file:
            file.seek(cut.start)
            kept = _DECODER.decode(file.read(cut.size))
    except (OSError, msgspec.DecodeError) as error:
        log.debug("%s: %s", cut.file, error)
        return None
    page = Page(b"", kept.url, kept.fetched, path, site=kept.site, source=kept.source)
    return page, kept.leaves, _fingerprint(kept)


def _fingerprint(kept: _Kept) -> Fingerprint:
    leaves, elements = kept.leaves, kept.leaves.elements
    columns = {name: np.frombuffer(raw, kind).copy() for name, (kind, raw) in zip(_COLUMNS, kept.columns, strict=True)}
    columns |= {name: np.array(getattr(leaves, name), np.int64) for name in _OF_LEAVES}
    columns |= {name: np.array(getattr(elements, name), np.int64) for name in _OF_ELEMENTS}
    values: dict[str, Any] = {**dict(zip(_PLAIN, kept.plain, strict=True)), **columns}
    between = {row: text for row, text in enumerate(elements.between) if text}
    return Fingerprint(between=between, texts=tuple(leaves.text), **values)


def remove(folder: str) -> None:
    """Takes what was kept out of a folder."""
    for file in Path(folder).glob(f"*{_ENDING}"):
        file.unlink(missing_ok=True)


def is_of(made: Fingerprint, page: Page) -> bool:
    """Whether this is the fingerprint of a page with these bytes."""
    return made.content_hash == bytes_hash(html_bytes(page))
