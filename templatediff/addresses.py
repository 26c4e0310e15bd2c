"""Links of a page -> where they lead: hashes of their targets, and of what kind these are."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import numpy.typing as npt

from templatediff.hashes import Hashes, digest, line_hashes
from templatediff.leaves import Leaves

_Ints = npt.NDArray[np.int64]

INSIDE, OUTSIDE, FRAGMENT, ACTION = range(4)  #: kinds of link targets
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.\-]*:)?//([^/?#]*)([^#]*)", re.I)
_SCHEME = re.compile(r"[a-z][a-z0-9+.\-]*:", re.I)


def split_address(url: str) -> tuple[str, str]:
    """(host in lower case without www., user and port; path with query) of an address; no host for a relative one.

    Cheaper by a factor of ten than urllib's parser, which also refuses addresses that pages do have.

    >>> split_address("https://www.Example.org:80/a?b=1#c"), split_address("a/b#c")
    (('example.org', '/a?b=1'), ('', 'a/b'))
    """
    found = _ADDRESS.match(url)
    if found is None:
        return "", url.partition("#")[0]
    host = found.group(1).rpartition("@")[2].lower()
    return host.partition(":")[0].removeprefix("www."), found.group(2) or "/"


@cache
def front_page() -> int:
    """`link_target` of a link to the site's front page."""
    return link_target("/", "", "")[0]


def link_columns(leaves: Leaves, base: str | None) -> tuple[_Ints, Hashes, Hashes, _Ints]:
    """(leaf, hash of where it leads, hash of its text, kind) of each link; `base` is the page's own address, if known."""
    home = split_address(base) if base else ("", "")
    folder = home[1].partition("?")[0].rpartition("/")[0] + "/"
    leaf, addresses, words = zip(*leaves.links, strict=True) if leaves.links else ((), (), ())
    known = {address: link_target(address, home[0], folder) for address in dict.fromkeys(addresses)}
    found = [known[address] for address in addresses]
    return (
        np.array(leaf, np.int64),
        np.array([target for target, _ in found], np.uint64),
        np.array(line_hashes("\n".join(words).casefold().split("\n")) if words else [], np.uint64),
        np.array([kind for _, kind in found], np.int64),
    )


def link_target(address: str, host: str, folder: str) -> tuple[int, int]:
    """(hash of where a link leads, kind). Inside the site the host is left out, so that http, https and www agree."""
    if not address or address[0] == "#":
        return digest(address), FRAGMENT
    if address[0] == "/" and address[1:2] != "/":
        return digest(address.partition("#")[0]), INSIDE
    where, path = split_address(address)
    if not where:
        if _SCHEME.match(address):
            return digest(address), ACTION
        if path[:1] != "/":
            path = _without_dots(folder + path)
        return digest(path), INSIDE
    outside = bool(host) and where != host
    return digest(where + path if outside else path), OUTSIDE if outside else INSIDE


def _without_dots(path: str) -> str:
    if "./" not in path:
        return path
    head, question, query = path.partition("?")
    steps: list[str] = []
    for step in head.split("/"):
        if step == "..":
            del steps[max(1, len(steps) - 1) :]
        elif step != ".":
            steps.append(step)
    return "/".join(steps) + question + query
