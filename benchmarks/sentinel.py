"""What is kept and what leaks on sentinel pages, block by block, beside other extractors.

    python benchmarks/sentinel.py                                 # the tables for benchmarks/README.md
    python benchmarks/sentinel.py --peers none --list             # and each lost block, each leak, by case

Each extractor writes its results as JSON lines, which are scored as `templatediff eval` does: the scorer sees no more than
these lines and the gold. --keep FOLDER leaves pages, gold and results there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

if __package__ in (None, ""):  # run as a script: the repository's root stands in for this folder
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

import msgspec

import templatediff as td
from benchmarks import data, peers
from benchmarks.peers._run import run
from corpora.sentinel import SETS, write
from templatediff.judge import PageScore, Verdicts, evaluate, read_gold, read_results, summary

OURS = "templatediff"
PEERS = ("trafilatura_default", "readability_lxml", "resiliparse", "justext", "mozilla_readability")
#: The eight blocks that are short or no prose, by the case that has them.
NON_PROSE = {
    "data": ("table", "caption", "code"),
    "lines": ("short-line", "verse", "address"),
    "terms": ("definitions", "quotation"),
}
MALFORMED = ("unclosed-paragraphs", "crossed-tags", "stray-ends")
COLUMNS = (
    "extractor",
    "content kept",
    "non-prose kept",
    "malformed as well-formed",
    "leaked",
    "needs siblings: leaked",
    "F1",
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default=",".join(PEERS), help="module names, or none")
    parser.add_argument("--list", action="store_true", help="every lost block and every leak of templatediff, by case")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave pages, gold and results there")
    options = parser.parse_args(arguments)
    with ExitStack() as stack:
        folder = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        write(folder / "pages", folder / "gold.jsonl")
        pages = sentinel_pages(folder / "pages")
        tools = {OURS: f"{td.__version__}"}
        write_results(folder / f"{OURS}.jsonl", ours(pages))
        for module in [] if options.peers == "none" else options.peers.split(","):
            try:
                peer = peers.load(module)
            except peers.PeerMissing as problem:
                print(f"sentinel: left out: {problem}", file=sys.stderr)
                continue
            tools[peer.name] = f"{peer.version}, {peer.settings}"
            write_results(folder / f"{peer.module}.jsonl", of_peer(peer, pages))
        files = {OURS: OURS} | {
            peers.load(p.stem).name: p.stem for p in folder.glob("*.jsonl") if p.stem in peers.names()
        }
        gold = read_gold(folder / "gold.jsonl")
        found = {name: evaluate(gold, read_results(folder / f"{files[name]}.jsonl")) for name in tools}
    for name in SETS:
        print(f"{table(name, found)}\n")
    print("\n".join(f"- {name}: {text}" for name, text in tools.items()))
    if options.list:
        print("\n" + "\n".join(faults(found[OURS])))
    return 0


def sentinel_pages(folder: Path) -> list[data.DevPage]:
    """The pages as the peers' runner takes them; a single page is a site of its own."""
    found = []
    for file in sorted(folder.rglob("*.html")):
        name, *rest = file.relative_to(folder).with_suffix("").parts
        found.append(data.DevPage(name, "/".join(rest[:-1]), rest[-1], file, None, "en", None))
    return found


def path_of(page: data.DevPage) -> str:
    """The page's path in the gold."""
    return "/".join(part for part in (page.set, page.site, f"{page.page}.html") if part)


def sites(pages: Sequence[data.DevPage]) -> list[list[data.DevPage]]:
    """The pages, site by site."""
    groups: dict[tuple[str, str, str], list[data.DevPage]] = defaultdict(list)
    for page in pages:
        groups[page.set, page.site, "" if page.site else page.page].append(page)
    return list(groups.values())


def ours(pages: Sequence[data.DevPage]) -> Iterator[tuple[str, str]]:
    """(path, text) by templatediff: single pages alone, sites by what all of their pages teach."""
    for group in sites(pages):
        if len(group) == 1:
            yield path_of(group[0]), td.extract(group[0].html()).text
            continue
        given = [td.Page(page.html(), path=path_of(page)) for page in group]
        template = td.learn(given, site=group[0].site)
        yield from ((page.path or "", template.extract(page).text) for page in given)


def of_peer(peer: peers.Peer, pages: Sequence[data.DevPage]) -> Iterator[tuple[str, str]]:
    """(path, text) by a peer; a page on which it fails has none."""
    by_key = {page.key: page for page in pages}
    batches = sites(pages) if peer.extract_site is not None else [[page] for page in pages]
    for batch in run(peer, batches):
        yield from ((path_of(by_key[key]), result.text) for key, result in batch)


def write_results(file: Path, results: Iterator[tuple[str, str]]) -> None:
    """JSON lines with path and text, whole or not at all."""
    unfinished = file.with_name(file.name + ".part")
    with unfinished.open("wb") as out:
        for path, text in results:
            out.write(msgspec.json.encode({"path": path, "text": text}) + b"\n")
    unfinished.replace(file)


# --- tables ------------------------------------------------------------------------------------------------


def case_of(page: PageScore) -> str:
    return page.page.split("/")[1].removesuffix(".html")


def table(name: str, found: dict[str, Verdicts]) -> str:
    """A Markdown table of one set, a line an extractor."""
    first = [page for page in next(iter(found.values())).pages if page.set == name]
    lines = [
        f"| {name}: {len(first)} pages | " + " | ".join(COLUMNS[1:]) + " |",
        "|---|" + "---:|" * (len(COLUMNS) - 1),
    ]
    for tool, verdicts in found.items():
        pages = [page for page in verdicts.pages if page.set == name]
        whole = summary(pages)
        cells = [
            f"{whole.kept} of {whole.blocks}",
            "{} of {}".format(*_non_prose(pages)),
            "{} of {}".format(*_malformed(pages)),
            f"{whole.leaked} of {whole.chrome}",
            f"{whole.siblings_leaked} of {whole.siblings}",
            f"{whole.f1:.3f}",
        ]
        lines.append(f"| {tool} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _non_prose(pages: Sequence[PageScore]) -> tuple[int, int]:
    """Kept and all of the short and non-prose blocks."""
    blocks = [block for page in pages for block in page.blocks if block.name in NON_PROSE.get(case_of(page), ())]
    return sum(not block.wrong for block in blocks), len(blocks)


def _malformed(pages: Sequence[PageScore]) -> tuple[int, int]:
    """Malformed pages of which the same blocks are kept as of the well-formed page with the same number, and all of them."""
    by_case: dict[str, list[list[tuple[str, bool]]]] = defaultdict(list)
    for page in pages:
        by_case[case_of(page)].append([(block.name, block.wrong) for block in page.blocks])
    pairs = [pair for case in MALFORMED for pair in zip(by_case["well-formed"], by_case[case], strict=True)]
    return sum(one == other for one, other in pairs), len(pairs)


def faults(verdicts: Verdicts) -> Iterator[str]:
    """Each block that was lost or leaked, a line a set, case and block."""
    seen: dict[tuple[str, str, str, str], list[float]] = defaultdict(list)
    for page in verdicts.pages:
        for block in page.blocks:
            if block.wrong:
                kind = "lost" if block.content else "leaked (needs siblings)" if block.needs_siblings else "leaked"
                seen[page.set or "", kind, case_of(page), block.name].append(block.share)
    for (name, kind, case, block), shares in sorted(seen.items()):
        share = sum(shares) / len(shares)
        yield f"- {name}: {kind}: {case}: {block}, {len(shares)} pages, {share:.0%} of its tokens in the output"


if __name__ == "__main__":
    sys.exit(main())
