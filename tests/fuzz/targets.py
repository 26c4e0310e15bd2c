"""What is fuzzed. A target has small seeds, words that its readers know, and a check that raises for what must not happen.

Seeds are built here or come from corpora/. A check takes any bytes: what they hold may be a result, a counted failure or a
TemplateError where the format allows one; everything else that is raised is a finding.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

import templatediff as td
from templatediff import render
from templatediff.charsets import label
from templatediff.crawl import Skipped, list_sources, read_source
from templatediff.decode import decode
from templatediff.errors import PageError, TemplateError
from templatediff.pipeline import derive, load_site
from templatediff.profile import SiteProfile
from templatediff.rules import RULES_FILE, read_rules
from templatediff.segment import segment
from templatediff.store import TEMPLATE_FILE
from tests.archives import lines_of, put, record, response, tar_of, warc_gz, zip_of, zst
from tests.fuzz.edits import COMMON
from tests.test_render import assert_safe

ROOT = Path(__file__).resolve().parent.parent.parent
SITE = "a.example"
LIMITS = td.Limits(max_bytes=1 << 20, max_leaves=20_000)
_PAGE = td.Page(
    "<h1>Tide</h1><p class=byline>By Ann Low, 9 May 2024<p>The tide turned at noon.", url="https://a.example/1"
)


class Target(NamedTuple):
    seeds: Callable[[], Sequence[bytes]]
    words: Sequence[bytes]  #: put in by edits, beside edits.COMMON
    check: Callable[[bytes], None]

    @property
    def tokens(self) -> list[bytes]:
        return [*COMMON, *self.words]


# -- pages

_HTML = [
    b"<html lang=de dir=rtl><head><title>A &amp; B</title><base href=//x/><meta charset=gbk><link rel=canonical href=/a></head>",
    b"<table><caption>C</caption><tr><th colspan=2>a<th rowspan=3>b<tr><td>c<td colspan=-1>d</table>",
    b"<ul><li><a href='java&Tab;script:x'>a</a><li>b<ol start=9><li>c</ol></ul><dl><dt>a<dd>b</dl>",
    b"<pre>a\n b</pre><p>&#0;&#x110000;&#xD800;&notit;&amp;amp;<b><i>x</b>y</i><svg><path d=''/><foreignObject><p>z</svg>",
    b"<form><select><option>a<option>b</select><textarea><p></textarea><button>x</button></form><template><p>t</template>",
    b"<frameset><frame src=a></frameset><noscript><p>n</noscript><script>document.write('<p>')</script><!-- c --><![CDATA[x]]>",
    b"<p>9 May 2024, 12:30 | $ 3.50 | 17 comments<p><time datetime=2024-05-09>yesterday</time><math><mi>x</mi></math>",
    "<p>東京へ行く。<p>Привет, мир<p>مرحبا<p>\U0001f600\u202e<p>e\u0301".encode(),
    "<meta charset=shift_jis><p>東京".encode("shift_jis"),
    "<p>東京 abc".encode("utf-16"),
]
_MARKUP = [
    b"<", b">", b"</", b"/>", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"&", b"&#0;", b"&#xD800;", b"&#99999999999;", b"&amp;amp;",
    b"<b>", b"<i>", b"</b>", b"<p>", b"</p>", b"<a href=x>", b"<table>", b"<tr>",
    b"<td colspan=9007199254740991>", b"</table>", b"<svg>",
    b"<math>", b"<select>", b"<template>", b"<frameset>", b"<body>", b"</body>", b"<html>", b"<head>", b"<title>", b"<script>",
    b"<style>", b"<plaintext>", b"<noscript>", b"<pre>", b"<li>", b"<dl>", b"<form>", b"<div hidden>", b"<my-tag>", b"<br>",
    b"<meta charset=utf-16>", b"<base href='http://['>", b" href=", b" id='", b'"', b"'", b"=", "\u2028".encode(), "²".encode(),
]  # fmt: skip
_CHARSETS = (
    None,
    "utf-8",
    "gbk",
    "big5",
    "shift_jis",
    "euc-jp",
    "euc-kr",
    "koi8-r",
    "utf-16",
    "iso-2022-jp",
    "x-user-defined",
    "?",
)
_COMMONMARK = MarkdownIt("commonmark").enable("table")


@cache
def page_seeds() -> list[bytes]:
    return [*_HTML, *(file.read_bytes() for file in sorted((ROOT / "corpora" / "demo").rglob("*.html"))[::6])]


def check_decode(data: bytes) -> None:
    """Any bytes under any charset are text without NUL and surrogates, read by an encoding that has a label."""
    for charset in (None, _CHARSETS[data[0] % len(_CHARSETS)] if data else None):
        found = decode(data, charset)
        found.text.encode("utf-8")
        assert "\0" not in found.text
        assert label(found.encoding) == found.encoding


def check_segment(data: bytes) -> None:
    """Any text is cut the same twice, and written without anything that runs."""
    try:
        leaves = segment(decode(data).text, rich=True, limits=LIMITS)
    except PageError as error:
        assert error.kind in ("too-large", "too-deep")
        return
    assert segment(decode(data).text, limits=LIMITS).text == leaves.text
    kept = [True] * len(leaves)
    render.text(leaves, kept).encode("utf-8", "surrogatepass")
    assert_safe(render.html(leaves, kept, url="https://a.example/"))
    assert_safe(_COMMONMARK.render(render.markdown(leaves, kept, url="https://a.example/")))


def check_extract(data: bytes) -> None:
    """Any page is a record, and where it fails it is for a reason that is known."""
    for html in (data, data.decode("utf-8", "surrogateescape")):
        page = td.Page(html, url="https://a.example/a")  # a bare text such as "/>/>" is taken for a path, and refused
        made = td.extract(page, limits=LIMITS)
        assert made.error is None or made.error.kind in ("too-large", "too-deep", "binary", "truncated"), made.error
        json.dumps([made.text, made.markdown, made.html, made.leaves, made.title])
    td.is_probably_content(data)


# -- what is stored


@cache
def _learnt() -> td.Template:
    pages = [
        td.Page(f"<nav>Menu</nav><h1>Tide {n}</h1><p>By Ann Low, {n} May 2024<p>Page {n} tells of the tide.", url=f"https://{SITE}/{n}")
        for n in range(1, 5)
    ]  # fmt: skip
    return td.learn(pages, site=SITE)


@cache
def template_seeds() -> list[bytes]:
    document = _learnt().to_json()
    return [json.dumps(document, indent=1).encode(), json.dumps({**document, "layouts": []}).encode()]


def check_template(data: bytes) -> None:
    """A template.json is applied or refused."""
    with tempfile.TemporaryDirectory() as folder:
        place = put(Path(folder, SITE, TEMPLATE_FILE), data).parent
        try:
            template = load_site(place)
        except TemplateError as error:
            _one_line(error)
            return
        assert template.extract(_PAGE).error is None
        json.dumps(template.to_json())


@cache
def profile_seeds() -> list[bytes]:
    profile = _learnt().profile
    assert profile is not None
    return [profile.to_bytes(), SiteProfile(SITE, td.Options()).to_bytes()]


def check_profile(data: bytes) -> None:
    """The bytes of a profile, before they were packed, are a profile or refused."""
    try:
        profile = SiteProfile.from_bytes(data)
    except TemplateError as error:
        _one_line(error)
        return
    assert SiteProfile.from_bytes(profile.to_bytes()).to_bytes() == profile.to_bytes()
    template = derive(profile)
    assert template.extract(_PAGE).error is None
    json.dumps(template.to_json())


_RULES = [
    b'[[keep]]\nselector = "p.byline"\n[[drop]]\ncontains = "subscribe now"\nregex = "^Photo: "\n',
    b'[[drop]]\nslot = "count"\nselector = "footer > p:nth-child(2n+1)"\n[[drop]]\ntext = """a\nb"""\n',
    b"[[keep]]\nselector = 'div:has(> a[href^=\"x\"])'\ntext = 'Tide'\n",
]
_TOML = [
    b"[[keep]]", b"[[drop]]", b"[keep]", b"[[", b"]]", b"selector = ", b"regex = ", b"text = ", b"slot = ", b'"""', b"'''",
    b"\\u0000", b"\\ud800", b"true", b"1979-05-27", b"{a = 1}", b"[1, 2]", b"#", b"(", b")", b"[", b"]",
    b"(?:", b"a.b = 1", b":not(", b":has(", b"::", b"*",
    b":nth-child(", b"> ", b"~ ",
]  # fmt: skip


