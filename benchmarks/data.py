"""The real pages with gold text: finding them, unpacking them, reading their lists, splitting them by site.

The pages are their publishers' and stay outside the repository: `dev_folder` takes them from the folder
named by TEMPLATEDIFF_DATA, else unpacks `../shared/data/dev.tar.xz` (beside the repository) into the user's
cache folder. Everything here is read-only and deterministic.
"""

from __future__ import annotations

import csv
import hashlib
import os
import re
import shutil
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from publicsuffixlist import PublicSuffixList

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
#: Folders that collect pages of unrelated sites: every page in them is a site of its own.
NO_SITE = frozenset({("readability", "_unknown"), ("zh-wced", "_unknown"), ("gne", "other")})
_OWN_URL = re.compile(
    rb"""<link\b[^>]*?\brel\s*=\s*["']?canonical\b[^>]*>|<meta\b[^>]*?["']og:url["'][^>]*>|<base\b[^>]*>""",
    re.I,
)
_HREF = re.compile(rb"""\b(?:href|content)\s*=\s*["']?\s*(https?://[^"'\s>]+)""", re.I)


class DataMissing(Exception):
    """There are no pages to measure on; the text says where they were looked for."""


@dataclass(frozen=True, slots=True)
class DevPage:
    """One page of the data set.

    set        name of the set it comes from ("dragnet", "wcxb", ...)
    site       folder of its site inside the set; pages of unknown origin have `_unknown/<page>`
    page       name of the page inside the site
    html_path  the captured bytes
    gold_path  main content as UTF-8 text, or None if the page has attributes only or no gold at all
    lang       language as the set states it (may be "")
    page_type  "article", "forum", ... where the set tells, else None
    """

    set: str
    site: str
    page: str
    html_path: Path
    gold_path: Path | None
    lang: str
    page_type: str | None

    @property
    def key(self) -> str:
        """`set/site/page`: unique in the data set, the same on every machine."""
        return f"{self.set}/{self.site}/{self.page}"

    def html(self) -> bytes:
        return self.html_path.read_bytes()

    def gold(self) -> str:
        """The gold text; "" without gold. Bytes that are not UTF-8 become U+FFFD, as in score.py."""
        return "" if self.gold_path is None else self.gold_path.read_text(encoding="utf-8", errors="replace")


