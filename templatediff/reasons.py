"""Why a leaf was kept or dropped: the steps that changed its label, then the evidence that moved its score most.

What each piece of evidence adds to a leaf's log odds of content is read off the paths that the leaf takes through both
forests (`score.Forest.contributions`), added up by theme and put into words. All of it is worked out only for whoever asks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from templatediff.context import Context
from templatediff.facts import Facts, Found
from templatediff.fingerprint import Ints
from templatediff.label import Labels, Steps
from templatediff.lessons import attribution, forest_rows
from templatediff.marks import CELL, CODE, TERM
from templatediff.verdict import EMPTY
from templatediff.wording import COLUMNS, THEME_OF, THEMES

MOST = 4  #: reasons of a leaf, at most
MOST_AGAINST = 2
LEAST = 0.1  #: log odds that evidence must add to be a reason
LEAST_SHARE = 0.05  #: of all that speaks the same way
BLOCK = 1024  #: leaves whose evidence is worked out at once: each takes 10 KB meanwhile, and pages have had 50,000
MOVED = 0.05  #: P by which a step must move a leaf to be told, where it did not change the label

_NAMES = tuple(THEMES)
# Told wherever it speaks, however little it adds by itself: what else is counted as new, shared or alike hangs on it.
_ALWAYS = _NAMES.index("repetition")
_THEME = np.array([_NAMES.index(name) for name in THEME_OF])
_OF_THEME = (_THEME[:, None] == np.arange(len(_NAMES))).astype(float)  # (columns, themes)


@dataclass(frozen=True, slots=True)
class _Block:
    """The evidence of some leaves: log odds of no leaf in particular, what each theme and each column adds, the columns."""

    start: float
    themes: Ints
    added: Ints
    values: Ints


@dataclass(frozen=True)
class Reasons:
    """The reasons for a page's labels; worked out when first asked for."""

    labels: Labels

    def of(self, leaf: int) -> list[str]:
        """The reasons for a leaf's label in words: rules and steps that decided it, then its evidence, strongest first.

        Repetition (k of n) is among them, or in `against`, wherever there are siblings and it moved the score.
        """
        decisive, others = self._steps(leaf)
        sign = 1.0 if self.labels.kept[leaf] else -1.0
        found = [*decisive, *self._words(leaf, sign, MOST - len(decisive))]
        return list(dict.fromkeys([*found, *others]))

    def against(self, leaf: int) -> list[str]:
        """The strongest evidence that speaks against a leaf's label, in words."""
        return self._words(leaf, -1.0 if self.labels.kept[leaf] else 1.0, MOST_AGAINST)

    def evidence(self, leaf: int) -> dict[str, float]:
        """What each theme adds to the log odds that the score gives a leaf, strongest first; "start" is that of no leaf in
        particular. They add up to the score before `_settled` and `_together`, but for rounding (2 decimals)."""
        if self.labels.steps is None:
            return {}
        block = self._block(leaf // BLOCK)
        sums = {"start": round(block.start, 2)} | {
            name: round(float(value), 2) for name, value in zip(_NAMES, block.themes[leaf % BLOCK], strict=True)
        }
        return {name: sums[name] for name in sorted(sums, key=lambda name: (-abs(sums[name]), name)) if sums[name]}

    @cached_property
    def _facts(self) -> Facts:
        return Facts(self.labels.context, self.labels.weights.names)

    @cached_property
    def _rows(self) -> tuple[Ints, Ints]:
        labels = self.labels
        return forest_rows(labels.context, labels.site, labels.layout_view, labels.weights)

    @cached_property
    def _block(self) -> Callable[[int], _Block]:
        """The evidence of the leaves from BLOCK times a number on; the last that was asked for is at hand."""
        return lru_cache(maxsize=1)(self._work_out)

    def _work_out(self, number: int) -> _Block:
        first, second = (rows[number * BLOCK : (number + 1) * BLOCK] for rows in self._rows)
        start, added, values = attribution((first, second), self.labels.weights)
        return _Block(start, added @ _OF_THEME, added, values)

    def _words(self, leaf: int, sign: float, most: int) -> list[str]:
        if self.labels.steps is None or most <= 0:
            return []
        pull = sign * self._block(leaf // BLOCK).themes[leaf % BLOCK]
        least = max(LEAST, LEAST_SHARE * float(pull[pull > 0].sum()))
        said: dict[str, None] = {}
        for theme in np.argsort(-pull, kind="stable").tolist():
            if len(said) >= most or pull[theme] < least:
                break
            if words := self._of_theme(theme, leaf, sign):
                said[words] = None
        repeated = self._of_theme(_ALWAYS, leaf, sign) if pull[_ALWAYS] > 0 else None
        if repeated and repeated not in said:
            return [*list(said)[: most - 1], repeated]
        return list(said)

    def _of_theme(self, theme: int, leaf: int, sign: float) -> str | None:
        """What a theme has to say for this side: the words of its strongest column that has any."""
        block = self._block(leaf // BLOCK)
        pull, values = sign * block.added[leaf % BLOCK], block.values[leaf % BLOCK]
        columns = np.flatnonzero((theme == _THEME) & (pull > 0) & ~np.isnan(values))
        for column in columns[np.argsort(-pull[columns], kind="stable")].tolist():
            if words := _THEMED[theme](Found(self._facts, leaf, COLUMNS[column], float(values[column]), sign)):
                return words
        return None

    def _steps(self, leaf: int) -> tuple[list[str], list[str]]:
        """(what decided the label after the score had spoken, what moved the score without changing the label)."""
        labels, steps = self.labels, self.labels.steps
        rule = labels.ruling.by[leaf] if labels.ruling is not None else None
        if rule is not None:
            return [str(rule)], []
        if steps is None:
            return [], []
        if labels.verdict == EMPTY and labels.p[leaf] >= steps.threshold:
            return ["the page as a whole is empty"], []
        if steps.copies[leaf]:
            return ["stands on the page a second time, and that was kept"], []
        if steps.parts[leaf]:
            return ["a leaf that tells this and what stands around it in one piece would have been kept"], []
        decisive: list[str] = []
        others: list[str] = []
        moved = [
            (steps.alone, steps.settled, _settled_words),
            (steps.settled, labels.p, _together_words),
        ]
        for before, after, words in moved:
            changed = (before[leaf] >= steps.threshold) != (after[leaf] >= steps.threshold)
            if changed or abs(float(after[leaf] - before[leaf])) >= MOVED:
                (decisive if changed else others).append(words(labels, steps, leaf))
        if labels.kept[leaf] and not steps.chosen[leaf] and steps.guard is not None:
            decisive.append(steps.guard)
        elif labels.kept[leaf] and labels.p[leaf] < 0.5:
            others.append(f"on this page {steps.threshold:.2f} is enough")
        return decisive, others


_THEMED = tuple(words for _, words in THEMES.values())


def _settled_words(labels: Labels, steps: Steps, leaf: int) -> str:
    """What `label._settled` found: most siblings have the leaf, at its place or anywhere."""
    context = labels.context
    assert context.site is not None
    k = int(context.site.k("text", context.page.text_hash[leaf : leaf + 1])[0])
    return f"settled by repetition: on {k} of {context.site.n} other pages of the site"


def _together_words(labels: Labels, steps: Steps, leaf: int) -> str:
    """What a leaf shared its fate with in `units.together`."""
    what = _unit_words(labels.context, steps, leaf)
    return f"labelled together with {what}: {float(steps.settled[leaf]):.2f} by itself"


def _unit_words(context: Context, steps: Steps, leaf: int) -> str:
    page = context.page
    members = np.flatnonzero(steps.unit == steps.unit[leaf])
    marks = page.marks[page.row[members]]
    if page.group[leaf] >= 0:
        return "its block of code" if (marks & CODE).all() else "the row of its table"
    if (marks & TERM).any():
        return "the term and what defines it"
    if (marks & CELL).any():
        return "the row of its table"
    return "the short paragraphs beside it"
