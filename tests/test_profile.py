from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from templatediff import profile as module
from templatediff.errors import MismatchError, TemplateError
from templatediff.fingerprint import Fingerprint, fingerprint
from templatediff.options import Options
from templatediff.profile import Places, SiteProfile, merge
from templatediff.segment import segment


def page(number: int, version: int = 0, month: int = 0, shape: str = "a") -> Fingerprint:
    return fingerprint(
        segment(f"<p>Page {number}, version {version}</p>"),
        Options(),
        content_hash=version * 7919 % 101,
        key_url=f"https://example.org/{shape}/{number}",
        fetched=f"2024-{month:02}-{1 + version % 28:02}T00:00:00Z" if month else None,
    )


def profile_of(pages: list[Fingerprint]) -> SiteProfile:
    made = SiteProfile("example.org", Options())
    for one in pages:
        made.add(one)
    return made


PAGES = st.lists(
    st.builds(page, st.integers(0, 12), st.integers(0, 3), st.integers(0, 9), st.sampled_from("abcdefgh")),
    max_size=25,
)


@pytest.fixture(autouse=True)
def small_caps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The laws must hold where the caps bite; with small caps a few pages reach them."""
    monkeypatch.setattr(module, "MONTHS", 2)
    monkeypatch.setattr(module, "PAGES_A_MONTH", 3)
    monkeypatch.setattr(module, "SHAPES_A_MONTH", 2)
    monkeypatch.setattr(module, "PAGES_A_SHAPE", 1)
    monkeypatch.setattr(module, "_PRUNE_AT", 1)


@settings(max_examples=60, deadline=None)
@given(PAGES, PAGES, PAGES)
def test_merge_is_commutative_associative_and_idempotent(
    one: list[Fingerprint], two: list[Fingerprint], three: list[Fingerprint]
) -> None:
    a, b, c = profile_of(one), profile_of(two), profile_of(three)
    assert merge(a, b).to_bytes() == merge(b, a).to_bytes()
    assert merge(merge(a, b), c).to_bytes() == merge(a, merge(b, c)).to_bytes()
    assert merge(a, a).to_bytes() == a.to_bytes()


@settings(max_examples=60, deadline=None)
@given(PAGES, st.integers(1, 6), st.randoms(use_true_random=False))
def test_order_and_batches_do_not_matter(pages: list[Fingerprint], parts: int, random: object) -> None:
    whole = profile_of(pages).to_bytes()
    shuffled = list(pages)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    merged = SiteProfile("example.org", Options())
    for batch in (
        itertools.batched(shuffled, parts)
        if hasattr(itertools, "batched")
        else [shuffled[i::parts] for i in range(parts)]
    ):
        merged = merge(merged, profile_of(list(batch)))
    assert merged.to_bytes() == whole


@given(PAGES)
@settings(max_examples=30, deadline=None)
def test_bytes_come_back(pages: list[Fingerprint]) -> None:
    data = profile_of(pages).to_bytes()
    assert SiteProfile.from_bytes(data).to_bytes() == data


def test_what_is_kept_is_bounded_and_holds_rare_shapes() -> None:
    pages = [page(number) for number in range(60)] + [page(99, shape="about")]
    kept = {entry.key for entry in profile_of(pages).entries()}
    assert len(kept) <= 3 + 2
    assert "https://example.org/about/99" in kept or len({key.split("/")[3] for key in kept}) == 1


def test_a_rare_shape_is_kept_whatever_its_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHAPES_A_MONTH", 16)
    for rare in range(20):
        pages = [page(number) for number in range(40)] + [page(rare, shape="about")]
        assert f"https://example.org/about/{rare}" in {entry.key for entry in profile_of(pages).entries()}


def test_the_newer_version_of_a_page_wins_and_counts_once() -> None:
    entries = profile_of([page(1, 2, 5), page(1, 3, 5), page(1, 1, 5)]).entries()
    assert [entry.version[0][:10] for entry in entries] == ["2024-05-04"]


def test_the_newest_months_are_kept_and_undated_pages_are_the_oldest() -> None:
    months = [entry.month for entry in profile_of([page(1), page(2, 0, 3), page(3, 0, 7)]).entries()]
    assert months == ["2024-03", "2024-07"]


def test_since_keeps_what_was_fetched_then_or_later_and_changes_nothing() -> None:
    made = profile_of([page(1), page(2, 3, 5), page(3, 0, 7)])
    before = made.to_bytes()
    kept = made.since("2024-05-04T00:00:00Z")
    assert [entry.key for entry in kept.entries()] == [f"https://example.org/a/{number}" for number in (2, 3)]
    assert made.since("2024-05-04T00:00:01Z").to_bytes() == profile_of([page(3, 0, 7)]).to_bytes()
    assert made.to_bytes() == before


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        (Options(ngram_order=2), "ngram_order"),
        (Options(markup="keep"), "markup"),
        (Options(short_leaves="join"), "short_leaves"),
        (Options(leaf_tags=frozenset({"div", "p"})), "leaf_tags"),
    ],
)
def test_profiles_of_other_options_refuse_to_merge(changed: Options, name: str) -> None:
    with pytest.raises(MismatchError, match=name) as caught:
        merge(SiteProfile("a", Options()), SiteProfile("a", changed))
    assert caught.value.differing == (name,)


def test_save_and_load(tmp_path: Path) -> None:
    made = profile_of([page(1), page(2)])
    made.save(tmp_path / "p")
    assert SiteProfile.load(tmp_path / "p").to_bytes() == made.to_bytes()


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: data[:-3], id="truncated"),
        pytest.param(lambda data: data[: len(data) // 2] + b"\0\0" + data[len(data) // 2 + 2 :], id="overwritten"),
        pytest.param(lambda data: b"PK\x03\x04" + data, id="foreign"),
    ],
)
def test_a_damaged_file_gives_one_clear_error(tmp_path: Path, damage: object) -> None:
    file = tmp_path / "profile.zst"
    profile_of([page(1), page(2)]).save(file)
    file.write_bytes(damage(file.read_bytes()))  # type: ignore[operator]
    with pytest.raises(TemplateError, match=r"profile\.zst"):
        SiteProfile.load(file)


def test_a_newer_format_says_upgrade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FORMAT", 2)
    data = profile_of([page(1)]).to_bytes()
    monkeypatch.setattr(module, "FORMAT", 1)
    with pytest.raises(TemplateError, match="format 2, this release reads 1: upgrade"):
        SiteProfile.from_bytes(data)


@settings(max_examples=200, deadline=None)
@given(PAGES)
def test_a_page_that_lacks_a_place_changes_nothing(pages: list[Fingerprint]) -> None:
    places, part = Places(), SiteProfile("example.org", Options())
    for one in pages:
        if not places.lacks(one.key, one.fetched or None):
            part.add(one)
            places.taken(one)
    assert part.to_bytes() == profile_of(pages).to_bytes()


def test_most_pages_of_a_large_site_lack_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAGES_A_MONTH", 20)
    places, taken = Places(), 0
    for number in range(1000):
        one = page(number, month=5)
        if not places.lacks(one.key, one.fetched):
            places.taken(one)
            taken += 1
    assert 20 < taken < 200


def test_months_older_than_those_kept_have_no_place() -> None:
    places = Places()
    for month in (3, 4):
        places.taken(page(month, month=month))
    assert places.lacks("https://example.org/a/9", "2024-02-01T00:00:00Z") and places.lacks(
        "https://example.org/a/9", None
    )
    assert not places.lacks("https://example.org/a/9", "2024-09-01T00:00:00Z")


def test_the_same_bytes_in_two_charsets_give_one_profile() -> None:
    one, other = (
        fingerprint(segment(f"<p>{text}</p>"), Options(), content_hash=7, key_url="https://example.org/1")
        for text in ("s\u00e6ng", "s\u0107ng")
    )
    assert profile_of([one, other]).to_bytes() == profile_of([other, one]).to_bytes()
    assert merge(profile_of([one]), profile_of([other])).to_bytes() == profile_of([other, one]).to_bytes()
    assert len(profile_of([one, other, one])) == 1


def test_a_full_disk_is_told_as_such() -> None:
    """It is an error of the file, not of the compression that cannot be ended after it."""
    noise = "".join(f"<p>{number * 0x9E3779B97F4A7C15 % (1 << 61)}</p>" for number in range(2000))
    leaves = segment(noise)
    pages = [fingerprint(leaves, Options(), content_hash=0, key_url=f"https://example.org/{n}") for n in range(3)]
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full on this system")
    with pytest.raises(OSError, match="No space left on device"):
        profile_of(pages).save(full)
