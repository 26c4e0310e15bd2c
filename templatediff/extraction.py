"""What is known of one page when all stages are done: the JSON line of DESIGN.md section 6, as a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from templatediff.errors import UsageError
from templatediff.hashes import text_hash
from templatediff.leaves import Leaves
from templatediff.marks import ARIA_HIDDEN, HIDDEN
from templatediff.page import Failure, Page, fetched_text
from templatediff.reasons import Reasons
from templatediff.search import elsewhere, spans
from templatediff.slots import Value
from templatediff.verdict import ERROR

PARTS = ("markdown", "html", "leaves")
#: parts that are no keys of a record: the page's decoded text, and what `Extraction.explain` gives
SOURCE, EXPLAINED = "source", "explained"


@dataclass(frozen=True)
class Extraction:
    """One page's content and what is known of it: the JSON line of DESIGN.md section 6, as attributes.

    `text` is "" if and only if `verdict` is "empty" or "error". `confidence` is the expected F1 of this page, 0..1.
    `markdown`, `html` and `leaves` (leaf records) are worked out when first asked for. str() gives the text. `source` has the
    fields of its JSON line or sidecar that were to be carried, None where none were.
    """

    path: str | None
    url: str | None
    site: str | None
    layout: int | None
    mode: str
    siblings: int
    title: str | None
    text: str
    verdict: str
    confidence: float
    reason: str | None
    fetched: str | None
    lang: str | None
    text_hash: str
    error: Failure | None
    _parts: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    _again: Callable[[tuple[str, ...]], Extraction] | None = field(default=None, repr=False, compare=False)
    source: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        return self.text

    @property
    def markdown(self) -> str:
        """The content as Markdown."""
        return str(self._part("markdown"))

    @property
    def html(self) -> str:
        """The content as cleaned, sanitised HTML."""
        return str(self._part("html"))

    @property
    def leaves(self) -> list[dict[str, Any]]:
        """A record for every leaf of the page, kept or dropped (DESIGN.md section 6)."""
        found: list[dict[str, Any]] = self._part("leaves")
        return found

    def explain(self, find: str | None = None) -> list[dict[str, Any]]:
        """Why each leaf was kept or dropped: the records of `leaves`, with these keys added at their end.

        leaf      place of the leaf in `leaves`
        hidden    whether markup hides it (`hidden`, `aria-hidden`, `style`) from a reader
        against   the strongest evidence against the label, in words; `reasons` has what speaks for it
        evidence  what each kind of evidence (`templatediff.wording.THEMES`) adds to the log odds of content, strongest
                  first; "start" is where they begin. Their sum is the score before leaves that live and die together
                  were joined
        found     with `find` only: [start, end) in `text` of what was found

        With `find` only leaves that hold this text: case, accents, white space and inline markup do not matter, and it may
        run over several leaves. `elsewhere` tells where else it stands. Raises UsageError for an empty text.
        """
        records: list[dict[str, Any]] = self._part(EXPLAINED)
        if find is None:
            return records
        held = spans([record["text"] for record in records], find)
        return [records[leaf] | {"found": [list(span) for span in found]} for leaf, found in held.items()]

    def elsewhere(self, text: str) -> list[str]:
        """What of the page, other than its leaves, holds a text: "script", "comment", "attribute alt of img", ..."""
        return elsewhere(self._part(SOURCE), text)

    def _part(self, name: str) -> Any:
        if name not in self._parts:
            if self._again is None:
                raise UsageError(f"{name} was not asked for: name it in parts=")
            self._parts.update(self._again((name,))._parts)
        return self._parts[name]

    def to_dict(self, parts: Sequence[str] = ()) -> dict[str, Any]:
        """The JSON line: the contract's keys in its order, then the named parts, then `source` if fields were carried."""
        record: dict[str, Any] = {name: getattr(self, name) for name in _KEYS}
        record["error"] = {"kind": self.error.kind, "message": self.error.message} if self.error else None
        for part in PARTS:
            if part in parts:
                record[part] = self._part(part)
        if self.source is not None:
            record["source"] = dict(self.source)
        return record

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_again": None}


_KEYS = [
    "path", "url", "site", "layout", "mode", "siblings", "title", "text", "verdict", "confidence", "reason",
    "fetched", "lang", "text_hash", "error",
]  # fmt: skip


def failed(page: Page, site: str | None, failure: Failure) -> Extraction:
    """The record of a page that could not be read."""
    return Extraction(
        page.path, page.url, site, None, "gist", 0, None, "", ERROR, 0.0, failure.message,
        fetched_text(page), None, f"{text_hash(''):016x}", failure,
        {"markdown": "", "html": "", "leaves": [], EXPLAINED: [], SOURCE: ""}, source=page.source,
    )  # fmt: skip


class Texts(Protocol):
    """What records are made of: the leaves of a page, or what a profile remembers of them."""

    @property
    def text(self) -> Sequence[str]: ...
    @property
    def row(self) -> Sequence[int]: ...
    @property
    def elements(self) -> Containers: ...
    def __len__(self) -> int: ...


class Containers(Protocol):
    """Containers of leaves, by row."""

    def selector(self, row: int) -> str: ...


def leaf_records(leaves: Texts, reasons: Reasons, values: Sequence[Sequence[Value]]) -> list[dict[str, Any]]:
    """The leaf records of DESIGN.md section 6, in page order; `values` are the slot values in each leaf."""
    labels = reasons.labels
    page = labels.context.page
    level, _ = labels.level
    k, n = labels.k_of_n()
    changes = labels.changes()
    records = []
    start = 0
    for number, text in enumerate(leaves.text):
        slot = values[number][0] if values[number] else None
        records.append(
            {
                "selector": leaves.elements.selector(leaves.row[number]),
                "start": start,
                "tokens": int(page.token_count[number]),
                "change": changes[number],
                "k": int(k[number]) if n else None,
                "n": n if n else None,
                "level": level,
                "content": bool(labels.kept[number]),
                "p": round(float(labels.p[number]), 4),
                "slot": slot.slot.type if slot else None,
                "value": text[slot.start : slot.end] if slot else None,
                "reasons": reasons.of(number),
                "text": text,
                "slots": [
                    {"type": one.slot.type, "value": text[one.start : one.end], "start": one.start}
                    for one in values[number]
                ],
            }
        )
        start += len(text) + 2
    return records


def explained(records: Sequence[dict[str, Any]], leaves: Leaves, reasons: Reasons) -> list[dict[str, Any]]:
    """The leaf records with the keys that `Extraction.explain` adds."""
    marks = leaves.elements.marks
    return [
        record
        | {
            "leaf": number,
            "hidden": bool(marks[leaves.row[number]] & (HIDDEN | ARIA_HIDDEN)),
            "against": reasons.against(number),
            "evidence": reasons.evidence(number),
        }
        for number, record in enumerate(records)
    ]
