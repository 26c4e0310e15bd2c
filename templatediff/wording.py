"""Evidence in plain words: a column's name and its value at a leaf -> what a person is told, or None where a number says
nothing to a person by itself.

Words state what was found. Which way it speaks is for the score to say (`templatediff.reasons`); where that is not the way a
person would take it (kept, since 15 % of the text near by reads like content: in the trees, more than in like cases) there are
no words either. Every column belongs to a theme; `THEMES` lists them with the one function that words each.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from templatediff.evidence import LONG, NAME_COLUMNS, Context, name_parts
from templatediff.evidence import NAMES as EVIDENCE_NAMES
from templatediff.lessons import NAMES as LESSON_NAMES
from templatediff.repetition import View

COLUMNS = EVIDENCE_NAMES + LESSON_NAMES
MANY_LINKS = 0.25  #: share of links in a text from which on it is told against it

__all__ = ["COLUMNS", "THEMES", "THEME_OF", "Facts"]


@dataclass(frozen=True)
class Facts:
    """What the evidence of a page's leaves was worked out from."""

    context: Context
    names: dict[str, float]  # log odds of content of parts of ids and classes

    @cached_property
    def new(self) -> str:
        """What a page's own text is called: new, or in gist mode, where all of it is, unlinked."""
        return "new" if self.context.site is not None else "unlinked"

    def view(self, column: str) -> tuple[View | None, str]:
        """The level that a column counts on, and how it is called."""
        if column.startswith("layout"):
            return self.context.layout, "of this layout"
        return self.context.site, "of the site"

    def container(self, leaf: int, column: str) -> str | None:
        """How the container is called that a column with a height at its end looks at; None for the page as a whole."""
        height = int(column.rpartition("_")[2])
        if not self.context.ancestors[height][leaf]:
            return None
        return "its element" if not height else "its container" if height == 1 else "a container around it"

    def name_parts(self, leaf: int, sign: float) -> list[str]:
        """Parts of ids and classes around a leaf that speak with this sign, strongest first."""
        page = self.context.page.origin or self.context.page
        steps = {page.steps[page.step[row]] for row in self.context.ancestors[:, leaf].tolist()}
        parts = {part for step in steps for part in name_parts(step) if self.names.get(part, 0.0) * sign > 0}
        return sorted(parts, key=lambda part: (-abs(self.names[part]), part))


#: (facts, leaf, column, its value, the sign of what it adds) -> words
Wording = Callable[[Facts, int, str, float, float], str | None]


def _repetition(facts: Facts, leaf: int, column: str, value: float, sign: float) -> str | None:
    view, of = facts.view(column)
    if view is None:
        return None
    page = facts.context.page
    kind = column.partition("_")[2]
    k = int(view.k("text", page.text_hash[leaf : leaf + 1])[0])
    if (value >= 0.5) != (sign < 0):
        return None
    if kind.startswith("ngrams") or (kind == "known" and facts.context.tokens[leaf] >= LONG and value > k / view.n):
        return f"its phrases are on {value:.0%} of the other pages {of}"
    found = round(value * view.n)
    if kind == "pair" and found:
        return f"at the same place on {found} of {view.n} other pages {of}"
    if kind == "folded" and found > k:
        return f"but for numbers and dates on {found} of {view.n} other pages {of}"
    return f"on {k or 'none'} of {view.n} other pages {of}"


def _targets(facts: Facts, leaf: int, column: str, value: float, sign: float) -> str | None:
    return f"{value:.0%} of the other pages {facts.view(column)[1]} link to the same address"


def _place(facts: Facts, leaf: int, column: str, value: float, sign: float) -> str | None:
    view, of = facts.view(column)
    if view is None:
        return None
    there = f"at its place on other pages {of}"
    kind = column.rpartition("_")[2]
    if kind == "present":
        return f"{round(value * view.n)} of {view.n} other pages {of} have text at its place"
    if kind == "tokens":
        return f"{there}: about {_several(np.expm1(value), 'word')} a leaf"
    if kind == "leaves":
        return f"{there}: about {_several(np.expm1(value), 'leaf')} a page"
    if kind == "links":
        return f"{there}: {value:.0%} links"
    if kind == "new":
        return f"{there}: {value:.0%} of the leaves are new"
    return f"{there}: {'ever other' if value > 0.5 else 'the same few'} texts"


