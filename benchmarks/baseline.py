"""Floors under the scores, and what they were measured on.

`baseline.json` holds, per set, the least mean F1 that a quick subset of the pages may have with all siblings
and with none, and the hash of the corpus. Floors rise with the scores; lowering one takes a reason, which
stays in the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

PATH = Path(__file__).with_name("baseline.json")
#: How far below the measured mean a new floor is put. Scores are reproducible on one machine; other builds of
#: the numeric libraries may move single leaves.
MARGIN = 0.002

Floors = dict[str, dict[str, float]]


class BaselineError(Exception):
    """The baseline cannot be used or must not be changed so; the text says why."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """corpus: its hash. floors: extractor -> set -> least mean F1. lowered: every lowering, oldest first."""

    corpus: str
    floors: Floors
    lowered: tuple[dict[str, object], ...] = field(default=())


def read(path: Path = PATH) -> Baseline:
    """Raises BaselineError when there is none or it is damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return Baseline(found["corpus"], found["floors"], tuple(found["lowered"]))
    except FileNotFoundError:
        raise BaselineError(f"no {path.name}: make it with --update-baseline") from None
    except (ValueError, KeyError, TypeError) as problem:
        raise BaselineError(f"{path.name} is damaged ({problem!r}): make it anew with --update-baseline") from None


def check(baseline: Baseline, corpus: str, measured: Mapping[str, Mapping[str, float]]) -> list[str]:
    """What is wrong, a line each; empty when every floor holds."""
    if corpus != baseline.corpus:
        was = baseline.corpus
        return [f"the pages are another corpus ({corpus}, floors are for {was}): use --update-baseline"]
    faults = []
    for extractor, floors in sorted(baseline.floors.items()):
        for name, floor in sorted(floors.items()):
            value = measured.get(extractor, {}).get(name)
            if value is None:
                faults.append(f"{extractor}, {name}: not measured, its floor is {floor:.3f}")
            elif value < floor:
                faults.append(f"{extractor}, {name}: F1 {value:.4f} is below its floor {floor:.3f}")
    return faults


def update(
    old: Baseline | None, corpus: str, measured: Mapping[str, Mapping[str, float]], reason: str | None
) -> Baseline:
    """The baseline with floors just under what was measured. Raises BaselineError when one would fall and no
    reason is given; with another corpus all floors are new, which takes a reason too."""
    floors = {
        extractor: {name: round(max(value - MARGIN, 0.0), 3) for name, value in sorted(values.items())}
        for extractor, values in sorted(measured.items())
    }
    if old is None:
        return Baseline(corpus, floors)
    fallen = {
        f"{extractor}, {name}": [floor, floors.get(extractor, {}).get(name)]
        for extractor, values in old.floors.items()
        for name, floor in values.items()
        if floors.get(extractor, {}).get(name, -1.0) < floor
    }
    if not fallen and corpus == old.corpus:
        return Baseline(corpus, floors, old.lowered)
    if not reason:
        what = "; ".join(f"{name}: {was} -> {now}" for name, (was, now) in sorted(fallen.items()))
        raise BaselineError(f"give --reason TEXT to lower floors or change the corpus ({what or corpus})")
    entry: dict[str, object] = {"reason": reason, "floors": fallen}
    if corpus != old.corpus:
        entry["corpus"] = [old.corpus, corpus]
    return Baseline(corpus, floors, (*old.lowered, entry))


def write(baseline: Baseline, path: Path = PATH) -> None:
    """Sorted, indented, replaced in one step."""
    content = {"corpus": baseline.corpus, "floors": baseline.floors, "lowered": list(baseline.lowered)}
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_text(json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(unfinished, path)
