"""What goes wrong while the load runs: workers are killed or paused, connections are cut, the store goes down."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from itertools import cycle
from time import monotonic
from typing import Any, Protocol

from bench.cluster.cluster import Cluster
from bench.cluster.tally import Death
from bench.cluster.worker import Worker
from scripts.services import Service

BETWEEN_KILLS = 2.0


@asynccontextmanager
async def meanwhile(fault: Coroutine[Any, Any, None]) -> AsyncGenerator[None]:
    """A fault for as long as the block lasts; one that fails, fails the block."""
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(fault)
        yield
        task.cancel()


async def kill_workers(cluster: Cluster, deaths: list[Death], *, each: float = BETWEEN_KILLS) -> None:
    """Every so many seconds, one after the other; each is started again at once, and killed again when it is up."""
    due = monotonic()
    starts: dict[Worker, asyncio.Task[None]] = {}
    async with asyncio.TaskGroup() as tasks:
        for worker in cycle(cluster.workers):
            due += each
            await asyncio.sleep(max(0.0, due - monotonic()))
            if worker in starts:
                await starts[worker]
            deaths.append(Death(monotonic(), worker.port, worker.pid or 0))
            worker.kill()
            starts[worker] = tasks.create_task(_to_the_end(worker.start))


async def pause_workers(
    cluster: Cluster, over: list[float], *, seconds: float, each: float = BETWEEN_KILLS
) -> None:
    """One after the other is stopped for so long, as on a machine that swaps or is being moved; when each was over."""
    for worker in cycle(cluster.workers):
        await asyncio.sleep(each - seconds)
        await asyncio.to_thread(worker.pause)
        try:
            await asyncio.sleep(seconds)
        finally:
            worker.resume()
            over.append(monotonic())


async def restart_workers(cluster: Cluster, *, after: asyncio.Event, over: asyncio.Event) -> None:
    """A rolling restart: one after the other ends in good order and is started again, and two are always up."""
    await after.wait()
    try:
        for worker in cluster.workers:
            await _to_the_end(worker.stop)
            await _to_the_end(worker.start)
    finally:
        over.set()


class Pausable(Protocol):
    """A store or a worker: it keeps its connections and does nothing until it is resumed."""

    def pause(self) -> None: ...

    def resume(self) -> None: ...


async def pause(paused: Pausable, *, after: asyncio.Event, seconds: float) -> tuple[float, float]:
    """Stop it when the event has come, and let it go on after so many seconds; gives the times of both."""
    await after.wait()
    await asyncio.to_thread(paused.pause)
    began = monotonic()
    try:
        await asyncio.sleep(seconds)
    finally:
        paused.resume()
    return began, monotonic()


async def cut_connections(cluster: Cluster, cuts: list[float], *, each: float) -> None:
    """All that the proxy has, to clients and to workers; and when that was."""
    while True:
        await asyncio.sleep(each)
        await asyncio.to_thread(cluster.proxy.cut)
        cuts.append(monotonic())


async def restart(store: Service, *, after: float, down: float) -> float:
    """The store is killed, is away for so long, and comes back; when that was."""
    await asyncio.sleep(after)
    await asyncio.to_thread(store.kill)
    await asyncio.sleep(down)
    await _to_the_end(store.start)
    return monotonic()


async def _to_the_end(start: Callable[[], None]) -> None:
    """A thread cannot be cancelled: what it starts is there before anybody cleans up."""
    task = asyncio.create_task(asyncio.to_thread(start))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise
