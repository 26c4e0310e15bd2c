"""Zip, tar, WARC, WACZ and JSON lines to pages: the same pages whatever they came in, and no harm from hostile ones."""

from __future__ import annotations

import bz2
import copy
import gzip
import io
import json
import lzma
import os
import pickle
import stat
import tarfile
import zipfile
import zlib
from collections import Counter
from pathlib import Path

import pytest

import templatediff as td
from corpora.generator import SiteSpec, generate_site, write_site
from templatediff.crawl import Skipped, list_sources, only_source, read_crawl, read_source
from templatediff.crawl.bounds import MAX_LINE
from templatediff.decode import decode
from templatediff.errors import InputError
from templatediff.page import Page
from templatediff.store import PROFILE_FILE
from tests.archives import DATE, lines_of, put, record, response, tar_of, warc_gz, zip_of, zst

HTML = b"<!DOCTYPE html><title>Harbour</title><p>The ferry leaves at noon."
LONG = HTML + b"".join(b"<p>Line %d of the timetable." % number for number in range(400))
URL = "https://www.example.com/a.html"
MEMBERS = [("www.example.com/b.html", HTML), ("www.example.com/a/index.html", LONG), ("x.css", b"p {}")]


def pages(*inputs: Path, **options: object) -> list[Page]:
    return list(read_crawl(inputs, **options))  # type: ignore[arg-type]


def told(*inputs: Path) -> tuple[list[tuple[str | None, str | None]], dict[str, int]]:
    """([(path, kind of failure)], what was skipped)."""
    skipped: Counter[str] = Counter()
    found = [(page.path, page.failure and page.failure.kind) for page in read_crawl(inputs, skipped=skipped)]
    return found, dict(skipped)


# -- the same pages, whatever they come in


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forms") / "crawl"
    write_site(generate_site(SiteSpec(kinds=("news",), pages=9, seed=5)), folder, sidecars=True)
    return folder


def forms(crawl: Path) -> dict[str, bytes]:
    """The crawl in every form."""
    files = sorted(file for file in crawl.rglob("*") if file.is_file())
    members = [(str(file.relative_to(crawl)), file.read_bytes()) for file in files]
    found = pages(crawl)
    lines = lines_of({"url": page.url, "fetched": page.fetched, "html": _text(page)} for page in found)
    records = [record("warcinfo", b"software: made by hand\r\n")]
    for page in found:
        assert page.url and isinstance(page.html, bytes) and isinstance(page.fetched, str)
        records.append(record("request", b"GET / HTTP/1.1\r\n\r\n", page.url))
        records.append(record("response", response(page.html), page.url, date=page.fetched))
    tar = tar_of(members)
    wacz = [("datapackage.json", b"{}"), ("archive/data.warc.gz", warc_gz(records)), ("pages/pages.jsonl", lines)]
    return {
        "x.zip": zip_of(members),
        "stored.zip": zip_of(members, zipfile.ZIP_STORED),
        "x.tar": tar,
        "x.tar.gz": gzip.compress(tar),
        "x.tgz": gzip.compress(tar[:5000]) + gzip.compress(tar[5000:]),
        "x.tar.xz": lzma.compress(tar),
        "x.tar.bz2": bz2.compress(tar),
        "x.tar.zst": zst(tar),
        "x.jsonl": lines,
        "x.ndjson": b"\xef\xbb\xbf\n" + lines.replace(b"\n", b"\r\n\n").rstrip(),
        "x.jsonl.gz": gzip.compress(lines),
        "x.jsonl.zst": zst(lines),
        "x.warc": b"".join(records),
        "x.warc.gz": warc_gz(records),
        "stream.warc.gz": gzip.compress(b"".join(records)),
        "x.wacz": zip_of(wacz, zipfile.ZIP_STORED),
    }


def _text(page: Page) -> str:
    return page.html.decode() if isinstance(page.html, bytes) else page.html


def records_of(path: Path, **options: object) -> list[str]:
    """Records without their paths, in order of URL."""
    found = td.extract_crawl([path], parts=("leaves",), **options)  # type: ignore[arg-type]
    made = [one.to_dict(("leaves",)) | {"path": ""} for one in found]
    return sorted((json.dumps(one) for one in made), key=lambda line: str(json.loads(line)["url"]))


def profile_of(path: Path, folder: Path) -> bytes:
    td.learn_crawl([path], folder)
    (file,) = folder.glob(f"*/{PROFILE_FILE}")
    return file.read_bytes()


