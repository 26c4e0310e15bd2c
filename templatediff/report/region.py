"""Which leaves stand in the content region: the smallest container that holds nearly all of the kept text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from templatediff.report.tally import Record

MOST = 0.8  #: share of the kept tokens that the region holds


def region(leaves: Sequence[Record]) -> list[bool]:
    """For each leaf, whether it stands in the region; nowhere where nothing was kept.

    The container is found by the leaves' selectors, which name every step from the body.

    >>> def leaf(selector, content):
    ...     return {"selector": selector, "content": content, "tokens": 9}
    >>> region([leaf("body > nav > li", False), leaf("body > main > p", True), leaf("body > main > div > p", True)])
    [False, True, True]
    """
    paths = [tuple(leaf["selector"].split(" > ")) for leaf in leaves]
    held: Counter[tuple[str, ...]] = Counter()
    for leaf, path in zip(leaves, paths, strict=True):
        if leaf["content"]:
            for depth in range(1, len(path) + 1):
                held[path[:depth]] += max(leaf["tokens"], 1)
    if not held:
        return [False] * len(leaves)
    most = max(held.values())
    chosen = max((path for path, tokens in held.items() if tokens >= MOST * most), key=lambda path: (len(path), path))
    return [path[: len(chosen)] == chosen for path in paths]
