"""trafilatura set to keep more (`favor_recall`)."""

from __future__ import annotations

from importlib.metadata import version as _installed

import trafilatura

NAME = "trafilatura, recall"
SETTINGS = "extract(html, favor_recall=True)"


def version() -> str:
    return _installed("trafilatura")


def extract(html: bytes, url: str | None, lang: str | None) -> str:
    return trafilatura.extract(html, url=url, favor_recall=True) or ""
