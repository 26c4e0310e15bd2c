"""Fit templatediff/verdict.json: is a page empty, is it a listing, and the first look of `is_probably_content`.

    python benchmarks/fit_verdicts.py                 # after benchmarks/train.py: pages are judged by weights of other folds
    python benchmarks/fit_verdicts.py --sites 200     # with fewer real sites

Pages that are empty come from generated sites alone, of other seeds than benchmarks/verdicts.py has; pages that are not,
from these and from the real ones with gold text. Listings are the generated ones and those that a data set names so. On half
of all sites, generated and real, the pages that are not empty stand twice, at two addresses: a copy shows no emptiness.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # run as a script: the repository's root stands in for this folder
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

import numpy as np

import templatediff as td
from benchmarks import data
from benchmarks.measure import Plan, judged_by
from benchmarks.train import document
from benchmarks.verdicts import class_of, specs
from corpora.generator import KINDS, SCRIPTS, STYLES, SiteSpec, generate_pages, generate_shells
from corpora.generator.spec import COOKIE_BARS
from templatediff.errors import PageError
from templatediff.glance import NAMES as EARLY_NAMES
from templatediff.glance import columns, first_look
from templatediff.label import judged_leaves
from templatediff.options import Options
from templatediff.overall import ALONE_NAMES, NAMES, features
from templatediff.page import host_of
from templatediff.prepare import prepare
from templatediff.score import shipped
from templatediff.verdict import FORMAT, PATH

SEED, ROUNDS = 500_000, 5  #: of the first generated site; sites of each pair of script and markup
LISTED = frozenset(["listing", "list"])  #: page types of data sets that are listings
UNSURE = frozenset(["collection", "home", "service"])  #: and those that may be: no part of that fitting
MODELS = {"empty_alone": ALONE_NAMES, "empty": NAMES, "listing": ALONE_NAMES, "early": EARLY_NAMES}
BRIEF = 6  #: pages of a headline and a few sentences on a generated site: among siblings these are taken for empty most easily
PAGES, BESIDE = 3, 12  #: pages of a real site that are examples, and that they are learnt from
FOLDS = 5


@dataclass(frozen=True, slots=True)
class Example:
    """One page as one model sees it."""

    model: str
    site: str
    kind: str
    wanted: bool
    row: dict[str, float]


def fitted() -> list[SiteSpec]:
    """ROUNDS sites of each pair of script and markup that benchmarks/verdicts.py does not have, of one to three kinds of page."""
    measured = {(spec.script, spec.style) for spec in specs()}
    pairs = [pair for pair in itertools.product(SCRIPTS, STYLES) if pair not in measured]
    found = []
    for number, (script, style) in enumerate(pairs * ROUNDS):
        draw = random.Random(SEED + number)
        kinds = (*draw.sample([kind for kind in KINDS if kind != "listing"], draw.randint(1, 2)), "listing")
        length, cookie_bar = draw.choice((0.5, 1.0, 1.5)), draw.choice(COOKIE_BARS)
        found.append(
            SiteSpec(
                kinds=kinds, script=script, style=style, pages=6, seed=SEED + number, length=length, cookie_bar=cookie_bar,
                newsletter=draw.random() < 0.7, in_article_promo=draw.random() < 0.7,
            )
        )  # fmt: skip
    return found


def of_generated(spec: SiteSpec) -> list[Example]:
    """The examples of a generated site."""
    shells = list(generate_shells(spec))
    more = list(generate_shells(spec, ("brief",), BRIEF))[sum(page.kind == "brief" for page in shells) :]
    pages = [*generate_pages(spec), *shells, *more]
    given = [td.Page(page.html, url=page.url, fetched=page.fetched, path=page.path) for page in pages]
    classes = [class_of(page.kind) for page in pages]
    template = td.learn([*given, *_twice(given, [wanted != "empty" for wanted in classes], str(spec.seed))])
    found = []
    for number, (page, one, wanted) in enumerate(zip(pages, given, classes, strict=True)):
        of_page = _examples(one, template, f"generated {spec.seed}", page.kind, wanted == "empty", wanted == "listing")
        further = number >= len(pages) - len(more)  # beyond the shells that the other models see
        found += [example for example in of_page if example.model == "empty" or not further]
    return found


def of_real(site: tuple[str, str]) -> list[Example]:
    """The examples of a real site: PAGES of its pages with gold text, none of them empty, among BESIDE pages in all."""
    found = []
    pages = sorted(data.sites()[site], key=lambda page: data.seeded(0, page.key))
    golden = [page for page in pages if page.gold_path and page.gold().strip()][:PAGES]
    others = [page for page in pages if page not in golden][: BESIDE - len(golden)]
    with judged_by(site, Plan(out_of_fold=True)):
        given = {page.key: td.Page(page.html(), path=page.key) for page in golden + others}
        again = _twice(list(given.values()), [page in golden for page in golden + others], "/".join(site))
        template = td.learn([*given.values(), *again]) if len(given) > 1 else None
        for page in golden:
            listing = page.page_type in LISTED if page.page_type and page.page_type not in UNSURE else None
            found += _examples(given[page.key], template, "/".join(site), "real", False, listing)
    return found


def _twice(pages: Sequence[td.Page], full: Sequence[bool], site: str) -> list[td.Page]:
    """The pages that are not empty at a second address, on one site of two."""
    if random.Random(f"twice {site}").random() < 0.5:
        return []
    return [
        replace(page, url=page.url and f"{page.url}?view=print", path=f"print/{page.path}")
        for page, is_full in zip(pages, full, strict=True)
        if is_full
    ]


def _examples(
    page: td.Page, template: td.Template | None, site: str, kind: str, empty: bool, listing: bool | None
) -> list[Example]:
    found = []
    for name, known in (("empty_alone", None), ("empty", template)):
        if name == "empty" and template is None:
            continue
        try:
            leaves, made = prepare(page, known.options if known is not None else Options())
        except PageError:
            return []
        if not len(leaves):
            return []
        weights = known.weights if known is not None else shipped()
        context, p, copies = judged_leaves(made, known, weights)
        row = features(context, p, copies)
        found.append(Example(name, site, kind, empty, row))
        if listing is not None and not empty:
            found.append(Example("listing", site, kind, listing, row))
        if name == "empty_alone":
            home = host_of(page.url or leaves.head.canonical or leaves.head.og_url)
            found.append(Example("early", site, kind, empty, first_look(columns(leaves, home))))
    return found


def fit(examples: Sequence[Example], names: tuple[str, ...]) -> Any:
    """A small forest; real pages that are no listings or not empty weigh as they come. Deeper trees know the generated
    frames by their counts of leaves and headings, and call a few sentences in other frames empty."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    rows = np.array([[example.row[name] for name in names] for example in examples], np.float32)
    model = HistGradientBoostingClassifier(
        max_depth=4, max_iter=200, learning_rate=0.06, l2_regularization=3, max_features=0.4, min_samples_leaf=30,
        random_state=0,
    )  # fmt: skip
    return model.fit(rows, [example.wanted for example in examples])


