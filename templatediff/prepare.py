"""What a caller has -> a page, its leaves and its fingerprint."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from templatediff.crawl import Skipped, only_source, read_source
from templatediff.decode import decode
from templatediff.errors import UsageError
from templatediff.fingerprint import Fingerprint, fingerprint
from templatediff.hashes import bytes_hash
from templatediff.html import Head
from templatediff.leaves import Leaves
from templatediff.limits import DEFAULT, Limits
from templatediff.options import Options
from templatediff.page import Failure, Page, fetched_text, host_of, html_bytes, normal_url
from templatediff.segment import segment
from templatediff.text import valid

_WHITE_SPACE = re.compile(r"\s")
_PATH_LIKE = re.compile(r"[/\\]|^\w+:|\.x?html?$", re.I)


def as_page(given: Page | str | bytes | Path, url: str | None = None, limits: Limits = DEFAULT) -> Page:
    """A Page from what a caller has. A short str without "<" that looks like a path or URL raises UsageError."""
    if isinstance(given, Page):
        return replace(given, url=url) if url is not None else given
    if isinstance(given, Path):
        if given.is_dir():
            raise UsageError(f"{given} is a folder: extract_crawl reads crawls, a page is one file")
        found = read_source(only_source(given), limits.max_bytes)
        if isinstance(found, Skipped):
            found = Page(b"", path=found.path, failure=Failure("not-html", f"looks like {found.kind}, not like HTML"))
        return replace(found, url=url) if url is not None else found
    if isinstance(given, bytes):
        return Page(given, url=url)
    if type(given).__module__.partition(".")[0] == "selectolax":
        raise UsageError(
            f"a parsed tree ({type(given).__name__}) is not taken, since parsing on would alter it: give the page's HTML, "
            "as str or bytes"
        )
    if not isinstance(given, str):
        raise UsageError(f"a page is HTML as str or bytes, a Path or a Page, not {type(given).__name__}")
    if "<" not in given and len(given) < 1024 and "\n" not in given.strip():
        text = given.strip()
        if text and not _WHITE_SPACE.search(text) and _PATH_LIKE.search(text):
            raise UsageError(f"{text!r} looks like a path or URL, not like HTML: give a Path, or the page's own text")
    return Page(given, url=url)


def page_text(page: Page) -> str:
    """The HTML of a page as text."""
    return valid(page.html) if isinstance(page.html, str) else decode(page.html, page.charset).text


def prepare(
    page: Page, options: Options, text: str | None = None, limits: Limits = DEFAULT
) -> tuple[Leaves, Fingerprint]:
    """The leaves and the fingerprint of a page. Raises PageError, MemoryError."""
    if text is None:
        text = page_text(page)
    leaves = segment(text, options, rich=options.markup == "keep", limits=limits)
    key_url = normal_url(page.url)
    made = fingerprint(
        leaves, options, content_hash=bytes_hash(html_bytes(page)), key_url=key_url, url=key_url, fetched=fetched_text(page)
    )  # fmt: skip
    return leaves, made


def named_host(head: Head) -> str | None:
    """The host that a page names as its own, None where it names none."""
    return host_of(head.canonical) or host_of(head.og_url)
