"""Reading a crawl: folders and files to pages, one at a time, in byte order of `path`.

Listing and reading are apart: `list_sources` names the candidates, `read_source` opens one and says whether
it is a page. So the reading can be shared out among processes while order and names stay the same.
"""

from __future__ import annotations

import errno
import json
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from templatediff.decode import guess_utf16
from templatediff.errors import InputError, PageError, UsageError
from templatediff.limits import DEFAULT
from templatediff.page import Failure, Page, mirror_host, utc_text

#: How much of a file is looked at to tell what it is.
SNIFF_BYTES = 4096
#: A longer list of paths is refused; bytes.
MAX_LIST = 1 << 30

_SIDECAR = ".meta.json"
_SIDECAR_KEYS = ("url", "fetched", "charset", "site")
_GZIP = b"\x1f\x8b"
# A page's name may be so long that its sidecar's cannot exist.
_NO_SUCH_NAME = frozenset({errno.ENAMETOOLONG, errno.ENOTDIR})

_HTML_NAME = re.compile(r"\.(?:x?html?|shtml?|xht)(?:\.gz)?(?:[?@].*)?\Z", re.I | re.S)
# Endings that say plainly what a file is. Markup under such a name counts only as a whole document.
_NAMED_KINDS = {
    "css": "css less scss map",
    "script": "js mjs cjs ts jsx py rb pl sh c h java",
    "json": "json jsonl ndjson geojson webmanifest",
    "xml": "xml rss atom rdf xsl xsd svg",
    "text": "txt text md rst csv tsv log ini cfg toml yaml yml tex patch diff orig",
    "image": "png jpg jpeg gif webp avif ico bmp tif tiff",
    "font": "woff woff2 ttf otf eot",
    "media": "mp3 mp4 m4a ogg ogv oga webm wav avi mov mkv flac swf",
    "pdf": "pdf",
    "archive": "zip tar tgz gz bz2 xz zst 7z rar warc wacz jar",
}
_KIND_OF_ENDING = {ending: kind for kind, endings in _NAMED_KINDS.items() for ending in endings.split()}
_BINARY_KINDS = frozenset({"archive", "binary", "font", "image", "media", "pdf"})

# First bytes of what is no page (https://mimesniff.spec.whatwg.org/#matching-a-mime-type-pattern and after).
_MAGIC = (
    (
        "image",
        rb"\x89PNG|GIF8|\xff\xd8\xff|RIFF....WEBP|BM....\0\0\0\0|\0\0[\x01\x02]\0|II\*\0|MM\0\*|....ftypavif",
    ),
    ("pdf", rb"%PDF-"),
    (
        "archive",
        rb"PK[\x03\x05][\x04\x06]|\x1f\x8b|BZh\d|\xfd7zXZ\0|\x28\xb5\x2f\xfd|7z\xbc\xaf|Rar!|WARC/|.{257}ustar",
    ),
    ("font", rb"wOFF|wOF2|OTTO|\0\x01\0\0\0|ttcf"),
    (
        "media",
        rb"OggS|ID3|fLaC|\x1aE\xdf\xa3|RIFF....(?:WAVE|AVI )|....ftyp|\xff[\xfb\xf3\xf2]|[FC]WS[\x01-\x40]",
    ),
)
_MAGIC_PATTERNS = tuple((kind, re.compile(pattern, re.S)) for kind, pattern in _MAGIC)
# Elements with which a page begins: the standard's list, and what hand-written pages and fragments open with.
_HTML_START = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|title|meta|link|base|script|style|iframe|frameset|noscript|h[1-6]|div|p|a|b|i|br|hr"
    rb"|font|center|table|ul|ol|dl|li|main|article|section|header|footer|nav|aside|form|img|span|pre|em|strong|blockquote)[\s>/]",
    re.I,
)
_WHOLE_DOCUMENT = re.compile(rb"<(?:!doctype\s+html|html|head)[\s>]", re.I)
_WHOLE_DOCUMENT_LATER = re.compile(rb"^[ \t]*<(?:!doctype\s+html|html)[\s>]", re.I | re.M)
# A prolog, comments and white space before the first element; a comment may be cut by the end of the head.
_BEFORE_START = re.compile(
    rb"(?:\s+|<!--.*?(?:-->|\Z)|<\?xml[\s-].*?(?:\?>|\Z)|<!doctype(?!\s+html)[^>]*(?:>|\Z))*", re.I | re.S
)
_CONTROL_BYTES = bytes({*range(0x00, 0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)})


