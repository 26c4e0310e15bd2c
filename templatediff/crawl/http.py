"""An archived HTTP response: its head, and its body as it was meant, whatever form it was sent in."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

from templatediff.crawl.bounds import MAX_HTTP_HEAD
from templatediff.crawl.packing import GZIP, gunzip

_STATUS = re.compile(rb"HTTP/[\d.]+[ \t]+(\d{3})\b", re.I)
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_CHUNK_HEAD = re.compile(rb"[ \t]*([0-9a-fA-F]{1,15})[ \t]*(?:;[^\r\n]{0,4096})?\r?\n")
_BROTLI, _ZSTD = "br", "zstd"


@dataclass(frozen=True, slots=True)
class Response:
    """status None: what was archived is no HTTP, and `body` is all of it. Names of `headers` are in lower case."""

    status: int | None
    headers: dict[str, str]
    body: bytes


def parse_response(data: bytes) -> Response:
    """A response as it is in a record; the body is as it was sent."""
    status = _STATUS.match(data)
    end = _HEAD_END.search(data, 0, MAX_HTTP_HEAD)
    if status is None or end is None:
        return Response(None, {}, data)
    headers: dict[str, str] = {}
    for line in data[: end.start()].split(b"\n")[1:]:
        name, colon, value = line.partition(b":")
        if colon:
            headers.setdefault(name.strip().lower().decode("latin-1"), value.strip().decode("latin-1"))
    return Response(int(status[1]), headers, data[end.end() :])


def decoded_body(response: Response, most: int) -> tuple[bytes, bool]:
    """(up to `most` bytes of the body without chunks and compression, whether it came to its end).

    Archives often hold the body decoded and the headers as sent: what does not look as the headers say is left as it is.
    """
    body = response.body
    if "chunked" in response.headers.get("transfer-encoding", "").lower():
        body = dechunked(body)
    whole = True
    codings = [name.strip().lower() for name in response.headers.get("content-encoding", "").split(",")]
    for coding in reversed([name for name in codings if name]):
        body, ended = _decoded(body, coding, most)
        whole = whole and ended
    return body[:most], whole


def dechunked(body: bytes) -> bytes:
    """A body without the heads of its chunks; as it is where it does not begin with one. A cut one keeps what is there."""
    parts = []
    at = 0
    while found := _CHUNK_HEAD.match(body, at):
        size = int(found[1], 16)
        start = found.end()
        if size == 0:
            break
        parts.append(body[start : start + size])
        at = start + size
        if at >= len(body):
            break
        if body[at : at + 2] == b"\r\n":
            at += 2
        elif body[at : at + 1] == b"\n":
            at += 1
        else:
            return body if len(parts) == 1 else b"".join(parts)
    else:
        return b"".join(parts) if parts else body
    return b"".join(parts)


def _decoded(body: bytes, coding: str, most: int) -> tuple[bytes, bool]:
    if not body:
        return body, True
    if coding in ("gzip", "x-gzip"):
        return gunzip(body, most) if body.startswith(GZIP) else (body, True)
    if coding == "deflate":
        return _inflated(body, most)
    if coding in (_BROTLI, _ZSTD):
        return _by_engine(body, coding, most)
    return body, True


def _inflated(body: bytes, most: int) -> tuple[bytes, bool]:
    # The standard means zlib's form; servers send raw deflate too (RFC 9110, 8.4.1.2).
    for bits in (15, -15):
        engine = zlib.decompressobj(wbits=bits)
        try:
            return engine.decompress(body, most), engine.eof
        except zlib.error:
            continue
    return body, True


def _by_engine(body: bytes, coding: str, most: int) -> tuple[bytes, bool]:
    import io

    from fastwarc.stream_io import BrotliReader, ZstdReader

    reader = (BrotliReader if coding == _BROTLI else ZstdReader)(io.BytesIO(body))
    parts: list[bytes] = []
    size = 0
    try:
        while size < most and (part := reader.read(min(most - size, 1024 * 1024))):
            parts.append(part)
            size += len(part)
    except (OSError, ValueError):
        return (b"".join(parts), False) if parts else (body, True)
    return b"".join(parts), True
