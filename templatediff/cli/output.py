"""Records -> stdout, a file of JSON lines, or a folder with one file a page; NAME.part until it is done."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol, Self

from templatediff.cli.sink import (
    PartFile,
    Sink,
    again_name,
    created,
    explained,
    journal_name,
    stdout,
    truncated,
    whole_lines,
)
from templatediff.cli.speech import NAME, escaped_json, is_terminal, printable, spelled
from templatediff.errors import OutputError, UsageError
from templatediff.names import FileNames, part_name
from templatediff.text import without_controls

FORMATS = ("jsonl", "text", "markdown", "html")
ENDINGS = {"text": ".txt", "markdown": ".md", "html": ".html"}
INDEX = "index.jsonl"
JSONL_ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.zst")
_SURROGATES = re.compile(r"[\ud800-\udfff]")


class Record(Protocol):
    """What is written: a `templatediff.Extraction`."""

    @property
    def path(self) -> str | None: ...
    @property
    def url(self) -> str | None: ...
    @property
    def title(self) -> str | None: ...
    @property
    def text(self) -> str: ...
    @property
    def error(self) -> object | None: ...
    @property
    def markdown(self) -> str: ...
    @property
    def html(self) -> str: ...
    def to_dict(self, parts: tuple[str, ...] = ...) -> Mapping[str, Any]: ...


class Done(Protocol):
    """What is known of a record that an earlier run has written."""

    @property
    def path(self) -> str: ...
    @property
    def url(self) -> str | None: ...
    @property
    def error(self) -> object | None: ...


class Writer(Protocol):
    """Takes records in order. As a context manager it finishes the output; after an error it stays .part.

    One that is to `resume` leaves an unfinished output as it is until it is told by `go_on` what of it to keep.
    """

    parts: tuple[str, ...]  # which computed parts of a record it needs
    resume: bool
    kept: bool  # after an error: whether something stays that could be resumed

    def __enter__(self) -> Self: ...
    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None: ...
    def write(self, record: Record) -> None: ...
    def count(self) -> int:
        """Records of an unfinished output; 0 where there is none."""

    def go_on(self, done: Sequence[Done]) -> None:
        """Keep the first records of an unfinished output, which these are, and write the next after them."""


def chosen_format(target: Path | None, given: str | None) -> str:
    """--format, or where it is not given: JSON lines on stdout and for files so called, else Markdown.

    >>> [chosen_format(Path(out), None) for out in ("out.jsonl.gz", "out")], chosen_format(None, "html")
    (['jsonl', 'markdown'], 'html')
    """
    if given is not None:
        return given
    return "jsonl" if target is None or target.name.endswith(JSONL_ENDINGS) else "markdown"


def open_writer(
    target: Path | None, given_format: str | None, extra: tuple[str, ...] = (), *, resume: bool = False
) -> Writer:
    """The writer for -o (None: stdout), --format and --with. Nothing is touched before it is entered."""
    kind = chosen_format(target, given_format)
    if kind == "jsonl":
        return JsonLines(target, extra, resume=resume)
    if target is not None:
        return Folder(target, kind, extra, resume=resume)
    if extra:
        raise UsageError(f"--with adds keys to JSON lines: give --format jsonl, or -o FOLDER, whose {INDEX} has them")
    return Pages(kind)


def output_paths(target: Path | None) -> tuple[Path, ...]:
    """What -o names and its unfinished form: never to be read as input."""
    return () if target is None else (target, part_name(target), journal_name(target), again_name(target))


def check_apart(target: Path | None, inputs: tuple[Path, ...], *, earlier: bool = True) -> None:
    """Refuses an output that is an input or holds one, since it would be overwritten and is never read; and one inside an
    input that holds pages, unless it is the folder of an `earlier` output."""
    if target is None:
        return
    out = Path(os.path.realpath(target))
    places = {path: Path(os.path.realpath(path)) for path in inputs}
    for path, place in places.items():
        if place.is_relative_to(out):
            raise UsageError(f"-o {target} is or holds the input {path}: give another place for the output")
    if earlier and any(map(out.is_relative_to, places.values())) and _holds_pages(out):
        raise UsageError(f"-o {target} holds pages of the input, which would not be read: give another place")
    check_no_page("-o", target)


def check_no_page(option: str, file: Path) -> None:
    """Refuses to write over what is itself a page, such as one of the crawl."""
    from templatediff.crawl import SNIFF_BYTES, sniff

    try:
        if not file.is_file():
            return
        with file.open("rb") as stream:
            found = sniff(stream.read(SNIFF_BYTES))
    except OSError:
        return  # opening it for writing says why
    if found == "html":
        raise UsageError(f"{option} {file} is an HTML page: give another place for the output, or remove it first")


def _holds_pages(folder: Path) -> bool:
    """Whether a folder has pages in it that no earlier run has written there."""
    from templatediff.crawl import read_crawl

    if not folder.is_dir() or (folder / INDEX).is_file():
        return False
    return any(page.failure is None for page in read_crawl(folder))


class JsonLines:
    """One JSON line a page, to stdout or a file; .gz and .zst by the file's ending."""

    def __init__(self, target: Path | None, parts: tuple[str, ...], *, resume: bool = False) -> None:
        self.parts = parts
        self.resume = resume
        self.kept = False
        self._file = PartFile(target) if target is not None else None
        self._stream: Sink | None = None
        self._terminal = False
        self._cleanup = contextlib.ExitStack()

    def __enter__(self) -> Self:
        if self._file is None:
            self._stream = self._cleanup.enter_context(stdout())
            self._terminal = is_terminal(sys.stdout)
        elif not self.resume or not self.count():
            self._stream = self._file.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        self._cleanup.__exit__(kind, *rest)
        if self._file is None:
            return
        if kind is None:
            self._file.finish()
        else:
            self.kept = self._stream is None or self._file.leave()

    def count(self) -> int:
        return self._file.count() if self._file is not None else 0

    def go_on(self, done: Sequence[Done]) -> None:
        assert self._file is not None, "stdout is not resumed"
        if self._stream is None:
            self._stream = self._file.reopen(len(done))

    def write(self, record: Record) -> None:
        assert self._stream is not None
        line = json_line(record.to_dict(self.parts))
        self._stream.write(for_terminal(line) if self._terminal else line)


