"""Which pages of a crawl teach, and which come out: globs and a limit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import translate
from functools import cache

from templatediff.errors import UsageError
from templatediff.page import Page


@dataclass(frozen=True, slots=True)
class Selection:
    """Globs on a page's URL where it is known, else on its path: `*` is any text, "/" too, `?` one character, `[ab]` one
    of these. Upper and lower case differ; the whole of the URL or path must match.

    include  only pages that match one of them come out; the others teach all the same. None given: all
    exclude  pages that match one of them neither teach nor come out
    limit    pages of each site that teach and come out, the first in order; None: all

    Raises UsageError for an empty glob or a limit below 1.

    >>> chosen = Selection(include=("*/news/*",), exclude=("*?page=*",))
    >>> [chosen.shows(Page("", url=f"https://a.example/{end}")) for end in ("news/1", "about")]
    [True, False]
    >>> chosen.excludes(Page("", path="news/list.html?page=2"))
    True
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    limit: int | None = None

    def __post_init__(self) -> None:
        for name in ("include", "exclude"):
            given = getattr(self, name)
            globs = (given,) if isinstance(given, str) else tuple(given)
            if not all(globs):
                raise UsageError(f"{name} is empty: give a glob such as */news/*")
            object.__setattr__(self, name, globs)
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"limit is {self.limit}: give 1 or more pages of each site")

    def excludes(self, page: Page) -> bool:
        """Whether a page is to be left alone altogether."""
        return _matches(self.exclude, page)

    def shows(self, page: Page) -> bool:
        """Whether a page that is not excluded comes out."""
        return not self.include or _matches(self.include, page)


def _matches(globs: Iterable[str], page: Page) -> bool:
    name = page.url or page.path or ""
    return any(_pattern(glob).match(name) for glob in globs)


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob))
