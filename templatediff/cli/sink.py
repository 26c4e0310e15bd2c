"""Where bytes go: standard output, or a file that is called NAME.part until it is done."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from templatediff.errors import OutputError
from templatediff.lock import fresh
from templatediff.names import part_name


class ReaderGone(Exception):
    """Whoever read our stdout has closed it (`| head`): no fault of ours, and nothing is left to do."""


class Sink:
    """Bytes on their way out. A failing write raises OutputError with the output's name, or ReaderGone.

    One that is `eager` keeps nothing back: what it was given stays written when the process is killed. `after` is called after
    each write.
    """

    def __init__(
        self, stream: BinaryIO, name: str, *, eager: bool = False, after: Callable[[], None] | None = None
    ) -> None:
        self._stream = stream
        self._name = name
        self._eager = eager
        self._after = after
        self.used = False

    def write(self, data: bytes) -> None:
        self.used = True
        with explained(self._name):
            self._stream.write(data)
            if self._eager:
                self._stream.flush()
            if self._after is not None:
                self._after()

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


class PartFile:
    """A file called NAME.part, renamed to NAME when all went well and removed when nothing was written. No other run writes it.

    A link keeps pointing to the file, which is replaced; what is in the way under the name NAME.part is replaced too, a
    link itself and never what it points to. A pipe or a device is written as it is. Compressed as the ending of NAME says;
    the same bytes, written in the same pieces, give the same file.
    """

    def __init__(self, target: Path) -> None:
        self.target = Path(os.path.realpath(target))
        self.special = self.target.exists() and not self.target.is_file() and not self.target.is_dir()
        self.place = self.target if self.special else part_name(self.target)
        self.used = False
        self._again: Path | None = None
        self._opened = contextlib.ExitStack()
        self._packing = contextlib.ExitStack()

    def open(self) -> Sink:
        """An empty file."""
        if self.target.is_dir():
            raise OutputError(f"{self.target} is a folder: JSON lines need a file")
        with explained(self.target):
            self.target.parent.mkdir(parents=True, exist_ok=True)
            if self.special:
                return self._sink(_opened(self.place))
            again_name(self.target).unlink(missing_ok=True)  # of a run that was killed
            return self._sink(fresh(self.place, self.target))

    def count(self) -> int:
        """The whole lines that an unfinished file holds; 0 where there is none."""
        if self.place.is_symlink() or not self.place.is_file():
            return 0
        with explained(self.target), open(self.place, "rb") as stream:
            return sum(1 for _ in whole_lines(stream, self.target.name))

    def reopen(self, lines: int) -> Sink:
        """The unfinished file after its first `lines` lines; what follows them is dropped."""
        self.used = True
        with explained(self.target):
            if _is_compressed(self.target.name):  # what a compressor held back is lost: all goes through a new one
                return self._repacked(lines)
            return self._sink(truncated(self.place, lines))

    def _repacked(self, lines: int) -> Sink:
        """The first lines packed anew into a file beside the one that has them, whose place it takes when it has `caught_up`."""
        self._again = again_name(self.target)
        try:
            sink = self._sink(created(self._again))
            with open(self.place, "rb") as stream:
                for line in itertools.islice(whole_lines(stream, self.target.name), lines):
                    sink.write(line)
        except BaseException:
            self._forget()
            raise
        return sink

    def _caught_up(self) -> None:
        """Puts what is packed anew in its place once it is as long as what is there, which then it begins with. Whoever is killed
        before, while the compressor holds lines back, loses none of those that are there."""
        if self._again is not None and self._again.stat().st_size >= self.place.stat().st_size:
            self._again.replace(self.place)
            self._again = None

    def _forget(self) -> None:
        """Leaves what was there as it is."""
        if self._again is not None:
            self._again.unlink(missing_ok=True)
            self._again = None

    def _sink(self, handle: int) -> Sink:
        stream = self._opened.enter_context(os.fdopen(handle, "wb"))
        eager = not self.special and not _is_compressed(self.target.name)
        self._flush = stream.flush
        packed = self._packing.enter_context(_compressed(stream, self.target.name))
        self._sink_in_use = Sink(packed, str(self.target), eager=eager, after=self._caught_up)
        return self._sink_in_use

    def finish(self) -> None:
        """Puts the whole file in its place."""
        with explained(self.target), self._opened:  # which ends the lock, when the file is no longer called NAME.part
            self._packing.close()
            self._flush()
            self._caught_up()
            if not self.special:
                self.place.replace(self.target)

    def leave(self) -> bool:
        """After an error: whether an unfinished file stays."""
        with contextlib.suppress(OSError), self._opened:  # the first error is the one to tell
            if not self.special and not (self.used or self._sink_in_use.used):
                self.place.unlink()
                return False
            self._packing.close()
            self._flush()
            self._caught_up()
        with contextlib.suppress(OSError):
            self._forget()
        return not self.special


@contextlib.contextmanager
def part_file(target: Path) -> Iterator[Sink]:
    """A `PartFile` for the block. Raises OutputError where another run writes it."""
    file = PartFile(target)
    sink = file.open()
    try:
        yield sink
    except BaseException:
        file.leave()
        raise
    file.finish()


def created(place: Path) -> int:
    """A new file of this name, open for writing; a file or link that is there makes way."""
    if place.is_symlink() or place.is_file():
        place.unlink()
    return os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)


def truncated(place: Path, lines: int) -> int:
    """A file of its first `lines` lines, open for writing after them."""
    with open(place, "rb") as stream:
        size = sum(len(line) for line in itertools.islice(whole_lines(stream, ""), lines))
    handle = os.open(place, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
    os.ftruncate(handle, size)
    return handle


def _opened(place: Path) -> int:
    return os.open(place, os.O_WRONLY | os.O_CLOEXEC)


def whole_lines(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """The lines of a file that may be cut short anywhere, with their ends; compressed as the ending of `name` says."""
    rest = b""
    for data in _unpacked(stream, name):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            yield line + b"\n"


def _unpacked(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """What can be read of a file that may be cut short."""
    unpack: Callable[[bytes], bytes] = bytes
    damage: type[Exception] = EOFError
    if name.endswith(".gz"):
        unpack, damage = zlib.decompressobj(wbits=31).decompress, zlib.error
    elif name.endswith(".zst"):
        import zstandard

        unpack, damage = zstandard.ZstdDecompressor().decompressobj().decompress, zstandard.ZstdError
    while data := stream.read(1 << 16):
        try:
            yield unpack(data)
        except damage:
            return


def _is_compressed(name: str) -> bool:
    return name.endswith((".gz", ".zst"))


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


def journal_name(target: Path) -> Path:
    """What keeps what a run needs to go on, beside its unfinished output."""
    part = part_name(target)
    return part.with_name(part.name + ".journal") if part.name else part


def again_name(target: Path) -> Path:
    """What the unfinished output is called while a run that goes on packs it anew."""
    part = part_name(target)
    return part.with_name(part.name + ".again") if part.name else part
