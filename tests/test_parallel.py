from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from templatediff.errors import PageError, TemplateDiffError, TemplateError
from templatediff.limits import Limits
from templatediff.parallel import Crew, crewed

DIED = "the process that read it died"
QUICK = Limits(max_seconds=0.5, max_memory=256 << 20)


class Squares:
    """Squares numbers; some items do harm, each time or only the first time that a file is not there."""

    def __init__(self, folder: str = "") -> None:
        self.folder = folder

    def __call__(self, chunk: Sequence[Any]) -> list[Any]:
        return [self.one(item) for item in chunk]

    def one(self, item: Any) -> Any:
        if isinstance(item, int):
            return item * item
        name, once, _ = item.partition(" once")
        if once:
            file = Path(self.folder, name)
            if file.exists():
                return f"{name} again"
            file.touch()
        if name == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        elif name == "exit":
            os._exit(7)
        elif name == "sleep":
            time.sleep(60)
        elif name == "spin":
            while True:
                pass
        elif name == "regex":  # holds the interpreter's lock, so that no other thread gets a turn
            re.match(r"(a+)+$", "a" * 40 + "b")
        elif name == "memory":
            return len(bytearray(1 << 30))
        elif name == "error":
            raise TemplateError("a damaged template")
        elif name == "log":
            logging.getLogger("templatediff").warning("from a worker: %s", "\x1b[31m")
        elif name == "pid":
            return os.getpid()
        return name

    @staticmethod
    def crashed(item: Any, why: str, *arguments: Any) -> list[Any]:
        return [f"{item}: {why}"]

    @staticmethod
    def joined(parts: list[list[Any]]) -> list[Any]:
        return [one for part in parts for one in part]


def done(chunks: Sequence[Sequence[Any]], jobs: int, *arguments: Any, limits: Limits = QUICK) -> list[list[Any]]:
    with Crew(jobs, limits, guarded=True) as crew:
        return list(crew.in_order(Squares, arguments, chunks))


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_results_come_in_order_whatever_the_number_of_processes(jobs: int) -> None:
    chunks = [list(range(start, start + 5)) for start in range(0, 100, 5)]
    assert done(chunks, jobs) == [[number**2 for number in chunk] for chunk in chunks]
    assert done([], jobs) == []


def test_one_job_starts_no_process_unless_it_is_guarded() -> None:
    with crewed(1) as crew:
        assert list(crew.in_order(Squares, (), [["pid"]])) == [[os.getpid()]]
    assert done([["pid"]], 1) != [[os.getpid()]]
    with Crew(2) as crew, crewed(crew) as same:
        assert same is crew
        first, second = list(crew.in_order(Squares, (), [["pid"]])), list(crew.in_order(Squares, (), [["pid"]]))
        assert first == second != [[os.getpid()]], "processes serve until the crew is closed"


