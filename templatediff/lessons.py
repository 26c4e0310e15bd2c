"""The site as its own teacher: first judgements of a page's neighbourhood and of its siblings, as further evidence.

The first forest judges every leaf alone. Its P(content), averaged by place over the sibling pages and looked at around
the leaf on its own page, says what single leaves cannot: that this list's other entries went, that this slot is content
on nine siblings, that the article ended two menus ago (`templatediff.passages`). A second forest reads both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from templatediff.context import LEVELS, Context
from templatediff.evidence import NAMES as EVIDENCE_NAMES
from templatediff.evidence import rows
from templatediff.fingerprint import Fingerprint, Ints
from templatediff.passages import NAMES as PASSAGE_NAMES
from templatediff.passages import passage_rows
from templatediff.repetition import LESSON_COLUMNS, SCALE, Level, Part, Sums, View, add_sums, add_up, subtree_sums
from templatediff.sample import Sample, view_without
from templatediff.score import Weights, columns, probability, shipped_visits

TEACHERS = 32  #: groups of each layout, of smallest rank, whose judgement is averaged

_AROUND = (-3, -2, -1, 1, 2, 3)
_REACHES = (2, 5, 12)


def _names() -> tuple[str, ...]:
    found = ["first"]
    found += [f"first_{step:+d}" for step in _AROUND]
    found += [f"first_within_{reach}" for reach in _REACHES]
    found += [f"under_first_{height}" for height in range(LEVELS)]
    found += [f"under_content_{height}" for height in range(LEVELS)]
    found += ["same_first", "group_first", "copies_first", "page_first", "page_content"]
    for view in ("site", "layout"):
        found += [f"{view}_lesson", f"{view}_lesson_tokens"]
        found += [f"{view}_path_lesson_{height}" for height in range(4)]
    return (*found, *PASSAGE_NAMES)


NAMES = _names()
_ALL_NAMES = EVIDENCE_NAMES + NAMES


_NOTHING = dict.fromkeys(
    ("lesson", "path_lesson"), Sums(np.zeros(0, np.uint64), np.zeros((0, len(LESSON_COLUMNS)), np.int64))
)


def judged_sums(page: Fingerprint, first: Ints) -> dict[str, Sums]:
    """What a page teaches: tokens and content tokens by local key and by path of every container."""
    tokens = page.token_count
    content = np.asarray(np.rint(first * tokens * SCALE), np.int64)
    if not len(page):
        return dict(_NOTHING)
    under = np.column_stack([subtree_sums(page, tokens), subtree_sums(page, content)])
    return {
        "lesson": add_up(page.local_keys[page.row], np.column_stack([tokens, content])),
        "path_lesson": add_up(page.paths, under),
    }


def further_rows(context: Context, first: Ints, site: View | None, layout: View | None) -> Ints:
    """The second forest's further columns, shape (leaves, len(NAMES)), NaN where unknown. 7 times the parse, half by passages."""
    page, n = context.page, context.n
    tokens = context.tokens
    found = np.full((len(NAMES), n), np.nan)
    found[0] = first
    for row, step in enumerate(_AROUND, start=1):
        found[row] = context.neighbour(first, step)
    mass = first * tokens
    both = np.array([mass, tokens])
    for row, reach in enumerate(_REACHES, start=1 + len(_AROUND)):
        near = context.within(both, reach)
        np.divide(near[0], np.maximum(near[1], 1), out=found[row])
    row = 1 + len(_AROUND) + len(_REACHES)
    under = subtree_sums(page, np.rint(mass * SCALE)) / SCALE
    total = float(mass.sum())
    shares = np.array([under / np.maximum(context.subtree_tokens, 1), under / max(total, 1.0)])
    found[row : row + 2 * LEVELS] = shares.take(context.ancestors, axis=1).reshape(-1, n)
    row += 2 * LEVELS
    groups = np.where(page.group >= 0, page.group, page.parent.size + np.arange(n))
    for place in (context.same_key[0], groups, context.texts[1]):
        found[row] = _weighted_mean(place, mass, tokens)
        row += 1
    found[row] = total / max(context.token_sum, 1)
    found[row + 1] = np.log1p(total)
    row += 2
    for view in (site, layout):
        if view is not None and view.n and "lesson" in view.level.sums:
            _lessons(context, view, found[row : row + 6])
        row += 6
    found[row:] = passage_rows(context, first, site, layout).T
    return np.asarray(np.round(found, 4).astype(np.float32).T)


