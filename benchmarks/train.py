"""Fit the shipped weights from the labelled pages, siblings withheld at random.

    python benchmarks/train.py                  # templatediff/weights.json, and the folds' weights into the cache folder
    python benchmarks/train.py --report FILE    # out-of-fold F1 by set and number of siblings, as JSON

Each site is cut at random into groups of 1, 2, 3, 5, 9, 17 and all of its pages; in each group every page is looked at
with the others as its siblings, so that one set of weights serves none, few and many. Two forests of boosted trees are
fitted: the first on a leaf's evidence, the second on that and on the first's judgement of the leaf's neighbourhood and
of the same places on the siblings, where "judgement" is always that of a forest fitted without the leaf's site. P is a mean of
both in log odds, divided by the temperature at which it says the truth about sites that were not fitted on.
Parts of ids and classes get log odds of their own from the sites that are fitted on. Some generated sites stand beside
the real ones, so that scripts and markup that the real ones lack are known too (`benchmarks/generated.py` measures
others, of other seeds).
Folds are by registrable site. The same data, code and library versions give the same file, byte for byte.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import align, data
from templatediff import evidence, fingerprint, hashes, lessons, remember, sample
from templatediff.decode import decode
from templatediff.errors import PageError
from templatediff.fingerprint import Fingerprint, Ints
from templatediff.options import Options
from templatediff.profile import SiteProfile
from templatediff.score import FORMAT, forest, probability
from templatediff.segment import segment

OPTIONS = Options()
FOLDS = 4
SIZES = (1, 2, 3, 5, 9, 17)
GENERATED = "generated"
GENERATED_SHARE = 0.08  # of the weight of all that is fitted on
BODIES = ("news", "forum", "listing", "product", "docs")  # kinds of generated sites, in every markup and script
NAMED_BY = 15  # sites that use a part of a name before it counts
LEAST_ORACLE = 0.6  # pages whose gold no choice of leaves comes near are left out of the fitting
TREES, LEAVES, DEPTH, RATE = 130, 31, 8, 0.1
SECOND_SHARE = 0.5  # of the second forest in the mean of both
TEMPERATURES = tuple(round(1 + step / 20, 2) for step in range(-4, 21))
JUDGED_PAGES = 5  # of a site, that the temperature is fitted on
SETTINGS = {"max_iter": TREES, "max_leaf_nodes": LEAVES, "max_depth": DEPTH, "learning_rate": RATE,
            "l2_regularization": 5.0, "min_samples_leaf": 40, "max_features": 0.35}  # fmt: skip


@dataclass(slots=True)
class Look:
    """One page seen with some siblings. `truth`: does each leaf belong to the gold; `first`: P of a forest of other folds."""

    site: tuple[str, str]
    page: str
    size: int
    group: int
    rows: Ints
    named: Ints | None = None
    further: Ints | None = None
    first: Ints | None = None  # log odds
    second: Ints | None = None


@dataclass(slots=True)
class Site:
    """A site's fingerprints, which leaves are content, and the looks at its pages."""

    name: tuple[str, str]
    fold: int
    prints: dict[str, Fingerprint] = field(default_factory=dict)
    gold: dict[str, Ints] = field(default_factory=dict)  # shingles
    parts: dict[str, tuple[float, float]] = field(default_factory=dict)  # part of a name -> (content, all) tokens
    truth: dict[str, tuple[Ints, float]] = field(default_factory=dict)
    looks: list[Look] = field(default_factory=list)