def test_every_form_gives_the_same_records_and_profile(crawl: Path, tmp_path: Path) -> None:
    expected, profile = records_of(crawl), profile_of(crawl, tmp_path / "expected")
    as_read = sorted((page.url, page.fetched, _text(page)) for page in pages(crawl))
    assert len(expected) == len(as_read) == 9
    for name, data in forms(crawl).items():
        file = put(tmp_path / name, data)
        assert sorted((page.url, page.fetched, _text(page)) for page in pages(file)) == as_read, name
        if name in ("x.zip", "x.tar.gz", "x.warc.gz", "x.jsonl"):
            assert records_of(file) == expected, name
            assert profile_of(file, tmp_path / f"templates of {name}") == profile, name


def test_processes_share_the_members_of_an_archive(
    crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("reading", "applying"):
        monkeypatch.setattr(f"templatediff.{module}.CHUNK", 5)
    folder = tmp_path / "all"
    for name in ("x.tar.gz", "x.wacz"):
        put(folder / name, forms(crawl)[name])
    alone = [one.to_dict() for one in td.extract_crawl([folder])]
    assert [one.to_dict() for one in td.extract_crawl([folder], jobs=2)] == alone


def test_sources_go_to_other_processes(tmp_path: Path) -> None:
    sources = list_sources(put(tmp_path / "x.tar.gz", gzip.compress(tar_of(MEMBERS))))
    assert pickle.loads(pickle.dumps(sources)) == sources == copy.deepcopy(sources)
    assert [read_source(one) for one in pickle.loads(pickle.dumps(sources))] == [read_source(one) for one in sources]


def test_what_was_unpacked_goes_when_it_is_no_longer_used(tmp_path: Path) -> None:
    sources = list_sources(put(tmp_path / "x.tar.gz", gzip.compress(tar_of(MEMBERS))))
    place = Path(sources[0].member.place)  # type: ignore[union-attr]
    assert place.is_file()
    del sources
    assert not place.parent.exists()


# -- names, URLs, sites


def test_members_are_named_after_their_archive_in_stored_order(tmp_path: Path) -> None:
    put(tmp_path / "in/b.html", HTML)
    put(tmp_path / "in/sub/x.zip", zip_of(MEMBERS))
    put(tmp_path / "in/a.tar", tar_of([("./s/t/p.html", HTML), ("q.html", HTML)]))
    found = [source for source in list_sources(tmp_path / "in")]
    assert [(one.path, one.folder, one.folder_site, one.url) for one in found] == [
        ("a.tar!s/t/p.html", "a.tar!s/t", "a/s/t", None),
        ("a.tar!q.html", "a.tar!", "a", None),
        ("b.html", "", "in", None),
        ("sub/x.zip!www.example.com/b.html", "sub/x.zip!www.example.com", "sub/x/www.example.com", "https://www.example.com/b.html"),
        ("sub/x.zip!www.example.com/a/index.html", "sub/x.zip!www.example.com/a", "sub/x/www.example.com/a", "https://www.example.com/a/"),
        ("sub/x.zip!x.css", "sub/x.zip!", "sub/x", None),
    ]  # fmt: skip
    found = list_sources(tmp_path / "in/a.tar")
    assert [(one.path, one.folder_site) for one in found] == [("a.tar!s/t/p.html", "s/t"), ("a.tar!q.html", "a")]


def test_an_archive_in_a_mirror_is_no_page_of_its_host(tmp_path: Path) -> None:
    put(tmp_path / "www.example.com/files/x.zip", zip_of([("p.html", HTML)]))
    assert [one.url for one in list_sources(tmp_path)] == [None]


def test_one_member_can_be_named(tmp_path: Path) -> None:
    file = put(tmp_path / "x.zip", zip_of(MEMBERS))
    (one,) = list_sources(f"{file}!www.example.com/b.html")
    assert (one.path, one.url) == ("x.zip!www.example.com/b.html", "https://www.example.com/b.html")
    assert read_source(one) == Page(HTML, one.url, path=one.path)
    whole = list_sources(file)
    assert list_sources([f"{file}!www.example.com/b.html", file]) == whole
    assert list_sources([tmp_path, f"{file}!x.css"]) == list_sources(tmp_path)
    assert td.extract(Path(f"{file}!www.example.com/b.html")).title == "Harbour"
    with pytest.raises(InputError, match=r"no member nothing"):
        list_sources(f"{file}!nothing")
    with pytest.raises(InputError, match=r"no such file"):
        list_sources(f"{tmp_path}/y.zip!a")


def test_an_archive_of_several_pages_is_not_one_page(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x.zip holds 2 .*x.zip!a/b.html"):
        only_source(put(tmp_path / "x.zip", zip_of([("a/b.html", HTML), ("b.html", HTML)])))
    assert only_source(put(tmp_path / "y.zip", zip_of([("a.html", HTML)]))).path == "y.zip!a.html"


def test_sidecars_in_archives(tmp_path: Path) -> None:
    side = json.dumps({"url": URL, "fetched": "2024-05", "site": "x"}).encode()
    for name, data in (("x.zip", zip_of), ("x.tar", tar_of)):
        file = put(tmp_path / name, data([("a.html.meta.json", side), ("a.html", HTML)]))
        assert pages(file) == [Page(HTML, URL, "2024-05", f"{name}!a.html", site="x")]


def test_only_names_of_archives_make_one_in_a_folder_and_an_input_is_looked_at(tmp_path: Path) -> None:
    data = zip_of([("a.html", HTML)])
    put(tmp_path / "in/book.epub", data)
    put(tmp_path / "in/page.zip", HTML)
    put(tmp_path / "in/nested.zip", zip_of([("x.zip", data), ("b.html", HTML)]))
    assert told(tmp_path / "in") == ([("nested.zip!b.html", None), ("page.zip", None)], {"archive": 2})
    assert told(tmp_path / "in/book.epub")[0] == [("book.epub!a.html", None)]


def test_empty_archives_hold_no_page(tmp_path: Path) -> None:
    for name, data in (
        ("x.zip", zip_of([])),
        ("x.tar", tar_of([])),
        ("x.tar.gz", gzip.compress(tar_of([]))),
        ("x.warc", record("warcinfo", b"")),
        ("x.warc.gz", gzip.compress(b"")),
        ("x.jsonl", b""),
        ("x.wacz", b""),
    ):
        found, _ = told(put(tmp_path / name, data))
        assert found == [], name
        with pytest.raises(InputError, match="no HTML page"):
            list(td.extract_crawl([tmp_path / name]))


# -- zip


def test_of_members_of_one_name_the_last_counts(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        data = zip_of([("a.html", HTML), ("b.html", HTML), ("a.html", LONG)])
    expected = ([("%s!b.html", None), ("%s!a.html", None)], {"superseded": 1})
    for name, archive in (("x.zip", data), ("x.tar", tar_of([("a.html", HTML), ("b.html", HTML), ("./a.html", LONG)]))):
        file = put(tmp_path / name, archive)
        assert told(file) == ([(path % name, kind) for path, kind in expected[0]], expected[1])
        assert pages(file)[1].html == LONG


@pytest.mark.parametrize(
    "name", ["../a.html", "/etc/a.html", "a/../../b.html", "C:/a.html", "..\\a.html", "\\\\host\\a.html"]
)
def test_names_that_lead_outside_are_refused(tmp_path: Path, name: str) -> None:
    for archive, make in (("x.zip", zip_of), ("x.tar", tar_of)):
        found, skipped = told(put(tmp_path / archive, make([(name, HTML), ("b.html", HTML)])))
        assert ([kind for _, kind in found], skipped) == (["unsafe-name", None], {})


def test_links_and_devices_in_archives_are_counted_and_never_followed(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link.html")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(link, b"/etc/passwd")
        archive.writestr("a.html", HTML)
    assert told(put(tmp_path / "x.zip", out.getvalue())) == ([("x.zip!a.html", None)], {"link": 1})
    members: list[tuple[str, bytes] | tarfile.TarInfo] = [("a.html", HTML)]
    for name, kind, target in (
        ("sym.html", tarfile.SYMTYPE, "/etc/passwd"),
        ("out.html", tarfile.LNKTYPE, "/etc/passwd"),
        ("same.html", tarfile.LNKTYPE, "a.html"),
        ("fifo.html", tarfile.FIFOTYPE, ""),
        ("disk.html", tarfile.BLKTYPE, ""),
    ):
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, target
        members.append(info)
    found, skipped = told(put(tmp_path / "x.tar", tar_of(members)))
    assert (found, skipped) == ([("x.tar!a.html", None), ("x.tar!same.html", None)], {"link": 2, "device": 2})


def test_names_that_are_not_utf8_keep_their_bytes(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.html")
    (source,) = list_sources(put(tmp_path / "x.tar", tar_of([(name, HTML)])))
    assert os.fsencode(source.path) == b"x.tar!caf\xe9.html"
    data = zip_of([("cafX.html", HTML), ("日.html", HTML)]).replace(b"cafX", b"caf\xe9")
    assert [os.fsencode(source.path) for source in list_sources(put(tmp_path / "x.zip", data))] == [
        b"x.zip!caf\xe9.html",
        "x.zip!日.html".encode(),
    ]
    assert [page.failure for page in pages(tmp_path / "x.zip")] == [None, None]


def test_a_zip_bomb_is_refused(tmp_path: Path) -> None:
    big = put(tmp_path / "big.zip", zip_of([("a.html", b"<p>" + bytes(40 * 1024 * 1024)), ("b.html", HTML)]))
    assert big.stat().st_size < 100_000
    assert told(big)[0] == [("big.zip!a.html", "too-large"), ("big.zip!b.html", None)]
    # One stretch of bytes under a thousand names.
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.html", HTML)
        info = archive.infolist()[0]
        for number in range(1000):
            other = copy.copy(info)
            other.filename = f"{number}.html"
            archive.filelist.append(other)
    assert told(put(tmp_path / "x.zip", out.getvalue()))[0] == [("x.zip", "bomb")]


def test_a_bomb_in_a_packed_archive_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("templatediff.crawl.packing.MOST_UNPACKED", 1_000_000)
    tar = tar_of([("a.html", HTML + bytes(20_000_000))])
    for name, pack in (
        ("x.tar.gz", gzip.compress),
        ("x.tar.xz", lzma.compress),
        ("x.tar.zst", zst),
        ("x.tar.bz2", bz2.compress),
    ):
        file = put(tmp_path / name, pack(tar))
        assert told(file)[0] == [(name, "bomb")], name


def test_encrypted_and_strangely_packed_members_are_failures(tmp_path: Path) -> None:
    data = bytearray(zip_of([("a.html", HTML), ("b.html", HTML)], zipfile.ZIP_STORED))
    for place in (data.index(b"PK\x03\x04") + 6, data.index(b"PK\x01\x02") + 8):
        data[place] |= 1
    found, _ = told(put(tmp_path / "x.zip", bytes(data)))
    assert found == [("x.zip!a.html", "encrypted"), ("x.zip!b.html", None)]
    found, _ = told(put(tmp_path / "y.zip", zip_of([("a.html", HTML)], zipfile.ZIP_LZMA)))
    assert found == [("y.zip!a.html", "packed")]


def test_a_changed_byte_in_a_zip_is_one_failure(tmp_path: Path) -> None:
    data = zip_of([("a.html", HTML), ("b.html", HTML)], zipfile.ZIP_STORED)
    found, _ = told(put(tmp_path / "x.zip", data.replace(b"ferry", b"fairy", 1)))
    assert found == [("x.zip!a.html", "damaged"), ("x.zip!b.html", None)]


def test_of_a_cut_zip_is_read_what_is_there(tmp_path: Path) -> None:
    data = zip_of([("a.html", LONG), ("b/", b""), ("b/c.html", HTML), ("d.html", LONG)])
    cut = data[: data.index(b"d.html") + 50]
    found, _ = told(put(tmp_path / "x.zip", cut))
    assert found == [("x.zip!a.html", None), ("x.zip!b/c.html", None), ("x.zip", "truncated")]
    assert [page.html for page in pages(tmp_path / "x.zip")][:2] == [LONG, HTML]


def test_of_a_cut_zip_written_to_a_pipe_is_read_what_is_there(tmp_path: Path) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def tell(self) -> int:
            raise OSError

        seek = tell  # type: ignore[assignment]

    out = Pipe()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.html", LONG)
        archive.writestr("b.html", HTML)
    data = out.getvalue()
    assert told(put(tmp_path / "y.zip", data))[0] == [("y.zip!a.html", None), ("y.zip!b.html", None)]
    assert told(put(tmp_path / "x.zip", data[:-30]))[0] == [
        ("x.zip!a.html", None), ("x.zip!b.html", None), ("x.zip", "truncated"),
    ]  # fmt: skip


# -- tar


def test_of_a_cut_tar_is_read_what_is_there(tmp_path: Path) -> None:
    data = tar_of([("a.html", HTML), ("b.html", LONG), ("c.html", HTML)])
    at = data.index(b"b.html") + 2000
    assert told(put(tmp_path / "x.tar", data[:at]))[0] == [("x.tar!a.html", None), ("x.tar!b.html", "truncated")]
    packed = gzip.compress(data, 0)
    assert told(put(tmp_path / "x.tar.gz", packed[:at]))[0] == [
        ("x.tar.gz!a.html", None),
        ("x.tar.gz!b.html", "truncated"),
    ]
    at = data.index(b"b.html") + 100
    assert told(put(tmp_path / "y.tar", data[:at]))[0] == [("y.tar!a.html", None), ("y.tar", "truncated")]
    assert told(put(tmp_path / "y.tgz", gzip.compress(data, 0)[:at]))[0] == [
        ("y.tgz!a.html", None),
        ("y.tgz", "truncated"),
    ]


def test_a_damaged_head_in_a_tar_is_a_loss_that_is_told(tmp_path: Path) -> None:
    data = bytearray(tar_of([("a.html", HTML), ("b.html", LONG)]))
    data[data.index(b"b.html") + 148] ^= 0x7F
    assert told(put(tmp_path / "x.tar", bytes(data)))[0] == [("x.tar!a.html", None), ("x.tar", "truncated")]


# -- WARC


def test_a_record_gives_url_date_and_charset(tmp_path: Path) -> None:
    block = response(
        "<p>Гавань открыта каждое утро, и паром отходит в полдень до самой осени.".encode("cp1251"),
        "Text/HTML; Charset='windows-1251'",
    )
    file = put(tmp_path / "x.warc.gz", warc_gz([record("warcinfo", b""), record("response", block, f"<{URL}>")]))
    (page,) = pages(file, fetched="2020-01")
    assert (page.url, page.fetched) == (URL, DATE)
    assert page.path == f"x.warc.gz!{len(gzip.compress(record('warcinfo', b''), mtime=0))}"
    assert isinstance(page.html, bytes) and "Гавань" in decode(page.html, page.charset).text


def chunked(data: bytes, size: int = 7) -> bytes:
    parts = [data[start : start + size] for start in range(0, len(data), size)]
    return b"".join(b"%x;x=1\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def raw_deflate(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


def brotli(data: bytes) -> bytes:
    from fastwarc.stream_io import BrotliWriter

    out = io.BytesIO()
    writer = BrotliWriter(out)
    writer.write(data)
    writer.close()
    return out.getvalue()


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (HTML, {}),
        (chunked(HTML), {"Transfer_Encoding": "Chunked"}),
        (chunked(gzip.compress(HTML)), {"transfer_encoding": "chunked", "CONTENT_ENCODING": "gzip"}),
        (gzip.compress(HTML), {"Content_Encoding": "x-gzip"}),
        (zlib.compress(HTML), {"Content_Encoding": "deflate"}),
        (raw_deflate(HTML), {"Content_Encoding": "deflate"}),
        (zst(HTML), {"Content_Encoding": "zstd"}),
        (brotli(HTML), {"Content_Encoding": "br"}),
        (gzip.compress(zlib.compress(HTML)), {"Content_Encoding": "deflate, gzip"}),
        (HTML, {"Transfer_Encoding": "chunked", "Content_Encoding": "gzip"}),
        (HTML, {"Content_Encoding": "br"}),
        (HTML, {"X_Crawler_Content_Encoding": "gzip"}),
        (chunked(HTML)[:-5], {"Transfer_Encoding": "chunked"}),
    ],
    ids=[
        "plain", "chunked", "chunked-gzip", "gzip", "zlib", "deflate", "zstd", "brotli", "twice", "decoded-before",
        "not-brotli", "common-crawl", "without-last-chunk",
    ],
)  # fmt: skip
def test_bodies_are_decoded_however_they_were_sent(tmp_path: Path, body: bytes, headers: dict[str, str]) -> None:
    file = put(tmp_path / "x.warc", record("response", response(body, **headers), URL))
    assert [page.html for page in pages(file)] == [HTML]


@pytest.mark.parametrize(
    ("kind", "block", "other"),
    [
        ("response", response(HTML, status="404 Not Found"), "HTTP 404"),
        ("response", response(b"", status="301 Moved", Location="/b"), "HTTP 301"),
        ("response", b"HTTP/2 503 \r\nContent-Type: text/html\r\n\r\n" + HTML, "HTTP 503"),
        ("response", response(b"\x89PNG\r\n\x1a\n", "image/png"), "image"),
        ("response", response(b"p { }", "text/css"), "css"),
        ("response", response(b"{}", "application/json"), "json"),
        ("response", response(HTML, "text/plain"), "text"),
        ("response", response(b"%PDF-1.4", None), "pdf"),
        ("response", response(b"alert(1)", "application/javascript"), "script"),
        ("response", b"203.0.113.7\n", "text"),
        ("revisit", b"HTTP/1.1 200 OK\r\n\r\n", "revisit"),
        ("conversion", b"plain text", "conversion"),
        ("resource", b"log", "text"),
    ],
)
def test_records_that_are_no_pages_are_skipped_by_kind(tmp_path: Path, kind: str, block: bytes, other: str) -> None:
    file = put(tmp_path / "x.warc", record(kind, block, URL) + record("metadata", b"a: b", URL))
    assert told(file) == ([], {other: 1})


@pytest.mark.parametrize(
    "block",
    [
        response(HTML, None),
        response(HTML, "application/octet-stream"),
        response(b"<?xml version='1.0'?><html xmlns='x'><p>Hi", "application/xhtml+xml"),
        response(b"Only words.", "text/html"),
        response(b"", "text/html"),
        response(HTML).replace(b"\r\n", b"\n"),
    ],
)
def test_records_that_are_pages(tmp_path: Path, block: bytes) -> None:
    found, skipped = told(put(tmp_path / "x.warc", record("response", block, URL)))
    assert (found, skipped) == ([("x.warc!0", None)], {})


def test_a_resource_that_is_html_is_a_page(tmp_path: Path) -> None:
    data = record("resource", HTML, URL, **{"Content-Type": "text/html; charset=koi8-r"})
    assert pages(put(tmp_path / "x.warc", data)) == [Page(HTML, URL, DATE, "x.warc!0", "text/html; charset=koi8-r")]


def test_binary_data_called_html_are_a_failure(tmp_path: Path) -> None:
    file = put(tmp_path / "x.warc", record("response", response(b"\x89PNG\r\n\x1a\n"), URL))
    assert told(file) == ([("x.warc!0", "binary")], {})


RECORDS = [record("response", response(LONG + b"<p>%d" % number), f"{URL}?{number}") for number in range(4)]


@pytest.mark.parametrize("pack", [b"".join, warc_gz], ids=["plain", "gzip"])
@pytest.mark.parametrize("wrong", [-3000, 3000, 40_000, -len(LONG)])
def test_a_record_of_wrong_length_is_one_failure_and_the_others_are_read(
    tmp_path: Path, pack: object, wrong: int
) -> None:
    block = response(LONG)
    bad = record("response", block, URL, length=len(block) + wrong)
    file = put(tmp_path / "x.warc", pack([RECORDS[0], bad, *RECORDS[1:]]))  # type: ignore[operator]
    found, _ = told(file)
    assert [kind for _, kind in found] == [None, "truncated", None, None, None]
    good = [page for page in pages(file) if page.failure is None]
    assert [page.url for page in good] == [f"{URL}?{number}" for number in range(4)]
    assert [page.html for page in good] == [LONG + b"<p>%d" % number for number in range(4)]


@pytest.mark.parametrize("pack", [b"".join, warc_gz], ids=["plain", "gzip"])
@pytest.mark.parametrize("cut", [5, 100, 600, 900])
def test_of_a_cut_warc_is_read_what_is_there(tmp_path: Path, pack: object, cut: int) -> None:
    data = pack(RECORDS)  # type: ignore[operator]
    found, _ = told(put(tmp_path / "x.warc.gz", data[:-cut]))
    assert [kind for _, kind in found] == [None, None, None, "truncated"]


def test_a_record_that_claims_more_than_the_file_has_is_one_failure(tmp_path: Path) -> None:
    bad = record("response", response(LONG), URL, length=10**15)
    for records in ([bad, *RECORDS[1:]], [RECORDS[0], bad, *RECORDS[1:]], [RECORDS[0], bad]):
        file = put(tmp_path / "x.warc", b"".join(records))
        assert [kind for _, kind in told(file)[0]].count("truncated") == 1
        assert len([page for page in pages(file) if page.failure is None]) == len(records) - 1


def test_a_damaged_stretch_of_a_warc_is_one_failure_and_the_rest_is_read(tmp_path: Path) -> None:
    parts = [gzip.compress(one, mtime=0) for one in RECORDS]
    parts[1] = parts[1][:30] + b"garbage" + parts[1][37:]
    found, _ = told(put(tmp_path / "x.warc.gz", b"".join(parts)))
    assert [kind for _, kind in found].count("truncated") == 1
    assert [page.url for page in pages(tmp_path / "x.warc.gz") if page.failure is None] == [
        f"{URL}?{number}" for number in (0, 2, 3)
    ]


def test_a_stream_that_is_cut_gives_its_first_records(tmp_path: Path) -> None:
    data = gzip.compress(b"".join(RECORDS), 0)
    found, _ = told(put(tmp_path / "x.warc.gz", data[: len(data) // 2]))
    assert [kind for _, kind in found] == [None, "truncated"] or [kind for _, kind in found] == [
        None,
        None,
        "truncated",
    ]


def test_a_record_that_unpacks_to_far_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("templatediff.crawl.warcs.MOST_UNPACKED", 1_000_000)
    bomb = record("response", response(HTML + bytes(20_000_000)), URL)
    found, _ = told(put(tmp_path / "x.warc.gz", warc_gz([RECORDS[0], bomb, RECORDS[1]])))
    assert found[-1] == ("x.warc.gz", "bomb")


def test_a_body_that_unpacks_to_too_much_is_too_large(tmp_path: Path) -> None:
    body = gzip.compress(HTML + bytes(40 * 1024 * 1024))
    file = put(tmp_path / "x.warc", record("response", response(body, Content_Encoding="gzip"), URL) + RECORDS[0])
    assert [kind for _, kind in told(file)[0]] == ["too-large", None]


@pytest.mark.parametrize("name", ["", "\0b.html", "./."])
def test_members_without_a_name_are_no_pages(tmp_path: Path, name: str) -> None:
    """Nor are they taken for their archive: each record has a path of its own."""
    whole = zip_of([("a.html", HTML), ("xyz", HTML), ("b.html", HTML)]).replace(
        b"xyz", name.encode().ljust(3, b"\0")[:3]
    )
    for data, lost in ((whole, []), (whole[:-40], [("x.zip", "truncated")])):
        found, skipped = told(put(tmp_path / "x.zip", data))
        assert found == [("x.zip!a.html", None), ("x.zip!b.html", None), *lost] and skipped == {"nameless": 1}


# -- JSON lines


@pytest.mark.parametrize(
    ("line", "html"),
    [
        ({"html": "<p>a"}, "<p>a"),
        ({"body": "<p>a", "content": "<p>b"}, "<p>a"),
        ({"html": "no markup", "body": None, "raw_html": 3, "content": "<p>b"}, "<p>b"),
        ({"html": "1 < 2", "body": "<!DOCTYPE html>x"}, "<!DOCTYPE html>x"),
    ],
)
def test_the_first_field_that_holds_markup_is_the_page(tmp_path: Path, line: dict[str, object], html: str) -> None:
    assert pages(put(tmp_path / "x.jsonl", lines_of([line]))) == [Page(html, path="x.jsonl!1")]


def test_fields_can_be_named_and_carried(tmp_path: Path) -> None:
    line = {"raw": "<p>a", "html": "<p>no", "address": URL, "when": "2024-05-01", "id": 7, "tags": ["a"]}
    file = put(tmp_path / "x.jsonl", b"\n" + lines_of([line, {"raw": "words", "id": None}]))
    names = {"html": "raw", "url": "address", "fetched": "when"}
    assert pages(file, fields=names, carry=["id", "tags", "x"], fetched="2020-01") == [
        Page("<p>a", URL, "2024-05-01", "x.jsonl!2", source={"id": 7, "tags": ["a"], "x": None}),
        Page("words", None, "2020-01", "x.jsonl!3", source={"id": None, "tags": None, "x": None}),
    ]
    made = list(td.extract_crawl([file], fields=names, carry=["id"]))
    assert [list(one.to_dict(("html",)))[-2:] for one in made] == [["html", "source"]] * 2
    assert [one.to_dict()["source"] for one in made] == [{"id": 7}, {"id": None}]
    assert "source" not in next(td.extract_crawl([file], fields=names)).to_dict()


def test_sidecars_carry_fields_too(tmp_path: Path) -> None:
    put(tmp_path / "in/a.html", HTML)
    put(tmp_path / "in/a.html.meta.json", json.dumps({"url": URL, "status": 200}).encode())
    put(tmp_path / "in/b.html", HTML)
    assert [page.source for page in pages(tmp_path / "in", carry=["status"])] == [{"status": 200}, {"status": None}]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_carried_field_that_is_nested_too_deep_is_one_failure(tmp_path: Path, jobs: int) -> None:
    def line(depth: int) -> bytes:
        return b'{"html": "<p>The ferry leaves the harbour at noon.", "id": ' + b"[" * depth + b"]" * depth + b"}\n"

    file = put(tmp_path / "x.jsonl", b"".join(line(depth) for depth in (90, 100, 101, 900)))
    put(tmp_path / "in/a.html", HTML)
    put(tmp_path / "in/a.html.meta.json", line(101))
    made = list(td.extract_crawl([file, tmp_path / "in"], carry=["id"], jobs=jobs))
    found = [(one.path, one.error and one.error.kind) for one in made]
    lines = [("x.jsonl!1", None), ("x.jsonl!2", None), ("x.jsonl!3", "json"), ("x.jsonl!4", "json")]
    assert found == [("in/a.html", "sidecar"), *lines]
    assert [one.to_dict()["source"] for one in made if one.error] == [{"id": None}] * 3
    assert "nested more than 100 deep" in str(made[0].error)


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        (b'{"title": "x", "text": "words"}', "no-html", "title, text"),
        (b"{}", "no-html", "no fields"),
        (b'{"html": "<p>a"', "json", "no JSON"),
        (b"[1]", "json", "list"),
        (b'{"html": "<p>caf\xe9"}', "json", "UTF-8"),
        (b'{"html": "<p>a", "url": 3}', "json", "url: expected text, found int"),
        (b'{"html": "<p>a", "fetched": "soon"}', "json", "soon"),
        (b'{"html":' + b"[" * 100_000, "json", "deep"),
        (b'{"html": "<p>a", "id":' + b"9" * 5000 + b"}", "json", "no JSON: a number of too many digits"),
        (b'{"html": "<p>' + b"a" * (33 << 20) + b'"}', "too-large", "33,554,432"),
        (b'{"html": "' + b"\\u003c" * (MAX_LINE // 6 + 1) + b'"}', "too-large", "a line of"),
    ],
    ids=["no-html", "no-fields", "cut", "list", "latin-1", "url", "fetched", "deep", "digits", "large", "long-line"],
)  # fmt: skip
def test_a_line_that_is_no_page_is_one_failure(tmp_path: Path, line: bytes, kind: str, message: str) -> None:
    file = put(tmp_path / "x.jsonl", b'{"html": "<p>a"}\n' + line + b'\n{"html": "<p>b"}')
    first, bad, last = pages(file)
    assert (first.html, last.html, last.path) == ("<p>a", "<p>b", "x.jsonl!3")
    assert bad.failure is not None and bad.failure.kind == kind and message in bad.failure.message


def test_a_line_of_40_megabytes_beside_a_page_of_one_line(tmp_path: Path) -> None:
    file = put(tmp_path / "x.jsonl", b'{"pad": "' + b"x" * (40 << 20) + b'", "html": "<p>a"}\n{"html": "<p>b"}\n')
    assert [page.html for page in pages(file)] == ["<p>a", "<p>b"]


def test_lone_surrogates_and_nuls_in_a_line_give_a_record(tmp_path: Path) -> None:
    file = put(
        tmp_path / "x.jsonl",
        b'{"html": "<p>The ferry \\ud800 leaves \\u0000 the harbour at noon on most days of the year.", "url": "http://\\ud800/"}\n',
    )
    (made,) = td.extract_crawl([file])
    assert made.error is None and made.text.startswith("The ferry")


def test_lines_without_html_are_pages_only_if_the_user_names_them(tmp_path: Path) -> None:
    put(tmp_path / "in/a.html", HTML)
    put(tmp_path / "in/old-output.jsonl", lines_of([{"path": "a.html", "text": "words"}] * 3))
    put(tmp_path / "in/crawl.jsonl", lines_of([{"text": "words"}, {"html": "<p>b"}]))
    assert told(tmp_path / "in") == (
        [("a.html", None), ("crawl.jsonl!1", "no-html"), ("crawl.jsonl!2", None)], {"json": 1},
    )  # fmt: skip
    assert [kind for _, kind in told(tmp_path / "in/old-output.jsonl")[0]] == ["no-html"] * 3
    assert told(put(tmp_path / "pages.json", lines_of([{"html": "<p>b"}])))[0] == [("pages.json!1", None)]


def test_of_cut_lines_are_read_what_is_there(tmp_path: Path) -> None:
    data = lines_of([{"html": f"<p>{number}" + "x" * 300} for number in range(3)])
    for pack, name in ((lambda data: gzip.compress(data, 0), "x.jsonl.gz"), (zst, "x.jsonl.zst")):
        packed = pack(data)
        found, _ = told(put(tmp_path / name, packed[:-120] if name.endswith("gz") else packed[:-4]))
        assert found[-1][1] == "truncated" and [kind for _, kind in found].count("truncated") == 1


def test_a_zip_member_without_a_name_does_no_harm(tmp_path: Path) -> None:
    data = zip_of([("a.html", HTML), ("b.html", HTML)], zipfile.ZIP_STORED)
    central = data.index(b"PK\x01\x02")
    nameless = bytearray(data)
    nameless[central + 28 : central + 30] = b"\0\0"
    nameless[central + 30 : central + 32] = (6).to_bytes(2, "little")  # the name's bytes count as an extra field
    for source in list_sources(put(tmp_path / "x.zip", bytes(nameless))):
        assert isinstance(read_source(source), Page | Skipped)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["x.warc.gz", "stream.warc.gz", "x.tar.gz", "x.zip", "x.jsonl.gz"])
def test_memory_does_not_grow_with_the_archive(tmp_path: Path, form: str) -> None:
    import tracemalloc

    def peak(number: int) -> int:
        bodies = [HTML + b"%d" % place + b"<p>words of the page" * 2500 for place in range(number)]
        if "warc" in form:
            records = [record("response", response(body), f"{URL}?{place}") for place, body in enumerate(bodies)]
            data = warc_gz(records) if form.startswith("x") else gzip.compress(b"".join(records), 1)
        elif "json" in form:
            data = gzip.compress(lines_of({"html": body.decode()} for body in bodies), 1)
        else:
            members = [(f"{place}.html", body) for place, body in enumerate(bodies)]
            data = zip_of(members) if "zip" in form else gzip.compress(tar_of(members), 1)
        file = put(tmp_path / f"{number}-{form}", data)
        del bodies, data
        tracemalloc.start()
        assert sum(1 for _ in read_crawl(file)) == number
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    few, many = peak(40), peak(400)  # 2 MB of pages, 20 MB
    assert many < few + 1_000_000