class Pages:
    """Text, Markdown or HTML on stdout: one page as it is, several each after a line `==> PATH <==`."""

    def __init__(self, format: str) -> None:
        self.parts: tuple[str, ...] = () if format == "text" else (format,)
        self._format = format
        self.resume = self.kept = False
        self._first: Record | None = None
        self._several = False
        self._cleanup = contextlib.ExitStack()

    def __enter__(self) -> Self:
        self._stream = self._cleanup.enter_context(stdout())
        self._terminal = is_terminal(sys.stdout)
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        with self._cleanup:
            if kind is None and self._first is not None:
                self._stream.write(self._body(self._first))
                self._first = None

    def write(self, record: Record) -> None:
        # The first page waits for a second one: whether it needs a headline is known only then.
        if self._several:
            self._put(record, "\n")
        elif self._first is None:
            self._first = record
        elif self._format == "html":
            self._first = None
            raise UsageError("several pages of HTML need a folder: give -o FOLDER")
        else:
            self._several = True
            self._put(self._first, "")
            self._put(record, "\n")
            self._first = None

    def count(self) -> int:
        return 0

    def go_on(self, done: Sequence[Done]) -> None:
        raise UsageError("stdout is not resumed")

    def _put(self, record: Record, gap: str) -> None:
        if record.error is None:
            self._stream.write(utf8(f"{gap}==> {printable(record.path or '-')} <==\n") + self._body(record))

    def _body(self, record: Record) -> bytes:
        if record.error is not None:
            return b""
        text = body(record, self._format)
        return utf8(printable(text, keep="\n\t") if self._terminal else text)


class Folder:
    """One file a page under FOLDER, and index.jsonl with every page's record without its text.

    All is written to FOLDER.part first. A folder that is there already keeps its other files.
    """

    def __init__(self, target: Path, format: str, parts: tuple[str, ...], *, resume: bool = False) -> None:
        self.parts = tuple(dict.fromkeys((*parts, *(() if format == "text" else (format,)))))
        self.resume = resume
        self.kept = False
        self._in_index = parts
        self._target = Path(os.path.realpath(target))
        self._part = part_name(self._target)
        self._format = format
        self._names = FileNames(reserved=(INDEX,))
        self._written = 0
        self._failed: list[str] = []  # names that pages would have had
        self._index: BinaryIO | None = None

    def __enter__(self) -> Self:
        with explained(self._target):
            if self._target.exists() and not self._target.is_dir():
                raise OutputError(
                    f"{self._target} is a file: -o names a folder for this format; --format jsonl has a file"
                )
            if self.resume and self.count():
                return self
            _remove_leftover(self._part)
            self._part.mkdir(parents=True)
            self._index = os.fdopen(created(self._part / INDEX), "wb")
        return self

    def count(self) -> int:
        index = self._part / INDEX
        if self._part.is_symlink() or index.is_symlink() or not index.is_file():
            return 0
        with explained(self._target), index.open("rb") as stream:
            return sum(1 for _ in whole_lines(stream, INDEX))

    def go_on(self, done: Sequence[Done]) -> None:
        if self._index is not None:
            return
        with explained(self._target):
            self._index = os.fdopen(truncated(self._part / INDEX, len(done)), "wb")
        for row in done:
            name = self._names.name(_place(row), ENDINGS[self._format])
            if row.error is not None:
                self._failed.append(name)
        self._written = len(done)

    def write(self, record: Record) -> None:
        name = self._names.name(_place(record), ENDINGS[self._format])
        row = {key: value for key, value in record.to_dict(self._in_index).items() if key != "text"}
        assert self._index is not None
        with explained(self._target):
            if record.error is None:
                page = self._part / name  # in a folder of our own making: no link can lead outside
                page.parent.mkdir(parents=True, exist_ok=True)
                page.write_bytes(utf8(body(record, self._format)))
            else:
                (self._part / name).unlink(missing_ok=True)  # of a run that was broken off here
                self._failed.append(name)
            self._index.write(json_line(row | {"file": None if record.error else name}))
            self._index.flush()  # what is written stays so when the process is killed
        self._written += 1

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        with explained(self._target):
            if self._index is not None:
                self._index.close()
            if kind is not None:
                self.kept = self._index is None or self._written > 0
                if not self.kept:
                    shutil.rmtree(self._part)
                return
            if self._target.exists():
                _move_files(self._part, self._target)
                for name in self._failed:  # of an earlier run: the page has no content now
                    _remove_file(self._target, name)
            else:
                self._part.rename(self._target)


