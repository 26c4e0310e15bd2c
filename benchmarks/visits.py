"""How many leaves of real pages come by each node of the shipped forests: `templatediff/visits.json`.

    python benchmarks/visits.py

An explanation tells what each answer in a tree changed, and for that what was expected before it (`score.Forest.means`).
Up to PAGES pages of each site are looked at, once alone and once beside up to SIBLINGS others of their site. No label
depends on the counts; they are of one weights.json, and to be counted anew when that is fitted anew (until then
explanations weigh both answers alike).
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import data
from templatediff.errors import PageError
from templatediff.fingerprint import Ints
from templatediff.label import label
from templatediff.lessons import forest_rows
from templatediff.options import Options
from templatediff.page import Page
from templatediff.pipeline import derive
from templatediff.prepare import prepare
from templatediff.profile import SiteProfile
from templatediff.score import shipped

PAGES, SIBLINGS = 3, 12
TARGET = Path(__file__).resolve().parent.parent / "templatediff" / "visits.json"


def visits(pages: tuple[data.DevPage, ...]) -> tuple[Ints, Ints]:
    """Visits of the nodes of both forests by the leaves of a site's pages."""
    weights, options = shipped(), Options()
    profile = SiteProfile("site", options)
    prints = []
    for page in pages[:SIBLINGS]:
        try:
            prints.append(prepare(Page(page.html(), path=page.key), options)[1])
        except PageError:
            continue
        profile.add(prints[-1])
    found = [np.zeros(len(each.left), np.int64) for each in (weights.first, weights.second)]
    templates = [None, derive(profile)] if len(prints) > 1 else [None]
    for made in prints[:PAGES]:
        for template in templates:
            labels = label(made, template, weights)
            if not labels.context.n:
                continue
            both = forest_rows(labels.context, labels.site, labels.layout_view, weights)
            for total, forest, rows in zip(found, (weights.first, weights.second), both, strict=True):
                total += forest.visits(rows)
    return found[0], found[1]


def main() -> int:
    groups = [tuple(group) for group in data.sites().values()]
    weights = shipped()
    totals = [np.zeros(len(each.left), np.int64) for each in (weights.first, weights.second)]
    with ProcessPoolExecutor(2) as pool:
        for one in pool.map(visits, groups, chunksize=8):
            for total, found in zip(totals, one, strict=True):
                total += found
    document = {
        "first": totals[0].tolist(),
        "leaves": int(totals[0][weights.first.root[0]]),
        "pages": data.corpus_hash(),
        "second": totals[1].tolist(),
        "weights": weights.digest,
    }
    TARGET.write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{document['leaves']:,} leaves of {len(groups):,} sites")
    return 0


if __name__ == "__main__":
    sys.exit(main())
