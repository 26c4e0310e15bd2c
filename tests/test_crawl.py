"""Folders and files to pages."""

from __future__ import annotations

import copy
import gzip
import io
import json
import os
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from templatediff.crawl import Skipped, Source, list_sources, read_crawl, read_list, read_source, sniff
from templatediff.errors import InputError, UsageError
from templatediff.page import Page

HTML = b"<!DOCTYPE html><title>Harbour</title><p>The ferry leaves at noon."


def put(root: Path, *names: str, data: bytes = HTML) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)


def paths(*inputs: str | Path, **options: object) -> list[str]:
    return [source.path for source in list_sources(inputs, **options) if source.other is None]  # type: ignore[arg-type]


def files(*inputs: str | Path) -> list[Source]:
    """Sources without links and devices."""
    return [source for source in list_sources(inputs) if source.other is None]


def read_one(file: Path) -> Page | Skipped:
    (source,) = list_sources([file])
    return read_source(source)


def failure_kind(found: Page | Skipped) -> str | None:
    assert isinstance(found, Page)
    return found.failure.kind if found.failure else None


# -- order and names


def test_paths_are_relative_to_the_one_folder_in_byte_order(tmp_path: Path) -> None:
    put(tmp_path, "b.html", "a/z.html", "a.html", "a-1.html", "B.html", "é.html", "日/a")
    assert paths(tmp_path) == ["B.html", "a-1.html", "a.html", "a/z.html", "b.html", "é.html", "日/a"]


def test_paths_of_several_inputs_are_relative_to_their_deepest_common_folder(tmp_path: Path) -> None:
    put(tmp_path, "x/one/a.html", "x/two/sub/b.html", "x/c.html")
    assert paths(tmp_path / "x/one", tmp_path / "x/two") == ["one/a.html", "two/sub/b.html"]
    assert paths(tmp_path / "x/two/sub/b.html", tmp_path / "x/one/a.html") == ["one/a.html", "two/sub/b.html"]
    assert paths(tmp_path / "x/one/a.html") == ["a.html"]
    assert paths(tmp_path / "x/one/a.html", tmp_path / "x") == ["c.html", "one/a.html", "two/sub/b.html"]


def test_a_file_named_twice_counts_once(tmp_path: Path) -> None:
    put(tmp_path, "a/b/c.html", "a/d.html")
    (tmp_path / "a/link.html").symlink_to(tmp_path / "a/d.html")
    (tmp_path / "other").symlink_to(tmp_path / "a")
    whole = files(tmp_path / "a")
    assert [source.path for source in whole] == ["b/c.html", "d.html"]
    for more in ("a", "a/b", "a/b/c.html", "a/link.html", "a/../a/d.html"):
        assert files(tmp_path / more, tmp_path / "a") == whole
    assert paths(tmp_path / "other", tmp_path / "a") == ["a/b/c.html", "a/d.html"]


def test_links_outside_and_in_circles_are_not_followed(tmp_path: Path) -> None:
    put(tmp_path, "in/a.html", "out/b.html")
    (tmp_path / "in/circle").symlink_to(tmp_path / "in")
    (tmp_path / "in/outside").symlink_to(tmp_path / "out")
    (tmp_path / "in/outside.html").symlink_to(tmp_path / "out/b.html")
    (tmp_path / "in/broken.html").symlink_to(tmp_path / "nothing")
    assert paths(tmp_path / "in") == ["a.html"]
    # What an INPUT itself leads to was asked for.
    assert paths(tmp_path / "in/outside") == ["b.html"]
    assert paths(tmp_path / "in/outside.html") == ["outside.html"]


def test_devices_are_left_out(tmp_path: Path) -> None:
    put(tmp_path, "a.html")
    os.mkfifo(tmp_path / "b.html")
    assert paths(tmp_path) == ["a.html"]
    with pytest.raises(InputError, match="neither"):
        list_sources([tmp_path / "b.html"])


def test_output_is_never_read(tmp_path: Path) -> None:
    put(tmp_path, "a.html", "out/a.html.md", "out/deep/b.html", "pages.jsonl", "output.html")
    assert paths(tmp_path, ignore=[tmp_path / "out", tmp_path / "pages.jsonl"]) == ["a.html", "output.html"]
    assert paths(tmp_path / "out/deep", ignore=[tmp_path / "out"]) == []


def test_missing_input_is_named(tmp_path: Path) -> None:
    put(tmp_path, "a.html")
    with pytest.raises(InputError, match=r"nothing: no such file or folder"):
        read_crawl([tmp_path, tmp_path / "nothing"])
    with pytest.raises(InputError, match="no input"):
        list_sources([])
    assert paths(tmp_path / "a.html") == [source.path for source in list_sources(str(tmp_path))]


