"""Fingerprint -> what a profile remembers of it, as bytes, and back.

A fingerprint is capped: the first leaves and tokens of a page, and the beginning of each text. What is read is checked, so that a
damaged or foreign file is refused rather than believed.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
import numpy as np

from templatediff.errors import TemplateError
from templatediff.fingerprint import Fingerprint, Ints
from templatediff.hashes import rank_of

MAX_LEAVES = 2000  #: leaves remembered of a page in a profile, the first in document order
MAX_TEXT = 240  #: characters remembered of a leaf's text
MAX_TOKENS = 24_000  #: token hashes remembered of a page

# The columns that hold one number a leaf.
_OF_LEAVES = [
    "text_hash", "folded_hash", "characters", "linked", "strong", "digits", "sentence_ends", "commas", "capitals",
    "heading", "breaks", "group", "row",
]  # fmt: skip

# Columns in the order they are stored, each in the narrowest type that holds it.
_STORED = {
    "title_hashes": "<u8", "text_hash": "<u8", "folded_hash": "<u8", "characters": "<u4", "linked": "<u4",
    "strong": "<u4", "digits": "<u4", "sentence_ends": "<u2", "commas": "<u2", "capitals": "<u2", "heading": "u1",
    "breaks": "<u2", "group": "<i4", "row": "<i4", "token_start": "<u4", "token_hash": "<u4", "parent": "<i4",
    "place": "<u2", "marks": "<u4", "step": "<u2", "tag": "<u2", "link_leaf": "<u4", "link_target": "<u8",
    "link_text": "<u8", "link_kind": "u1", "name": "<u2",
}  # fmt: skip
_WORKING = {"<u8": np.uint64, "<u4": np.int64, "<u2": np.int64, "u1": np.int64, "<i4": np.int64}

# of a list or column that is read: over what `Limits.max_nodes` allows a page, no burden for a machine
_MOST_ITEMS = 1 << 22
_Names = Annotated[list[str], msgspec.Meta(max_length=_MOST_ITEMS)]


class _Stored(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    key: str
    rank: int
    fetched: str
    content_hash: int
    url: str | None
    title: str | None
    lang: str | None
    steps: _Names
    tags: _Names
    between: Annotated[dict[int, str], msgspec.Meta(max_length=_MOST_ITEMS)]
    texts: _Names
    columns: Annotated[list[memoryview], msgspec.Meta(max_length=100)]
    names: _Names


def encode(page: Fingerprint) -> bytes:
    """The capped fingerprint as bytes; equal fingerprints give equal bytes."""
    page = cap(page)
    columns: list[memoryview] = []
    for name, kind in _STORED.items():
        column: Ints = getattr(page, name)
        limits = np.iinfo(np.dtype(kind))
        if kind != "<u8":
            column = np.clip(column, limits.min, limits.max)
        columns.append(memoryview(np.ascontiguousarray(column.astype(kind)).tobytes()))
    return msgspec.msgpack.encode(
        _Stored(
            page.key, page.rank, page.fetched, page.content_hash, page.url, page.title, page.lang, list(page.steps),
            list(page.tags), dict(sorted(page.between.items())), list(page.texts), columns, list(page.names),
        )
    )  # fmt: skip


def decode(data: bytes | memoryview) -> Fingerprint:
    """The reverse of `encode`. Raises TemplateError for bytes that are no fingerprint, whatever they hold."""
    try:
        stored = msgspec.msgpack.decode(data, type=_Stored)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise TemplateError(f"a fingerprint is damaged: {error}") from None
    if len(stored.columns) != len(_STORED):
        raise TemplateError(f"a fingerprint has {len(stored.columns)} columns, this release reads {len(_STORED)}")
    columns: dict[str, Ints] = {}
    for (name, kind), raw in zip(_STORED.items(), stored.columns, strict=True):
        if len(raw) % np.dtype(kind).itemsize:
            raise TemplateError(f"column {name} of a fingerprint has {len(raw)} bytes: not whole numbers")
        if len(raw) > _MOST_ITEMS * np.dtype(kind).itemsize:
            raise TemplateError(f"column {name} of a fingerprint has {len(raw):,} bytes: more than any page")
        columns[name] = np.frombuffer(raw, kind).astype(np.uint32 if name == "token_hash" else _WORKING[kind])
    page = Fingerprint(
        stored.key, stored.rank, stored.fetched, stored.content_hash, stored.url, stored.title, stored.lang,
        tuple(stored.steps), tuple(stored.tags), stored.between, tuple(stored.texts),
        names=tuple(stored.names), origin=None, **columns,
    )  # fmt: skip
    problem = _inconsistency(page)
    if problem:
        raise TemplateError(f"a fingerprint is damaged: {problem}")
    return page


def _inconsistency(page: Fingerprint) -> str | None:
    n, m = len(page), len(page.parent)
    for name in _OF_LEAVES:
        if len(getattr(page, name)) != n:
            return f"column {name} is not of {n} leaves"
    if len(page.texts) != n or len(page.token_start) != n + 1:
        return "texts or tokens do not fit the leaves"
    if any(len(getattr(page, name)) != m for name in ("place", "marks", "step", "tag", "name")):
        return "containers do not fit together"
    if n and (page.row.min() < 0 or page.row.max() >= m):
        return "a leaf lies in no container"
    if m and (page.parent[0] != -1 or (page.parent[1:] >= np.arange(1, m)).any() or (page.parent[1:] < 0).any()):
        return "a container stands before the one it lies in"
    if m and (
        page.step.max() >= len(page.steps) or page.tag.max() >= len(page.tags) or page.name.max() >= len(page.names)
    ):
        return "a container has no name"
    if (np.diff(page.token_start) < 0).any() or page.token_start[0] or page.token_start[-1] != len(page.token_hash):
        return "token offsets do not fit the tokens"
    lengths = {len(column) for column in (page.link_leaf, page.link_target, page.link_text, page.link_kind)}
    if len(lengths) != 1 or (len(page.link_leaf) and page.link_leaf.max() >= max(n, 1)):
        return "links do not fit the leaves"
    if page.rank != rank_of(page.key):
        return "the rank is not the key's"
    return None


def cap(page: Fingerprint) -> Fingerprint:
    """The part of a fingerprint that a profile keeps: the first leaves, and the beginning of each text."""
    n = min(len(page), MAX_LEAVES, int(np.searchsorted(page.token_start, MAX_TOKENS, side="right")) or 1)
    values = {name: getattr(page, name) for name in Fingerprint.__dataclass_fields__}
    values["texts"] = tuple(text[:MAX_TEXT] for text in page.texts[:n])
    if n < len(page):
        for name in _OF_LEAVES:
            values[name] = values[name][:n]
        values["token_start"] = page.token_start[: n + 1]
        values["token_hash"] = page.token_hash[: page.token_start[n]]
        links = int(np.searchsorted(page.link_leaf, n))
        for name in ("link_leaf", "link_target", "link_text", "link_kind"):
            values[name] = values[name][:links]
    if len(values["token_hash"]) > MAX_TOKENS:
        values["token_start"] = np.minimum(values["token_start"], MAX_TOKENS)
        values["token_hash"] = values["token_hash"][:MAX_TOKENS]
    return Fingerprint(**values)
