"""A made-up crawl whose pages try to break out of whatever shows them; for the tests of the report."""

from __future__ import annotations

import json
import os
from html import escape
from pathlib import Path

HOST = "www.hostile.example"
#: Each would, as markup, run or load something.
ATTACKS = (
    "</title><script>window.stolen = 1</script>",
    '"><img src="https://evil.example/a.png" onerror="window.stolen = 2">',
    "</script><script>window.stolen = 3</script>",
    "<style>@import 'https://evil.example/b.css'; * { display: none }</style>",
    "<!--rows--><svg onload='window.stolen = 4'>",
    "{{ 7 * 7 }}{% raw %}{{ cycler.__init__.__globals__ }}",
    "' onmouseover='window.stolen = 5' x='",
    "<base href='https://evil.example/'><meta http-equiv=refresh content='0;url=https://evil.example/'>",
)
NAMES = (
    "<img src=x onerror=alert(1)>.html",
    "a&b 'c' \"d\".html",
    "100%.html",
    "100%25.html",
    "#part?q=1.html",
    "con.html",
    "invoice\u202elmth.exe.html",
    "שלום.html",
    "line\nbreak.html",
    "é.html",
    "e\u0301.html",
    "index.html",
    "report.js.html",
    ". html",
)
HEBREW = "הספינה יצאה מהנמל בבוקר, והדייגים חיכו לה על הרציף עד הערב."
CONTROL = "before\x01\x1b[31mred\x7f\x85after \u202eright to left\u202c and on"
HUGE = "huge.html"


def page(number: int, name: str) -> str:
    """One page; what is the same on all of them is hostile too, so that templates hold it."""
    attack = escape(ATTACKS[number % len(ATTACKS)], quote=False)
    stays = "".join(f"<li>{escape(text, quote=False)}</li>" for text in ATTACKS)
    return f"""<!DOCTYPE html><html lang='en"><script>'><head><meta charset=utf-8>
<title>{attack} number {number} - Hostile</title>
<link rel=canonical href="javascript:window.stolen=6//{number}">
<script>window.stolen = 7; fetch("https://evil.example/c")</script>
<style>body {{ background: url(https://evil.example/d.png) }}</style></head>
<body onload="window.stolen = 8">
<ul class='menu"><script>'>{stays}</ul>
<div id='x"><svg onload=window.stolen=9>' class="story">
<h1>{attack} number {number}</h1>
<p>By {attack} on {number + 1} May 2024, read {number * 7 + 3} times.</p>
<p>{attack} This paragraph is of page {number} alone, and says so at some length, because paragraphs do.</p>
<p><a href="javascript:window.stolen=10">A link</a> <img src="https://evil.example/e.png" alt="{attack}"></p>
<p dir=rtl>{HEBREW} {number}</p><p>{CONTROL} {number}</p>
{"<p>Sentence " + " of many words".join(str(each) for each in range(40)) + ".</p>" if number % 2 else ""}
</div><iframe src="https://evil.example/f"></iframe><p class=foot>{escape(ATTACKS[0], quote=False)}</p></body></html>"""


def write_hostile(folder: Path, huge: int = 0) -> Path:
    """The crawl, in `folder`; with `huge`, a page of so many paragraphs besides, one of which is very long."""
    place = folder / HOST
    place.mkdir(parents=True)
    for number, name in enumerate(NAMES):
        (place / name).write_text(page(number, name), encoding="utf-8")
    (place / "100%.html.meta.json").write_text(json.dumps({"url": f"https://{HOST}/a\"b<c>'d"}))
    with open(os.fsencode(place) + b"/caf\xe9.html", "wb") as stream:  # a name that is not UTF-8
        stream.write(page(20, "").encode())
    (place / "deep.html").write_text("<div>" * 5000 + "too deep" + "</div>" * 5000)
    if huge:
        many = "".join(f"<p>Paragraph {number} of the huge page says {number * number}.</p>" for number in range(huge))
        long = "<p>" + "A very long paragraph. " * 5000 + "</p>"
        (place / HUGE).write_text(
            page(30, HUGE).replace("</div><iframe", f"{long}{many}</div><iframe"), encoding="utf-8"
        )
    return folder
