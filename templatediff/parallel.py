"""A function over chunks of work, in this process or in worker processes that are watched, with the results in order.

A worker says over its pipe which item it is on. One that stays on an item for too long is killed, one that takes too much
memory for it gives up, one may crash: each time that item is done once more, alone in a fresh process, and what it was
handed besides is done by others. An item that fails again gets the result that its `Maker` has for such items.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from logging.handlers import QueueHandler
from multiprocessing import forkserver, get_context, parent_process, util
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess
from typing import Any, Protocol, Self, TypeVar, cast, overload

from templatediff.errors import PageError, TemplateDiffError
from templatediff.limits import DEFAULT, MIB, Limits
from templatediff.spool import process_folder

Item = TypeVar("Item")
Result = TypeVar("Result")
ItemIn = TypeVar("ItemIn", contravariant=True)
ResultOut = TypeVar("ResultOut", covariant=True)

_AHEAD = 3  # chunks a worker may be ahead of the reader, so that finished results do not pile up
_FEW = 2  # chunks up to which a second process costs more than it saves
_PATIENCE = 3  # deaths outside of any item after which a run is given up
_DYING = 5.0  # seconds that the end of a process may take to be known after its pipe has ended
_LONGEST_HOUSE = 70  # bytes; sockets have 104 on some systems, and Python adds "/pymp-xxxxxxxx/listener-xxxxxxxx"
_SHORT_PLACES = "/tmp", "/var/tmp"  # for temporary files, where the one in use makes a longer path
_LATE = 1.0  # seconds; a wait that ends this much too late was not ours: the machine slept, or we were stopped

# what workers send: (_ON, number of the item), (_OFF, None) between items, (_LOG, record), then (_DONE, result) or
# (_ERROR, exception), or (_MEMORY, None) as their last word
_ON, _OFF, _LOG, _DONE, _ERROR, _MEMORY = range(6)
# and what they are sent: (_JOB, (level of the log, class, arguments)), (_CHUNK, items)
_JOB, _CHUNK = range(2)
_LOGGER = "templatediff"


class Worker(Protocol[ItemIn, ResultOut]):
    """What is done to a chunk; a class of it is made once in each process.

    It goes through the chunk once, in order. Where it has a method `ready(item)`, that is called before each item, outside
    of the limits on time and memory: for what serves many items.
    """

    def __call__(self, chunk: Sequence[ItemIn], /) -> ResultOut: ...


class Maker(Protocol[ItemIn, Result]):
    """A class of workers that also says what becomes of an item that fails twice, and joins partial results."""

    def __call__(self, *arguments: Any) -> Worker[ItemIn, Result]: ...

    def crashed(self, item: ItemIn, why: str, /, *arguments: Any) -> Result: ...

    def joined(self, results: list[Result], /) -> Result: ...


class Crew:
    """Those who do the work: with `jobs` > 1, or if `guarded`, worker processes; else the caller's own.

    Processes start when they are needed and serve until the crew is closed; a context manager. They never outlive the
    process that made them, however that ends. `limits` hold for each item. The server that they are forked from loads the
    modules in `preload` while the caller goes on; that is for whoever owns the process, since there is one such server in it.
    """

    def __init__(
        self, jobs: int = 1, limits: Limits = DEFAULT, *, guarded: bool = False, preload: Sequence[str] = ()
    ) -> None:
        self.jobs = max(1, jobs)
        self.limits = limits
        self.separate = guarded or jobs > 1
        self._members: list[_Member] = []
        self._stage = 0
        if preload:
            forkserver.set_forkserver_preload(list(preload))
            _house_server()
            with _no_interrupts():
                forkserver.ensure_running()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes; they have nothing to lose."""
        while self._members:
            self._members.pop().end()

    def call(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """What one call gives, worked out as an item is. Raises what it raises, and PageError where it fails twice."""
        (found,) = self.in_order(_Calls, (), [[(function, arguments)]])
        if isinstance(found, _Failed):
            raise PageError("resource", found.why)
        return cast("Result", found)

    def in_order(
        self, make: Maker[Item, Result], arguments: tuple[Any, ...], chunks: Sequence[Sequence[Item]]
    ) -> Iterator[Result]:
        """Yield `make(*arguments)(chunk)` for each chunk, in the order of `chunks`.

        Each process has a worker of its own made by `make`. An item that fails twice gets `make.crashed(item, why, *arguments)`,
        and the partial results of its chunk are joined by `make.joined`. What a worker raises is raised here, in its turn.
        """
        if not self.separate:
            yield from _here(make, arguments, chunks)
            return
        self._stage += 1
        run = _Run(self, self._members, (self._stage, make, arguments), len(chunks))
        try:
            for number in range(len(chunks)):
                yield run.result(number, chunks)
        finally:
            run.abandon()


def _house_server() -> None:
    """The server's socket lies among the temporary files of this process, which the next one takes away if this one is killed:
    in the place for such files, or in a shorter one if sockets can have no path as long as that."""
    before = tempfile.tempdir
    for place in (tempfile.gettempdir(), *_SHORT_PLACES):
        with contextlib.suppress(OSError):
            folder = str(process_folder(place))
            if len(os.fsencode(folder)) <= _LONGEST_HOUSE:
                tempfile.tempdir = folder
                util.get_temp_dir()  # made once in a process
                break
    tempfile.tempdir = before


@dataclass(frozen=True, slots=True)
class _Failed:
    """What a call gives that failed twice."""

    why: str


class _Calls:
    """Calls functions, one a chunk."""

    def __call__(self, chunk: Sequence[tuple[Callable[..., Any], tuple[Any, ...]]]) -> Any:
        for function, arguments in chunk:
            found = function(*arguments)
        return found

    @staticmethod
    def crashed(item: object, why: str) -> Any:
        return _Failed(why)

    @staticmethod
    def joined(parts: list[Any]) -> Any:
        return parts[0]


def _here(make: Maker[Item, Result], arguments: tuple[Any, ...], chunks: Sequence[Sequence[Item]]) -> Iterator[Result]:
    """The same in this process, where nothing can be killed and memory that runs out is all that is caught."""
    worker = make(*arguments)
    for chunk in chunks:
        try:
            yield worker(chunk)
            continue
        except MemoryError:
            pass  # which item it was is not known
        parts = []
        for item in chunk:
            try:
                parts.append(worker([item]))
            except MemoryError:
                parts.append(make.crashed(item, "memory ran out, twice", *arguments))
        yield make.joined(parts)


@dataclass(slots=True)
class _Task:
    """Part of a chunk; `again` for a single item that has failed once."""

    chunk: int
    start: int
    items: Sequence[Any]
    again: bool = False


class _Run:
    """The chunks of one call that are under way."""

    def __init__(self, crew: Crew, members: list[_Member], job: tuple[int, Any, Any], chunks: int) -> None:
        self.crew = crew
        self.members = members
        self.job = job
        self.most = min(crew.jobs, chunks) if chunks > _FEW else 1
        self.given = 0  # chunks handed out so far
        self.waiting: deque[_Task] = deque()
        self.found: dict[int, list[tuple[int, int, Any]]] = {}  # chunk -> (start, number of items, result)
        self.deaths = 0  # in a row, outside of any item

    def result(self, number: int, chunks: Sequence[Sequence[Any]]) -> Any:
        """The result of a chunk, when it is there."""
        while sum(size for _, size, _ in self.found.get(number, ())) < len(chunks[number]):
            self.hand_out(number, chunks)
            self.listen()
        parts = [part for _, _, part in sorted(self.found.pop(number), key=lambda part: part[0])]
        for part in parts:
            if isinstance(part, _Raised):
                raise part.error
        return parts[0] if len(parts) == 1 else self.job[1].joined(parts)

    def abandon(self) -> None:
        """Ends those who are still at work for nobody."""
        for member in [member for member in self.members if member.task is not None]:
            self.members.remove(member)
            member.end()

    def hand_out(self, wanted: int, chunks: Sequence[Sequence[Any]]) -> None:
        while True:
            if not self.waiting and self.given < min(len(chunks), wanted + _AHEAD * self.most):
                self.waiting.append(_Task(self.given, 0, chunks[self.given]))
                self.given += 1
            if not self.waiting:
                return
            member = self.free(fresh=self.waiting[0].again)
            if member is None:
                return
            member.give(self.waiting.popleft(), self.job)

    def free(self, *, fresh: bool) -> _Member | None:
        """A process without work, started if need be; None where as many as may be are busy."""
        idle = [member for member in self.members if member.task is None]
        for member in idle:
            if not fresh or member.fresh:
                return member
        if len(self.members) - len(idle) >= self.most:
            return None
        if idle and len(self.members) >= self.most:
            self.members.remove(idle[0])
            idle[0].end()
        self.members.append(_Member(self.crew.limits))
        return self.members[-1]

    def listen(self) -> None:
        """Waits until a worker says something, ends, or has been on its item for too long."""
        busy = [member for member in self.members if member.task is not None]
        deadline = min(member.deadline for member in busy)
        before = time.monotonic()
        patience = None if deadline == float("inf") else max(0.0, deadline - before)
        said = wait([handle for member in busy for handle in member.handles], patience)
        if patience is not None and not said and time.monotonic() - before - patience > _LATE:
            for member in busy:
                member.deadline += time.monotonic() - before
            return
        for member in busy:
            if any(handle in said for handle in member.handles):
                self.hear(member)
        now = time.monotonic()
        for member in busy:
            if member.task is not None and now >= member.deadline and not member.connection.poll():
                self.lost(member, f"took more than {self.crew.limits.max_seconds:g} seconds")

    def hear(self, member: _Member) -> None:
        """Takes what a worker has sent, or its end."""
        assert member.task is not None
        try:
            while member.task is not None and member.connection.poll():
                kind, value = member.connection.recv()
                if kind == _ON:
                    member.item, member.deadline = value, time.monotonic() + self.crew.limits.max_seconds
                elif kind == _OFF:
                    member.item, member.deadline = None, float("inf")
                elif kind == _LOG:
                    logging.getLogger(_LOGGER).handle(value)
                elif kind == _MEMORY:
                    self.lost(member, f"took more than {self.crew.limits.max_memory / MIB:,.0f} MiB of memory")
                else:
                    self.done(member, value if kind == _DONE else _Raised(value))
                    return
        except (EOFError, OSError):
            self.lost(member, "")
            return
        if member.task is not None and not member.process.is_alive() and not member.connection.poll():
            self.lost(member, "")

    def done(self, member: _Member, result: Any) -> None:
        task = member.task
        assert task is not None
        member.task, member.item, member.deadline = None, None, float("inf")
        self.deaths = 0
        self.found.setdefault(task.chunk, []).append((task.start, len(task.items), result))

    def lost(self, member: _Member, why: str) -> None:
        """A worker failed at its item: it goes, the item is tried again or given up, the rest is for others."""
        task, item = member.task, member.item
        assert task is not None
        self.members.remove(member)
        member.task = None
        ended = member.end(patience=0.0 if why else _DYING)
        if item is None:
            self.deaths += 1
            if self.deaths >= _PATIENCE:
                raise TemplateDiffError(
                    f"a worker process {ended or 'ended'} before it began with a page, {self.deaths} times: is there memory "
                    "for it? A script that asks for jobs > 1 must do so under if __name__ == '__main__'"
                )
            self.waiting.appendleft(task)
            return
        self.deaths = 0
        why = why or (f"took more than {self.crew.limits.max_seconds:g} seconds" if ended == "SIGXCPU" else "")
        why = why or f"the process that read it died ({ended})"
        if task.again:
            _, make, arguments = self.job
            crashed = make.crashed(task.items[item], f"{why}, twice", *arguments)
            self.found.setdefault(task.chunk, []).append((task.start, 1, crashed))
            return
        parts = [
            _Task(task.chunk, task.start, task.items[:item]),
            _Task(task.chunk, task.start + item, task.items[item : item + 1], again=True),
            _Task(task.chunk, task.start + item + 1, task.items[item + 1 :]),
        ]
        self.waiting.extendleft(reversed([part for part in parts if part.items]))


@dataclass(frozen=True, slots=True)
class _Raised:
    """What a worker raised, in the place of a result."""

    error: Exception


@dataclass(slots=True)
class _Member:
    """A worker process, what it is at, and until when it may be."""

    limits: Limits
    connection: Connection = field(init=False)
    process: ForkServerProcess = field(init=False)
    handles: tuple[Any, ...] = field(init=False)
    stage: int = 0  # what it has a worker for
    fresh: bool = True
    task: _Task | None = None
    item: int | None = None
    deadline: float = float("inf")

    def __post_init__(self) -> None:
        # Forked from a server that has no threads and little memory, whatever this process has by now.
        context = get_context("forkserver")
        self.connection, theirs = context.Pipe()
        with _no_interrupts(), theirs:
            self.process = context.Process(target=_serve, args=(theirs, self.limits), daemon=True)
            self.process.start()
        self.handles = (self.connection, self.process.sentinel)

    def give(self, task: _Task, job: tuple[int, Any, Any]) -> None:
        """Only to one without work: it listens, so that sending cannot block."""
        self.task, self.fresh = task, False
        with contextlib.suppress(OSError):  # one that has died is noticed by its silence
            if self.stage != job[0]:
                self.stage = job[0]
                level = logging.getLogger(_LOGGER).getEffectiveLevel()
                self.connection.send((_JOB, (level, job[1], job[2])))
            self.connection.send((_CHUNK, task.items))

    def end(self, patience: float = 0.0) -> str:
        """Kills the process, unless it ends by itself; then what it died of: the name of a signal, or its exit status."""
        self.process.join(patience)
        self.connection.close()
        code = self.process.exitcode
        if code is None:
            self.process.kill()
            self.process.join()
        self.process.close()
        return "" if code is None else _exit_name(code)


def _exit_name(code: int) -> str:
    if code < 0 and -code in set(signal.Signals):
        return signal.Signals(-code).name
    return f"exit status {code}"


@contextlib.contextmanager
def _no_interrupts() -> Iterator[None]:
    """Processes started in the block never see Ctrl-C, which a terminal sends to them as well: this one ends them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# -- in the worker process


def _serve(connection: Connection, limits: Limits) -> None:
    """The life of a worker process: a job makes a worker, a chunk is worked on, until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    guard = _Guard(limits)
    log = logging.getLogger(_LOGGER)
    log.handlers, log.propagate = [_Forward(cast(Any, connection))], False
    job: tuple[Any, Any] | None = None
    worker: Any = None
    while True:
        try:
            kind, value = connection.recv()
        except EOFError:
            return
        if kind == _JOB:
            log.setLevel(value[0])
            job, worker = value[1:], None
            continue
        assert job is not None, "a job comes before its chunks"
        try:
            if worker is None:
                worker = job[0](*job[1])
            told = (_DONE, worker(_Watched(value, connection, guard, getattr(worker, "ready", None))))
            guard.off()
        except MemoryError:
            guard.off()
            connection.send((_MEMORY, None))
            return
        except Exception as error:
            guard.off()
            told = (_ERROR, error)
        _send(connection, told)
        del told


class _Forward(QueueHandler):
    """Hands what is logged in a worker to the process that shows it."""

    def enqueue(self, record: logging.LogRecord) -> None:
        cast(Connection, self.queue).send((_LOG, record))


def _send(connection: Connection, told: tuple[int, Any]) -> None:
    try:
        connection.send(told)
    except OSError:
        raise SystemExit(1) from None  # nobody listens any more
    except Exception as error:  # what cannot be pickled is told in words
        connection.send((_ERROR, TemplateDiffError(f"{type(error).__name__}: {error} (of {type(told[1]).__name__})")))


def _end_with_parent() -> None:
    """Ends a worker that is busy when its parent is gone; an idle one finds its pipe closed."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class _Watched(Sequence[Any]):
    """A chunk that tells which of its items is asked for, and sets the limits for each."""

    def __init__(self, items: Sequence[Any], connection: Connection, guard: _Guard, ready: Any) -> None:
        self._items = items
        self._connection = connection
        self._guard = guard
        self._ready = ready

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Any]: ...
    def __getitem__(self, place: int | slice) -> Any:
        return self._items[place]

    def __iter__(self) -> Iterator[Any]:
        for number, item in enumerate(self._items):
            if self._ready is not None:
                if number:
                    self._connection.send((_OFF, None))
                self._ready(item)
            self._connection.send((_ON, number))
            self._guard.on()
            yield item
            self._guard.off()
        self._connection.send((_OFF, None))


class _Guard:
    """The limits on memory and processor time that the system keeps for this process, set anew for each item.

    Memory counts from what the process has when the item begins, so that templates at hand are not the item's. Processor
    time ends what the parent no longer can: a worker that hangs where no thread of its own gets a turn, its parent gone.
    """

    def __init__(self, limits: Limits) -> None:
        import resource

        self._resource = resource
        self._memory = limits.max_memory
        self._seconds = limits.max_seconds
        self._before = {kind: resource.getrlimit(kind) for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU)}
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        self._page_size = resource.getpagesize()
        try:
            self._size: int | None = os.open("/proc/self/statm", os.O_RDONLY)
        except OSError:
            self._size = None  # no Linux: memory is not limited

    def on(self) -> None:
        if self._size is not None:
            pages = int(os.pread(self._size, 64, 0).split(maxsplit=1)[0])
            self._set(self._resource.RLIMIT_AS, pages * self._page_size + self._memory)
        self._set(self._resource.RLIMIT_CPU, int(time.process_time() + 2 * self._seconds) + 2)

    def off(self) -> None:
        for kind, before in self._before.items():
            self._resource.setrlimit(kind, before)

    def _set(self, kind: int, most: int) -> None:
        soft, hard = self._before[kind]
        unlimited = self._resource.RLIM_INFINITY
        most = min([most, *(limit for limit in (soft, hard) if limit != unlimited)])
        self._resource.setrlimit(kind, (most, hard))


@contextlib.contextmanager
def crewed(jobs: int | Crew, limits: Limits | None = None) -> Iterator[Crew]:
    """A crew for `jobs`, closed after the block; one that is given already is the caller's to close."""
    if isinstance(jobs, Crew):
        yield jobs
        return
    with Crew(jobs, limits or DEFAULT) as crew:
        yield crew
