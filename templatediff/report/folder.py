"""The folder of a report: it appears whole or not at all, and replaces only what an earlier report made."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from templatediff.errors import OutputError
from templatediff.lock import locked

MARK = "report.json"  #: tells that a report made the folder; its figures, for programs
MAKER = "templatediff report"
FOLDERS = frozenset({"layouts", "overview", "pages"})  #: they hold nothing but .html
OURS = FOLDERS | {MARK, "index.html", "find.html", "report.css", "report.js"}
PART = ".part"


class ReportFolder:
    """FOLDER, called FOLDER.part until the block ends well. Raises OutputError for what is in the way.

    One run at a time writes FOLDER. Where another report is replaced, one of the two stands there at all times (on systems
    that can exchange two folders: Linux, macOS). `files` and `bytes` count what was written.
    """

    def __init__(self, target: Path) -> None:
        self.target = Path(os.path.realpath(target))
        self.part = self.target.with_name(self.target.name + PART)
        self.files = self.bytes = 0
        self._held = contextlib.ExitStack()

    def check(self) -> None:
        """Refuses to write over what no report has made."""
        if self.target.name.endswith(PART):
            raise OutputError(f"{self.target}: {PART} is the ending of what is not done yet: give another name")
        for place, what in ((self.target, "give another folder"), (self.part, "move it")):
            if os.path.lexists(place) and not _made_by_a_report(place):
                raise OutputError(f"{place} is there and was not made by {MAKER}: {what}")
        if self.target.is_dir() and (other := _other(self.target)):
            raise OutputError(
                f"{self.target} would be replaced, but holds {other}, which is no part of a report: move it"
            )

    def __enter__(self) -> Self:
        with self._explained():
            self.check()
            self.part.mkdir(parents=True, exist_ok=True)
            self._lock()
            _clear(self.part)  # what a run that was killed has left
            try:
                (self.part / MARK).write_bytes(_json({"made by": MAKER}))
            except OSError:
                shutil.rmtree(self.part, ignore_errors=True)
                raise
        return self

    def _lock(self) -> None:
        try:
            self._held.enter_context(locked(self.part, patience=0.0))
        except OutputError:
            raise OutputError(
                f"{self.target} is being written by another run: wait for it, or give another folder"
            ) from None

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        with self._held:
            if kind is not None:
                shutil.rmtree(self.part, ignore_errors=True)  # the first error is the one to tell
                return
            with self._explained():
                if not self.target.exists():
                    self.part.rename(self.target)
                elif _exchanged(self.part, self.target):
                    _clear(self.part)
                    self.part.rmdir()
                else:
                    self._replace()

    def _replace(self) -> None:
        """Puts the report in the place of another in two steps; a kill between them leaves the other as "replaced"."""
        beside = Path(tempfile.mkdtemp(prefix=f"{self.target.name}.", suffix=PART, dir=self.target.parent))
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
        """The figures of the report, for programs, into MARK, which is there at all times."""
        new = f"{MARK}{PART}"
        self.write(new, _json({"made by": MAKER, **figures}).decode())
        with self._explained():
            (self.part / new).replace(self.part / MARK)

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
    """Whether a folder holds MARK, or nothing, or but the beginning of MARK."""
    if place.is_symlink() or not place.is_dir():
        return False
    try:
        with (place / MARK).open("rb") as stream:
            found = json.loads(stream.read(10_000_000))
        return isinstance(found, dict) and found.get("made by") == MAKER
    except (OSError, ValueError, RecursionError):
        return {entry.name for entry in place.iterdir()} <= {MARK} and not (place / MARK).is_dir()


def _other(place: Path) -> str | None:
    """The first name in a report's folder that no report gives, if there is one."""
    names = {entry.name for entry in place.iterdir()}
    if others := sorted(names - OURS):
        return others[0]
    for folder in sorted(FOLDERS & names):
        for found, _, files in os.walk(place / folder):
            for name in sorted(files):
                if not name.endswith(".html"):
                    return os.path.relpath(os.path.join(found, name), place)
    return None


def _clear(folder: Path) -> None:
    """Takes away all that is in a report's folder, MARK last: a kill meanwhile leaves what is known as a report's."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name == MARK):
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _exchanged(one: Path, other: Path) -> bool:
    """Exchanges two folders in one step; False where the system or the file system cannot."""
    names = [os.fsencode(one), os.fsencode(other)]
    try:
        system = ctypes.CDLL(None, use_errno=True)
        if hasattr(system, "renameat2"):  # Linux: renameat2(2), AT_FDCWD -100, RENAME_EXCHANGE 2
            return int(system.renameat2(-100, names[0], -100, names[1], 2)) == 0
        return int(system.renamex_np(*names, 2)) == 0  # macOS: renamex_np(2), RENAME_SWAP 2
    except (OSError, AttributeError, TypeError):
        return False
