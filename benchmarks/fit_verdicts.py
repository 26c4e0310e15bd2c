"""Fit templatediff/verdict.json: is a page empty, is it a listing, and the first look of `is_probably_content`.

    python benchmarks/fit_verdicts.py                 # after benchmarks/train.py: pages are judged by weights of other folds
    python benchmarks/fit_verdicts.py --sites 200     # with fewer real sites

Pages that are empty come from generated sites, of other seeds than benchmarks/verdicts.py has, and from real ones whose content
is taken out (`benchmarks.frames`); pages that are not, from these, from real ones that are cut to a few sentences, and from the
real ones with gold text. Listings are the generated ones and those that a data set names so. On half of all sites, generated
and real, every page stands twice, at two addresses: a copy says nothing of either.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # run as a script: the repository's root stands in for this folder
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

import numpy as np

import templatediff as td
from benchmarks import data, frames
from benchmarks.align import align
from benchmarks.measure import Plan, judged_by, weights_for
from benchmarks.train import document
from benchmarks.verdicts import class_of, specs
from corpora.generator import KINDS, SCRIPTS, STYLES, SiteSpec, generate_pages, generate_shells
from corpora.generator.spec import COOKIE_BARS
from templatediff.errors import PageError
from templatediff.fingerprint import Fingerprint, fingerprint
from templatediff.glance import NAMES as EARLY_NAMES
from templatediff.glance import columns, first_look
from templatediff.hashes import bytes_hash, rank_of
from templatediff.label import judged_leaves
from templatediff.leaves import Leaves
from templatediff.options import Options
from templatediff.overall import ALONE_NAMES, NAMES, features
from templatediff.page import host_of
from templatediff.pipeline import derive
from templatediff.prepare import prepare
from templatediff.profile import SiteProfile
from templatediff.score import Weights, shipped
from templatediff.verdict import FORMAT, PATH

SEED, ROUNDS = 500_000, 5  #: of the first generated site; sites of each pair of script and markup
LISTED = frozenset(["listing", "list"])  #: page types of data sets that are listings
UNSURE = frozenset(["collection", "home", "service"])  #: and those that may be: no part of that fitting
MODELS = {"empty_alone": ALONE_NAMES, "empty": NAMES, "listing": ALONE_NAMES, "early": EARLY_NAMES}
BRIEF = 6  #: pages of a headline and a few sentences on a generated site: among siblings these are taken for empty most easily
PAGES, BESIDE = 3, 12  #: pages of a real site that are examples, and that they are learnt from
FOLDS = 5
#: by kind of page; real pages that were emptied count less, since chrome may be left in what is taken for their frame
WEIGHTS = {
    "real": 3, "real, brief": 3, "real, variant": 3, "brief": 5, "note": 3, "chrome": 3, "error": 4, "consent": 2,
    "real, nothing": 0.4, "real, error": 0.4,
}  # fmt: skip
#: what so many pages of a real site are changed to; of error pages and variants a site has two, which say the same, since what
#: one page alone says is content, however short
ROLES = {
    1: ((frames.BRIEF,), (frames.NOTHING,)),
    2: ((frames.BRIEF, frames.BRIEF), (frames.VARIANT, frames.VARIANT), (frames.ERROR, frames.ERROR)),
    3: (
        (frames.BRIEF, frames.BRIEF, frames.NOTHING), (frames.BRIEF, frames.ERROR, frames.ERROR),
        (frames.NOTHING, frames.ERROR, frames.ERROR), (frames.BRIEF, frames.VARIANT, frames.VARIANT),
        (frames.VARIANT, frames.VARIANT, frames.NOTHING),
    ),
}  # fmt: skip


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
    template = td.learn([*given, *_twice(given, str(spec.seed))])
    found = []
    for number, (page, one, wanted) in enumerate(zip(pages, given, classes, strict=True)):
        made = _prepared(one)
        if made is None:
            continue
        of_page = Seen(f"generated {spec.seed}", page.kind, wanted == "empty", wanted == "listing", shipped())
        further = number >= len(pages) - len(more)  # beyond the shells that the other models see
        found += [
            one for one in of_page.examples(*made, template, page.url) if one.model == "empty" or not further
        ]  # fmt: skip
    return found


def of_real(site: tuple[str, str]) -> list[Example]:
    """The examples of a real site: PAGES of its pages with gold text, none of them empty, among BESIDE pages in all; then others
    of it changed."""
    found = []
    pages = sorted(data.sites()[site], key=lambda page: data.seeded(0, page.key))
    golden = [page for page in pages if page.gold_path and page.gold().strip()][:PAGES]
    others = [page for page in pages if page not in golden][: BESIDE - len(golden)]
    plan = Plan(out_of_fold=True)
    with judged_by(site, plan):
        weights = weights_for(site, plan)
        given = {page.key: td.Page(page.html(), path=page.key) for page in golden + others}
        again = _twice(list(given.values()), "/".join(site))
        template = td.learn([*given.values(), *again]) if len(given) > 1 else None
        for page in golden:
            listing = page.page_type in LISTED if page.page_type and page.page_type not in UNSURE else None
            of_page = Seen("/".join(site), "real", False, listing, weights)
            if (made := _prepared(given[page.key])) is not None:
                found += of_page.examples(*made, template)
        return found + list(_of_changed(site, golden, pages, weights))


def _of_changed(
    site: tuple[str, str], golden: Sequence[data.DevPage], pages: Sequence[data.DevPage], weights: Weights
) -> Iterator[Example]:
    """The examples of pages of a real site that are changed (`frames`): PAGES of them, but no more than half of the site, in
    ROLES, among others as they are; the only page of a site in every role."""
    name, options = "/".join(site), Options()
    draw = random.Random(f"frames {name}")
    whole: dict[str, Fingerprint] = {}
    changeable = []
    for page in dict.fromkeys([*golden, *pages[:BESIDE]]):
        prepared = _prepared(td.Page(page.html(), path=page.key))
        if prepared is None or not len(prepared[0]):
            continue
        before = prepared[0]
        p = judged_leaves(prepared[1], None, weights)[1]
        gold = page.gold() if page in golden else None
        content = frames.content_of(p, align(before.text, gold).share if gold is not None else None)
        leaves = frames.thinned(before, content, name)
        print_ = prepared[1] if leaves is before else fingerprint(leaves, options, content_hash=_number(page.key))
        whole[page.key] = print_
        if gold is not None and len(leaves):
            context, p, _ = judged_leaves(print_, None, weights)
            in_gold = align(leaves.text, gold).share
            if (one := frames.frame(leaves, context, frames.content_of(p, in_gold), in_gold)) is not None:
                changeable.append((page, one))
    changing = changeable[: len(whole) // 2] if len(whole) > 1 else changeable * len(frames.ROLES)
    roles = draw.choice(ROLES[len(changing)]) if len(whole) > 1 and changing else frames.ROLES
    made = []
    for role, (page, one) in zip(roles, changing, strict=False):
        leaves = frames.changed(one, role, name, page.lang, draw)
        made.append((role, leaves, fingerprint(leaves, options, content_hash=_number(f"{page.key} {role}"))))
    template = None
    if len(whole) > 1:
        profile, again = SiteProfile(name, options), _stands_twice(f"frames {name}")
        changed = {page.key for page, _ in changing}
        for print_ in [*(one for key, one in whole.items() if key not in changed), *(print_ for _, _, print_ in made)]:
            profile.add(print_)
            if again:
                key = f"{print_.key}/print"
                profile.add(replace(print_, key=key, rank=rank_of(key)))
        template = derive(profile, weights)
    for role, leaves, print_ in made:
        of_page = Seen(name, f"real, {role}", role in frames.EMPTY, False, weights)
        yield from of_page.examples(leaves, print_, template)


def _number(name: str) -> int:
    return bytes_hash(name.encode())


def _twice(pages: Sequence[td.Page], site: str) -> list[td.Page]:
    """The pages a second time, on one site of two: at another address, and with a byte more for those that have none."""
    if not _stands_twice(site):
        return []
    return [
        replace(page, html=_longer(page.html), url=page.url and f"{page.url}?view=print", path=f"print/{page.path}")
        for page in pages
    ]


def _longer(html: str | bytes) -> str | bytes:
    return html + "\n" if isinstance(html, str) else html + b"\n"


def _stands_twice(site: str) -> bool:
    return random.Random(f"twice {site}").random() >= 0.5


def _prepared(page: td.Page) -> tuple[Leaves, Fingerprint] | None:
    try:
        return prepare(page, Options())
    except PageError:
        return None


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of a page that is an example, and the weights that judge it alone."""

    site: str
    kind: str
    empty: bool
    listing: bool | None
    weights: Weights

    def examples(
        self, leaves: Leaves, made: Fingerprint, template: td.Template | None, url: str | None = None
    ) -> Iterator[Example]:
        """The page as each model sees it; none of a page without text."""
        if not len(leaves):
            return
        for name, known in (("empty_alone", None), ("empty", template)):
            if name == "empty" and known is None:
                continue
            context, p, copies = judged_leaves(made, known, known.weights if known is not None else self.weights)
            row = features(context, p, copies)
            yield Example(name, self.site, self.kind, self.empty, row)
            if self.listing is not None and not self.empty:
                yield Example("listing", self.site, self.kind, self.listing, row)
            if name == "empty_alone":
                home = host_of(url or leaves.head.canonical or leaves.head.og_url)
                yield Example("early", self.site, self.kind, self.empty, first_look(columns(leaves, home)))


def fit(examples: Sequence[Example], names: tuple[str, ...]) -> Any:
    """A small forest. To lose a page weighs more than to keep chrome (`WEIGHTS`). Deeper trees know frames by their counts of
    leaves and headings, and call a few sentences in other frames empty."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    rows = np.array([[example.row[name] for name in names] for example in examples], np.float32)
    model = HistGradientBoostingClassifier(
        max_depth=4, max_iter=300, learning_rate=0.06, l2_regularization=3, max_features=0.2, min_samples_leaf=30,
        random_state=0,
    )  # fmt: skip
    weights = [WEIGHTS.get(example.kind, 1.0) for example in examples]
    return model.fit(rows, [example.wanted for example in examples], sample_weight=weights)


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
