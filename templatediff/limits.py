"""What one page may take. All limits stand here; whoever enforces one takes it from a `Limits`.

Five are deterministic: the same page is refused everywhere, before much is spent on it. They are set so that they decide
first. Time and memory are for what gets past them, are enforced in worker processes only (`templatediff.parallel`), and
depend on the machine.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from templatediff.errors import UsageError

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one page; checked once, when made. A page over one of the first five is a failure of kind "too-large" or
    "too-deep", over one of the last two of kind "resource".

    max_bytes       bytes, after decompression; of HTML given as text, characters
    max_nodes       elements, as told by half the number of "<"
    max_depth       elements inside each other; a formatting element left open counts as four
    max_attributes  attributes of one tag
    max_leaves      leaves
    max_seconds     seconds by the clock in a worker process
    max_memory      bytes of memory that a worker process takes for the page (where /proc/self/statm tells it: Linux)

    The parser's time grows with the square of depth, and of attributes on one tag; its memory with nodes; our own time and
    memory with leaves (100,000 of them: some 10 s and 800 MB). Raises UsageError for what is no positive number.

    >>> Limits(max_depth=0)
    Traceback (most recent call last):
    ...
    templatediff.errors.UsageError: max_depth is 0: give a number above 0
    """

    max_bytes: int = 32 * MIB
    max_nodes: int = 1_000_000
    max_depth: int = 4096
    max_attributes: int = 4096
    max_leaves: int = 100_000
    max_seconds: float = 120.0
    max_memory: int = 2048 * MIB

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            kinds = (int, float) if field.name == "max_seconds" else (int,)
            if isinstance(value, bool) or not isinstance(value, kinds) or not value > 0:
                raise UsageError(f"{field.name} is {value!r}: give a number above 0")

    def deciding(self) -> dict[str, int]:
        """The deterministic ones, by name: what results depend on."""
        names = [field.name for field in dataclasses.fields(self)][:5]
        return {name: getattr(self, name) for name in names}


DEFAULT = Limits()
