"""The memory of a command and of all processes that it starts, looked at while they run.

The kernel's own account of ended children (RUSAGE_CHILDREN) does not have workers: they are children of a server that
forks them. Linux; elsewhere nothing is found.
"""

from __future__ import annotations

import re
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMMAND, SERVER, WORKER = "the command", "server or tracker", "worker"
_EVERY = 0.3  # seconds between two looks
_SIZE = re.compile(r"^(Rss|Pss):\s+(\d+) kB", re.M)
_MOST = re.compile(r"^VmHWM:\s+(\d+) kB", re.M)


@dataclass(frozen=True, slots=True)
class Peaks:
    """Peak memory in MB: of each process (role, RSS, PSS), and of all together at the worst moment."""

    processes: list[tuple[str, float, float]]
    rss: float
    pss: float

    def most(self, *roles: str) -> float:
        """The RSS of the largest process of these roles, 0 where there is none."""
        return max((rss for role, rss, _ in self.processes if role in roles), default=0.0)


def watched(run: subprocess.Popen[str]) -> Peaks:
    """Looks at a command until it ends. RSS counts what processes share in each of them, PSS once."""
    peaks: dict[tuple[str, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
    whole = [0.0, 0.0]
    while run.poll() is None:
        now = [0.0, 0.0]
        for role, number, rss, pss, most in _looked_at(run.pid):
            peak = peaks[role, number]
            peak[:] = max(peak[0], most), max(peak[1], pss)
            now = [now[0] + rss, now[1] + pss]
        whole = [max(pair) for pair in zip(whole, now, strict=True)]
        time.sleep(_EVERY)
    return Peaks([(role, *peak) for (role, _), peak in sorted(peaks.items())], *whole)


def _looked_at(root: int) -> Iterator[tuple[str, int, float, float, float]]:
    """(role, process id, RSS, PSS, the most that RSS has been) in MB of each process."""
    below = [(root, COMMAND)]
    while below:
        number, role = below.pop()
        place = Path(f"/proc/{number}")
        try:
            sizes = dict(_SIZE.findall((place / "smaps_rollup").read_text()))
            most = _MOST.search((place / "status").read_text())
            children = (place / "task" / str(number) / "children").read_text().split()
        except OSError:
            continue  # it has ended meanwhile
        if sizes and most:
            yield role, number, int(sizes["Rss"]) / 1024, int(sizes["Pss"]) / 1024, int(most[1]) / 1024
        below += [(int(child), SERVER if role == COMMAND else WORKER) for child in children]
