"""Container of a page -> a CSS selector that people can read and other pages of the site share.

An id, a class or a label (itemprop, aria-label) goes before position: `nav.main-menu li:nth-child(2)` rather than a path of
numbers from the body. A selector names exactly one container on the page it was made for; where names do not single it out,
`:nth-child` steps go down from the nearest container that they do. Names with digits or generated parts, and those that no
other page has, are left alone: they change.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from templatediff.fingerprint import Fingerprint
from templatediff.steps import fold_name

MOST_CLASSES = 6  #: classes of an element that are looked at
MOST_ANCESTORS = 12  #: containers around one that are tried to tell it apart
# fmt: off
_TELLING = frozenset(["main", "header", "footer", "nav", "aside", "article", "h1", "form", "address", "table"])
# fmt: on
_PLAIN = re.compile(r"-?[A-Za-z_][A-Za-z_-]*")


class Selectors:
    """Selectors on the pages of one layout or site."""

    def __init__(self, pages: Sequence[Fingerprint]) -> None:
        self.pages = pages
        self._of_page: dict[int, _OnPage] = {}

    @cached_property
    def _known(self) -> frozenset[str]:
        """The names that stand on two pages or more; all of them where there is one page."""
        on = Counter(name for page in self.pages for name in {one for written in page.names for one in names(written)})
        return frozenset(name for name, count in on.items() if count > 1 or len(self.pages) < 2)

    def of(self, page: int, row: int) -> str:
        """The selector of a container of one of the pages."""
        if page not in self._of_page:
            self._of_page[page] = _OnPage(self.pages[page], self._known)
        return self._of_page[page].selector(row)


def names(written: str) -> list[str]:
    """The steady names of an element in the order of preference, as simple selectors.

    >>> names("#top-42.box.css-1dbjc4n.wide aria-label=Contact us"), names("#imprint")
    (['.box', '.wide', '[aria-label="Contact us"]'], ['#imprint'])
    """
    written, _, label = written.partition(" ")
    identity, *classes = written.split(".")
    found = [identity] if identity and _steady(identity[1:]) else []
    found += [f".{name}" for name in classes[:MOST_CLASSES] if _steady(name)]
    if label:
        key, _, value = label.partition("=")
        found.append(f'[{key}="{value}"]')
    return list(dict.fromkeys(found))


def _steady(name: str) -> bool:
    return _PLAIN.fullmatch(name) is not None and fold_name(name) == re.sub(r"[-_]+", "-", name).strip("-")


class _OnPage:
    """The named containers of one page."""

    def __init__(self, page: Fingerprint, known: frozenset[str]) -> None:
        self.page = page
        self.parent: list[int] = page.parent.tolist()
        self.tag: list[str] = [page.tags[tag] for tag in page.tag.tolist()]
        written = [[name for name in names(one) if name in known] for one in page.names]
        index: list[int] = page.name.tolist() if len(page.name) == len(self.parent) else []
        self.names: list[list[str]] = [written[place] for place in index] if index else [[] for _ in self.parent]
        # compared without case, as browsers do with pages of no doctype
        self.rows: dict[str, set[int]] = {}
        for row, (tag, own) in enumerate(zip(self.tag, self.names, strict=True)):
            for form in ("", *own):
                self.rows.setdefault(_key(tag + form), set()).add(row)
        self._made: dict[int, str] = {}

    def selector(self, row: int) -> str:
        """The selector of a container: by names alone, or from the nearest container that has one."""
        if row not in self._made:
            steps: list[str] = []
            above, named = row, None
            while above > 0:
                named = self._by_names(above)
                if named is not None:
                    break
                between = self.page.between.get(above, "")
                steps.append(f"{between}{self.tag[above]}:nth-child({int(self.page.place[above])})")
                above = self.parent[above]
            self._made[row] = " > ".join([named or "body", *reversed(steps)])
        return self._made[row]

    def _by_names(self, row: int) -> str | None:
        """Names of the container and of those around it that single it out; None if they do not."""
        own = self._form(row)
        if own is None:
            return None
        parts = [own]
        left = self._rows_of(own)
        above, tried = self.parent[row], 0
        while len(left) > 1 and above > 0 and tried < MOST_ANCESTORS:
            around = self._form(above)
            if around is not None:
                fewer = {one for one in left if self._matches(one, [around, *parts])}
                if len(fewer) < len(left):
                    parts.insert(0, around)
                    left = fewer
            above = self.parent[above]
            tried += 1
        return " ".join(parts) if len(left) == 1 else None

    def _form(self, row: int) -> str | None:
        """The simple selector of a container that the fewest others share; None if it has no name that tells anything."""
        tag = self.tag[row]
        forms = [tag + name for name in self.names[row]]
        if not forms:
            return tag if tag in _TELLING else None
        best = min(forms, key=lambda form: len(self._rows_of(form)))
        if len(self._rows_of(best)) > 1:
            for name in self.names[row]:
                if (
                    not best.endswith(name)
                    and name[0] != "#"
                    and len(self._rows_of(best + name)) < len(self._rows_of(best))
                ):
                    return best + name
        return best

    def _rows_of(self, form: str) -> set[int]:
        key = _key(form)
        if key not in self.rows:  # two names on one element
            tag = re.match(r"[^.#\[]+", form)
            assert tag is not None
            single = re.findall(r"\[[^\]]*\]|[.#][^.#\[]+", form[tag.end() :])
            self.rows[key] = set.intersection(*(self.rows[_key(tag[0] + name)] for name in single))
        return self.rows[key]

    def _matches(self, row: int, parts: list[str]) -> bool:
        """Whether a container that the last part names lies in one of the part before, and so on."""
        above = self.parent[row]
        for part in reversed(parts[:-1]):
            rows = self._rows_of(part)
            while above >= 0 and above not in rows:
                above = self.parent[above]
            if above < 0:
                return False
            above = self.parent[above]
        return True


def _key(form: str) -> str:
    return form.casefold()
