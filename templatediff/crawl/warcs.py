"""Web archives (WARC, ISO 28500): where each record begins, and the page in one. The one home of fastwarc."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from templatediff.crawl.bounds import MAX_HTTP_HEAD, MAX_RATIO, MOST_UNPACKED, SNIFF_BYTES
from templatediff.crawl.http import Response, decoded_body, parse_response
from templatediff.crawl.packing import GZIP
from templatediff.crawl.sniffing import BINARY_KINDS, KIND_OF_ENDING, article, sniff
from templatediff.crawl.source import Entry, Member, Skipped, Source
from templatediff.crawl.streams import Window
from templatediff.errors import PageError, UsageError
from templatediff.page import Failure, Page, utc_text

# Records that may be pages; others tell of them, and are neither pages nor something else that was fetched.
_CANDIDATES = ("response", "resource")
_OTHERS = ("revisit", "conversion", "continuation")
_NEXT_PLAIN = re.compile(rb"\r?\n\r?\n(?=WARC/[01]\.\d)")
_NEXT_GZIP = re.compile(rb"\x1f\x8b\x08")
_LENGTH = re.compile(rb"^content-length[ \t]*:[ \t]*(\d{1,18})[ \t]*\r?$", re.I | re.M)
_CHUNK = 1024 * 1024
_WRONG_END = "the record does not end where it says: it was cut, or its length is wrong"
_HTML_TYPES = ("text/html", "application/xhtml+xml")
# Types that servers give to what they do not know, and those of XML, which XHTML may be sent as.
_VAGUE_TYPES = ("", "application/octet-stream", "application/xml", "text/xml", "unknown/unknown", "*/*")
_KINDS = {"text/plain": "text", "text/css": "css", "application/json": "json", "application/javascript": "script"}


def is_warc(head: bytes) -> bool:
    """Whether bytes begin a WARC, unpacked."""
    return head.startswith(b"WARC/")


def is_by_record(file: str, packing: str) -> bool:
    """Whether each record is packed by itself, as the standard has it, so that one can go to it; else it is one stream."""
    if packing != "gzip":
        return False
    with open(file, "rb") as stream:
        found = _packed_size(stream, 0)
    return found is None or found[0] == found[1]


def index(file: str, cut: bool, start: int = 0, size: int | None = None) -> Iterator[Entry]:
    """Where each record begins that may be a page, named by its offset; damaged stretches are passed over.

    `start` and `size` bound a WARC inside a file. A record that is cut or does not end where it says is a failure, other
    damage is one at the end. Raises PageError for a bomb.
    """
    with open(file, "rb") as raw:
        size = os.path.getsize(file) - start if size is None else size
        if not size:
            return
        stream = cast(BinaryIO, Window(raw, start, size))
        at: int | None = 0
        damage: list[int] = []
        while at is not None:
            begun, last, seen, broken = at, None, False, False
            stream.seek(at)
            try:
                for offset, entry in _records(stream, file, start, size):
                    if last is not None:
                        yield last
                    begun, last, seen = offset, entry, True
            except OSError as error:
                if error.errno is not None:
                    raise
                broken = True
            whole = not seen or _is_whole(stream, begun, size)
            broken = broken or not whole
            if last is not None:
                yield last if whole else Entry(last.name, failure=Failure("truncated", _WRONG_END))
            if broken and (last is None or whole):
                damage.append(begun)
            at = _next_record(stream, begun + 1, size) if broken else None
        if damage and not cut:
            lost = f"the WARC is damaged after byte {damage[0]:,}: what stands there is lost"
            yield Entry("", failure=Failure("truncated", lost))


def _records(stream: BinaryIO, file: str, start: int, size: int) -> Iterator[tuple[int, Entry | None]]:
    """(offset, what is there) of each record; None for one that only tells of others."""
    from fastwarc.warc import ArchiveIterator

    most = max(MOST_UNPACKED, MAX_RATIO * size)
    at = stream.tell()
    is_packed = stream.read(len(GZIP)) == GZIP
    stream.seek(at)
    for record in ArchiveIterator(stream, parse_http=False):
        if record.content_length > most:
            if not is_packed and record.content_length > size:
                raise OSError(_WRONG_END)
            raise PageError("bomb", f"a record of {record.content_length:,} bytes in a file of {size:,}: refused")
        offset = record.stream_pos
        kind = str(record.headers.get("WARC-Type") or "").strip().lower()
        if kind in _CANDIDATES:
            yield offset, Entry(str(offset), Member("record", file, str(offset), start + offset, 0), url=_url(record))
        elif kind in _OTHERS:
            yield offset, Entry(str(offset), url=_url(record), other=kind)
        else:
            yield offset, None


def _url(record: Any) -> str | None:
    # wget puts brackets around it.
    found = str(record.headers.get("WARC-Target-URI") or "").strip().removeprefix("<").removesuffix(">")
    return found or None


def read_record(source: Source, most: int) -> Page | Skipped:
    """The page in a record, of which `most` bytes are read, or what it is instead. Raises PageError."""
    from fastwarc.warc import ArchiveIterator

    assert source.member is not None
    with open(source.member.place, "rb") as stream:
        stream.seek(source.member.offset)
        try:
            record = next(iter(ArchiveIterator(stream, parse_http=False)))
            length = record.content_length
            data = record.reader.read(min(length, most + MAX_HTTP_HEAD))
            headers = record.headers
        except (OSError, StopIteration) as error:
            raise PageError("damaged", f"the record cannot be read ({error or 'none is there'})") from None
    content_type = str(headers.get("Content-Type") or "")
    response = _response(data, str(headers.get("WARC-Type") or ""), content_type)
    if response.status is not None and not 200 <= response.status < 300:
        return Skipped(source.path, f"HTTP {response.status}")
    body, whole = decoded_body(response, most + 1)
    declared = response.headers.get("content-type", "")
    kind = _other_kind(body, declared)
    if kind is not None:
        return Skipped(source.path, kind)
    if len(body) > most or (length > len(data) and len(data) >= most):
        raise PageError("too-large", f"more than {most:,} bytes are not read")
    if not whole or len(data) < length:
        raise PageError("truncated", "the body is cut short or damaged")
    return Page(
        body, source.url, _date(headers.get("WARC-Date")) or source.fetched, source.path, charset=declared or None
    )


def _response(data: bytes, kind: str, content_type: str) -> Response:
    if kind == "response":
        found = parse_response(data)
        if found.status is not None:
            return found
    return Response(None, {"content-type": content_type if kind != "response" else ""}, data)


def _other_kind(body: bytes, declared: str) -> str | None:
    """What a body is, by its first bytes and its Content-Type, if it is no page; raises PageError where they disagree."""
    media = declared.partition(";")[0].strip().lower()
    kind = sniff(body[:SNIFF_BYTES])
    if media in _HTML_TYPES:
        if kind in BINARY_KINDS:
            raise PageError("binary", f"the header says HTML, but the record holds {article(kind)}")
        return None
    if media in _VAGUE_TYPES:
        return None if kind == "html" else kind
    if kind in ("html", "text", "script", "empty", "binary"):
        named = KIND_OF_ENDING.get(media.rpartition("/")[2], media.partition("/")[0] or kind)
        return _KINDS.get(media, named if kind != "empty" else kind)
    return kind


def _date(value: object) -> str | None:
    try:
        return utc_text(str(value).strip()) if value else None
    except UsageError:
        return None


# -- damage


def _is_whole(stream: BinaryIO, offset: int, size: int) -> bool:
    """Whether a record's end is where it says."""
    stream.seek(offset)
    head = stream.read(len(GZIP))
    if head == GZIP:
        found = _packed_size(stream, offset)
        return found is not None and found[0] == found[1]
    stream.seek(offset)
    found_head = _head(stream.read(MAX_HTTP_HEAD))
    if found_head is None:
        return False
    end = offset + sum(found_head)
    if end > size:
        return False
    stream.seek(end)
    after = stream.read(16).lstrip(b"\r\n")
    return not after or after.startswith(b"WARC/")


