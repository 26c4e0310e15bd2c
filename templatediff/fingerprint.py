"""Leaves -> fingerprint: all that is remembered of a page. The one home of xxhash.

A fingerprint is columns of integers over the leaves, the token hashes of each leaf, the containers they lie in, links,
and the page's title. Every later stage (repetition, regions, slots, gist, labels) reads fingerprints only, of the page
at hand and of its siblings alike, so a template can be derived years after the pages are gone.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import Annotated, Any

import msgspec
import numpy as np
import numpy.typing as npt
import xxhash

from templatediff.errors import TemplateError
from templatediff.options import Options
from templatediff.segment import Elements, Leaves
from templatediff.text import fold_values, folded_tokens, normal, stopwords, tokens

Ints = npt.NDArray[Any]

MAX_LEAVES = 2000  #: leaves remembered of a page in a profile, the first in document order
MAX_NAMES = 120  #: characters remembered of an element's id and classes
MAX_TEXT = 240  #: characters remembered of a leaf's text
MAX_TOKENS = 24_000  #: token hashes remembered of a page

# Kinds of link targets
INSIDE, OUTSIDE, FRAGMENT, ACTION = range(4)

_TITLE_PARTS = re.compile(r"\s+[|\-\u2013\u2014\u00b7:\u00bb\u2022]\s+")
_SKELETON = re.compile(r"</?[a-z0-9]+")


@dataclass(frozen=True)
class Fingerprint:
    """One page as numbers. Columns over the n leaves (all of length n, in document order):

    text_hash    64-bit hash of the normalised text (and of the inline tags, with markup="keep")
    folded_hash  the same with values (numbers, dates, ids) folded
    characters, linked, strong, digits, sentence_ends, commas, capitals   counts of characters
    heading, breaks, group, row                                            as in `segment.Leaves`
    token_start  n + 1 offsets into `token_hash`: the tokens of leaf i are token_hash[start[i]:start[i+1]];
                 the lowest bit of a token hash is 1 for a stopword

    Columns over the m containers: parent, place, marks, step (index into `steps`), name (index into `names`: id and
    classes as written and, after a space, a label; for selectors), and `between` for the few that lie inside inline
    elements. Columns over links: link_leaf, link_target and link_text (hashes), link_kind.
    """

    key: str
    rank: int
    fetched: str
    content_hash: int
    url: str | None
    title: str | None
    lang: str | None
    steps: tuple[str, ...]
    tags: tuple[str, ...]
    between: dict[int, str]
    texts: tuple[str, ...]
    title_hashes: Ints
    text_hash: Ints
    folded_hash: Ints
    characters: Ints
    linked: Ints
    strong: Ints
    digits: Ints
    sentence_ends: Ints
    commas: Ints
    capitals: Ints
    heading: Ints
    breaks: Ints
    group: Ints
    row: Ints
    token_start: Ints
    token_hash: Ints
    parent: Ints
    place: Ints
    marks: Ints
    step: Ints
    tag: Ints
    link_leaf: Ints
    link_target: Ints
    link_text: Ints
    link_kind: Ints
    names: tuple[str, ...] = ()
    name: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    origin: Fingerprint | None = None  # the page with all its names, where this is a copy without some of them

    def __len__(self) -> int:
        return len(self.text_hash)

    @cached_property
    def token_count(self) -> Ints:
        """Tokens of each leaf, shape (n,)."""
        return np.diff(self.token_start).astype(np.int64)

    @cached_property
    def token_leaf(self) -> Ints:
        """Leaf of each token."""
        return np.repeat(np.arange(len(self)), self.token_count)

    @cached_property
    def depth(self) -> Ints:
        """Nesting depth of each container, 0 for the body, shape (m,)."""
        found: list[int] = []
        for above in self.parent.tolist():
            found.append(found[above] + 1 if above >= 0 else 0)
        return np.array(found, np.int64)

    @cached_property
    def ends(self) -> Ints:
        """Row after the last container below each container, shape (m,): those below one follow it directly."""
        parents = self.parent.tolist()
        sizes = [1] * len(parents)
        for row in range(len(parents) - 1, 0, -1):
            sizes[parents[row]] += sizes[row]
        return np.arange(len(parents)) + np.array(sizes, np.intp)

    @cached_property
    def step_hash(self) -> Ints:
        """Hash of each container's folded step, shape (m,)."""
        return np.array([_HASH(step.encode()) for step in self.steps], np.uint64).take(self.step)

    @property
    def paths(self) -> Ints:
        """Hash of each container's folded path from the body, shape (m,)."""
        return np.asarray(self._paths[0])

    @property
    def tag_paths(self) -> Ints:
        """Hash of each container's path of element names alone, its place counted in the upper four, shape (m,)."""
        return np.asarray(self._paths[1])

    @cached_property
    def _paths(self) -> Ints:
        if not len(self.parent):
            return np.zeros((2, 0), np.uint64)
        tags = np.array([_HASH(tag.encode()) for tag in self.tags], np.uint64).take(self.tag)
        upper = (self.depth > 0) & (self.depth <= 4)
        return _chains(
            np.array([self.step_hash, tags + (self.place * upper).astype(np.uint64)]), self.parent, self.depth
        )

    @cached_property
    def local_keys(self) -> Ints:
        """Hash of the last three folded steps of each container, shape (m,)."""
        own = self.step_hash
        above = np.where(self.parent >= 0, own[self.parent], np.uint64(0))
        upper = np.where(self.parent >= 0, above[self.parent], np.uint64(0))
        return _mix(_mix(own, above), upper)

    def with_names(self, known: frozenset[str], by_depth: bool = False) -> Fingerprint:
        """A copy whose steps keep only names in `known`: else without the id, else the element's name alone.

        With `by_depth` the latter carries its depth, for sites whose ids and classes change from page to page.
        """
        if by_depth:
            depth: list[int] = []
            for above in self.parent.tolist():
                depth.append(0 if above < 0 else depth[above] + 1)
            named = [f"{self.tags[tag]}@{level}" for tag, level in zip(self.tag.tolist(), depth, strict=True)]
            told = [
                self.steps[step] if self.steps[step] in known and _named(self.steps[step]) else "" for step in self.step
            ]
            steps, step = _intern([one or other for one, other in zip(told, named, strict=True)])
        else:
            if known.issuperset(self.steps):
                return self
            renamed, place = _intern([one if one in known else _known_step(one, known) for one in self.steps])
            steps, step = renamed, place[self.step] if len(self.step) else self.step
        values = {name: getattr(self, name) for name in Fingerprint.__dataclass_fields__}
        made = Fingerprint(**{**values, "steps": steps, "step": step, "origin": self})
        for name in ("token_count", "token_leaf", "depth", "ends"):  # steps have no say in them
            made.__dict__[name] = getattr(self, name)
        return made

    def selector(self, row: int) -> str:
        """CSS path of a container from the body with `:nth-child` steps."""
        steps: list[str] = []
        while row > 0:
            steps.append(f"{self.between.get(row, '')}{self.tags[self.tag[row]]}:nth-child({self.place[row]})")
            row = int(self.parent[row])
        return " > ".join(["body", *reversed(steps)])

    def ngram_hashes(self, order: int) -> tuple[Ints, Ints]:
        """(leaf of each n-gram, 32-bit hash of each n-gram), inside leaves only; shorter leaves give none."""
        count = len(self.token_hash) - order + 1
        if count <= 0:
            return np.zeros(0, np.int64), np.zeros(0, np.uint32)
        leaf = self.token_leaf
        mixed = self.token_hash[:count].astype(np.uint64)
        for shift in range(1, order):
            mixed = mixed * _PRIME + self.token_hash[shift : shift + count]
        inside = leaf[:count] == leaf[order - 1 :]
        return leaf[:count][inside], ((mixed * _PRIME) >> np.uint64(32)).astype(np.uint32)[inside]


