from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from corpora.generator import SiteSpec, generate_site
from templatediff.fingerprint import fingerprint
from templatediff.layout import centre, cosine, group, nearest, vector
from templatediff.options import Options
from templatediff.repetition import Part, View, level, new_leaves, page_sets
from templatediff.segment import segment


def vectors(spec: SiteSpec) -> tuple[list[dict[int, float]], list[str]]:
    site = generate_site(spec)
    pages = [fingerprint(segment(page.html), Options(), content_hash=number) for number, page in enumerate(site.pages)]
    parts = [Part(page_sets(page, 3)) for page in pages]
    whole = level(range(len(pages)), parts)
    found = [vector(page, new_leaves(page, View(whole, (part,)))) for page, part in zip(pages, parts, strict=True)]
    return found, [page.layout for page in site.pages]


def partition(labels: Sequence[object]) -> set[frozenset[int]]:
    return {frozenset(i for i, other in enumerate(labels) if other == label) for label in labels}


@pytest.mark.parametrize("seed", range(6))
def test_kinds_of_one_site_are_told_apart(seed: int) -> None:
    pages, truth = vectors(
        SiteSpec(kinds=("news", "forum", "product", "docs", "blog"), pages=30, seed=seed, style="semantic")
    )
    assert partition(group(pages)) == partition(truth)


@pytest.mark.parametrize(("seed", "script"), [(9105, "japanese"), (9106, "cyrillic")])
def test_kinds_alike_in_pairs_are_told_apart(seed: int, script: str) -> None:
    """Articles of three kinds, alike but for the name of their container, lie apart from the others by a wider gap."""
    kinds = ("semantic", "news", "blog", "product", "docs")
    style = "semantic" if seed % 2 else "divs"
    spec = SiteSpec(kinds=kinds, pages=30, seed=seed, script=script, style=style, optional_share=0.3, optional_blocks=4)
    pages, truth = vectors(spec)
    assert partition(group(pages)) == partition(truth)


@pytest.mark.parametrize("kind", ["semantic", "product", "forum"])
def test_a_site_of_one_kind_is_not_split_by_optional_blocks(kind: str) -> None:
    pages, _ = vectors(SiteSpec(kinds=(kind,), pages=16, seed=5))
    assert set(group(pages)) == {0}


def test_a_page_finds_its_layout_and_a_stranger_finds_none() -> None:
    pages, truth = vectors(SiteSpec(kinds=("news", "forum"), pages=12, seed=1, style="semantic"))
    kinds = sorted(set(truth))
    centres = [
        centre([page for page, kind in list(zip(pages, truth, strict=True))[:-2] if kind == wanted]) for wanted in kinds
    ]
    for page, kind in list(zip(pages, truth, strict=True))[-2:]:
        assert nearest(page, centres) == kinds.index(kind)
    stranger = fingerprint(
        segment("<ul class=zz><li class=q>a<li class=q>b</ul><dl><dt>c<dd>d</dl>"), Options(), content_hash=0
    )
    assert nearest(vector(stranger, np.ones(len(stranger))), centres) is None


def test_cosine_is_symmetric_and_one_with_itself() -> None:
    pages, _ = vectors(SiteSpec(kinds=("news", "forum"), pages=2, seed=1))
    one, other = pages
    assert cosine(one, one) == 1.0 and cosine(one, other) == cosine(other, one) < 1.0


def test_pages_without_containers_are_no_trouble() -> None:
    empty = fingerprint(segment("<frameset><frame></frameset>"), Options(), content_hash=0)
    assert vector(empty, np.zeros(0)) == {}
    assert group([{}, {}]) == [0, 1] and nearest({}, [{1: 1.0}]) is None
