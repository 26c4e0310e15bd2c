"""Invented text: sentences of common words by a seeded pseudo-grammar, one lexicon a script.

A pattern is a row of words in which single capital letters stand for a class: N noun, A adjective, V verb,
P preposition, D adverb, T a made-up place or topic, H a person. Grammar is not claimed; tokens, lengths,
punctuation and spacing are those of the script.
"""

from __future__ import annotations

import datetime
import random
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_LEXICON = Path(__file__).parent / "lexicon"
_CLOSING = frozenset(",，、،")


@dataclass(frozen=True, slots=True)
class Language:
    """One lexicon file, read."""

    lang: str
    direction: str
    joiner: str
    gap: str
    comma: str
    ends: tuple[str, ...]
    cased: bool
    syllables: tuple[str, ...]
    given: tuple[str, ...]
    family: tuple[str, ...]
    classes: dict[str, tuple[str, ...]]
    linkers: tuple[str, ...]
    patterns: tuple[str, ...]
    titles: tuple[str, ...]
    phrases: tuple[str, ...]
    menu: tuple[str, ...]
    months: tuple[str, ...]
    date: str
    price: str
    address: str
    labels: dict[str, str]


@cache
def language(script: str) -> Language:
    """The lexicon of a script."""
    raw: dict[str, Any] = tomllib.loads((_LEXICON / f"{script}.toml").read_text(encoding="utf-8"))
    classes = {
        "N": tuple(raw["nouns"].split()),
        "A": tuple(raw["adjectives"].split()),
        "V": tuple(raw["verbs"].split()),
        "P": tuple(raw["prepositions"].split(";")),
        "D": tuple(raw["adverbs"].split(";")),
    }
    return Language(
        lang=raw["lang"],
        direction=raw["direction"],
        joiner=raw["joiner"],
        gap=raw["gap"],
        comma=raw["comma"],
        ends=tuple(raw["ends"]),
        cased=raw["cased"],
        syllables=tuple(raw["syllables"].split()),
        given=tuple(raw["given"].split()),
        family=tuple(raw["family"].split()),
        classes=classes,
        linkers=tuple(raw["linkers"].split(";")),
        patterns=tuple(raw["patterns"]),
        titles=tuple(raw["titles"]),
        phrases=tuple(raw["phrases"]),
        menu=tuple(raw["menu"]),
        months=tuple(raw["months"].split()),
        date=raw["date"],
        price=raw["price"],
        address=raw["address"],
        labels=raw["labels"],
    )


class Voice:
    """A writer of one language with a seed; `topics` are the made-up words it comes back to."""

    def __init__(self, lang: Language, rng: random.Random, topics: int = 4) -> None:
        self.lang = lang
        self.rng = rng
        self.topics = [self.made_up() for _ in range(topics)]

    def made_up(self) -> str:
        """A word of two or three syllables that no dictionary has."""
        word = "".join(self.rng.choice(self.lang.syllables) for _ in range(self.rng.randint(2, 3)))
        return word[0].upper() + word[1:] if self.lang.cased else word

    def person(self) -> str:
        """Given and family name, in the order of the language."""
        names = [self.rng.choice(self.lang.given), self.rng.choice(self.lang.family)]
        if self.lang.lang in ("zh", "ja"):
            names.reverse()
        return (self.lang.gap if self.lang.joiner == "" else " ").join(names)

    def sentence(self) -> list[str]:
        """The tokens of one sentence, each with the white space before it, the end mark on the last."""
        words = self._clause(self.rng.choice(self.lang.patterns))
        if self.rng.random() < 0.45:
            words += [self.lang.comma, self.rng.choice(self.lang.linkers)]
            words += self._clause(self.rng.choice(self.lang.patterns))
        spaced = self._spaced(words)
        spaced[-1] += self.rng.choice(self.lang.ends)
        return spaced

    def sentences(self, count: int) -> str:
        """A paragraph of plain text."""
        return self.lang.gap.join("".join(self.sentence()) for _ in range(count))

    def title(self) -> str:
        """A headline."""
        return self._line(self.lang.titles)

    def phrase(self) -> str:
        """Two or three words, without capital."""
        return "".join(self._spaced(self._clause(self.rng.choice(self.lang.phrases)), capital=False))

    def menu_label(self) -> str:
        """One to three words, as they stand in a menu."""
        return self._line(self.lang.menu)

    def date(self, day: datetime.date) -> str:
        """A date as it is written in the language."""
        return self.lang.date.format(d=day.day, month=self.lang.months[day.month - 1], y=day.year)

    def price(self) -> str:
        """A price with its currency."""
        return self.lang.price.format(major=self.rng.randint(3, 900), minor=f"{self.rng.randint(0, 99):02d}")

    def address(self) -> str:
        """Street, number and town."""
        noun = self.rng.choice(self.lang.classes["N"])
        noun = noun.capitalize() if self.lang.cased else noun
        return self.lang.address.format(n=self.rng.randint(1, 240), noun=noun, place=self.made_up())

    def _line(self, patterns: tuple[str, ...]) -> str:
        return "".join(self._spaced(self._clause(self.rng.choice(patterns))))

    def _clause(self, pattern: str) -> list[str]:
        words: list[str] = []
        for item in pattern.split():
            if item == "T":
                words.append(self.rng.choice(self.topics) if self.rng.random() < 0.6 else self.made_up())
            elif item == "H":
                words.append(self.person())
            elif item in self.lang.classes:
                words.append(self.rng.choice(self.lang.classes[item]))
            else:
                words.append(item)
        return words

    def _spaced(self, words: list[str], capital: bool = True) -> list[str]:
        spaced = [
            word if place == 0 or word in _CLOSING or word == self.lang.comma else self.lang.joiner + word
            for place, word in enumerate(words)
        ]
        if capital and self.lang.cased:
            spaced[0] = spaced[0][0].upper() + spaced[0][1:]
        return spaced


def slug(rng: random.Random, words: int = 3) -> str:
    """A made-up address part in Latin letters: "lumera-korda-fenola"."""
    syllables = language("latin").syllables
    return "-".join("".join(rng.choice(syllables) for _ in range(rng.randint(2, 3))) for _ in range(words))
