"""Which blocks of the truth are in an output: boilerplate leaked and content lost, counted in tokens.

The output is aligned with the page's blocks in document order. A block counts as kept where its tokens
stand in the output as one run, the runs not overlapping and in order; of all such alignments the heaviest
is taken, and where a content block and a leaf of chrome have the same text (headline and last breadcrumb)
the content block has it. What is left of the output is then searched for parts of the blocks that are not
yet found, by 3-token shingles, content first, long blocks first; a block shorter than that is there or not.
So a block that was cut, or stands in another place, counts for its share.
"""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from corpora.generator.truth import Block, GeneratedPage, GeneratedSite

# Tokens as score.py has them: runs of word characters, one token a character in scripts without spaces.
_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_CELL = re.compile(r"[\n\t|]")
_SHINGLE = 3
_EXAMPLES = 20


def tokens(text: str) -> list[str]:
    """Case-folded tokens."""
    found: list[str] = []
    for word in _WORD.findall(text.casefold()):
        found.extend(word) if _UNSPACED.search(word) else found.append(word)
    return found


def score_blocks(site: GeneratedSite, outputs: Mapping[str, str]) -> dict[str, Any]:
    """Both sides of the account for the pages of a site; `outputs` maps page paths to extracted text.

    A page without an output counts as empty text. Returned (shares are of tokens, 0..1):

        content   {"tokens", "kept", "recall", "static": {same}, "changing": {same}}
        leaked    per truth kind other than content: {"tokens", "leaked", "share", "blocks", "blocks_leaked"}
        roles     the same per "kind/role", content among them ("leaked" is then what is kept)
        unknown   tokens of the outputs that belong to no block
        worst     up to 20 (path, kind, role, share kept, text) of leaks and lost content, most first
    """
    total: Counter[tuple[str, str, bool]] = Counter()
    kept: Counter[tuple[str, str, bool]] = Counter()
    blocks: Counter[tuple[str, str, bool]] = Counter()
    seen: Counter[tuple[str, str, bool]] = Counter()
    unknown = 0
    faults: list[tuple[int, str, Block, float]] = []
    for page in site.pages:
        shares, rest = kept_shares(page, outputs.get(page.path, ""))
        unknown += rest
        for block, share in zip(page.blocks, shares, strict=True):
            key = (block.kind, block.role, block.static)
            size = len(tokens(block.text))
            total[key] += size
            kept[key] += round(share * size)
            blocks[key] += 1
            seen[key] += share > 0
            wrong = size * (1 - share if block.kind == "content" else share)
            if wrong:
                faults.append((round(wrong), page.path, block, share))
    faults.sort(key=lambda fault: (-fault[0], fault[1], fault[2].text))

    def side(word: str, ratio: str, kind: str, role: str | None = None, static: bool | None = None) -> dict[str, Any]:
        keys = [key for key in total if key[0] == kind and role in (None, key[1]) and static in (None, key[2])]
        size, found = sum(total[k] for k in keys), sum(kept[k] for k in keys)
        share = found / size if size else (1.0 if ratio == "recall" else 0.0)
        counts = {"blocks": sum(blocks[k] for k in keys), f"blocks_{word}": sum(seen[k] for k in keys)}
        return {"tokens": size, word: found, ratio: share, **counts}

    content = side("kept", "recall", "content")
    content["static"] = side("kept", "recall", "content", static=True)
    content["changing"] = side("kept", "recall", "content", static=False)
    kinds = sorted({kind for kind, _, _ in total} - {"content"})
    roles = sorted({(kind, role) for kind, role, _ in total})
    return {
        "content": content,
        "leaked": {kind: side("leaked", "share", kind) for kind in kinds},
        "roles": {f"{kind}/{role}": side("leaked", "share", kind, role) for kind, role in roles},
        "unknown": unknown,
        "worst": [(path, b.kind, b.role, round(share, 3), b.text) for _, path, b, share in faults[:_EXAMPLES]],
    }