def _region(facts: Facts, leaf: int, column: str, value: float, sign: float) -> str | None:
    if (value > 0.5) != (sign > 0):
        return None
    inside = facts.context.inside(facts.context.site_majority)[leaf]
    if not np.isnan(inside) and (column == "in_site_majority" or (value > 0.5) == (inside > 0)):
        return f"{'inside' if inside else 'outside'} the region that changes on every page"
    if facts.container(leaf, column) is None:
        return None
    return f"in a part of the page that holds {_part(value)} of the new text of other pages"


def _pool(facts: Facts, leaf: int, column: str, value: float, sign: float) -> str | None:
    if not value:
        return None
    return {
        "is_other_title": "is the title of another page",
        "is_other_heading": "is a heading on another page",
        "is_other_link": "is the text of a link on other pages",
        "links_to_titles": "links to other pages by their titles",
    }[column]


def _container(facts: Facts, leaf: int, column: str, value: float, sign: float) -> str | None:
    if (value > 0.5) != (sign > 0):
        return None
    if column == "in_majority":
        return f"{'inside' if value else 'outside'} the container of most of the page's {facts.new} text"
    if column == "majority_steps":
        return None
    what = facts.container(leaf, column)
    if what is None:
        return None
    if column.startswith("under_fresh"):
        return f"{what} holds {_part(value)} of the page's {facts.new} text"
    if column.startswith("under_prose"):
        return f"{what} holds {_part(value)} of the page's {facts.new} sentences"
    if column.startswith("single"):
        return f"{what} holds {_part(value)} of the page's {facts.new} text outside alike records"
    return f"{_part(min(value, 1.0))} of the text of {what} is {facts.new}"


def _around(facts: Facts, leaf: int, column: str, value: float, sign: float) -> str | None:
    what = facts.container(leaf, column)
    if what is None:
        return None
    if column.startswith("under_links") and (value >= MANY_LINKS) != (sign < 0):
        return None
    if column.startswith("under_links"):
        return f"{_part(value)} of the text of {what} is links"
    if column.startswith("under_tokens"):
        return f"{what} holds {_several(np.expm1(value), 'word')}"
    return f"{what} has about {_several(np.expm1(value), 'word')} a leaf"


def _records(facts: Facts, leaf: int, column: str, value: float, sign: float) -> str | None:
    if column == "record_count":
        return f"in one of {_several(np.expm1(value), 'alike record')} on the page" if value else "in no alike records"
    if column.startswith("repeats"):
        what = facts.container(leaf, column)
        return f"{what} is one of {np.expm1(value):.0f} of its kind on the page" if what and value > 1 else None
    if column == "record_tokens" and value >= 0:
        return f"its record holds {_several(np.expm1(value), 'word')}"
    if column == "record_links" and value >= 0:
        return f"{_part(value)} of the text of its record is links"
    return None


def _kind(facts: Facts, leaf: int, column: str, value: float, sign: float) -> str | None:
    if column == "same_leaves":
        count = round(float(np.expm1(value)))
        return (
            f"one of {count} leaves of its kind on the page" if count > 1 else "the only leaf of its kind on the page"
        )
    if column == "same_tokens":
        return f"leaves of its kind hold {_several(np.expm1(value), 'word')} on the page"
    if column == "same_link_share":
        return f"leaves of its kind are {value:.0%} links on the page"
    if column == "same_fresh":
        return f"{_part(value)} of the leaves of its kind on the page are {facts.new}"
    return f"leaves of its kind are {value:.0%} function words on the page"


def _length(facts: Facts, leaf: int, column: str, value: float, sign: float) -> str | None:
    count = int(facts.context.tokens[leaf])
    return f"few words ({count})" if count <= 4 else f"{count} words long"


def _style(facts: Facts, leaf: int, column: str, value: float, sign: float) -> str | None:
    page = facts.context.page
    if column == "digit_share":
        return f"{value:.0%} digits" if value else "no digits"
    if column == "strong_share":
        return f"{value:.0%} bold" if value else None
    if column == "stop_share":
        return f"{value:.0%} function words" if value else "no function words"
    if column in ("sentence_rate", "comma_rate"):
        if page.sentence_ends[leaf] and facts.context.tokens[leaf] >= 12:
            return "reads as sentences"
        if column == "comma_rate":
            return "has commas" if value else "no commas"
        return "ends a sentence" if value else "ends no sentence"
    if column == "capital_rate":
        return f"{min(value, 1.0):.0%} of its words have capitals" if value else "no capitals"
    return f"words of about {_several(value, 'character')}"


