"""Texts of one place -> patterns: constant words in order, with gaps where the text changes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from templatediff.remember import MAX_TEXT
from templatediff.text import UNSPACED
from templatediff.values import MARK, TYPED, WORD, Lexeme, lexemes, trimmed

STEADY = 0.9  #: in the first round words stand equally often in this share of a place's texts, whatever these are
#: then, for texts with a typed value, on this share of the pages that have the place
ROUNDS = (0.5, 0.2)
MOST = 0.8  #: share of the pages that have a text which begins as a pattern does
FITS = 0.9  #: share of the texts that a pattern of the first round fits
LEAST_UNTYPED = 4  # pages
CONSTANT = 0.5  #: of a long text at least this share is constant
MOST_LEXEMES = 100
MOST_GAPS = 6
MOST_PATTERNS = 8
_LONG = 30  # lexemes
_LONG_TEXT, _EDGE = 100, 8  # characters
_START = 12  # lexemes
_GAP = "*"
_COMMAS = frozenset(",\u3001\uff0c\u060c;")
_LETTER = {kind: chr(0xE000 + number) for number, kind in enumerate(sorted(TYPED))}
_TYPED_LETTERS = frozenset(_LETTER.values())
_OTHER = "\ue0ff"
_FIRST = 0xE100  # constants of a pattern get letters from here on


@dataclass(frozen=True)
class Pattern:
    """Forms in order: words and marks, "<date>" and the like for a typed value, "*" for any lexemes (one or more)."""

    forms: tuple[str, ...]

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The types of its typed values."""
        return frozenset(form[1:-1] for form in self.forms if form[0] == "<" and form[1:-1] in TYPED)

    @cached_property
    def words(self) -> int:
        """How many of its forms are constant words."""
        return sum(form != _GAP and any(map(str.isalpha, form)) and form[1:-1] not in TYPED for form in self.forms)

    @cached_property
    def _runs(self) -> tuple[dict[str, str], tuple[str, ...]]:
        """(letter of each form, the runs of letters between the gaps); an empty first or last run: a gap is there."""
        letters = {f"<{kind}>": letter for kind, letter in _LETTER.items()}
        for form in self.forms:
            letters.setdefault(form, chr(_FIRST + len(letters)))
        letters[_GAP] = "\0"
        return letters, tuple("".join(map(letters.__getitem__, self.forms)).split("\0"))

    def gaps(self, found: Sequence[Lexeme]) -> list[tuple[int, int]] | None:
        """Which lexemes fill the gaps and typed values, as ranges in order; None for a text that is not of this pattern.

        Each run is taken where it first fits, as for file name patterns: a regular expression would go back and forth.
        """
        letters, runs = self._runs
        text = "".join(letters.get(one.form, _OTHER) for one in found)
        places = [0]
        for number, run in enumerate(runs[1:], start=1):
            least = places[-1] + len(runs[number - 1]) + 1
            place = len(text) - len(run) if number == len(runs) - 1 else text.find(run, least)
            if place < least:
                return None
            places.append(place)
        if not text.startswith(runs[0]) or not text.endswith(runs[-1]) or (len(runs) == 1 and text != runs[0]):
            return None
        filled = []
        for number, (run, place) in enumerate(zip(runs, places, strict=True)):
            filled += [(place + at, place + at + 1) for at, letter in enumerate(run) if letter in _TYPED_LETTERS]
            if number + 1 < len(runs):
                filled.append((place + len(run), places[number + 1]))
        return filled

    def spans(self, text: str) -> list[tuple[int, int]] | None:
        """Where the gaps and typed values of a text lie, in order; None for a text that is not of this pattern."""
        found = lexemes(text[:MAX_TEXT])
        filled = self.gaps(found) if len(found) <= MOST_LEXEMES else None
        if filled is None:
            return None
        spans = []
        for first, last in filled:
            end = len(text) if last == len(found) and len(text) > MAX_TEXT else found[last - 1].end
            spans.append(trimmed(text, found[first].start, end))
        return spans


Cut = Sequence[tuple[int, Sequence[Lexeme]]]  # (page, lexemes) of each text


def find_patterns(leaves: Sequence[tuple[int, str]]) -> list[Pattern]:
    """The patterns of a place's texts, given with the number of the page each stands on; the most frequent first."""
    cut: Cut = [
        (page, found) for page, text in _worth_it(leaves) if 0 < len(found := lexemes(text[:MAX_TEXT])) <= MOST_LEXEMES
    ]
    pages = len({page for page, _ in leaves})
    chosen = _supported(cut, _steady(cut), 2, FITS * len(leaves))
    for begun in _begun_alike(cut, pages) if not chosen else ():
        chosen += [one for one in _supported(begun, _steady(begun), 2, FITS * len(begun)) if one not in chosen]
    for least in ROUNDS:
        cut = [
            (page, found)
            for page, found in cut
            if len(found) <= _LONG
            and any(one.kind in TYPED for one in found)
            and all(pattern.gaps(found) is None for pattern in chosen)
        ]
        needed = max(2, least * pages)
        chosen += [one for one in _supported(cut, _frequent(cut, needed), needed) if one not in chosen]
    return chosen[:MOST_PATTERNS]


