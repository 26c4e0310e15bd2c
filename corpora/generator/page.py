"""One page in the making: the writer, the voices and the neighbours that chrome and bodies share."""

from __future__ import annotations

import random
import re

from corpora.generator.markup import Piece, Style, Writer, value
from corpora.generator.plan import Plan, Pool, Theme
from corpora.generator.spec import SiteSpec
from corpora.generator.words import Language, Voice

_HOLE = re.compile(r"\{(\w)\}")
_HOLES = {"p": "person", "d": "date", "n": "count", "m": "count"}


class Page(Writer):
    """Writes one page.

    voice   speaks the content; near-duplicates share it with their original
    aside   speaks what changes around it; every page has its own
    """

    def __init__(self, spec: SiteSpec, lang: Language, theme: Theme, plan: Plan, pool: Pool) -> None:
        self.spec, self.lang, self.theme, self.plan, self.pool = spec, lang, theme, plan, pool
        content = (plan.original or plan).href
        super().__init__(Style(theme.style, theme.seed, f"{theme.seed}{plan.href}"))
        self.voice = Voice(lang, random.Random(f"{spec.seed}/{spec.script}{content}/content"))
        self.aside = Voice(lang, random.Random(f"{spec.seed}/{spec.script}{plan.href}/aside"))
        self.rng = self.voice.rng
        self._paragraphs = 0

    def has(self, dynamic: str) -> bool:
        """Does the site have this kind of changing boilerplate?"""
        return dynamic in self.spec.dynamic

    def static(self, content: str) -> bool:
        """Does the site have this kind of repeated content?"""
        return content in self.spec.static_content

    def count(self, usual: int) -> int:
        """A number of content parts about `usual`, by the length knob."""
        return max(1, round(self.spec.length * (usual + self.rng.randint(-1, 1))))

    def label(self, key: str, role: str = "", **values: str) -> list[Piece]:
        """An interface text; its holes are slots ({p} person, {d} date, {n} and {m} counts)."""
        pieces: list[Piece] = []
        text, done = self.lang.labels[key], 0
        for hole in _HOLE.finditer(text):
            if hole.start() > done:
                pieces.append(Piece(text[done : hole.start()]))
            type = _HOLES[hole[1]]
            pieces.append(value(values[hole[1]], f"{role or key}-{type}", type))
            done = hole.end()
        if done < len(text):
            pieces.append(Piece(text[done:]))
        return pieces

    def others(self, count: int, draw: random.Random) -> list[Plan]:
        """Other pages of the site, its ghosts among them."""
        return self.pool.others(self.plan, count, draw)

    def paragraph(self, sentences: int, role: str = "paragraph", tag: str = "p") -> None:
        """A paragraph of content, with a link or a stressed word here and there."""
        pieces: list[Piece] = []
        for place in range(sentences):
            pieces += self._sentence(self.voice, gap=place > 0)
        self._paragraphs += 1
        if self.plan.original and self._paragraphs == 2:  # all that tells a near-duplicate from its original
            pieces += self._sentence(self.aside, gap=True)
        self.put(tag, pieces, "content", role)

    def _sentence(self, voice: Voice, gap: bool) -> list[Piece]:
        words = voice.sentence()
        if gap:
            words[0] = self.lang.gap + words[0]
        chance = voice.rng.random()
        if chance > 0.25 or len(words) < 6:
            return [Piece("".join(words))]
        start = voice.rng.randrange(1, len(words) - 3)
        while words[start].strip() in (self.lang.comma.strip() or ",", "、", "，"):
            start -= 1
        end = start + voice.rng.randint(1, 2)
        space = words[start][: len(words[start]) - len(words[start].lstrip())]
        marked = "".join(words[start:end])[len(space) :]
        if chance < 0.15:
            inner = Piece(marked, "a", voice.rng.choice(self.pool.plans).href)
        else:
            inner = Piece(marked, "strong" if chance < 0.2 else "em")
        return [Piece("".join(words[:start]) + space), inner, Piece("".join(words[end:]))]
