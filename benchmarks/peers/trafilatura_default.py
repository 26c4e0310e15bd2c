"""trafilatura with its default settings (it decodes the bytes itself)."""

from __future__ import annotations

from importlib.metadata import version as _installed

import trafilatura

NAME = "trafilatura"
SETTINGS = "extract(html) with defaults"


def version() -> str:
    return _installed("trafilatura")


def extract(html: bytes, url: str | None, lang: str | None) -> str:
    return trafilatura.extract(html, url=url) or ""
