"""The processes of `tests.once.worker`, seen from the test that drives them."""

import json
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.once.deliveries import PATIENCE, End

ROOT = Path(__file__).resolve().parents[2]

STARTING = 60.0
"""Seconds; on a busy machine a process takes some."""


class Worker:
    """One process. `deliver` gives what came back; what it says by itself is awaited here."""

    def __init__(self, process: anyio.abc.Process) -> None:
        self._process = process
        self._numbers = count(1)
        self._heard: dict[tuple[str, object], anyio.Event] = {}
        self._ends: dict[int, End] = {}

    async def ready(self) -> None:
        with anyio.fail_after(STARTING):
            await self._event("ready", True).wait()

    async def tell(self, label: str, **told: Any) -> int:
        """Have it deliver a round; gives the number under which the end will come, when it is under way."""
        number = next(self._numbers)
        await self._send(label=label, number=number, **told)
        with anyio.fail_after(PATIENCE):
            await self._event("got", number).wait()
        return number

    async def end(self, number: int) -> End:
        with anyio.fail_after(PATIENCE):
            await self._event("number", number).wait()
        return self._ends[number]

    async def deliver(self, label: str, **told: Any) -> End:
        return await self.end(await self.tell(label, **told))

    async def reached(self, label: str) -> None:
        """It is at the point where it was told to stop."""
        with anyio.fail_after(PATIENCE):
            await self._event("reached", label).wait()

    async def go_on(self, label: str) -> None:
        await self._send(label=label, go=True)

    async def kill(self) -> None:
        """As the system does when memory runs out: nothing is said or tidied up."""
        self._process.send_signal(signal.SIGKILL)
        await self._process.wait()

    def stop(self) -> None:
        """As a machine that is put to sleep."""
        self._process.send_signal(signal.SIGSTOP)

    def wake(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    async def listen(self) -> None:
        assert self._process.stdout is not None
        lines = BufferedByteReceiveStream(self._process.stdout)
        while True:
            try:
                line: dict[str, Any] = json.loads(await lines.receive_until(b"\n", 10_000_000))
            except (anyio.EndOfStream, anyio.IncompleteRead, anyio.ClosedResourceError):
                return
            if "end" in line:
                self._ends[line["number"]] = line.pop("end")
            for what, which in line.items():
                self._event(what, which).set()

    async def _send(self, **line: Any) -> None:
        assert self._process.stdin is not None
        await self._process.stdin.send(json.dumps(line).encode() + b"\n")

    def _event(self, what: str, which: object) -> anyio.Event:
        return self._heard.setdefault((what, which), anyio.Event())


class Crew:
    """Several workers on one store, and the traces that their effects leave."""

    def __init__(self, workers: list[Worker], traces: Path) -> None:
        self.workers, self._traces = workers, traces

    def traces(self, label: str) -> list[str]:
        """What was done for this conversation, by whichever process."""
        lines = self._traces.read_text().splitlines() if self._traces.exists() else []
        return [line.removeprefix(f"{label}: ") for line in lines if line.startswith(f"{label}: ")]


@asynccontextmanager
async def crew(folder: Path, *, count: int, lease: float) -> AsyncGenerator[Crew]:
    traces = folder / "traces"
    command = [sys.executable, "-m", "tests.once.worker", str(folder / "once.db"), str(traces), str(lease)]
    processes = [await anyio.open_process(command, cwd=ROOT, stderr=None) for _ in range(count)]
    workers = [Worker(process) for process in processes]
    async with anyio.create_task_group() as tasks:
        for worker in workers:
            tasks.start_soon(worker.listen)
        try:
            for worker in workers:
                await worker.ready()
            yield Crew(workers, traces)
        finally:
            with anyio.CancelScope(shield=True):
                for process in processes:
                    if process.returncode is None:
                        process.kill()
                    await process.wait()
                    await process.aclose()
            tasks.cancel_scope.cancel()
