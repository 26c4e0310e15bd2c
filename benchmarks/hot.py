"""Each hot function by itself, in the situation that it is hot in: CPU microseconds a call, and as a ratio to the bare parse.

    python benchmarks/hot.py                    # all
    python benchmarks/hot.py --only forest      # those whose name holds this
    python benchmarks/hot.py --rounds 20

Pages are made here (corpora/generator), so that no data is needed: a site of 40 pages of news and documentation. A round calls
each once for every page (what is done for a site, once for them all, and told by the page); the least of the rounds counts,
since nothing but noise adds to it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from selectolax.lexbor import LexborHTMLParser

import templatediff as td
from corpora.generator import SiteSpec, generate_site
from templatediff import cuts, gist, layout, lessons, overall, passages, render, sample
from templatediff.choose import best_threshold
from templatediff.context import Context
from templatediff.copies import copied, retold
from templatediff.decode import decode
from templatediff.evidence import rows
from templatediff.fingerprint import Fingerprint, fingerprint
from templatediff.limits import DEFAULT
from templatediff.nesting import check_limits, eased
from templatediff.options import Options
from templatediff.prepare import prepare
from templatediff.profile import SiteProfile
from templatediff.repetition import new_leaves
from templatediff.score import shipped
from templatediff.segment import segment
from templatediff.units import together

PAGES = 40
Call = Callable[[], object]


class Situation:
    """A site's template, its pages in every form on the way, and one page's context alone and beside the others."""

    def __init__(self) -> None:
        self.texts = [page.html for page in generate_site(SiteSpec(kinds=("news", "docs"), pages=PAGES, seed=17)).pages]
        options, weights = Options(), shipped()
        pages = [td.Page(text, url=f"https://a.example/{number}") for number, text in enumerate(self.texts)]
        self.leaves, self.prints = zip(*(prepare(page, options) for page in pages), strict=True)
        self.template = td.learn(pages, site="a.example")
        self.folder = tempfile.TemporaryDirectory(prefix="templatediff-hot-")  # goes with this object
        self.keeper = cuts.Keeper(self.folder.name, 1 << 40)
        self.bytes = [text.encode() for text in self.texts]
        self.cuts = [self.cut(number) for number in range(PAGES)]
        assert self.template.profile is not None
        self.profile = self.template.profile
        self.sample = sample.take(self.profile)
        self.looks = lessons.FirstLooks()
        lessons.teach(self.sample, weights, options.ngram_order, self.looks)
        self.rich = [segment(text, rich=True) for text in self.texts]
        self.seen = [self.template.sample.as_seen(page) for page in self.prints]
        self.views = [self.template.views(page) for page in self.seen]
        self.rows = [rows(self.context(number), weights.names) for number in range(PAGES)]
        self.p = [weights.first.probability(one) for one in self.rows]

    def cut(self, number: int) -> cuts.Cut:
        """What is kept of a page for the second reading."""
        found = self.keeper.add(td.Page(self.bytes[number]), self.leaves[number], self.prints[number])
        assert found is not None
        return found

    def context(self, number: int, alone: bool = False) -> Context:
        """A fresh one: what it works out is part of the figure."""
        site, of_layout, _ = (None, None, None) if alone else self.views[number]
        return Context(self.seen[number], site, of_layout)


def calls(at: Situation) -> Iterator[tuple[str, Sequence[Call]]]:
    """(situation, a call for each page)."""
    options, weights = Options(), shipped()
    every = range(PAGES)

    def each(make: Callable[[int], Call]) -> list[Call]:
        return [make(number) for number in every]

    yield "parse: the measure", each(lambda n: partial(LexborHTMLParser, at.texts[n]))
    yield "decode: UTF-8 without a charset told", each(lambda n: partial(decode, at.bytes[n]))
    yield "limits: few options, nothing to ease", each(lambda n: partial(eased, at.texts[n]))
    yield "limits: a page that keeps them", each(lambda n: partial(check_limits, at.texts[n], DEFAULT))
    yield "segment: a page of some hundred leaves", each(lambda n: partial(segment, at.texts[n]))
    yield "segment: with inline markup, for Markdown", each(lambda n: partial(segment, at.texts[n], rich=True))
    yield "fingerprint: a page never seen", each(lambda n: partial(fingerprint, at.leaves[n], options, content_hash=n))
    yield "cuts: a page kept for the second reading", each(lambda n: partial(at.cut, n))
    yield "cuts: read what was kept", each(lambda n: partial(cuts.read, at.cuts[n], ""))
    yield "profile: a page remembered", each(lambda n: lambda: SiteProfile("", options).add(at.prints[n]))
    yield "template: the sample of a site, by the page", [partial(sample.take, at.profile)]
    yield (
        "teach: what a site's pages teach, by the page",
        [partial(lessons.teach, at.sample, weights, options.ngram_order)],
    )
    yield "teach: the first look at a page that taught", each(lambda n: partial(at.looks.of, at.seen[n]))
    yield (
        "layout: the vector of a page, to find its layout",
        each(lambda n: partial(layout.vector, at.seen[n], np.ones(len(at.seen[n])))),
    )
    yield "repetition: which leaves are new", each(lambda n: lambda: new_leaves(at.seen[n], _site(at, n)))
    yield "gist: beside the site's words", each(lambda n: partial(gist.gist_scores, at.seen[n], at.views[n][0]))
    yield "evidence: one page alone", each(lambda n: lambda: rows(at.context(n, alone=True), weights.names))
    yield "evidence: among siblings", each(lambda n: lambda: rows(at.context(n), weights.names))
    yield "forest: the leaves of one page", each(lambda n: partial(weights.first.raw, at.rows[n]))
    yield "forest: one row, as of a verdict", each(lambda n: partial(weights.first.raw, at.rows[n][:1]))
    yield "lessons: columns of the second forest", each(lambda n: partial(_further, at, n, at.context(n)))
    yield (
        "passages: its columns on passages",
        each(lambda n: partial(passages.passage_rows, at.context(n), at.p[n], *at.views[n][:2])),
    )
    yield "units: what lives or dies together", each(lambda n: partial(together, at.context(n), at.p[n], 0))
    yield "choice: the threshold of a page", each(lambda n: partial(best_threshold, at.p[n], at.seen[n].token_count))
    yield "copies: none on the page", each(lambda n: partial(_copies, at.seen[n], at.p[n]))
    yield "verdict: what a page shows as a whole", each(lambda n: lambda: overall.features(at.context(n), at.p[n], 0))
    yield (
        "render: what was kept, as text",
        each(lambda n: partial(render.text, at.leaves[n], (at.p[n] >= 0.4).tolist())),
    )
    yield "render: as Markdown", each(lambda n: partial(render.markdown, at.rich[n], (at.p[n] >= 0.4).tolist()))
    yield "render: as HTML", each(lambda n: partial(render.html, at.rich[n], (at.p[n] >= 0.4).tolist()))


def _site(at: Situation, number: int) -> lessons.View:
    site = at.views[number][0]
    assert site is not None
    return site


def _further(at: Situation, number: int, context: Context) -> object:
    return lessons.further_rows(context, at.p[number], *at.views[number][:2])


def _copies(page: Fingerprint, p: lessons.Ints) -> object:
    kept = p >= 0.4
    return retold(page, p, kept), copied(page, p, kept)


def measure(rounds: int, only: str) -> Iterator[tuple[str, float]]:
    """(situation, CPU microseconds a call); the first is the parse."""
    at = Situation()
    for name, made in calls(at):
        if only not in name and not name.startswith("parse"):
            continue
        best = float("inf")
        for _ in range(rounds):
            begun = time.process_time()
            for call in made:
                call()
            best = min(best, time.process_time() - begun)
        yield name, best / PAGES * 1e6


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="situations whose name holds this")
    parser.add_argument("--rounds", type=int, default=10)
    given = parser.parse_args(arguments)
    print("| situation | CPU µs a page | times the parse |\n|---|---:|---:|")
    base = 0.0
    for name, microseconds in measure(given.rounds, given.only):
        base = base or microseconds
        print(f"| {name} | {microseconds:,.0f} | {microseconds / base:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