def cache_folder() -> Path:
    """Where this user's caches live, with our name added; made when missing."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "templatediff"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@cache
def dev_folder() -> Path:
    """The folder with manifest.tsv and the sets. Raises DataMissing when it can be neither found nor made."""
    named = os.environ.get("TEMPLATEDIFF_DATA")
    if named:
        if not (Path(named) / "manifest.tsv").is_file():
            raise DataMissing(f"TEMPLATEDIFF_DATA is {named}, which holds no manifest.tsv")
        return Path(named)
    archive = SHARED / "data" / "dev.tar.xz"
    if not archive.is_file():
        raise DataMissing(f"no {archive}, and TEMPLATEDIFF_DATA is not set")
    with archive.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()[:12]
    target = cache_folder() / f"dev-{digest}"
    if not (target / "manifest.tsv").is_file():
        # Unpacked aside and renamed, so that an interrupted run leaves no half of a data set behind.
        aside = Path(tempfile.mkdtemp(prefix="dev-", dir=cache_folder()))
        try:
            print(f"unpacking {archive.name} into {target} (612 MB)", file=sys.stderr)
            with tarfile.open(archive) as tar:
                tar.extractall(aside, filter="data")
            if not target.exists():
                (aside / "dev").rename(target)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    return target


def _page_types(folder: Path) -> tuple[Path | None, dict[tuple[str, str, str], str]]:
    for place in (folder, folder.parent, SHARED / "data"):
        path = place / "page_types.tsv"
        if path.is_file():
            with path.open(encoding="utf-8", newline="") as lines:
                rows = list(csv.reader(lines, delimiter="\t"))[1:]
            return path, {(row[0], row[1], row[2]): row[3] for row in rows}
    return None, {}


@cache
def pages() -> tuple[DevPage, ...]:
    """All pages whose HTML is there, in the order of the manifest."""
    folder = dev_folder()
    types = _page_types(folder)[1]
    found = []
    with (folder / "manifest.tsv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            name, site, page = row["dataset"], row["site"], row["page"]
            html = folder / name / site / f"{page}.html"
            gold = html.with_name(f"{page}.gold.txt")
            if html.is_file():
                found.append(
                    DevPage(
                        set=name,
                        site=f"{site}/{page}" if (name, site) in NO_SITE else site,
                        page=page,
                        html_path=html,
                        gold_path=gold if gold.is_file() else None,
                        lang=row["lang"] or "",
                        page_type=types.get((name, site, page)),
                    )
                )
    return tuple(found)


def sites(
    min_pages: int = 1, sets: Collection[str] | None = None, *, gold: bool = False
) -> dict[tuple[str, str], tuple[DevPage, ...]]:
    """(set, site) -> its pages by name, for sites of `min_pages` pages or more in the `sets` (default all).

    With `gold` only sites on which at least one page has gold text; their pages without gold are there too,
    since they are evidence.
    """
    groups: dict[tuple[str, str], list[DevPage]] = {}
    for page in pages():
        if sets is None or page.set in sets:
            groups.setdefault((page.set, page.site), []).append(page)
    return {
        key: tuple(sorted(group, key=lambda page: page.page))
        for key, group in sorted(groups.items())
        if len(group) >= min_pages and (not gold or any(page.gold_path for page in group))
    }


@cache
def corpus_hash() -> str:
    """12 hex digits over the lists and the sizes of pages and gold files: what a result was measured on."""
    folder = dev_folder()
    digest = hashlib.sha256((folder / "manifest.tsv").read_bytes())
    types = _page_types(folder)[0]
    digest.update(types.read_bytes() if types else b"")
    for page in pages():
        gold = page.gold_path.stat().st_size if page.gold_path else -1
        digest.update(f"{page.key}\t{page.html_path.stat().st_size}\t{gold}\n".encode())
    return digest.hexdigest()[:12]


def clean_lang(lang: str) -> str:
    """The primary language subtag in lower case, "" when there is none.

    >>> [clean_lang(lang) for lang in ("en-US", "ind", "", "nl_NL")]
    ['en', 'id', '', 'nl']
    """
    primary = re.split(r"[-_]", lang.strip().lower())[0]
    return "id" if primary == "ind" else primary


# --- folds -------------------------------------------------------------------------------------------------


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList(accept_unknown=False)


def registrable(name: str) -> str | None:
    """The registrable domain of a host or site folder name, None if it is no domain name.

    >>> registrable("www.bbc.co.uk_news"), registrable("de.WAZ"), registrable("handbook-ja")
    ('bbc.co.uk', None, None)
    """
    host = name.partition("_")[0].partition(":")[0]
    # Set makers write hosts in lower case; "de.BR" is a country and a publisher, not a host under ".br".
    if "." not in host or host != host.lower():
        return None
    domain = _suffixes().privatesuffix(host)
    return domain if isinstance(domain, str) else None


def _named_by_pages(group: Iterable[DevPage]) -> str | None:
    """The registrable domain that most of a site's pages name as their own (canonical link, og:url, base)."""
    votes: Counter[str] = Counter()
    for page in group:
        with page.html_path.open("rb") as stream:
            head = stream.read(200_000)
        for tag in _OWN_URL.findall(head):
            href = _HREF.search(tag)
            host = _host(href[1].decode("ascii", "ignore")) if href else None
            domain = registrable(host) if host else None
            if domain:
                votes[domain] += 1
                break
    return min(votes, key=lambda domain: (-votes[domain], domain)) if votes else None


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


@cache
def fold_keys() -> dict[tuple[str, str], str]:
    """(set, site) -> the name that decides its fold.

    This is the registrable domain without its public suffix, so that a publisher's sites in several
    countries, and the same site in several sets, stay together; for sites whose folder is no domain, that of
    the domain their pages name; else the folder's own name up to the first hyphen ("apache2-fr").
    """
    keys = {}
    for (name, site), group in sites().items():
        domain = registrable(site) or _named_by_pages(group[:5])
        keys[name, site] = domain.partition(".")[0] if domain else site.lower().partition("-")[0]
    return keys


def fold_of(page: DevPage | tuple[str, str], folds: int = 5, seed: int = 0) -> int:
    """The fold, 0 .. folds - 1, of a page or of a (set, site)."""
    key = (page.set, page.site) if isinstance(page, DevPage) else page
    return int.from_bytes(seeded(seed, fold_keys()[key])[:8], "big") % folds


def seeded(seed: int, *parts: str) -> bytes:
    """A rank that looks random, is the same everywhere, and differs from seed to seed."""
    return hashlib.sha256("\t".join((str(seed), *parts)).encode()).digest()


def choose_siblings(page: DevPage, group: Sequence[DevPage], count: int, seed: int = 0) -> tuple[DevPage, ...]:
    """`count` of the other pages of `group`, by a seeded hash, in name order.

    A smaller count gives a subset of what a greater one gives, so that curves over n compare like with like.
    """

    others = sorted(
        (other for other in group if other.key != page.key),
        key=lambda other: seeded(seed, page.key, other.key),
    )
    return tuple(sorted(others[:count], key=lambda other: other.page))
