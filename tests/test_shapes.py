"""Pages of shapes that have brought down parsers and extractors: each is a result, or a failure of a kind that is known."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

import templatediff as td
from tests.archives import put

STORY = "<p>Otters close their ears and nostrils under water, and they open them again on land.</p>"
SAID = "Otters close their ears and nostrils under water, and they open them again on land."
MANY = range(50_000)

#: (how the page is made, the kind of its failure or None). Pages without a failure have STORY, and its text comes out.
SHAPES: dict[str, tuple[Callable[[], str], str | None]] = {
    "300 deep": (lambda: "<div>" * 300 + STORY, None),
    "3,000 deep": (lambda: "<div>" * 3000 + STORY, None),
    "50,000 deep": (lambda: "<div>" * 50_000 + STORY, "too-deep"),
    "50,000 spans deep": (lambda: "<span>" * 50_000 + STORY, "too-deep"),
    "tables in tables": (lambda: "<table><tr><td>" * 1000 + STORY, None),
    "formatting left open": (lambda: "<b><i>" * 10_000 + STORY, "too-deep"),
    "formatting left open in paragraphs": (lambda: STORY + "<p><b><i>x" * 500, None),
    "formatting ended in the wrong block": (lambda: STORY + "<b><p></b>" * 5000, None),
    "formatting crossed": (lambda: STORY + "<a><b><i><p></a>" * 900, None),
    "formatting in tables": (lambda: "<table><b><tr><i>" * 3000 + STORY, "too-deep"),
    "200,000 rows": (lambda: STORY + f"<table>{'<tr><td>a</td><td>b</td></tr>' * 200_000}</table>", "too-large"),
    "200,000 rows left open": (lambda: f"{STORY}<table>{'<tr><td>a' * 200_000}", "too-large"),
    "50,000 attributes": (lambda: f"<p {' '.join(f'a{n}=b' for n in MANY)}>{STORY}", "too-large"),
    "50,000 attributes, no space": (lambda: f"<p {''.join(f'a{n}=``' for n in MANY)}>{STORY}".replace("`", "'"), "too-large"),
    "50,000 attributes and slashes": (lambda: f"<p {'/'.join(f'a{n}' for n in MANY)}>{STORY}", "too-large"),
    "50,000 attributes of <": (lambda: f"<p {' '.join(f'a{n}=`<`' for n in MANY)}>{STORY}".replace("`", '"'), "too-large"),
    "50,000 attributes of >": (lambda: f"<p {' '.join(f'a{n}=`>`' for n in MANY)}>{STORY}".replace("`", '"'), "too-large"),
    "50,000 attributes called <": (lambda: f"<p {' '.join(f'a{n}<' for n in MANY)}>{STORY}", "too-large"),
    "50,000 attributes of an end tag": (lambda: f"<p>x</p {' '.join(f'a{n}=b' for n in MANY)}>{STORY}", "too-large"),
    "20 MB of <p>a": (lambda: "<p>a" * 5_000_000, "too-large"),
    "40 MB of text": (lambda: "otter " * 7_000_000, "too-large"),
    "NULs": (lambda: STORY.replace("nostrils", "\0nos\0trils\0") + "<p\0>\0<a \0=\0>\0</p>", None),
    "lone surrogates": (lambda: STORY + "<p title='\ud800'>\udfff<a href='//\udc00'>\ud83d</a>", None),
    "a million <": (lambda: STORY + "<" * 1_000_000, None),
    "comments that never end": (lambda: STORY + "<!--" * 100_000, None),
    "sections that never end": (lambda: STORY + "<svg>" + "<![CDATA[" * 10_000, None),
    "tags that never end": (lambda: STORY + "<p a" * 50_000, "too-large"),
    "quotes that never end": (lambda: STORY + "<p a='b\" " * 1000, None),
    "empty": (lambda: "", None),
    "white space": (lambda: " \t\r\n\f" * 100_000, None),
}  # fmt: skip
WITHOUT_TEXT = {"empty", "white space"}
SLOW = {"200,000 rows", "200,000 rows left open", "a million <"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in SHAPES]
)
def test_a_shape_is_a_result_or_a_failure(name: str) -> None:
    make, kind = SHAPES[name]
    page = td.extract(make())
    assert (page.error and page.error.kind) == kind
    assert page.verdict == ("error" if kind else "empty" if name in WITHOUT_TEXT else page.verdict)
    if kind is None and name not in WITHOUT_TEXT:
        words = "".join(page.text.split())
        assert "".join(SAID.split()) in words.replace("\ufffd", ""), page.text[:200]
        assert SAID.split()[-1] in page.markdown and SAID.split()[-1] in page.html


@pytest.mark.slow
def test_100_000_line_breaks() -> None:
    """As many leaves as a page may have; one more is too many."""
    assert td.extract("a<br>" * 100_000).error is None
    page = td.extract("a<br>" * 100_001)
    assert page.error is not None and page.error.kind == "too-large"
    assert td.extract(STORY + "<br>" * 100_000).text == SAID


@pytest.mark.slow
def test_50_000_cells_and_a_million_elements() -> None:
    page = td.extract(STORY + "<table>" + "<tr><td>a</td><td>b</td></tr>" * 25_000 + "</table>")
    assert page.error is None and SAID in page.text
    page = td.extract("<i></i>" * 999_000 + STORY)
    assert page.error is None and page.text == SAID


@pytest.mark.parametrize(
    "span", ["9007199254740991", "99999999999999999999999", "-1", "-9007199254740991", "0", "two", "NaN", "1e9"]
)
def test_spans_of_cells_cost_nothing(span: str) -> None:
    cell = f"<td colspan={span} rowspan={span}>"
    page = td.extract(
        f"<h1>Otters</h1>{STORY}<table><tr><th>Name<th>Weight<tr>{cell}Sea otter{cell}45 kg</table>{STORY * 3}"
    )
    assert page.error is None and "Sea otter" in page.text
    assert len(page.markdown) < 2000 and len(page.html) < 2000 and "45 kg" in page.markdown and "45 kg" in page.html
    assert "span" not in page.html


@pytest.mark.parametrize(
    ("entity", "shown"),
    [
        ("&#0;", "\ufffd"),
        ("&#x110000;", "\ufffd"),
        ("&#xD800;", "\ufffd"),
        ("&#99999999999999999999;", "\ufffd"),
        ("&#x" + "f" * 100_000 + ";", "\ufffd"),
        ("&#128;", "€"),
        ("&#65", "A"),
        ("&#;", "&#;"),
        ("&#x;", "&#x;"),
        ("&", "&"),
        ("&amp;amp;", "&amp;"),
        ("&amp", "&"),
        ("&lt;p&gt;", "<p>"),
        ("&notit;", "¬it;"),
        ("&nosuchname;", "&nosuchname;"),
        ("&NotEqualTilde;", "≂̸"),
        ("&" + "a" * 100_000 + ";", "&" + "a" * 100_000 + ";"),
    ],
    ids=lambda value: value[:12],
)
def test_entities_are_read_as_browsers_read_them(entity: str, shown: str) -> None:
    page = td.extract(f"<p>Otters {entity} close their ears and nostrils under water, and open them on land.</p>")
    assert page.error is None and page.text.startswith(f"Otters {shown} close their ears")
    assert "<p>" not in page.html.removeprefix("<div><p>").replace("</p></div>", "")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", None),
        (b"\n \n", None),
        (bytes(range(256)) * 40, "binary"),
        (b"\x89PNG\r\n\x1a\n" + bytes(4000), "binary"),
        (gzip.compress(STORY.encode() * 200)[:-20], "truncated"),
        (gzip.compress(STORY.encode()), None),
        (b"\x1f\x8b", "truncated"),
        (b"\xff\xfe" + STORY.encode("utf-16-le") + b"\0", None),
        (b"\xef\xbb\xbf", None),
    ],
    ids=["empty", "white space", "all bytes", "image", "gzip cut", "gzip", "gzip's mark", "odd UTF-16", "byte order mark"],
)  # fmt: skip
def test_files_are_results_or_failures(tmp_path: Path, data: bytes, kind: str | None) -> None:
    page = td.extract(put(tmp_path / "a.html", data))
    assert (page.error and page.error.kind) == kind
    assert page.text == (SAID if len(data) > 10 and kind is None else "")
