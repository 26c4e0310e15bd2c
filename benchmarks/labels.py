"""Are P and confidence what they say, and what does each step after the score change?

    python benchmarks/labels.py [--sets A,B] [--siblings 0,1,2,4,8,all] [--pages 5] [--out-of-fold] [--jobs 2]

For each number of siblings: the expected calibration error of P(content) over leaves, weighted by tokens, in BINS bins
of equal mass; a reliability table; page confidence (the expected F1) beside the F1 measured; and for each step of
`templatediff.label`, guard by guard, the pages whose choice of leaves it changes, with the F1 with and without it; and
by set how often the gold has the page's headline and how often it was kept. Leaf truth is the best choice of leaves
(`benchmarks.align`); pages whose gold no choice of leaves comes near (F1 below LEAST) are left out of the calibration
of leaves, since there is no truth to hold P against. Prints Markdown for benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

if __package__ in (None, ""):  # run as a script: the repository's root stands in for this folder
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks import data
from benchmarks.align import align
from benchmarks.measure import ALL, Plan, Site, each, label, weights_for
from benchmarks.quality import counts, words
from benchmarks.scoring import Gold

BINS = 10
LEAST = 0.6
SAME = 0.0005  #: F1 that differs by less is the same

Arrays = dict[str, Any]


@dataclass(slots=True)
class Judged:
    """One number of siblings: leaves as (P, tokens, truth), pages as (confidence, F1), per step what it changed, and
    per set for each page's headline whether (the gold has it, it was kept)."""

    p: list[Any] = field(default_factory=list)
    tokens: list[Any] = field(default_factory=list)
    truth: list[Any] = field(default_factory=list)
    pages: list[tuple[float, float]] = field(default_factory=list)
    steps: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    headlines: dict[str, list[tuple[bool, bool]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, other: Judged) -> None:
        self.p += other.p
        self.tokens += other.tokens
        self.truth += other.truth
        self.pages += other.pages
        for name, found in other.steps.items():
            self.steps[name] += found
        for name, pairs in other.headlines.items():
            self.headlines[name] += pairs


def _left_alone(context: Any, p: Any, *_: Any) -> Any:
    return p


def _apart(context: Any, p: Any, *_: Any) -> tuple[Any, Any]:
    return p, np.arange(len(p))


def _without_guard(reason: str) -> Callable[..., Any]:
    """`guarded` without the one guard whose words begin so; where another one decides, that one stays."""
    from templatediff.choose import guarded

    def others(context: Any, p: Any, kept: Any) -> Any:
        wider, why = guarded(context, p, kept)
        return (kept, None) if why is not None and why.startswith(reason) else (wider, why)

    return others


def _by_tokens(context: Any, *_: Any) -> Any:
    return np.maximum(context.page.token_count, 0.1)


def _not_headed(page: Any, unit: Any) -> Any:
    return unit


def _no_copies(page: Any, p: Any, kept: Any) -> Any:
    return np.zeros(len(kept), bool)


def _not_retold(page: Any, p: Any, kept: Any) -> Any:
    return np.zeros(len(kept)), np.zeros(len(kept))


#: Steps of `templatediff.label` and what stands in for each where it is left out.
STEPS: dict[str, tuple[str, Callable[..., Any]]] = {
    "repetition decides by itself": ("label._settled", _left_alone),
    "rows, code, terms and short lines together": ("label.together", _apart),
    "guard: a label stays beside a value that changes": ("units._weights", _by_tokens),
    "guard: column labels stay with the row below": ("units._headed", _not_headed),
    "guard: never empty": ("label.guarded", _without_guard("nothing stood out")),
    "guard: less than a quarter of what is new": ("label.guarded", _without_guard("less than a quarter")),
    "second copies dropped": ("label.copied", _no_copies),
    "told again in one piece": ("label.retold", _not_retold),
}


def judge_site(site: Site, plan: Plan) -> dict[int, Judged]:
    """number of siblings -> what was found on a site's pages."""
    from templatediff.errors import PageError
    from templatediff.options import Options
    from templatediff.prepare import as_page, prepare

    group = data.sites()[site]
    made = {}
    for page in group:
        try:
            made[page.key] = prepare(as_page(page.html()), Options())
        except PageError:
            continue
    found: dict[int, Judged] = {}
    weights = weights_for(site, plan)
    for count in plan.siblings:
        judged = found.setdefault(count, Judged())
        for page in plan.scored(group):
            if page.key not in made:
                continue
            leaves, seen = made[page.key]
            given = data.choose_siblings(page, group, len(group) if count == ALL else count, plan.seed)
            if count > 0 and len(given) < count:
                continue  # else a row would hold pages with fewer siblings than it says
            prints = [made[other.key][1] for other in (page, *given) if other.key in made]
            template = _template(site, prints, weights) if len(prints) > 1 else None
            _judge_page(judged, page, leaves.text, seen, template, weights)
    return found


def _template(site: Site, prints: Sequence[Any], weights: Any) -> Any:
    from templatediff.lessons import teach
    from templatediff.options import Options
    from templatediff.profile import SiteProfile
    from templatediff.remember import cap
    from templatediff.sample import take
    from templatediff.template import of_profile

    options = Options()
    profile = SiteProfile("/".join(site), options)
    for one in prints:
        profile.add(cap(one))
    return of_profile(profile, teach(take(profile), weights, options.ngram_order), weights)


def _judge_page(
    judged: Judged, page: data.DevPage, texts: Sequence[str], seen: Any, template: Any, weights: Any
) -> None:
    from templatediff import label as labels_of
    from templatediff.verdict import EMPTY

    gold_text = page.gold()
    gold = Gold(gold_text)

    def f1(kept: Any) -> float:
        return gold.score("\n\n".join(itertools.compress(texts, kept.tolist()))).f1

    labels = labels_of.label(seen, template, weights)
    truth = align(texts, gold_text)
    score = f1(labels.kept)
    if truth.f1 >= LEAST:
        judged.p.append(labels.p)
        judged.tokens.append(seen.token_count)
        judged.truth.append(np.array(truth.oracle, bool))
        headline = labels.context.main_heading if labels.context.n else -1
        if headline >= 0 and labels.context.title_share[headline] >= 0.5:
            judged.headlines[page.set].append((truth.oracle[headline], bool(labels.kept[headline])))
    if labels.verdict != EMPTY:
        judged.pages.append((labels.confidence, score))
    for name, (function, instead) in STEPS.items():
        with ExitStack() as stack:
            stack.enter_context(patch(f"templatediff.{function}", instead))
            without = labels_of.label(seen, template, weights)
        if (without.kept != labels.kept).any():
            judged.steps[name].append(score - f1(without.kept))


def bins(p: Any, weight: Any, truth: Any, count: int = BINS) -> list[tuple[float, float, float]]:
    """(mean P, share that is so, share of the weight) in bins of equal weight, lowest P first."""
    order = np.argsort(p, kind="stable")
    mass = np.cumsum(weight[order])
    place = np.minimum((mass - weight[order] / 2) * count // mass[-1], count - 1).astype(int)
    rows = []
    for number in range(count):
        inside = order[place == number]
        total = float(weight[inside].sum())
        if total:
            mean = float((p[inside] * weight[inside]).sum()) / total
            rows.append((mean, float((truth[inside] * weight[inside]).sum()) / total, total / float(mass[-1])))
    return rows


def calibration_error(rows: Sequence[tuple[float, float, float]]) -> float:
    """Expected calibration error of such bins.

    >>> round(calibration_error([(0.1, 0.2, 0.5), (0.9, 0.9, 0.5)]), 3)
    0.05
    """
    return sum(abs(mean - share) * weight for mean, share, weight in rows)


def report(found: dict[int, Judged]) -> str:
    """The tables."""
    return "\n\n".join([*_of_leaves(found), *_of_pages(found), *_of_steps(found), *_of_headlines(found)])


def _of_leaves(found: dict[int, Judged]) -> Iterator[str]:
    head = (
        "| siblings | pages | leaves | calibration error | P, then share that is content, in ten bins of equal mass |"
    )
    lines = [head, "|---|---:|---:|---:|---|"]
    for count, judged in found.items():
        if not judged.p:
            continue
        p, tokens = np.concatenate(judged.p), np.concatenate(judged.tokens).astype(float)
        rows = bins(p, tokens, np.concatenate(judged.truth).astype(float))
        cells = " ".join(f"{mean:.2f}/{share:.2f}" for mean, share, _ in rows)
        lines.append(f"| {_name(count)} | {len(judged.p)} | {len(p):,} | {calibration_error(rows):.3f} | {cells} |")
    yield "\n".join(lines)


def _of_pages(found: dict[int, Judged]) -> Iterator[str]:
    head = "| siblings | pages | mean confidence | mean F1 | error | confidence, then F1, in ten bins of equal size |"
    lines = [head, "|---|---:|---:|---:|---:|---|"]
    for count, judged in found.items():
        if not judged.pages:
            continue
        confidence, score = np.array(judged.pages).T
        rows = bins(confidence, np.ones(len(score)), score)
        cells = " ".join(f"{mean:.2f}/{share:.2f}" for mean, share, _ in rows)
        lines.append(
            f"| {_name(count)} | {len(score)} | {confidence.mean():.3f} | {score.mean():.3f} | "
            f"{calibration_error(rows):.3f} | {cells} |"
        )
    yield "\n".join(lines)


def _of_steps(found: dict[int, Judged]) -> Iterator[str]:
    head = "| step | siblings | pages that it changes | better | worse | mean change of F1 on them | over all pages |"
    lines = [head, "|---|---|---:|---:|---:|---:|---:|"]
    for name in STEPS:
        for count, judged in found.items():
            gains = judged.steps.get(name, [])
            better, worse = sum(gain > SAME for gain in gains), sum(gain < -SAME for gain in gains)
            mean = sum(gains) / len(gains) if gains else 0.0
            every = sum(gains) / max(len(judged.pages), 1)
            lines.append(
                f"| {name} | {_name(count)} | {len(gains)} | {better} | {worse} | {mean:+.3f} | {every:+.4f} |"
            )
    yield "\n".join(lines)


def _of_headlines(found: dict[int, Judged]) -> Iterator[str]:
    most = list(found.values())[-1].headlines
    lines = ["| set | pages with a headline | in the gold | kept |", "|---|---:|---:|---:|"]
    for name, pairs in sorted(most.items()):
        shares = np.mean(pairs, axis=0)
        lines.append(f"| {name} | {len(pairs)} | {shares[0]:.0%} | {shares[1]:.0%} |")
    yield "\n".join(lines)


def _name(count: int) -> str:
    return label(count).partition("=")[2]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=words, help="names of sets (default: all)")
    parser.add_argument("--siblings", type=counts, default=(0, 1, 2, 4, 8, ALL))
    parser.add_argument("--pages", type=int, default=5, help="pages scored a site, 0 for all (default: 5)")
    parser.add_argument("--out-of-fold", action="store_true", help="judge sites by weights fitted without them")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(arguments)
    plan = Plan(options.siblings, options.pages, out_of_fold=options.out_of_fold)
    try:
        sites = list(data.sites(1, options.sets, gold=True))
        done = dict(each(partial(judge_site, plan=plan), sites, options.jobs))
    except data.DataMissing as problem:
        print(f"labels: {problem}", file=sys.stderr)
        return 2
    found = {count: Judged() for count in plan.siblings}
    for site in sites:
        for count, judged in done[site].items():
            found[count].add(judged)
    print(report(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