def check_rules(data: bytes) -> None:
    """A rules.toml decides on a page or is refused, with file and line."""
    with tempfile.TemporaryDirectory() as folder:
        file = put(Path(folder, RULES_FILE), data)
        try:
            rules = read_rules(Path(folder), Path(folder, SITE))
        except TemplateError as error:
            _one_line(error)
            assert str(file) in str(error)
            return
    made = replace(_learnt(), rules=rules).extract(_PAGE)
    assert made.error is None, made.error


def _one_line(error: TemplateError) -> None:
    assert "\n" not in str(error) and len(str(error)) < 5000, str(error)[:300]
    str(error).encode()


# -- archives

_SHORT = b"<!DOCTYPE html><title>Harbour</title><p>The ferry leaves at noon."
_LONG = _SHORT + b"".join(b"<p>Line %d of the timetable." % number for number in range(60))
_URL = "https://www.example.com/a.html"
_MEMBERS = [
    ("www.example.com/b.html", _SHORT), ("www.example.com/a/index.html", _LONG), ("x.css", b"p {}"),
    ("www.example.com/b.html.meta.json", b'{"url": "https://www.example.com/b", "fetched": "2024-05-01", "charset": "gbk"}'),
]  # fmt: skip
_RECORDS = [
    record("warcinfo", b"software: x\r\n"),
    record("response", response(_SHORT), _URL),
    record("response", response(gzip.compress(_LONG), Content_Encoding="gzip"), _URL + "?1"),
    record("response", response(b"5\r\n<p>ab\r\n0\r\n\r\n", Transfer_Encoding="chunked"), _URL + "?2"),
    record("resource", _SHORT, _URL + "?3", **{"Content-Type": "text/html"}),
    record("revisit", b"", _URL),
]
_LINES = lines_of(
    [
        {"html": "<p>a"},
        {"body": "<p>b", "url": _URL, "fetched": "2024-05-01T10:00:00Z"},
        {"raw_html": "<p>\ud800", "x": [{}]},
    ]
)
_JSON = [
    b"null", b"true", b"[]", b"{}", b"[" * 300, b'{"a":' * 300, b'"', b"\\u0000", b"\\ud800",
    b'"html":"<p>a"', b'"url":"http://["', b"NaN", b",",
    b":", b'""',
]  # fmt: skip
_ARCHIVE_WORDS: dict[str, list[bytes]] = {
    "zip": [b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07", b"../", b"/", b"a.warc.gz"],
    "tar": [b"ustar\x0000", b"ustar  \0", b"../", b"0000644\0", b"77777777777", b"\x80" + b"\xff" * 11,
            b"x", b"L", b"g", b"S", b"30 size=-1\n"],
    "warc": [
        b"WARC/1.0\r\n", b"WARC/1.1\r\n", b"WARC-Type: response\r\n", b"Content-Length: -1\r\n",
        b"Content-Length: 99999999999\r\n",
        b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 404\r\n", b"Content-Encoding: br\r\n", b"Content-Encoding: gzip, zstd\r\n",
        b"Content-Type: a;charset=\r\n",
        b"Transfer-Encoding: chunked\r\n", b"ffffffffffffffff\r\n", b"0\r\n",
    ],
    "jsonl": _JSON,
    "packed": [b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0", b"BZh9"],
}  # fmt: skip
#: kind -> [(name, bytes)]; the name decides how a file is read
SMALL: dict[str, list[tuple[str, bytes]]] = {
    "zip": [
        ("x.zip", zip_of(_MEMBERS)),
        ("x.zip", zip_of(_MEMBERS, zipfile.ZIP_STORED)),
        ("x.wacz", zip_of([("datapackage.json", b"{}"), ("archive/a.warc.gz", warc_gz(_RECORDS[:2]))], zipfile.ZIP_STORED)),
    ],
    "tar": [("x.tar", tar_of(_MEMBERS))],
    "warc": [("x.warc", b"".join(_RECORDS)), ("x.warc.gz", warc_gz(_RECORDS)), ("x.warc", _RECORDS[1])],
    "jsonl": [("x.jsonl", _LINES), ("x.jsonl", b"\xef\xbb\xbf" + _LINES)],
    "packed": [
        ("x.tar.gz", gzip.compress(tar_of(_MEMBERS), mtime=0)),
        ("x.tar.xz", lzma.compress(tar_of(_MEMBERS))),
        ("x.tar.zst", zst(tar_of(_MEMBERS))),
        ("x.jsonl.gz", gzip.compress(_LINES, mtime=0)),
        ("x.jsonl.bz2", bz2.compress(_LINES)),
        ("x.jsonl.zst", zst(_LINES)),
        ("x.html.gz", gzip.compress(_LONG, mtime=0)),
    ],
}  # fmt: skip


def _archive(kind: str) -> Target:
    """A target of one kind of archive; its first byte is the number of the name that the rest has."""
    files = SMALL[kind]

    def seeds() -> list[bytes]:
        return [bytes([number]) + data for number, (_, data) in enumerate(files)]

    def check(data: bytes) -> None:
        """An archive is pages, failures and what was skipped; it leaves nothing behind, and two readings agree."""
        if not data:
            return
        with tempfile.TemporaryDirectory() as folder:
            put(Path(folder, "in", files[data[0] % len(files)][0]), data[1:])
            found = []
            for source in list_sources([Path(folder, "in")]):
                page = read_source(source, LIMITS.max_bytes)
                assert isinstance(page, td.Page | Skipped)
                assert page == read_source(source, LIMITS.max_bytes)
                assert not (isinstance(page, td.Page) and page.failure and page.failure.kind == "internal")
                found.extend([page.path] if isinstance(page, td.Page) else [])
            assert len(set(found)) == len(found), "two pages of one name"
            assert [place.name for place in Path(folder).iterdir()] == ["in"] and len(
                list(Path(folder, "in").iterdir())
            ) == 1

    return Target(seeds, _ARCHIVE_WORDS[kind], check)


TARGETS = {
    "decode": Target(page_seeds, _MARKUP, check_decode),
    "segment": Target(page_seeds, _MARKUP, check_segment),
    "extract": Target(page_seeds, _MARKUP, check_extract),
    "template": Target(template_seeds, _JSON, check_template),
    "profile": Target(
        profile_seeds, (b"\xc0", b"\xc4\0", b"\x90", b"\xcb\x7f\xf8\0\0\0\0\0\0", b"\xd9\x01"), check_profile
    ),
    "rules": Target(lambda: _RULES, _TOML, check_rules),
    **{kind: _archive(kind) for kind in SMALL},
}
