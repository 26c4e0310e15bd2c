"""Texts, tokens, paths and pages -> 64-bit hashes. The one home of xxhash."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import xxhash

from templatediff.leaves import Leaves
from templatediff.options import Options
from templatediff.text import fold_values, folded_tokens, normal, stopwords, tokens

Hashes = npt.NDArray[np.uint64]

_HASH = xxhash.xxh3_64_intdigest
PRIME = np.uint64(0x9E3779B97F4A7C15)
_TITLE_PARTS = re.compile(r"\s+[|\-\u2013\u2014\u00b7:\u00bb\u2022]\s+")


def digest(text: str) -> int:
    """64-bit hash of a text as it is."""
    return int(_HASH(text.encode("utf-8", "surrogatepass")))


def text_hash(text: str) -> int:
    """64-bit key of a text in normal form.

    >>> text_hash(" Read  more") == text_hash("READ MORE")
    True
    """
    return int(_HASH(normal(text).encode("utf-8", "surrogatepass")))


def bytes_hash(data: bytes) -> int:
    """64-bit hash of bytes."""
    return int(_HASH(data))


def page_key(url: str | None, content_hash: int) -> str:
    """Identity of a page: its fetched URL in normal form, else its content."""
    return url if url else f"xxh3:{content_hash:016x}"


def rank_of(key: str) -> int:
    """64-bit hash of a page's key: the order in which pages are sampled."""
    return int(_HASH(key.encode("utf-8", "surrogatepass")))


def line_hashes(texts: Sequence[str]) -> list[int]:
    """Hashes of texts without line ends, encoded at once: half the cost of one by one."""
    if not texts:
        return []
    return list(map(_HASH, "\n".join(texts).encode("utf-8", "surrogatepass").split(b"\n")))


def leaf_hashes(leaves: Leaves, folded: str, options: Options) -> tuple[Hashes, Hashes]:
    """The leaves' text hashes, and those with values folded; `folded` is the case-folded text, a line each."""
    lines = folded.split("\n")
    if not leaves.text:
        return np.zeros(0, np.uint64), np.zeros(0, np.uint64)
    for number, group in enumerate(leaves.group):
        if group >= 0:  # of all leaves, lines of code alone have white space that is not single
            lines[number] = " ".join(lines[number].split())
    with_values = fold_values("\n".join(lines)).split("\n")
    if options.markup == "keep":
        skeletons = ["\0" + "".join(_SKELETON.findall(markup)) for markup in leaves.markup]
        lines = [one + skeleton for one, skeleton in zip(lines, skeletons, strict=True)]
        with_values = [one + skeleton for one, skeleton in zip(with_values, skeletons, strict=True)]
    plain = line_hashes(lines)
    changed = [number for number, (one, other) in enumerate(zip(lines, with_values, strict=True)) if one != other]
    values = plain.copy()
    for number, found in zip(changed, line_hashes([with_values[number] for number in changed]), strict=True):
        values[number] = found
    return np.array(plain, np.uint64), np.array(values, np.uint64)


_SKELETON = re.compile(r"</?[a-z0-9]+")


def title_parts(title: str) -> list[str]:
    """The parts of a title between separators ("Story - Section - Site")."""
    return _TITLE_PARTS.split(title)


def title_hashes(*titles: str | None) -> set[int]:
    """Hashes of a page's titles and of their parts."""
    found = set()
    for title in titles:
        if title:
            parts = [title, *title_parts(title)]
            found |= {text_hash(part) for part in parts if len(part) > 2}
    return found


def token_hashes(text: str) -> npt.NDArray[np.uint32]:
    """Hashes of a text's tokens as in `Fingerprint.token_hash`, the stopword bit left 0."""
    return np.array([_HASH(word.encode("utf-8", "surrogatepass")) & 0xFFFFFFFE for word in tokens(text)], np.uint32)


def line_tokens(folded: str, leaves: int, lang: str | None) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """(hashes of the tokens, where those of each leaf start), from the case-folded text, a line for each leaf."""
    starts = np.zeros(leaves + 1, np.int64)
    if not leaves:
        return np.zeros(0, np.uint32), starts
    words = folded_tokens(folded)  # line ends among them
    counts = Counter(words)
    counts["\n"] = 0
    stops = stopwords(lang, _most_frequent(counts))
    distinct = list(counts)
    distinct.remove("\n")
    codes = np.array(line_hashes(distinct), np.uint64).astype(np.uint32) & np.uint32(0xFFFFFFFE)
    codes |= np.array([word in stops for word in distinct], bool)
    number = dict(zip(distinct, codes.tolist(), strict=True))
    number["\n"] = -1
    found = np.array([number[word] for word in words], np.int64)
    ends = np.flatnonzero(found < 0)
    starts[1:-1] = ends - np.arange(len(ends))
    starts[-1] = len(found) - len(ends)
    return found[found >= 0].astype(np.uint32), starts


def _most_frequent(counts: Mapping[str, int], most: int = 50) -> list[str]:
    """The most frequent words, most frequent first, equally frequent ones in alphabetical order; line ends do not count."""
    least = sorted(counts.values(), reverse=True)[:most][-1]
    above = [word for word, count in counts.items() if count > least]
    above.sort(key=lambda word: (-counts[word], word))
    if len(above) < most and least:
        above += sorted(word for word, count in counts.items() if count == least)[: most - len(above)]
    return above


def mix(one: Hashes, other: Hashes) -> Hashes:
    """One hash of two, in order, element by element."""
    return np.asarray((one ^ (other >> np.uint64(29))) * PRIME + other)


def chains(own: Hashes, parent: npt.NDArray[np.int64], depth: npt.NDArray[np.int64]) -> Hashes:
    """Hashes of paths from those of their steps, shape (k, m): a depth at a time, some twenty steps where a page has hundreds
    of containers."""
    order = depth.argsort(kind="stable")
    ends = np.bincount(depth).cumsum().tolist()
    above = parent.take(order)
    found = own.copy()
    for start, end in pairwise(ends):
        rows = order[start:end]
        found[:, rows] = (found.take(above[start:end], axis=1) * PRIME) ^ own.take(rows, axis=1)
    return found
