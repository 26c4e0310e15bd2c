"""Scores of templatediff, of its peers and of the leaf oracle, page by page.

A `Row` is one extractor on one page. templatediff is called as a user would: `td.learn` on the pages of a
site, then `template.extract`, or `td.extract` on one page alone. Everything is deterministic; `jobs` only
shares out sites.
"""

from __future__ import annotations

import itertools
import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from unittest.mock import patch

from benchmarks import data
from benchmarks.align import align
from benchmarks.peers import Peer
from benchmarks.peers._run import results
from benchmarks.scoring import Gold, tokens, word_f1

if TYPE_CHECKING:
    from templatediff.score import Weights

#: All other pages of the site, as a number of siblings.
ALL = -1
ORACLE = "leaf oracle"
Site = tuple[str, str]
T = TypeVar("T")


def label(siblings: int) -> str:
    """How tables call templatediff given so many siblings.

    >>> label(0), label(2), label(ALL)
    ('templatediff n=0', 'templatediff n=2', 'templatediff n=all')
    """
    return f"templatediff n={'all' if siblings == ALL else siblings}"


@dataclass(frozen=True, slots=True)
class Row:
    """One extractor on one page.

    precision, recall, f1   of 4-token shingles, as score.py
    words                   bag-of-words F1, as WCXB
    bare                    shingle F1 with the headline's line taken out of the gold and out of the text
    siblings                pages that could serve as evidence besides this one
    error                   why the extractor failed on the page (its text then counts as empty), else None
    """

    page: str
    set: str
    site: str
    page_type: str | None
    extractor: str
    precision: float
    recall: float
    f1: float
    words: float
    bare: float
    siblings: int
    error: str | None


def without_headline(text: str, title: str | None) -> str:
    """The text without its headline: the first of its first five lines that has the title's tokens.

    >>> without_headline("News\\nA day out\\nIt rained.", "A Day Out!")
    'News\\nIt rained.'
    """
    wanted = tokens(title or "")
    if not wanted:
        return text
    lines = [line for line in text.splitlines() if line.strip()]
    for place, line in enumerate(lines[:5]):
        if tokens(line) == wanted:
            return "\n".join(lines[:place] + lines[place + 1 :])
    return text


