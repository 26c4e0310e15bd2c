"""Zip archives, and web archives packed in them (WACZ).

Names and places come from the central directory, or, where that is cut off, from what stands before each member. Members
are read from their own place, so that a reader need not read the directory again.
"""

from __future__ import annotations

import stat
import struct
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from templatediff.crawl import warcs
from templatediff.crawl.members import named_entries
from templatediff.crawl.source import Entry, Member
from templatediff.errors import PageError
from templatediff.page import Failure

if TYPE_CHECKING:
    from zipfile import ZipInfo

_LOCAL = b"PK\x03\x04"
_EMPTY = b"PK\x05\x06"
_LOCAL_HEAD = struct.Struct("<4s5HIIIHH")
_STORED, _DEFLATED = 0, 8  # of the methods of packing
_FORMS = {_STORED: "stored", _DEFLATED: "deflated"}
_ENCRYPTED, _SIZES_FOLLOW, _UTF8 = 0x1, 0x8, 0x800
_CHUNK = 256 * 1024


def is_zip(head: bytes) -> bool:
    """Whether bytes begin a zip archive."""
    return head.startswith((_LOCAL, _EMPTY))


def index(file: str, cut: bool) -> Iterator[Entry]:
    """The members in stored order; those of a WACZ are the records of its WARCs. Raises PageError for a bomb."""
    import zipfile

    try:
        with zipfile.ZipFile(file) as archive:
            infos = sorted(archive.infolist(), key=lambda info: info.header_offset)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, ValueError, NotImplementedError, struct.error) as error:
        yield from named_entries(_salvaged(file, str(error)))
        return
    _check_apart(infos)
    names = {info.filename for info in infos}
    if "datapackage.json" in names and any(_is_web_archive(name) for name in names):
        for info in infos:
            if _is_web_archive(info.filename):
                yield from _records(file, info)
        return
    yield from named_entries(_entry(file, info) for info in infos if not info.filename.endswith("/"))


def _check_apart(infos: list[ZipInfo]) -> None:
    # One stretch of bytes under many names is how a small file is made to unpack to petabytes.
    end = 0
    for info in infos:
        if info.header_offset < end:
            raise PageError("bomb", "members of the zip lie one over the other: refused")
        end = info.header_offset + _LOCAL_HEAD.size + info.compress_size


def _is_web_archive(name: str) -> bool:
    return name.startswith("archive/") and name.lower().endswith((".warc", ".warc.gz"))


def _records(file: str, info: ZipInfo) -> Iterator[Entry]:
    if info.compress_type != _STORED or info.flag_bits & _ENCRYPTED:
        yield Entry(info.filename, failure=Failure("packed", "a WARC in a WACZ has to be stored, not packed again"))
        return
    with open(file, "rb") as stream:
        start = data_start(stream, info.header_offset)
    for entry in warcs.index(file, False, start, info.compress_size):
        yield entry.below(info.filename)


def _entry(file: str, info: ZipInfo) -> Entry:
    name = _name(info)
    mode = info.external_attr >> 16
    if stat.S_ISLNK(mode):
        return Entry(name, other="link")
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return Entry(name, other="device")
    return _member(file, name, info.flag_bits, info.compress_type, info.header_offset, info.compress_size, info.CRC)


def _member(file: str, name: str, flags: int, method: int, offset: int, size: int, crc: int) -> Entry:
    if flags & _ENCRYPTED:
        return Entry(name, failure=Failure("encrypted", "encrypted in the zip: unpack it first"))
    if method not in _FORMS:
        return Entry(name, failure=Failure("packed", f"packed by method {method}, which is not read: unpack it first"))
    return Entry(name, Member("zip-" + _FORMS[method], file, name, offset, size, crc))


def _name(info: ZipInfo) -> str:
    name = info.orig_filename
    if not info.flag_bits & _UTF8:
        name = _decoded(name.encode("cp437"))
    if info.create_system == 0 and "/" not in name:
        name = name.replace("\\", "/")
    return name.partition("\0")[0]


def _decoded(name: bytes) -> str:
    # Most tools write UTF-8 without saying so; what is none is spelled as a file name's bytes are.
    try:
        return name.decode()
    except UnicodeDecodeError:
        return name.decode("utf-8", "surrogateescape")


def _salvaged(file: str, problem: str) -> Iterator[Entry]:
    """What stands whole before the place where the archive is cut, and last its loss."""
    with open(file, "rb") as stream:
        size = stream.seek(0, 2)
        offset = 0
        while True:
            stream.seek(offset)
            head = stream.read(_LOCAL_HEAD.size)
            if len(head) < _LOCAL_HEAD.size or not head.startswith(_LOCAL):
                break
            _, _, flags, method, _, _, crc, packed, _, name_size, extra_size = _LOCAL_HEAD.unpack(head)
            name = _decoded(stream.read(name_size)).partition("\0")[0]
            start = offset + _LOCAL_HEAD.size + name_size + extra_size
            if flags & _SIZES_FOLLOW:
                found = _deflated_size(stream, start) if method == _DEFLATED else None
                if found is None:
                    break
                packed, crc = found
            if start + packed > size:
                break
            if not name.endswith("/"):
                yield _member(file, name, flags, method, offset, packed, crc)
            offset = start + packed
            if flags & _SIZES_FOLLOW:
                stream.seek(offset)
                offset += 16 if stream.read(4) == b"PK\x07\x08" else 12
    yield Entry("", failure=Failure("truncated", f"the zip is cut short or damaged ({problem}): what follows is lost"))


def _deflated_size(stream: BinaryIO, start: int) -> tuple[int, int] | None:
    """(bytes that a member takes, its CRC-32), by unpacking it; None where it has no end."""
    engine = zlib.decompressobj(wbits=-15)
    stream.seek(start)
    size, crc, data = 0, 0, b""
    try:
        while not engine.eof:
            data = data or stream.read(_CHUNK)
            if not data:
                return None
            crc = zlib.crc32(engine.decompress(data, _CHUNK), crc)
            rest = engine.unconsumed_tail or engine.unused_data
            size += len(data) - len(rest)
            data = engine.unconsumed_tail
    except zlib.error:
        return None
    return size, crc


def data_start(stream: BinaryIO, offset: int) -> int:
    """Where the bytes of the member begin whose own header is at `offset`. Raises PageError if there is none."""
    stream.seek(offset)
    head = stream.read(_LOCAL_HEAD.size)
    if len(head) < _LOCAL_HEAD.size or not head.startswith(_LOCAL):
        raise PageError("damaged", "the zip's directory points to a place where no member begins")
    *_, name_size, extra_size = _LOCAL_HEAD.unpack(head)
    return int(offset + _LOCAL_HEAD.size + name_size + extra_size)
