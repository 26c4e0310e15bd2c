"""One writer at a time: locks on a site's folder and on unfinished files that end with the process that holds them.

The operating system keeps the lock (`flock` on the folder or file itself), so a run that was killed leaves nothing behind
that could block the next one, and no lock file lies about. Where the file system cannot lock folders (some network mounts),
a file `.lock` in the folder stands in for it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import logging
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from templatediff.errors import OutputError

log = logging.getLogger("templatediff")

PATIENCE = 600.0  #: seconds to wait for another run, which holds the lock for as long as it takes to derive one site
LOCK_FILE = ".lock"
_STEP = 0.05
_CANNOT = {errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP}


@contextlib.contextmanager
def locked(folder: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock of an existing folder for the block, waiting for another holder up to `patience` seconds.

    A holder must not ask again. Raises OutputError where the wait was in vain.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            _wait(handle, folder, patience)
        except OSError as error:
            if error.errno not in _CANNOT:
                raise
            os.close(handle)
            handle = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o666)
            _wait(handle, folder, patience)
        yield
    finally:
        os.close(handle)  # and with it the lock


def owned(place: Path, output: Path) -> int:
    """A file of this name, open and locked until it is closed; made where there is none, in the place of a link. Where the
    file system has no locks it is merely open.

    Raises OutputError, which names `output`, where another process has it, and where something else is in the way.
    """
    while True:
        if place.is_symlink():
            place.unlink()
        handle = os.open(place, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise OutputError(f"{place} is in the way of {output}, and is no file: move it")
            if taken(handle) is False:
                raise OutputError(f"another run is writing {output}: wait for it, or give another output")
            if place.exists() and os.path.samestat(found, place.stat()):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # whoever had it has just ended, and moved it


def fresh(place: Path, output: Path) -> int:
    """The same, empty: a file that is there makes way, so that other names of it keep what it holds."""
    while True:
        handle = owned(place, output)
        found = os.fstat(handle)
        if found.st_size == 0 and found.st_nlink == 1:
            return handle
        place.unlink()  # ours until it is closed
        os.close(handle)


def taken(handle: int) -> bool | None:
    """Whether the lock of an open file or folder is ours now, without waiting; it ends when that is closed. None where the
    file system has no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
        return None
    return True


def _wait(handle: int, folder: Path, patience: float) -> None:
    start = time.monotonic()
    told = False
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            waited = time.monotonic() - start
        if waited > patience:
            raise OutputError(
                f"{folder} has been locked by another run for {waited:,.0f} seconds: try again when that has ended"
            )
        if waited > 1.0 and not told:
            log.warning("%s is being written by another run: waiting for it", folder)
            told = True
        time.sleep(_STEP)
