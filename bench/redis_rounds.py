"""What Redis adds to a round: all that a real one with one `once` does to the store, against bare round trips."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from time import perf_counter
from typing import Any, NamedTuple, cast

from mcp_types import ElicitRequestParams, ElicitResult

from askback.server.hosts import lowlevel_of
from askback.stores import Granted, Reach, Store
from askback.stores.redis import RedisStore
from bench.blocks import Call
from bench.cluster.flows import reply
from bench.connect import client_of
from bench.contests import Target
from bench.growth import Growth
from bench.redis_client import RedisClient, bare_client
from bench.worker import make_server
from scripts.services import redis_server

VERBS = ("claim", "append", "note", "note", "append", "record")
"""The round is ours; what was agreed to is in the ledger; the effect begins; it is over; so is the round, says the
ledger; and its end is kept for its copies."""

PINGS = 8

AT_MOST_THAT = Target(ratio=1.0)
"""Against all eight at once: blocks of one length suffer alike from what else the machine does."""


def spending_growths() -> list[Growth]:
    """On the clock: Redis is another process. It keeps nothing on a disk, so no disk is measured."""
    return [
        Growth(
            name="redis/spending",
            much=f"Redis, round and once: {len(VERBS)} verbs",
            little=f"{PINGS} PINGs",
            target=AT_MOST_THAT,
            clock=perf_counter,
            sides=_sides,
        )
    ]


@asynccontextmanager
async def _sides() -> AsyncGenerator[tuple[Call, Call]]:
    with redis_server(keeps=False) as server:
        store = RedisStore(server.url)
        try:
            spend = _spending(store, await record_round(store))
            async with bare_client(server.url) as bare:
                yield spend, partial(_ping, bare)
        finally:
            await store.close()


async def _ping(bare: RedisClient) -> None:
    for _ in range(PINGS):
        await bare.execute_command("PING")


class StoreCall(NamedTuple):
    """One call of a store."""

    verb: str
    arguments: Sequence[Any]
    options: dict[str, Any]


class RecordingStore:
    """A store that remembers what was asked of it."""

    reach: Reach = "network"

    def __init__(self, store: Store) -> None:
        self._store = store
        self.deeds: list[StoreCall] = []

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        def do(*arguments: Any, **options: Any) -> Any:
            self.deeds.append(StoreCall(verb, arguments, options))
            return getattr(self._store, verb)(*arguments, **options)

        return do


async def record_round(store: Store) -> list[StoreCall]:
    """All that the round with the answer does, on a server that has been running for a while."""
    overheard = RecordingStore(store)
    server = lowlevel_of(make_server(cast("Store", overheard)))
    async with client_of(server, "2026-07-28", answer=_agree) as client:
        for flow in ("the first", "the next"):
            overheard.deeds.clear()
            await client.call_tool("one", {"flow": flow})
    verbs = [deed.verb for deed in overheard.deeds]
    begins = verbs.index("claim")
    if tuple(verbs[begins:]) != VERBS:
        raise RuntimeError(f"A round and one once are no longer {VERBS}, but {verbs[begins:]}.")
    return overheard.deeds[begins:]


async def _agree(context: object, params: ElicitRequestParams) -> ElicitResult:
    return ElicitResult.model_validate(reply(params.message))


def _spending(store: Store, deeds: Sequence[StoreCall]) -> Call:
    """The same for a conversation of its own each time."""
    claimed, *others = deeds
    numbers = count()

    async def spend() -> None:
        claim = await store.claim(f"{claimed.arguments[0]}-{next(numbers)}", **claimed.options)
        if not isinstance(claim, Granted):
            raise RuntimeError(f"The round was not ours: {claim}")
        for verb, arguments, options in others:
            of_this = [claim if isinstance(one, Granted) else one for one in arguments]
            await getattr(store, verb)(*of_this, **options)

    return spend
