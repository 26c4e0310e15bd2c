"""The folder of a report: it appears whole or not at all, and replaces only what an earlier report made."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from templatediff.errors import OutputError

MARK = "report.json"  #: tells that a report made the folder; its figures, for programs
MAKER = "templatediff report"
OURS = frozenset({MARK, "index.html", "find.html", "report.css", "report.js", "layouts", "overview", "pages"})


class ReportFolder:
    """FOLDER, called FOLDER.part until the block ends well. Raises OutputError for what is in the way.

    `files` and `bytes` count what was written.
    """

    def __init__(self, target: Path) -> None:
        self.target = Path(os.path.realpath(target))
        self.part = self.target.with_name(self.target.name + ".part")
        self.files = self.bytes = 0

    def check(self) -> None:
        """Refuses to write over what no report has made."""
        for place, what in ((self.target, "give another folder"), (self.part, "move it")):
            if os.path.lexists(place) and not _made_by_a_report(place):
                raise OutputError(f"{place} is there and was not made by {MAKER}: {what}")
        if self.target.is_dir() and (others := sorted(_others(self.target))):
            raise OutputError(
                f"{self.target} would be replaced, but holds {others[0]}, which is no part of a report: move it"
            )

    def __enter__(self) -> Self:
        with self._explained():
            self.check()
            if self.part.exists():
                shutil.rmtree(self.part)
            self.part.mkdir(parents=True)
            (self.part / MARK).write_bytes(_json({"made by": MAKER}))
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        if kind is not None:
            shutil.rmtree(self.part, ignore_errors=True)  # the first error is the one to tell
            return
        with self._explained():
            if not self.target.exists():
                self.part.rename(self.target)
                return
            beside = Path(tempfile.mkdtemp(prefix=f"{self.target.name}.", suffix=".part", dir=self.target.parent))
            try:
                self.target.rename(beside / "replaced")
                try:
                    self.part.rename(self.target)
                except OSError:
                    (beside / "replaced").rename(self.target)
                    raise
            finally:
                shutil.rmtree(beside, ignore_errors=True)

    def write(self, name: str, text: str) -> None:
        """A file of the report; its folders are made."""
        data = encoded(text)
        with self._explained():
            place = self.part / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        self.files += 1
        self.bytes += len(data)

    def append(self, name: str, text: str) -> None:
        """More of a file that `write` began."""
        data = encoded(text)
        with self._explained(), (self.part / name).open("ab") as stream:
            stream.write(data)
        self.bytes += len(data)

    def take(self, name: str) -> str:
        """The text of a file that `write` made, which is taken away again; "" if there is none."""
        place = self.part / name
        with self._explained():
            if not place.is_file():
                return ""
            data = place.read_bytes()
            place.unlink()
        self.files -= 1
        self.bytes -= len(data)
        return data.decode()

    def finish(self, figures: dict[str, Any]) -> None:
        """The figures of the report, for programs, into MARK."""
        self.write(MARK, _json({"made by": MAKER, **figures}).decode())

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OutputError(f"cannot write {self.target}: {error.strerror or error}") from error


def encoded(text: str) -> bytes:
    """UTF-8; a lone surrogate, which it cannot hold, as U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _json(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()


def _made_by_a_report(place: Path) -> bool:
    """Whether a folder holds MARK, or nothing."""
    if place.is_symlink() or not place.is_dir():
        return False
    try:
        with (place / MARK).open("rb") as stream:
            found = json.loads(stream.read(10_000_000))
        return isinstance(found, dict) and found.get("made by") == MAKER
    except (OSError, ValueError, RecursionError):
        return not any(place.iterdir())


def _others(place: Path) -> set[str]:
    """Names in a report's folder that no report gives."""
    return {entry.name for entry in place.iterdir()} - OURS
