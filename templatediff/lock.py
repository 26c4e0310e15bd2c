"""One writer at a time: a lock on a site's folder that ends with the process that holds it.

The operating system keeps the lock (`flock` on the folder itself), so a run that was killed leaves nothing behind that
could block the next one, and no lock file lies about. Where the file system cannot lock folders (some network mounts),
a file `.lock` in the folder stands in for it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import logging
import os
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


def taken(handle: int) -> bool:
    """Whether the lock of an open file is ours now, without waiting; it ends when the file is closed. Where the file system
    has no locks it always is."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
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
