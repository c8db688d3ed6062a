"""A store that fails for a moment: nothing is run twice for it, and nobody waits for ever."""

from datetime import timedelta
from typing import Any

import anyio
import pytest

from askback import ask, once
from askback.errors import StoreUnavailable
from askback.stores import Granted, MemoryStore, Verdict
from tests.runtime.once.kitchen import Kitchen, until_cut
from tests.runtime.once.servers import Host, serve
from tests.support.deliveries import INTERRUPTED, PATIENCE, End, end_of, text_of
from tests.support.raw import Raw, accepting, answering, raw_client

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("R39")]

YES = accepting(value=True)
HOUR = timedelta(hours=1)


class Flaky(MemoryStore):
    """Fails with the verbs that are listed, one after another; then it is well again.

    As a store with leases: what could not be recorded or released is as if its runner had died.
    """

    def __init__(self, *fails: str) -> None:
        super().__init__()
        self.fails = list(fails)

    async def claim(self, key: str, *, until: float, **options: Any) -> Verdict:
        self._try("claim an effect" if key.startswith("once:") else "claim")
        return await super().claim(key, until=until, **options)

    async def record(self, claim: Granted, result: bytes) -> bool:
        await self._try_last("record an effect" if claim.key.startswith("once:") else "record", claim)
        return await super().record(claim, result)

    async def note(self, claim: Granted, noted: bytes) -> bool:
        self._try("note that it begins" if b"Interrupted" in noted else "note its end")
        self._noted = noted
        return await super().note(claim, noted)

    async def release(self, claim: Granted) -> None:
        await self._try_last("release", claim)
        await super().release(claim)

    _noted = b"[0.0,[]]"

    async def _try_last(self, verb: str, claim: Granted) -> None:
        try:
            self._try(verb)
        except StoreUnavailable:
            await super().note(claim, self._noted)
            await super().release(claim)
            raise

    def _try(self, verb: str) -> None:
        if self.fails and self.fails[0] == verb:
            self.fails.pop(0)
            raise StoreUnavailable(store="flaky", problem="out of paper", advice="Wait.")


VERBS = ("claim", "note that it begins", "note its end", "record")


@pytest.mark.parametrize("verb", VERBS)
async def test_a_copy_after_the_failure_ends_and_the_effect_is_not_run_twice(verb: str, host: Host):
    kitchen, store = Kitchen(), Flaky(verb)
    async with raw_client(serve(host, kitchen.body, store=store)) as client:
        first = await client.call()
        ends = [await end_of(client.call(**answering(first, ask_1=YES))) for _ in range(3)]
    assert store.fails == []
    # That it cannot be noted changes nothing for an effect that has run.
    assert ("here is pizza" if verb == "note its end" else "cannot keep what this call needs") in text_of(
        ends[0]
    )
    assert kitchen.baked in ([], ["pizza"])
    assert ends[1] == ends[2]


@pytest.mark.parametrize("verb", ["claim", "record"])
async def test_where_the_effect_is_known_to_be_done_or_not_begun_a_copy_completes_the_round(
    verb: str, host: Host
):
    kitchen = Kitchen()
    async with raw_client(serve(host, kitchen.body, store=Flaky(verb))) as client:
        first = await client.call()
        ends = [await end_of(client.call(**answering(first, ask_1=YES))) for _ in range(2)]
    assert text_of(ends[1]) == "here is pizza 1"
    assert kitchen.baked == ["pizza"]


async def test_copies_that_wait_while_the_end_cannot_be_recorded_go_on(host: Host):
    kitchen = Kitchen("after")
    async with raw_client(serve(host, kitchen.body, store=Flaky("record"))) as client:
        first = await client.call()
        ends: list[End] = []

        async def deliver() -> None:
            ends.append(await end_of(client.call(**answering(first, ask_1=YES))))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(deliver)
            await kitchen.reached.wait()
            for _ in range(3):
                tasks.start_soon(deliver)
            for _ in range(20):
                await anyio.lowlevel.checkpoint()
            kitchen.go_on.set()
    texts = sorted(text_of(end) for end in ends)
    assert texts[:-1] == ["here is pizza 1"] * 3 and "cannot keep what this call needs" in texts[-1]
    assert kitchen.baked == ["pizza"]


async def test_a_cancelled_run_whose_claim_cannot_be_released_leaves_the_server_alive(host: Host):
    kitchen = Kitchen("before")
    async with raw_client(serve(host, kitchen.body, store=Flaky("release"))) as client:
        first = await client.call()
        await until_cut(kitchen, lambda: client.call(**answering(first, ask_1=YES)))
        anew = await client.call()
        end = await end_of(client.call(**answering(anew, ask_1=YES)))
    assert text_of(end) == "here is pizza 1"


WIDE_VERBS = ("claim an effect", "note that it begins", "record an effect", "note its end", "record")


@pytest.mark.parametrize("verb", WIDE_VERBS)
async def test_an_effect_of_wider_scope_leaves_no_later_call_waiting(verb: str, host: Host):
    kitchen, store = Kitchen(), Flaky(verb)

    async def body() -> str:
        await ask("Hungry?", bool)
        return await once("bake", kitchen.bake, within=HOUR)

    async with raw_client(serve(host, body, store=store)) as client:
        await talk(client)
        ends = [await talk(client) for _ in range(2)]
    assert store.fails == []
    assert kitchen.baked == ["pizza"]
    assert ends[0] == ends[1]
    assert text_of(ends[0]) == "pizza 1" or INTERRUPTED.format("bake") in text_of(ends[0])


async def talk(client: Raw) -> End:
    """One conversation from its beginning to its end."""
    first = await client.call()
    return await end_of(client.call(**answering(first, ask_1=YES)))


class Named(Flaky):
    """Has an epoch, so it is asked whether another was lost."""

    async def epoch(self) -> str:
        return "first"

    async def claim(self, key: str, *, until: float, epoch: str = "", **options: Any) -> Verdict:
        assert epoch in {"", "first"}
        return await super().claim(key, until=until, **options)

    async def get(self, owner: str, name: str) -> bytes | None:
        self._try("get")
        return await super().get(owner, name)


async def test_an_effect_whose_doubts_could_not_be_settled_is_free_for_the_next(host: Host):
    kitchen, store = Kitchen(), Named("get")

    async def body() -> str:
        return await once("bake", kitchen.bake, within=HOUR)

    async with raw_client(serve(host, body, store=store)) as client:
        end = await end_of(client.call())
        assert end["data"] == {"reason": "store_unavailable"} and not kitchen.baked
        with anyio.fail_after(PATIENCE):
            assert text_of(await client.call()) == "pizza 1"
    assert kitchen.baked == ["pizza"] and not store.fails