def kept_shares(page: GeneratedPage, output: str) -> tuple[list[float], int]:
    """Per block the share of it that is in the output, 0..1; and the output's tokens that belong to no block.

    A block without a token ("›") counts as kept if it is content and as gone if it is not.
    """
    found, edges = _cells(output)
    parts = [tokens(block.text) for block in page.blocks]
    shares = [float(not part and block.kind == "content") for block, part in zip(page.blocks, parts, strict=True)]
    rest = list(found)
    for block, place in _align(page.blocks, parts, found, edges):
        shares[block] = 1.0
        rest[place : place + len(parts[block])] = [""] * len(parts[block])
    missing = [number for number, part in enumerate(parts) if part and not shares[number]]
    missing.sort(key=lambda number: (page.blocks[number].kind != "content", -len(parts[number]), number))
    places: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for width in range(1, _SHINGLE + 1):
        for start, window in enumerate(_windows(rest, width)):
            if all(window):
                places[window].append(start)
    for number in missing:
        shares[number] = _take(parts[number], places, rest)
    return shares, sum(map(bool, rest))


def _cells(output: str) -> tuple[list[str], frozenset[int]]:
    """The tokens of an output, and the token positions at which a line or a table cell begins or ends."""
    found: list[str] = []
    edges = {0}
    for cell in _CELL.split(output):
        found += tokens(cell)
        edges.add(len(found))
    return found, frozenset(edges)


def _take(part: list[str], places: Mapping[tuple[str, ...], list[int]], rest: list[str]) -> float:
    """The share of a block's shingles that stand in the rest; what they cover is taken out of it."""
    width = min(_SHINGLE, len(part))
    own = _windows(part, width)
    taken: list[int] = []
    for shingle in own:
        free = [start for start in places.get(shingle, ()) if all(rest[start : start + width]) and start not in taken]
        if free:
            taken.append(taken[-1] + 1 if taken and taken[-1] + 1 in free else free[0])
    for start in taken:
        rest[start : start + width] = [""] * width
    return len(taken) / len(own)


def _align(
    blocks: Sequence[Block], parts: list[list[str]], found: list[str], edges: frozenset[int]
) -> list[tuple[int, int]]:
    """The heaviest choice of (block, start in the output), rising in both, without overlap.

    A block of one or two tokens must fill a line or cell: its words stand in sentences, too.
    """
    starts: defaultdict[str, list[int]] = defaultdict(list)
    for position, token in enumerate(found):
        starts[token].append(position)
    # Best chains so far by the position at which they end: ends rise, and so do weights.
    ends: list[int] = [0]
    chains: list[tuple[int, tuple[Any, ...] | None]] = [(0, None)]
    for number, part in enumerate(parts):
        if not part:
            continue
        weight = 16 * len(part) + (blocks[number].kind == "content")
        fresh: list[tuple[int, int, tuple[Any, ...]]] = []
        for start in starts.get(part[0], ()):
            end = start + len(part)
            if len(part) < _SHINGLE and not (start in edges and end in edges):
                continue
            if found[start:end] == part:
                before, chain = chains[bisect_right(ends, start) - 1]
                fresh.append((end, before + weight, (number, start, chain)))
        for end, total, chain in fresh:
            place = bisect_right(ends, end)
            if chains[place - 1][0] >= total:
                continue
            if ends[place - 1] == end:
                place -= 1
                del ends[place], chains[place]
            insort(ends, end)
            chains.insert(place, (total, chain))
            while place + 1 < len(chains) and chains[place + 1][0] <= total:
                del ends[place + 1], chains[place + 1]
    chosen: list[tuple[int, int]] = []
    link = chains[-1][1]
    while link is not None:
        chosen.append((link[0], link[1]))
        link = link[2]
    return chosen[::-1]


def _windows(part: Sequence[str], width: int) -> list[tuple[str, ...]]:
    return [tuple(part[start : start + width]) for start in range(len(part) - width + 1)]
