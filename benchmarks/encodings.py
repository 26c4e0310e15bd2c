"""How often real pages that are not in UTF-8 are read as what they are.

    python -m benchmarks.encodings [--wrong]

Counted are the pages of the data set whose bytes are not UTF-8 and whose gold text can tell, by pairs of neighbouring
characters of the gold, one of them not ASCII, that the page does not spell as entities. The truth is the encoding, of all
that the Encoding Standard knows, that finds most of these pairs in the page. A reading is right if it finds 95 % of what
the truth finds. Beside templatediff on the same pages: what is declared in a `<meta>`, else windows-1252, and chardetng
alone, which browsers ask where nothing is declared.
"""

from __future__ import annotations

import argparse
import html
import re
from collections import Counter, defaultdict
from collections.abc import Iterable

import chardetng_py  # type: ignore[import-untyped]

from benchmarks.data import DevPage, pages
from templatediff.charsets import label
from templatediff.decode import decode

ENOUGH = 0.95  #: share of the truth's pairs that a right reading finds
SILENT = "gold cannot tell"
#: Python's names of what the standard has; of several with the same letters the first is taken for the truth.
CANDIDATES = (
    "utf-8", "cp1252", "gb18030", "big5hkscs", "cp932", "euc_jp", "cp949", "iso2022_jp", "cp1251", "koi8-r", "koi8-u",
    "cp866", "mac-roman", "mac-cyrillic", "cp874", "cp1250", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257",
    "cp1258", "iso8859-2", "iso8859-3", "iso8859-4", "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-10",
    "iso8859-13", "iso8859-14", "iso8859-15", "iso8859-16", "utf-16-le", "utf-16-be",
)  # fmt: skip
CODECS = {"gbk": "gb18030", "big5": "big5hkscs", "shift_jis": "cp932", "euc-kr": "cp949", "windows-874": "cp874"}
READERS = ("templatediff", "declared", "chardetng")
_WORD = re.compile(r"[^\s<>]{2,}")
_META = re.compile(rb"""<meta[^>]+?charset\s*=\s*["']?\s*([\w.:-]+)""", re.I)


def pairs(text: str) -> set[str]:
    """Pairs of neighbouring characters of which one is not ASCII."""
    found: set[str] = set()
    for match in _WORD.finditer(html.unescape(text)):
        word = match[0]
        if not word.isascii():
            found.update(word[at : at + 2] for at in range(len(word) - 1))
    return {pair for pair in found if not pair.isascii() and "\ufffd" not in pair}


def read_as(data: bytes, codec: str) -> str:
    """The text by Python's codec, whatever happens."""
    return data.decode(codec, "replace")


def declared(data: bytes) -> str:
    """The text by the first `<meta>` of the first 1,024 bytes, else by windows-1252."""
    found = _META.search(data[:1024])
    name = label(found[1].decode("ascii", "replace")) if found else None
    name = "utf-8" if name and name.startswith("utf-16") else name or "windows-1252"
    return read_as(data, CODECS.get(name, name))


def detected(data: bytes) -> str:
    """The text by what chardetng says of the bytes."""
    detector = chardetng_py.EncodingDetector()
    detector.feed(data, last=True)
    name = label(detector.guess(tld=None, allow_utf8=True)) or "windows-1252"
    return read_as(data, CODECS.get(name, name))


def judge(page: DevPage) -> tuple[str, dict[str, bool]] | None:
    """(the page's encoding, or SILENT, and which reader is right); None for pages in UTF-8."""
    data = page.html()
    try:
        data.decode("utf-8")
        if b"\0" not in data:
            return None
    except UnicodeDecodeError:
        pass
    wanted = pairs(page.gold()) - pairs(data.decode("ascii", "ignore")) if page.gold_path is not None else set()
    found = {codec: len(wanted & pairs(read_as(data, codec))) for codec in CANDIDATES}
    truth = max(CANDIDATES, key=lambda codec: found[codec])
    if not found[truth]:
        return SILENT, {}
    texts = {"templatediff": decode(data).text, "declared": declared(data), "chardetng": detected(data)}
    return truth, {name: len(wanted & pairs(text)) >= ENOUGH * found[truth] for name, text in texts.items()}


def measure(chosen: Iterable[DevPage]) -> tuple[dict[str, Counter[str]], list[str]]:
    """(of each encoding its pages and how many of them each reader has right, pages that templatediff has wrong)."""
    tallies: dict[str, Counter[str]] = defaultdict(Counter)
    wrong = []
    for page in chosen:
        judged = judge(page)
        if judged is not None:
            tallies[judged[0]].update({"pages": 1, **{name: int(right) for name, right in judged[1].items()}})
            if not judged[1].get("templatediff", True):
                wrong.append(f"{page.key}: {judged[0]}")
    return tallies, wrong


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wrong", action="store_true", help="name the pages that templatediff reads wrongly")
    options = parser.parse_args()
    tallies, wrong = measure(pages())
    silent = tallies.pop(SILENT, Counter())["pages"]
    total = sum(tallies.values(), Counter[str]())
    print(f"| encoding | pages | {' | '.join(READERS)} |\n|---|{'---:|' * (len(READERS) + 1)}")
    for name, tally in [*sorted(tallies.items(), key=lambda item: (-item[1]["pages"], item[0])), ("all", total)]:
        print(f"| {name} | {tally['pages']} | {' | '.join(str(tally[reader]) for reader in READERS)} |")
    print(f"{silent} more pages are not in UTF-8, and their gold cannot tell: it is ASCII, or there is none.")
    if options.wrong:
        print("\n".join(wrong))


if __name__ == "__main__":
    main()
