"""Members of archives as streams, read from their own place."""

from __future__ import annotations

import io
import os
import zlib
from typing import BinaryIO

from templatediff.errors import PageError

_CHUNK = 64 * 1024


class Window(io.RawIOBase):
    """A stretch of a file as a file of its own."""

    def __init__(self, stream: BinaryIO, start: int, size: int) -> None:
        self._stream, self._start, self._size, self._at = stream, start, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def read(self, size: int = -1) -> bytes:
        left = max(0, self._size - self._at)
        self._stream.seek(self._start + self._at)
        data = self._stream.read(left if size < 0 else min(size, left))
        self._at += len(data)
        return data

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class Inflated:
    """What raw deflate data hold. Reading raises PageError where they are damaged or cut."""

    def __init__(self, stream: io.RawIOBase) -> None:
        self._stream = stream
        self._engine = zlib.decompressobj(wbits=-15)

    def read(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size > 0 and not self._engine.eof:
            data = self._engine.unconsumed_tail or self._stream.read(_CHUNK) or b""
            try:
                part = self._engine.decompress(data, size)
            except zlib.error as error:
                raise PageError("damaged", f"the packed data is damaged ({error})") from None
            if not data and not part:
                raise PageError("truncated", "the packed data is cut short")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)
