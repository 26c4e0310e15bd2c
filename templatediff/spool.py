"""Temporary folders for what must be read twice: all of a process lie in one, which goes with the process.

That folder is locked while the process lives. A process that is killed cannot take it away, so the next one does: one of
ours without a lock is nobody's.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from pathlib import Path

from templatediff.errors import OutputError
from templatediff.lock import taken

_LAST = -1000  # among what `multiprocessing` does when a process ends: after it has removed what it has in the folder
_NEW = "templatediff-new-"  # not locked yet
# The machine is part of the name: over a network, what another one holds may look free from here.
_LOCKED = f"templatediff-{zlib.crc32(os.uname().nodename.encode()):08x}-"


class Spool:
    """A folder that goes when it is no longer used. Raises OutputError."""

    def __init__(self) -> None:
        with writing_temporaries():
            self.folder = Path(tempfile.mkdtemp(dir=process_folder()))
        self.remove = weakref.finalize(self, _remove, os.getpid(), self.folder)

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()  # a worker process reads the folder, the process that made it removes it


def process_folder(place: str | None = None) -> Path:
    """Where all temporary files of this process lie, in `place` (default: where the system has them). Raises OSError."""
    wanted = os.getpid(), place or tempfile.gettempdir()
    if not _made(*wanted).is_dir():  # tidied away while the process slept
        _made.cache_clear()
    return _made(*wanted)


@contextlib.contextmanager
def writing_temporaries() -> Iterator[None]:
    """Turns an OSError in the block into an OutputError that says where temporary files go."""
    try:
        yield
    except OSError as error:
        place, why = tempfile.gettempdir(), error.strerror or error
        raise OutputError(f"cannot write temporary files into {place}: {why}; set TMPDIR to another folder") from error


@functools.cache
def _made(process: int, place: str) -> Path:
    from multiprocessing import util  # which --help need not wait for

    _sweep(place)
    new = tempfile.mkdtemp(prefix=_NEW, dir=place)
    util.Finalize(None, _remove, (process, new), exitpriority=_LAST)
    if not taken(os.open(new, os.O_RDONLY | os.O_CLOEXEC)):  # which stays open as long as the process
        return Path(new)
    folder = os.path.join(place, _LOCKED + os.path.basename(new).removeprefix(_NEW))
    os.rename(new, folder)
    util.Finalize(None, _remove, (process, folder), exitpriority=_LAST)
    return Path(folder)


def _remove(process: int, folder: str | Path) -> None:
    if os.getpid() == process:  # and no fork of it
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(place: str) -> None:
    """Takes away the folders of processes of this user that were killed."""
    left: list[os.DirEntry[str]] = []
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        left = [entry for entry in entries if entry.name.startswith(_LOCKED) and entry.is_dir(follow_symlinks=False)]
    for entry in left:
        with contextlib.suppress(OSError):
            if entry.stat(follow_symlinks=False).st_uid != os.geteuid():
                continue
            handle = os.open(entry.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                if taken(handle):
                    shutil.rmtree(entry.path, ignore_errors=True)
            finally:
                os.close(handle)
