"""A function over chunks of work, in this process or in several, with the results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, TypeVar

Work = TypeVar("Work")
Result = TypeVar("Result")

_AHEAD = 3  # chunks a worker may be ahead of the reader, so that finished results do not pile up

# Set once in each worker process, by `_begin`: what it was started for.
_worker: Callable[[Any], Any] | None = None


def in_order(
    make: Callable[..., Callable[[Work], Result]], arguments: tuple[Any, ...], chunks: Sequence[Work], jobs: int
) -> Iterator[Result]:
    """Yield `make(*arguments)(chunk)` for each chunk, in the order of `chunks`.

    With `jobs` > 1 that many processes work, each with a worker of its own made by `make`; with 1 none is started.
    """
    if jobs <= 1 or len(chunks) <= 1:
        worker = make(*arguments)
        for chunk in chunks:
            yield worker(chunk)
        return
    # "spawn" because a terminal's progress display runs a thread, which forking would copy in an unknown state
    pool = ProcessPoolExecutor(
        min(jobs, len(chunks)), mp_context=get_context("spawn"), initializer=_begin, initargs=(make, arguments)
    )
    waiting: deque[Future[Result]] = deque()
    try:
        for chunk in chunks:
            waiting.append(pool.submit(_work, chunk))
            if len(waiting) >= _AHEAD * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin(make: Callable[..., Callable[[Any], Any]], arguments: tuple[Any, ...]) -> None:
    global _worker
    _worker = make(*arguments)


def _work(chunk: Any) -> Any:
    assert _worker is not None, "the pool's initializer has run"
    return _worker(chunk)
