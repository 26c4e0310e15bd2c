"""JSON lines: one page a line, with its HTML in a field."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from templatediff.crawl.bounds import MAX_LINE
from templatediff.crawl.source import HTML_FIELDS, Entry, Fields, Member, Source
from templatediff.errors import PageError, UsageError
from templatediff.page import Failure, Page

#: How far lines are looked at to tell whether their file holds pages; bytes.
LOOK_BYTES = 1024 * 1024
_MARK = b"\xef\xbb\xbf"
_CHUNK = 1024 * 1024
_MARKUP = re.compile(r"<(?:[a-zA-Z]|!--|!doctype)", re.I)
# The fields' names come from the input: a few of them are told, short.
_NAMED, _NAME_LENGTH = 12, 40
# A value that is carried goes to other processes and into JSON, each of which goes into it level by level.
_MOST_NESTED = 100


def is_object(head: bytes) -> bool:
    """Whether bytes begin with a JSON object."""
    return head.removeprefix(_MARK).lstrip().startswith(b"{")


def has_html(data: bytes, fields: Fields) -> bool:
    """Whether a line that lies in `data` as a whole, or the first, though its end is cut off, is a page."""
    lines = data.removeprefix(_MARK).split(b"\n")
    whole = lines if len(lines) == 1 or len(data) < LOOK_BYTES else lines[:-1]
    for line in whole:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and _html(found, fields) is not None:
            return True
    names = (fields.html,) if fields.html else HTML_FIELDS
    wanted = "|".join(re.escape(json.dumps(name)) for name in names)
    return len(lines) == 1 and re.search(rf'(?:{wanted})\s*:\s*"[^"]{{0,99}}<'.encode(), data) is not None


def index(file: str, cut: bool) -> Iterator[Entry]:
    """Where each line begins, blank ones left out. A last line that has no end where the file is `cut` is lost."""
    with open(file, "rb") as stream:
        start, number, blank = 0, 1, True
        offset = 0
        while chunk := stream.read(_CHUNK):
            if not offset and chunk.startswith(_MARK):
                start = len(_MARK)
            at = start - offset if start > offset else 0
            while (end := chunk.find(b"\n", at)) >= 0:
                if not blank or chunk[at:end].strip():
                    yield _entry(file, number, start, offset + end - start)
                start, number, blank = offset + end + 1, number + 1, True
                at = end + 1
            blank = blank and not chunk[at:].strip()
            offset += len(chunk)
        if not blank:
            if cut:
                yield Entry(str(number), failure=Failure("truncated", "the file ends in the middle of this line"))
            else:
                yield _entry(file, number, start, offset - start)


def _entry(file: str, number: int, start: int, size: int) -> Entry:
    if size > MAX_LINE:
        return Entry(
            str(number), failure=Failure("too-large", f"a line of {size:,} bytes: more than {MAX_LINE:,} are not read")
        )
    return Entry(str(number), Member("line", file, str(number), start, size))


def read_line(source: Source, most: int) -> Page:
    """The page in a line, with its failure where there is none; `most` bytes of HTML are read."""
    assert source.member is not None
    with open(source.member.place, "rb") as stream:
        stream.seek(source.member.offset)
        data = stream.read(source.member.size)
    carries = carried({}, source.fields)
    try:
        record = _parsed(data)
        carries = carried(record, source.fields)
        html = _html(record, source.fields)
        if html is None:
            raise PageError("no-html", _missing(record, source.fields))
        if len(html) > most or len(html.encode("utf-8", "surrogatepass")) > most:
            raise PageError("too-large", f"more than {most:,} bytes of HTML are not read")
        return Page(
            html,
            url=_text(record, source.fields.url),
            fetched=_text(record, source.fields.fetched) or source.fetched,
            path=source.path,
            source=carries,
        )
    except PageError as error:
        failure = Failure(error.kind, error.message)
    except UsageError as error:
        failure = Failure("json", str(error))
    return Page(b"", None, source.fetched, source.path, failure=failure, source=carries)


def carried(record: dict[str, Any], fields: Fields) -> dict[str, Any] | None:
    """The fields of a record that go with the page, None for those it lacks; None if none are wanted.

    Raises UsageError for one that is nested too deep to be handed on.
    """
    if not fields.carry:
        return None
    found = {name: record.get(name) for name in fields.carry}
    for name, value in found.items():
        if _is_deep(value):
            raise UsageError(f"{name[:_NAME_LENGTH]}: nested more than {_MOST_NESTED} deep")
    return found


def _is_deep(value: Any) -> bool:
    layer = [value]
    for _ in range(_MOST_NESTED):
        layer = [
            inner
            for each in layer
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
    return any(isinstance(each, dict | list) for each in layer)


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise PageError("json", f"no JSON: {_reason(error)}") from None
    if not isinstance(found, dict):
        raise PageError("json", f"a line has to be a JSON object, and this is {type(found).__name__}")
    return found


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deep"
    if isinstance(error, UnicodeDecodeError):
        return "not in UTF-8"
    return str(error) if isinstance(error, json.JSONDecodeError) else "a number of too many digits"


def _html(record: dict[str, Any], fields: Fields) -> str | None:
    """The HTML of a line; a field that was named by the user need not hold markup."""
    if fields.html is not None:
        found = record.get(fields.html)
        return found if isinstance(found, str) and found.strip() else None
    for name in HTML_FIELDS:
        found = record.get(name)
        if isinstance(found, str) and _MARKUP.search(found):
            return found
    return None


def _missing(record: dict[str, Any], fields: Fields) -> str:
    names = [name[:_NAME_LENGTH] for name in list(record)[:_NAMED]]
    more = f" and {len(record) - _NAMED} more" if len(record) > _NAMED else ""
    wanted = fields.html or ", ".join(HTML_FIELDS[:-1]) + f" or {HTML_FIELDS[-1]}"
    has = f"{', '.join(names)}{more}" if names else "no fields"
    return f"no HTML in {wanted}; the line has {has}: name it with --field html=NAME"


def _text(record: dict[str, Any], name: str) -> str | None:
    value = record.get(name)
    if value is not None and not isinstance(value, str):
        raise PageError("json", f"{name[:_NAME_LENGTH]}: expected text, found {type(value).__name__}")
    return value or None
