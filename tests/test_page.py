"""Page and the pure functions on URLs and fetch times."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from templatediff.errors import UsageError
from templatediff.page import (
    Page,
    fetch_month,
    has_public_suffix,
    host_of,
    mirror_host,
    normal_url,
    registrable_domain,
    url_shape,
)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (None, None),
        ("2024-05-01", "2024-05-01T00:00:00Z"),
        ("2024-05", "2024-05-01T00:00:00Z"),
        ("2024-05-01T12:30:15Z", "2024-05-01T12:30:15Z"),
        ("2024-05-01T12:30:15.75", "2024-05-01T12:30:15Z"),
        ("2024-05-01 01:00+03:00", "2024-04-30T22:00:00Z"),
        (datetime(2024, 5, 1, 7), "2024-05-01T07:00:00Z"),
        (datetime(2024, 5, 1, 7, tzinfo=UTC), "2024-05-01T07:00:00Z"),
        (datetime(2024, 5, 1, 1, tzinfo=timezone(timedelta(hours=2))), "2024-04-30T23:00:00Z"),
    ],
)
def test_fetch_time_is_kept_in_utc(given: str | datetime | None, kept: str | None) -> None:
    page = Page("<p>", fetched=given)
    assert page.fetched == kept
    assert fetch_month(page.fetched) == (kept or "")[:7]


@pytest.mark.parametrize("wrong", ["", "soon", "2024-13-01", "1.5.2024", 20240501, "0001-01-01T00:00+05"])
def test_what_is_no_time_is_refused(wrong: object) -> None:
    with pytest.raises(UsageError, match="fetched is"):
        Page("<p>", fetched=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("values", [{"html": None}, {"url": 3}, {"path": b"a"}, {"charset": 1}, {"site": ()}])
def test_values_of_another_type_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=next(iter(values))):
        Page(**{"html": "<p>", **values})  # type: ignore[arg-type]


def test_a_page_survives_being_copied_as_to_another_process() -> None:
    page = Page(b"<p>", "https://example.com/", "2024-05-01", "a.html")
    assert copy.deepcopy(page) == page


@pytest.mark.parametrize(
    ("url", "identity", "host"),
    [
        ("https://Example.com", "https://example.com/", "example.com"),
        ("HTTPS://WWW.Example.com:443/A?b=C#d", "https://www.example.com/A?b=C", "example.com"),
        ("http://example.com:8080/a?", "http://example.com:8080/a", "example.com:8080"),
        ("https://example.com:80/", "https://example.com:80/", "example.com:80"),
        ("http://user:secret@example.com./", "http://example.com/", "example.com"),
        ("http://BÜCHER.example/ä", "http://xn--bcher-kva.example/ä", "xn--bcher-kva.example"),
        ("http://straße.example/", "http://xn--strae-oqa.example/", "xn--strae-oqa.example"),
        ("http://my_shop.example.com/", "http://my_shop.example.com/", "my_shop.example.com"),
        ("http://www.com/", "http://www.com/", "www.com"),
        ("http://[::1]:8000/", "http://[::1]:8000/", "[::1]:8000"),
        (" http://example.com/a b ", "http://example.com/a b", "example.com"),
    ],
)
def test_url_identity_and_host(url: str, identity: str, host: str) -> None:
    assert (normal_url(url), host_of(url)) == (identity, host)


@pytest.mark.parametrize(
    "url",
    [None, "", "/a", "example.com", "ftp://example.com/", "file:///a", "https://", "http://[::1", "http://a:99999/",
     "http://a..b/", "http://a b/", "mailto:a@example.com"],
)  # fmt: skip
def test_what_is_no_web_url_has_no_identity(url: str | None) -> None:
    assert (normal_url(url), host_of(url), url_shape(url)) == (None, None, "")


@given(st.text() | st.text().map("http://{}".format))
def test_no_url_raises_and_identity_is_its_own_identity(url: str) -> None:
    identity = normal_url(url)
    url_shape(url)
    assert (identity is None) == (host_of(url) is None)
    assert identity is None or normal_url(identity) == identity


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("a.b.example.com", "example.com"),
        ("example.co.uk:8080", "example.co.uk"),
        ("a.b.github.io", "b.github.io"),
        ("localhost:8000", "localhost:8000"),
        ("192.0.2.7", "192.0.2.7"),
        ("[2001:db8::1]:80", "[2001:db8::1]:80"),
        ("xn--fiqs8s", "xn--fiqs8s"),
        ("", ""),
    ],
)
def test_registrable_domain(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("www.example.com", "www.example.com"),
        ("Example.CO.UK", "example.co.uk"),
        ("example.com:8080", "example.com:8080"),
        ("example.com+8080", "example.com:8080"),
        ("bücher.de", "xn--bcher-kva.de"),
        ("com", None),
        ("co.uk", None),
        ("pages", None),
        ("192.0.2.7", None),
        ("site.unknowntld", None),
        ("a b.com", None),
        (".com", None),
        ("", None),
        ("..", None),
    ],
)
def test_folder_names_that_are_hosts(name: str, host: str | None) -> None:
    assert (mirror_host(name), has_public_suffix(name)) == (host, host is not None)


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("", "0"),
        ("/", "0"),
        ("/about", "1/about"),
        ("/about/", "1/about"),
        ("/News/harbour", "2/News/word"),
        ("/news/harbour-opens-again", "2/news/slug"),
        ("/news/harbour-opens-again-4711.HTML", "2/news/slug.html"),
        ("/2024/05/01/", "3/number/number/number"),
        ("/a/2024-05-01", "2/a/number"),
        ("/a/9f86d081884c7d65", "2/a/hash"),
        ("/a/123e4567-e89b-12d3-a456-426614174000", "2/a/hash"),
        ("/a/x7Kq2", "2/a/hash"),
        ("/p1/x", "2/hash/word"),
        ("/wiki/%E6%B8%AF%E5%8F%A3", "2/wiki/word"),
        ("/a//b", "2/a/word"),
        ("/index.php?b=1&a=2&b=3", "1/index.php?a&b"),
        ("/?12345", "0?number"),
        ("/a/v1.2", "2/a/hash"),
    ],
)
def test_url_shapes(path: str, shape: str) -> None:
    assert url_shape("https://example.com" + path) == shape


def test_shape_is_of_the_path_alone() -> None:
    assert url_shape("http://example.com/a/b#c") == url_shape("https://www.example.org:8443/a/b")