def gather(job: tuple[tuple[str, str], tuple[data.DevPage, ...], int]) -> Site:
    """Read a site, align its leaves with the gold, and look at its pages with siblings withheld."""
    name, pages, fold = job
    site = Site(name, fold)
    for key, raw, gold in _generated(name) if name[0] == GENERATED else ((p.key, p.html(), p.gold()) for p in pages):
        try:
            leaves = segment(decode(raw).text, OPTIONS)
        except PageError:
            continue
        if not len(leaves):
            continue
        made = fingerprint.fingerprint(leaves, OPTIONS, content_hash=hashes.bytes_hash(raw))
        made = remember.cap(made)
        site.prints[key] = made
        if gold:
            found = align.align(leaves.text, gold)
            site.truth[key] = np.array(found.oracle[: len(made)]), found.f1
            site.gold[key] = _shingles(hashes.token_hashes(gold))
            _count_names(made, site.truth[key][0], site.parts)
    if site.truth:
        for size, group, members in _groups(site):
            taken = _sample(site, members) if size > 1 else None
            for key in members:
                page = taken.as_seen(site.prints[key]) if taken is not None else site.prints[key]
                views = taken.views(page) if taken is not None else (None, None, None)
                context = evidence.Context(page, views[0], views[1])
                site.looks.append(Look(name, key, size, group, evidence.plain_rows(context)))
    return site


def _generated(name: tuple[str, str]) -> Iterator[tuple[str, bytes, str]]:
    """(key, HTML, gold) of the pages of a generated site named "kind markup script seed"."""
    from corpora.generator import SiteSpec, generate_pages

    kind, style, script, seed = name[1].split()
    draw = random.Random(name[1])
    others = tuple(other for other in BODIES if other != kind)
    spec = SiteSpec(
        kinds=(kind,) if draw.random() < 0.7 else (kind, *draw.sample(others, 2)),
        style=style,
        script=script,
        pages=8,
        seed=int(seed),
        optional_share=draw.choice((0.3, 0.6, 0.9)),
        cookie_bar=draw.choice(("first", "last", "none")),
        in_article_promo=draw.random() < 0.7,
        newsletter=draw.random() < 0.7,
        length=draw.choice((0.5, 1.0, 1.5)),
    )
    for page in generate_pages(spec):
        yield f"{name[0]}/{name[1]}/{page.path}", page.html.encode(), page.gold


def generated_sites() -> list[tuple[tuple[str, str], tuple[()], int]]:
    """Jobs for `gather`: each body in each markup and each script, with seeds of their own."""
    from corpora.generator import SCRIPTS, STYLES

    return [
        (
            (GENERATED, f"{kind} {style} {script} {7000 + (number * len(STYLES) + row) * len(SCRIPTS) + place}"),
            (),
            (number + row + place) % FOLDS,
        )
        for number, kind in enumerate(BODIES)
        for row, style in enumerate(STYLES)
        for place, script in enumerate(SCRIPTS)
    ]


def _count_names(page: Fingerprint, truth: Ints, parts: dict[str, tuple[float, float]]) -> None:
    """Add a page's tokens, as shares of 1, under each part of the names around them."""
    tokens = page.token_count / max(int(page.token_count.sum()), 1)
    content = tokens * truth
    inside: list[frozenset[str]] = []
    own = [evidence.name_parts(step) for step in page.steps]
    for step, above in zip(page.step.tolist(), page.parent.tolist(), strict=True):
        inside.append(own[step] | (inside[above] if above >= 0 else frozenset()))
    for row, good, every in zip(page.row.tolist(), content.tolist(), tokens.tolist(), strict=True):
        for part in inside[row]:
            had = parts.get(part, (0.0, 0.0))
            parts[part] = (had[0] + good, had[1] + every)


def name_table(sites: Sequence[Site]) -> dict[str, float]:
    """Log odds of content inside a container named with a part, over sites of equal weight; parts of NAMED_BY sites or more.

    The odds are those beyond the odds of any text, with two sites' worth of it as prior.
    """
    totals: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    base = [0.0, 0.0]
    for site in sites:
        if site.name[0] == GENERATED:
            continue
        pages = max(len(site.truth), 1)
        for part, (good, every) in site.parts.items():
            place = totals[part]
            place[0] += good / pages
            place[1] += every / pages
            place[2] += 1
        base[0] += (
            sum(
                float((site.prints[key].token_count * truth).sum()) / max(int(site.prints[key].token_count.sum()), 1)
                for key, (truth, _) in site.truth.items()
            )
            / pages
        )
        base[1] += 1
    mean = base[0] / max(base[1], 1)
    found = {}
    for part in sorted(totals):
        good, every, count = totals[part]
        if count >= NAMED_BY:
            share = (good + 0.5 * mean) / (every + 0.5)
            share = min(max(share, 0.002), 0.998)
            found[part] = round(float(np.log(share / (1 - share)) - np.log(mean / (1 - mean))), 3)
    return found


