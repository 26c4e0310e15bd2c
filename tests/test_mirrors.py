"""What wget and HTTrack leave on a disk: URLs from names, HTTrack's comment, and what is no page of the site."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from templatediff.crawl import list_sources, read_crawl
from templatediff.crawl.mirror import read_note, stub_kind
from templatediff.decode import decode
from templatediff.page import Page
from tests.archives import put, tar_of, zip_of

HTML = b"<!DOCTYPE html><title>Harbour</title><p>The ferry leaves at noon."
NOTE = (
    b"<!-- Mirrored from www.example.com/show.php?id=3 by HTTrack Website Copier/3.49-2 [XR&CO'2014], "
    b"Fri, 03 May 2024 10:20:30 GMT -->\n"
)
SAVED = (
    b"<!-- Added by HTTrack -->"
    b'<meta http-equiv="content-type" content="text/html;charset=windows-1251" /><!-- /Added by HTTrack -->\n'
)
MOVED = (
    b"<HTML>\n" + NOTE + b'<HEAD><META HTTP-EQUIV="Content-Type" CONTENT="text/html;charset=UTF-8">'
    b'<META HTTP-EQUIV="Refresh" CONTENT="0; URL=a/index.html"><TITLE>Page has moved</TITLE>\n</HEAD>\n<BODY>\n'
    b'<A HREF="a/index.html"><h3>Click here...</h3></A>\n</BODY>\n</HTML>\n'
)
INDEX = (
    b'<html><head><meta name="generator" content="HTTrack Website Copier/3.x">\n'
    b"<title>Local index - HTTrack Website Copier</title></head><body>Index of locally available sites:</body></html>"
)


def told(*inputs: Path) -> tuple[list[str | None], dict[str, int]]:
    skipped: Counter[str] = Counter()
    return [page.path for page in read_crawl(inputs, skipped=skipped)], dict(skipped)


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("example.com/show.php@id=3&s=a", "https://example.com/show.php?id=3&s=a"),
        ("example.com/index.html@page=2", "https://example.com/?page=2"),
        ("example.com/@someone", "https://example.com/@someone"),
        ("example.com/a@b.html", "https://example.com/a@b.html"),
        ("example.com/show.php?id=3.html", "https://example.com/show.php?id=3"),
        ("example.com/show.php@id=3.html", "https://example.com/show.php?id=3"),
        ("example.com/about.php.html", "https://example.com/about.php"),
        ("example.com/index.html?page=2.html", "https://example.com/?page=2.html"),
        ("example.com+8080/a.html", "https://example.com:8080/a.html"),
        ("example.com/index.html", "https://example.com/"),
    ],
)
def test_names_tell_the_url_in_folders_and_archives(tmp_path: Path, name: str, url: str) -> None:
    put(tmp_path / "in" / name, HTML)
    put(tmp_path / "x.tar", tar_of([(f"mirror/{name}", HTML)]))
    assert [source.url for source in list_sources([tmp_path / "in"])] == [url]
    assert [source.url for source in list_sources([tmp_path / "x.tar"])] == [url]


def test_httracks_comment_tells_url_date_and_charset(tmp_path: Path) -> None:
    text = "<p>Гавань открыта каждое утро до самой осени."
    body = b"<html>\n" + NOTE + SAVED + text.encode("cp1251")
    put(tmp_path / "in/project/www.example.com/show2f.html", body)
    put(tmp_path / "flat/show2f.html", body)
    put(tmp_path / "x.zip", zip_of([("project/www.example.com/show2f.html", body)]))
    for place in ("in", "flat", "x.zip"):
        (page,) = read_crawl(tmp_path / place, fetched="2020-01-01")
        assert (page.url, page.fetched) == ("https://www.example.com/show.php?id=3", "2024-05-03T10:20:30Z")
        assert page.charset == "text/html;charset=windows-1251"
        assert isinstance(page.html, bytes) and decode(page.html, page.charset).text.endswith(text)


def test_a_comment_of_another_host_was_published_with_the_page(tmp_path: Path) -> None:
    put(tmp_path / "www.example.org/a.html", NOTE + HTML)
    assert list(read_crawl(tmp_path)) == [
        Page(NOTE + HTML, "https://www.example.org/a.html", path="www.example.org/a.html")
    ]


def test_a_sidecar_goes_before_the_comment(tmp_path: Path) -> None:
    put(tmp_path / "a.html", NOTE + HTML)
    put(tmp_path / "a.html.meta.json", b'{"url": "https://www.example.com/x"}')
    (page,) = read_crawl(tmp_path)
    assert (page.url, page.fetched) == ("https://www.example.com/x", "2024-05-03T10:20:30Z")


@pytest.mark.parametrize(
    ("comment", "url", "fetched"),
    [
        (NOTE, "https://www.example.com/show.php?id=3", "2024-05-03T10:20:30Z"),
        (NOTE.replace(b"www.", b"http://www."), "http://www.example.com/show.php?id=3", "2024-05-03T10:20:30Z"),
        (NOTE.replace(b"3.49-2 [XR&CO'2014]", b"3.x"), "https://www.example.com/show.php?id=3", "2024-05-03T10:20:30Z"),
        (NOTE.replace(b"03 May 2024", b"99 May 2024"), "https://www.example.com/show.php?id=3", None),
    ],
)
def test_forms_of_the_comment(comment: bytes, url: str, fetched: str | None) -> None:
    note = read_note(b"<html>" + comment + HTML)
    assert note is not None and (note.url, note.fetched) == (url, fetched)


@pytest.mark.parametrize("text", [b"", b"HTTrack", b"<!-- Mirrored from  by HTTrack Website Copier/3, x -->", HTML])
def test_other_comments_are_none(text: bytes) -> None:
    assert read_note(text) is None


def test_what_a_mirrors_maker_left_is_counted_and_teaches_nothing(tmp_path: Path) -> None:
    put(tmp_path / "index.html", INDEX)
    put(tmp_path / "hts-cache/new.zip", zip_of([("a.html", HTML)]))
    put(tmp_path / "hts-cache/doc.html", HTML)
    put(tmp_path / "www.example.com/old.html", MOVED)
    put(tmp_path / "www.example.com/a.html", HTML)
    put(tmp_path / "www.example.com/a.html.orig", HTML)
    expected = {"httrack-index": 1, "hts-cache": 2, "moved": 1, "orig": 1}
    assert told(tmp_path) == (["www.example.com/a.html"], expected)
    assert told(tmp_path / "www.example.com/a.html.orig") == (["a.html.orig"], {}), "who names it wants it"
    members = [
        (str(file.relative_to(tmp_path)), file.read_bytes()) for file in sorted(tmp_path.rglob("*")) if file.is_file()
    ]
    assert told(put(tmp_path / "x.tar", tar_of(members))) == (["x.tar!www.example.com/a.html"], expected)


@pytest.mark.parametrize(
    "html",
    [
        b"<title>Page has moved</title><p>We have moved to the new quay. <a href=x>Click here...</a>",
        HTML + b"<p>How to tell an HTTrack stub: Page has moved, Click here...",
        MOVED.replace(b"</BODY>", b"<p>words" * 2000 + b"</BODY>"),
        b"<meta http-equiv=refresh " * 60 + b"<title>Page has moved</title><a href=" * 160,
    ],
)
def test_pages_like_stubs_are_pages(html: bytes) -> None:
    assert stub_kind(html) is None


def test_a_stub_is_told_whatever_white_space_it_has() -> None:
    assert stub_kind(MOVED) == stub_kind(MOVED.replace(b"<BODY>", b"<BODY>" + b"\n" * 5000)) == "moved"


def test_a_sidecar_that_is_no_file_is_a_failure_and_not_waited_for(tmp_path: Path) -> None:
    outside = put(tmp_path / "outside.json", b'{"url": "https://www.example.com/"}')
    for name in "abc":
        put(tmp_path / f"in/{name}.html", HTML)
    os.mkfifo(tmp_path / "in/a.html.meta.json")
    (tmp_path / "in/b.html.meta.json").symlink_to(outside)
    (tmp_path / "in/c.html.meta.json").mkdir()
    found = [page.failure for page in read_crawl(tmp_path / "in")]
    assert [(one.kind, one.message.partition(": ")[2]) for one in found if one] == [
        ("sidecar", "a pipe or device, which is not read"),
        ("sidecar", "a link, which is not followed"),
        ("sidecar", "Is a directory"),
    ]


def test_links_and_devices_in_folders_are_counted(tmp_path: Path) -> None:
    put(tmp_path / "a.html", HTML)
    (tmp_path / "dangling.html").symlink_to(tmp_path / "nothing")
    (tmp_path / "same.html").symlink_to(tmp_path / "a.html")
    os.mkfifo(tmp_path / "pipe.html")
    assert told(tmp_path) == (["a.html"], {"link": 2, "device": 1})
