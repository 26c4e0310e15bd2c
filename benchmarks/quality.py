"""How right templatediff is on real pages, beside other extractors on the same pages with the same score.

    python benchmarks/quality.py [--sets A,B] [--min-pages 3] [--peers A,B|none] [--siblings 0,1,2,4,8,all]
                                 [--leaves-oracle] [--by set|type|site] [--json FILE] [--jobs 2] [--quick]
                                 [--out-of-fold]
    python benchmarks/quality.py --check
    python benchmarks/quality.py --update-baseline [--reason TEXT]

Prints Markdown for benchmarks/README.md. Exit status: 0 done; 1 a floor of baseline.json does not hold; 2
nothing could be measured.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import platform
import sys
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

if __package__ in (None, ""):  # run as a script: the repository's root stands in for this folder
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks import baseline, data, peers, tables
from benchmarks.measure import (
    ALL,
    ORACLE,
    Plan,
    Row,
    Site,
    label,
    measure_peer,
    measure_product,
)

#: The quick subset: sites a set, pages scored a site.
QUICK_SITES = 4
QUICK_PAGES = 4
#: Pages scored a site for the curve over numbers of siblings, where every page costs a template of its own.
CURVE_PAGES = 5
#: More pages never hurt: by how much the F1 of a set may fall nevertheless (noise of ties).
SLACK = 0.002


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parse(arguments)
    try:
        floors = baseline.read() if options.check else None
        rows, excluded, versions = _measure(options)
        ours = [row for row in rows if row.extractor.startswith("templatediff")]
        if ours and all(row.error for row in ours):
            raise data.DataMissing(f"templatediff failed on every page: {ours[0].error}")
        if floors or options.update_baseline:
            return _baseline(options, rows, floors)
    except (data.DataMissing, baseline.BaselineError, peers.PeerMissing) as problem:
        print(f"quality: {problem}", file=sys.stderr)
        return 2
    if options.json:
        _write_json(options, rows, versions)
    print(_report(options, rows, excluded, versions))
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Score templatediff and its peers on pages with gold text.")
    parser.add_argument("--sets", type=words, help="names of sets (default: all)")
    parser.add_argument("--min-pages", type=int, default=3, help="only sites with so many pages (default: 3)")
    parser.add_argument("--peers", type=words, help="peers, or none (default: all that are installed)")
    parser.add_argument("--siblings", type=counts, default=(0, ALL), help="such as 0,1,2,4,8,all (default: 0,all)")
    pages_help = f"pages scored a site, 0 for all (default: all, {CURVE_PAGES} with other --siblings than 0,all)"
    parser.add_argument("--pages", type=int, default=None, help=pages_help)
    parser.add_argument("--leaves-oracle", action="store_true", help="the best choice of leaves as well")
    parser.add_argument("--no-product", action="store_true", help="peers and oracle only")
    parser.add_argument("--out-of-fold", action="store_true", help="judge sites by weights fitted without them")
    parser.add_argument("--by", choices=tables.BY, default="set", help="what a line of the table is (default: set)")
    parser.add_argument("--measure", choices=tables.MEASURES, default="f1", help="default: f1 of score.py")
    parser.add_argument("--json", type=Path, help="write the score of every page and extractor to this file")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--seed", type=int, default=0, help="of the choice of siblings and pages")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_SITES} sites a set, {QUICK_PAGES} pages a site")
    parser.add_argument("--check", action="store_true", help="hold the quick subset against baseline.json")
    parser.add_argument("--update-baseline", action="store_true", help="write baseline.json from the quick subset")
    parser.add_argument("--reason", help="why a floor is lowered")
    options = parser.parse_args(arguments)
    if options.check or options.update_baseline:
        # Always the same measurement, whatever else was asked for: floors must compare.
        options.quick, options.peers, options.sets, options.min_pages = True, [], None, 3
        options.siblings, options.seed, options.no_product, options.leaves_oracle = (0, ALL), 0, False, False
        options.pages, options.out_of_fold = None, False
    return options


def words(text: str) -> list[str]:
    """The words of a list on the command line; none for `none`."""
    return [] if text == "none" else [word for word in text.split(",") if word]


def counts(text: str) -> tuple[int, ...]:
    """Numbers of siblings of a list on the command line."""
    try:
        found = [ALL if word == "all" else int(word) for word in text.split(",")]
    except ValueError:
        found = [-2]
    if min(found) < ALL:
        raise argparse.ArgumentTypeError(f"{text!r}: give numbers from 0 and all, such as 0,1,2,4,8,all")
    return tuple(dict.fromkeys(found))


def _measure(options: argparse.Namespace) -> tuple[list[Row], dict[str, frozenset[str]], dict[str, str]]:
    """Rows of everything asked for, per extractor the sets it was trained on, and versions in table order."""
    groups = data.sites(options.min_pages, options.sets, gold=True)
    if not groups:
        known = ", ".join(sorted({site[0] for site in data.sites(options.min_pages, gold=True)}))
        raise data.DataMissing(f"no page with gold text in the sets named: there are {known or 'none'}")
    sites = quick_subset(list(groups), options.seed) if options.quick else list(groups)
    pages = options.pages
    if pages is None:
        pages = QUICK_PAGES if options.quick else CURVE_PAGES if set(options.siblings) - {0, ALL} else 0
    plan = Plan(
        siblings=options.siblings,
        pages=pages,
        oracle=options.leaves_oracle,
        product=not options.no_product,
        out_of_fold=options.out_of_fold,
        seed=options.seed,
    )
    versions: dict[str, str] = {}
    rows: list[Row] = []
    titles: dict[str, str | None] = {}
    if plan.product or plan.oracle:
        rows, titles = measure_product(sites, plan, options.jobs, _Progress("sites"))
    if plan.product:
        versions = dict.fromkeys(map(label, plan.siblings), _version())
    excluded: dict[str, frozenset[str]] = {}
    scored = [page for site in sites for page in plan.scored(groups[site])]
    for name in peers.names() if options.peers is None else options.peers:
        try:
            peer = peers.load(name)
        except peers.PeerMissing as problem:
            if options.peers is not None:
                raise
            print(f"quality: left out: {problem}", file=sys.stderr)
            continue
        excluded[peer.name] = peer.trained_on
        versions[peer.name] = f"{peer.version}, {peer.settings}"
        rows.extend(measure_peer(peer, scored, titles))
    return rows, excluded, versions


def quick_subset(sites: list[Site], seed: int) -> list[Site]:
    """At most QUICK_SITES sites of each set, by seeded hash: the same ones as long as the corpus is the
    same."""
    chosen: list[Site] = []
    for name in dict.fromkeys(site[0] for site in sites):
        ranked = sorted((site for site in sites if site[0] == name), key=lambda site: data.seeded(seed, *site))
        chosen.extend(sorted(ranked[:QUICK_SITES]))
    return chosen


def _version() -> str:
    try:
        return version("templatediff")
    except PackageNotFoundError:  # run from the working copy
        from templatediff._version import __version__

        return __version__


class _Progress:
    """One line a minute on stderr."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._last = time.monotonic()

    def __call__(self, done: int, todo: int) -> None:
        if time.monotonic() - self._last > 60:
            self._last = time.monotonic()
            print(f"quality: {done} of {todo} {self._what}", file=sys.stderr, flush=True)