def _head(data: bytes) -> tuple[int, int] | None:
    """(bytes of a record's head, bytes of its block)."""
    end = re.search(rb"\r?\n\r?\n", data)
    length = _LENGTH.search(data, 0, end.start()) if end else None
    return (end.end(), int(length[1])) if end and length else None


def _packed_size(stream: BinaryIO, offset: int) -> tuple[int, int] | None:
    """(bytes that the gzip member at `offset` holds, bytes that the record at its beginning has), as far as is of use.

    They are equal, line ends after the record left out, if it holds this record alone. None if there is no such record.
    """
    engine = zlib.decompressobj(wbits=31)
    stream.seek(offset)
    head, size, wanted, data, tail = b"", 0, None, b"", b""
    while not engine.eof:
        data = engine.unconsumed_tail or stream.read(_CHUNK)
        if not data:
            return size, -1
        try:
            part = engine.decompress(data, _CHUNK)
        except zlib.error:
            return size, -1
        size += len(part)
        tail = (tail + part)[-4:]
        if wanted is None:
            head += part
            found = _head(head)
            if found is not None:
                wanted = sum(found)
            elif len(head) > MAX_HTTP_HEAD:
                return None
        if wanted is not None and size > wanted + 4:
            return size, wanted
    if wanted is None:
        return None
    return size - (len(tail) - len(tail.rstrip(b"\r\n")) if size > wanted else 0), wanted


def _next_record(stream: BinaryIO, offset: int, size: int) -> int | None:
    """Where the next record begins, at `offset` or after."""
    stream.seek(0)
    packed = stream.read(len(GZIP)) == GZIP
    pattern = _NEXT_GZIP if packed else _NEXT_PLAIN
    while offset < size:
        stream.seek(offset)
        data = stream.read(_CHUNK)
        for found in pattern.finditer(data):
            place = offset + (found.start() if packed else found.end())
            if not packed or _begins_record(stream, place):
                return place
        if len(data) < _CHUNK:
            return None
        offset += len(data) - 16
    return None


def _begins_record(stream: BinaryIO, offset: int) -> bool:
    stream.seek(offset)
    try:
        return zlib.decompressobj(wbits=31).decompress(stream.read(4096), 16).startswith(b"WARC/")
    except zlib.error:
        return False
