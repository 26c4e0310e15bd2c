"""`extract --resume`: OUT.part.journal, which says what the run was that left OUT.part and what of it is done.

The first line tells the run, each further one a page, in order. A line is written before its record, so that a record
without one is none that counts; what the two do not both have is dropped.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from templatediff._version import __version__
from templatediff.cli.output import Writer
from templatediff.cli.sink import Sink, explained, journal_name, truncated, whole_lines
from templatediff.errors import UsageError
from templatediff.lock import owned
from templatediff.names import part_name

if TYPE_CHECKING:
    from templatediff.journal import Entry, Row
    from templatediff.rules import Rule

FORMAT = 1


class Journal:
    """The journal of one run; a context manager around its writer. `told` is shown the row of each page that is done.

    While it is open no other run writes the same output: its file is locked. Raises OutputError where another has it.
    Raises UsageError where what is to be resumed is of another run.
    """

    def __init__(self, target: Path, writer: Writer, options: dict[str, Any], told: Callable[[Row], None]) -> None:
        self._target = target
        self._place = journal_name(Path(os.path.realpath(target)))
        self._writer = writer
        self._options = options
        self._told = told
        self._cleanup = contextlib.ExitStack()

    def __enter__(self) -> Journal:
        with explained(self._target):
            self._place.parent.mkdir(parents=True, exist_ok=True)
            self._lock = owned(self._place, self._target)
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        try:
            self._cleanup.close()
            if kind is None or not self._writer.kept:
                with explained(self._target):
                    self._place.unlink(missing_ok=True)
        finally:
            os.close(self._lock)

    def begin(self, inputs: list[list[Any]], templates: str, rules: Sequence[Sequence[Rule]]) -> Sequence[Entry]:
        run = {
            "templatediff": __version__,
            "format": FORMAT,
            "options": self._options,
            "templates": templates,
            "inputs": inputs,
        }
        run = json.loads(json.dumps(run))  # as it will be read
        done: list[Entry] = []
        if self._writer.resume and self._writer.count():
            done = self._done(run, rules)
        with explained(self._target):
            handle = truncated(self._place, len(done) + 1 if done else 0)
            stream = self._cleanup.enter_context(os.fdopen(handle, "wb"))
        self._sink = Sink(stream, str(self._target), eager=True)
        if not done:
            self._sink.write(json.dumps(run).encode() + b"\n")
        self._writer.go_on([entry.row for entry in done])
        for entry in done:
            self._told(entry.row)
        return done

    def add(self, entry: Entry, rules: Sequence[Rule]) -> None:
        self._sink.write(entry.to_line(rules))

    def _done(self, run: dict[str, Any], rules: Sequence[Sequence[Rule]]) -> list[Entry]:
        """The entries of what is written, if it is of this run."""
        from templatediff.journal import Entry

        part = part_name(self._target)
        head, *lines = self._lines()
        differing = _differing(head, run)
        if differing:
            raise UsageError(f"{part} is of a run with {differing}: leave --resume out to begin anew")
        done = [Entry.of_line(line, of_site) for line, of_site in zip(lines, rules, strict=False)]
        return done[: self._writer.count()]

    def _lines(self) -> list[bytes]:
        if self._place.is_symlink() or not self._place.is_file():
            return [b""]
        with explained(self._target), self._place.open("rb") as stream:
            return list(whole_lines(stream, "")) or [b""]


def _differing(line: bytes, run: dict[str, Any]) -> str:
    """In what two runs differ, in words; "" where they do not."""
    try:
        head = json.loads(line)
        if not isinstance(head, dict) or head.get("format") != FORMAT or set(head) != set(run):
            raise ValueError
    except ValueError:
        return "no journal that this release reads"
    if head["templatediff"] != run["templatediff"]:
        return f"release {head['templatediff']}"
    options = sorted(
        name for name in {*head["options"], *run["options"]} if head["options"].get(name) != run["options"].get(name)
    )
    if options:
        return f"other options ({', '.join(options)})"
    if head["inputs"] != run["inputs"]:
        before, now = (dict(map(tuple, each["inputs"])) for each in (head, run))
        changed = sorted(path for path in {*before, *now} if before.get(path, -1) != now.get(path, -1))
        return (
            f"another input ({changed[0]} has changed, is new or is gone)" if changed else "another order of its input"
        )
    return "other templates" if head["templates"] != run["templates"] else ""
