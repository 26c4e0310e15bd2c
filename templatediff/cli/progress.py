"""Progress, failures and totals on stderr, as a run goes on."""

from __future__ import annotations

import logging
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Protocol

import click

from templatediff.cli.speech import NAME, is_terminal, plural, printable, say

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

QUICK = 2.0  # seconds within which a run needs no progress
TERMINAL_INTERVAL = 0.1  # seconds between two drawings of the bar
PLAIN_INTERVAL = 60.0  # seconds between two lines where stderr is no terminal

STAGES = {"learn": "learning", "extract": "extracting", "survey": "looking"}


class Counts(Protocol):
    """What the closing line says; `templatediff.run.Totals` has these."""

    pages: int
    failed: int
    sites: int
    layouts: int
    static: int
    dynamic: int
    content: int
    skipped: Counter[str]
    warnings: list[str]


class Progress:
    """The one voice on stderr while a verb runs; a context manager, so that a bar never stays behind.

    The bar is drawn from the calls alone: a drawing thread of its own would be alive when the pipeline
    starts its processes, and forking beside a thread that may hold a lock can hang.
    """

    def __init__(self, *, quiet: bool = False, verbose: int = 0) -> None:
        self.quiet = quiet
        self.verbose = verbose
        #: set where records go to the same terminal, which a bar would cut up
        self.records_on_terminal = False
        self._started = time.monotonic()
        self._stage = ""
        self._stage_started = self._started
        self._called = self._drawn = self._started
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        self._remove_bar()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """`done` of `total` pages are through `stage` ("learn", "extract", "survey"); 0 of 0 while they are counted."""
        now = time.monotonic()
        if stage != self._stage:
            # A first call that is not of page 0 comes when work on the stage is under way.
            self._stage, self._stage_started = stage, self._called if done else now
            self._remove_bar()
        self._called = now
        if self.quiet or now - self._started < QUICK:
            return
        terminal = is_terminal(sys.stderr)
        if now - self._drawn < (TERMINAL_INTERVAL if terminal else PLAIN_INTERVAL):
            return
        if terminal and not (self.records_on_terminal and stage == "extract"):
            self._drawn = now
            self._draw(done, total)
        elif not terminal:
            self._drawn = now
            say(plain_line(STAGES.get(stage, stage), done, total, now - self._stage_started))

    def failure(self, path: str, kind: str, message: str) -> None:
        """Names a page that failed and why. Said with --quiet too: the exit status does not tell which."""
        self._line(f"{path}: {kind}: {message}")

    def warn(self, message: str) -> None:
        """Something worth knowing that is no failure."""
        if not self.quiet:
            self._line(f"warning: {message}")

    def totals(self, counts: Counts, *, labelled: bool = True) -> None:
        """The closing lines: what the run noticed, then what it did (`labelled`: it gave leaves labels)."""
        self._remove_bar()
        for warning in counts.warnings:
            self.warn(warning)
        if not self.quiet:
            self._last(f"{totals_line(counts, labelled)} ({time.monotonic() - self._started:.1f} s)")

    def _last(self, message: str) -> None:
        """A long line: on a terminal it is broken between words."""
        if is_terminal(sys.stderr):
            from rich.console import Console

            Console(stderr=True).print(f"{NAME}: {printable(message)}", markup=False, highlight=False)
        else:
            say(message)

    def _line(self, message: str) -> None:
        if self._bar is None:
            say(message)
        else:
            self._bar.console.print(f"{NAME}: {printable(message)}", markup=False, highlight=False, soft_wrap=True)

    def _draw(self, done: int, total: int) -> None:
        if self._bar is None:
            self._bar = _new_bar()
            self._task = self._bar.add_task(STAGES.get(self._stage, self._stage), speed="", left="")
        if self._task is not None:
            # The bar's own clock starts when it is first drawn, late; the stage's is used.
            speed, left = _speed(done, total, time.monotonic() - self._stage_started)
            self._bar.update(self._task, completed=done, total=total or None, speed=speed, left=left)
        self._bar.start()
        self._bar.refresh()

    def _remove_bar(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = self._task = None


def _new_bar() -> Bar:
    """A bar that disappears when its stage is done: the totals say what remains to be said."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    return Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("pages  {task.fields[speed]}  {task.fields[left]}"),
        console=Console(stderr=True),
        auto_refresh=False,
        transient=True,
    )


def _speed(done: int, total: int, seconds: float) -> tuple[str, str]:
    """Pages a second and the time left, in words, over the stage so far."""
    if not done or seconds <= 0:
        return "", ""
    left = clock((total - done) * seconds / done) + " left" if total > done else ""
    return f"{done / seconds:,.1f} pages/s", left


def plain_line(stage: str, done: int, total: int, seconds: float) -> str:
    """One line of progress; `seconds` is the stage's own time so far.

    >>> plain_line("learning", 300, 1200, 60.0)
    'learning: 300 of 1,200 pages, 5.0 pages/s, 3:00 left'
    >>> plain_line("learning", 0, 0, 60.0)
    'learning: 0 pages'
    """
    pages = f"{done:,} of {plural(total, 'page')}" if total else plural(done, "page")
    return ", ".join(filter(None, (f"{stage}: {pages}", *_speed(done, total, seconds))))


def clock(seconds: float) -> str:
    """
    >>> clock(75), clock(3725)
    ('1:15', '1:02:05')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def totals_line(counts: Counts, labelled: bool) -> str:
    """What a run did, in one line; kinds of skipped files by number, then name."""
    sizes = ((counts.pages, "page"), (counts.sites, "site"), (counts.layouts, "layout"))
    said = [", ".join(plural(count, word) for count, word in sizes)]
    if labelled:
        said.append(f"leaves: {counts.static:,} static, {counts.dynamic:,} dynamic, {counts.content:,} content")
    said.append(f"{counts.failed:,} failed")
    if counts.skipped:
        by_number = sorted(counts.skipped.items(), key=lambda item: (-item[1], item[0]))
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in by_number)
        said.append(f"{plural(counts.skipped.total(), 'file')} skipped ({kinds})")
    return "; ".join(said)


class _Speaker(logging.Handler):
    """Log records as lines on whatever stderr is at the time."""

    def emit(self, record: logging.LogRecord) -> None:
        told = printable(record.getMessage())
        if record.exc_info or record.exc_text:
            told += "\n" + printable(self.format(record).partition("\n")[2], keep="\n")
        click.echo(f"{NAME}: {told}", err=True)


def log_to_stderr(verbose: int, *, quiet: bool = False) -> None:
    """Shows the log of templatediff: warnings, with -v what is done, with -vv all; nothing if quiet."""
    logger = logging.getLogger(NAME)
    for handler in [handler for handler in logger.handlers if isinstance(handler, _Speaker)]:
        logger.removeHandler(handler)  # of an earlier call in this process
    speaker = _Speaker(level=logging.CRITICAL if quiet else logging.NOTSET)
    speaker.setFormatter(logging.Formatter(f"{NAME}: %(message)s"))
    logger.addHandler(speaker)
    logger.setLevel((logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)])
