"""`extract --report FILE`: the run on one page (.json), or a row for each page (.csv)."""

from __future__ import annotations

import contextlib
import csv
import io
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from templatediff._version import __version__
from templatediff.cli.output import utf8
from templatediff.cli.sink import Sink, part_file
from templatediff.cli.table import json_text
from templatediff.errors import UsageError

if TYPE_CHECKING:
    from templatediff.journal import Row
    from templatediff.run import Totals

ENDINGS = (".json", ".csv")
# What a spreadsheet takes for the beginning of a formula, full-width forms included (OWASP, "CSV injection").
_FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
COLUMNS = ("path", "url", "title", "fetched", "verdict", "words", "confidence", "error")


class Ledger(Protocol):
    """Takes a row of every page of a run. As a context manager it writes the report whole, or leaves it .part after an error."""

    def __enter__(self) -> Self: ...
    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None: ...
    def add(self, row: Row) -> None: ...
    def close(self, totals: Totals) -> None: ...


def open_ledger(file: Path | None, options: dict[str, Any]) -> Ledger:
    """The report for --report FILE (None: nothing is written); `options` are those of the run, as plain values."""
    if file is None:
        return _None()
    return _Summary(file, options) if file.suffix.lower() == ".json" else _Rows(file)


def check_ending(file: Path) -> None:
    """Refuses a --report whose ending says no format."""
    if file.suffix.lower() not in ENDINGS:
        raise UsageError(f"--report {file}: give a file that ends in {' or '.join(ENDINGS)}")


class _None:
    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        pass

    def add(self, row: Row) -> None:
        pass

    def close(self, totals: Totals) -> None:
        pass


class _File:
    """A report that is written to a file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._cleanup = contextlib.ExitStack()

    def __enter__(self) -> Self:
        self._stream: Sink = self._cleanup.enter_context(part_file(self._file))
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        self._cleanup.__exit__(kind, *rest)


class _Rows(_File):
    """A row a page, in the order of the records; after a header, in UTF-8, as RFC 4180 has it but with LF.

    Pages choose their titles, and a report is opened in spreadsheets, which run formulas: see `_inert`.
    """

    def __enter__(self) -> Self:
        super().__enter__()
        self._write(COLUMNS)
        return self

    def add(self, row: Row) -> None:
        error = f"{row.error.kind}: {row.error.message}" if row.error is not None else ""
        self._write(
            (
                _inert(row.path),
                _inert(row.url or ""),
                _inert(row.title or ""),
                row.fetched or "",
                row.verdict,
                row.words,
                f"{row.confidence:.3f}",
                _inert(error),
            )
        )

    def close(self, totals: Totals) -> None:
        pass

    def _write(self, row: tuple[object, ...]) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(row)
        self._stream.write(utf8(text.getvalue()))


class _Summary(_File):
    """Version, options, totals, and per site pages, verdicts, layouts and failures."""

    def __init__(self, file: Path, options: dict[str, Any]) -> None:
        super().__init__(file)
        self._options = options
        self._sites: dict[str, dict[str, Any]] = {}

    def add(self, row: Row) -> None:
        site = self._sites.setdefault(
            row.site or "", {"pages": 0, "verdicts": Counter(), "layouts": Counter(), "words": 0, "failures": []}
        )
        site["pages"] += 1
        site["verdicts"][row.verdict] += 1
        site["layouts"]["none" if row.layout is None else str(row.layout)] += 1
        site["words"] += row.words
        if row.error is not None:
            failure = {"path": row.path, "kind": row.error.kind, "message": row.error.message}
            site["failures"].append(failure)

    def close(self, totals: Totals) -> None:
        document = {
            "version": __version__,
            "options": self._options,
            "totals": {
                "pages": totals.pages,
                "failed": totals.failed,
                "sites": totals.sites,
                "layouts": totals.layouts,
                "leaves": {"static": totals.static, "dynamic": totals.dynamic, "content": totals.content},
                "skipped": dict(sorted(totals.skipped.items())),
            },
            "warnings": totals.warnings,
            "sites": {name: _sorted(site) for name, site in sorted(self._sites.items())},
        }
        self._stream.write(utf8(json_text(document)))


def _inert(text: str) -> str:
    """The text of a cell, after an apostrophe where a spreadsheet would take it for a formula.

    >>> _inert("=1+1"), _inert("@a.html"), _inert("1=1"), _inert("-")
    ("'=1+1", "'@a.html", '1=1', '-')
    """
    return f"'{text}" if text.startswith(_FORMULA) and text != "-" else text


def _sorted(site: dict[str, Any]) -> dict[str, Any]:
    return site | {
        "verdicts": dict(sorted(site["verdicts"].items())),
        "layouts": dict(sorted(site["layouts"].items(), key=lambda item: (item[0] == "none", len(item[0]), item[0]))),
    }