def _lessons(context: Context, view: View, found: Ints) -> None:
    of_key = view.total("lesson", context.places[0])
    found[0] = _mean(of_key).take(context.places[1])
    found[1] = np.log1p(of_key[:, 0]).take(context.places[1])
    of_path = _mean(view.total("path_lesson", context.paths[0])).take(context.paths[1])
    found[2:] = of_path.take(context.ancestors[:4])


def _mean(table: Ints) -> Ints:
    return np.where(table[:, 0] > 0, table[:, 1] / SCALE / np.maximum(table[:, 0], 1), np.nan)


def _weighted_mean(place: Ints, mass: Ints, tokens: Ints) -> Ints:
    size = int(place.max(initial=0)) + 1
    sums = np.bincount(place, weights=mass, minlength=size)
    counts = np.bincount(place, weights=tokens, minlength=size)
    return (sums / np.maximum(counts, 1e-9)).take(place)


def _first_look(context: Context, weights: Weights) -> tuple[Ints, Ints]:
    """(evidence, log odds by the first forest) of a page's leaves."""
    matrix = rows(context, weights.names)
    return matrix, weights.first.raw(columns(matrix, EVIDENCE_NAMES, weights.first.columns))


def forest_rows(context: Context, site: View | None, layout: View | None, weights: Weights) -> tuple[Ints, Ints]:
    """The rows that the two forests read, each with the columns of its own."""
    matrix = rows(context, weights.names)
    first = columns(matrix, EVIDENCE_NAMES, weights.first.columns)
    return first, _second_rows(context, matrix, weights.first.raw(first), site, layout, weights)


def _second_rows(
    context: Context, matrix: Ints, first: Ints, site: View | None, layout: View | None, weights: Weights
) -> Ints:
    further = further_rows(context, probability(first), site, layout)
    both = np.concatenate([matrix.T, further.T])
    return columns(both.T, _ALL_NAMES, weights.second.columns)


class FirstLooks:
    """The evidence of pages that taught, and the log odds that the first forest gave their leaves: labelling such a page need not
    work them out again. Bounded in bytes; pages that came too late are as good as unknown."""

    def __init__(self, most: int = 32 << 20) -> None:
        self.left = most
        self._found: dict[str, tuple[Fingerprint, Ints, Ints]] = {}

    def keep(self, page: Fingerprint, matrix: Ints, first: Ints) -> None:
        size = matrix.nbytes + first.nbytes
        if size <= self.left:
            self.left -= size
            self._found[page.key] = page, matrix, first

    def of(self, page: Fingerprint) -> tuple[Ints, Ints] | None:
        """(evidence, log odds), None for a page that is not known in just this form."""
        found = self._found.get(page.key)
        return found[1:] if found is not None and _same(found[0], page) else None


_READ = tuple(one.name for one in fields(Fingerprint) if one.type == "Ints" and one.name != "name")


def _same(one: Fingerprint, other: Fingerprint) -> bool:
    """Whether all that evidence reads of two pages is the same. It is not where a page was fetched anew, or where a profile keeps
    less of it: fewer leaves, or smaller numbers (`remember.encode`). 0.1 ms for a page of two hundred leaves."""
    one, other = one.origin or one, other.origin or other
    return (one.content_hash, one.title, one.tags, one.steps) == (
        other.content_hash, other.title, other.tags, other.steps,
    ) and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in _READ)  # fmt: skip


def judgement(
    context: Context, site: View | None, layout: View | None, weights: Weights, known: FirstLooks | None = None
) -> Ints:
    """P(content) of each leaf by both forests (`Weights.mixed`). Shape (leaves,), 4 decimals."""
    found = known.of(context.page) if known is not None else None
    matrix, first = found or _first_look(context, weights)
    second = weights.second.raw(_second_rows(context, matrix, first, site, layout, weights))
    return probability(weights.mixed(first, second))