def _name_looks(sites: Sequence[Site], table: dict[str, float]) -> None:
    for site in sites:
        found: dict[str, Ints] = {}
        for look in site.looks:
            if look.page not in found:
                found[look.page] = evidence.name_rows(evidence.Context(site.prints[look.page], None, None), table)
            look.named = found[look.page]


def _groups(site: Site) -> Iterator[tuple[int, int, list[str]]]:
    """(size, number, page keys) of the groups that hold a page with gold."""
    keys = sorted(site.prints)
    for size in sorted({size for size in SIZES if size < len(keys)} | {len(keys)}):
        order = list(keys)
        random.Random(f"{site.name}{size}").shuffle(order)
        groups = [order[start : start + size] for start in range(0, len(order), size)]
        if len(groups) > 1 and len(groups[-1]) < size:
            groups[-1] = groups[-1] + [key for key in order if key not in groups[-1]][: size - len(groups[-1])]
        for number, members in enumerate(groups):
            if any(key in site.truth for key in members):
                yield size, number, [key for key in members if size > 1 or key in site.truth]


def _sample(site: Site, members: Sequence[str]) -> sample.Sample:
    profile = SiteProfile(site.name[1], OPTIONS)
    for key in members:
        profile.add(site.prints[key])
    return sample.take(profile)


def look_further(site: Site) -> list[Ints]:
    """The second forest's further columns for each look, from the first judgements of its group."""
    found: list[Ints] = []
    groups: dict[tuple[int, int], list[Look]] = defaultdict(list)
    for look in site.looks:
        groups[look.size, look.group].append(look)
    taught: dict[tuple[int, int], sample.Sample] = {}
    for place, looks in groups.items():
        if place[0] > 1:
            taken = _sample(site, [look.page for look in looks])
            judged = {site.prints[look.page].key: probability(look.first) for look in looks if look.first is not None}
            told = [lessons.judged_sums(page, judged[page.key]) for page in taken.leaders]
            taught[place] = lessons.with_lessons(taken, told)
    for look in site.looks:
        page = site.prints[look.page]
        views: tuple[Any, Any, Any] = (None, None, None)
        if look.size > 1:
            page = taught[look.size, look.group].as_seen(page)
            views = taught[look.size, look.group].views(page)
        context = evidence.Context(page, views[0], views[1])
        assert look.first is not None
        found.append(lessons.further_rows(context, probability(look.first), views[0], views[1]))
    return found


def _weights(page: Fingerprint, pages: int) -> Ints:
    """Each page counts about alike, long leaves more than short ones, and a site of many pages less a page."""
    weight = np.sqrt(page.token_count.astype(float)) + 0.3
    return np.asarray(weight * 100.0 / (weight.sum() + 20.0) / np.sqrt(pages))


def _drawn(sites: Sequence[Site]) -> Iterator[tuple[Site, Look]]:
    """The looks that are fitted on: every page of a few alone, and a part of the looks with siblings."""
    for site in sites:
        draw = random.Random(f"fit{site.name}")
        pages = len(site.prints)
        for look in site.looks:
            alone = min(1.0, 8.0 / pages)
            share = alone if look.size == 1 else min(1.0, 5.0 / pages) * (0.3 if pages > 2 else 1.0)
            if draw.random() < share and look.page in site.truth and site.truth[look.page][1] >= LEAST_ORACLE:
                yield site, look


def _balance(drawn: Sequence[tuple[Site, Look]]) -> dict[str, float]:
    """A factor for each set: large sets count less a page, small ones more; generated sites are GENERATED_SHARE of all."""
    totals: dict[str, float] = defaultdict(float)
    for site, look in drawn:
        totals[site.name[0]] += float(_weights(site.prints[look.page], len(site.prints)).sum())
    real = [value for name, value in totals.items() if name != GENERATED]
    middle = float(np.median(real)) if real else 1.0
    found = {name: float(np.clip((middle / value) ** 0.5, 0.4, 2.5)) for name, value in totals.items()}
    if GENERATED in totals and real:
        weight = sum(totals[name] * found[name] for name in totals if name != GENERATED)
        found[GENERATED] = GENERATED_SHARE * weight / totals[GENERATED]
    return found


