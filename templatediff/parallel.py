"""A function over chunks of work, in this process or in several, with the results in order."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, Generic, Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
ItemIn = TypeVar("ItemIn", contravariant=True)
ResultOut = TypeVar("ResultOut", covariant=True)

_AHEAD = 3  # chunks a worker may be ahead of the reader, so that finished results do not pile up


class Worker(Protocol[ItemIn, ResultOut]):
    """What is done to a chunk; a class of it is made once in each process."""

    def __call__(self, chunk: Sequence[ItemIn], /) -> ResultOut: ...


class Maker(Protocol[ItemIn, Result]):
    """A class of workers that also says what becomes of an item that kills its process, and joins partial results."""

    def __call__(self, *arguments: Any) -> Worker[ItemIn, Result]: ...

    def crashed(self, item: ItemIn, /) -> Result: ...

    def joined(self, results: list[Result], /) -> Result: ...


def in_order(
    make: Maker[Item, Result], arguments: tuple[Any, ...], chunks: Sequence[Sequence[Item]], jobs: int
) -> Iterator[Result]:
    """Yield `make(*arguments)(chunk)` for each chunk, in the order of `chunks`.

    With `jobs` > 1 that many processes work, each with a worker of its own made by `make`; with 1 none is started. Where
    a process dies (a crash in the parser, memory taken away by the system), its chunk is done again item by item, each
    alone in a fresh process; an item that dies again gets `make.crashed(item)`.
    """
    if jobs <= 1 or len(chunks) <= 1:
        worker = make(*arguments)
        for chunk in chunks:
            yield worker(chunk)
        return
    run = _Run(make, arguments, min(jobs, len(chunks)))
    try:
        for chunk in chunks:
            run.submit(chunk)
            if len(run.waiting) >= _AHEAD * jobs:
                yield run.next()
        while run.waiting:
            yield run.next()
    finally:
        run.pool.shutdown(wait=True, cancel_futures=True)


class _Run(Generic[Item, Result]):
    """A pool and the chunks that are under way in it, oldest first."""

    def __init__(self, make: Maker[Item, Result], arguments: tuple[Any, ...], jobs: int) -> None:
        self.make = make
        self.arguments = arguments
        self.jobs = jobs
        self.pool = self.new_pool(jobs)
        self.waiting: deque[tuple[Sequence[Item], Future[Result]]] = deque()

    def new_pool(self, jobs: int) -> ProcessPoolExecutor:
        # "spawn" because a terminal's progress display runs a thread, which forking would copy in an unknown state
        return ProcessPoolExecutor(
            jobs, mp_context=get_context("spawn"), initializer=_begin, initargs=(self.make, self.arguments)
        )

    def submit(self, chunk: Sequence[Item]) -> None:
        with _no_interrupts():  # the first one starts the processes
            self.waiting.append((chunk, self.pool.submit(_work, chunk)))

    def next(self) -> Result:
        chunk, future = self.waiting.popleft()
        try:
            return future.result()
        except BrokenProcessPool:
            again = [chunk for chunk, _ in self.waiting]
            self.waiting.clear()
            self.pool.shutdown(wait=True)
            found = self.one_by_one(chunk)
            self.pool = self.new_pool(self.jobs)
            for each in again:
                self.submit(each)
            return found

    def one_by_one(self, chunk: Sequence[Item]) -> Result:
        found: list[Result] = []
        pool = self.new_pool(1)
        for item in chunk:
            try:
                with _no_interrupts():
                    future = pool.submit(_work, [item])
                found.append(future.result())
            except BrokenProcessPool:
                found.append(self.make.crashed(item))
                pool.shutdown(wait=True)
                pool = self.new_pool(1)
        pool.shutdown(wait=True)
        return self.make.joined(found)


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Processes started in the block never see Ctrl-C, which a terminal sends to them as well: this one ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# Set once in each worker process, by `_begin`: what it was started for.
_worker: Worker[Any, Any] | None = None


def _begin(make: Maker[Any, Any], arguments: tuple[Any, ...]) -> None:
    global _worker
    _worker = make(*arguments)


def _work(chunk: Sequence[Any]) -> Any:
    assert _worker is not None, "the pool's initializer has run"
    return _worker(chunk)
