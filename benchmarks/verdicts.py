"""Verdicts on pages whose class is known: content, listing, empty; and on the real pages, none of whose text may be lost.

    python benchmarks/verdicts.py                     # confusion matrices on generated sites, alone and among siblings
    python benchmarks/verdicts.py --real --jobs 2     # besides, the real pages with gold text that are called empty
    python benchmarks/verdicts.py --cost              # what `is_probably_content` costs beside `extract`, on real pages
    python benchmarks/verdicts.py --list              # every page that is judged wrongly, with the reason given

Sites have seeds and pairs of script and markup that verdict.json was not fitted on; content is nine kinds of page and two of
little text (`brief`, `note`), listings are two (one with teasers, one of links), empty pages are frames without content, script
shells, consent walls, error pages.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

if __package__ in (None, ""):  # run as a script: the repository's root stands in for this folder
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

import templatediff as td
from benchmarks import data
from corpora.generator import EMPTY_SHELLS, KINDS, SCRIPTS, STYLES, SiteSpec, generate_pages, generate_shells

CLASSES = ("content", "listing", "empty")
VERDICTS = (*CLASSES, "error")
SEED = 910_000  #: far from the seeds of training
ALONE, AMONG = "alone", "among siblings"


@dataclass(frozen=True, slots=True)
class Judged:
    """One page: its class, the kind of page it is, and what was said of it."""

    path: str
    kind: str
    wanted: str
    found: str
    reason: str | None
    probably: bool  #: the answer of `is_probably_content`


def class_of(kind: str) -> str:
    """The class of a kind of generated page."""
    return "empty" if kind in EMPTY_SHELLS else "listing" if kind in ("listing", "index") else "content"


def specs(seed: int = SEED) -> list[SiteSpec]:
    """Sixteen sites: each script twice, each kind of content in a markup that is not its own."""
    content = [kind for kind in KINDS if kind != "listing"]
    found = []
    for number in range(2 * len(SCRIPTS)):
        kinds = (content[number % len(content)], content[(number + 4) % len(content)], "listing")
        style = STYLES[(number + number // len(STYLES)) % len(STYLES)]
        found.append(
            SiteSpec(kinds=kinds, script=SCRIPTS[number % len(SCRIPTS)], style=style, pages=9, seed=seed + number)
        )
    return found


def judged(spec: SiteSpec) -> dict[str, list[Judged]]:
    """The pages of one site by what they were judged with: alone, and among all pages of the site."""
    pages = [*generate_pages(spec), *generate_shells(spec)]
    given = [td.Page(page.html, url=page.url, fetched=page.fetched, path=page.path) for page in pages]
    template = td.learn(given)
    found: dict[str, list[Judged]] = {ALONE: [], AMONG: []}
    for page, one in zip(pages, given, strict=True):
        for name, made in ((ALONE, td.extract(one)), (AMONG, template.extract(one))):
            probably = td.is_probably_content(one)
            path = f"{spec.seed} {spec.script} {spec.style}: {page.path}"
            found[name].append(Judged(path, page.kind, class_of(page.kind), made.verdict, made.reason, probably))
    return found


def f1(rows: Sequence[Judged], name: str) -> float:
    """F1 of one class."""
    hits = sum(row.wanted == row.found == name for row in rows)
    total = sum(row.wanted == name for row in rows) + sum(row.found == name for row in rows)
    return 2 * hits / total if total else 1.0


def matrix(rows: Sequence[Judged]) -> str:
    """A Markdown table: a line a kind of page, its pages by verdict; then F1 by class."""
    counts = Counter((row.wanted, row.kind, row.found) for row in rows)
    lines = ["| is | page | pages | " + " | ".join(VERDICTS) + " |", "|---|---|" + "---:|" * (len(VERDICTS) + 1)]
    for wanted in CLASSES:
        for kind in dict.fromkeys(row.kind for row in rows if row.wanted == wanted):
            cells = [counts[wanted, kind, verdict] for verdict in VERDICTS]
            lines.append(
                f"| {wanted} | {kind} | {sum(cells)} | " + " | ".join(str(cell or "") for cell in cells) + " |"
            )
    scores = ", ".join(f"{name} {f1(rows, name):.3f}" for name in CLASSES)
    return "\n".join([*lines, "", f"F1: {scores}."])


def wrong(rows: Iterable[Judged]) -> Iterator[str]:
    """The pages that were judged wrongly."""
    for row in rows:
        if row.found != row.wanted:
            yield f"- {row.path} ({row.kind}): {row.found}, {row.reason or 'no reason given'}"


def told(rows: Sequence[Judged]) -> str:
    """What `is_probably_content` says beside the verdicts of the same pages."""
    said = {name: [row.probably for row in rows if row.found == name] for name in CLASSES}
    counts = [
        f"{answers.count(False)} of {len(answers)} pages whose verdict is {name}" for name, answers in said.items()
    ]
    return f"`is_probably_content` says no to {', '.join(counts)}."


# --- real pages --------------------------------------------------------------------------------------------


def emptied(site: tuple[str, str]) -> list[tuple[str, str, int, str | None]]:
    """(mode, page, gold words, reason) of a site's pages that have gold text and are called empty, and of those to
    which the pre-check says no."""
    group = [page for page in data.sites()[site] if page.gold_path]
    found = []
    pages = [td.Page(page.html(), path=page.key) for page in data.sites()[site]]
    template = td.learn(pages) if len(pages) > 1 else None
    for page in group:
        words = len(page.gold().split())
        if words and not td.is_probably_content(page.html()):
            found.append(("pre-check", page.key, words, "is_probably_content says no"))
        for mode, made in ((ALONE, td.extract(page.html())), (AMONG, template and template.extract(page.html()))):
            if made and words and made.verdict in ("empty", "error"):
                found.append((mode, page.key, words, made.reason))
    return found


def real(jobs: int) -> Iterator[str]:
    """Every real page with gold text that is called empty, and how many pages were asked."""
    todo = list(data.sites(gold=True))
    pages = sum(page.gold_path is not None for site in todo for page in data.sites()[site])
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        rows = [row for found in pool.imap(emptied, todo, chunksize=8) for row in found]
    yield f"{pages:,} real pages with gold text; called empty or error, or no by the pre-check: {len(rows)}."
    for mode, key, words, reason in sorted(rows):
        yield f"- {mode}: {key}, {words} words of gold: {reason}"


def cost(every: int = 25) -> str:
    """CPU time of the pre-check as a share of that of `extract`, on the same real pages in the same run."""
    pages = [page.html() for page in data.pages()[::every]]
    spent = []
    for call in (td.extract, td.is_probably_content):
        call(pages[0])
        begun = time.process_time()
        for html in pages:
            call(html)
        spent.append(time.process_time() - begun)
    return f"`is_probably_content` costs {spent[1] / spent[0]:.2f} of `extract` ({len(pages)} real pages, CPU time)."


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=SEED, help="of the first site")
    parser.add_argument("--real", action="store_true", help="the real pages as well")
    parser.add_argument("--cost", action="store_true", help="what the pre-check costs, on real pages")
    parser.add_argument("--list", action="store_true", help="every page that is judged wrongly")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(arguments)
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        sites = pool.map(judged, specs(options.seed), chunksize=1)
    for name in (ALONE, AMONG):
        rows = [row for site in sites for row in site[name]]
        print(f"Judged {name}:\n\n{matrix(rows)}\n")
        print(f"{told(rows)}\n")
        if options.list:
            print("\n".join(wrong(rows)) + "\n")
    if options.cost:
        print(f"{cost()}\n")
    if options.real:
        print("\n".join(real(options.jobs)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
