"""What a user can choose about cutting pages and taking fingerprints.

The options are part of every profile: profiles made with other options do not merge.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from templatediff.errors import UsageError

#: The HTML elements that hold a leaf of their own: those a browser shows as blocks, and `button`,
#: whose label is never part of the sentence around it.
BLOCK_TAGS = frozenset([
    "address", "article", "aside", "blockquote", "body", "button", "caption", "center", "dd", "details", "dialog",
    "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset", "h1", "h2", "h3",
    "h4", "h5", "h6", "header", "hgroup", "hr", "legend", "li", "listing", "main", "menu", "nav", "ol", "p",
    "plaintext", "pre", "search", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
    "xmp",
])  # fmt: skip

SHORT_LEAVES = ("auto", "join", "keep")
MARKUP = ("strip", "keep")
NGRAM_ORDERS = range(1, 6)


@dataclass(frozen=True, slots=True)
class Options:
    """Options of segmenting and fingerprinting; checked once, when made.

    leaf_tags     names of the elements that hold leaves of their own (default: the block elements)
    short_leaves  may a leaf of few words stand alone: "keep" (yes), "join" (no: it is labelled together
                  with its neighbour), "auto" (decided from the site's own word counts when the template
                  is derived)
    ngram_order   words per n-gram, 1..5: higher is more exact and slower
    markup        "keep" counts inline tags into a leaf's identity, "strip" does not

    Raises UsageError for any other value.

    >>> Options(ngram_order=6)
    Traceback (most recent call last):
    ...
    templatediff.errors.UsageError: ngram_order is 6: choose 1, 2, 3, 4 or 5
    """

    leaf_tags: frozenset[str] = BLOCK_TAGS
    short_leaves: str = "auto"
    ngram_order: int = 3
    markup: str = "strip"

    def __post_init__(self) -> None:
        tags = frozenset(tag.strip().lower() for tag in self.leaf_tags)
        if (
            isinstance(self.leaf_tags, str)
            or not tags
            or not all((tag.isascii() and tag.isidentifier()) or tag.replace("-", "_").isidentifier() for tag in tags)
        ):
            raise UsageError(
                f"leaf_tags is {_listed(self.leaf_tags)}: give names of HTML elements, such as div, p, table"
            )
        object.__setattr__(self, "leaf_tags", tags)
        if self.short_leaves not in SHORT_LEAVES:
            raise UsageError(f"short_leaves is {self.short_leaves!r}: choose auto, join or keep")
        if self.markup not in MARKUP:
            raise UsageError(f"markup is {self.markup!r}: choose keep or strip")
        if isinstance(self.ngram_order, bool) or self.ngram_order not in NGRAM_ORDERS:
            raise UsageError(f"ngram_order is {self.ngram_order}: choose 1, 2, 3, 4 or 5")

    def to_dict(self) -> dict[str, object]:
        """Plain values in a fixed order, as written into profiles and templates."""
        return {
            "leaf_tags": sorted(self.leaf_tags),
            "markup": self.markup,
            "ngram_order": self.ngram_order,
            "short_leaves": self.short_leaves,
        }

    @classmethod
    def from_dict(cls, values: dict[str, object]) -> Options:
        """The reverse of `to_dict`; unknown or missing names raise UsageError."""
        names = {field.name for field in dataclasses.fields(cls)}
        if set(values) != names:
            raise UsageError(f"options are {sorted(values)}: expected {sorted(names)}")
        tags = values["leaf_tags"]
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise UsageError("leaf_tags must be a list of element names")
        return cls(
            leaf_tags=frozenset(tags),
            short_leaves=str(values["short_leaves"]),
            ngram_order=values["ngram_order"] if isinstance(values["ngram_order"], int) else -1,
            markup=str(values["markup"]),
        )

    def differing(self, other: Options) -> tuple[str, ...]:
        """Names of the options in which the two differ, in alphabetical order."""
        mine, theirs = self.to_dict(), other.to_dict()
        return tuple(name for name in mine if mine[name] != theirs[name])


def _listed(tags: object) -> str:
    """Names as a person would write them."""
    return repr(", ".join(sorted(map(str, tags)))) if isinstance(tags, frozenset | set | list | tuple) else repr(tags)
