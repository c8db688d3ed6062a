"""A worker that dies in the middle of a round: who takes over tells what it did, and what it told counts once."""

from pathlib import Path

import anyio
import pytest

from askback import ask, once
from askback.errors import EffectFailed
from askback.stores import SQLiteStore
from tests.server.audit.books import Books, mcpserver
from tests.support.call_states import replay
from tests.support.raw import accepting, answering, raw_client

pytestmark = pytest.mark.anyio

BOUND = 30.0


class Oven:
    """Bakes one cake, and burns down with the second unless it is stopped from that."""

    def __init__(self, *, retry: bool) -> None:
        self.retry, self.is_burning, self.begun = retry, True, anyio.Event()
        self.baked = 0

    async def order(self) -> str:
        await ask("Sure?", bool)
        await once("first", self._bake)
        try:
            return await once("second", self._burn, retry=self.retry)
        except EffectFailed as failed:
            return failed.kind

    def _bake(self) -> str:
        self.baked += 1
        return "baked"

    async def _burn(self) -> str:
        if self.is_burning:
            self.begun.set()
            await anyio.sleep_forever()
        return self._bake()


class Dying(SQLiteStore):
    """A store whose process is killed: nothing that it still wants to say is heard."""

    is_dead = False

    async def release(self, claim: object) -> None:
        if not self.is_dead:
            await super().release(claim)  # pyright: ignore[reportArgumentType] # as it came

    async def note(self, claim: object, noted: bytes) -> bool:
        return self.is_dead or await super().note(claim, noted)  # pyright: ignore[reportArgumentType] # as it came

    async def append(self, *lines: bytes) -> int:
        return 0 if self.is_dead else await super().append(*lines)


@pytest.mark.parametrize("retry", [False, True])
async def test_what_the_dead_one_did_is_told_by_the_one_that_takes_over(retry: bool, tmp_path: Path):
    oven, path = Oven(retry=retry), tmp_path / "askback.db"
    dying = Dying(path, lease=0.2)
    first_worker = mcpserver(oven.order, tmp_path, store=dying)
    with anyio.fail_after(BOUND):
        async with raw_client(first_worker.server) as client:
            retried = answering(await client.call(), ask_1=accepting(value=True))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lambda: client.call(**retried))
                await oven.begun.wait()
                dying.is_dead = True
                tasks.cancel_scope.cancel()
        await dying.close()
        oven.is_burning = False
        second_worker: Books = mcpserver(oven.order, tmp_path, store=SQLiteStore(path, lease=0.2))
        async with raw_client(second_worker.server) as client:
            end = await client.call(**retried)
    assert end["content"][0]["text"] == ("baked" if retry else "Interrupted")
    told = [row for row in await second_worker.told("place", "reason") if row[1]]
    answered = ("answered", "ask-1", None)
    begun = [("spent", "first", None), ("spent", "second", "interrupted")]
    assert told[:2] == [("asked", "ask-1", None), answered], "on record before the effect began"
    assert told[2] == begun[0], "and so is each effect before the next"
    assert told[3:] == [*begun, answered, *([("spent", "second", "retried")] if retry else [])]
    (standing,) = replay(await second_worker.entries()).values()
    assert standing.questions == {"ask-1": "accept"}
    assert standing.effects == {"first": "done", "second": "retried" if retry else "interrupted"}