@pytest.mark.parametrize(
    ("item", "why"),
    [
        ("crash", "the process that read it died (SIGSEGV), twice"),
        ("exit", "the process that read it died (exit status 7), twice"),
        ("sleep", "took more than 0.5 seconds, twice"),
        ("spin", "took more than 0.5 seconds, twice"),
        ("regex", "took more than 0.5 seconds, twice"),
        ("memory", "took more than 256 MiB of memory, twice"),
    ],
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_item_that_fails_twice_is_given_up_and_no_other_is_lost(item: str, why: str, jobs: int) -> None:
    assert done([[1, 2], [3, item, 4], [5], [6]], jobs) == [[1, 4], [9, f"{item}: {why}", 16], [25], [36]]


@pytest.mark.parametrize("item", ["crash once", "sleep once", "memory once"])
def test_an_item_that_fails_once_is_tried_again_alone(item: str, tmp_path: Path) -> None:
    assert done([[1, item, 2]], 1, str(tmp_path)) == [[1, f"{item.removesuffix(' once')} again", 4]]


def test_several_bad_items_in_a_chunk(tmp_path: Path) -> None:
    chunk = ["crash", 1, "exit", "exit once", 2, "crash"]
    found = done([chunk, [3]], 1, str(tmp_path))
    crash = f"crash: {DIED} (SIGSEGV), twice"
    assert found == [[crash, 1, f"exit: {DIED} (exit status 7), twice", "exit again", 4, crash], [9]]


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_a_worker_raises_is_raised_in_its_turn(jobs: int) -> None:
    with Crew(jobs, QUICK, guarded=True) as crew:
        found = crew.in_order(Squares, (), [[1], ["error"], [2]])
        assert next(found) == [1]
        with pytest.raises(TemplateError, match="damaged"):
            next(found)
        assert list(crew.in_order(Squares, (), [[3]])) == [[9]], "the crew goes on with other work"


def test_a_reader_that_stops_early_leaves_nothing_at_work() -> None:
    with Crew(2, guarded=True) as crew:
        found = crew.in_order(Squares, (), [[1], ["sleep"], ["sleep"], ["sleep"]])
        assert next(found) == [1]
        found.close()  # type: ignore[attr-defined]
        assert list(crew.in_order(Squares, (), [[2]])) == [[4]]


def test_a_worker_that_cannot_be_made_is_an_error() -> None:
    with Crew(1, guarded=True) as crew, pytest.raises(TypeError):
        list(crew.in_order(Squares, (1, 2, 3), [[1]]))


class Stillborn(Squares):
    def __init__(self) -> None:
        os._exit(3)


def test_processes_that_die_before_any_item_end_the_run() -> None:
    with Crew(1, guarded=True) as crew, pytest.raises(TemplateDiffError, match=r"exit status 3 before .* 3 times"):
        list(crew.in_order(Stillborn, (), [[1]]))


class Prepared(Squares):
    """Takes its time, and memory, before an item."""

    def ready(self, item: Any) -> None:
        self.kept = bytearray(1 << 29)
        time.sleep(0.8)


def test_what_serves_many_items_is_outside_of_the_limits() -> None:
    with Crew(1, QUICK, guarded=True) as crew:
        assert list(crew.in_order(Prepared, (), [[1, 2]])) == [[1, 4]]


class Unsendable(Squares):
    def one(self, item: Any) -> Any:
        return (lambda: item) if item == 2 else item


def test_a_result_that_cannot_be_sent_is_an_error() -> None:
    with Crew(1, guarded=True) as crew, pytest.raises(TemplateDiffError, match="pickle"):
        list(crew.in_order(Unsendable, (), [[2]]))


def test_one_call_is_watched_too() -> None:
    with Crew(1, QUICK, guarded=True) as crew:
        assert crew.call(os.getpid) != os.getpid()
        with pytest.raises(PageError, match=r"took more than 0\.5 seconds, twice") as raised:
            crew.call(time.sleep, 60)
        assert raised.value.kind == "resource"


def test_memory_that_runs_out_in_the_callers_process_costs_one_item() -> None:
    class Short(Squares):
        def one(self, item: Any) -> Any:
            if item == 2:
                raise MemoryError
            return item

    with Crew(1) as crew:
        assert list(crew.in_order(Short, (), [[1, 2, 3]])) == [[1, "2: memory ran out, twice", 3]]


def test_the_log_of_workers_is_the_callers(caplog: pytest.LogCaptureFixture) -> None:
    assert done([["log"]], 1) == [["log"]]
    assert caplog.messages == ["from a worker: \x1b[31m"]


def test_a_slow_reader_is_no_slow_item() -> None:
    with Crew(1, QUICK, guarded=True) as crew:
        found = crew.in_order(Squares, (), [[1], [2], [3]])
        first = next(found)
        time.sleep(0.8)
        assert [first, *found] == [[1], [4], [9]]


CHILDREN = """
import sys, time
sys.path[:0] = {path!r}
from templatediff.parallel import Crew
from test_parallel import QUICK, Squares
if __name__ == "__main__":
    with Crew(2, QUICK, guarded=True) as crew:
        for found in crew.in_order(Squares, (), [["pid"], ["pid"], [{item!r}], [{item!r}], [1]]):
            print(*found, flush=True)
"""


@pytest.mark.parametrize("item", ["sleep", pytest.param("regex", marks=pytest.mark.slow)])
def test_workers_end_with_a_parent_that_is_killed(item: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(CHILDREN.format(path=[str(Path(__file__).parent), *sys.path], item=item))
    parent = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent.stdout:
        pids = [int(parent.stdout.readline()), int(parent.stdout.readline())]
        parent.kill()
        parent.wait()
        assert parent.stdout.read() == "", "whoever reads our output sees its end"
    for pid in pids:
        for _ in range(200):
            if not Path(f"/proc/{pid}").exists():
                break
            time.sleep(0.05)
        else:
            pytest.fail("a worker lives on")
