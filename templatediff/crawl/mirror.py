"""What a mirror on disk tells of its pages: URLs from names (wget, HTTrack), HTTrack's comment, and what is no page."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

from templatediff.page import host_of, mirror_host, utc_text

#: HTTrack's folder of what the mirror was made from: a log, a list and the fetched files once more.
CACHE = "hts-cache"
#: A stub is at most this long; bytes.
STUB_BYTES = 8192

# "show.php@id=3" is how wget spells "show.php?id=3" for Windows; "@" is common in other names ("/@someone").
_QUERY_MARK = re.compile(r"\?|@(?=[^@=/]*=)")
# wget -E appends .html to what a script made.
_ADDED_ENDING = re.compile(r"(?<=.)\.html\Z", re.I)
_SCRIPT = re.compile(r"\.(?:php\d?|aspx?|jspx?|cgi|cfm|pl|do)\Z", re.I)
_NOTE = re.compile(
    rb"<!--\s*Mirrored from (?P<url>[^\s<>]+) by HTTrack Website Copier/[^<>]*?,\s*(?P<date>\w{3}, [^<>,]{10,40}?)\s*-->"
)
_HTTP_DATE = re.compile(r"\w{3}, (\d\d?) (\w{3}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SAVED_TYPE = re.compile(rb"<!-- Added by HTTrack -->\s*<meta\b[^>]*?\bcontent=[\"']([^\"'>]{1,200})[\"']", re.I)
# What a stub has, in this order; looked for one after the other, so that no page takes long.
_MOVED = tuple(
    re.compile(part, re.I)
    for part in (
        rb"<meta\s+http-equiv=[\"']?refresh\b",
        rb"<title>Page has moved</title>",
        rb"<a\s+href=",
        rb"<h3>Click here\.\.\.</h3>",
    )
)
_INDEX = re.compile(rb"<title>Local index - HTTrack", re.I)


def url_below(names: Sequence[str], file: str) -> str | None:
    """The URL of a file by the folders that hold it, outermost first: the first that is a host name begins it.

    >>> url_below(["mirror", "www.example.com", "a"], "show.php@id=3"), url_below(["pages"], "a.html")
    ('https://www.example.com/a/show.php?id=3', None)
    """
    for place, name in enumerate(names):
        host = mirror_host(name) if name else None
        if host:
            return file_url(host, folder_path(names[place + 1 :]), file)
    return None


def folder_path(names: Sequence[str]) -> str:
    """The URL path of a folder, by the names from the host's folder on."""
    return "/" + "".join(f"{quoted(name)}/" for name in names)


def file_url(host: str, folder: str, file: str) -> str:
    """The URL that a mirror keeps under this name: index.html is its folder, what follows "?" (or "@") the query."""
    found = _QUERY_MARK.search(file)
    name, query = (file[: found.start()], file[found.end() :]) if found else (file, "")
    name = re.sub(r"(?<=html|.htm)\.gz$", "", name, flags=re.I)
    if found and not name.lower().endswith((".html", ".htm")):
        query = _ADDED_ENDING.sub("", query)
    bare = _ADDED_ENDING.sub("", name)
    if _SCRIPT.search(bare):
        name = bare
    if name in ("index.html", "index.htm"):
        name = ""
    return f"https://{host}{folder}{quoted(name)}{'?' if found else ''}{quoted(query, '/?&=;+,:@!$*()')}"


def quoted(text: str, safe: str = "&=;+,:@!$*()") -> str:
    """Percent-encoded where a URL cannot hold a character; escapes that are there stay."""
    return re.sub("%25(?=[0-9a-fA-F]{2})", "%", quote(os.fsencode(text), safe=safe))


def other_kind(folder: str, file: str) -> str | None:
    """The kind of a file that a mirror's maker left there and that is no page of the site, by its name; else None.

    >>> other_kind("mirror/hts-cache/", "new.zip"), other_kind("a/", "b.html.orig"), other_kind("a/", "b.html")
    ('hts-cache', 'orig', None)
    """
    if CACHE in folder.split("/"):
        return CACHE
    # wget -K keeps under this name what it changed links in; the page itself stands beside it.
    return "orig" if file.endswith(".orig") else None


def stub_kind(data: bytes) -> str | None:
    """The kind of a page that HTTrack wrote itself: its list of mirrors, or a place from which a page has moved."""
    if _INDEX.search(data[:STUB_BYTES]):
        return "httrack-index"
    return "moved" if len(data) <= STUB_BYTES and _is_moved(data) else None


def _is_moved(data: bytes) -> bool:
    at = 0
    for part in _MOVED:
        found = part.search(data, at)
        if found is None:
            return False
        at = found.end()
    return True


@dataclass(frozen=True, slots=True)
class Note:
    """What HTTrack wrote into a page: URL, time of the fetch (UTC, ISO 8601), what the server said of the charset."""

    url: str
    fetched: str | None
    charset: str | None


def read_note(data: bytes) -> Note | None:
    """HTTrack's comment in a page; None if there is none. It names no scheme: https, as for other mirrors.

    >>> read_note(b"<!-- Mirrored from a.example/b by HTTrack Website Copier/3.49 [x'14], Fri, 03 May 2024 10:00:00 GMT -->")
    Note(url='https://a.example/b', fetched='2024-05-03T10:00:00Z', charset=None)
    """
    head = data[:STUB_BYTES]
    found = _NOTE.search(head) if b"HTTrack" in head else None
    if found is None:
        return None
    url = found["url"].decode("utf-8", "replace")
    url = url if "://" in url else f"https://{url}"
    if host_of(url) is None:
        return None
    saved = _SAVED_TYPE.search(head)
    return Note(
        url, _date(found["date"].decode("ascii", "replace")), saved[1].decode("ascii", "replace") if saved else None
    )


def _date(text: str) -> str | None:
    """The time of an HTTP date, whatever language the machine speaks."""
    found = _HTTP_DATE.fullmatch(text)
    if found is None:
        return None
    day, month, year, hour, minute, second = found.groups()
    try:
        when = datetime(int(year), _MONTHS.index(month) + 1, int(day), int(hour), int(minute), int(second), tzinfo=UTC)
        return utc_text(when)
    except ValueError:
        return None
