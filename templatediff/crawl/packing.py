"""Compressed streams to plain ones: a look at their beginning, or all of it into a file, within bounds."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from templatediff.crawl.bounds import MAX_RATIO, MOST_UNPACKED
from templatediff.errors import PageError
from templatediff.spool import writing_temporaries

GZIP = b"\x1f\x8b"
_MAGIC = ((GZIP, "gzip"), (b"\xfd7zXZ\0", "xz"), (b"BZh", "bzip2"), (b"\x28\xb5\x2f\xfd", "zstd"))
_CHUNK = 256 * 1024  # bytes taken in, and about the most that is given out, at a time
_ZSTD_CHUNK = 2048  # the engine has no limit on what it gives out; 4 bytes may stand for 128 kB


def packing_of(head: bytes) -> str | None:
    """How a stream that begins so is packed: "gzip", "xz", "bzip2", "zstd", or None.

    >>> packing_of(b"BZh9"), packing_of(b"<html>")
    ('bzip2', None)
    """
    return next((name for magic, name in _MAGIC if head.startswith(magic)), None)


def peek(stream: BinaryIO, packing: str, most: int) -> tuple[bytes, str | None]:
    """The first `most` bytes that a packed stream holds, and why there are fewer where it is damaged."""
    found = b""
    for part, damage in _parts(stream, packing):
        found += part
        if damage or len(found) >= most:
            return found[:most], damage
    return found, None


def unpack(file: str, packing: str, target: str) -> str | None:
    """Write what `file` holds to `target`; what was lost at its end, in words, or None.

    Raises PageError of kind "bomb" for what unpacks to far too much, OSError where it cannot be read, OutputError where it
    cannot be written.
    """
    most = max(MOST_UNPACKED, MAX_RATIO * os.path.getsize(file))
    size = 0
    lost = None
    with open(file, "rb") as stream, open(target, "wb") as out:
        for part, damage in _parts(stream, packing):
            size += len(part)
            if size > most:
                raise PageError("bomb", f"unpacks to more than {most:,} bytes, {MAX_RATIO} times its size: refused")
            with writing_temporaries():
                out.write(part)
            lost = damage
        with writing_temporaries():
            out.flush()
    return lost


def gunzip(data: bytes, limit: int) -> tuple[bytes, bool]:
    """(up to `limit` bytes of all members, whether the last came to its proper end); damage ends it."""
    parts: list[bytes] = []
    size = 0
    while True:
        stream = zlib.decompressobj(wbits=31)
        try:
            part = stream.decompress(data, limit - size)
        except zlib.error:
            return b"".join(parts), False
        parts.append(part)
        size += len(part)
        data = stream.unused_data
        if not stream.eof or size >= limit or not data.startswith(GZIP):
            return b"".join(parts), stream.eof


def _parts(stream: BinaryIO, packing: str) -> Iterator[tuple[bytes, str | None]]:
    """(what comes next, None), and last (b"", damage) where the stream is cut or damaged."""
    import bz2
    import lzma

    damage = None
    try:
        if packing == "gzip":
            yield from _gzip_parts(stream)
        elif packing == "zstd":
            yield from _zstd_parts(stream)
        else:
            yield from _bounded_parts(stream, lzma.LZMADecompressor if packing == "xz" else bz2.BZ2Decompressor)
    except EOFError:
        damage = f"the {packing} data is cut short"
    except (zlib.error, lzma.LZMAError, OSError, ValueError) as error:
        # bz2 says OSError of damaged data, without a number
        if isinstance(error, OSError) and error.errno is not None:
            raise
        damage = f"the {packing} data is damaged ({error})"
    if damage:
        yield b"", damage


def _gzip_parts(stream: BinaryIO) -> Iterator[tuple[bytes, None]]:
    data = stream.read(_CHUNK)
    while data:
        engine = zlib.decompressobj(wbits=31)
        while not engine.eof:
            if not data:
                data = stream.read(_CHUNK)
                if not data:
                    yield engine.flush(), None
                    raise EOFError
            yield engine.decompress(data, _CHUNK), None
            data = engine.unconsumed_tail
        # Zeros after the last member are padding.
        data = engine.unused_data.lstrip(b"\0") or stream.read(_CHUNK).lstrip(b"\0")


def _bounded_parts(stream: BinaryIO, make: Callable[[], Any]) -> Iterator[tuple[bytes, None]]:
    data = stream.read(_CHUNK)
    while data:
        engine = make()
        while not engine.eof:
            if engine.needs_input and not data:
                data = stream.read(_CHUNK)
                if not data:
                    raise EOFError
            yield engine.decompress(data, _CHUNK), None
            data = b""
        data = engine.unused_data.lstrip(b"\0") or stream.read(_CHUNK).lstrip(b"\0")


def _zstd_parts(stream: BinaryIO) -> Iterator[tuple[bytes, None]]:
    import zstandard

    data = stream.read(_ZSTD_CHUNK)
    while data:
        engine = zstandard.ZstdDecompressor().decompressobj()
        while not engine.eof:
            if not data:
                data = stream.read(_ZSTD_CHUNK)
                if not data:
                    raise EOFError
            try:
                yield engine.decompress(data), None
            except zstandard.ZstdError as error:
                raise ValueError(str(error)) from None
            data = b""
        data = engine.unused_data or stream.read(_ZSTD_CHUNK)