class _Scorer:
    """The gold of one page, for scoring many texts."""

    def __init__(self, page: data.DevPage, title: str | None) -> None:
        self._page = page
        self._title = title
        self._text = page.gold()
        self._gold = Gold(self._text)
        bare = without_headline(self._text, title)
        self._bare = self._gold if bare == self._text else Gold(bare)

    def row(self, extractor: str, text: str, siblings: int = 0, error: str | None = None) -> Row:
        score = self._gold.score(text)
        bare = without_headline(text, self._title)
        same = bare == text and self._bare is self._gold
        return Row(
            page=self._page.key,
            set=self._page.set,
            site=self._page.site,
            page_type=self._page.page_type,
            extractor=extractor,
            precision=score.precision,
            recall=score.recall,
            f1=score.f1,
            words=word_f1(self._text, text),
            bare=score.f1 if same else self._bare.score(bare).f1,
            siblings=siblings,
            error=error,
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured of templatediff on every site.

    siblings     numbers of siblings to give, ALL for all; every scored page is scored with each
    pages        pages scored a site, chosen by seeded hash, 0 for all; the others still serve as siblings
    oracle       measure the leaf oracle too
    product      False measures the oracle alone (and gives peers the pages)
    out_of_fold  judge each site by weights fitted without it (train.py leaves them in the cache folder), not
                 by those shipped, which have seen these pages
    """

    siblings: tuple[int, ...] = (0, ALL)
    pages: int = 0
    oracle: bool = False
    product: bool = True
    out_of_fold: bool = False
    seed: int = 0

    def scored(self, group: Sequence[data.DevPage]) -> list[data.DevPage]:
        """The pages of a site that are scored, in name order."""
        golden = [page for page in group if page.gold_path]
        if self.pages and len(golden) > self.pages:
            ranked = sorted(golden, key=lambda page: data.seeded(self.seed, page.key))
            golden = sorted(ranked[: self.pages], key=lambda page: page.page)
        return golden


def measure_product(
    sites: Iterable[Site], plan: Plan, jobs: int = 1, progress: Callable[[int, int], None] | None = None
) -> tuple[list[Row], dict[str, str | None]]:
    """Rows of templatediff and the oracle, in site order, and page key -> title as templatediff has it."""
    todo = list(sites)
    call = partial(_measure_site, plan=plan)
    done: dict[Site, tuple[list[Row], dict[str, str | None]]] = {}
    for count, (site, result) in enumerate(each(call, todo, jobs), start=1):
        done[site] = result
        if progress:
            progress(count, len(todo))
    rows = list(itertools.chain.from_iterable(done[site][0] for site in todo))
    titles = {key: title for site in todo for key, title in done[site][1].items()}
    return rows, titles


def each(call: Callable[[Site], T], todo: Sequence[Site], jobs: int) -> Iterator[tuple[Site, T]]:
    """(site, what the call gives for it), in the order in which they are done."""
    if jobs <= 1:
        for site in todo:
            yield site, call(site)
        return
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        futures = {pool.submit(call, site): site for site in todo}
        for future in as_completed(futures):
            yield futures[future], future.result()


def _measure_site(site: Site, plan: Plan) -> tuple[list[Row], dict[str, str | None]]:
    group = data.sites()[site]
    scored = plan.scored(group)
    titles: dict[str, str | None] = {}
    texts: list[tuple[str, data.DevPage, str, int, str | None]] = []
    if plan.product:
        with judged_by(site, plan):
            for count in plan.siblings:
                for page, text, title, given, error in _extract(site, group, scored, count, plan.seed):
                    texts.append((label(count), page, text, given, error))
                    titles[page.key] = title or titles.get(page.key)
    if plan.oracle:
        texts.extend((ORACLE, page, _oracle_text(page), 0, None) for page in scored)
    scorers = {page.key: _Scorer(page, titles.get(page.key)) for page in scored}
    rows = [scorers[page.key].row(name, text, given, error) for name, page, text, given, error in texts]
    return rows, titles


@contextmanager
def judged_by(site: Site, plan: Plan) -> Iterator[None]:
    """Within it templatediff judges by the weights that were fitted without this site's fold."""
    from templatediff import pipeline

    # The public calls know the shipped weights only; this stands in for them, whatever is called.
    with patch.object(pipeline, "shipped", return_value=weights_for(site, plan)):
        yield


def weights_for(site: Site, plan: Plan) -> Weights:
    """The weights that judge a site: those shipped, or those fitted without the site's fold."""
    if not plan.out_of_fold:
        from templatediff.score import shipped

        return shipped()
    from benchmarks.train import FOLDS, weights_of_fold

    path = weights_of_fold(data.fold_of(site, FOLDS))
    if not path.is_file():
        raise data.DataMissing(f"no {path.name} in the cache folder: benchmarks/train.py makes it")
    return _read_weights(path)


@cache
def _read_weights(path: Path) -> Weights:
    from templatediff.score import read_weights

    return read_weights(path.read_bytes())


def _extract(
    site: Site, group: Sequence[data.DevPage], scored: Sequence[data.DevPage], count: int, seed: int
) -> Iterator[tuple[data.DevPage, str, str | None, int, str | None]]:
    """(page, text, title, siblings given, error) of templatediff with `count` siblings."""
    import templatediff as td

    def read(page: data.DevPage) -> td.Page:
        return td.Page(page.html(), path=page.key)

    everything: td.Template | None = None
    for page in scored:
        given = data.choose_siblings(page, group, len(group) if count == ALL else count, seed)
        try:
            if count == ALL:
                if everything is None:
                    everything = td.learn([read(other) for other in group], site="/".join(site))
                found = everything.extract(read(page))
            elif given:
                template = td.learn([read(other) for other in (page, *given)], site="/".join(site))
                found = template.extract(read(page))
            else:
                found = td.extract(page.html())
        except Exception as problem:  # a fault of ours must not end the run; it is counted and shown
            yield page, "", None, len(given), f"{type(problem).__name__}: {problem}"[:200]
            continue
        error = f"{found.error.kind}: {found.error.message}" if found.error else None
        yield page, found.text, found.title, len(given), error


def _oracle_text(page: data.DevPage) -> str:
    """The best choice of the leaves that templatediff cuts the page into: the ceiling of its method."""
    from templatediff.decode import decode
    from templatediff.errors import PageError
    from templatediff.segment import segment

    try:
        leaves = segment(decode(page.html()).text).text
    except PageError:
        return ""
    chosen = align(leaves, page.gold()).oracle
    return "\n\n".join(leaf for leaf, keep in zip(leaves, chosen, strict=True) if keep)


def measure_peer(peer: Peer, pages: Sequence[data.DevPage], titles: dict[str, str | None]) -> list[Row]:
    """Rows of a peer on the pages, from its cache where it has them."""
    found = results(peer, pages)
    rows = []
    for page in pages:
        result = found[page.key]
        scorer = _Scorer(page, titles.get(page.key))
        rows.append(scorer.row(peer.name, result.text, error=result.error))
    return rows
