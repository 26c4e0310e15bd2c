"""turbohtml: the text of its article (main content); it decodes the bytes itself."""

from __future__ import annotations

from importlib.metadata import version as _installed

import turbohtml

NAME = "turbohtml"
SETTINGS = "parse(html).article().text"


def version() -> str:
    return _installed("turbohtml")


def extract(html: bytes, url: str | None, lang: str | None) -> str:
    return turbohtml.parse(html).article().text
