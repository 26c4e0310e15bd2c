"""Reading a crawl: folders, mirrors, files and archives to pages, one at a time, in byte order of `path`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from templatediff.crawl.bounds import SNIFF_BYTES
from templatediff.crawl.containers import is_member
from templatediff.crawl.listing import each_source, list_sources, only_source
from templatediff.crawl.lists import read_list
from templatediff.crawl.reading import read_source
from templatediff.crawl.sniffing import sniff
from templatediff.crawl.source import USUAL, Fields, Skipped, Source
from templatediff.page import Page

__all__ = [
    "SNIFF_BYTES",
    "USUAL",
    "Fields",
    "Skipped",
    "Source",
    "is_member",
    "list_sources",
    "only_source",
    "read_crawl",
    "read_list",
    "read_source",
    "sniff",
]


def read_crawl(
    paths: str | Path | Iterable[str | Path],
    *,
    fetched: object = None,
    ignore: Iterable[str | Path] = (),
    fields: Mapping[str, str] | None = None,
    carry: Iterable[str] = (),
    skipped: Counter[str] | None = None,
) -> Iterator[Page]:
    """Pages of folders, files and archives in byte order of `path`, members of an archive in stored order; each is read when
    it is asked for.

    fetched  when pages without a fetch time of their own were fetched
    ignore   files and folders that are never read
    fields   names of the fields of JSON lines: {"html": "raw", "url": "address", "fetched": "when"}, any of them
    carry    fields of a JSON line or sidecar that go into `Page.source`
    skipped  is counted up by kind for what is no page

    A page that cannot be read comes with its `failure`. Raises InputError at once if an input does not exist.
    """
    return _read_all(each_source(paths, fetched=fetched, ignore=ignore, fields=Fields.of(fields, carry)), skipped)


def _read_all(sources: Iterable[Source], skipped: Counter[str] | None) -> Iterator[Page]:
    for source in sources:
        found = read_source(source)
        if isinstance(found, Page):
            yield found
        elif skipped is not None:
            skipped[found.kind] += 1
