"""The processes of `tests.runtime.once.nursery`, seen from the test that drives them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.support.deliveries import PATIENCE, End
from tests.support.paths import ROOT


class Worker:
    """One process. `deliver` gives what came back; what it says by itself is awaited here."""

    def __init__(self, line: anyio.abc.ByteStream) -> None:
        self._line = line
        self._pid = 0
        self._numbers = count(1)
        self._heard: dict[tuple[str, object], anyio.Event] = {}
        self._ends: dict[int, End] = {}
        self._started, self._hung_up = anyio.Event(), anyio.Event()

    async def start(self, *told: Any) -> None:
        await self._line.send(json.dumps(told).encode() + b"\n")
        with anyio.fail_after(PATIENCE):
            await self._started.wait()

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
        if not self._hung_up.is_set():
            os.kill(self._pid, signal.SIGKILL)
        with anyio.fail_after(PATIENCE):
            await self._hung_up.wait()

    def stop(self) -> None:
        """As a machine that is put to sleep."""
        os.kill(self._pid, signal.SIGSTOP)

    def wake(self) -> None:
        os.kill(self._pid, signal.SIGCONT)

    async def listen(self) -> None:
        """Until it ends, however it does."""
        lines = BufferedByteReceiveStream(self._line)
        while True:
            try:
                line: dict[str, Any] = json.loads(await lines.receive_until(b"\n", 10_000_000))
            except (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError):
                self._hung_up.set()
                return
            self._hear(line)

    def _hear(self, line: dict[str, Any]) -> None:
        if "ready" in line:
            self._pid = line["ready"]
            self._started.set()
        if "end" in line:
            self._ends[line["number"]] = line.pop("end")
        for what, which in line.items():
            self._event(what, which).set()

    async def _send(self, **line: Any) -> None:
        await self._line.send(json.dumps(line).encode() + b"\n")

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


@contextmanager
def nursed(folder: Path) -> Generator[Path]:
    """The nursery for the length of the block: where it listens."""
    address = folder / "nursery"
    command = [sys.executable, "-m", "tests.runtime.once.nursery", str(address)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == b"ready\n"
            yield address
        finally:
            process.kill()


@asynccontextmanager
async def crew(nursery: Path, folder: Path, *, count: int, lease: float) -> AsyncGenerator[Crew]:
    traces = folder / "traces"
    async with AsyncExitStack() as stack, anyio.create_task_group() as tasks:
        lines = [await stack.enter_async_context(await anyio.connect_unix(nursery)) for _ in range(count)]
        workers = [Worker(line) for line in lines]
        for worker in workers:
            tasks.start_soon(worker.listen)
        for worker in workers:
            await worker.start(str(folder / "once.db"), str(traces), lease)
        try:
            yield Crew(workers, traces)
        finally:
            with anyio.CancelScope(shield=True):
                for worker in workers:
                    await worker.kill()
