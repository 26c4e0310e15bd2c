"""What a file is, by its first bytes and its name."""

from __future__ import annotations

import os
import re

from templatediff.crawl.bounds import SNIFF_BYTES
from templatediff.decode import guess_utf16

HTML_NAME = re.compile(r"\.(?:x?html?|shtml?|xht)(?:\.gz)?(?:[?@].*)?\Z", re.I | re.S)
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
    "archive": "zip tar tgz txz tbz2 tzst gz bz2 xz zst 7z rar warc wacz jar",
}
KIND_OF_ENDING = {ending: kind for kind, endings in _NAMED_KINDS.items() for ending in endings.split()}
BINARY_KINDS = frozenset({"archive", "binary", "font", "image", "media", "pdf"})

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


def ending(name: str) -> str:
    """What follows the last dot of a file name, in lower case, a query left out."""
    return os.path.splitext(re.split("[?@]", name, maxsplit=1)[0])[1][1:].lower()


def is_page(kind: str, head: bytes, is_named: bool, ending: str, compressed: bool) -> bool:
    if is_named:
        return kind not in BINARY_KINDS
    if kind == "empty":
        return not ending and not compressed
    if kind != "html":
        return False
    if ending in KIND_OF_ENDING and not (ending == "gz" and compressed):
        text = _as_ascii(head)
        return bool(_WHOLE_DOCUMENT.match(text, _BEFORE_START.match(text).end()))  # type: ignore[union-attr]
    return True


def skipped_kind(kind: str, ending: str) -> str:
    """Bytes tell images and archives; among kinds of text the ending knows better."""
    if kind in ("text", "html", "script", "empty", "binary"):
        return KIND_OF_ENDING.get(ending, kind) if kind != "empty" else "empty"
    return kind


def article(kind: str) -> str:
    words = {"binary": "binary data", "image": "an image", "archive": "an archive"}
    return words.get(kind, f"a {kind} file")
