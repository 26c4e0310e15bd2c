"""Sentinel pages: pages in which every block has words of its own, so that kept and leaked are exact.

Every case is one page, and a site of PAGES pages with the same chrome and appeals. Nothing here imports the extractor.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from corpora.sentinel import layouts, prose
from corpora.sentinel.page import Block, Page, Site
from corpora.sentinel.words import Source

__all__ = ["CASES", "PAGES", "SETS", "Block", "SentinelPage", "gold_line", "sentinel_pages", "write"]

PAGES = 6  #: of a site
SETS = ("single", "multi")
CASES = {**prose.CASES, **layouts.CASES}


@dataclass(frozen=True, slots=True)
class SentinelPage:
    """One page: `path` is `single/<case>.html`, or `multi/<case>/<number>.html`."""

    path: str
    set: str
    case: str
    html: str
    blocks: tuple[Block, ...]

    @property
    def gold(self) -> str:
        """What is to come out: the content, and the headlines, which count in no block. A refrain comes as often as it stands."""
        return "\n\n".join(block.text for block in self.blocks if block.content or block.name.startswith("head"))


def sentinel_pages(sets: tuple[str, ...] = SETS) -> Iterator[SentinelPage]:
    """The pages, case by case; the same ones on every machine."""
    for name in sets:
        for case in CASES:
            site = Site(case, Source(f"{name}/{case}"))
            for number in range(1 if name == "single" else PAGES):
                yield _page(name, case, site, number)


def _page(name: str, case: str, site: Site, number: int) -> SentinelPage:
    page = Page(site, number)
    html = page.document(CASES[case](page))
    path = f"{name}/{case}.html" if name == "single" else f"{name}/{case}/{number + 1}.html"
    return SentinelPage(path, name, case, html, tuple(page.blocks))


def gold_line(page: SentinelPage) -> str:
    """The page's line of gold, in the format that `templatediff eval` reads."""
    blocks = {
        block.name: {
            "name": block.name,
            "content": block.content,
            "needs_siblings": block.needs_siblings,
            "text": block.text,
            "tokens": block.tokens,
        }
        for block in page.blocks
    }
    record = {"path": page.path, "set": page.set, "text": page.gold, "blocks": list(blocks.values())}
    return json.dumps(record, ensure_ascii=False) + "\n"


def write(folder: Path, gold: Path) -> int:
    """Write the pages under `folder` and the gold as JSON lines into `gold`; how many pages there are."""
    lines = []
    for page in sentinel_pages():
        file = folder / page.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page.html, encoding="utf-8", newline="\n")
        lines.append(gold_line(page))
    gold.parent.mkdir(parents=True, exist_ok=True)
    unfinished = gold.with_name(gold.name + ".part")
    unfinished.write_text("".join(lines), encoding="utf-8", newline="\n")
    unfinished.replace(gold)
    return len(lines)