def _copies(facts: Facts, leaf: int, column: str, value: float, sign: float) -> str | None:
    count = round(float(np.exp(value)))
    return f"stands {count} times on the page" if count > 1 else None


def _links(facts: Facts, leaf: int, column: str, value: float, sign: float) -> str | None:
    if column == "link_share" and (value >= MANY_LINKS) != (sign < 0):
        return None
    if column == "link_share":
        return f"{_part(value)} of its text is links" if value else "no links in it"
    if column == "links":
        return f"{_several(np.expm1(value), 'link')} in it" if value else "no links in it"
    if not value:
        return None
    return {
        "links_outside": "links to other sites",
        "links_inside": "links to other pages of the site",
        "links_fragment": "links within the page",
        "links_action": "links that do something",
    }[column]


def _markup(facts: Facts, leaf: int, column: str, value: float, sign: float) -> str | None:
    page = facts.context.page
    if column.startswith("in_"):
        return f"inside {column[3:]}" if value else None
    if column == "heading":
        return f"a heading of level {value:.0f}" if value else "no heading"
    if column == "grouped":
        return "in a row of a table or a block of code" if value else None
    if column == "tag":
        return f"its element is {page.tags[page.tag[page.row[leaf]]]}"
    if column == "breaks":
        return "goes on after a line break" if value else None
    return None


def _position(facts: Facts, leaf: int, column: str, value: float, sign: float) -> str | None:
    if column == "position":
        return f"{value:.0%} of the page stands before it"
    if column == "start":
        return f"{_several(np.expm1(value), 'word')} before it on the page"
    if column == "to_end":
        return f"{_several(np.expm1(value), 'word')} after it on the page"
    if column == "after_heading":
        words = _several(np.expm1(abs(value)), "word")
        return "at the headline" if not value else f"{words} {'after' if value > 0 else 'before'} the headline"
    if column == "heading_steps":
        return f"{_several(value, 'container')} away from the headline" if value else "in the headline's container"
    side = "before" if column == "prose_before" else "after"
    if value >= 12:
        return f"no {facts.new} sentences {side} it"
    return f"{_several(np.expm1(value), 'word')} to the next {facts.new} sentences {side} it"


def _gist(facts: Facts, leaf: int, column: str, value: float, sign: float) -> str | None:
    if column == "is_title":
        return "is the page's title, or a part of it" if value else None
    if column == "title_share":
        return f"{value:.0%} of its words stand in the page's title"
    return f"likeness to the rest of the page {value:.2f}"


def _near(facts: Facts, leaf: int, column: str, value: float, sign: float) -> str | None:
    kind, _, step = column.rpartition("_")
    if column.endswith(("_within_3", "_within_8")):
        kind = column.partition("_within_")[0]
        if kind == "prose":
            return f"{_several(np.expm1(value), 'word')} in {facts.new} sentences near it"
        if kind == "tokens":
            return f"leaves near it have about {_several(np.expm1(value), 'word')}"
        if (value >= 0.5) != (sign > 0) if kind == "fresh" else (value >= MANY_LINKS) != (sign < 0):
            return None
        if kind == "known":
            return f"the text near it is on {_part(value)} of the other pages"
        return f"{_part(value)} of the text near it is {'links' if kind == 'link_share' else facts.new}"
    other = _neighbour(int(step))
    if kind == "tokens":
        return f"{other} has {_several(np.expm1(value), 'word')}"
    if kind == "link_share":
        return f"{other} is {value:.0%} links"
    if kind == "stop_share":
        return f"{other} is {value:.0%} function words"
    if kind == "known":
        return f"{other} is on {_part(value)} of the other pages"
    if kind == "heading":
        return f"{other} is {'a' if value else 'no'} heading"
    return f"{other} is {'in the same' if value else 'in another'} container"


def _names(facts: Facts, leaf: int, column: str, value: float, sign: float) -> str | None:
    parts = facts.name_parts(leaf, sign)
    return f"ids or classes around it: {', '.join(parts[:3])}" if parts else None