_HASH = xxhash.xxh3_64_intdigest
_PRIME = np.uint64(0x9E3779B97F4A7C15)


def _mix(one: Ints, other: Ints) -> Ints:
    return np.asarray((one ^ (other >> np.uint64(29))) * _PRIME + other)


def text_hash(text: str) -> int:
    """64-bit key of a text in normal form.

    >>> text_hash(" Read  more") == text_hash("READ MORE")
    True
    """
    return int(_HASH(normal(text).encode("utf-8", "surrogatepass")))


def _hashes(texts: Sequence[str]) -> list[int]:
    """Hashes of texts without line ends, encoded at once: half the cost of one by one."""
    if not texts:
        return []
    return list(map(_HASH, "\n".join(texts).encode("utf-8", "surrogatepass").split(b"\n")))


def token_hashes(text: str) -> Ints:
    """Hashes of a text's tokens as in `Fingerprint.token_hash`, the stopword bit left 0."""
    return np.array([_HASH(word.encode("utf-8", "surrogatepass")) & 0xFFFFFFFE for word in tokens(text)], np.uint32)


def bytes_hash(data: bytes) -> int:
    """64-bit hash of bytes."""
    return int(_HASH(data))


def page_key(url: str | None, content_hash: int) -> str:
    """Identity of a page: its fetched URL in normal form, else its content."""
    return url if url else f"xxh3:{content_hash:016x}"


