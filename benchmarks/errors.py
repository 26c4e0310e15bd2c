"""Where the remaining error sits: pages by kind of error, from the scores that quality.py writes.

    python benchmarks/quality.py --out-of-fold --peers none --siblings all --json scores.json
    python benchmarks/errors.py scores.json                          # the table, and the worst pages of each kind
    python benchmarks/errors.py scores.json --extractor trafilatura --worst 20

Kinds: `nothing` came out, or nothing right; content is `lost` (recall below BOUND, precision not); chrome is `kept` (precision
below it, recall not); `both`; and `little` for all pages above BOUND in both. A kind's loss is what its pages lack to an F1
of 1, as a share of what all pages of the set lack.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

BOUND = 0.8
KINDS = ("nothing", "lost", "kept", "both", "little")


def kind_of(precision: float, recall: float, f1: float) -> str:
    """The kind of error of a page.

    >>> kind_of(1.0, 0.5, 0.67), kind_of(0.5, 1.0, 0.67), kind_of(0.0, 0.0, 0.0), kind_of(0.9, 0.9, 0.9)
    ('lost', 'kept', 'nothing', 'little')
    """
    if not f1:
        return "nothing"
    low = (precision < BOUND, recall < BOUND)
    return {(False, False): "little", (False, True): "lost", (True, False): "kept", (True, True): "both"}[low]


def table(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Of each set its pages, mean F1, and of each kind the share of the loss and (in brackets) of the pages."""
    yield "| set | pages | F1 | " + " | ".join(KINDS) + " |"
    yield "|---|---:|---:|" + "---:|" * len(KINDS)
    by_set: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_set[row["set"]].append(row)
    for name, members in [*sorted(by_set.items()), ("all", list(rows))]:
        loss = sum(1 - row["f1"] for row in members) or 1.0
        cells = []
        for kind in KINDS:
            chosen = [row for row in members if kind_of(row["precision"], row["recall"], row["f1"]) == kind]
            share = sum(1 - row["f1"] for row in chosen) / loss
            cells.append(f"{share:.0%} ({len(chosen) / len(members):.0%})")
        mean = sum(row["f1"] for row in members) / len(members)
        yield f"| {name} | {len(members)} | {mean:.3f} | " + " | ".join(cells) + " |"


def worst(rows: Sequence[dict[str, Any]], count: int) -> Iterator[str]:
    """The pages of each kind with the lowest F1, at most one a site."""
    for kind in KINDS[:-1]:
        seen: set[tuple[str, str]] = set()
        told = []
        for row in sorted(rows, key=lambda row: (row["f1"], row["page"])):
            if kind_of(row["precision"], row["recall"], row["f1"]) == kind and (row["set"], row["site"]) not in seen:
                seen.add((row["set"], row["site"]))
                told.append(f"`{row['page']}` ({row['f1']:.2f})")
        yield f"- **{kind}**, {len(seen)} sites: {', '.join(told[:count]) or 'none'}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scores", type=Path)
    parser.add_argument("--extractor", default="templatediff n=all")
    parser.add_argument("--worst", type=int, default=8, help="pages named of each kind (default: 8)")
    given = parser.parse_args(arguments)
    found = json.loads(given.scores.read_text(encoding="utf-8"))["rows"]
    rows = [row for row in found if row["extractor"] == given.extractor]
    if not rows:
        names = ", ".join(sorted({row["extractor"] for row in found}))
        print(f"errors: no scores of {given.extractor} in {given.scores}: there are {names}", file=sys.stderr)
        return 2
    print("\n".join([*table(rows), "", *worst(rows, given.worst)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
