"""The fuzzing targets, for as many inputs as a test may take. `python tests/fuzz/run.py` goes on for as long as you like."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import run
from tests.fuzz.edits import KINDS, Edit, edited, random_edits
from tests.fuzz.targets import TARGETS, Target

FEW = 12  # inputs a target


def _edits(tokens: Sequence[bytes]) -> st.SearchStrategy[list[Edit]]:
    other = st.one_of(st.sampled_from(tokens), st.binary(max_size=20))
    place = st.floats(0, 1, exclude_max=True)
    return st.lists(st.builds(Edit, st.sampled_from(KINDS), place, st.integers(1, 300), other), max_size=8)


def _fuzz(name: str, examples: int) -> None:
    target = TARGETS[name]

    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(target.seeds()), _edits(target.tokens))
    def on(seed: bytes, edits: list[Edit]) -> None:
        target.check(edited(seed, edits))

    on()


@pytest.mark.parametrize("name", TARGETS)
def test_the_seeds_of_a_target_are_read(name: str) -> None:
    for seed in TARGETS[name].seeds():
        TARGETS[name].check(seed)


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_input_is_a_result_or_a_failure(name: str) -> None:
    _fuzz(name, FEW)


def test_the_driver_keeps_the_first_input_of_each_finding(tmp_path: Path) -> None:
    seen = run.Findings(tmp_path)
    for data in (b"fine", b"one", b"two", b"three"):
        seen.try_out(lambda data: 1 / (data == b"fine"), data)
    assert (seen.inputs, list(seen.kinds.values())) == (4, [3]), "the same place is one finding"
    (kept,) = tmp_path.glob("*.bin")
    assert kept.read_bytes() == b"one" and "ZeroDivisionError" in kept.with_suffix(".txt").read_text()


def test_what_takes_too_long_is_a_finding(tmp_path: Path) -> None:
    seen = run.Findings(tmp_path, slow=1)
    seen.try_out(lambda data: time.sleep(60), b"")
    assert seen.kinds == {"Slow": 1}


@pytest.mark.parametrize(("check", "status"), [(lambda data: None, 0), (lambda data: 1 // 0, 1)], ids=["none", "one"])
def test_the_driver_runs_for_a_number_of_inputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], check: Any, status: int
) -> None:
    monkeypatch.setattr(run, "FOUND", tmp_path)
    monkeypatch.setitem(TARGETS, "made", Target(lambda: [b"seed"], [b"word"], check))
    monkeypatch.setattr(sys, "argv", ["run.py", "made", "--inputs", "20", "--engine", "own"])
    assert run.main() == status
    assert f"made: 20 inputs, 0 s, slowest 0.0 s of CPU, {status} findings" in capsys.readouterr().out


def test_the_same_seed_makes_the_same_inputs() -> None:
    first, second = (
        [edited(b"seed" * 9, random_edits(random.Random(seed), [b"x"])) for seed in range(50)] for _ in "ab"
    )
    assert first == second and len(set(first)) > 40