def rank_of(key: str) -> int:
    """64-bit hash of a page's key: the order in which pages are sampled."""
    return int(_HASH(key.encode("utf-8", "surrogatepass")))


def fingerprint(
    leaves: Leaves,
    options: Options,
    *,
    content_hash: int,
    key_url: str | None = None,
    url: str | None = None,
    fetched: str | None = None,
) -> Fingerprint:
    """Numbers of a segmented page. `key_url`: its fetched URL in normal form, or None; `url`: what to resolve links by."""
    key = page_key(key_url, content_hash)
    base = url or leaves.head.canonical or leaves.head.og_url
    head = leaves.head
    elements = leaves.elements
    steps, step, tags, tag, names, name = _containers(elements)
    link_leaf, link_target, link_text, link_kind = _links(leaves, base)
    folded = "\n".join(leaves.text).casefold()
    token_hash, token_start = _tokens(folded, len(leaves), head.lang)
    title = head.title or head.og_title
    text_hashes, folded_hashes = _leaf_hashes(leaves, folded, options)
    counts = _character_counts(leaves.text)
    return Fingerprint(
        key=key,
        rank=rank_of(key),
        fetched=fetched or "",
        content_hash=content_hash,
        url=base,
        title=title,
        lang=head.lang,
        steps=steps,
        tags=tags,
        between={row: text for row, text in enumerate(elements.between) if text},
        texts=tuple(leaves.text),
        title_hashes=np.array(sorted(_title_hashes(title, head.og_title)), np.uint64),
        text_hash=text_hashes,
        folded_hash=folded_hashes,
        characters=counts[:, 0],
        linked=np.array(leaves.linked, np.int64),
        strong=np.array(leaves.strong, np.int64),
        digits=counts[:, 1],
        sentence_ends=counts[:, 2],
        commas=counts[:, 3],
        capitals=counts[:, 4],
        heading=np.array(leaves.heading, np.int64),
        breaks=np.array(leaves.breaks, np.int64),
        group=np.array(leaves.group, np.int64),
        row=np.array(leaves.row, np.int64),
        token_start=token_start,
        token_hash=token_hash,
        parent=np.array(elements.parent, np.int64),
        place=np.array(elements.place, np.int64),
        marks=np.array(elements.marks, np.int64),
        step=step,
        tag=tag,
        link_leaf=link_leaf,
        link_target=link_target,
        link_text=link_text,
        link_kind=link_kind,
        names=names,
        name=name,
    )


def _containers(elements: Elements) -> tuple[tuple[str, ...], Ints, tuple[str, ...], Ints, tuple[str, ...], Ints]:
    """The steps, tags and names of the containers, each distinct in order of first use and by index. What is worked out is
    worked out once for each distinct (tag, names): a page has three times as many containers."""
    whole: list[tuple[str, ...]] = list(zip(elements.tag, elements.names, strict=True))
    for row, label in elements.labels.items():
        whole[row] = (*whole[row], label)
    number: dict[tuple[str, ...], int] = {}
    kind = np.array([number.setdefault(one, len(number)) for one in whole], np.intp)
    steps, step = _intern([fold_step(one[0], one[1]) for one in number])
    tags, tag = _intern([one[0] for one in number])
    names, name = _intern([" ".join((_short(one[1]), *one[2:])) for one in number])
    return steps, step.take(kind), tags, tag.take(kind), names, name.take(kind)