@dataclass(frozen=True, slots=True)
class Source:
    """One candidate file.

    path         the record's name: posix, relative as DESIGN says ("Order and names")
    file         what to open
    folder       the folder that holds it, relative like `path`, "" at the top
    folder_site  its folder relative to its own INPUT; if it lies directly there, that INPUT's name (for a
                 file named as INPUT, the name of its folder)
    url          from a mirror's path, or None
    fetched      given for the whole crawl, or None
    """

    path: str
    file: str
    folder: str
    folder_site: str
    url: str | None = None
    fetched: str | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is no page; `kind` is what it seems to be ("image", "css", "json", "text", ...)."""

    path: str
    kind: str


@dataclass(frozen=True, slots=True)
class _Input:
    """One INPUT: `top` is the folder it stands for, `only` the one file in it that is meant."""

    top: str
    only: str | None
    given: str
    named: str = ""  # as the caller wrote it, of a file


def read_crawl(
    paths: str | Path | Iterable[str | Path],
    *,
    fetched: object = None,
    ignore: Iterable[str | Path] = (),
    skipped: Counter[str] | None = None,
) -> Iterator[Page]:
    """Pages of folders and files in byte order of `path`, read one at a time as they are asked for.

    What is no page is counted by kind in `skipped`. A page that cannot be read comes with its `failure`.
    Raises InputError at once if an input does not exist. `fetched` is for pages that have no fetch time.
    """
    return _read_all(list_sources(paths, fetched=fetched, ignore=ignore), skipped)


def _read_all(sources: list[Source], skipped: Counter[str] | None) -> Iterator[Page]:
    for source in sources:
        found = read_source(source)
        if isinstance(found, Page):
            yield found
        elif skipped is not None:
            skipped[found.kind] += 1


def list_sources(
    inputs: str | Path | Iterable[str | Path], *, fetched: object = None, ignore: Iterable[str | Path] = ()
) -> list[Source]:
    """The candidate files of INPUTs in byte order of `path`; the order of INPUTs does not matter.

    A file named twice counts once. Links inside an INPUT are not followed: what they lead to inside is found
    there, and what lies outside was not asked for. `ignore` names outputs, which are never read. Sidecars are
    left out.
    A folder that cannot be opened comes as a source, so that its loss is reported.
    """
    given = [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs)
    if not given:
        raise InputError("no input: name a folder or file")
    when = utc_text(fetched)
    if any(not os.fspath(path) for path in given):
        raise InputError("an input is empty: name a folder or file (. is the current folder)")
    wanted = [_as_input(os.fspath(path)) for path in given]
    root = os.path.commonpath([item.top for item in wanted])
    ignored = frozenset(os.path.realpath(path) for path in ignore)
    found: dict[str, tuple[tuple[bool, int, bytes], Source]] = {}
    for item in wanted:
        # The same file by two ways: a way without links wins, then the outermost INPUT, then the name.
        real_top = os.path.realpath(item.top)
        by_link = item.only is not None and os.path.islink(item.given)
        for real, source in _sources_of(item, root, real_top, ignored, when):
            key = real if not by_link else os.path.realpath(item.given)
            rank = (by_link or real_top != item.top, item.top.count(os.sep), _bytes(source.path))
            if key not in found or rank < found[key][0]:
                found[key] = rank, source
    return sorted((source for _, source in found.values()), key=lambda source: _bytes(source.path))


def _as_input(given: str) -> _Input:
    full = os.path.abspath(given)
    if os.path.isdir(full):
        return _Input(full, None, full)
    if os.path.isfile(full):
        return _Input(os.path.dirname(full), os.path.basename(full), full, given)
    if os.path.lexists(full):
        raise InputError(f"{given}: neither a folder nor a file that can be read")
    raise InputError(f"{given}: no such file or folder")


def _sources_of(
    item: _Input, root: str, real_top: str, ignored: frozenset[str], fetched: str | None
) -> Iterator[tuple[str, Source]]:
    """(real path, source) of every candidate of one INPUT, folder by folder."""
    name = os.path.basename(item.top) or item.top
    host = mirror_host(name)
    prefix = "" if item.top == root else os.path.relpath(item.top, root).replace(os.sep, "/") + "/"
    # Per folder: its path below the INPUT with "/" at the end, the mirror's host, the URL path of the folder.
    host, url_path = (host, "/") if item.only is None else _host_above(item, root)
    waiting: list[tuple[str, str | None, str]] = [("", host, url_path)]
    while waiting:
        below, host, url_path = waiting.pop()
        folder = (prefix + below).rstrip("/")
        site = below.rstrip("/") or name
        if _is_ignored(real_top, below, ignored):
            continue
        try:
            files, folders = _entries(os.path.join(item.top, below), item.only)
        except OSError as error:
            if not below:
                raise InputError(f"{item.given}: {error.strerror or error}") from None
            yield os.path.join(real_top, below), Source(folder, os.path.join(item.top, below), folder, site)
            continue
        for file in files:
            real = os.path.join(real_top, below + file)
            if real not in ignored and not file.endswith(_SIDECAR):
                url = _mirror_url(host, url_path, file) if host else None
                opened = os.path.join(item.top, below + file)
                yield real, Source(prefix + below + file, opened, folder, site, url, fetched)
        for child in folders:
            if host:
                waiting.append((f"{below}{child}/", host, f"{url_path}{_quoted(child)}/"))
            else:
                waiting.append((f"{below}{child}/", mirror_host(child), "/"))


def _host_above(item: _Input, root: str) -> tuple[str | None, str]:
    """(mirror host, URL path of the folder) of a file that is itself an INPUT: the first component that is a host among
    those it was named with or, for an absolute name, those from the INPUTs' common folder on.

    So `find crawl -name '*.html'` names the pages as `crawl` does.
    """
    if os.path.isabs(item.named):
        below = os.path.relpath(item.top, root)
        steps = [os.path.basename(root), *(below.split(os.sep) if below != "." else [])]
    else:
        steps = os.path.dirname(os.path.normpath(item.named)).split(os.sep)
        if steps in ([""], ["."]):
            steps = [os.path.basename(item.top)]
    for place, step in enumerate(steps):
        host = mirror_host(step) if step else None
        if host:
            return host, "/" + "".join(f"{_quoted(rest)}/" for rest in steps[place + 1 :])
    return None, "/"


def _entries(folder: str, only: str | None) -> tuple[list[str], list[str]]:
    """Names of files and folders in a folder, links and devices left out."""
    if only is not None:
        return [only], []
    files, folders = [], []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                files.append(entry.name)
            elif entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
    return files, folders


def _is_ignored(real_top: str, below: str, ignored: frozenset[str]) -> bool:
    if not ignored:
        return False
    if below:
        return os.path.join(real_top, below.rstrip("/")) in ignored
    # The INPUT itself may lie inside an ignored folder.
    return any(os.path.commonpath([real_top, folder]) == folder for folder in ignored)


def _mirror_url(host: str, folder: str, file: str) -> str:
    """The URL that a mirror keeps under this name: index.html is its folder, what follows "?" the query."""
    name, mark, query = file.partition("?")
    name = re.sub(r"(?<=html|.htm)\.gz$", "", name, flags=re.I)
    if name in ("index.html", "index.htm"):
        name = ""
    return f"https://{host}{folder}{_quoted(name)}{mark}{_quoted(query, '/?&=;+,:@!$*()')}"


def _quoted(text: str, safe: str = "&=;+,:@!$*()") -> str:
    """Percent-encoded where a URL cannot hold a character; escapes that are there stay."""
    return re.sub("%25(?=[0-9a-fA-F]{2})", "%", quote(os.fsencode(text), safe=safe))


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


# -- one file


def read_source(source: Source, most: int = DEFAULT.max_bytes) -> Page | Skipped:
    """The page in a file, a page with its failure, or what the file is instead; `most` bytes are read, after decompression.

    Never raises for what a file holds. A sidecar `PAGE.meta.json` may give url, fetched, charset and site.
    """
    try:
        data = _read_html(source, most)
        if isinstance(data, Skipped):
            return data
        page = Page(data, url=source.url, fetched=source.fetched, path=source.path)
        return _with_sidecar(page, source.file + _SIDECAR)
    except PageError as error:
        return Page(b"", source.url, source.fetched, source.path, failure=Failure(error.kind, error.message))


def sniff(head: bytes) -> str:
    """What the first bytes of a file are: "html", or image, pdf, archive, font, media, json, xml, script,
    text, binary and empty.

    White space, comments and an XML prolog may come first; UTF-16 is looked through.

    >>> sniff(b"<!-- saved --> <!DOCTYPE html>"), sniff(b"%PDF-1.7"), sniff(b"plain words")
    ('html', 'pdf', 'text')
    """
    text = _as_ascii(head[:SNIFF_BYTES])
    start = text[_BEFORE_START.match(text).end() :]  # type: ignore[union-attr]
    if _HTML_START.match(start):
        return "html"
    kind = next((kind for kind, pattern in _MAGIC_PATTERNS if pattern.match(head)), None)
    if kind:
        return kind
    if not start:
        return "xml" if text.lstrip()[:5].lower() == b"<?xml" else "text" if text.strip() else "empty"
    control = len(text) - len(text.translate(None, _CONTROL_BYTES))
    if b"\0" in text or control * 50 > len(text):
        return "binary"
    if start[:2] in (b"<?", b"#!"):
        return "script"
    if start[:1] in b"{[" and re.match(rb'[{\[]\s*(?:["{}\[\]\d-]|true|false|null|\Z)', start):
        return "json"
    if _WHOLE_DOCUMENT_LATER.search(start):
        return "html"
    return "xml" if re.match(rb"<[\w:.-]+[\s>/]", start) and text.lstrip()[:5].lower() == b"<?xml" else "text"


def _as_ascii(head: bytes) -> bytes:
    if head.startswith(b"\xef\xbb\xbf"):
        return head[3:]
    mark = {b"\xff\xfe": "utf-16le", b"\xfe\xff": "utf-16be"}.get(head[:2])
    codec = mark or guess_utf16(head)
    if codec is None:
        return head
    text = head[2 if mark else 0 :].decode(codec, "replace")
    # Binary data that looks like UTF-16 holds NULs after decoding too and is told by them.
    return text.encode("ascii", "replace")


def _read_html(source: Source, most: int) -> bytes | Skipped:
    """The file's bytes if it is a page, decompressed; raises PageError."""
    name = os.path.basename(source.file)
    ending = _ending(name)
    is_named = bool(_HTML_NAME.search(name))
    try:
        with open(source.file, "rb") as file:
            head = file.read(SNIFF_BYTES)
            compressed = head.startswith(_GZIP)
            kind = sniff(_gunzip(head, SNIFF_BYTES)[0] if compressed else head)
            if not _is_page(kind, head, is_named, ending, compressed):
                if is_named:
                    raise PageError("binary", f"the name says HTML, but the file holds {_article(kind)}")
                return Skipped(source.path, "archive" if compressed else _skipped_kind(kind, ending))
            size = os.fstat(file.fileno()).st_size
            if size > most:
                raise PageError("too-large", f"{size:,} bytes: more than {most:,} are not read")
            data = head + file.read(max(0, most + 1 - len(head)))
    except OSError as error:
        if not is_named and ending in _KIND_OF_ENDING:
            return Skipped(source.path, _KIND_OF_ENDING[ending])
        raise PageError("unreadable", _why(source.file, error)) from None
    if compressed:
        return _whole(data, most)
    if len(data) > most:
        raise PageError("too-large", f"more than {most:,} bytes are not read")
    return data


