"""deboiler: what is left of a page when the subtrees it shares with another page of its site are gone."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib.metadata import version as _installed

from deboiler import Deboiler
from deboiler.dataset import ListDataset

from benchmarks.peers import PageInput

NAME = "deboiler"
SETTINGS = "fit and transform over all pages of the site, cleaned_text"


def version() -> str:
    return _installed("deboiler")


def extract(html: bytes, url: str | None, lang: str | None) -> str:
    (text,) = extract_site([(html, url, lang)])
    if text is None:
        raise ValueError("no result")
    return text


def extract_site(pages: Sequence[PageInput]) -> list[str | None]:
    logging.disable(logging.WARNING)  # every class has a logger with a handler of its own
    records = [
        {"url": url or f"https://site.invalid/{place:04}", "content": html}
        for place, (html, url, _) in enumerate(pages)
    ]
    dataset = ListDataset(records, status_key=None, content_type_key=None, verbose=False)
    model = Deboiler(operation_mode="performance", verbose=False)
    model.fit(dataset)
    found: dict[str, str] = {}
    for record in records:
        try:
            cleaned = model.transform_page(record["url"], dataset)
        except Exception:  # one page that it cannot clean leaves the others their results
            continue
        found[str(record["url"])] = cleaned.cleaned_text
    return [found.get(str(record["url"])) for record in records]
