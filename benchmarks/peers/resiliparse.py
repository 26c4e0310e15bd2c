"""resiliparse: main content as plain text. It decodes with its own detection."""

from __future__ import annotations

from importlib.metadata import version as _installed

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import bytes_to_str, detect_encoding

NAME = "resiliparse"
SETTINGS = "extract_plain_text(main_content=True, alt_texts=False)"


def version() -> str:
    return _installed("resiliparse")


def extract(html: bytes, url: str | None, lang: str | None) -> str:
    text = bytes_to_str(html, detect_encoding(html, from_html_meta=True) or "utf-8")
    return str(extract_plain_text(text, main_content=True, alt_texts=False))