def _why(file: str, error: OSError) -> str:
    if isinstance(error, IsADirectoryError):
        # It was listed because it cannot be: the reason for that is the one to tell.
        try:
            os.scandir(file).close()
        except OSError as reason:
            error = reason
    return error.strerror or str(error)


def _ending(name: str) -> str:
    """What follows the last dot of a file name, in lower case, a query left out."""
    return os.path.splitext(re.split("[?@]", name, maxsplit=1)[0])[1][1:].lower()


def _is_page(kind: str, head: bytes, is_named: bool, ending: str, compressed: bool) -> bool:
    if is_named:
        return kind not in _BINARY_KINDS
    if kind == "empty":
        return not ending and not compressed
    if kind != "html":
        return False
    if ending in _KIND_OF_ENDING and not (ending == "gz" and compressed):
        text = _as_ascii(head)
        return bool(_WHOLE_DOCUMENT.match(text, _BEFORE_START.match(text).end()))  # type: ignore[union-attr]
    return True


def _skipped_kind(kind: str, ending: str) -> str:
    """Bytes tell images and archives; among kinds of text the ending knows better."""
    if kind in ("text", "html", "script", "empty", "binary"):
        return _KIND_OF_ENDING.get(ending, kind) if kind != "empty" else "empty"
    return kind


