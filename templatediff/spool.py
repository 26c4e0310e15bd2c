"""A temporary folder for what must be read twice."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path


class Spool:
    """A folder that goes when it is no longer used."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="templatediff-"))
        self.remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()  # a worker process reads the folder, the process that made it removes it
