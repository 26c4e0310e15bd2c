"""Tar archives, plain: where each member's bytes are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from templatediff.crawl.members import named_entries, plain_name
from templatediff.crawl.source import Entry, Member
from templatediff.page import Failure

if TYPE_CHECKING:
    import tarfile

_BLOCK = 512


def is_tar(head: bytes) -> bool:
    """Whether bytes begin a tar archive of the kinds since 1988 (ustar, GNU, pax)."""
    return head[257:262] == b"ustar"


def index(file: str, cut: bool) -> Iterator[Entry]:
    """The members in stored order; where the archive is cut or damaged, last a failure."""
    return named_entries(_entries(file, cut))


def _entries(file: str, cut: bool) -> Iterator[Entry]:
    import tarfile

    size = os.path.getsize(file)
    places: dict[str, Member] = {}  # for hard links: the same file under another name
    damage = None
    if not size:
        return
    try:
        with tarfile.open(file, "r:") as archive:
            for info in archive:
                setattr(archive, "members", [])  # noqa: B010  # else it keeps them all
                if archive.offset <= info.offset:  # a negative size leads back, for ever (CVE-2025-8194)
                    raise ValueError("a member of negative size")
                if info.offset_data + info.size > size and info.isreg():
                    damage = "ends in the middle of this member"
                    yield Entry(info.name, failure=Failure("truncated", f"the tar {damage}"))
                    return
                if (entry := _entry(file, info, places)) is not None:
                    yield entry
            if not _is_end(file, archive.offset, size):
                damage = f"is damaged at byte {archive.offset:,}"
    except (tarfile.TarError, ValueError, OverflowError, LookupError) as error:  # the last ones of odd numbers in heads
        damage = f"is cut short or damaged ({error})"
    if damage and not cut:
        yield Entry("", failure=Failure("truncated", f"the tar {damage}: what follows is lost"))


def _entry(file: str, info: tarfile.TarInfo, places: dict[str, Member]) -> Entry | None:
    if info.isdir():
        return None
    name = info.name
    if info.islnk() and (place := places.get(plain_name(info.linkname))) is not None:
        return Entry(name, place)
    if info.issym() or info.islnk():
        return Entry(name, other="link")
    if not info.isreg() or info.issparse():
        return Entry(name, other="device" if not info.isreg() else "sparse")
    member = Member("stored", file, name, info.offset_data, info.size)
    places[plain_name(name)] = member
    return Entry(name, member)


def _is_end(file: str, offset: int, size: int) -> bool:
    """Whether the archive ends here: with a block of zeros, or with the file."""
    with open(file, "rb") as stream:
        stream.seek(offset)
        block = stream.read(_BLOCK)
    return not block.strip(b"\0")
