"""Where a text stands on a page: in which leaves, or in what of the page is no leaf.

Case, accents and vowel points, kinds of white space and soft hyphens do not matter; inline markup is no part of a leaf's
text, and a text may run over several leaves.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from html import unescape

from templatediff.errors import UsageError
from templatediff.html import TEXT_ID, Node, parse

_INVISIBLE = frozenset("\u00ad\u200b\u2060\ufeff")
# Combining classes (UAX 44) of Hebrew points, Arabic vowel signs, Syriac, and accents above and below. Not those of
# viramas, of kana voicing or of Thai and Lao vowels: without them a word is another word.
_MARKS = frozenset({*range(10, 37), *range(200, 241)})
_TAGS = re.compile(r"<[^<>]*>")
_TEMPLATE = re.compile(r"<template\b.*?</template", re.I | re.S)
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([\"'/\\nrt]))")
# elements whose text is no leaf (`tags.SKIPPED` and noscript), by the name that they are told under
_UNSEEN = frozenset({
    "script", "style", "noscript", "iframe", "embed", "video", "audio", "canvas", "svg", "textarea", "select", "datalist",
    "noembed", "noframes", "title",
})  # fmt: skip


def spans(texts: Sequence[str], wanted: str) -> dict[int, list[tuple[int, int]]]:
    """Which leaves hold a text: leaf -> [(start, end) in its text, ...] in order; empty where none does.

    Raises UsageError for a text that is nothing but white space.

    >>> spans(["The tide", "turned at noon"], "TIDE  turned")
    {0: [(4, 8)], 1: [(0, 6)]}
    """
    sought = _folded(wanted)
    if not sought:
        raise UsageError("the text to find is empty")
    letters, places = _letters(texts)
    found = _all(letters, sought)
    if not found:  # where words are not parted by spaces, the end of a leaf is no space either
        dense = [number for number, letter in enumerate(letters) if letter != " "]
        found = [
            (dense[start], dense[end - 1] + 1)
            for start, end in _all("".join(letters[number] for number in dense), sought.replace(" ", ""))
        ]
    held: dict[int, list[tuple[int, int]]] = {}
    for start, end in found:
        ends: dict[int, list[int]] = {}
        for leaf, offset in places[start:end]:
            if leaf >= 0:
                ends.setdefault(leaf, [offset, offset])[1] = offset + 1
        for leaf, (first, last) in ends.items():
            while last < len(texts[leaf]) and unicodedata.combining(texts[leaf][last]):
                last += 1  # marks belong to the letter before them
            held.setdefault(leaf, []).append((first, last))
    return dict(sorted(held.items()))


def elsewhere(html: str, wanted: str) -> list[str]:
    """What of a page, other than leaves, holds a text: "script", "noscript", "comment", "attribute alt of img", "title",
    "meta description", ..., in the order of the page; empty where the page does not have it.

    >>> elsewhere('<title>Tide</title><img alt="a tide mill"><p>x', "tide")
    ['title', 'attribute alt of img']
    """
    sought = _folded(wanted)
    if not sought:
        raise UsageError("the text to find is empty")
    found = dict.fromkeys(name for name, text in _unseen(html) if _holds(text, sought))
    if not found and _holds(html, sought):
        found = {"markup that is not shown": None}
    return list(found)


def _unseen(html: str) -> Iterator[tuple[str, str]]:
    """(name, text) of all that is no leaf."""
    root = parse(html, limits=None).parser.root
    waiting: list[tuple[Node, str | None]] = [(root, None)] if root is not None else []
    while waiting:
        node, inside = waiting.pop()
        if node.tag_id == TEXT_ID:
            if inside is not None:
                yield inside, node.text_content or ""
            continue
        if node.is_comment_node:
            yield "comment", node.comment_content or ""
            continue
        if node.is_element_node:
            tag = node.tag or ""
            yield from _attributes(tag, node.attributes)
            if inside is None and tag in _UNSEEN:
                kind = node.attributes.get("type")
                inside = f"script ({kind})" if tag == "script" and kind and "/" in kind else tag
        children = list(node.iter(include_text=True, skip_empty=False))
        waiting.extend((child, inside) for child in reversed(children))
    yield from (("template", found[0]) for found in _TEMPLATE.finditer(html))


def _attributes(tag: str, attributes: dict[str, str | None]) -> Iterator[tuple[str, str]]:
    for name, value in attributes.items():
        if value and tag == "meta" and name == "content":
            yield f"meta {attributes.get('name') or attributes.get('property') or ''}".strip(), value
        elif value:
            yield f"attribute {name} of {tag}", value


def _holds(text: str, sought: str) -> bool:
    """Whether a text that may be markup, or quoted in a script, holds what is sought."""
    if sought in _folded(text):
        return True
    plain = _ESCAPED.sub(lambda one: chr(int(one[1], 16)) if one[1] else one[2].replace("n", " "), text)
    return sought in _folded(unescape(_TAGS.sub("", plain))) or sought in _folded(unescape(_TAGS.sub(" ", plain)))


def _letter(character: str) -> str:
    """What stands for a character in a comparison: one or more letters, one space, or nothing."""
    if character.isspace():
        return " "
    if character in _INVISIBLE:
        return ""
    if character.isascii():
        return character.lower()
    if character == "\u0131":  # dotless i is what the lower case of I is in Turkish
        return "i"
    apart = unicodedata.normalize("NFKD", character).casefold()
    return "".join(letter for letter in apart if unicodedata.combining(letter) not in _MARKS)


def _folded(text: str) -> str:
    return " ".join("".join(map(_letter, text)).split())


def _letters(texts: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """The leaves' letters as one text, single spaces between, and (leaf, offset) of each; leaf -1 between leaves."""
    letters: list[str] = []
    places: list[tuple[int, int]] = []
    for leaf, text in enumerate(texts):
        for offset, character in enumerate(text):
            for letter in _letter(character):
                if letter != " " or (letters and letters[-1] != " "):
                    letters.append(letter)
                    places.append((leaf, offset))
        if letters and letters[-1] != " ":
            letters.append(" ")
            places.append((-1, 0))
    return "".join(letters), places


def _all(text: str, sought: str) -> list[tuple[int, int]]:
    """(start, end) of every place where a text stands, none within another; nowhere does か stand in が."""
    found = []
    start = text.find(sought)
    while start >= 0:
        end = start + len(sought)
        if not unicodedata.combining(text[end : end + 1] or " "):
            found.append((start, end))
        start = text.find(sought, end)
    return found
