"""What a run must remember to go on after it was broken off: of each page that is done a line, and what the run was.

A run that goes on reads its input anew, for the templates; what it has written it does not work out again. So the lines
hold all that totals and reports count.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from templatediff.drift import PageFit
from templatediff.extraction import Extraction
from templatediff.page import Failure
from templatediff.record import Tally
from templatediff.rules import Rule
from templatediff.store import PROFILE_FILE, TEMPLATE_FILE, site_folder
from templatediff.text import tokens


@dataclass(frozen=True, slots=True)
class Row:
    """What a report says of one page; `words` are tokens of its text, in scripts without spaces characters."""

    path: str
    url: str | None
    title: str | None
    fetched: str | None
    site: str | None
    layout: int | None
    verdict: str
    words: int
    confidence: float
    error: Failure | None

    @classmethod
    def of(cls, record: Extraction) -> Row:
        return cls(
            record.path or "-",
            record.url,
            record.title,
            record.fetched,
            record.site,
            record.layout,
            record.verdict,
            len(tokens(record.text)),
            record.confidence,
            record.error,
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """One page that is done: its row, and what it added to the totals."""

    row: Row
    tally: Tally

    def to_line(self, rules: Sequence[Rule]) -> bytes:
        """As one line of ASCII; rules by their place among those of the site."""
        place = {rule: number for number, rule in enumerate(rules)}
        tally = self.tally
        counts = {
            "static": tally.static,
            "dynamic": tally.dynamic,
            "content": tally.content,
            "fit": asdict(tally.fit) if tally.fit is not None else None,
            "matched": sorted(place[rule] for rule in tally.matched),
            "conflicts": sorted([place[first], place[other]] for first, other in tally.conflicts),
        }
        return json.dumps({"row": asdict(self.row), "tally": counts}).encode() + b"\n"

    @classmethod
    def of_line(cls, line: bytes, rules: Sequence[Rule]) -> Entry:
        """The reverse. Raises ValueError for a line that is no entry."""
        try:
            found = json.loads(line)
            row, tally = found["row"], found["tally"]
            error = Failure(**row.pop("error")) if row["error"] else row.pop("error")
            fit = PageFit(**tally["fit"]) if tally["fit"] else None
            matched = frozenset(rules[number] for number in tally["matched"])
            conflicts = frozenset((rules[first], rules[other]) for first, other in tally["conflicts"])
            static, dynamic, content = (tally[name] for name in ("static", "dynamic", "content"))
            return cls(Row(**row, error=error), Tally(static, dynamic, content, fit, matched, conflicts))
        except (KeyError, IndexError, TypeError, RecursionError) as error:
            raise ValueError(f"no entry: {error!r}") from None


class Journal(Protocol):
    """Keeps the entries of a run."""

    def begin(self, inputs: list[list[Any]], templates: str, rules: Sequence[Sequence[Rule]]) -> Sequence[Entry]:
        """Called before the first record, with the [path, size] of all pages, the hash of the templates that are applied,
        and the rules of each page to come, in order; the entries of those that are done already, the first in order."""

    def add(self, entry: Entry, rules: Sequence[Rule]) -> None:
        """Called with each record before it is handed out."""


def inputs_of(files: Iterable[tuple[str, str]]) -> list[list[Any]]:
    """[path, size in bytes or None] of (path, file)."""
    return [[path, _size(file)] for path, file in files]


def _size(file: str) -> int | None:
    try:
        return os.stat(file).st_size
    except OSError:
        return None


def templates_hash(folder: Path, sites: Iterable[str], rules: Mapping[str, Sequence[Rule]]) -> str:
    """SHA-256 of all that a folder of templates says of these sites, the rules included."""
    total = hashlib.sha256()
    for site in sorted(set(sites)):
        total.update(repr((site, rules.get(site))).encode("utf-8", "backslashreplace"))
        for name in (PROFILE_FILE, TEMPLATE_FILE):
            file = folder / site_folder(site) / name
            if file.is_file():
                total.update(hashlib.sha256(file.read_bytes()).digest())
                break
    return total.hexdigest()
