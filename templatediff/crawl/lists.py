"""Lists of paths, as for `--files-from`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from templatediff.crawl.bounds import MAX_LIST
from templatediff.errors import InputError


def read_list(file: str | Path | BinaryIO) -> list[str]:
    """Paths listed one a line, or NUL-separated as by `find -print0`; blank lines are left out.

    Raises InputError if the list cannot be read.
    """
    if isinstance(file, str | os.PathLike):
        try:
            with open(file, "rb") as stream:
                data = stream.read(MAX_LIST + 1)
        except OSError as error:
            raise InputError(f"cannot read {os.fspath(file)}: {error.strerror or error}") from None
    else:
        data = file.read(MAX_LIST + 1)
    if len(data) > MAX_LIST:
        raise InputError(f"a list of paths is longer than {MAX_LIST:,} bytes")
    data = data.removeprefix(b"\xef\xbb\xbf")
    lines = data.split(b"\0") if b"\0" in data else [line.removesuffix(b"\r") for line in data.split(b"\n")]
    return [os.fsdecode(line) for line in lines if line.strip()]
