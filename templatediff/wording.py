"""Evidence in plain words: a column's name and its value at a leaf -> what a person is told, or None where a number says
nothing to a person by itself.

Words state what was found. Which way it speaks is for the score to say (`templatediff.reasons`); where that is not the way a
person would take it (kept, since 15 % of the text near by reads like content: in the trees, more than in like cases) there are
no words either. Every column belongs to a theme; `THEMES` lists them with the one function that words each.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from templatediff.evidence import LONG, NAME_COLUMNS
from templatediff.evidence import NAMES as EVIDENCE_NAMES
from templatediff.facts import Found, part, several
from templatediff.lessons import NAMES as LESSON_NAMES

COLUMNS = EVIDENCE_NAMES + LESSON_NAMES
MANY_LINKS = 0.25  #: share of links in a text from which on it is told against it

__all__ = ["COLUMNS", "THEMES", "THEME_OF"]


Wording = Callable[[Found], str | None]


def _repetition(at: Found) -> str | None:
    view, of = at.view
    if view is None:
        return None
    page = at.context.page
    kind = at.column.partition("_")[2]
    k = int(view.k("text", page.text_hash[at.leaf : at.leaf + 1])[0])
    if not at.fits_template(0.5):
        return None
    if kind.startswith("ngrams") or (kind == "known" and at.context.tokens[at.leaf] >= LONG and at.value > k / view.n):
        return f"its phrases are on {at.value:.0%} of the other pages {of}"
    found = round(at.value * view.n)
    if kind == "pair" and found:
        return f"at the same place on {found} of {view.n} other pages {of}"
    if kind == "folded" and found > k:
        return f"but for numbers and dates on {found} of {view.n} other pages {of}"
    return f"on {k or 'none'} of {view.n} other pages {of}"


def _targets(at: Found) -> str | None:
    return f"{at.value:.0%} of the other pages {at.view[1]} link to the same address"


def _place(at: Found) -> str | None:
    view, of = at.view
    if view is None:
        return None
    there = f"at its place on other pages {of}"
    kind = at.column.rpartition("_")[2]
    if kind == "present":
        return f"{round(at.value * view.n)} of {view.n} other pages {of} have text at its place"
    if kind == "tokens":
        return f"{there}: about {at.several('word')} a leaf"
    if kind == "leaves":
        return f"{there}: about {at.several('leaf')} a page"
    if kind == "links":
        return f"{there}: {at.value:.0%} links"
    if kind == "new":
        return f"{there}: {at.value:.0%} of the leaves are new"
    return f"{there}: {'ever other' if at.value > 0.5 else 'the same few'} texts"


def _region(at: Found) -> str | None:
    if not at.fits:
        return None
    inside = at.context.inside(at.context.site_majority)[at.leaf]
    if not np.isnan(inside) and (at.column == "in_site_majority" or (at.value > 0.5) == (inside > 0)):
        return f"{'inside' if inside else 'outside'} the region that changes on every page"
    if at.container is None:
        return None
    return f"in a part of the page that holds {at.part} of the new text of other pages"


def _pool(at: Found) -> str | None:
    if not at.value:
        return None
    return {
        "is_other_title": "is the title of another page",
        "is_other_heading": "is a heading on another page",
        "is_other_link": "is the text of a link on other pages",
        "links_to_titles": "links to other pages by their titles",
    }[at.column]


def _container(at: Found) -> str | None:
    if not at.fits:
        return None
    if at.column == "in_majority":
        return f"{'inside' if at.value else 'outside'} the container of most of the page's {at.new} text"
    if at.column == "majority_steps":
        return None
    what = at.container
    if what is None:
        return None
    if at.column.startswith("under_fresh"):
        return f"{what} holds {at.part} of the page's {at.new} text"
    if at.column.startswith("under_prose"):
        return f"{what} holds {at.part} of the page's {at.new} sentences"
    if at.column.startswith("single"):
        return f"{what} holds {at.part} of the page's {at.new} text outside alike records"
    return f"{part(min(at.value, 1.0))} of the text of {what} is {at.new}"


def _around(at: Found) -> str | None:
    what = at.container
    if what is None:
        return None
    if at.column.startswith("under_links") and not at.fits_template(MANY_LINKS):
        return None
    if at.column.startswith("under_links"):
        return f"{at.part} of the text of {what} is links"
    if at.column.startswith("under_tokens"):
        return f"{what} holds {at.several('word')}"
    return f"{what} has about {at.several('word')} a leaf"


def _records(at: Found) -> str | None:
    if at.column == "record_count":
        return f"in one of {at.several('alike record')} on the page" if at.value else "in no alike records"
    if at.column.startswith("repeats"):
        what = at.container
        return f"{what} is one of {np.expm1(at.value):.0f} of its kind on the page" if what and at.value > 1 else None
    if at.column == "record_tokens" and at.value >= 0:
        return f"its record holds {at.several('word')}"
    if at.column == "record_links" and at.value >= 0:
        return f"{at.part} of the text of its record is links"
    return None


def _kind(at: Found) -> str | None:
    if at.column == "same_leaves":
        count = round(float(np.expm1(at.value)))
        return (
            f"one of {count} leaves of its kind on the page" if count > 1 else "the only leaf of its kind on the page"
        )
    if at.column == "same_tokens":
        return f"leaves of its kind hold {at.several('word')} on the page"
    if at.column == "same_link_share":
        return f"leaves of its kind are {at.value:.0%} links on the page"
    if at.column == "same_fresh":
        return f"{at.part} of the leaves of its kind on the page are {at.new}"
    return f"leaves of its kind are {at.value:.0%} function words on the page"


def _length(at: Found) -> str | None:
    count = int(at.context.tokens[at.leaf])
    return f"few words ({count})" if count <= 4 else f"{count} words long"


def _style(at: Found) -> str | None:
    page = at.context.page
    if at.column == "digit_share":
        return f"{at.value:.0%} digits" if at.value else "no digits"
    if at.column == "strong_share":
        return f"{at.value:.0%} bold" if at.value else None
    if at.column == "stop_share":
        return f"{at.value:.0%} function words" if at.value else "no function words"
    if at.column in ("sentence_rate", "comma_rate"):
        if page.sentence_ends[at.leaf] and at.context.tokens[at.leaf] >= 12:
            return "reads as sentences"
        if at.column == "comma_rate":
            return "has commas" if at.value else "no commas"
        return "ends a sentence" if at.value else "ends no sentence"
    if at.column == "capital_rate":
        return f"{min(at.value, 1.0):.0%} of its words have capitals" if at.value else "no capitals"
    return f"words of about {several(at.value, 'character')}"


def _copies(at: Found) -> str | None:
    count = round(float(np.exp(at.value)))
    return f"stands {count} times on the page" if count > 1 else None


def _links(at: Found) -> str | None:
    if at.column == "link_share" and not at.fits_template(MANY_LINKS):
        return None
    if at.column == "link_share":
        return f"{at.part} of its text is links" if at.value else "no links in it"
    if at.column == "links":
        return f"{at.several('link')} in it" if at.value else "no links in it"
    if not at.value:
        return None
    return {
        "links_outside": "links to other sites",
        "links_inside": "links to other pages of the site",
        "links_fragment": "links within the page",
        "links_action": "links that do something",
    }[at.column]


def _markup(at: Found) -> str | None:
    page = at.context.page
    if at.column.startswith("in_"):
        return f"inside {at.column[3:]}" if at.value else None
    if at.column == "heading":
        return f"a heading of level {at.value:.0f}" if at.value else "no heading"
    if at.column == "grouped":
        return "in a row of a table or a block of code" if at.value else None
    if at.column == "tag":
        return f"its element is {page.tags[page.tag[page.row[at.leaf]]]}"
    if at.column == "breaks":
        return "goes on after a line break" if at.value else None
    return None


def _position(at: Found) -> str | None:
    if at.column == "position":
        return f"{at.value:.0%} of the page stands before it"
    if at.column == "start":
        return f"{at.several('word')} before it on the page"
    if at.column == "to_end":
        return f"{at.several('word')} after it on the page"
    if at.column == "after_heading":
        words = several(np.expm1(abs(at.value)), "word")
        return "at the headline" if not at.value else f"{words} {'after' if at.value > 0 else 'before'} the headline"
    if at.column == "heading_steps":
        return f"{several(at.value, 'container')} away from the headline" if at.value else "in the headline's container"
    side = "before" if at.column == "prose_before" else "after"
    if at.value >= 12:
        return f"no {at.new} sentences {side} it"
    return f"{at.several('word')} to the next {at.new} sentences {side} it"


def _gist(at: Found) -> str | None:
    if at.column == "is_title":
        return "is the page's title, or a part of it" if at.value else None
    if at.column == "title_share":
        return f"{at.value:.0%} of its words stand in the page's title"
    return f"likeness to the rest of the page {at.value:.2f}"


def _near(at: Found) -> str | None:
    kind, _, step = at.column.rpartition("_")
    if at.column.endswith(("_within_3", "_within_8")):
        kind = at.column.partition("_within_")[0]
        if kind == "prose":
            return f"{at.several('word')} in {at.new} sentences near it"
        if kind == "tokens":
            return f"leaves near it have about {at.several('word')}"
        if not at.fits if kind == "fresh" else not at.fits_template(MANY_LINKS):
            return None
        if kind == "known":
            return f"the text near it is on {at.part} of the other pages"
        return f"{at.part} of the text near it is {'links' if kind == 'link_share' else at.new}"
    other = _neighbour(int(step))
    if kind == "tokens":
        return f"{other} has {at.several('word')}"
    if kind == "link_share":
        return f"{other} is {at.value:.0%} links"
    if kind == "stop_share":
        return f"{other} is {at.value:.0%} function words"
    if kind == "known":
        return f"{other} is on {at.part} of the other pages"
    if kind == "heading":
        return f"{other} is {'a' if at.value else 'no'} heading"
    return f"{other} is {'in the same' if at.value else 'in another'} container"


def _names(at: Found) -> str | None:
    parts = at.facts.name_parts(at.leaf, at.sign)
    return f"ids or classes around it: {', '.join(parts[:3])}" if parts else None


def _neighbours(at: Found) -> str | None:
    if not at.fits:
        return None
    if at.column.startswith("first_within"):
        return f"{at.part} of the text near it reads like content"
    if at.column.startswith("under"):
        what = at.container
        if what is None:
            return None
        if at.column.startswith("under_content"):
            return f"{what} holds {at.part} of what reads like content"
        return f"{at.part} of the text of {what} reads like content"
    if at.column == "same_first":
        return f"{at.part} of the text in leaves of its kind reads like content"
    if at.column in ("group_first", "copies_first"):
        return None
    return f"{_neighbour(int(at.column.rpartition('_')[2]))} reads like {'content' if at.value >= 0.5 else 'template'}"


def _lesson(at: Found) -> str | None:
    if at.column.endswith("_tokens") or not at.fits:
        return None
    return f"{at.part} of the text at its place on other pages {at.view[1]} reads like content"


def _passages(at: Found) -> str | None:
    side = "after" if at.value > 0 else "before"
    if at.column == "passage_distance" and at.value:
        return f"{several(np.expm1(abs(at.value)), 'word')} {side} the page's main text"
    if at.column == "passage_side" and at.value and at.sign < 0:
        return f"{side} the page's main text"
    if at.column in ("since_strong", "until_strong"):
        way = "since the last" if at.column == "since_strong" else "to the next"
        return f"{several(np.expm1(at.value), 'word')} {way} text that reads like content"
    if at.column in ("content_before", "content_after"):
        return f"{at.part} of what reads like content stands {at.column.partition('_')[2]} it"
    if not at.fits:
        return None
    return {
        "passage_in_main": f"{'in' if at.value else 'outside'} the page's main text",
        "passage_share": f"the run of text that it is part of holds {at.part} of what reads like content",
        "main_around": f"{'in' if at.value else 'outside'} the container of the page's main text",
        "main_in_parent": f"its container holds {at.part} of the page's main text",
        "main_in_grandparent": f"a container around it holds {at.part} of the page's main text",
        "heading_first": f"the heading above it reads like {'content' if at.value >= 0.5 else 'template'}",
    }.get(at.column)


def _nothing(at: Found) -> str | None:
    return None


def _neighbour(step: int) -> str:
    """
    >>> _neighbour(1), _neighbour(-3)
    ('the leaf after it', 'the third leaf before it')
    """
    order = {1: "", 2: "second ", 3: "third "}[abs(step)]
    return f"the {order}leaf {'before' if step < 0 else 'after'} it"


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
    "passages": (
        r"passage_\w+|main_(?:around|at_step|in_\w+)|content_(?:before|after)|(?:since|until)_strong|heading_first",
        _passages,
    ),
    "page": (rf"(?:{_LEVEL}_)?page_\w+|main_\w+|site_n|layout_n", _nothing),
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
