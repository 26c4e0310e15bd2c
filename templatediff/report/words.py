"""What pages say, made fit to be shown: no control character, no writing direction that leaks, no address that runs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

MOST_TEXT = 20_000  #: characters of a leaf that are shown
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_DIRECTION = re.compile(r"[\u2028-\u202e\u2066-\u2069]")
_WEB = re.compile(r"https?://[^\s\\]+", re.I)
# Hebrew, Arabic, Syriac, Thaana, N'Ko and their neighbours, and the scripts of the second plane that run from the right.
_RIGHT_TO_LEFT = re.compile(r"[\u05d0-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
_LETTER = re.compile(r"[^\W\d_]")
_LANG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,4}")


def visible(value: Any) -> Any:
    r"""Text with control characters as their pictures and what is no character as U+FFFD; other values as they are.

    >>> visible("a\x00b\x1b[31m\ud800"), visible(7)
    ('a␀b␛[31m�', 7)
    """
    if type(value) is not str and (not isinstance(value, str) or isinstance(value, Markup)):
        return value
    return _CONTROL.sub(_picture, value)


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 32 else "\u2421" if code == 127 else "\ufffd"


def spelled(text: str) -> str:
    r"""A name or address with what turns the writing direction, or breaks the line, spelled out.

    >>> spelled("invoice\u202efdp.html")
    'invoice\\u202efdp.html'
    """
    return _DIRECTION.sub(lambda found: f"\\u{ord(found[0]):04x}", text.replace("\n", "\u240a").replace("\t", "\u2409"))


def web_address(url: str | None) -> str | None:
    """The URL if a browser would open it as a page of the web, else None.

    >>> web_address("https://a.example/b"), web_address("javascript:alert(1)"), web_address("https:x")
    ('https://a.example/b', None, None)
    """
    return url if url and _WEB.fullmatch(visible(url)) and visible(url) == url else None


def language(lang: str | None) -> str | None:
    """A declared language as a `lang` attribute may have it, else None."""
    tag = (lang or "").strip().replace("_", "-")
    return tag if _LANG.fullmatch(tag) else None


def direction(texts: Iterable[str]) -> str:
    """Which way most of the texts' letters run, "ltr" or "rtl", by the first 200 characters of each.

    >>> direction(["Home", "שלום, עולם"]), direction([])
    ('rtl', 'ltr')
    """
    sample = "\n".join(text[:200] for text in texts)
    right = len(_RIGHT_TO_LEFT.findall(sample))
    return "rtl" if 2 * right > len(_LETTER.findall(sample)) else "ltr"


def link(name: str, depth: int = 0) -> str:
    """The relative address of a file of the report, from a file in `depth` folders.

    >>> link("pages/a%3Fb.html", 2), link("pages/a:b.html")
    ('../../pages/a%253Fb.html', 'pages/a%3Ab.html')
    """
    return "../" * depth + quote(name, safe="/~")


def shortened(text: str, most: int) -> str:
    """The text, or its beginning and an ellipsis.

    >>> shortened("abcdef", 4), shortened("abcd", 4)
    ('abc…', 'abcd')
    """
    return text if len(text) <= most else text[: most - 1] + "…"