def _article(kind: str) -> str:
    words = {"binary": "binary data", "image": "an image", "archive": "an archive"}
    return words.get(kind, f"a {kind} file")


def _gunzip(data: bytes, limit: int) -> tuple[bytes, bool]:
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
        if not stream.eof or size >= limit or not data.startswith(_GZIP):
            return b"".join(parts), stream.eof


def _whole(data: bytes, most: int) -> bytes:
    text, ended = _gunzip(data, most + 1)
    if len(text) > most:
        raise PageError("too-large", f"more than {most:,} bytes when decompressed are not read")
    if not ended:
        raise PageError("truncated", "the gzip data is cut short or damaged: fetch the page again")
    return text


def _with_sidecar(page: Page, sidecar: str) -> Page:
    try:
        with open(sidecar, "rb") as file:
            data = file.read(DEFAULT.max_bytes)
    except FileNotFoundError:
        return page
    except OSError as error:
        if error.errno in _NO_SUCH_NAME:
            return page
        raise PageError("sidecar", f"{os.path.basename(sidecar)}: {error.strerror or error}") from None
    try:
        known = _sidecar_values(json.loads(data))
        return Page(
            page.html,
            url=known.get("url", page.url),
            fetched=known.get("fetched", page.fetched),
            path=page.path,
            charset=known.get("charset"),
            site=known.get("site"),
        )
    except (ValueError, RecursionError) as error:  # UsageError is a ValueError
        raise PageError("sidecar", f"{os.path.basename(sidecar)}: {error or type(error).__name__}") from None


