from __future__ import annotations

import dataclasses

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from templatediff.errors import TemplateError
from templatediff.fingerprint import Fingerprint, fingerprint
from templatediff.options import Options
from templatediff.remember import MAX_LEAVES, MAX_TEXT, cap, decode, encode
from templatediff.segment import segment


def of(html: str) -> Fingerprint:
    return fingerprint(segment(html), Options(), content_hash=1)


def same(one: Fingerprint, other: Fingerprint) -> bool:
    return all(
        np.array_equal(getattr(one, field.name), getattr(other, field.name))
        if isinstance(getattr(one, field.name), np.ndarray)
        else getattr(one, field.name) == getattr(other, field.name)
        for field in dataclasses.fields(Fingerprint)
    )


HTML = st.text(st.sampled_from("<>/pdivab =\"'\n\u4e2d1. "), max_size=200) | st.text(max_size=80)


@given(HTML)
def test_encode_then_decode_is_the_capped_fingerprint(html: str) -> None:
    page = of("<title>t</title>" + html.replace("\ud800", ""))
    again = decode(encode(page))
    assert same(again, cap(page))
    assert encode(again) == encode(page)


def test_caps_bound_what_is_remembered() -> None:
    page = of("".join(f"<p>{'word ' * 60}{number}" for number in range(MAX_LEAVES + 50)))
    kept = decode(encode(page))
    assert len(kept) <= MAX_LEAVES and max(map(len, kept.texts)) == MAX_TEXT
    assert np.array_equal(kept.text_hash, page.text_hash[: len(kept)])


@given(st.binary(max_size=200))
def test_bytes_that_are_no_fingerprint_are_refused(data: bytes) -> None:
    with pytest.raises(TemplateError):
        decode(data)


def test_a_damaged_fingerprint_is_refused() -> None:
    values = msgspec.msgpack.decode(encode(of("<div><p>a</p><p>b</p></div>")))
    for place in range(1, len(values[-1])):  # the first column, hashes of title parts, may have any length
        damaged = [*values[:-1], [*values[-1]]]
        damaged[-1][place] = damaged[-1][place] + b"\xff" * 8
        with pytest.raises(TemplateError):
            decode(msgspec.msgpack.encode(damaged))
