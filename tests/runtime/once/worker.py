"""One of several processes that serve the same rounds, forked by `tests.runtime.once.nursery`.

What it is told and what it says are lines of JSON, the first with its store, traces and lease. Every effect leaves a
line in the file of traces.
"""

import json
import os
from typing import Any

import anyio
import anyio.abc

from askback import ask, once
from askback.errors import EffectFailed
from askback.stores import SQLiteStore
from tests.runtime.once.kitchen import Kitchen
from tests.runtime.once.servers import KINDS, serve
from tests.support.deliveries import end_of
from tests.support.raw import Raw, raw_client

KEYS = ["the same in all processes, 32 bytes and more"]


def say(**line: Any) -> None:
    os.write(1, json.dumps(line).encode() + b"\n")


class Bakery(Kitchen):
    """Two questions with an effect behind each; or two effects side by side."""

    def __init__(self, label: str, told: dict[str, Any], traces: str) -> None:
        super().__init__(told.get("stop"))
        self._label, self._traces, self._is_double = label, traces, told.get("double", False)

    def put_in(self, what: str) -> int:
        line = f"{self._label}: {what}\n".encode()
        file = os.open(self._traces, os.O_APPEND | os.O_CREAT | os.O_RDWR)
        try:
            os.write(file, line)
            return os.pread(file, 1_000_000, 0).count(line)
        finally:
            os.close(file)

    async def pass_by(self, point: str) -> None:
        if point == self.stop and not self.reached.is_set():
            self.reached.set()
            say(reached=self._label)
            await self.go_on.wait()

    async def body(self) -> str:
        if self._is_double:
            return await self._two_at_once()
        first = await super().body()
        await ask("Still hungry?", bool)
        return f"{first}, {await once('more', self.put_in, 'ice cream')} ice cream"

    async def _two_at_once(self) -> str:
        await ask("Hungry?", bool)
        given: list[str] = []
        begun: list[str] = []

        async def bake(what: str) -> int:
            number = self.put_in(what)
            begun.append(what)
            if len(begun) == 2:
                await self.pass_by("during")
            elif self.stop == "during":
                await self.go_on.wait()
            return number

        async def one(what: str) -> None:
            try:
                given.append(f"{what} {await once(what, bake, what)}")
            except EffectFailed as error:
                given.append(f"{what} {error.kind}")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one, "pizza")
            tasks.start_soon(one, "pasta")
        return ", ".join(sorted(given))


class Worker:
    def __init__(self, store: SQLiteStore, traces: str, tasks: anyio.abc.TaskGroup) -> None:
        self._store, self._traces, self._tasks = store, traces, tasks
        self._bakeries: dict[str, Bakery] = {}
        self._clients: dict[str, Raw] = {}

    async def hear(self, told: dict[str, Any]) -> None:
        label = told["label"]
        if "go" in told:
            self._bakeries[label].go_on.set()
            return
        if label not in self._clients:
            self._clients[label] = await self._tasks.start(self._open, label, told)
        self._tasks.start_soon(self._deliver, label, told)

    async def _open(
        self, label: str, told: dict[str, Any], *, task_status: anyio.abc.TaskStatus[Raw]
    ) -> None:
        bakery = self._bakeries[label] = Bakery(label, told, self._traces)
        async with raw_client(serve(told["host"], bakery.body, store=self._store, keys=KEYS)) as client:
            task_status.started(client)
            await anyio.sleep_forever()

    async def _deliver(self, label: str, told: dict[str, Any]) -> None:
        say(got=told["number"])
        end = await end_of(KINDS[told["kind"]].deliver(self._clients[label], **told["fields"]))
        say(number=told["number"], end=end)


async def main() -> None:
    with open(0) as told:  # noqa: ASYNC230 - read by anyio in a thread
        lines = anyio.wrap_file(told)
        path, traces, lease = json.loads(await lines.readline())
        async with anyio.create_task_group() as tasks:
            worker = Worker(SQLiteStore(path, lease=lease), traces, tasks)
            say(ready=os.getpid())
            async for line in lines:
                await worker.hear(json.loads(line))
