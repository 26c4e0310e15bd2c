"""CPU time of templatediff and its peers as a ratio to the bare parse of the same pages in the same run.

    python benchmarks/speed.py                    # templatediff, five rounds
    python benchmarks/speed.py --peers            # and the peers that are installed
    python benchmarks/speed.py --stages           # the cost model: CPU time a page and a megabyte, stage by stage
    python benchmarks/speed.py --quick            # few pages, two rounds

A round runs every operation once over all pages; its ratio is to `LexborHTMLParser(html)` over the same pages in the same
round, and the median over the rounds is told, so that a busy machine moves both. Pages: "news", real pages of news sites, and
"docs", real pages of generated documentation (data/dev); "made", generated sites, needs no data. All are given as text, so
that decoding is in no figure; `extract` reads files, and what reading and decoding them takes is measured beside and taken off.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from selectolax.lexbor import LexborHTMLParser

import templatediff as td
from benchmarks import data
from benchmarks.peers import PeerMissing, load
from corpora.generator import SiteSpec, generate_site
from templatediff import cuts, render
from templatediff.crawl import Skipped, list_sources, read_source
from templatediff.fingerprint import fingerprint
from templatediff.label import label
from templatediff.lessons import teach
from templatediff.options import Options
from templatediff.pipeline import derive
from templatediff.prepare import page_text, prepare
from templatediff.segment import segment

PEERS = ("turbohtml", "resiliparse", "justext", "trafilatura_default", "readability_lxml")
NEWS = ("fundus", "cx-163-bbc", "daniel")
#: What issue 7 asks for, by operation: news, docs.
GOALS = {"apply": (4.0, 6.0), "learn": (3.5, 5.0), "extract": (5.5, 8.0), "single page": (4.5, 6.5)}


@dataclass(frozen=True)
class Corpus:
    """Sites, each a list of pages as text."""

    name: str
    sites: list[list[str]]

    @property
    def pages(self) -> list[str]:
        return [page for site in self.sites for page in site]


def corpora(quick: bool) -> list[Corpus]:
    """The pages that are measured on; those of data/dev only where they are there."""
    most = 3 if quick else 12
    made = [
        [page.html for page in generate_site(SiteSpec(kinds=kinds, pages=most * 4, seed=11)).pages]
        for kinds in ((("news",), ("docs",)) if quick else (("news",), ("blog",), ("forum", "news"), ("docs",)))
    ]
    found = [Corpus("made", made)]
    try:
        by_set = data.sites(5)
    except data.DataMissing as problem:
        print(f"generated pages only: {problem}", file=sys.stderr)
        return found

    def real(name: str, sets: Sequence[str], limit: int) -> Corpus:
        chosen = [group for key, group in by_set.items() if key[0] in sets]
        step = max(1, len(chosen) // limit)
        texts = [[page_text(td.Page(page.html())) for page in group[:most]] for group in chosen[::step][:limit]]
        return Corpus(name, texts)

    return [real("news", NEWS, 4 if quick else 24), real("docs", ["debian-docs"], 3 if quick else 20), *found]


def spent(call: Callable[[], object]) -> float:
    """CPU seconds of this process."""
    begun = time.process_time()
    call()
    return time.process_time() - begun


def parse(corpus: Corpus) -> None:
    for page in corpus.pages:
        LexborHTMLParser(page)


class Operations:
    """What is measured on one corpus; templates and files are made beforehand."""

    def __init__(self, corpus: Corpus, folder: Path) -> None:
        self.corpus = corpus
        self.folder = folder / corpus.name
        self.templates = [td.learn([td.Page(page) for page in site], site="site") for site in corpus.sites]
        for number, site in enumerate(corpus.sites):
            place = self.folder / f"site{number}"
            place.mkdir(parents=True)
            for page_number, page in enumerate(site):
                (place / f"{page_number}.html").write_text(page, encoding="utf-8", newline="")

    def learn(self) -> None:
        for site in self.corpus.sites:
            td.learn([td.Page(page) for page in site], site="site")

    def apply(self) -> None:
        for site, template in zip(self.corpus.sites, self.templates, strict=True):
            for page in site:
                template.extract(td.Page(page))

    def single(self) -> None:
        for page in self.corpus.pages:
            td.extract(td.Page(page))

    def extract(self) -> None:
        for _ in td.extract_crawl([self.folder]):
            pass

    def read(self) -> None:
        for source in list_sources([self.folder]):
            page = read_source(source)
            if not isinstance(page, Skipped):
                page_text(page)


def measure(corpus: Corpus, rounds: int, peers: Sequence[str]) -> Iterator[tuple[str, float, float]]:
    """(operation, CPU ms a page, ratio to the parse) for one corpus."""
    with tempfile.TemporaryDirectory(prefix="templatediff-speed-") as name:
        ready = Operations(corpus, Path(name))
        calls: dict[str, Callable[[], object]] = {
            "apply": ready.apply,
            "learn": ready.learn,
            "extract": ready.extract,
            "single page": ready.single,
            "read, decode": ready.read,
        }
        encoded = [page.encode() for page in corpus.pages]
        for module in peers:
            try:
                peer = load(module)
            except PeerMissing as problem:
                print(f"left out: {problem}", file=sys.stderr)
                continue
            calls[peer.name] = lambda call=peer.extract: [_quietly(call, page) for page in encoded]
        parse(corpus)
        ready.single()
        times: dict[str, list[float]] = {name: [] for name in ("parse", *calls)}
        for number in range(rounds):
            times["parse"].append((spent(lambda: parse(corpus)) + spent(lambda: parse(corpus))) / 2)
            for name, call in calls.items():
                # a peer that takes a minute a round need not be told to three places
                slow = bool(times[name]) and times[name][0] > 30
                times[name].append(times[name][0] if slow and number else spent(call))
        read = times.pop("read, decode")
        times["extract"] = [whole - 2 * part for whole, part in zip(times["extract"], read, strict=True)]
        for name, found in times.items():
            ratios = [one / base for one, base in zip(found, times["parse"], strict=True)]
            yield name, statistics.median(found) * 1e3 / len(encoded), statistics.median(ratios)


def _quietly(call: Callable[[bytes, str | None, str | None], str], page: bytes) -> None:
    try:
        call(page, None, "en")
    except Exception as problem:  # a peer that fails on a page has taken its time all the same
        print(f"{type(problem).__name__}: {problem}"[:100], file=sys.stderr)


def stages(corpus: Corpus, rounds: int) -> Iterator[tuple[str, float, float]]:
    """(stage, CPU ms a page, CPU seconds a GB of HTML) of applying stored templates to files; then what is done once a site."""
    with tempfile.TemporaryDirectory(prefix="templatediff-speed-") as name:
        ready = Operations(corpus, Path(name))
        options = Options()
        size = sum(len(page.encode()) for page in corpus.pages)
        sources = list_sources([ready.folder])
        texts = [(number, page) for number, site in enumerate(corpus.sites) for page in site]
        leaves = [segment(page, options) for _, page in texts]
        made = [fingerprint(one, options, content_hash=number) for number, one in enumerate(leaves)]
        template_of = [ready.templates[number] for number, _ in texts]
        labels = [label(one, of, of.weights) for one, of in zip(made, template_of, strict=True)]
        kept = [one.kept.tolist() for one in labels]
        read = [page for page in map(read_source, sources) if not isinstance(page, Skipped)]

        def each(call: Callable[..., object], *columns: Sequence[object]) -> Callable[[], object]:
            return lambda: [call(*row) for row in zip(*columns, strict=True)]

        keeper = cuts.Keeper(str(ready.folder), 1 << 40)
        prepared = zip(read, leaves, made, strict=True)
        places = [cut for one in prepared if (cut := keeper.add(*one)) is not None]
        profiles = [template.profile for template in ready.templates if template.profile is not None]
        calls = {
            "read": each(read_source, sources),
            "decode": each(page_text, read),
            "parse": lambda: parse(corpus),
            "segment": each(lambda text: segment(text[1], options), texts),
            "fingerprint": each(lambda one: fingerprint(one, options, content_hash=1), leaves),
            "keep for the second reading": each(keeper.add, read, leaves, made),
            "read what was kept": each(lambda cut: cuts.read(cut, ""), places),
            "derive the sites' templates": each(derive, profiles),
            "find what the sites' pages teach": each(
                lambda of: teach(of.sample, of.weights, options.ngram_order), ready.templates
            ),
            "label": each(lambda one, of: label(one, of, of.weights), made, template_of),
            "label, one page alone": each(lambda one, of: label(one, None, of.weights), made, template_of),
            "render as text": each(render.text, leaves, kept),
        }
        times: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(rounds):
            for name, call in calls.items():
                times[name].append(spent(call))
        times["segment"] = [
            whole - part for whole, part in zip(times["segment"], times["parse"], strict=True)
        ]  # segment parses
        for name, found in times.items():
            seconds = statistics.median(found)
            yield name, seconds * 1e3 / len(texts), seconds / size * 1e9


def sizes(corpus: Corpus) -> Iterator[tuple[str, float]]:
    """(what, bytes a page) of what the stages take and give."""
    count = len(corpus.pages)
    templates = [td.learn([td.Page(page) for page in site], site="site") for site in corpus.sites]
    yield "HTML", sum(len(page.encode()) for page in corpus.pages) / count
    with tempfile.TemporaryDirectory(prefix="templatediff-speed-") as name:
        keeper = cuts.Keeper(name, 1 << 40)
        for text in corpus.pages:
            keeper.add(td.Page(text), *prepare(td.Page(text), Options()))
        yield "kept for the second reading", keeper.size / count
        for number, template in enumerate(templates):
            template.save(Path(name, str(number)))
        profiles = sum(file.stat().st_size for file in Path(name).rglob("profile.*"))
        yield "profile (compressed)", profiles / count
        yield "template.json", sum(file.stat().st_size for file in Path(name).rglob("template.json")) / count
    records = [
        json.dumps(template.extract(td.Page(page)).to_dict(), ensure_ascii=False)
        for site, template in zip(corpus.sites, templates, strict=True)
        for page in site
    ]
    yield "record", sum(len(record.encode()) for record in records) / count


def described(corpus: Corpus) -> str:
    pages = corpus.pages
    size = sum(len(page.encode()) for page in pages) / len(pages) / 1000
    leaves = sum(len(segment(page)) for page in pages) / len(pages)
    return (
        f"{corpus.name}: {len(pages)} pages of {len(corpus.sites)} sites, mean {size:,.0f} KB and {leaves:,.0f} leaves"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, help="default: 5, with --quick 2")
    parser.add_argument("--peers", action="store_true", help="measure the peers that are installed as well")
    parser.add_argument("--stages", action="store_true", help="the cost model instead of the ratios")
    parser.add_argument("--quick", action="store_true", help="few pages, two rounds")
    parser.add_argument("--corpus", action="append", help="news, docs, made (default: all)")
    given = parser.parse_args(arguments)
    rounds = given.rounds or (2 if given.quick else 5)
    for corpus in corpora(given.quick):
        if given.corpus and corpus.name not in given.corpus:
            continue
        print(f"\n{described(corpus)}\n", flush=True)
        if given.stages:
            print("| stage | CPU ms a page | CPU s a GB |\n|---|---:|---:|")
            for name, ms, seconds in stages(corpus, rounds):
                print(f"| {name} | {ms:.2f} | {seconds:.1f} |", flush=True)
            print("\n| | KB a page |\n|---|---:|")
            for name, size in sizes(corpus):
                print(f"| {name} | {size / 1000:.1f} |", flush=True)
            continue
        place = {"news": 0, "docs": 1}.get(corpus.name)
        print("| operation | CPU ms a page | times the parse | goal |\n|---|---:|---:|---:|")
        for name, ms, ratio in measure(corpus, rounds, PEERS if given.peers else ()):
            goal = f"{GOALS[name][place]}" if name in GOALS and place is not None else ""
            print(f"| {name} | {ms:.2f} | {ratio:.2f} | {goal} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
