"""Resident memory of runs that go on for long: does it stay flat, does it stay under its limit?

    python benchmarks/resident.py process              # 5,000 pages through td.extract in one process
    python benchmarks/resident.py site                 # 10,000 pages of one site, `templatediff extract --jobs 2`
    python benchmarks/resident.py sites                # 3,000 sites of 3 pages, the same
    python benchmarks/resident.py site --pages 1000    # smaller

Pages are those of benchmarks/memory.py, some 15 KB each. `process` tells resident memory after each 1,000 pages, and its growth
from the first thousand on. The others look at every process of the command a few times a second: RSS, and PSS, which counts
pages of memory that processes share once. Exit status 1 where the growth is over 5 MB a thousand pages, or the PSS of all
processes over 300 MB + 100 MB a worker. Linux.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.memory import pages, write  # noqa: E402
from benchmarks.processes import watched  # noqa: E402

COUNTS = {"process": 5_000, "site": 10_000, "sites": 9_000}
PAGES_A_SITE = 3
MOST_GROWTH = 5.0  #: MB a thousand pages
MOST, MOST_A_WORKER = 300, 100  #: MB

# Prints the resident memory (kB) after each `step` pages.
_EXTRACT = """
import re, sys
from pathlib import Path
import templatediff as td
step = int(sys.argv[2])
files = sorted(Path(sys.argv[1]).rglob("*.html"))
for number, file in enumerate(files, 1):
    assert td.extract(file.read_bytes()).error is None, file
    if number % step == 0:
        print(re.search(r"VmRSS:\\s+(\\d+)", Path("/proc/self/status").read_text())[1], flush=True)
"""


def write_sites(folder: Path, count: int) -> int:
    """Write `count` pages, three a host, in a folder each; the bytes of the pages."""
    size = 0
    for number, (slug, _, html) in enumerate(pages(count, 1)):
        file = folder / f"www.site{number // PAGES_A_SITE:05}.example" / f"{slug}.html"
        file.parent.mkdir(parents=True, exist_ok=True)
        size += file.write_text(html, encoding="utf-8")
    return size


def in_one_process(folder: Path, count: int) -> bool:
    """Run td.extract over a folder's pages and tell what the process takes; whether that stays flat."""
    step = min(1000, max(1, count // 5))
    command = [sys.executable, "-c", _EXTRACT, str(folder), str(step)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    taken = [int(line) / 1024 for line in done.stdout.split()]
    growth = (taken[-1] - taken[0]) / ((len(taken) - 1) * step / 1000)
    print(f"resident memory after each {step:,} pages: {' '.join(f'{mb:,.1f}' for mb in taken)} MB")
    print(f"growth a thousand pages, from the first {step:,} on: {growth:+.2f} MB (limit {MOST_GROWTH})")
    return growth <= MOST_GROWTH


def by_command_line(folder: Path, out: Path, jobs: int) -> bool:
    """Run `templatediff extract` over a folder and tell what its processes take; whether that is under the limit."""
    command = [sys.executable, "-m", "templatediff", "extract", str(folder), "-o", str(out), "--jobs", str(jobs)]
    with subprocess.Popen([*command, "--quiet"], cwd=ROOT, text=True) as run:
        peaks = watched(run)
    if run.returncode:
        raise SystemExit(f"templatediff ended with status {run.returncode}")
    for role, rss, pss in peaks.processes:
        print(f"{role}: peak RSS {rss:,.0f} MB, PSS {pss:,.0f} MB")
    most = MOST + MOST_A_WORKER * jobs
    print(f"all together, at the worst moment: RSS {peaks.rss:,.0f} MB, PSS {peaks.pss:,.0f} MB (limit {most})")
    return peaks.pss <= most


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=COUNTS)
    parser.add_argument("--pages", type=int, help="number of pages (default: 5,000, 10,000 or 9,000)")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes (default: 2)")
    given = parser.parse_args()
    count = given.pages or COUNTS[given.what]
    with tempfile.TemporaryDirectory(prefix="templatediff-resident-") as name:
        crawl = Path(name, "crawl")
        size = write_sites(crawl, count) if given.what == "sites" else write(crawl, count, 1)
        start = time.monotonic()
        if given.what == "process":
            good = in_one_process(crawl, count)
        else:
            good = by_command_line(crawl, Path(name, "out.jsonl"), given.jobs)
    seconds = time.monotonic() - start
    print(f"{given.what}: {count:,} pages, {size / 1e6:,.0f} MB, {seconds:,.0f} s, load {os.getloadavg()[0]:.0f}")
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