def _sidecar_values(record: object) -> dict[str, str]:
    if not isinstance(record, dict):
        raise UsageError(f"expected a JSON object with any of {', '.join(_SIDECAR_KEYS)}")
    known = {key: record[key] for key in _SIDECAR_KEYS if record.get(key) is not None}
    for key, value in known.items():
        if not isinstance(value, str):
            raise UsageError(f"{key}: expected text, found {type(value).__name__}")
    return known


# -- lists of files


def read_list(file: str | Path | BinaryIO) -> list[str]:
    """Paths listed one a line, or NUL-separated as by `find -print0`; blank lines are left out.

    Raises InputError if the list cannot be read.
    """
    if isinstance(file, str | os.PathLike):
        try:
            with open(file, "rb") as stream:
                data = stream.read(MAX_LIST + 1)
        except OSError as error:
            raise InputError(f"cannot read {os.fspath(file)}: {error.strerror or error}") from None
    else:
        data = file.read(MAX_LIST + 1)
    if len(data) > MAX_LIST:
        raise InputError(f"a list of paths is longer than {MAX_LIST:,} bytes")
    data = data.removeprefix(b"\xef\xbb\xbf")
    lines = data.split(b"\0") if b"\0" in data else [line.removesuffix(b"\r") for line in data.split(b"\n")]
    return [os.fsdecode(line) for line in lines if line.strip()]