def test_wrong_fetch_time_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="fetched"):
        read_crawl([tmp_path], fetched="yesterday")


def test_file_names_that_are_not_utf8_keep_their_bytes(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.html")
    put(tmp_path, name, "caf\uffff.html")
    assert [os.fsencode(path) for path in paths(tmp_path)] == sorted(os.listdir(os.fsencode(tmp_path)))
    assert failure_kind(read_one(tmp_path / name)) is None


NAMES = st.sampled_from(
    ["a", "b", "a/b", "a/b/c.html", "a/d.html", "b/e.html", "link", "a/b/link.html", "www.example.com"]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(NAMES, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_order_of_inputs_never_matters(names: list[str], random: object) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        put(root, "a/b/c.html", "a/d.html", "b/e.html", "www.example.com/a/index.html")
        (root / "link").symlink_to(root / "a")
        (root / "a/b/link.html").symlink_to(root / "b/e.html")
        first = files(*(root / name for name in names))
        shuffled = [*names, names[0]]
        random.shuffle(shuffled)  # type: ignore[attr-defined]
        assert files(*(root / name for name in shuffled)) == first
        assert [source.path for source in first] == sorted(source.path for source in first)
        assert len({os.path.realpath(source.file) for source in first}) == len(first)


def test_folders_and_sites(tmp_path: Path) -> None:
    put(tmp_path, "crawl/a.html", "crawl/s/t/b.html", "more/c.html")
    found = list_sources([tmp_path / "crawl", tmp_path / "more/c.html"])
    assert [(source.path, source.folder, source.folder_site) for source in found] == [
        ("crawl/a.html", "crawl", "crawl"),
        ("crawl/s/t/b.html", "crawl/s/t", "s/t"),
        ("more/c.html", "more", "more"),
    ]
    assert list_sources([tmp_path / "crawl"])[0].folder == ""
    assert copy.deepcopy(found) == found, "sources go to other processes"


# -- mirrors


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("www.example.com/index.html", "https://www.example.com/"),
        ("Example.com/a/index.htm", "https://example.com/a/"),
        ("example.com/a/b.html", "https://example.com/a/b.html"),
        ("example.com/a b/ü#.html", "https://example.com/a%20b/%C3%BC%23.html"),
        ("example.com/100%/a%20b%2Fc", "https://example.com/100%25/a%20b%2Fc"),
        ("example.com/show.php?id=3&s=a b", "https://example.com/show.php?id=3&s=a%20b"),
        ("example.com/index.html?page=2", "https://example.com/?page=2"),
        ("example.com/a.html.gz", "https://example.com/a.html"),
        ("example.com:8080/a", "https://example.com:8080/a"),
        ("mirror/example.com/example.org/a", "https://example.com/example.org/a"),
        ("pages/a.html", None),
        ("pages/example.com", None),
        ("site.unknowntld/a.html", None),
    ],
)
def test_mirror_paths_tell_the_url(tmp_path: Path, name: str, url: str | None) -> None:
    put(tmp_path, name)
    assert [source.url for source in list_sources([tmp_path])] == [url]


def test_the_name_of_the_input_itself_may_be_the_host(tmp_path: Path) -> None:
    put(tmp_path, "example.com/a/index.html")
    assert list_sources([tmp_path / "example.com"])[0].url == "https://example.com/a/"
    put(tmp_path, "example.com/b.html")
    assert list_sources([tmp_path / "example.com/b.html"])[0].url == "https://example.com/b.html"


def test_a_name_that_is_not_utf8_is_percent_encoded_byte_by_byte(tmp_path: Path) -> None:
    put(tmp_path, os.fsdecode(b"example.com/caf\xe9"))
    assert list_sources([tmp_path])[0].url == "https://example.com/caf%E9"


# -- what is a page


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"<!DOCTYPE html>", "html"),
        (b"\xef\xbb\xbf \r\n<HTML lang=en>", "html"),
        (b"<!-- saved --><!-- twice -->\n<p>Hi", "html"),
        (b'<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN"><html>', "html"),
        (b'<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml">', "html"),
        ("\ufeff<html><p>日本".encode("utf-16-le"), "html"),
        ("\ufeff<html><p>日本".encode("utf-16-be"), "html"),
        ("<html><p>日本".encode("utf-16-le"), "html"),
        (b"Notice: slow\n<!doctype html><p>", "html"),
        (b"<p", "text"),
        (b"<pages>", "text"),
        (b"a < b and <p> later", "text"),
        (b'<?xml version="1.0"?><rss version="2.0">', "xml"),
        (b'<?xml version="1.0"?><svg>', "xml"),
        (b"<?php echo 1 ?>", "script"),
        (b"#!/bin/sh\n", "script"),
        (b'{"a": "<html>"}', "json"),
        (b"[1, 2]", "json"),
        (b"[note] words", "text"),
        (b"", "empty"),
        (b" \n", "empty"),
        (b"<!-- only this -->", "text"),
        (b"\x89PNG\r\n\x1a\n", "image"),
        (b"GIF89a", "image"),
        (b"%PDF-1.4", "pdf"),
        (b"PK\x03\x04", "archive"),
        (b"\x1f\x8b\x08", "archive"),
        (b"wOF2", "font"),
        (b"\0\0\0\x20ftypisom", "media"),
        (b"\x7fELF\x02\x01\x01\0\0", "binary"),
        (bytes(range(256)), "binary"),
        ("naïve words".encode("latin-1"), "text"),
        ("港口".encode("gbk"), "text"),
    ],
)
def test_sniffing(head: bytes, kind: str) -> None:
    assert sniff(head) == kind


