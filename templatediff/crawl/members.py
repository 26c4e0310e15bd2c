"""Members of archives that are like files: whose names are safe, which counts of two of one name, which are sidecars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from templatediff.crawl.source import SIDECAR, Entry
from templatediff.page import Failure


def named_entries(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The entries in their order, without sidecars, which go with their pages.

    Of several members of one name the last counts, as when they are unpacked; names that lead outside are failures. A member
    without a name cannot be told from its archive, and is no page.
    """
    found = [replace(entry, name=plain_name(entry.name)) for entry in entries]
    last = {entry.name: place for place, entry in enumerate(found) if entry.name}
    for place, entry in enumerate(found):
        if entry.name.endswith(SIDECAR):
            continue
        if entry.name and last[entry.name] != place:
            yield Entry(entry.name, other="superseded")
        elif not entry.name and entry.member is not None:
            yield Entry("", other="nameless")
        elif not is_safe(entry.name):
            yield Entry(
                entry.name, failure=Failure("unsafe-name", "the member's name leads outside the archive: refused")
            )
        elif entry.member is None or (beside := last.get(entry.name + SIDECAR)) is None:
            yield entry
        else:
            yield replace(entry, member=replace(entry.member, sidecar=found[beside].member))


def plain_name(name: str) -> str:
    """A name without what changes nothing in it.

    >>> plain_name("./a//b/./c.html"), plain_name("/a"), plain_name("../a")
    ('a/b/c.html', '/a', '../a')
    """
    if "/" not in name:
        return name
    rooted = "/" if name.startswith("/") else ""
    return rooted + "/".join(part for part in name.split("/") if part not in ("", "."))


def is_safe(name: str) -> bool:
    """Whether a name stays inside the archive, on any system.

    >>> [is_safe(name) for name in ("a/b..c", "../a", "/a", "c:\\\\a", "a\\\\..\\\\..\\\\b")]
    [True, False, False, False, False]
    """
    parts = name.replace("\\", "/").split("/")
    return not (name.startswith(("/", "\\")) or ".." in parts or parts[0][1:2] == ":")
