"""A number that was found of a leaf, and what a person would call what it is about: the container, the level, so many words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from templatediff.context import Context
from templatediff.evidence import name_parts
from templatediff.repetition import View


@dataclass(frozen=True)
class Facts:
    """What the evidence of a page's leaves was worked out from."""

    context: Context
    names: dict[str, float]  # log odds of content of parts of ids and classes

    @cached_property
    def new(self) -> str:
        """What a page's own text is called: new, or in gist mode, where all of it is, unlinked."""
        return "new" if self.context.site is not None else "unlinked"

    def name_parts(self, leaf: int, sign: float) -> list[str]:
        """Parts of ids and classes around a leaf that speak with this sign, strongest first."""
        page = self.context.page.origin or self.context.page
        steps = {page.steps[page.step[row]] for row in self.context.ancestors[:, leaf].tolist()}
        parts = {part for step in steps for part in name_parts(step) if self.names.get(part, 0.0) * sign > 0}
        return sorted(parts, key=lambda part: (-abs(self.names[part]), part))


@dataclass(frozen=True, slots=True)
class Found:
    """A column's value at a leaf; `sign` is that of what it adds to the log odds of content."""

    facts: Facts
    leaf: int
    column: str
    value: float
    sign: float

    @property
    def context(self) -> Context:
        """The page beside its siblings."""
        return self.facts.context

    @property
    def new(self) -> str:
        """See `Facts.new`."""
        return self.facts.new

    @property
    def fits(self) -> bool:
        """Whether a share of what is new, or reads like content, speaks the way a person would take it."""
        return (self.value >= 0.5) == (self.sign > 0)

    def fits_template(self, many: float) -> bool:
        """The same of a share of what is repeated, or links: `many` of it speaks against content."""
        return (self.value >= many) == (self.sign < 0)

    @property
    def view(self) -> tuple[View | None, str]:
        """The level that the column counts on, and how it is called."""
        if self.column.startswith("layout"):
            return self.context.layout, "of this layout"
        return self.context.site, "of the site"

    @property
    def container(self) -> str | None:
        """How the container is called that a column with a height at its end looks at; None for the page as a whole."""
        height = int(self.column.rpartition("_")[2])
        if not self.context.ancestors[height][self.leaf]:
            return None
        return "its element" if not height else "its container" if height == 1 else "a container around it"

    @property
    def part(self) -> str:
        """The value as a share in words."""
        return part(self.value)

    def several(self, word: str) -> str:
        """The value, the logarithm of a number of things and one, as that number of them."""
        return several(np.expm1(self.value), word)


def part(share: float) -> str:
    """
    >>> part(0.0), part(0.424), part(0.998)
    ('none', '42%', 'all')
    """
    return "none" if share < 0.005 else "all" if share >= 0.995 else f"{share:.0%}"


def several(number: float, word: str) -> str:
    """
    >>> several(1.2, "word"), several(2000, "leaf")
    ('1 word', '2,000 leaves')
    """
    count = round(float(number))
    plural = "leaves" if word == "leaf" else word + "s"
    return f"{count:,} {word if count == 1 else plural}"
