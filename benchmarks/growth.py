"""How CPU time and memory grow: with the pages of a site, the sites, the processes, the size of a page.

    python benchmarks/growth.py --pages 1000,10000    # one site of so many pages: CPU time a page, peak memory
    python benchmarks/growth.py --sites 1,100         # 1,000 pages in so many sites
    python benchmarks/growth.py --jobs 1,2            # seconds of so many processes, 2,000 pages of one site
    python benchmarks/growth.py --shapes              # one page of a shape that invites the square: at n, 2 n and 4 n

Pages are those of benchmarks/memory.py, some 15 KB each, written to a temporary folder. Each run has a process of its own. A
figure beside another is its ratio to the first of the same table; without options, all tables at a tenth of the size.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.memory import pages  # noqa: E402
from benchmarks.processes import COMMAND, SERVER, WORKER, watched  # noqa: E402

_RUN = """
import json, resource, sys, time
from templatediff.run import extract_crawl, learn_crawl
crawl, templates, jobs, what = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
begun = time.monotonic()
if what == "learn":
    learn_crawl([crawl], templates, jobs)
else:
    for _ in extract_crawl([crawl], templates if what == "apply" else None, jobs, parts=()):
        pass
seconds = time.monotonic() - begun
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([seconds, used.ru_utime + used.ru_stime]))
"""

#: Pages that are long in one way, by number of what they are long of.
SHAPES: dict[str, tuple[int, Callable[[int], str]]] = {
    "rows of a table": (12_500, lambda n: "<table>" + "<tr><td>Row of this<td>value</tr>" * n + "</table>"),
    "<br>": (25_000, lambda n: "<div>" + "line of text<br>" * n + "</div>"),
    "short paragraphs": (12_500, lambda n: "".join(f"<p>Note {number} of this page.</p>" for number in range(n))),
    "<p>a": (50_000, lambda n: "<p>a" * n),
    "links": (12_500, lambda n: "<p>" + "".join(f"<a href=/{number}>to {number}</a> " for number in range(n))),
    "words of one paragraph": (100_000, lambda n: "<p>" + "".join(f"w{number} " for number in range(n))),
    "copies of an article": (
        500,
        lambda n: ("<div>" + "<p>The same words again, of this line.</p>" * 8 + "</div>") * n,
    ),
    "lines of code": (12_500, lambda n: "<pre>" + "".join(f"  line {number}\n" for number in range(n)) + "</pre>"),
    "nested divs": (500, lambda n: "<div>t" * n),
    "options of a choice": (12_500, lambda n: "<p>One of them.<select>" + "<option>This one" * n + "</select>"),
    "terms": (6_000, lambda n: "<dl>" + "<dt>term<dd>what it means" * n + "</dl>"),
}


def write(folder: Path, count: int, sites: int = 1) -> None:
    """`count` pages in so many sites, one after the other in each."""
    for number, (slug, fetched, html) in enumerate(pages(count, 1)):
        host = f"site{number * sites // count}.example"
        file = folder / host / slug[:2] / f"{slug}.html"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(html, encoding="utf-8")
        sidecar = json.dumps({"url": f"https://{host}/{slug}", "fetched": fetched})
        file.with_name(file.name + ".meta.json").write_text(sidecar, encoding="utf-8")


def run(crawl: Path, what: str, jobs: int = 1) -> tuple[float, float, float]:
    """(seconds, CPU seconds of the first process, peak memory in MB of the largest) of one run over a crawl."""
    templates = crawl.with_name(crawl.name + "-templates")
    command = [sys.executable, "-c", _RUN, str(crawl), str(templates), str(jobs), what]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment) as process:
        peaks = watched(process)
        told, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"{what} ended with status {process.returncode}")
    seconds, cpu = json.loads(told)
    return seconds, cpu, peaks.most(COMMAND, SERVER, WORKER)


def of_pages(folder: Path, counts: Sequence[int]) -> Iterator[str]:
    yield "| pages of one site | run | CPU ms a page | to the first | peak MB |\n|---:|---|---:|---:|---:|"
    first: dict[str, float] = {}
    for count in counts:
        crawl = folder / f"pages{count}"
        write(crawl, count)
        for what in ("learn", "apply", "extract"):
            _, cpu, memory = run(crawl, what)
            each = cpu / count * 1e3
            yield f"| {count:,} | {what} | {each:.2f} | {each / first.setdefault(what, each):.2f} | {memory:.0f} |"


def of_sites(folder: Path, sites: Sequence[int], count: int) -> Iterator[str]:
    yield f"| sites, of {count:,} pages in all | CPU ms a page | to the first | peak MB |\n|---:|---:|---:|---:|"
    first = 0.0
    for number in sites:
        crawl = folder / f"sites{number}"
        write(crawl, count, number)
        _, cpu, memory = run(crawl, "extract")
        first = first or cpu
        yield f"| {number:,} | {cpu / count * 1e3:.2f} | {cpu / first:.2f} | {memory:.0f} |"


def of_jobs(folder: Path, jobs: Sequence[int], count: int) -> Iterator[str]:
    yield f"| processes, {count:,} pages of one site | seconds | times as fast | peak MB of the largest |"
    yield "|---:|---:|---:|---:|"
    crawl = folder / "jobs"
    write(crawl, count)
    first = 0.0
    for number in jobs:
        seconds, _, memory = run(crawl, "extract", number)
        first = first or seconds
        yield f"| {number} | {seconds:.1f} | {first / seconds:.2f} | {memory:.0f} |"


def of_shapes(scale: float) -> Iterator[str]:
    """Each doubling of a page that grows in one way should cost twice as much."""
    import templatediff as td

    td.extract("<p>What is read once for all pages is read before the first.")
    yield "| a page of so many | n | CPU s | 2 n | 4 n |\n|---|---:|---:|---:|---:|"
    for name, (size, make) in SHAPES.items():
        spent = []
        for count in (1, 2, 4):
            html = make(max(1, int(size * scale)) * count)
            begun = time.process_time()
            found = td.extract(html)
            spent.append(time.process_time() - begun)
            if found.error is not None:
                spent[-1] = float("nan")
        told = " | ".join(f"{later / before:.2f}" for before, later in pairwise(spent))
        yield f"| {name} | {int(size * scale):,} | {spent[0]:.2f} | {told} |"


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=numbers, metavar="N,...")
    parser.add_argument("--sites", type=numbers, metavar="N,...")
    parser.add_argument("--jobs", type=numbers, metavar="N,...")
    parser.add_argument("--shapes", action="store_true")
    parser.add_argument("--count", type=int, help="pages for --sites (default: 1,000) and --jobs (default: 2,000)")
    given = parser.parse_args(arguments)
    whole = not (given.pages or given.sites or given.jobs or given.shapes)
    with tempfile.TemporaryDirectory(prefix="templatediff-growth-") as name:
        folder = Path(name)
        tables: list[Iterator[str]] = []
        if given.pages or whole:
            tables.append(of_pages(folder, given.pages or [100, 1000]))
        if given.sites or whole:
            tables.append(of_sites(folder, given.sites or [1, 10], given.count or (100 if whole else 1000)))
        if given.jobs or whole:
            tables.append(of_jobs(folder, given.jobs or [1, 2], given.count or (200 if whole else 2000)))
        if given.shapes or whole:
            tables.append(of_shapes(0.1 if whole else 1.0))
        for table in tables:
            for line in table:
                print(line, flush=True)
            print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