def fit(sites: Sequence[Site], second: bool, note: str) -> dict[str, Any]:
    """Boosted trees over a random part of these sites' looks, in the form of weights.json; by one thread, since several are
    fitted side by side."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits  # sees only libraries that are loaded: after scikit-learn

    rows, truth, weight = [], [], []
    drawn = list(_drawn(sites))
    balance = _balance(drawn)
    for site, look in drawn:
        rows.append(_columns(look, second))
        truth.append(site.truth[look.page][0])
        weight.append(_weights(site.prints[look.page], len(site.prints)) * balance[site.name[0]])
    start = time.monotonic()
    matrix, names = _that_differ(np.concatenate(rows), evidence.NAMES + lessons.NAMES if second else evidence.NAMES)
    model = HistGradientBoostingClassifier(early_stopping=False, random_state=0, **SETTINGS)
    with threadpool_limits(1):
        model.fit(matrix, np.concatenate(truth), sample_weight=np.concatenate(weight))
    print(f"{note}: {matrix.shape[0]:,} leaves, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    return document(model, names)


def _that_differ(matrix: Ints, names: tuple[str, ...]) -> tuple[Ints, tuple[str, ...]]:
    """The columns that have two values or more: of few sites some have none, which scikit-learn does not take."""
    differ = np.fmin.reduce(matrix, axis=0) < np.fmax.reduce(matrix, axis=0)
    if differ.all():
        return matrix, names
    return matrix[:, differ], tuple(name for name, stays in zip(names, differ.tolist(), strict=True) if stays)


def document(model: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """A fitted model in the form of weights.json, figures rounded to what predictions need."""
    trees = []
    for (predictor,) in model._predictors:
        nodes = predictor.nodes
        leaf = nodes["is_leaf"].astype(bool)
        trees.append(
            {
                "feature": np.where(leaf, -1, nodes["feature_idx"]).tolist(),
                "threshold": [
                    0.0 if end else float(f"{value:.6g}")
                    for value, end in zip(nodes["num_threshold"], leaf, strict=True)
                ],
                "left": np.where(leaf, 0, nodes["left"]).tolist(),
                "right": np.where(leaf, 0, nodes["right"]).tolist(),
                "missing_left": nodes["missing_go_to_left"].astype(int).tolist(),
                "value": [
                    float(f"{value:.5g}") if end else 0.0 for value, end in zip(nodes["value"], leaf, strict=True)
                ],
            }
        )
    return {
        "columns": list(names),
        "baseline": float(f"{model._baseline_prediction.item():.6g}"),
        "trees": trees,
    }


def _columns(look: Look, second: bool) -> Ints:
    assert look.named is not None
    parts = [look.rows, look.named]
    if second:
        assert look.further is not None
        parts.append(look.further)
    return np.hstack(parts)


# The sites, for the processes that fit: they are forked, so that nothing is copied until it is written to.
_sites: list[Site] = []


def gather_all(processes: int, limit: int | None = None) -> None:
    """Fill `_sites`: all real and generated sites with gold, or so many of them, drawn at random."""
    jobs: list[tuple[tuple[str, str], tuple[data.DevPage, ...], int]] = [
        (name, pages, data.fold_of(name, folds=FOLDS))
        for name, pages in sorted(data.sites(min_pages=1).items(), key=lambda item: (-len(item[1]), item[0]))
    ]
    jobs += generated_sites()
    if limit:
        jobs = random.Random(0).sample(jobs, limit)
    with get_context("fork").Pool(processes) as pool:
        _sites.extend(site for site in pool.imap(gather, jobs) if site.looks)


def _fit_fold(job: tuple[int, bool]) -> tuple[dict[str, float], dict[str, Any], list[Ints]]:
    """(table of names, forest) fitted without a fold, and the forest's log odds for that fold's looks, in order.

    For fold -1 nothing is left out, and nothing is judged.
    """
    fold, second = job
    others = [site for site in _sites if site.fold != fold]
    table = name_table(others)
    _name_looks(_sites, table)
    made = fit(others, second, f"{'second' if second else 'first'}, without fold {fold}")
    judge = forest(made)
    judged = [judge.raw(_columns(look, second)) for site in _sites if site.fold == fold for look in site.looks]
    return table, made, judged


def _fit_all(jobs: Sequence[tuple[int, bool]], processes: int) -> list[tuple[dict[str, float], dict[str, Any]]]:
    """Fit several forests side by side; every look gets the log odds of the forest that has not seen its site."""
    found = []
    with get_context("fork").Pool(processes) as pool:
        for (fold, second), (table, made, judged) in zip(jobs, pool.imap(_fit_fold, jobs), strict=True):
            looks = [look for site in _sites if site.fold == fold for look in site.looks]
            for look, value in zip(looks, judged, strict=fold >= 0):
                if second:
                    look.second = value
                else:
                    look.first = value
            found.append((table, made))
    return found


def mixed(first: Ints, second: Ints, temperature: float = 1.0) -> Ints:
    """P of leaves from the log odds of both forests."""
    return probability(((1 - SECOND_SHARE) * first + SECOND_SHARE * second) / temperature)


def best_temperature(sites: Sequence[Site]) -> float:
    """That of TEMPERATURES whose P has the least log loss, weighted by tokens, over a few real pages of each site alone and
    with all siblings, judged by forests that have not seen the site."""
    loss = dict.fromkeys(TEMPERATURES, 0.0)
    for site in sites:
        judged = sorted(key for key, (_, oracle) in site.truth.items() if oracle >= LEAST_ORACLE)[:JUDGED_PAGES]
        for look in site.looks:
            if site.name[0] == GENERATED or look.page not in judged or look.size not in (1, len(site.prints)):
                continue
            assert look.first is not None and look.second is not None
            truth, tokens = site.truth[look.page][0], site.prints[look.page].token_count
            weight = tokens / max(int(tokens.sum()), 1)
            for temperature in TEMPERATURES:
                p = np.clip(mixed(look.first, look.second, temperature), 1e-4, 1 - 1e-4)
                loss[temperature] -= float((weight * np.log(np.where(truth, p, 1 - p))).sum())
    return min(loss, key=lambda temperature: (loss[temperature], temperature))


def figures(sites: Sequence[Site], temperature: float) -> dict[str, dict[str, float]]:
    """Out-of-fold F1 of 4-token shingles by set and siblings given; with all siblings also of each forest alone, and of
    the best choice of leaves.

    Leaves are kept from .45 on, without the decoding and guards that `templatediff.label` adds.
    """
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for site in sites:
        for look in site.looks:
            if look.page not in site.truth or look.first is None or look.second is None:
                continue
            page, gold = site.prints[look.page], site.gold[look.page]
            place = scores[site.name[0]]
            every = look.size == len(site.prints)
            many = "3+ pages" if len(site.prints) >= 3 else "1-2 pages"
            if every or look.size in (1, 2, 3, 5, 9):
                value = _f1(gold, page, mixed(look.first, look.second, temperature) >= 0.45)
                place[f"{many}, {'all' if every else look.size - 1} siblings"].append(value)
            if every:
                place[f"{many}, all siblings, first forest"].append(_f1(gold, page, probability(look.first) >= 0.45))
                place[f"{many}, all siblings, second forest"].append(_f1(gold, page, probability(look.second) >= 0.45))
                place[f"{many}, best choice of leaves"].append(_f1(gold, page, site.truth[look.page][0]))
    return {
        name: {how: round(float(np.mean(values)), 4) for how, values in sorted(place.items())}
        for name, place in sorted(scores.items())
    }


def _shingles(hashes: Ints) -> Ints:
    long = hashes.astype(np.uint64)
    count = len(long) - 3
    if count <= 0:
        return long.sum(keepdims=True) if len(long) else long
    mixed = long[:count].copy()
    for shift in (1, 2, 3):
        mixed = mixed * np.uint64(0x9E3779B97F4A7C15) + long[shift : shift + count]
    return mixed


def _f1(gold: Ints, page: Fingerprint, kept: Ints) -> float:
    got = _shingles(page.token_hash[np.repeat(kept, page.token_count)] & np.uint32(0xFFFFFFFE))
    if not len(gold) or not len(got):
        return float(len(gold) == len(got))
    wanted, wanted_counts = np.unique(gold, return_counts=True)
    found, found_counts = np.unique(got, return_counts=True)
    place = np.minimum(np.searchsorted(wanted, found), len(wanted) - 1)
    same = wanted[place] == found
    hits = int(np.minimum(wanted_counts[place[same]], found_counts[same]).sum())
    return 2 * hits / (len(gold) + len(got))


def write(
    file: Path,
    names: dict[str, float],
    first: dict[str, Any],
    second: dict[str, Any],
    temperature: float,
    provenance: dict[str, Any],
) -> None:
    """weights.json: one line a tree, so that it can be read and compared."""
    parts = [
        '{\n"format": ' + str(FORMAT),
        '"provenance": ' + json.dumps(provenance, indent=1, sort_keys=True),
        f'"second_share": {SECOND_SHARE},\n"temperature": {temperature}',
        '"names": ' + json.dumps(names, sort_keys=True),
    ]
    for name, made in (("first", first), ("second", second)):
        trees = ",\n".join(json.dumps(tree, separators=(",", ":")) for tree in made["trees"])
        head = json.dumps({key: made[key] for key in ("baseline", "columns")}, sort_keys=True)
        parts.append(f'"{name}": {head[:-1]}, "trees": [\n{trees}\n]}}')
    file.write_text(",\n".join(parts) + "\n}\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=data.ROOT / "templatediff" / "weights.json")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--report", type=Path, help="write the out-of-fold figures here")
    parser.add_argument("--limit", type=int, help="only so many sites, for a trial: the folds' weights are not kept")
    arguments = parser.parse_args()
    start = time.monotonic()
    gather_all(arguments.jobs, arguments.limit)
    sites = _sites
    print(f"gathered {len(sites)} sites in {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    folds = range(FOLDS)
    first = _fit_all([(fold, False) for fold in folds], arguments.jobs)
    with get_context("fork").Pool(arguments.jobs) as pool:
        for site, found in zip(sites, pool.imap(look_further, sites), strict=True):
            for look, further in zip(site.looks, found, strict=True):
                look.further = further
    second = _fit_all([(fold, True) for fold in folds], arguments.jobs)
    temperature = best_temperature(sites)
    report = figures(sites, temperature)
    provenance = {
        "command": "python benchmarks/train.py",
        "corpus": data.corpus_hash(),
        "sites": len(sites),
        "pages": sum(len(site.truth) for site in sites),
        "folds": FOLDS,
        "settings": SETTINGS,
        "out_of_fold_f1": report,
    }
    for fold in () if arguments.limit else folds:
        known = {**provenance, "without_fold": fold}
        write(weights_of_fold(fold), first[fold][0], first[fold][1], second[fold][1], temperature, known)
    (table, whole_first), (_, whole_second) = _fit_all([(-1, False), (-1, True)], arguments.jobs)
    write(arguments.out, table, whole_first, whole_second, temperature, provenance)
    text = json.dumps(report, indent=1, sort_keys=True)
    print(text)
    if arguments.report:
        arguments.report.write_text(text + "\n", encoding="utf-8")
    print(f"{time.monotonic() - start:.0f} s", file=sys.stderr)
    return 0


def weights_of_fold(fold: int) -> Path:
    """Where the weights fitted without a fold lie: `quality.py --out-of-fold` judges that fold's sites with them."""
    return data.cache_folder() / f"weights-{data.corpus_hash()}-{fold}.json"


if __name__ == "__main__":
    sys.exit(main())
