"""Other extractors behind one call, for comparison on the same pages with the same score.

Every module here whose name does not begin with `_` is a peer. It has

    NAME                   how tables call it
    SETTINGS               how it is called, in words; part of the cache key, so it changes with the call
    version() -> str       of the library, which is imported together with the module
    extract(html: bytes, url: str | None, lang: str | None) -> str       content of one page as plain text

and may have

    TRAINED_ON             names of sets on which it was fitted: shown there, but not counted
    extract_site(pages: Sequence[tuple[bytes, str | None, str | None]]) -> list[str | None]
                           content of all pages of a site at once, for peers that learn from siblings; None
                           for a page on which it failed

A peer whose library is missing is reported and left out.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass

PageInput = tuple[bytes, str | None, str | None]


class PeerMissing(Exception):
    """The peer is unknown or its library is not installed; the text says which."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A loaded peer; fields as in the module's docstring."""

    module: str
    name: str
    settings: str
    version: str
    trained_on: frozenset[str]
    extract: Callable[[bytes, str | None, str | None], str]
    extract_site: Callable[[Sequence[PageInput]], list[str | None]] | None


def names() -> list[str]:
    """Module names of all peers, whether or not their libraries are installed."""
    return sorted(found.name for found in pkgutil.iter_modules(__path__) if not found.name.startswith("_"))


def load(module: str) -> Peer:
    """The peer of that module name. Raises PeerMissing."""
    if module not in names():
        raise PeerMissing(f"no peer {module!r}: there are {', '.join(names())}")
    try:
        found = importlib.import_module(f"{__name__}.{module}")
    except ImportError as error:
        raise PeerMissing(f"{module}: {error}") from error
    return Peer(
        module=module,
        name=found.NAME,
        settings=found.SETTINGS,
        version=found.version(),
        trained_on=frozenset(getattr(found, "TRAINED_ON", ())),
        extract=found.extract,
        extract_site=getattr(found, "extract_site", None),
    )
