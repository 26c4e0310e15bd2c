"""Fill the cache of peer results: `python -m benchmarks.peers [--peers A,B] [--min-pages 3] [--sets X,Y]`."""

from __future__ import annotations

import argparse
import sys

from benchmarks import data
from benchmarks.peers import PeerMissing, load, names
from benchmarks.peers._run import results


def main() -> int:
    parser = argparse.ArgumentParser(description="Fill the cache of peer results.")
    parser.add_argument("--peers", default=",".join(names()), help="module names (default: all)")
    parser.add_argument("--sets", default="", help="sets of the data (default: all)")
    parser.add_argument("--min-pages", type=int, default=1, help="only sites with so many pages")
    options = parser.parse_args()
    sets = options.sets.split(",") if options.sets else None
    groups = data.sites(options.min_pages, sets, gold=True)
    pages = [page for group in groups.values() for page in group if page.gold_path]
    for module in options.peers.split(","):
        try:
            peer = load(module)
        except PeerMissing as problem:
            print(f"left out: {problem}", file=sys.stderr)
            continue
        found = results(peer, pages)
        seconds = sum(result.seconds for result in found.values())
        failed = sum(result.error is not None for result in found.values())
        empty = sum(not result.text.strip() for result in found.values())
        counts = f"{len(found)} pages, {seconds:.0f} s, {failed} failed, {empty} empty"
        print(f"{peer.name} {peer.version}: {counts}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
