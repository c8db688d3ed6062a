"""Runs the flow again and again, and kills its worker at another point each time.

`python -m tests.end_to_end.faults.runs POINTS STORE TERMS...` does it in a warm process, which forks a client for each
run, and that its worker: no run waits for Python to start. It prints one line of JSON.
"""

import gc
import json
import logging
import os
import signal
import socket
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, Literal, NamedTuple

import anyio
from mcp.server import MCPServer

from askback.server.hosts import lowlevel_of
from askback.stores import MemoryStore
from tests.end_to_end.faults.awaits import watch
from tests.end_to_end.faults.client import PUSH, ROUNDS, Client
from tests.end_to_end.faults.forks import fork_worker, run_all
from tests.end_to_end.faults.points import Fuse, Point, faulty
from tests.end_to_end.faults.recorded import Entries, digest_of, read_ledger
from tests.end_to_end.faults.shop import Oven, shop
from tests.end_to_end.faults.worker import serve, serve_all
from tests.support.stores.url import opened

LEASE = 0.3
"""Seconds after which a worker that says nothing is taken for dead. Nobody else claims while it lives."""

Points = Literal["verbs", "awaits"]
"""Where the points are: around every verb of the store and every line that is sent, or wherever the call waits."""


class Terms(NamedTuple):
    """One flow to be disturbed."""

    revision: str
    retry: bool
    within: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What became of one flow."""

    terms: Terms
    at: Point | None
    """Where its worker was to die."""
    arguments: dict[str, Any]
    died: bool
    end: dict[str, Any]
    shown: dict[str, int]
    baked: int
    points: list[Point]
    """All that the worker came by, where it was to live."""


class Shops:
    """The workers of one store: one that lives, and one for each run, which dies."""

    def __init__(self, points: Points, url: str, folder: Path) -> None:
        self._oven, self._log = Oven(folder), folder / "points"
        self._fuse = Fuse()
        # Made before the fork; a store is opened by the first call.
        self._doomed = self._make(points, url, self._fuse)
        self._listener, self._address = socket.socket(socket.AF_UNIX), str(folder / "worker")
        self._listener.bind(self._address)
        self._listener.listen()
        lives = self._make(points, url, Fuse())
        self.other, self._line = fork_worker(lambda _: anyio.run(serve_all, lives, self._listener))

    def _make(self, points: Points, url: str, fuse: Fuse) -> MCPServer[Any]:
        store = opened(url, lease=LEASE)
        if points == "verbs":
            return shop(faulty(store, fuse), fuse, self._oven)
        server = shop(store, Fuse(), self._oven)
        watch(lowlevel_of(server), fuse)
        return server

    def run(self, number: str, terms: Terms, at: Point | None) -> Run:
        """One flow, whose first worker dies at that point."""
        doomed: list[int] = []
        passed = Path(f"{self._log}.{number}")

        def connect() -> socket.socket:
            if doomed:
                line = socket.socket(socket.AF_UNIX)
                line.connect(self._address)
                return line
            self._fuse.at = at
            self._fuse.tell = partial(_write, passed) if at is None else self._fuse.tell
            worker, line = fork_worker(lambda line: anyio.run(serve, self._doomed, line, self._fuse))
            doomed.append(worker)
            return line

        client = Client(terms.revision, connect)
        arguments = {"number": number, "retry": terms.retry, "within": terms.within}
        end = client.order(**arguments)
        _, status = os.waitpid(doomed[0], 0)
        lines = passed.read_text().splitlines() if passed.exists() else []
        return Run(
            terms=terms,
            at=at,
            arguments=arguments,
            died=status == signal.SIGKILL,
            end=dict(end),
            shown=dict(client.shown),
            baked=self._oven.times(number),
            points=[Point(*json.loads(line)) for line in lines],
        )


def _write(passed: Path, point: Point) -> None:
    with passed.open("a") as file:
        file.write(json.dumps(point) + "\n")


def disturb(shops: Shops, flows: Sequence[Terms]) -> list[Run]:
    """Every flow undisturbed, to learn its points, and then once for each of them."""
    numbers = (f"{os.getpid()}-{number}" for number in count())
    whole = run_all(partial(shops.run, next(numbers), terms, None) for terms in flows)
    assert all(run.baked for run in whole), f"undisturbed, it does not work: {whole}"
    todo = [(run.terms, at) for run in whole for at in run.points]
    return [*whole, *run_all(partial(shops.run, next(numbers), terms, at) for terms, at in todo)]


def told(runs: Sequence[Run], entries: Mapping[str, Entries]) -> Iterator[dict[str, Any]]:
    """The disturbed ones, each with what the ledger has of its undisturbed fellow and not of it."""
    whole = {run.terms: entries[digest_of(run.arguments)] for run in runs if run.at is None}
    for run in runs:
        if run.at is not None:
            missing = whole[run.terms] - entries.get(digest_of(run.arguments), set())
            yield {**asdict(run), "unrecorded": sorted(missing)}


def warm_up() -> None:
    """What is made once for each process is made here, and not in every fork: the lexicon of secrets, for one."""
    for revision in (ROUNDS, PUSH):
        ours, theirs = socket.socketpair()
        client = Thread(target=_order, args=(revision, ours))
        client.start()
        with TemporaryDirectory() as folder:
            anyio.run(serve, shop(MemoryStore(), Fuse(), Oven(Path(folder))), theirs, Fuse())
        client.join()


def _order(revision: str, line: socket.socket) -> None:
    Client(revision, lambda: line).order(number="0", retry=False, within=True)


def main(points: Points, url: str, *flows: str) -> None:
    logging.disable()
    warnings.simplefilter("ignore")
    warm_up()
    gc.collect()
    gc.freeze()
    with TemporaryDirectory() as folder:
        shops = Shops(points, url, Path(folder))
        try:
            runs = disturb(shops, [Terms(*json.loads(terms)) for terms in flows])
        finally:
            os.kill(shops.other, signal.SIGKILL)
    problems, entries = anyio.run(read_ledger, opened(url, lease=LEASE))
    sys.stdout.write(json.dumps({"runs": list(told(runs, entries)), "ledger": problems}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])  # pyright: ignore[reportArgumentType] - only our own tests start it