def _place(record: Record | Done) -> str:
    """Where a page's file goes: as its own lies, a page of an archive by its URL."""
    from templatediff.crawl import is_member
    from templatediff.page import file_of

    path = record.path or "-"
    return (file_of(record.url) if is_member(path) else None) or path


def json_line(record: Mapping[str, Any]) -> bytes:
    r"""The record as one line of JSON in UTF-8, keys in their order.

    >>> json_line({"path": "a.html", "text": "é"}).decode()
    '{"path":"a.html","text":"é"}\n'
    """
    import msgspec

    try:
        return msgspec.json.encode(record) + b"\n"
    except UnicodeEncodeError:
        return msgspec.json.encode(_encodable(record)) + b"\n"


def for_terminal(line: bytes) -> bytes:
    """The same JSON with what a terminal would obey as escapes."""
    return escaped_json(line.decode()).encode()


def _encodable(value: Any) -> Any:
    r"""The value with what UTF-8 cannot hold spelled out: a file name's byte 0xff as the text \xff."""
    if isinstance(value, str):
        return utf8(value).decode()
    if isinstance(value, Mapping):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in value]
    return value


def utf8(text: str) -> bytes:
    r"""UTF-8; undecodable bytes of a file name (PEP 383) as \xff, other lone surrogates as \ud800.

    >>> utf8("caf\udce9")
    b'caf\\xe9'
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub(lambda found: spelled(found[0]), text).encode()


def body(record: Record, format: str) -> str:
    """The page's content in this format, with one line end after it; empty where there is no content.

    HTML is a whole document, so that its characters are right when it is opened from a disk. Control characters other
    than tab and line end are left out, as the record's own Markdown and HTML have none.
    """
    if format == "html" and record.html:
        from templatediff.render import document

        return document(record.html, record.title)
    text = (
        without_controls(record.text) if format == "text" else record.markdown if format == "markdown" else record.html
    )
    return text.rstrip("\n") + "\n" if text else ""


def _remove_leftover(part: Path) -> None:
    """Makes way for a new FOLDER.part; only an unfinished output of ours is removed."""
    if not os.path.lexists(part):
        return
    if part.is_symlink() or not part.is_dir() or not ((part / INDEX).is_file() or not _holds_files(part)):
        raise OutputError(f"{part} is in the way and no unfinished output of {NAME}: move it")
    shutil.rmtree(part)


def _holds_files(folder: Path) -> bool:
    return any(not place.is_dir() or place.is_symlink() for place in folder.rglob("*"))


def _move_files(part: Path, target: Path) -> None:
    """Every file of `part` to its place in `target`, the index last; links in it are replaced."""
    files = sorted(file.relative_to(part) for file in part.rglob("*") if file.is_file())
    for file in sorted(files, key=lambda file: file == Path(INDEX)):
        for folder in reversed(file.parents[:-1]):
            place = target / folder
            if place.is_symlink() or place.is_file():
                place.unlink()
            place.mkdir(exist_ok=True)
        (part / file).replace(target / file)
    shutil.rmtree(part)


def _remove_file(target: Path, name: str) -> None:
    """Removes the file, unless a link leads outside on the way to it."""
    file = target / name
    if file.is_file() and Path(os.path.realpath(file.parent)).is_relative_to(target):
        file.unlink()
