"""One candidate to a page, or to what it is instead."""

from __future__ import annotations

import errno
import json
import os
import stat
import zlib
from dataclasses import replace
from typing import Any, BinaryIO, Protocol

from templatediff.crawl import jsonlines, mirror, warcs
from templatediff.crawl.bounds import SNIFF_BYTES
from templatediff.crawl.jsonlines import carried
from templatediff.crawl.packing import GZIP, gunzip
from templatediff.crawl.sniffing import HTML_NAME, KIND_OF_ENDING, article, ending, is_page, skipped_kind, sniff
from templatediff.crawl.source import SIDECAR, Member, Skipped, Source
from templatediff.crawl.streams import Inflated, Window
from templatediff.crawl.zips import data_start
from templatediff.errors import PageError, UsageError
from templatediff.limits import DEFAULT
from templatediff.page import Failure, Page, host_of

_SIDECAR_KEYS = ("url", "fetched", "charset", "site")
# A page's name may be so long that its sidecar's cannot exist.
_NO_SUCH_NAME = frozenset({errno.ENAMETOOLONG, errno.ENOTDIR})


class _Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...


def read_source(source: Source, most: int = DEFAULT.max_bytes) -> Page | Skipped:
    """The page in a file or a member of an archive, a page with its failure, or what is there instead.

    Never raises for what a file holds. A sidecar `PAGE.meta.json` may give url, fetched, charset and site. More than `most`
    bytes, unpacked, are a failure.
    """
    if source.other is not None:
        return Skipped(source.path, source.other)
    try:
        if source.failure is not None:
            raise PageError(source.failure.kind, source.failure.message)
        found = _read(source, most)
    except PageError as error:
        found = Page(b"", source.url, source.fetched, source.path, failure=Failure(error.kind, error.message))
    if isinstance(found, Page) and source.fields.carry and found.source is None:
        return replace(found, source=carried({}, source.fields))
    return found


def _read(source: Source, most: int) -> Page | Skipped:
    form = source.member.form if source.member is not None else None
    if form == "line":
        return jsonlines.read_line(source, most)
    if form == "record":
        return warcs.read_record(source, most)
    data = _read_html(source, most)
    if isinstance(data, Skipped):
        return data
    stub = mirror.stub_kind(data)
    if stub is not None:
        return Skipped(source.path, stub)
    return _with_sidecar(_noted(Page(data, source.url, source.fetched, source.path)), source, most)


def _noted(page: Page) -> Page:
    """The page with what HTTrack's comment says, unless it tells of another host: that copy was published as it is."""
    note = mirror.read_note(page.html) if isinstance(page.html, bytes) else None
    if note is None or (page.url is not None and host_of(note.url) != host_of(page.url)):
        return page
    return replace(page, url=note.url, fetched=note.fetched or page.fetched, charset=note.charset)


def _read_html(source: Source, most: int) -> bytes | Skipped:
    """The file's bytes if it is a page, decompressed; raises PageError."""
    name = os.path.basename(source.member.name if source.member is not None else source.file)
    of_name = ending(name)
    is_named = bool(HTML_NAME.search(name))
    try:
        with open(source.member.place if source.member is not None else source.file, "rb") as file:
            stream, size = _opened(file, source.member)
            head = stream.read(SNIFF_BYTES)
            compressed = head.startswith(GZIP)
            kind = sniff(gunzip(head, SNIFF_BYTES)[0] if compressed else head)
            if not is_page(kind, head, is_named, of_name, compressed):
                if is_named:
                    raise PageError("binary", f"the name says HTML, but the file holds {article(kind)}")
                return Skipped(source.path, "archive" if compressed else skipped_kind(kind, of_name))
            if size is not None and size > most:
                raise PageError("too-large", f"{size:,} bytes: more than {most:,} are not read")
            data = head + stream.read(most + 1 - len(head))
    except OSError as error:
        if not is_named and of_name in KIND_OF_ENDING:
            return Skipped(source.path, KIND_OF_ENDING[of_name])
        raise PageError("unreadable", _why(source.file, error)) from None
    if len(data) > most:
        raise PageError("too-large", f"more than {most:,} bytes are not read")
    if source.member is not None:
        _check(data, source.member)
    return _whole(data, most) if compressed else data


def _opened(file: BinaryIO, member: Member | None) -> tuple[_Stream, int | None]:
    """(what is to be read, how much of it there is, None where only reading it tells)."""
    if member is None:
        return file, os.fstat(file.fileno()).st_size
    start = member.offset if member.form == "stored" else data_start(file, member.offset)
    window = Window(file, start, member.size)
    return (Inflated(window), None) if member.form == "zip-deflated" else (window, member.size)


def _check(data: bytes, member: Member) -> None:
    if member.form in ("stored", "zip-stored") and len(data) < member.size:
        raise PageError("truncated", "the archive ends in the middle of this member")
    if member.crc is not None and zlib.crc32(data) != member.crc:
        raise PageError("damaged", "the member's checksum is wrong: its bytes have changed")


def _why(file: str, error: OSError) -> str:
    if isinstance(error, IsADirectoryError):
        # It was listed because it cannot be: the reason for that is the one to tell.
        try:
            os.scandir(file).close()
        except OSError as reason:
            error = reason
    return error.strerror or str(error)


def _whole(data: bytes, most: int) -> bytes:
    text, ended = gunzip(data, most + 1)
    if len(text) > most:
        raise PageError("too-large", f"more than {most:,} bytes when decompressed are not read")
    if not ended:
        raise PageError("truncated", "the gzip data is cut short or damaged: fetch the page again")
    return text


# -- sidecars


def _with_sidecar(page: Page, source: Source, most: int) -> Page:
    name = os.path.basename(source.member.name if source.member is not None else source.file) + SIDECAR
    try:
        data = _sidecar_bytes(source, most)
    except OSError as error:
        if error.errno in _NO_SUCH_NAME:
            return page
        why = "a link, which is not followed" if error.errno == errno.ELOOP else error.strerror or error
        raise PageError("sidecar", f"{name}: {why}") from None
    if data is None:
        return page
    try:
        record = json.loads(data)
        known = _sidecar_values(record)
        return Page(
            page.html,
            url=known.get("url", page.url),
            fetched=known.get("fetched", page.fetched),
            path=page.path,
            charset=known.get("charset", page.charset),
            site=known.get("site"),
            source=carried(record, source.fields),
        )
    except (ValueError, RecursionError) as error:  # UsageError is a ValueError
        raise PageError("sidecar", f"{name}: {error or type(error).__name__}") from None


def _sidecar_bytes(source: Source, most: int) -> bytes | None:
    if source.member is None:
        place = source.file + SIDECAR
        try:
            # A pipe is not waited for; links are followed nowhere in a crawl.
            handle = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        with open(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise PageError("sidecar", f"{os.path.basename(place)}: a pipe or device, which is not read")
            return file.read(most)
    beside = source.member.sidecar
    if beside is None:
        return None
    with open(beside.place, "rb") as file:
        return _opened(file, beside)[0].read(most)


def _sidecar_values(record: Any) -> dict[str, str]:
    if not isinstance(record, dict):
        raise UsageError(f"expected a JSON object with any of {', '.join(_SIDECAR_KEYS)}")
    known = {key: record[key] for key in _SIDECAR_KEYS if record.get(key) is not None}
    for key, value in known.items():
        if not isinstance(value, str):
            raise UsageError(f"{key}: expected text, found {type(value).__name__}")
    return known