def _short(names: str) -> str:
    """The id and the first classes of an element, whole ones."""
    return names if len(names) <= MAX_NAMES else names[: names.rfind(".", 0, MAX_NAMES) + 1].rstrip(".")


@lru_cache(1 << 14)  # pages of a site share most of their elements' names
def fold_step(tag: str, names: str) -> str:
    """One step of a folded path: the element with its id and first classes, changing parts folded.

    Digits, hashes and the random suffixes of generated class names differ from page to page or from release to release.

    >>> fold_step("div", "#post-1234.entry.css-1dbjc4n"), fold_step("p", "")
    ('div#post-0.entry.css', 'p')
    """
    if not names or tag == "body":
        return tag
    if _PLAIN_NAMES.fullmatch(names):
        if names.count(".") > 3:
            names = ".".join(names.split(".")[:4])
        return tag + _DIGITS.sub("0", _NAME_PART.sub("-", names))
    identity, *classes = names.split(".") if not names.startswith(".") else ["", *names[1:].split(".")]
    folded = fold_name(identity[1:]) if identity else ""
    kept = [name for name in (fold_name(part) for part in classes[:6]) if name]
    return tag + (f"#{folded}" if folded else "") + "".join(f".{name}" for name in kept[:3])


def step_forms(step: str) -> tuple[str, ...]:
    """A folded step and its plainer forms, plainest last.

    >>> step_forms("div#intro.sect1"), step_forms("p")
    (('div#intro.sect1', 'div.sect1', 'div'), ('p',))
    """
    head, _, classes = step.partition(".")
    tag = head.partition("#")[0]
    plainer = f"{tag}.{classes}" if classes else tag
    return tuple(dict.fromkeys((step, plainer, tag)))


def _known_step(step: str, known: frozenset[str]) -> str:
    forms = step_forms(step)
    return next((form for form in forms if form in known), forms[-1])


def _named(step: str) -> bool:
    return "#" in step or "." in step


_NAME_PART = re.compile(r"[-_:]+")
_DIGITS = re.compile(r"\d+")
# names no part of which looks generated, by far the most: `fold_name` would change nothing but digits and what parts them
_PLAIN_PART = r"(?:[A-Z]*+[a-z]++(?:[A-Z]++[a-z]*+)?[0-9]{0,4}+|[A-Z]++[0-9]{0,4}+|[0-9]++)"
_PLAIN_NAME = rf"{_PLAIN_PART}(?:[-_:]++{_PLAIN_PART})*+"
_PLAIN_NAMES = re.compile(rf"(?:#{_PLAIN_NAME})?(?:\.{_PLAIN_NAME})*+")
_CASE_SWITCH = re.compile(r"[a-z][A-Z]")


def fold_name(name: str) -> str:
    """A class or id with digits folded to 0 and parts that look generated left out.

    >>> [fold_name(name) for name in ("item-42", "Card_root__2kAbC", "sc-bdVaJa", "navBar")]
    ['item-0', 'Card-root', 'sc', 'navBar']
    """
    parts = [part for part in _NAME_PART.split(name) if part and not _looks_generated(part)]
    return _DIGITS.sub("0", "-".join(parts))


def _looks_generated(part: str) -> bool:
    if len(part) < 5:
        return False
    digits = sum(map(str.isdigit, part))
    if digits == len(part) or re.fullmatch(r"[A-Za-z]+\d{1,4}", part):
        return False
    if digits:
        return True
    switches = len(_CASE_SWITCH.findall(part))
    return switches >= 2 and len(part) / (switches + 1) < 3.5


def _intern(values: list[str]) -> tuple[tuple[str, ...], Ints]:
    """(distinct values in order of first use, index of each value among them)."""
    number: dict[str, int] = {}
    places = [number.setdefault(value, len(number)) for value in values]
    return tuple(number), np.array(places, np.int64)


