"""ChromeRAG with a model of each site's repeated chrome, learnt from all pages of the site (five or more).

Its filter was trained on the development part of WCXB, so its figures there do not count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.metadata import version as _installed

from chromerag import learn_then_extract
from chromerag.batch import BatchPage
from chromerag.textio import decode_html

from benchmarks.peers import PageInput

NAME = "ChromeRAG, site model"
SETTINGS = "learn_then_extract(pages of the site), Markdown turned into text"
TRAINED_ON = ("wcxb",)

_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.S)
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def version() -> str:
    return _installed("chromerag")


def extract(html: bytes, url: str | None, lang: str | None) -> str:
    (text,) = extract_site([(html, url, lang)])
    if text is None:
        raise ValueError("no result")
    return text


def extract_site(pages: Sequence[PageInput]) -> list[str | None]:
    # Pages without a URL get one of a common site: its models are kept by host and first path segment.
    named = [
        BatchPage(decode_html(html), url or f"https://site.invalid/pages/{place}", str(place))
        for place, (html, url, _) in enumerate(pages)
    ]
    found, _ = learn_then_extract(named)
    return [_plain(result.result.markdown) if result.result else None for result in found]


def _plain(markdown: str) -> str:
    text = _FRONT_MATTER.sub("", markdown)
    return _LINK.sub(r"\1", _IMAGE.sub("", text))
