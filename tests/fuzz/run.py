"""Fuzz one target, or all in turn, for as long as you like.

    python tests/fuzz/run.py extract --seconds 600
    python tests/fuzz/run.py all --seconds 60 --engine own

The engine is atheris where it is installed (`pip install atheris`: coverage of templatediff guides it), else damage at
random. A finding is an exception that a target's check does not expect, or an input that takes longer than --slow. The first
input of each kind is written to .cache/fuzz/TARGET, with its traceback. Exit status 1 where there is one.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

FOUND = ROOT / ".cache" / "fuzz"
NOT_THERE = 3  #: exit status where the engine that was asked for is not installed


class Slow(BaseException):
    """An input takes too long."""


class Findings:
    """What a run found: `inputs` tried, `kinds` of findings by the place they come from. `slow` seconds an input, 0 for any."""

    def __init__(self, folder: Path, slow: int = 30) -> None:
        self.folder, self.slow = folder, slow
        self.inputs = 0
        self.kinds: dict[str, int] = {}
        self.slowest = 0.0

    def try_out(self, check: Callable[[bytes], object], data: bytes) -> None:
        self.inputs += 1
        if self.slow:
            signal.signal(signal.SIGALRM, _too_slow)
            signal.alarm(self.slow)
        start = time.process_time()
        try:
            check(data)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # panics of engines are no Exception
            self._stop_clock()
            self._keep(error, data)
        finally:
            self._stop_clock()
            self.slowest = max(self.slowest, time.process_time() - start)

    def _stop_clock(self) -> None:
        if self.slow:
            signal.alarm(0)

    def _keep(self, error: BaseException, data: bytes) -> None:
        last = traceback.extract_tb(error.__traceback__)[-1]
        kind = (
            "Slow" if isinstance(error, Slow) else f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
        )
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if self.kinds[kind] == 1:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = self.folder / f"{hashlib.sha256(data).hexdigest()[:16]}.bin"
            file.write_bytes(data)
            told = "".join(traceback.format_exception(error))
            file.with_suffix(".txt").write_text(told, encoding="utf-8", errors="backslashreplace")
            print(f"{kind}: {file}", flush=True)

    def tell(self, name: str, seconds: float) -> None:
        found = f"{len(self.kinds)} findings" + (f" ({sum(self.kinds.values())} inputs)" if self.kinds else "")
        print(
            f"{name}: {self.inputs} inputs, {seconds:.0f} s, slowest {self.slowest:.1f} s of CPU, {found}", flush=True
        )


def _too_slow(number: int, frame: FrameType | None) -> None:
    raise Slow


def by_own(name: str, given: argparse.Namespace) -> int:
    """Damage to the seeds at random, and to what came of it."""
    from tests.fuzz.edits import edited, random_edits
    from tests.fuzz.targets import TARGETS

    target = TARGETS[name]
    seeds, chance = list(target.seeds()), random.Random(given.seed)
    findings = Findings(FOUND / name, given.slow)
    start = time.monotonic()
    while time.monotonic() - start < given.seconds and findings.inputs < given.inputs:
        data = edited(chance.choice(seeds), random_edits(chance, target.tokens))
        findings.try_out(target.check, data[: given.largest])
    findings.tell(name, time.monotonic() - start)
    return int(bool(findings.kinds))


def by_atheris(name: str, given: argparse.Namespace) -> int:
    """What libFuzzer makes of the seeds, guided by the branches of templatediff; goes on after a finding."""
    import atheris

    with atheris.instrument_imports(include=["templatediff"]):
        from tests.fuzz.targets import TARGETS

        target = TARGETS[name]
    folder = FOUND / name
    corpus, words = folder / "corpus", folder / "words"
    corpus.mkdir(parents=True, exist_ok=True)
    for data in target.seeds():
        (corpus / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
    words.write_text(
        "".join('"' + "".join(f"\\x{byte:02x}" for byte in word) + '"\n' for word in target.tokens if len(word) < 64)
    )
    for data in target.seeds():
        target.check(data)  # what is made once is made before the clock runs
    findings = Findings(folder, 0)  # libFuzzer has a clock of its own, which ends the run
    start = time.monotonic()

    def one(data: bytes) -> None:
        findings.try_out(target.check, data)
        if time.monotonic() - start >= given.seconds or findings.inputs >= given.inputs:
            findings.tell(name, time.monotonic() - start)
            os._exit(int(bool(findings.kinds)))  # libFuzzer ends the process itself, and tells nothing then

    options = [
        f"-dict={words}",
        f"-max_len={given.largest}",
        f"-seed={given.seed + 1}",
        "-rss_limit_mb=2048",
        f"-timeout={given.slow}",
        f"-artifact_prefix={folder}/",
        "-verbosity=0",
    ]
    atheris.Setup([sys.argv[0], *options, str(corpus)], one)
    atheris.Fuzz()
    return int(bool(findings.kinds))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", help="a target of tests/fuzz/targets.py, or all")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target (default: 60)")
    parser.add_argument("--inputs", type=int, default=1 << 62, help="at most as many for each target")
    parser.add_argument("--engine", choices=("auto", "atheris", "own"), default="auto")
    parser.add_argument("--largest", type=int, default=1 << 16, help="bytes of an input (default: 65,536)")
    parser.add_argument("--slow", type=int, default=30, help="seconds that an input may take (default: 30)")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.engine != "own":
        try:
            import atheris  # noqa: F401
        except ImportError:
            if given.engine == "atheris":
                print("atheris is not installed: pip install atheris, or --engine own")
                return NOT_THERE
            print("atheris is not installed: damage at random instead")
            given.engine = "own"
    if given.target == "all":
        from tests.fuzz.targets import TARGETS

        options = [part for part in sys.argv[1:] if part != "all"]
        return max(subprocess.run([sys.executable, __file__, name, *options]).returncode for name in TARGETS)
    return (by_own if given.engine == "own" else by_atheris)(given.target, given)


if __name__ == "__main__":
    sys.exit(main())