def _chains(own: Ints, parent: Ints, depth: Ints) -> Ints:
    """Hashes of paths from those of their steps, shape (k, m): a depth at a time, some twenty steps where a page has hundreds
    of containers."""
    order = depth.argsort(kind="stable")
    ends = np.bincount(depth).cumsum().tolist()
    above = parent.take(order)
    found = own.copy()
    for start, end in pairwise(ends):
        rows = order[start:end]
        found[:, rows] = (found.take(above[start:end], axis=1) * _PRIME) ^ own.take(rows, axis=1)
    return found


def _leaf_hashes(leaves: Leaves, folded: str, options: Options) -> tuple[Ints, Ints]:
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
    plain = _hashes(lines)
    changed = [number for number, (one, other) in enumerate(zip(lines, with_values, strict=True)) if one != other]
    values = plain.copy()
    for number, digest in zip(changed, _hashes([with_values[number] for number in changed]), strict=True):
        values[number] = digest
    return np.array(plain, np.uint64), np.array(values, np.uint64)


def _tokens(folded: str, leaves: int, lang: str | None) -> tuple[Ints, Ints]:
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
    codes = np.array(_hashes(distinct), np.uint64).astype(np.uint32) & np.uint32(0xFFFFFFFE)
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


def _title_hashes(*titles: str | None) -> set[int]:
    """Hashes of a page's titles and of their parts between separators ("Story - Section - Site")."""
    found = set()
    for title in titles:
        if title:
            parts = [title, *_TITLE_PARTS.split(title)]
            found |= {text_hash(part) for part in parts if len(part) > 2}
    return found


def _links(leaves: Leaves, base: str | None) -> tuple[Ints, Ints, Ints, Ints]:
    home = split_address(base) if base else ("", "")
    folder = home[1].partition("?")[0].rpartition("/")[0] + "/"
    leaf, addresses, words = zip(*leaves.links, strict=True) if leaves.links else ((), (), ())
    known = {address: _target(address, home[0], folder) for address in dict.fromkeys(addresses)}
    found = [known[address] for address in addresses]
    return (
        np.array(leaf, np.int64),
        np.array([target for target, _ in found], np.uint64),
        np.array(_hashes("\n".join(words).casefold().split("\n")) if words else [], np.uint64),
        np.array([kind for _, kind in found], np.int64),
    )


_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.\-]*:)?//([^/?#]*)([^#]*)", re.I)
_SCHEME = re.compile(r"[a-z][a-z0-9+.\-]*:", re.I)


def split_address(url: str) -> tuple[str, str]:
    """(host in lower case without www., user and port; path with query) of an address; no host for a relative one.

    Cheaper by a factor of ten than urllib's parser, which also refuses addresses that pages do have.

    >>> split_address("https://www.Example.org:80/a?b=1#c"), split_address("a/b#c")
    (('example.org', '/a?b=1'), ('', 'a/b'))
    """
    found = _ADDRESS.match(url)
    if found is None:
        return "", url.partition("#")[0]
    host = found.group(1).rpartition("@")[2].lower()
    return host.partition(":")[0].removeprefix("www."), found.group(2) or "/"


@cache
def front_page() -> int:
    """`link_target` of a link to the site's front page."""
    return _target("/", "", "")[0]


def _target(address: str, host: str, folder: str) -> tuple[int, int]:
    """(hash of where a link leads, kind). Inside the site the host is left out, so that http, https and www agree."""
    if not address or address[0] == "#":
        return _digest(address), FRAGMENT
    if address[0] == "/" and address[1:2] != "/":
        return _digest(address.partition("#")[0]), INSIDE
    where, path = split_address(address)
    if not where:
        if _SCHEME.match(address):
            return _digest(address), ACTION
        if path[:1] != "/":
            path = _without_dots(folder + path)
        return _digest(path), INSIDE
    outside = bool(host) and where != host
    return _digest(where + path if outside else path), OUTSIDE if outside else INSIDE


def _without_dots(path: str) -> str:
    if "./" not in path:
        return path
    head, question, query = path.partition("?")
    steps: list[str] = []
    for step in head.split("/"):
        if step == "..":
            del steps[max(1, len(steps) - 1) :]
        elif step != ".":
            steps.append(step)
    return "/".join(steps) + question + query


def _digest(text: str) -> int:
    return int(_HASH(text.encode("utf-8", "surrogatepass")))


