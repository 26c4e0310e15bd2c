"""Page: one HTML document as it was read, and pure functions on its URL and fetch time."""

from __future__ import annotations

import functools
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

import idna
from publicsuffixlist import PublicSuffixList

from templatediff.errors import UsageError
from templatediff.text import valid

_DEFAULT_PORTS = {"http": 80, "https": 443}
_NOT_IN_HOSTS = re.compile(r"[\x00-\x20\x7f#%/:<>?@\[\\\]^|]")
_FOLDER_HOST = re.compile(r"(?P<host>[^:+]+)(?:[:+](?P<port>\d{1,5}))?")
_EXTENSION = re.compile(r"(?P<stem>.+)\.(?P<extension>(?=[0-9]?[a-z])[a-z0-9]{1,5})", re.I)
_HEX_ID = re.compile(r"[0-9a-f]{8,}(?:-[0-9a-f]{4,}){0,4}", re.I)
_JOINTS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a page could not be used: `kind` is a short word for counting, `message` says it to a person."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Page:
    """One HTML document.

    html      text, or bytes as fetched
    url       the fetched URL, as given
    fetched   when: ISO 8601 text (a date, or date and time; without offset it is UTC) or datetime;
              kept as UTC text, "2024-05-01T00:00:00Z"
    path      the name it has in the output
    charset   what the HTTP header or a sidecar says of the bytes
    site      the site it is said to belong to
    failure   set where it could not be read; `html` is then empty
    source    fields of the JSON line or sidecar that told of the page, which go into its record

    Raises UsageError for a value of another type and for text that is no date.

    >>> Page("<p>Hi", fetched="2024-05-01").fetched
    '2024-05-01T00:00:00Z'
    """

    html: str | bytes
    url: str | None = None
    fetched: str | datetime | None = None
    path: str | None = None
    charset: str | None = None
    site: str | None = None
    failure: Failure | None = None
    source: Mapping[str, Any] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.html, str | bytes):
            raise UsageError(f"html is {type(self.html).__name__}: give str (HTML) or bytes")
        for name in ("url", "path", "charset", "site"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise UsageError(f"{name} is {type(value).__name__}: give str or None")
            if value is not None and name != "path":  # a path names a file, whatever its bytes are
                object.__setattr__(self, name, valid(value))
        object.__setattr__(self, "fetched", utc_text(self.fetched))


def html_bytes(page: Page) -> bytes:
    """The HTML of a page as bytes: as fetched, or its text in UTF-8."""
    return page.html if isinstance(page.html, bytes) else page.html.encode("utf-8", "surrogatepass")


def fetched_text(page: Page) -> str | None:
    """When a page was fetched, as the UTC text that it is kept as."""
    return page.fetched if isinstance(page.fetched, str) else None


def utc_text(fetched: object, name: str = "fetched") -> str | None:
    """A fetch time as "YYYY-MM-DDTHH:MM:SSZ"; None stays None. A month alone means its first day.

    Raises UsageError, which calls the time by `name`, for anything else.

    >>> utc_text("2024-05-01T01:30:00+02:00"), utc_text("2024-05")
    ('2024-04-30T23:30:00Z', '2024-05-01T00:00:00Z')
    """
    if fetched is None:
        return None
    problem = UsageError(f"{name} is {fetched!r}: give a date or time in ISO 8601, as 2024-05-01T12:30:00Z")
    if isinstance(fetched, str):
        text = fetched.strip()
        try:
            when = datetime.fromisoformat(f"{text}-01" if re.fullmatch(r"\d{4}-\d\d", text) else text)
        except ValueError:
            raise problem from None
    elif isinstance(fetched, datetime):
        when = fetched
    else:
        raise problem
    try:
        when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except (OverflowError, ValueError):
        raise problem from None
    return when.replace(tzinfo=None, microsecond=0).isoformat() + "Z"


def fetch_month(fetched: str | datetime | None) -> str:
    """The month of a fetch time in UTC, "" where it is not known.

    >>> fetch_month("2024-05-01T00:00:00Z"), fetch_month(None)
    ('2024-05', '')
    """
    return (utc_text(fetched) or "")[:7]


def normal_url(url: str | None) -> str | None:
    """A fetched URL as a page's identity; None if it is no absolute http or https URL.

    The fragment, user name and default port are dropped, scheme and host are in lower case (IDNA ASCII).

    >>> normal_url("HTTP://Www.Example.com:80#top")
    'http://www.example.com/'
    """
    parts = _split(url)
    if parts is None:
        return None
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{parts.netloc}{parts.path or '/'}{query}"


def host_of(url: str | None) -> str | None:
    """The host in lower case, IDNA ASCII, without "www." and default port; None where `normal_url` is None.

    >>> host_of("https://www.Example.com/a"), host_of("http://bücher.example:8080/")
    ('example.com', 'xn--bcher-kva.example:8080')
    """
    parts = _split(url)
    return None if parts is None else _without_www(parts.netloc)


def file_of(url: str | None) -> str | None:
    """The path under which a mirror would keep a page: host, path, query; None where `normal_url` is None.

    >>> file_of("https://www.Example.com/a/?page=2#top"), file_of("http://example.com")
    ('www.example.com/a/index.html?page=2', 'example.com/index.html')
    """
    parts = _split(url)
    if parts is None:
        return None
    path = parts.path or "/"
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.netloc}{path}{'index.html' if path.endswith('/') else ''}{query}"


