"""Make a synthetic site: python corpora/generate.py --kind forum --script thai --pages 12 --seed 7 -o DIR

Writes DIR/<path>.html and, beside the crawl and never inside it, the truth under --gold.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from corpora.generator import KINDS, SCRIPTS, STATIC_CONTENT, STYLES, SiteSpec, generate_site, write_site


def main(arguments: list[str] | None = None) -> int:
    """The command line; 0 when the site is written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", action="append", choices=KINDS, help="page kind; repeat for a mixed site")
    parser.add_argument("--script", choices=SCRIPTS, default="latin")
    parser.add_argument("--style", choices=STYLES, help="markup of the site (default: by the first kind)")
    parser.add_argument("--pages", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--optional-share", type=float, default=0.6, help="pages with an optional block, 0..1")
    parser.add_argument("--near-duplicates", type=int, default=0)
    parser.add_argument("--months", default="2024-05", help="fetch months, comma-separated, oldest first")
    parser.add_argument("--redesign", help="pages fetched in this month or later have another design")
    parser.add_argument("--licence", action="store_true", help="add a licence page under two addresses")
    parser.add_argument("--prefix", default="", help='put before every path, such as "www.a.example/"')
    parser.add_argument("--sidecars", action="store_true", help="write URL and fetch time beside each page")
    parser.add_argument("-o", "--output", type=Path, required=True, help="crawl folder")
    parser.add_argument("--gold", type=Path, help="folder for gold text and truth (default: OUTPUT-gold)")
    given = parser.parse_args(arguments)
    try:
        spec = SiteSpec(
            kinds=tuple(given.kind or ("semantic",)),
            script=given.script,
            style=given.style,
            pages=given.pages,
            seed=given.seed,
            optional_share=given.optional_share,
            near_duplicates=given.near_duplicates,
            months=tuple(given.months.split(",")),
            redesign=given.redesign,
            static_content=tuple(name for name in STATIC_CONTENT if name != "licence" or given.licence),
            prefix=given.prefix,
        )
    except ValueError as error:
        parser.error(str(error))
    site = generate_site(spec)
    gold = given.gold or given.output.with_name(given.output.name + "-gold")
    write_site(site, given.output, gold, sidecars=given.sidecars)
    print(f"{len(site.pages)} pages of {site.host} in {given.output}, truth in {gold}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
