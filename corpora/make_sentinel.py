"""Write the sentinel pages and, apart from them, their gold: python corpora/make_sentinel.py -o DIR [--gold FILE]"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from corpora.sentinel import write


def main(arguments: list[str] | None = None) -> int:
    """The command line; 0 when the pages are written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder for the pages")
    parser.add_argument("--gold", type=Path, help="file for the gold (default: OUTPUT-gold.jsonl)")
    given = parser.parse_args(arguments)
    gold = given.gold or given.output.with_name(given.output.name + "-gold.jsonl")
    print(f"{write(given.output, gold)} pages in {given.output}, gold in {gold}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
