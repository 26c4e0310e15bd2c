"""Leaves -> fingerprint: all that is remembered of a page.

A fingerprint is columns of integers over the leaves, the token hashes of each leaf, the containers they lie in, links,
and the page's title. Every later stage (repetition, regions, slots, gist, labels) reads fingerprints only, of the page
at hand and of its siblings alike, so a template can be derived years after the pages are gone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from templatediff.addresses import link_columns
from templatediff.characters import character_counts
from templatediff.hashes import PRIME, chains, digest, leaf_hashes, line_tokens, mix, page_key, rank_of, title_hashes
from templatediff.leaves import Elements, Leaves
from templatediff.options import Options
from templatediff.steps import fold_step, known_step, named

Ints = npt.NDArray[Any]

MAX_NAMES = 120  #: characters remembered of an element's id and classes


@dataclass(frozen=True)
class Fingerprint:
    """One page as numbers. Columns over the n leaves (all of length n, in document order):

    text_hash    64-bit hash of the normalised text (and of the inline tags, with markup="keep")
    folded_hash  the same with values (numbers, dates, ids) folded
    characters, linked, strong, digits, sentence_ends, commas, capitals   counts of characters
    heading, breaks, group, row                                            as in `leaves.Leaves`
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
        return np.array([digest(step) for step in self.steps], np.uint64).take(self.step)

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
        tags = np.array([digest(tag) for tag in self.tags], np.uint64).take(self.tag)
        upper = (self.depth > 0) & (self.depth <= 4)
        return chains(
            np.array([self.step_hash, tags + (self.place * upper).astype(np.uint64)]), self.parent, self.depth
        )

    @cached_property
    def local_keys(self) -> Ints:
        """Hash of the last three folded steps of each container, shape (m,)."""
        own = self.step_hash
        above = np.where(self.parent >= 0, own[self.parent], np.uint64(0))
        upper = np.where(self.parent >= 0, above[self.parent], np.uint64(0))
        return mix(mix(own, above), upper)

    def with_names(self, known: frozenset[str], by_depth: bool = False) -> Fingerprint:
        """A copy whose steps keep only names in `known`: else without the id, else the element's name alone.

        With `by_depth` the latter carries its depth, for sites whose ids and classes change from page to page.
        """
        if by_depth:
            depth: list[int] = []
            for above in self.parent.tolist():
                depth.append(0 if above < 0 else depth[above] + 1)
            plain = [f"{self.tags[tag]}@{level}" for tag, level in zip(self.tag.tolist(), depth, strict=True)]
            told = [
                self.steps[step] if self.steps[step] in known and named(self.steps[step]) else "" for step in self.step
            ]
            steps, step = _intern([one or other for one, other in zip(told, plain, strict=True)])
        else:
            if known.issuperset(self.steps):
                return self
            renamed, place = _intern([one if one in known else known_step(one, known) for one in self.steps])
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
            mixed = mixed * PRIME + self.token_hash[shift : shift + count]
        inside = leaf[:count] == leaf[order - 1 :]
        return leaf[:count][inside], ((mixed * PRIME) >> np.uint64(32)).astype(np.uint32)[inside]


def fingerprint(
    leaves: Leaves,
    options: Options,
    *,
    content_hash: int,
    key_url: str | None = None,
    url: str | None = None,
    fetched: str | None = None,
) -> Fingerprint:
    """Numbers of a segmented page. `key_url`: its fetched URL in normal form, or None; `url`: what to resolve links by.

    15 times the parse of a small page whose names have not been seen; tokens are a third of it, containers a quarter.
    """
    key = page_key(key_url, content_hash)
    base = url or leaves.head.canonical or leaves.head.og_url
    head = leaves.head
    elements = leaves.elements
    steps, step, tags, tag, names, name = _containers(elements)
    link_leaf, link_target, link_text, link_kind = link_columns(leaves, base)
    folded = "\n".join(leaves.text).casefold()
    token_hash, token_start = line_tokens(folded, len(leaves), head.lang)
    title = head.title or head.og_title
    text_hashes, folded_hashes = leaf_hashes(leaves, folded, options)
    counts = character_counts(leaves.text)
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
        title_hashes=np.array(sorted(title_hashes(title, head.og_title)), np.uint64),
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


def _intern(values: list[str]) -> tuple[tuple[str, ...], Ints]:
    """(distinct values in order of first use, index of each value among them)."""
    number: dict[str, int] = {}
    places = [number.setdefault(value, len(number)) for value in values]
    return tuple(number), np.array(places, np.int64)