@given(st.binary(max_size=200))
def test_sniffing_never_raises(head: bytes) -> None:
    assert sniff(head)


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("page", HTML, None),
        ("page.php", HTML, None),
        ("File:Boat.jpg", HTML, None),
        ("fragment.tpl", b"<div>Hi</div>", None),
        ("words.html", b"Only words, no markup.", None),
        ("words.html?x=1", b"Only words.", None),
        ("feed.xhtml", b"<?xml version='1.0'?><x/>", None),
        ("empty.html", b"", None),
        ("empty", b"", None),
        ("notes.txt", b"<p>quoted", "text"),
        ("page.html.json", b'{"title": "Harbour"}', "json"),
        ("page.html.txt", b"The ferry leaves at noon.", "text"),
        ("code.js", b"<!-- hide\ndocument.write('<p>') -->", "script"),
        ("style.css", b"a { }", "css"),
        ("style.css?v=2", b"a { }", "css"),
        ("data.json", b'{"a": 1}', "json"),
        ("feed.xml", b"<?xml version='1.0'?><rss>", "xml"),
        ("photo.jpg", b"\xff\xd8\xff\xe0", "image"),
        ("photo", b"\xff\xd8\xff\xe0", "image"),
        ("font.woff", b"wOFF", "font"),
        ("paper.pdf", b"%PDF-1.4", "pdf"),
        ("README", b"plain words", "text"),
        ("empty.css", b"", "empty"),
        ("site.tar.gz", gzip.compress(b"tar", mtime=0), "archive"),
        ("core", bytes(64), "binary"),
    ],
)
def test_pages_are_told_by_content_and_others_by_kind(tmp_path: Path, name: str, data: bytes, kind: str | None) -> None:
    put(tmp_path, name, data=data)
    found = read_one(tmp_path / name)
    assert found == (Page(data, path=name) if kind is None else Skipped(name, kind))


@pytest.mark.parametrize("name", ["a.html", "a.html.gz", "a", "a.php", "a.gz"])
def test_compressed_pages_are_read(tmp_path: Path, name: str) -> None:
    long = HTML + b"<p>words" * 5000
    put(tmp_path, name, data=gzip.compress(long[:100]) + gzip.compress(long[100:]) + b"\0\0")
    assert read_one(tmp_path / name) == Page(long, path=name)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (bytes(range(256)) * 4, "binary"),
        (b"\x89PNG\r\n\x1a\n" + bytes(20), "binary"),
        (b"%PDF-1.4", "binary"),
        (gzip.compress(HTML * 500, mtime=0)[:60], "truncated"),
        (gzip.compress(HTML, mtime=0)[:-1], "truncated"),
        (gzip.compress(HTML, mtime=0)[:-8] + bytes(8), "truncated"),
        (b"\x1f\x8b", "truncated"),
    ],
    ids=["binary", "image", "pdf", "gzip-cut", "gzip-cut-in-checksum", "gzip-wrong-checksum", "gzip-begun"],
)
def test_damaged_files_under_an_html_name_are_failures(tmp_path: Path, data: bytes, kind: str) -> None:
    put(tmp_path, "a.html", "b.html.gz", data=data)
    for name in ("a.html", "b.html.gz"):
        found = read_one(tmp_path / name)
        assert failure_kind(found) == kind
        assert isinstance(found, Page) and found.html == b"" and found.path == name


def test_too_large_pages_are_failures(tmp_path: Path) -> None:
    put(tmp_path, "a.html", data=HTML.ljust(10_000))
    put(tmp_path, "b.html", data=HTML.ljust(10_001))
    put(tmp_path, "c.html", data=gzip.compress(HTML.ljust(10_001)))
    put(tmp_path, "d.html", data=gzip.compress(HTML.ljust(10_000)))
    kinds = [failure_kind(read_source(source, 10_000)) for source in list_sources([tmp_path])]
    assert kinds == [None, "too-large", "too-large", None]


