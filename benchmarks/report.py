"""The report of a large site: time, peak memory, size of the folder.

    python benchmarks/report.py                    # 10,000 pages
    python benchmarks/report.py --pages 2500       # what grows with the number of pages shows beside

The pages are those of `benchmarks/memory.py`: a generated site (nine articles to a forum thread) with the words of its
paragraphs drawn anew for each page, some 15 KB each, written to a temporary folder.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.memory import write  # noqa: E402

# Runs alone in a process, so that neither the generator nor the reading of results counts. Its workers are no children of it but
# of a server that forks them: what they take is not seen here (benchmarks/resident.py).
_REPORT = """
import resource, sys
from templatediff.report.write import write_report
files, size = write_report([sys.argv[1]], sys.argv[2], jobs=int(sys.argv[3]))
used = resource.getrusage(resource.RUSAGE_SELF)
print(files, size, used.ru_maxrss, round(used.ru_utime + used.ru_stime))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="templatediff-report-") as name:
        crawl, target = Path(name, "crawl"), Path(name, "report")
        read = write(crawl, given.pages, 1)
        start = time.monotonic()
        command = [sys.executable, "-c", _REPORT, str(crawl), str(target), str(given.jobs)]
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        seconds = time.monotonic() - start
        files, size, own, cpu = map(int, done.stdout.split())
        largest = max(target.rglob("*.html"), key=lambda file: file.stat().st_size)
        print(f"{given.pages:,} pages, {read / 1e6:,.0f} MB, {given.jobs} job(s)")
        print(f"{seconds:,.0f} s; the process that writes: {cpu:,} s of CPU, peak memory {own / 1024:,.0f} MB")
        print(f"folder: {files:,} files, {size / 1e6:,.0f} MB, {size / given.pages / 1e3:.1f} KB a page")
        print(f"largest file: {largest.relative_to(target)}, {largest.stat().st_size / 1e3:,.0f} KB")


if __name__ == "__main__":
    main()