@cache
def _character_classes() -> Ints:
    """Class of each code point of the basic plane: bit 0 digit, 1 sentence end, 2 comma, 3 capital, 4 white space."""
    classes = np.zeros(0x10000, np.uint8)
    for code in range(0x10000):
        category = unicodedata.category(chr(code))
        if category == "Nd":
            classes[code] = 1
        elif category in ("Lu", "Lt"):
            classes[code] = 8
        elif category == "Zs":
            classes[code] = 16
    for mark in ".!?\u2026\u3002\uff01\uff1f\u061f\u06d4\u0964\u0e2f\u1362\u104b\u17d4":
        classes[ord(mark)] = 2
    for mark in ",;\u3001\uff0c\u061b\u060c\uff1b":
        classes[ord(mark)] = 4
    return classes


def _character_counts(texts: list[str]) -> Ints:
    """Shape (n, 5): characters, digits, sentence ends, commas, capitals of each text."""
    counts = np.zeros((len(texts), 5), np.int64)
    if not texts:
        return counts
    ends = np.array([*map(len, texts)]).cumsum()
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    classes = _character_classes().take(codes, mode="clip")
    told = np.flatnonzero(classes & 15)
    place = ends.searchsorted(told, side="right") * 16 + classes.take(told)
    of_class = np.bincount(place, minlength=16 * len(texts)).reshape(-1, 16)
    counts[:, 0] = np.diff(ends, prepend=0)
    counts[:, 1:] = of_class.take((1, 2, 4, 8), axis=1)
    return counts


# The columns that hold one number a leaf.
_OF_LEAVES = [
    "text_hash",
    "folded_hash",
    "characters",
    "linked",
    "strong",
    "digits",
    "sentence_ends",
    "commas",
    "capitals",
    "heading",
    "breaks",
    "group",
    "row",
]

# Columns in the order they are stored, each in the narrowest type that holds it.
_STORED = {
    "title_hashes": "<u8", "text_hash": "<u8", "folded_hash": "<u8", "characters": "<u4", "linked": "<u4",
    "strong": "<u4", "digits": "<u4", "sentence_ends": "<u2", "commas": "<u2", "capitals": "<u2", "heading": "u1",
    "breaks": "<u2", "group": "<i4", "row": "<i4", "token_start": "<u4", "token_hash": "<u4", "parent": "<i4",
    "place": "<u2", "marks": "<u4", "step": "<u2", "tag": "<u2", "link_leaf": "<u4", "link_target": "<u8",
    "link_text": "<u8", "link_kind": "u1", "name": "<u2",
}  # fmt: skip
_WORKING = {"<u8": np.uint64, "<u4": np.int64, "<u2": np.int64, "u1": np.int64, "<i4": np.int64}


_MOST_ITEMS = (
    1 << 22
)  # of a list or column that is read: over what `Limits.max_nodes` allows a page, no burden for a machine
_Names = Annotated[list[str], msgspec.Meta(max_length=_MOST_ITEMS)]