def test_a_file_that_is_gone_is_a_failure(tmp_path: Path) -> None:
    source = Source("a.html", str(tmp_path / "a.html"), "", "x")
    found = read_source(source)
    assert failure_kind(found) == "unreadable"
    assert isinstance(found, Page) and found.failure and found.failure.message == "No such file or directory"
    assert read_source(Source("a.png", str(tmp_path / "a.png"), "", "x")) == Skipped("a.png", "image")


def test_a_closed_folder_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "closed/a.html", "open/b.html")
    scandir = os.scandir

    def guarded(folder: str) -> object:
        if str(folder).rstrip("/").endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", guarded)
    closed, good = list(read_crawl([tmp_path]))
    assert (closed.path, failure_kind(closed)) == ("closed", "unreadable")
    assert closed.failure and closed.failure.message == "Permission denied"
    assert good.path == "open/b.html"
    with pytest.raises(InputError, match="closed: Permission denied"):
        list_sources([tmp_path / "closed"])


# -- sidecars


def test_a_sidecar_gives_what_the_file_cannot(tmp_path: Path) -> None:
    put(tmp_path, "example.com/a.html", "example.com/b.html")
    record = {"url": "http://example.org/a", "fetched": "2024-05-01", "charset": "gbk", "site": "x"}
    (tmp_path / "example.com/a.html.meta.json").write_text(json.dumps({**record, "status": 200}))
    first, second = read_crawl([tmp_path], fetched="2023-01")
    assert first == Page(HTML, **record, path="example.com/a.html")  # type: ignore[arg-type]
    assert second == Page(HTML, "https://example.com/b.html", "2023-01", "example.com/b.html")


def test_an_incomplete_sidecar_leaves_the_rest(tmp_path: Path) -> None:
    put(tmp_path, "example.com/a.html")
    (tmp_path / "example.com/a.html.meta.json").write_text('{"site": "x", "url": null}')
    (page,) = read_crawl([tmp_path])
    assert (page.url, page.site, page.fetched) == ("https://example.com/a.html", "x", None)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '"a"', '{"url": 3}', '{"fetched": "soon"}', '{"site": 1}', "[" * 100_000, b"\xff\xfe{"],
)  # fmt: skip
def test_a_damaged_sidecar_is_a_failure(tmp_path: Path, text: str | bytes) -> None:
    put(tmp_path, "a.html")
    put(tmp_path, "a.html.meta.json", data=text.encode() if isinstance(text, str) else text)
    (page,) = read_crawl([tmp_path])
    assert failure_kind(page) == "sidecar"
    assert page.failure and page.failure.message.startswith("a.html.meta.json: ")


# -- the whole


def test_pages_come_one_at_a_time_and_the_rest_is_counted(tmp_path: Path) -> None:
    put(tmp_path, "a.html", "b/c", "d.html")
    put(tmp_path, "x.png", "y.png", data=b"\x89PNG")
    put(tmp_path, "z.css", data=b"a {}")
    skipped: Counter[str] = Counter()
    pages = read_crawl([tmp_path], skipped=skipped)
    assert next(pages).path == "a.html"
    (tmp_path / "d.html").unlink()
    assert [(page.path, failure_kind(page)) for page in pages] == [("b/c", None), ("d.html", "unreadable")]
    assert skipped == {"image": 2, "css": 1}


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (b"a.html\nb c.html\r\n\n  \nd", ["a.html", "b c.html", "d"]),
        (b"a\0b\nc\0", ["a", "b\nc"]),
        (b"\xef\xbb\xbfa\n", ["a"]),
        (b"caf\xe9\n", [os.fsdecode(b"caf\xe9")]),
        (b"", []),
    ],
    ids=["lf", "nul", "mark", "not-utf8", "empty"],
)
def test_lists_of_files(tmp_path: Path, data: bytes, names: list[str]) -> None:
    put(tmp_path, "list", data=data)
    for file in (tmp_path / "list", str(tmp_path / "list"), io.BytesIO(data)):
        assert read_list(file) == names


def test_a_missing_list_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*: No such file"):
        read_list(tmp_path / "nothing")


def test_files_named_one_by_one_have_the_urls_of_their_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("www.example.com/a/b.html", "www.example.com/c.html", "x/other.org/d/e.html"):
        place = tmp_path / "crawl" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("<p>x")
    monkeypatch.chdir(tmp_path)
    listed = sorted(str(file) for file in Path("crawl").rglob("*.html"))
    whole = {source.file: source.url for source in list_sources(["crawl"])}
    assert {source.file: source.url for source in list_sources(listed)} == whole
    assert {source.file: source.url for source in list_sources([str(tmp_path / name) for name in listed])} == whole
    assert set(whole.values()) == {
        "https://www.example.com/a/b.html", "https://www.example.com/c.html", "https://other.org/d/e.html",
    }  # fmt: skip
