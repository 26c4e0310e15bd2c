"""Running peers over pages in a process of their own, with a time limit a page and a cache on disk.

A page on which the peer raises, dies or takes too long counts as empty text; the result says so, and tables
count these pages. Results are JSON lines in the cache folder, one file for each peer, version, settings and
corpus, so that a peer runs over a page once.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks import data
from benchmarks.peers import PageInput, Peer, load

#: Seconds a page (of wall clock): the slowest peer needs 5 s for the largest page of the data set.
TIME_LIMIT = 60.0
#: Pages after which the peer's process is replaced: some peers leak, and a fresh one keeps pages independent.
PAGES_A_PROCESS = 500


@dataclass(frozen=True, slots=True)
class Result:
    """What a peer made of one page: its text ("" when it failed), CPU seconds, and why it failed or None."""

    text: str
    seconds: float
    error: str | None


def cache_file(peer: Peer) -> Path:
    settings = hashlib.sha256(peer.settings.encode()).hexdigest()[:8]
    folder = data.cache_folder() / "peers"
    folder.mkdir(exist_ok=True)
    return folder / f"{peer.module}-{peer.version}-{settings}-{data.corpus_hash()}.jsonl"


def results(
    peer: Peer, pages: Sequence[data.DevPage], progress: Callable[[int, int], None] | None = None
) -> dict[str, Result]:
    """`page.key` -> result for all `pages`, from the cache where it has them.

    `progress(done, to do)` is called after each page (or site) that had to be computed.
    """
    path = cache_file(peer)
    found = _read(path)
    missing = [page for page in pages if page.key not in found]
    if missing:
        with path.open("a", encoding="utf-8") as out:
            for done, batch in enumerate(run(peer, _batches(peer, missing)), start=1):
                for key, result in batch:
                    found[key] = result
                    out.write(json.dumps({"key": key, **asdict(result)}, ensure_ascii=False) + "\n")
                out.flush()
                if progress:
                    progress(done, len(missing))
    return {page.key: found[page.key] for page in pages}


def run(peer: Peer, batches: Iterable[Sequence[data.DevPage]]) -> Iterator[list[tuple[str, Result]]]:
    """`page.key` and result of every page, batch by batch: single pages, or whole sites for peers that learn from siblings."""
    with _Runner(peer.module) as runner:
        for batch in batches:
            yield runner.run(batch)


def _read(path: Path) -> dict[str, Result]:
    found: dict[str, Result] = {}
    if path.is_file():
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                try:
                    record = json.loads(line)
                except ValueError:
                    continue  # the torn last line of a run that was stopped
                found[record["key"]] = Result(record["text"], record["seconds"], record["error"])
    return found


def _batches(peer: Peer, missing: Sequence[data.DevPage]) -> list[tuple[data.DevPage, ...]]:
    """Single pages; all pages of each site concerned for peers that learn from siblings."""
    if peer.extract_site is None:
        return [(page,) for page in missing]
    wanted = dict.fromkeys((page.set, page.site) for page in missing)
    groups = data.sites()
    return [groups[site] for site in wanted]


class _Runner:
    """The peer's process, started when needed, replaced after a crash, a time-out or PAGES_A_PROCESS."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection[Any, Any] | None = None
        self._served = 0

    def __enter__(self) -> _Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def run(self, batch: Sequence[data.DevPage]) -> list[tuple[str, Result]]:
        inputs = [(page.html(), None, data.clean_lang(page.lang) or None) for page in batch]
        if self._served >= PAGES_A_PROCESS:
            self._stop()
        pipe = self._pipe or self._start()
        self._served += len(batch)
        failure: str
        try:
            pipe.send(inputs)
            if pipe.poll(TIME_LIMIT * len(batch)):
                texts, seconds, error = pipe.recv()
                share = seconds / len(batch)
                return [
                    (page.key, Result(text or "", share, (error or "no result") if text is None else None))
                    for page, text in zip(batch, texts, strict=True)
                ]
            failure = f"no answer within {TIME_LIMIT * len(batch):.0f} s"
        except (EOFError, OSError):
            failure = "the peer's process died"
        self._stop()
        return [(page.key, Result("", 0.0, failure)) for page in batch]

    def _start(self) -> Connection[Any, Any]:
        # spawn: the peer's process starts clean, without whatever the caller has imported.
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._module), daemon=True)
        self._process.start()
        theirs.close()
        self._served = 0
        return self._pipe

    def _stop(self) -> None:
        if self._pipe:
            self._pipe.close()
        if self._process:
            self._process.terminate()
            self._process.join(5)
            if self._process.is_alive():
                self._process.kill()
                self._process.join()
        self._pipe = self._process = None


def _serve(pipe: Connection[Any, Any], module: str) -> None:
    peer = load(module)
    while True:
        try:
            inputs: list[PageInput] = pipe.recv()
        except EOFError:
            return
        begun = time.process_time()
        error = None
        texts: Sequence[str | None]
        try:
            if peer.extract_site is not None:
                texts = peer.extract_site(inputs)
            else:
                texts = [peer.extract(*page) for page in inputs]
        except Exception as problem:  # whatever a peer raises is its result for the page
            texts, error = [None] * len(inputs), f"{type(problem).__name__}: {problem}"[:200]
        # Lone surrogates cannot be written as UTF-8; a peer that lets them through is not failed for it.
        clean = [None if text is None else text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        pipe.send((clean, time.process_time() - begun, error))


def fill(modules: Sequence[str], pages: Sequence[data.DevPage]) -> Mapping[str, dict[str, Result]]:
    """Results of several peers, with one line of progress a minute on stderr."""
    found = {}
    for module in modules:
        peer = load(module)
        last = time.monotonic()

        def progress(done: int, todo: int, peer: Peer = peer) -> None:
            nonlocal last
            if time.monotonic() - last > 60:
                last = time.monotonic()
                print(f"{peer.name}: {done} of {todo}", file=sys.stderr, flush=True)

        found[module] = results(peer, pages, progress)
    return found
