"""Peers that run on node: their packages are installed by npm into the user's cache folder, never into the repository."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from benchmarks import data

_FILES = ("package.json", "readability.mjs")


def folder() -> Path:
    """Where the scripts and their packages are."""
    return data.cache_folder() / "node"


def program(name: str) -> str:
    """The full name of node or npm. Raises ImportError where it is not installed."""
    found = shutil.which(name)
    if found is None:
        raise ImportError(f"no {name} on PATH")
    return found


def check() -> None:
    """Put the scripts beside the packages. Raises ImportError where node or the packages are missing."""
    program("node")
    if not (folder() / "node_modules" / "@mozilla" / "readability" / "package.json").is_file():
        raise ImportError("its packages are not installed: python -m benchmarks.peers._node")
    _copy()


def version(package: str) -> str:
    """The installed version of a package."""
    return str(json.loads((folder() / "node_modules" / package / "package.json").read_bytes())["version"])


def install() -> None:
    """Have npm install the packages. Raises ImportError without npm, CalledProcessError where it fails."""
    npm = program("npm")
    folder().mkdir(exist_ok=True)
    _copy()
    subprocess.run([npm, "install", "--no-audit", "--no-fund"], cwd=folder(), check=True)


def _copy() -> None:
    for name in _FILES:
        shutil.copyfile(Path(__file__).parent / name, folder() / name)
