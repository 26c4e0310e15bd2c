"""readability-lxml: its summary turned into text. Headlines are no part of the summary."""

from __future__ import annotations

import logging
from importlib.metadata import version as _installed

from readability import Document

from benchmarks.peers._text import html_to_text

NAME = "readability-lxml"
SETTINGS = "Document(html).summary(html_partial=True)"

# It logs a traceback for every page that it cannot parse; the run counts those pages.
logging.getLogger("readability").setLevel(logging.CRITICAL)


def version() -> str:
    return _installed("readability-lxml")


def extract(html: bytes, url: str | None, lang: str | None) -> str:
    return html_to_text(Document(html).summary(html_partial=True))
