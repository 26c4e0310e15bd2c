"""Which files hold many pages, and what is in them: one `Source` a member, in stored order.

An archive is read twice, as files are: so its index says where each member begins, and a reader, in whatever process,
opens the archive and goes there. What is packed as a whole (`.tar.gz`) is unpacked to a temporary file first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace

from templatediff.crawl import jsonlines, tars, warcs, zips
from templatediff.crawl.bounds import SNIFF_BYTES
from templatediff.crawl.mirror import other_kind, url_below
from templatediff.crawl.packing import packing_of, peek, unpack
from templatediff.crawl.sniffing import HTML_NAME
from templatediff.crawl.source import Entry, Fields, Source
from templatediff.errors import PageError
from templatediff.page import Failure
from templatediff.spool import Spool

_PACKED = r"(?:\.(?:gz|xz|bz2|zst))?"
_LINES = rf"\.(?:jsonl|ndjson){_PACKED}"
_ARCHIVE_NAME = re.compile(rf"(?:\.(?:zip|wacz|t(?:gz|xz|bz2|zst)|(?:tar|warc){_PACKED})|{_LINES})\Z", re.I)
_NAMED_KINDS = (("tar", re.compile(r"\.t(?:ar|gz|xz|bz2|zst)\b", re.I)), ("warc", re.compile(r"\.warc\b", re.I)))
_LINES_NAME = re.compile(rf"{_LINES}\Z|\A-\Z", re.I)
_LAST_ENDING = re.compile(r"(?<=.)\.[^.]*\Z")
#: Members of these have paths of their own, as files of a folder have.
_LIKE_FOLDERS = frozenset({"zip", "tar"})
_INDEX = {"zip": zips.index, "tar": tars.index, "warc": warcs.index, "jsonl": jsonlines.index}


def container_kind(file: str, *, given: bool, fields: Fields) -> str | None:
    """ "zip", "tar", "warc" or "jsonl" for a file that is to be read as such, else None.

    In a folder the name has to say so; a file that is itself an INPUT (`given`) is looked at whatever its name. Lines of
    JSON are pages where one of the first has HTML, and where the user says so by giving `x.jsonl`.
    """
    name = os.path.basename(file)
    if not _ARCHIVE_NAME.search(name) and (not given or HTML_NAME.search(name)):
        return None
    try:
        head, packing, damage = _head(file)
    except OSError:
        return None  # reading it says why
    if damage and not head and _ARCHIVE_NAME.search(name):
        return next((kind for kind, pattern in _NAMED_KINDS if pattern.search(name)), "jsonl")  # whose loss is told
    if zips.is_zip(head):
        return None if packing else "zip"
    if tars.is_tar(head):
        return "tar"
    if warcs.is_warc(head):
        return "warc"
    if not jsonlines.is_object(head):
        return None
    if given and _LINES_NAME.search(name):
        return "jsonl"
    return "jsonl" if jsonlines.has_html(_beginning(file, packing, jsonlines.LOOK_BYTES)[0], fields) else None


def is_member(path: str) -> bool:
    """Whether a record's path is that of a member of an archive.

    >>> is_member("x.tar.gz!a/b.html"), is_member("-!3"), is_member("news!/a.html")
    (True, True, False)
    """
    archive, mark, _ = path.partition("!")
    name = archive.rpartition("/")[2]
    return bool(mark) and (name == "-" or _ARCHIVE_NAME.search(name) is not None)


def top_of(file: str) -> str:
    """The name of the folder that an archive stands for.

    >>> top_of("crawl/site.tar.gz"), top_of("www.a.example.warc.gz"), top_of("pages.bin")
    ('site', 'www.a.example', 'pages')
    """
    name = os.path.basename(file)
    return _ARCHIVE_NAME.sub("", name) or name if _ARCHIVE_NAME.search(name) else _LAST_ENDING.sub("", name)


def expanded(archive: Source) -> Iterator[Source]:
    """The members of an archive in stored order, and last, where part of it is lost, a source that tells of it.

    `archive.folder_site` is the folder that its own top stands for; "" where it is itself an INPUT.
    """
    assert archive.archive is not None
    told = False
    lost: Failure | None = None
    try:
        place, spool, damage = _unpacked(archive.file, archive.archive)
        if damage:
            lost = Failure("truncated", f"{damage}: what follows is lost")
        for entry in _INDEX[archive.archive](place, damage is not None):
            told = told or (entry.failure is not None and entry.failure.kind == "truncated")
            yield _source(archive, entry, spool)
    except PageError as error:
        lost = Failure(error.kind, error.message)
    except OSError as error:
        lost = Failure("unreadable", error.strerror or str(error))
    if lost is not None and not told:
        yield replace(archive, archive=None, failure=lost)


def _head(file: str) -> tuple[bytes, str | None, str | None]:
    """The first bytes of what a file holds, how it is packed, and what is wrong with that."""
    with open(file, "rb") as stream:
        head = stream.read(SNIFF_BYTES)
    packing = packing_of(head)
    found, damage = _beginning(file, packing, SNIFF_BYTES) if packing else (head, None)
    return found, packing, damage


def _beginning(file: str, packing: str | None, most: int) -> tuple[bytes, str | None]:
    with open(file, "rb") as stream:
        return peek(stream, packing, most) if packing else (stream.read(most), None)


def _unpacked(file: str, kind: str) -> tuple[str, Spool | None, str | None]:
    """(file in which one can go to a member, the folder that holds it, what was lost in unpacking)."""
    _, packing, _ = _head(file)
    if packing is None or (kind == "warc" and warcs.is_by_record(file, packing)):
        return file, None, None
    spool = Spool()
    place = str(spool.folder / "unpacked")
    return place, spool, unpack(file, packing, place)


def _source(archive: Source, entry: Entry, spool: Spool | None) -> Source:
    path = f"{archive.path}!{entry.name}" if entry.name else archive.path
    made = replace(
        archive, path=path, folder=archive.path, archive=None, url=entry.url, member=entry.member, other=entry.other,
        failure=entry.failure, spool=spool, folder_site=archive.folder_site or top_of(archive.file),
    )  # fmt: skip
    if archive.archive not in _LIKE_FOLDERS or (entry.member is not None and entry.member.form == "record"):
        return made
    *folders, file = entry.name.split("/")
    below = "/".join(folders)
    return replace(
        made,
        folder=f"{archive.path}!{below}",
        folder_site="/".join(part for part in (archive.folder_site, below) if part) or made.folder_site,
        url=url_below(folders, file),
        other=entry.other or other_kind(f"{below}/", file),
    )
