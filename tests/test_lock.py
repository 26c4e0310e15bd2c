from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from templatediff import lock
from templatediff.errors import OutputError
from templatediff.lock import LOCK_FILE, fresh, locked

HOLD = """
import sys, time
from pathlib import Path
from templatediff.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path) -> subprocess.Popen[str]:
    """A process that holds the lock of a folder."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    return process


def test_who_waits_in_vain_is_told(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    try:
        with pytest.raises(OutputError, match="locked by another run"), locked(tmp_path, patience=0.1):
            pytest.fail("it is held by another process")
    finally:
        holder.kill()
        holder.wait()


def test_a_killed_process_leaves_no_lock_behind(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    holder.kill()
    holder.wait()
    with locked(tmp_path, patience=0.1):
        assert list(tmp_path.iterdir()) == []


def test_who_waits_gets_the_lock_when_it_is_free(tmp_path: Path) -> None:
    order: list[str] = []

    def second() -> None:
        with locked(tmp_path):
            order.append("second")

    with locked(tmp_path):
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.2)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_a_file_stands_in_where_folders_cannot_be_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = lock._wait

    def wait(handle: int, folder: Path, patience: float) -> None:
        if not (folder / LOCK_FILE).exists():
            raise OSError(9, "Bad file descriptor")
        real(handle, folder, patience)

    monkeypatch.setattr(lock, "_wait", wait)
    with locked(tmp_path):
        pass
    assert [file.name for file in tmp_path.iterdir()] == [LOCK_FILE]


def test_an_unfinished_file_has_one_writer(tmp_path: Path) -> None:
    part, output = tmp_path / "x.part", tmp_path / "x"
    part.write_text("of a run that was killed")
    other = tmp_path / "other"
    other.hardlink_to(part)
    handle = fresh(part, output)
    assert part.read_bytes() == b"" and other.read_text() == "of a run that was killed"
    with pytest.raises(OutputError, match=f"another run is writing {output}:"):
        fresh(part, output)
    os.close(handle)
    os.close(fresh(part, output))


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_in_the_way(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "x.part")
    with pytest.raises((OutputError, IsADirectoryError)):
        fresh(tmp_path / "x.part", tmp_path / "x")
    assert (tmp_path / "x.part").exists()