def crossed(examples: Sequence[Example], names: tuple[str, ...]) -> np.ndarray[Any, Any]:
    """P of each example by a model that has not seen its site."""
    found = np.zeros(len(examples))
    fold = np.array([data.seeded(0, example.site)[0] % FOLDS for example in examples])
    for number in range(FOLDS):
        held = np.flatnonzero(fold == number)
        if len(held):
            model = fit([example for example, at in zip(examples, fold, strict=True) if at != number], names)
            rows = np.array([[examples[at].row[name] for name in names] for at in held], np.float32)
            found[held] = model.predict_proba(rows)[:, 1]
    return found


def told(examples: Sequence[Example], p: np.ndarray[Any, Any]) -> dict[str, dict[str, str]]:
    """For some thresholds, of each kind how many pages are said to be so: "listing 3 of 96"."""
    sizes = Counter(example.kind for example in examples)
    found = {}
    for least in (0.5, 0.8, 0.9, 0.95, 0.98):
        said = Counter(example.kind for example, one in zip(examples, p, strict=True) if one >= least)
        found[str(least)] = {kind: f"{said[kind]} of {sizes[kind]}" for kind in sorted(sizes) if said[kind]}
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", type=int, default=0, help="so many real sites, by seeded hash (default: all)")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    real = sorted(data.sites(gold=True), key=lambda site: data.seeded(0, *site))[: options.sites or None]
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        examples = [one for found in pool.imap(of_generated, fitted(), chunksize=2) for one in found]
        examples += [one for found in pool.imap(of_real, real, chunksize=4) for one in found]
    command = "python benchmarks/fit_verdicts.py" + (f" --sites {options.sites}" if options.sites else "")
    finish(examples, command)
    return 0


def finish(examples: Sequence[Example], command: str) -> None:
    """Fit every model, cross-validate it by site, and write verdict.json."""
    models: dict[str, Any] = {}
    figures: dict[str, Any] = {}
    for name, names in MODELS.items():
        chosen = [example for example in examples if example.model == name]
        figures[name] = told(chosen, crossed(chosen, names))
        print(name, json.dumps(figures[name], indent=1), flush=True)
        models[name] = document(fit(chosen, names), names)
    provenance = {
        "command": command,
        "corpus": data.corpus_hash(),
        "pages": len([example for example in examples if example.model == "early"]),
        "out_of_fold": figures,
    }
    text = json.dumps({"format": FORMAT, "provenance": provenance, "models": models}, sort_keys=True)
    unfinished = PATH.with_name(PATH.name + ".part")
    unfinished.write_text(text + "\n", encoding="utf-8")
    unfinished.replace(PATH)


if __name__ == "__main__":
    sys.exit(main())
