"""Where bytes go: standard output, or a file that is called NAME.part until it is done."""

from __future__ import annotations

import contextlib
import gzip
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from templatediff.errors import OutputError


class ReaderGone(Exception):
    """Whoever read our stdout has closed it (`| head`): no fault of ours, and nothing is left to do."""


class Sink:
    """Bytes on their way out. A failing write raises OutputError with the output's name, or ReaderGone."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream = stream
        self._name = name
        self.used = False

    def write(self, data: bytes) -> None:
        self.used = True
        with explained(self._name):
            self._stream.write(data)

    def flush(self) -> None:
        with explained(self._name):
            self._stream.flush()


@contextlib.contextmanager
def stdout() -> Iterator[Sink]:
    """Standard output, flushed when all went well."""
    if sys.stdout is None:
        raise OutputError("standard output is closed: give -o FILE, or leave it open")
    sink = Sink(sys.stdout.buffer, "standard output")
    yield sink
    sink.flush()


@contextlib.contextmanager
def part_file(target: Path) -> Iterator[Sink]:
    """A file called NAME.part, renamed to NAME when all went well and removed when nothing was written.

    A link keeps pointing to the file, which is replaced. A pipe or a device is written as it is.
    """
    target = Path(os.path.realpath(target))
    if target.is_dir():
        raise OutputError(f"{target} is a folder: JSON lines need a file")
    special = target.exists() and not target.is_file()
    place = target if special else part_name(target)
    with contextlib.ExitStack() as opened:
        with explained(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            stream = cast(BinaryIO, opened.enter_context(open(place, "wb")))
            sink = Sink(opened.enter_context(_compressed(stream, target.name)), str(target))
        try:
            yield sink
        except BaseException:
            with contextlib.suppress(OSError):  # the first error is the one to tell
                opened.close()
            if not sink.used and not special:
                place.unlink(missing_ok=True)
            raise
        with explained(target):
            opened.close()
            if not special:
                place.replace(target)


def _compressed(stream: BinaryIO, name: str) -> contextlib.AbstractContextManager[BinaryIO]:
    """The stream, compressed as the ending of `name` says; the same bytes give the same file."""
    if name.endswith(".gz"):
        return cast(BinaryIO, gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0))
    if name.endswith(".zst"):
        import zstandard

        return cast(BinaryIO, zstandard.ZstdCompressor(write_checksum=True).stream_writer(stream, closefd=False))
    return contextlib.nullcontext(stream)


@contextlib.contextmanager
def explained(target: Path | str) -> Iterator[None]:
    """Turns an OSError in the block into an OutputError about `target`, or into ReaderGone."""
    try:
        yield
    except BrokenPipeError:
        raise ReaderGone from None
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error


def part_name(target: Path) -> Path:
    """What an output is called until it is done."""
    return target.with_name(target.name + ".part") if target.name else target
