"""Real pages with their content taken out, cut to a few sentences, or replaced by an error text: what verdicts are fitted on
besides generated pages, whose frames are few.

brief    content: the headline and at most some sixty words of the text, in the frame of a real page
variant  content: its own headline over a few sentences that are the same on all such pages of the site, as goods have that come
         in several sizes
nothing  empty: the frame
error    empty: the frame around a heading and a sentence or two, which are the same on the site's other such pages, and often
         a way back to the front page

The frame is what is neither in the gold text nor likely content. On one site of two it is thinned first, on all pages alike, so
that how long a frame is says nothing. Pages change as leaves, the elements around them stay.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from corpora.generator.words import Language, Voice, language
from templatediff.context import Context
from templatediff.fingerprint import Ints
from templatediff.glance import LONG_WORD
from templatediff.html import Head
from templatediff.leaves import Leaves

BRIEF, VARIANT, NOTHING, ERROR = "brief", "variant", "nothing", "error"
ROLES = (BRIEF, VARIANT, NOTHING, ERROR)
EMPTY = frozenset([NOTHING, ERROR])
WORDS = (10, 20, 35, 60)  #: of a brief text, at most
LIKELY = 0.35  #: P of what is no part of the frame
PROSE = 8  #: tokens of a leaf that a brief text may be cut from
_SENTENCE = re.compile(r"[^.!?\u0964\u061f\u3002\uff01\uff1f\u2026]+[.!?\u0964\u061f\u3002\uff01\uff1f\u2026]*\s*")
_SPACELESS = 1.5  # characters of a word, as `templatediff.glance` has it
_SCRIPTS = {
    "zh": "chinese", "ja": "japanese", "th": "thai", "ar": "arabic", "fa": "arabic", "he": "hebrew", "ru": "cyrillic",
    "uk": "cyrillic", "bg": "cyrillic", "sr": "cyrillic", "el": "greek",
}  # fmt: skip
THINNED = (1.0, 1.0, 1.0, 0.4, 0.15, 0.05)  #: shares of the frame's lines that stay, by site

Line = tuple[str, str | None]  # text, target if it is a link
Texts = Mapping[int, Sequence[Line]]  # by the leaf whose place they take


@dataclass(frozen=True, slots=True)
class Frame:
    """A page to be changed: its leaves, which of them are content, its headline (-1: none), and the leaves of its text."""

    leaves: Leaves
    content: Ints
    headline: int
    prose: tuple[int, ...]


def content_of(p: Ints, in_gold: Sequence[float] | None) -> Ints:
    """Which leaves are no part of the frame, by P and share in the gold, where there is one."""
    likely = p >= LIKELY
    return likely if in_gold is None else likely | (np.array(in_gold) >= 0.5)


def thinned(leaves: Leaves, content: Ints, site: str) -> Leaves:
    """The page with as many lines of its frame as THINNED says for the site: the same line stays or goes on all of its pages."""
    share = random.Random(f"thin {site}").choice(THINNED)
    if share == 1.0:
        return leaves
    stays = [
        is_content or random.Random(f"{site} {text}").random() < share
        for text, is_content in zip(leaves.text, content.tolist(), strict=True)
    ]
    return _with(leaves, stays, {}, leaves.head)


def frame(leaves: Leaves, context: Context, content: Ints, in_gold: Sequence[float]) -> Frame | None:
    """What can be changed of a page; None where it has no text to be cut. `content` as `content_of` has it."""
    prose = tuple(
        number
        for number, share in enumerate(in_gold)
        if share >= 0.5
        and context.tokens[number] >= PROSE
        and context.link_share[number] < 0.5
        and not leaves.heading[number]
        and leaves.group[number] < 0
    )
    return Frame(leaves, content, context.main_heading, prose) if prose else None


def changed(page: Frame, role: str, site: str, lang: str, draw: random.Random) -> Leaves:
    """The page as one of ROLES. What errors and variants say is the same for a site."""
    if role == BRIEF:
        return _brief(page, draw)
    if role == VARIANT:
        return _variant(page, site, lang)
    if role == NOTHING:
        head = page.leaves.head if draw.random() < 0.5 else Head()
        return _inside(page, {}, head)
    return _error(page, site, lang)


def _brief(page: Frame, draw: random.Random) -> Leaves:
    left = float(draw.choice(WORDS))
    texts: dict[int, list[Line]] = {}
    for number in page.prose:
        cut = _beginning(page.leaves.text[number], left)
        if not cut:
            break
        texts[number] = [(cut, None)]
        left -= _words(cut)
        if left < PROSE or cut != page.leaves.text[number]:
            break
    if page.headline >= 0 and draw.random() < 0.85:
        texts[page.headline] = [(page.leaves.text[page.headline], None)]
    return _inside(page, texts, page.leaves.head)


def _variant(page: Frame, site: str, lang: str) -> Leaves:
    draw = random.Random(f"variant {site}")
    voice = Voice(_language(lang), draw)
    said: list[Line] = [(voice.sentences(draw.randint(1, 3)), None) for _ in range(draw.randint(1, 2))]
    own = "" if page.headline >= 0 else " ".join(page.leaves.text[page.prose[0]].split()[:5])
    texts: dict[int, list[Line]] = {page.prose[0]: [*([(own, None)] if own else []), *said]}
    if page.headline >= 0:
        texts[page.headline] = [(page.leaves.text[page.headline], None)]
    return _inside(page, texts, page.leaves.head)


def _language(lang: str) -> Language:
    return language(_SCRIPTS.get(lang.lower()[:2], "latin"))


def _error(page: Frame, site: str, lang: str) -> Leaves:
    draw = random.Random(f"error {site}")
    speech = _language(lang)
    voice = Voice(speech, draw)
    heading = "404" if draw.random() < 0.3 else voice.title()
    said: list[Line] = [(voice.sentences(draw.randint(1, 2)), None)]
    back: list[Line] = [(speech.labels["home"], "/")] if draw.random() < 0.6 else []
    title = f"{heading} - {voice.made_up()}" if draw.random() < 0.7 else None
    first = page.prose[0]
    texts: dict[int, list[Line]] = {first: [*said, *back]}
    if 0 <= page.headline < first:
        texts[page.headline] = [(heading, None)]
    elif draw.random() < 0.7:
        texts[first] = [(heading, None), *texts[first]]
    return _inside(page, texts, replace(page.leaves.head, title=title, og_title=None))


def _inside(page: Frame, texts: Texts, head: Head) -> Leaves:
    """The frame, and new leaves in it."""
    stays = [not is_content and number != page.headline for number, is_content in enumerate(page.content.tolist())]
    return _with(page.leaves, stays, texts, head)


def _with(old: Leaves, stays: Sequence[bool], texts: Texts, head: Head) -> Leaves:
    """The leaves that stay, and new ones at the places of others."""
    links: dict[int, list[tuple[str, str]]] = {}
    for leaf, target, text in old.links:
        links.setdefault(leaf, []).append((target, text))
    made = Leaves(old.elements, head, [], [], [], [], [], [], [], [], [], [], old.has_body, 0)

    def add(number: int, text: str, linked: int, strong: int, targets: Sequence[tuple[str, str]]) -> None:
        made.links.extend((len(made), target, words) for target, words in targets)
        made.text.append(text)
        made.row.append(old.row[number])
        made.linked.append(linked)
        made.strong.append(strong)
        made.heading.append(old.heading[number])
        made.breaks.append(old.breaks[number])
        made.group.append(old.group[number])

    for number, text in enumerate(old.text):
        if number in texts:
            for new, target in texts[number]:
                add(number, new, len(new) if target else 0, 0, [(target, new)] if target else [])
        elif stays[number]:
            add(number, text, old.linked[number], old.strong[number], links.get(number, ()))
    return made


def _beginning(text: str, most: float) -> str:
    """The whole sentences of a text that have `most` words together; of a first one that has more, words and its last mark."""
    found, left = "", most
    sentences = _SENTENCE.findall(text)
    for sentence in sentences:
        size = _words(sentence)
        if size > left:
            break
        found, left = found + sentence, left - size
    if found.strip() or not sentences:
        return found.strip()
    first = sentences[0].rstrip()
    words = first.split()
    cut = " ".join(words[: int(most)]) if _words(first) == len(words) else first[: int(most * _SPACELESS)]
    return cut.rstrip(" ,;:\u060c\u3001\uff0c") + first[-1]


def _words(text: str) -> float:
    """Words of a text, by its length where it is written without spaces."""
    characters, spaced = len(text.strip()), text.strip().count(" ") + 1
    return spaced if characters <= LONG_WORD * spaced else characters / _SPACELESS