def _worth_it(leaves: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """The texts that may have a pattern: short ones, and long ones that begin or end as one of another page does.

    Most of a place's long texts are prose, and taking them apart would cost more than all else.
    """
    edges: dict[tuple[bool, str], set[int]] = defaultdict(set)
    for page, text in leaves:
        if len(text) > _LONG_TEXT:
            edges[True, text[:_EDGE]].add(page)
            edges[False, text[-_EDGE:]].add(page)
    return [
        (page, text)
        for page, text in leaves
        if len(text) <= _LONG_TEXT or len(edges[True, text[:_EDGE]]) > 1 or len(edges[False, text[-_EDGE:]]) > 1
    ]


def _steady(cut: Cut) -> set[str]:
    """Words and marks that stand equally often in nearly all texts: a merely frequent one would split a gap."""
    often: dict[str, Counter[int]] = defaultdict(Counter)
    for _, found in cut:
        for form, count in Counter(one.form for one in found if one.kind in (WORD, MARK)).items():
            often[form][count] += 1
    return {form for form, counts in often.items() if max(counts.values()) >= STEADY * len(cut)}


def _begun_alike(cut: Cut, pages: int) -> list[Cut]:
    """Texts that begin alike, one on most pages, among others of the place: with the same words and mark ("Home ›"), or
    with the same word where typed values of the same kinds follow ("By ... on <date>").
    """
    begun: dict[tuple[str, ...], list[tuple[int, Sequence[Lexeme]]]] = defaultdict(list)
    for page, found in cut:
        kinds = [one.kind for one in found[:_START]]
        typed = [one.form for one in found if one.kind in TYPED]
        if typed and kinds[0] == WORD and len(found) <= _LONG:
            begun[found[0].form, *typed].append((page, found))
        elif MARK in kinds[1:] and all(kind == WORD for kind in kinds[: kinds.index(MARK)]):
            begun[tuple(one.form for one in found[: kinds.index(MARK, 1) + 1])].append((page, found))
    on = {start: len({page for page, _ in texts}) for start, texts in begun.items()}
    return [
        begun[start] for start in sorted(begun) if on[start] >= MOST * pages and len(begun[start]) * MOST <= on[start]
    ]


def _frequent(cut: Cut, needed: float) -> set[str]:
    """Words and marks on so many pages."""
    on: dict[str, set[int]] = defaultdict(set)
    for page, found in cut:
        for one in found:
            if one.kind in (WORD, MARK):
                on[one.form].add(page)
    return {form for form, held in on.items() if len(held) >= needed}


def _supported(cut: Cut, constants: set[str], pages: float, texts: float = 0) -> list[Pattern]:
    """The patterns of these constants on so many pages, most pages first. With `texts` each fits so many of the texts,
    and may do without a typed value.
    """
    support: dict[tuple[str, ...], set[int]] = defaultdict(set)
    lengths: dict[tuple[str, ...], int] = {}
    for page, found in cut:
        forms = _forms(found, constants, strict=bool(texts))
        support[forms].add(page)
        lengths[forms] = max(lengths.get(forms, 0), len(found))
    made = []
    for forms, held in sorted(support.items(), key=lambda one: (-len(one[1]), -len(one[0]), one[0])):
        pattern = Pattern(forms)
        gaps = forms.count(_GAP)
        if len(held) < pages or gaps > MOST_GAPS or not (pattern.kinds or (texts and gaps and pattern.words)):
            continue
        if gaps and not pattern.words and len(forms) - gaps == len(pattern.kinds):
            continue  # prose with a number in it
        if lengths[forms] > _LONG and len(forms) - gaps < CONSTANT * lengths[forms]:
            continue
        if not pattern.kinds and len(held) < LEAST_UNTYPED:
            continue
        if texts and sum(pattern.gaps(found) is not None for _, found in cut) < texts:
            continue
        made.append(pattern)
    return made


def _forms(found: Sequence[Lexeme], constants: set[str], strict: bool) -> tuple[str, ...]:
    """The forms of a text, what is not constant as gaps; with `strict` weak constants are part of the gap around them."""
    forms: list[str] = []
    for one in found:
        form = one.form if one.kind in TYPED or one.form in constants else _GAP
        if form != _GAP or not forms or forms[-1] != _GAP:
            forms.append(form)
    return _without_weak(forms) if strict and not any(one.kind in TYPED for one in found) else tuple(forms)


def _without_weak(forms: list[str]) -> tuple[str, ...]:
    """Without runs that say little: single characters of scripts without spaces, and inside a text words without a mark.

    "of" stands in most titles, the particle of a Chinese adjective at the end of each.
    """
    kept: list[str] = []
    seen = 0
    for gap, run in groupby(forms, key=_GAP.__eq__):
        own = list(run)
        seen += len(own)
        at_edge = seen in (len(own), len(forms))
        size = sum(1 if UNSPACED.match(form) else 2 for form in own)
        marked = any(not any(map(str.isalnum, form)) and form not in _COMMAS for form in own)
        strong = not gap and (marked or (at_edge and size > 1))
        if strong or not kept or kept[-1] != _GAP:
            kept += own if strong else [_GAP]
    return tuple(kept)
