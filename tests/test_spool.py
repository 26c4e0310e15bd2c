"""Temporary folders: what a run leaves, however it ends, and what a full disk says."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from templatediff.errors import OutputError
from templatediff.spool import Spool, process_folder

HOLD = """
import sys, time
from templatediff.spool import Spool
held = Spool()
(held.folder / "unpacked").write_bytes(b"x")
print(held.folder, flush=True)
time.sleep(60)
"""


def hold(place: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process with a temporary folder in `place`, and that folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(place)}
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_what_a_killed_process_left_goes_with_the_next_one(place: Path) -> None:
    killed, left = hold(place)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    living, kept = hold(place)
    others = place / f"{left.parent.name}x"
    others.symlink_to(kept.parent)
    try:
        assert not left.exists() and kept.is_dir()
        mine = Spool()
        assert (kept / "unpacked").read_bytes() == b"x", "that of a process that lives stays, also by a link"
        assert mine.folder.parent == process_folder() and mine.folder.parent.parent == place
    finally:
        living.kill()
        living.wait()
    mine.remove()
    assert not mine.folder.exists() and process_folder().is_dir()


def test_a_process_that_ends_leaves_nothing(place: Path) -> None:
    ended, left = hold(place)
    ended.send_signal(signal.SIGINT)
    ended.wait()
    assert left != Path() and list(place.iterdir()) == []


def test_a_folder_that_was_tidied_away_is_made_again(place: Path) -> None:
    process_folder().rmdir()
    assert Spool().folder.parent.is_dir()


def test_a_fork_leaves_the_folder_of_its_parent_alone(place: Path) -> None:
    code = "import os\nfrom templatediff.spool import Spool\nheld = Spool()\n" + (
        "if os.fork():\n    os.wait()\n    print(held.folder.is_dir())\nelse:\n    mine = Spool()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "TMPDIR": str(place)}
    )
    assert (done.stdout, done.stderr, list(place.iterdir())) == ("True\n", "", [])


def test_the_command_leaves_nothing_when_it_ends(place: Path) -> None:
    page = "<title>Otters</title><p>Otters close their ears and nostrils under water."
    for verb in (["page", "-"], ["extract", "-"]):
        done = subprocess.run(
            [sys.executable, "-m", "templatediff", *verb, "--quiet"],
            input=page, capture_output=True, text=True, env={**os.environ, "TMPDIR": str(place)},
        )  # fmt: skip
        assert (done.returncode, done.stderr, list(place.iterdir())) == (0, "", []) and "Otters close" in done.stdout


def test_a_place_that_is_too_long_for_sockets_serves(tmp_path: Path) -> None:
    place = tmp_path / ("long" * 30)
    place.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "templatediff", "extract", "-", "--quiet"],
        input="<title>Otters</title><p>Otters close their ears and nostrils under water.", capture_output=True, text=True,
        env={**os.environ, "TMPDIR": str(place)},
    )  # fmt: skip
    assert (done.returncode, done.stderr, list(place.iterdir())) == (0, "", []) and "Otters close" in done.stdout


def test_no_place_for_temporary_files_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(OutputError, match=r"cannot write temporary files into .*nowhere: .*TMPDIR"):
        Spool()


def test_a_full_disk_is_no_fault_of_the_archive(tmp_path: Path) -> None:
    """Here a limit on the size of files; the page is longer than that when it is unpacked."""
    page = tmp_path / "a.html"
    page.write_text("<title>Otters</title>" + "<p>Otters close their ears and nostrils under water." * 20_000)
    with tarfile.open(tmp_path / "x.tar.gz", "w:gz") as archive:
        archive.add(page, "a.html")
    (tmp_path / "tmp").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "templatediff", "extract", str(tmp_path / "x.tar.gz"), "--quiet"],
        capture_output=True, text=True, env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000)),
    )  # fmt: skip
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("templatediff: error: cannot write temporary files into ") and "TMPDIR" in done.stderr
    assert list((tmp_path / "tmp").iterdir()) == []
