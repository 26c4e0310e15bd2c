"""What leaks and what is lost on generated sites, whose truth is exact.

    python benchmarks/generated.py                          # ten kinds in eight scripts, 12 pages each
    python benchmarks/generated.py --scripts latin,thai --seed 7 --roles

Every figure is a share of tokens: content kept, and template, in-article promos and dynamic boilerplate leaked.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import templatediff as td
from corpora.generator import KINDS, SCRIPTS, SiteSpec, generate_site, score_blocks


def measure(job: tuple[str, str, int, int]) -> tuple[str, str, dict[str, Any]]:
    """(kind, script, scores) of one site: learned on all of its pages, applied to each."""
    kind, script, pages, seed = job
    site = generate_site(SiteSpec(kinds=(kind,), script=script, pages=pages, seed=seed))
    given = [td.Page(page.html, url=page.url, fetched=page.fetched, path=page.path) for page in site.pages]
    template = td.learn(given, site=site.name)
    outputs = {page.path or "": template.extract(page).text for page in given}
    return kind, script, score_blocks(site, outputs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--scripts", default=",".join(SCRIPTS))
    parser.add_argument("--pages", type=int, default=12)
    parser.add_argument("--seed", type=int, default=101)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--roles", action="store_true", help="also by role of block, over all sites")
    arguments = parser.parse_args()
    kinds, scripts = arguments.kinds.split(","), arguments.scripts.split(",")
    jobs = [(kind, script, arguments.pages, arguments.seed) for kind in kinds for script in scripts]
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with get_context("spawn").Pool(arguments.jobs) as pool:
        for kind, _, scores in pool.imap(measure, jobs):
            found[kind].append(scores)
    print("| kind | content kept | least, of a script | template leaked | promos leaked | dynamic leaked |")
    print("|---|---:|---:|---:|---:|---:|")
    for kind in kinds:
        scores = found[kind]
        kept = [score["content"]["recall"] for score in scores]
        leaked = {name: _pooled(scores, name) for name in ("template", "promo", "dynamic")}
        cells = [f"{sum(kept) / len(kept):.4f}", f"{min(kept):.4f}", *(f"{leaked[part]:.4f}" for part in leaked)]
        print(f"| {kind} | " + " | ".join(cells) + " |")
    if arguments.roles:
        _print_roles([score for scores in found.values() for score in scores])
    return 0


def _pooled(scores: list[dict[str, Any]], kind: str) -> float:
    tokens = sum(score["leaked"][kind]["tokens"] for score in scores)
    return sum(score["leaked"][kind]["leaked"] for score in scores) / max(tokens, 1)


def _print_roles(scores: list[dict[str, Any]]) -> None:
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for score in scores:
        for role, row in score["roles"].items():
            totals[role][0] += row["tokens"]
            totals[role][1] += row["leaked"]
    print("\n| block | tokens | in the output |\n|---|---:|---:|")
    for role, (tokens, kept) in sorted(totals.items()):
        print(f"| {role} | {tokens:,} | {kept / max(tokens, 1):.4f} |")


if __name__ == "__main__":
    sys.exit(main())