def _neighbours(facts: Facts, leaf: int, column: str, value: float, sign: float) -> str | None:
    if (value >= 0.5) != (sign > 0):
        return None
    if column.startswith("first_within"):
        return f"{_part(value)} of the text near it reads like content"
    if column.startswith("under"):
        what = facts.container(leaf, column)
        if what is None:
            return None
        if column.startswith("under_content"):
            return f"{what} holds {_part(value)} of what reads like content"
        return f"{_part(value)} of the text of {what} reads like content"
    if column == "same_first":
        return f"{_part(value)} of the text in leaves of its kind reads like content"
    if column in ("group_first", "copies_first"):
        return None
    return f"{_neighbour(int(column.rpartition('_')[2]))} reads like {'content' if value >= 0.5 else 'template'}"


def _lesson(facts: Facts, leaf: int, column: str, value: float, sign: float) -> str | None:
    if column.endswith("_tokens") or (value >= 0.5) != (sign > 0):
        return None
    return f"{_part(value)} of the text at its place on other pages {facts.view(column)[1]} reads like content"


def _nothing(facts: Facts, leaf: int, column: str, value: float, sign: float) -> str | None:
    return None


def _neighbour(step: int) -> str:
    """
    >>> _neighbour(1), _neighbour(-3)
    ('the leaf after it', 'the third leaf before it')
    """
    order = {1: "", 2: "second ", 3: "third "}[abs(step)]
    return f"the {order}leaf {'before' if step < 0 else 'after'} it"


def _part(share: float) -> str:
    """
    >>> _part(0.0), _part(0.424), _part(0.998)
    ('none', '42%', 'all')
    """
    return "none" if share < 0.005 else "all" if share >= 0.995 else f"{share:.0%}"


def _several(number: float, word: str) -> str:
    count = round(float(number))
    plural = "leaves" if word == "leaf" else word + "s"
    return f"{count:,} {word if count == 1 else plural}"


_LEVEL = r"(?:site|layout)"
#: what evidence is about -> (pattern of its columns' names, what words it); the first pattern that fits takes a column
THEMES: dict[str, tuple[str, Wording]] = {
    "repetition": (rf"{_LEVEL}_(?:text|text_any|folded|pair|known|ngrams|ngrams_low)", _repetition),
    "targets": (rf"{_LEVEL}_targets", _targets),
    "place": (rf"{_LEVEL}_slot_\w+", _place),
    "region": (rf"{_LEVEL}_(?:tag_)?region_\d|in_site_majority", _region),
    "pool": (r"is_other_\w+|links_to_titles", _pool),
    "container": (r"under_(?:fresh|prose)_\d|fresh_density_\d|single_\d|in_majority|majority_steps", _container),
    "around": (r"under_(?:tokens|links|leaf_tokens)_\d", _around),
    "records": (r"repeats_\d|record_\w+|single_before", _records),
    "kind": (r"same_(?:leaves|tokens|link_share|stop_share|fresh)", _kind),
    "length": (r"tokens", _length),
    "style": (r"(?:sentence|comma|capital)_rate|(?:digit|strong|stop)_share|token_length", _style),
    "copies": (r"copies", _copies),
    "links": (r"link_share|links|links_(?:outside|inside|fragment|action)", _links),
    "markup": (r"tag|heading|breaks|grouped|in_[\w-]+|depth|place", _markup),
    "position": (r"position|start|to_end|after_heading|heading_steps|prose_(?:before|after)", _position),
    "gist": (r"gist|title_share|is_title", _gist),
    "near": (r"(?:tokens|link_share|stop_share|heading|same_key|known)_[-+]\d|\w+_within_[38]", _near),
    "page": (r"page_\w+|site_n|layout_n", _nothing),
    "names": ("|".join(NAME_COLUMNS), _names),
    "self": (r"first", _nothing),
    "neighbours": (r"first_.+|under_(?:first|content)_\d|(?:same|group|copies)_first", _neighbours),
    "lessons": (rf"{_LEVEL}_(?:path_)?lesson(?:_\w+)?", _lesson),
    "other": (r".*", _nothing),  # columns that this file does not know yet: see tests/test_reasons.py
}


def _theme(column: str) -> str:
    return next(name for name, (pattern, _) in THEMES.items() if re.fullmatch(pattern, column))


#: the theme of each of COLUMNS
THEME_OF: tuple[str, ...] = tuple(_theme(column) for column in COLUMNS)
