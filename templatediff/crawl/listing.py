"""Listing a crawl: the candidates in folders, files and archives, in byte order of `path`.

Listing and reading are apart: `list_sources` names the candidates, `read_source` opens one and says whether
it is a page. So the reading can be shared out among processes while order and names stay the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from templatediff.crawl.containers import container_kind, expanded, top_of
from templatediff.crawl.mirror import file_url, folder_path, other_kind, quoted
from templatediff.crawl.source import SIDECAR, USUAL, Fields, Source
from templatediff.errors import InputError
from templatediff.page import mirror_host, utc_text


@dataclass(frozen=True, slots=True)
class _Input:
    """One INPUT: `top` is the folder it stands for, `only` the one file in it that is meant."""

    top: str
    only: str | None
    given: str
    named: str = ""  # as the caller wrote it, of a file
    member: str | None = None  # the one member of the archive that is meant


def list_sources(
    inputs: str | Path | Iterable[str | Path],
    *,
    fetched: object = None,
    ignore: Iterable[str | Path] = (),
    fields: Fields = USUAL,
) -> list[Source]:
    """The candidates in INPUTs in byte order of `path`, members of an archive in stored order; the order of INPUTs does not
    matter.

    A file named twice counts once. Links inside an INPUT are not followed: what they lead to inside is found
    there, and what lies outside was not asked for. `ignore` names outputs, which are never read. Sidecars are
    left out. A folder that cannot be opened comes as a source, so that its loss is reported; so do links and devices, which
    are counted. `x.zip!name` names one member of an archive. Raises InputError if an input does not exist.
    """
    return list(each_source(inputs, fetched=fetched, ignore=ignore, fields=fields))


def each_source(
    inputs: str | Path | Iterable[str | Path],
    *,
    fetched: object = None,
    ignore: Iterable[str | Path] = (),
    fields: Fields = USUAL,
) -> Iterator[Source]:
    """The same one at a time: an archive is looked into when its turn comes. Raises InputError at once."""
    given = [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs)
    if not given:
        raise InputError("no input: name a folder or file")
    when = utc_text(fetched)
    if any(not os.fspath(path) for path in given):
        raise InputError("an input is empty: name a folder or file (. is the current folder)")
    wanted = [_as_input(os.fspath(path)) for path in given]
    root = os.path.commonpath([item.top for item in wanted])
    ignored = frozenset(os.path.realpath(path) for path in ignore)
    whole = {os.path.realpath(item.given) for item in wanted if item.only is not None and item.member is None}
    found: dict[tuple[str, str | None], tuple[tuple[bool, int, bytes], Source]] = {}
    for item in wanted:
        # The same file by two ways: a way without links wins, then the outermost INPUT, then the name.
        real_top = os.path.realpath(item.top)
        by_link = item.only is not None and os.path.islink(item.given)
        for real, source in _sources_of(
            item, root, real_top, ignored, Source("", "", "", "", fetched=when, fields=fields)
        ):
            key = real if not by_link else os.path.realpath(item.given)
            rank = (by_link or real_top != item.top, item.top.count(os.sep), _bytes(source.path))
            place = key, item.member if key not in whole else None
            if place not in found or rank < found[place][0]:
                found[place] = rank, source
    # A member that is named beside its whole archive, perhaps in a folder, counts once.
    seen = {real for real, member in found if member is None}
    links = {os.path.abspath(item.given) for item in wanted}  # a link that is itself an INPUT is followed
    found = {place: (rank, one) for place, (rank, one) in found.items() if one.other != "link" or one.file not in links}
    kept = [(source, member) for (real, member), (_, source) in found.items() if member is None or real not in seen]
    return _in_order(sorted(kept, key=lambda item: (_bytes(item[0].path), item[1] or "")))


def _in_order(files: list[tuple[Source, str | None]]) -> Iterator[Source]:
    for source, member in files:
        if source.archive is None:
            yield source
            continue
        members = expanded(source)
        if member is None:
            yield from members
            continue
        chosen = [one for one in members if one.path == f"{source.path}!{member}"]
        if not chosen:
            raise InputError(f"{source.file} has no member {member}")
        yield from chosen


def only_source(path: str | Path, called: str | None = None, fields: Fields = USUAL) -> Source:
    """The one candidate that a file is, or that an archive of one page holds. Raises InputError where there are several.

    `called` is what the file is called in messages, its path by default.
    """
    called = called or str(path)
    found = [source for source in list_sources([path], fields=fields) if source.other is None]
    if len(found) > 1:
        first = found[0].path.partition("!")[2]
        raise InputError(f"{called} holds {len(found):,} pages or files: name one of them, as {called}!{first}")
    if not found:
        raise InputError(f"{called} holds no page")
    return found[0]


def _as_input(given: str) -> _Input:
    full = os.path.abspath(given)
    if os.path.isdir(full):
        return _Input(full, None, full)
    if os.path.isfile(full):
        return _Input(os.path.dirname(full), os.path.basename(full), full, given)
    if os.path.lexists(full):
        raise InputError(f"{given}: neither a folder nor a file that can be read")
    at = given.find("!")
    while at > 0:
        archive = os.path.abspath(given[:at])
        if os.path.isfile(archive):
            return _Input(os.path.dirname(archive), os.path.basename(archive), archive, given[:at], given[at + 1 :])
        at = given.find("!", at + 1)
    raise InputError(f"{given}: no such file or folder")


def _sources_of(
    item: _Input, root: str, real_top: str, ignored: frozenset[str], pattern: Source
) -> Iterator[tuple[str, Source]]:
    """(real path, source) of every candidate of one INPUT, folder by folder, each made like `pattern`."""
    name = os.path.basename(item.top) or item.top
    host = mirror_host(name)
    prefix = "" if item.top == root else os.path.relpath(item.top, root).replace(os.sep, "/") + "/"
    # Per folder: its path below the INPUT with "/" at the end, the mirror's host, the URL path of the folder.
    host, url_path = (host, "/") if item.only is None else _host_above(item, root)
    waiting: list[tuple[str, str | None, str]] = [("", host, url_path)]
    while waiting:
        below, host, url_path = waiting.pop()
        folder = (prefix + below).rstrip("/")
        if _is_ignored(real_top, below, ignored):
            continue
        made = replace(pattern, folder=folder, folder_site=below.rstrip("/") or name)
        try:
            entries = _entries(os.path.join(item.top, below), item.only)
        except OSError as error:
            if not below:
                raise InputError(f"{item.given}: {error.strerror or error}") from None
            place = os.path.join(item.top, below)
            yield os.path.join(real_top, below), replace(made, path=folder, file=place, fetched=None)
            continue
        for file, kind in entries.files:
            real = os.path.join(real_top, below + file)
            if real in ignored or file.endswith(SIDECAR):
                continue
            path, opened = prefix + below + file, os.path.join(item.top, below + file)
            other = kind or (other_kind(below, file) if item.only is None else None)
            archive = None
            if other is None:
                archive = container_kind(opened, given=item.only is not None, fields=pattern.fields)
            if archive is not None:
                site = below + top_of(file) if item.only is None else name if file == "-" else ""
                yield real, replace(made, path=path, file=opened, folder_site=site, archive=archive)
            else:
                url = file_url(host, url_path, file) if host else None
                yield real, replace(made, path=path, file=opened, url=url, other=other)
        for child in entries.folders:
            if host:
                waiting.append((f"{below}{child}/", host, f"{url_path}{quoted(child)}/"))
            else:
                waiting.append((f"{below}{child}/", mirror_host(child), "/"))


def _host_above(item: _Input, root: str) -> tuple[str | None, str]:
    """(mirror host, URL path of the folder) of a file that is itself an INPUT: the first component that is a host among
    those it was named with or, for an absolute name, those from the INPUTs' common folder on.

    So `find crawl -name '*.html'` names the pages as `crawl` does.
    """
    if os.path.isabs(item.named):
        below = os.path.relpath(item.top, root)
        steps = [os.path.basename(root), *(below.split(os.sep) if below != "." else [])]
    else:
        steps = os.path.dirname(os.path.normpath(item.named)).split(os.sep)
        if steps in ([""], ["."]):
            steps = [os.path.basename(item.top)]
    for place, step in enumerate(steps):
        host = mirror_host(step) if step else None
        if host:
            return host, folder_path(steps[place + 1 :])
    return None, "/"


@dataclass(frozen=True, slots=True)
class _Entries:
    """What is in a folder: names of files, with the kind of those that are not to be opened, and of folders."""

    files: list[tuple[str, str | None]]
    folders: list[str]


def _entries(folder: str, only: str | None) -> _Entries:
    if only is not None:
        return _Entries([(only, None)], [])
    found = _Entries([], [])
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                found.folders.append(entry.name)
            else:
                kind = "link" if entry.is_symlink() else None if entry.is_file() else "device"
                found.files.append((entry.name, kind))
    return found


def _is_ignored(real_top: str, below: str, ignored: frozenset[str]) -> bool:
    if not ignored:
        return False
    if below:
        return os.path.join(real_top, below.rstrip("/")) in ignored
    # The INPUT itself may lie inside an ignored folder.
    return any(os.path.commonpath([real_top, folder]) == folder for folder in ignored)


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