def registrable_domain(host: str) -> str:
    """The part of a host name that its owner registered, by the public suffix list; else the host itself.

    >>> registrable_domain("news.example.co.uk"), registrable_domain("127.0.0.1:8000")
    ('example.co.uk', '127.0.0.1:8000')
    """
    name, port = re.fullmatch(r"(.*?)(:\d+)?", host.lower(), re.S).groups()  # type: ignore[union-attr]
    if _is_address(name):
        return host.lower()
    return _private_suffix(name) or f"{name}{port or ''}"


def has_public_suffix(name: str) -> bool:
    """Whether a folder name is like a host name under a known public suffix (":8080", "+8080" may follow).

    >>> has_public_suffix("www.example.com"), has_public_suffix("co.uk"), has_public_suffix("img.d")
    (True, False, False)
    """
    return mirror_host(name) is not None


def mirror_host(name: str) -> str | None:
    """The host, with its port if any, that a mirror's folder name stands for; None if it is no host name."""
    match = _FOLDER_HOST.fullmatch(name)
    if match is None or "." not in name.strip("."):
        return None
    host = _ascii_host(match["host"])
    if host is None or not _private_suffix(host):
        return None
    return f"{host}:{match['port']}" if match["port"] else host


def url_shape(url: str | None) -> str:
    """What a URL looks like, from the URL alone; "" if it is no http or https URL.

    Number of segments, the first if it has no digit, the kind of each other ("word", "slug", "number" or
    "hash"), extension, sorted query names.

    >>> url_shape("https://example.com/news/2024/some-long-title.html?page=2&id=7")
    '3/news/number/slug.html?id&page'
    """
    parts = _split(url)
    if parts is None:
        return ""
    segments = [segment for segment in unquote(parts.path).split("/") if segment]
    match = _EXTENSION.fullmatch(segments[-1]) if segments else None
    extension = ""
    if match:
        segments[-1], extension = match["stem"], "." + match["extension"].lower()
    kinds = [_kind(segment) for segment in segments]
    if segments and not any(char.isdigit() for char in segments[0]):
        kinds[0] = segments[0]
    names = {_query_name(part) for part in re.split("[&;]", parts.query) if part}
    return "/".join([str(len(kinds)), *kinds]) + extension + ("?" + "&".join(sorted(names)) if names else "")


def _query_name(part: str) -> str:
    # "?12345" is a value without a name: it must not make a shape of its own.
    name, equals, _ = part.partition("=")
    return unquote(name) if equals else _kind(unquote(name))


def _kind(segment: str) -> str:
    if _HEX_ID.fullmatch(segment) and not segment.isdigit() and any(char.isdigit() for char in segment):
        return "hash"
    parts = [part for part in _JOINTS.split(segment) if part]
    if all(part.isdigit() for part in parts):
        return "number" if parts else "word"
    if not any(char.isdigit() for char in segment):
        return "slug" if len(parts) > 1 else "word"
    wordy = any(len(part) > 1 and not any(char.isdigit() for char in part) for part in parts)
    return "slug" if len(parts) > 1 and wordy else "hash"


@functools.lru_cache(4096)
def _split(url: str | None) -> SplitResult | None:
    """The URL in parts: scheme in lower case, netloc normalised, no fragment."""
    try:
        parts = urlsplit((url or "").strip())
        port = parts.port
        host = parts.hostname or ""
    except ValueError:
        return None
    if parts.scheme not in _DEFAULT_PORTS:
        return None
    name = f"[{host}]" if ":" in host else _ascii_host(host)
    if not name:
        return None
    netloc = name if port is None or port == _DEFAULT_PORTS[parts.scheme] else f"{name}:{port}"
    return SplitResult(parts.scheme, netloc, parts.path, parts.query, "")


def _ascii_host(host: str) -> str | None:
    """IDNA ASCII in lower case by UTS 46, as browsers do; "_" and emoji, which are in use, pass."""
    try:
        name = host.lower() if host.isascii() else idna.uts46_remap(host, std3_rules=False)
        labels = [
            part if part.isascii() else "xn--" + part.encode("punycode").decode("ascii") for part in name.split(".")
        ]
    except (UnicodeError, idna.IDNAError):
        return None
    if labels[-1] == "":
        labels.pop()
    if not labels or not all(0 < len(part) < 64 for part in labels) or _NOT_IN_HOSTS.search("".join(labels)):
        return None
    return ".".join(labels)


def _without_www(host: str) -> str:
    # "www.com" is a registered name of its own.
    return host[4:] if host.startswith("www.") and "." in host[4:] else host


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


@functools.cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList(accept_unknown=False)


@functools.lru_cache(4096)
def _private_suffix(name: str) -> str | None:
    found = _suffixes().privatesuffix(name)
    return found if isinstance(found, str) else None
