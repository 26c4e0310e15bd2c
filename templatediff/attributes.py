"""Attributes of an element -> what they tell of it, and those that rendering needs."""

from __future__ import annotations

import re
from collections.abc import Mapping

from templatediff.marks import ARIA_HIDDEN, DIALOG, HIDDEN, MARK_OF_ROLE

TELLING = frozenset(["role", "hidden", "style", "aria-hidden", "aria-modal", "itemprop", "aria-label"])
_PLAIN_LABEL = re.compile(r"[^\d\s\"'\\\[\]=](?:[^\d\s\"'\\\[\]=]| (?! )){0,39}")
_HIDING_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_SPAN = re.compile(r"[0-9]{1,4}")
_LANGUAGE_TAG = re.compile(r"[A-Za-z0-9-]{1,60}")


def told(attributes: Mapping[str, str | None]) -> tuple[int, str]:
    """What attributes in TELLING say of an element: its marks, and what it is called (short, plain names only; else "").

    >>> told({"role": "none", "aria-label": "Pages"})
    (0, 'aria-label=Pages')
    """
    marks = 0
    value = attributes.get("role")
    if value:
        marks |= MARK_OF_ROLE.get(value.strip().lower(), 0)
    if "hidden" in attributes or _HIDING_STYLE.search(attributes.get("style") or ""):
        marks |= HIDDEN
    if (attributes.get("aria-hidden") or "").lower() == "true":
        marks |= ARIA_HIDDEN
    if attributes.get("aria-modal") == "true":
        marks |= DIALOG
    for key in ("itemprop", "aria-label"):
        value = attributes.get(key)
        if value and _PLAIN_LABEL.fullmatch(value):
            return marks, f"{key}={value}"
    return marks, ""


def shown_attributes(tag: str, attributes: Mapping[str, str | None]) -> dict[str, str]:
    """Those of an element's attributes that rendering needs, checked: see `leaves.Elements.attributes`.

    >>> shown_attributes("td", {"colspan": "9007199254740991", "rowspan": " 2 ", "dir": "RTL", "class": "x"})
    {'rowspan': '2', 'dir': 'rtl'}
    """
    shown: dict[str, str] = {}
    if tag in ("td", "th"):
        for name in ("colspan", "rowspan"):
            value = (attributes.get(name) or "").strip()
            if _SPAN.fullmatch(value) and 2 <= int(value) <= 1000:
                shown[name] = str(int(value))
    elif tag == "ol":
        value = (attributes.get("start") or "").strip()
        if _SPAN.fullmatch(value):
            shown["start"] = str(int(value))
    value = (attributes.get("dir") or "").strip().lower()
    if value in ("ltr", "rtl", "auto"):
        shown["dir"] = value
    value = (attributes.get("lang") or "").strip()
    if _LANGUAGE_TAG.fullmatch(value):
        shown["lang"] = value
    return shown