# --- reports -----------------------------------------------------------------------------------------------


def _report(
    options: argparse.Namespace,
    rows: list[Row],
    excluded: dict[str, frozenset[str]],
    versions: dict[str, str],
) -> str:
    names = [*versions, *([ORACLE] if options.leaves_oracle else [])]
    parts = [tables.table(rows, options.by, names, excluded, options.measure)]
    ours = label(ALL) if ALL in options.siblings else label(max(options.siblings))
    rivals = [name for name in versions if name in excluded and not excluded[name]]
    if not options.no_product and rivals and options.by != "site":
        parts.append(tables.comparison(rows, options.by, ours, rivals, options.measure))
    if not options.no_product and {0, ALL} <= set(options.siblings):
        hurt = _more_pages_hurt(rows, options.measure)
        parts.append(f"Sets of {tables.LARGE} sites or more where all siblings give less than none: {hurt}.")
    failed = tables.failures(rows)
    if failed:
        parts.append(f"Pages on which an extractor failed (scored as empty text):\n\n{failed}")
    parts.append(_provenance(options, versions))
    return "\n\n".join(parts)


def _more_pages_hurt(rows: list[Row], measure: str) -> str:
    found = tables.cells(rows, tables.BY["set"], tables.MEASURES[measure])
    hurt = [
        f"{name} ({means[label(0)].value:.3f} to {means[label(ALL)].value:.3f})"
        for name, means in found.items()
        if {label(0), label(ALL)} <= set(means)
        and means[label(ALL)].sites >= tables.LARGE
        and means[label(ALL)].value < means[label(0)].value - SLACK
    ]
    return ", ".join(hurt) or "none"


def _provenance(options: argparse.Namespace, versions: dict[str, str]) -> str:
    lines = [f"- {name}: {text}" for name, text in versions.items()]
    command = f"min-pages {options.min_pages}, pages a site {options.pages or 'default'}, seed {options.seed}"
    python = f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}"
    if not options.no_product:
        weights = (
            "fitted without the fold of each site" if options.out_of_fold else "as shipped: they have seen these pages"
        )
        lines.append(f"- weights: {weights}")
    lines.append(f"- corpus {data.corpus_hash()}; {command}; {python}")
    return "\n".join(lines)


def _write_json(options: argparse.Namespace, rows: list[Row], versions: dict[str, str]) -> None:
    content = {
        "corpus": data.corpus_hash(),
        "versions": versions,
        "options": {name: str(value) for name, value in sorted(vars(options).items())},
        "rows": [dataclasses.asdict(row) for row in rows],
    }
    unfinished = options.json.with_name(options.json.name + ".part")
    unfinished.write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")
    unfinished.replace(options.json)


def _baseline(options: argparse.Namespace, rows: list[Row], floors: baseline.Baseline | None) -> int:
    found = tables.cells(rows, tables.BY["set"], tables.MEASURES["f1"])
    measured = {
        name: {group: means[name].value for group, means in found.items() if name in means}
        for name in (label(0), label(ALL))
    }
    if floors is None:
        old = baseline.read() if baseline.PATH.exists() else None
        baseline.write(baseline.update(old, data.corpus_hash(), measured, options.reason))
        print(f"wrote {baseline.PATH.name}: {sum(map(len, measured.values()))} floors")
        return 0
    faults = baseline.check(floors, data.corpus_hash(), measured)
    print("\n".join(faults) or "every floor of baseline.json holds")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