def attribution(rows_of: tuple[Ints, Ints], weights: Weights) -> tuple[float, Ints, Ints]:
    """(log odds of no leaf in particular, what each column adds to those of each leaf, the columns' own values), for the
    leaves of these `forest_rows`.

    The arrays have shape (leaves, len(EVIDENCE_NAMES + NAMES)); the first two add up to the log odds of `judgement`. What
    the second forest makes of a leaf's own first judgement is shared out over the evidence that moved the first forest the
    same way. What is expected before a question is answered is that of real pages, for the shipped weights.
    """
    names = _ALL_NAMES
    digest, *visits = shipped_visits()
    of_first, of_second = visits if digest == weights.digest else (None, None)
    start, first = weights.first.contributions(rows_of[0], of_first)
    other_start, second = weights.second.contributions(rows_of[1], of_second)
    first, second = _spread(first, weights.first.columns, names), _spread(second, weights.second.columns, names)
    values = _spread(rows_of[0], weights.first.columns, names)
    values[:, [names.index(name) for name in weights.second.columns]] = rows_of[1]
    own = _own_judgement(values, names)
    alone = np.where(own, second, 0.0).sum(axis=1)
    same_way = np.where(np.sign(first) == np.sign(alone)[:, None], np.abs(first), 0.0)
    total = same_way.sum(axis=1)
    shared = same_way * np.where(total > 0, alone / np.where(total > 0, total, 1.0), 0.0)[:, None]
    second = np.where(own & (total > 0)[:, None], 0.0, second) + shared
    return weights.mixed(start, other_start), weights.mixed(first, second), values


_OF_FEW = ("first", "under_first_0", "under_first_1", "same_first", "group_first", "copies_first")


def _own_judgement(values: Ints, names: tuple[str, ...]) -> Ints:
    """Where a column is but the leaf's own first judgement: that itself, and means over leaves of which it is the only one."""
    columns = [names.index(name) for name in _OF_FEW]
    found = np.zeros(values.shape, bool)
    found[:, columns] = np.abs(values[:, columns] - values[:, columns[:1]]) < 1e-4
    return found


def _spread(found: Ints, named: tuple[str, ...], names: tuple[str, ...]) -> Ints:
    """The columns of a forest at their places among `names`, 0 in the others; one that is unknown raises ValueError."""
    spread = np.zeros((len(found), len(names)))
    spread[:, [names.index(name) for name in named]] = found
    return spread


def teach(sample: Sample, weights: Weights, order: int, looks: FirstLooks | None = None) -> Sample:
    """The sample with what its own pages teach added to every level. `looks` keeps what was found out about them."""
    if sample.site.n + sum(layout.level.n for layout in sample.layouts) <= 1:
        return sample
    teachers: set[int] = set()
    for layout in sample.layouts:
        teachers |= set(sorted(layout.level.members)[:TEACHERS])
    lessons = [_NOTHING] * len(sample.leaders)
    for number in sorted(teachers):
        page, layout = sample.leaders[number], sample.layouts[sample.layout_of[number]]
        context = Context(
            page, view_without(sample.site, [number], sample.parts),
            view_without(layout.level, [number], sample.parts), order,
        )  # fmt: skip
        matrix, first = _first_look(context, weights)
        if looks is not None and sample.groups_of[page.key] == (number,):
            looks.keep(page, matrix, first)
        lessons[number] = judged_sums(page, probability(first))
    return with_lessons(sample, lessons)


def with_lessons(sample: Sample, lessons: Sequence[dict[str, Sums]]) -> Sample:
    """The sample with what each group's leader teaches (`judged_sums`) added to its part and to every level."""

    def taught(whole: Level) -> Level:
        chosen = [lessons[number] for number in sorted(whole.members)]
        sums = {name: add_sums([one[name] for one in chosen], len(LESSON_COLUMNS)) for name in _NOTHING}
        return replace(whole, sums=whole.sums | sums)

    parts = tuple(Part(part.sets, part.sums | one) for part, one in zip(sample.parts, lessons, strict=True))
    layouts = tuple(replace(layout, level=taught(layout.level)) for layout in sample.layouts)
    return replace(sample, site=taught(sample.site), parts=parts, layouts=layouts)
