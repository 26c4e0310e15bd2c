"""Damage to bytes: the edits that both the drivers and hypothesis make, and a driver of our own that makes them at random."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

KINDS = ("cut", "flip", "drop", "double", "insert", "put", "splice")
#: Bytes that readers stumble over, whatever they read.
COMMON = (
    b"\0", b"\xff", b"\xff\xfe", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\n", b"\r\n", b" ", b"-1", b"0", b"9" * 20, b"1e999",
    b"\xff\xff\xff\xff", b"\x00\x00\x00\x80", b"\x7f" * 8,
)  # fmt: skip


class Edit(NamedTuple):
    """`kind` of KINDS, at `place` of the data (0..1), with `other` bytes; `size` is how many of its bytes go or come twice."""

    kind: str
    place: float
    size: int
    other: bytes


def edited(data: bytes, edits: Sequence[Edit]) -> bytes:
    """The data with all edits done, in order.

    >>> edited(b"abcdef", [Edit("cut", 0.5, 0, b""), Edit("insert", 0.99, 0, b"-")])
    b'ab-c'
    """
    for kind, place, size, other in edits:
        at = int(place * len(data))
        if kind == "cut":
            data = data[:at]
        elif kind == "flip":
            data = data[:at] + bytes([data[at] ^ (size % 255 + 1)]) + data[at + 1 :] if data else b""
        elif kind == "drop":
            data = data[:at] + data[at + size :]
        elif kind == "double":
            data = data[: at + size] + data[at:]
        elif kind == "insert":
            data = data[:at] + other + data[at:]
        elif kind == "put":
            data = data[:at] + other + data[at + len(other) :]
        else:  # a value for a value: from one word boundary to the next
            end = at
            while end < len(data) and data[end : end + 1] not in b' ,:<>="]}\n':
                end += 1
            data = data[:at] + other + data[end:]
    return data


def random_edits(chance: random.Random, tokens: Sequence[bytes]) -> list[Edit]:
    """One to a dozen edits, mostly few."""
    return [
        Edit(
            chance.choice(KINDS) if chance.random() < 0.9 else "insert",
            chance.random(),
            chance.choice((1, 2, 4, 16, 64, 300)),
            chance.choice(tokens) * chance.choice((1, 1, 1, 2, 30)),
        )
        for _ in range(min(12, 1 + int(chance.expovariate(0.4))))
    ]
