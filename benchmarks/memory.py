"""Memory of learning a large site: peak resident memory of the process that learns, and the size of the profile.

    python benchmarks/memory.py                    # 100,000 pages, a month: about half an hour on one core
    python benchmarks/memory.py --pages 20000 --months 6

The site's addresses are slugs in the root, so that every page has a URL shape of its own. Its pages are those of a
generated site with the words of their paragraphs drawn anew, some 15 KB each; they are written to a temporary folder.
Exit status 1 where a limit (300 MB, 10 MB) is passed.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.processes import COMMAND, WORKER, watched  # noqa: E402
from corpora.generator import SiteSpec, generate_site  # noqa: E402

HOST = "www.large.example"
MOST_MEMORY, MOST_PROFILE = 300, 10  #: MB
SKELETONS = 60
_PARAGRAPH = re.compile(r"(?<=>)[^<>]{60,}(?=<)")

# Runs alone in a process, so that neither the generator nor the writer counts.
_LEARN = """
import sys
from templatediff.run import learn_crawl
learn_crawl([sys.argv[1]], sys.argv[2], int(sys.argv[3]))
"""


def pages(count: int, months: int) -> Iterator[tuple[str, str, str]]:
    """(slug, fetch time, HTML) of each page: an article or, one in ten, a forum thread."""
    spec = SiteSpec(kinds=("news",) * 9 + ("forum",), pages=SKELETONS, seed=3, canonical=False)
    skeletons = [page.html for page in generate_site(spec).pages]
    words = sorted({word for html in skeletons for word in re.findall(r"[a-z]{4,}", re.sub(r"<[^>]*>", " ", html))})
    rng = random.Random(7)
    used: set[str] = set()
    for number in range(count):
        slug = "-".join(rng.sample(words, 4))
        while slug in used:
            slug = "-".join(rng.sample(words, 5))
        used.add(slug)
        # A third of the paragraphs keeps its words: the menus, teasers and notices that look like paragraphs.
        html = _PARAGRAPH.sub(
            lambda found: (
                " ".join(rng.choices(words, k=len(found[0]) // 7)) + "." if hash_of(found[0]) % 3 else found[0]
            ),
            skeletons[number % SKELETONS],
        )
        yield slug, f"2024-{1 + number * months // count:02}-{1 + number % 28:02}T00:00:00Z", html


def hash_of(text: str) -> int:
    """A number of the text that is the same in every process."""
    return sum(text.encode())


def write(folder: Path, count: int, months: int) -> int:
    """Write the site with its sidecars; the bytes of its pages."""
    size = 0
    for slug, fetched, html in pages(count, months):
        file = folder / slug[:2] / f"{slug}.html"
        file.parent.mkdir(parents=True, exist_ok=True)
        size += file.write_text(html, encoding="utf-8")
        sidecar = json.dumps({"url": f"https://{HOST}/{slug}", "fetched": fetched})
        file.with_name(file.name + ".meta.json").write_text(sidecar, encoding="utf-8")
    return size


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=100_000, help="size of the site (default: 100,000)")
    parser.add_argument(
        "--months", type=int, default=1, help="fetch months over which the pages are spread (default: 1)"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes that learn (default: 1)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="templatediff-memory-") as name:
        crawl, templates = Path(name, "crawl"), Path(name, "templates")
        size = write(crawl, given.pages, given.months)
        start = time.monotonic()
        command = [sys.executable, "-c", _LEARN, str(crawl), str(templates), str(given.jobs)]
        with subprocess.Popen(command, cwd=ROOT, text=True) as run:
            peaks = watched(run)
        if run.returncode:
            raise SystemExit(f"learning ended with status {run.returncode}")
        seconds = time.monotonic() - start
        own, workers = peaks.most(COMMAND), peaks.most(WORKER)
        profile = sum(file.stat().st_size for file in templates.glob("*/profile.*")) / 1e6
    print(
        f"{given.pages:,} pages, {size / 1e6:,.0f} MB, {given.months} month(s), {given.jobs} job(s): {seconds:,.0f} s"
    )
    print(
        f"peak memory {own:,.0f} MB (limit {MOST_MEMORY})" + (f", largest worker {workers:,.0f} MB" if workers else "")
    )
    print(f"profile {profile:.2f} MB (limit {MOST_PROFILE})")
    return int(max(own, workers) >= MOST_MEMORY or profile >= MOST_PROFILE)


if __name__ == "__main__":
    sys.exit(main())