class _Stored(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    key: str
    rank: int
    fetched: str
    content_hash: int
    url: str | None
    title: str | None
    lang: str | None
    steps: _Names
    tags: _Names
    between: Annotated[dict[int, str], msgspec.Meta(max_length=_MOST_ITEMS)]
    texts: _Names
    columns: Annotated[list[memoryview], msgspec.Meta(max_length=100)]
    names: _Names


def encode(page: Fingerprint) -> bytes:
    """The capped fingerprint as bytes; equal fingerprints give equal bytes."""
    page = cap(page)
    columns: list[memoryview] = []
    for name, kind in _STORED.items():
        column: Ints = getattr(page, name)
        limits = np.iinfo(np.dtype(kind))
        if kind != "<u8":
            column = np.clip(column, limits.min, limits.max)
        columns.append(memoryview(np.ascontiguousarray(column.astype(kind)).tobytes()))
    return msgspec.msgpack.encode(
        _Stored(
            page.key, page.rank, page.fetched, page.content_hash, page.url, page.title, page.lang, list(page.steps),
            list(page.tags), dict(sorted(page.between.items())), list(page.texts), columns, list(page.names),
        )
    )  # fmt: skip


def decode(data: bytes | memoryview) -> Fingerprint:
    """The reverse of `encode`. Raises TemplateError for bytes that are no fingerprint, whatever they hold."""
    try:
        stored = msgspec.msgpack.decode(data, type=_Stored)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise TemplateError(f"a fingerprint is damaged: {error}") from None
    if len(stored.columns) != len(_STORED):
        raise TemplateError(f"a fingerprint has {len(stored.columns)} columns, this release reads {len(_STORED)}")
    columns: dict[str, Ints] = {}
    for (name, kind), raw in zip(_STORED.items(), stored.columns, strict=True):
        if len(raw) % np.dtype(kind).itemsize:
            raise TemplateError(f"column {name} of a fingerprint has {len(raw)} bytes: not whole numbers")
        if len(raw) > _MOST_ITEMS * np.dtype(kind).itemsize:
            raise TemplateError(f"column {name} of a fingerprint has {len(raw):,} bytes: more than any page")
        columns[name] = np.frombuffer(raw, kind).astype(np.uint32 if name == "token_hash" else _WORKING[kind])
    page = Fingerprint(
        stored.key, stored.rank, stored.fetched, stored.content_hash, stored.url, stored.title, stored.lang,
        tuple(stored.steps), tuple(stored.tags), stored.between, tuple(stored.texts),
        names=tuple(stored.names), origin=None, **columns,
    )  # fmt: skip
    problem = _inconsistency(page)
    if problem:
        raise TemplateError(f"a fingerprint is damaged: {problem}")
    return page


def _inconsistency(page: Fingerprint) -> str | None:
    n, m = len(page), len(page.parent)
    for name in _OF_LEAVES:
        if len(getattr(page, name)) != n:
            return f"column {name} is not of {n} leaves"
    if len(page.texts) != n or len(page.token_start) != n + 1:
        return "texts or tokens do not fit the leaves"
    if any(len(getattr(page, name)) != m for name in ("place", "marks", "step", "tag", "name")):
        return "containers do not fit together"
    if n and (page.row.min() < 0 or page.row.max() >= m):
        return "a leaf lies in no container"
    if m and (page.parent[0] != -1 or (page.parent[1:] >= np.arange(1, m)).any() or (page.parent[1:] < 0).any()):
        return "a container stands before the one it lies in"
    if m and (
        page.step.max() >= len(page.steps) or page.tag.max() >= len(page.tags) or page.name.max() >= len(page.names)
    ):
        return "a container has no name"
    if (np.diff(page.token_start) < 0).any() or page.token_start[0] or page.token_start[-1] != len(page.token_hash):
        return "token offsets do not fit the tokens"
    lengths = {len(column) for column in (page.link_leaf, page.link_target, page.link_text, page.link_kind)}
    if len(lengths) != 1 or (len(page.link_leaf) and page.link_leaf.max() >= max(n, 1)):
        return "links do not fit the leaves"
    if page.rank != rank_of(page.key):
        return "the rank is not the key's"
    return None


def cap(page: Fingerprint) -> Fingerprint:
    """The part of a fingerprint that a profile keeps: the first leaves, and the beginning of each text."""
    n = min(len(page), MAX_LEAVES, int(np.searchsorted(page.token_start, MAX_TOKENS, side="right")) or 1)
    values = {name: getattr(page, name) for name in Fingerprint.__dataclass_fields__}
    values["texts"] = tuple(text[:MAX_TEXT] for text in page.texts[:n])
    if n < len(page):
        for name in _OF_LEAVES:
            values[name] = values[name][:n]
        values["token_start"] = page.token_start[: n + 1]
        values["token_hash"] = page.token_hash[: page.token_start[n]]
        links = int(np.searchsorted(page.link_leaf, n))
        for name in ("link_leaf", "link_target", "link_text", "link_kind"):
            values[name] = values[name][:links]
    if len(values["token_hash"]) > MAX_TOKENS:
        values["token_start"] = np.minimum(values["token_start"], MAX_TOKENS)
        values["token_hash"] = values["token_hash"][:MAX_TOKENS]
    return Fingerprint(**values)


__all__ = [
    "Elements",
    "Fingerprint",
    "bytes_hash",
    "cap",
    "decode",
    "encode",
    "fingerprint",
    "page_key",
    "text_hash",
]
