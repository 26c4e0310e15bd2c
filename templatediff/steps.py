"""Elements' names -> folded steps: what of a tag, an id and classes is the same from page to page."""

from __future__ import annotations

import re
from functools import lru_cache

_NAME_PART = re.compile(r"[-_:]+")
_DIGITS = re.compile(r"\d+")
# names no part of which looks generated, by far the most: `fold_name` would change nothing but digits and what parts them
_PLAIN_PART = r"(?:[A-Z]*+[a-z]++(?:[A-Z]++[a-z]*+)?[0-9]{0,4}+|[A-Z]++[0-9]{0,4}+|[0-9]++)"
_PLAIN_NAME = rf"{_PLAIN_PART}(?:[-_:]++{_PLAIN_PART})*+"
_PLAIN_NAMES = re.compile(rf"(?:#{_PLAIN_NAME})?(?:\.{_PLAIN_NAME})*+")
_CASE_SWITCH = re.compile(r"[a-z][A-Z]")


@lru_cache(1 << 14)  # pages of a site share most of their elements' names
def fold_step(tag: str, names: str) -> str:
    """One step of a folded path: the element with its id and first classes, changing parts folded.

    Digits, hashes and the random suffixes of generated class names differ from page to page or from release to release.

    >>> fold_step("div", "#post-1234.entry.css-1dbjc4n"), fold_step("p", "")
    ('div#post-0.entry.css', 'p')
    """
    if not names or tag == "body":
        return tag
    if _PLAIN_NAMES.fullmatch(names):
        if names.count(".") > 3:
            names = ".".join(names.split(".")[:4])
        return tag + _DIGITS.sub("0", _NAME_PART.sub("-", names))
    identity, *classes = names.split(".") if not names.startswith(".") else ["", *names[1:].split(".")]
    folded = fold_name(identity[1:]) if identity else ""
    kept = [name for name in (fold_name(part) for part in classes[:6]) if name]
    return tag + (f"#{folded}" if folded else "") + "".join(f".{name}" for name in kept[:3])


def step_forms(step: str) -> tuple[str, ...]:
    """A folded step and its plainer forms, plainest last.

    >>> step_forms("div#intro.sect1"), step_forms("p")
    (('div#intro.sect1', 'div.sect1', 'div'), ('p',))
    """
    head, _, classes = step.partition(".")
    tag = head.partition("#")[0]
    plainer = f"{tag}.{classes}" if classes else tag
    return tuple(dict.fromkeys((step, plainer, tag)))


def known_step(step: str, known: frozenset[str]) -> str:
    """The fullest form of a folded step that is known, else the plainest."""
    forms = step_forms(step)
    return next((form for form in forms if form in known), forms[-1])


def named(step: str) -> bool:
    """Whether a folded step has an id or a class."""
    return "#" in step or "." in step


def fold_name(name: str) -> str:
    """A class or id with digits folded to 0 and parts that look generated left out.

    >>> [fold_name(name) for name in ("item-42", "Card_root__2kAbC", "sc-bdVaJa", "navBar")]
    ['item-0', 'Card-root', 'sc', 'navBar']
    """
    parts = [part for part in _NAME_PART.split(name) if part and not _looks_generated(part)]
    return _DIGITS.sub("0", "-".join(parts))


def _looks_generated(part: str) -> bool:
    if len(part) < 5:
        return False
    digits = sum(map(str.isdigit, part))
    if digits == len(part) or re.fullmatch(r"[A-Za-z]+\d{1,4}", part):
        return False
    if digits:
        return True
    switches = len(_CASE_SWITCH.findall(part))
    return switches >= 2 and len(part) / (switches + 1) < 3.5
