"""Sentences whose nouns, verbs, adjectives and names are tokens that stand nowhere else on the site.

The grammar and the function words are those of the generator's Latin lexicon, so that a text has the stopwords, the
sentence lengths and the punctuation of English; every other word is coined once and belongs to one block. A token has
letters only (no digits, which extractors fold) and is one run of word characters in every tokeniser.
"""

from __future__ import annotations

import random
import re

from corpora.generator.words import Voice, language

_WORD = re.compile(r"\w+")


class Source:
    """The words of one site. `tokens(text)` are those of a text that were coined here, the subjects left out."""

    def __init__(self, name: str) -> None:
        self._rng = random.Random(f"sentinel/{name}")
        self._lang = language("latin")
        listed = " ".join((*self._lang.patterns, *self._lang.linkers, *self._lang.labels.values()))
        classes = " ".join(word for words in self._lang.classes.values() for word in words)
        self._taken = set(_WORD.findall(f"{listed} {classes}".casefold()))
        self._coined: set[str] = set()
        self._speaker = _Speaker(self, self._rng)

    def coin(self, length: int | None = None) -> str:
        """A new word, of so many letters if told (4 or more)."""
        while True:
            word = "".join(
                self._rng.choice(self._lang.syllables) for _ in range(3 if length is None else 1 + length // 2)
            )
            word = word[:length]
            if word not in self._taken and len(word) >= 4 and length in (None, len(word)):
                self._taken.add(word)
                self._coined.add(word)
                return word

    def subject(self) -> str:
        """A new word that no block owns: what a page is about comes again in headline and text."""
        word = self.coin()
        self._coined.discard(word)
        return word

    def tokens(self, text: str) -> list[str]:
        """The coined words of a text, in order, each once."""
        return list(dict.fromkeys(word for word in _WORD.findall(text.casefold()) if word in self._coined))

    def sentences(self, count: int, subject: str = "") -> str:
        """So many sentences; about every third names the subject."""
        self._speaker.subject = subject
        return self._speaker.sentences(count)

    def phrase(self, words: int) -> str:
        """So many coined words, the first with a capital: a menu entry, a label, a cell."""
        return " ".join(self.coin() for _ in range(words)).capitalize()

    def characters(self, count: int, stop: bool = True) -> str:
        """Running text of exactly so many characters (40 or more), with or without a full stop."""
        end = "." if stop else ""
        text = self.sentences(2 + count // 40)
        while len(text) < count:
            text += " " + self.sentences(1)
        room = count - len(end) - 6  # for one word that fills up what is left
        text = text[: text.rindex(" ", 0, room + 1)].rstrip(".?!,")
        text = re.sub(r"[.?!]", ",", text) if not stop else text
        return f"{text} {self.coin(count - len(end) - 1 - len(text))}{end}"


class _Speaker(Voice):
    """A voice that coins every noun, verb, adjective and name."""

    def __init__(self, source: Source, rng: random.Random) -> None:
        super().__init__(language("latin"), rng, topics=0)
        self.source = source
        self.subject = ""

    def _clause(self, pattern: str) -> list[str]:
        words: list[str] = []
        for item in pattern.split():
            if item == "H":
                words.append(f"{self.source.coin().capitalize()} {self.source.coin().capitalize()}")
            elif item in ("N", "A", "V", "T"):
                word = self.source.coin()
                if item == "N" and self.subject and self.rng.random() < 0.15:
                    word = self.subject
                words.append(word.capitalize() if item == "T" else word)
            elif item in self.lang.classes:
                words.append(self.rng.choice(self.lang.classes[item]))
            else:
                words.append(item)
        return words
