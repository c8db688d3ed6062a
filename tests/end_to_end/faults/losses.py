"""What becomes of an order when Redis without a file is started anew, moment by moment: for the page on faults."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple
from unittest import mock

import anyio

from askback.stores.redis import store as redis_store
from scripts.services import RedisServer
from tests.runtime.once.forgetful import FIND_OUT, YES, Shop, order, start_anew, working
from tests.support.deliveries import End, end_of, text_of
from tests.support.raw import answering


class Loss(NamedTuple):
    """One moment, and how the order ended."""

    moment: str
    then: str
    """What the client does next."""
    outcome: str
    effects: int


async def while_somebody_thinks(redis: RedisServer, shop: Shop) -> End:
    async with working(redis, shop) as (_, client):
        asked = await client.call(arguments={"number": 1})
        await start_anew(redis)
        return await end_of(client.call(arguments={"number": 1}, **answering(asked, ask_1=YES)))


async def while_it_runs(redis: RedisServer, shop: Shop) -> End:
    shop.may_go_on = anyio.Event()
    ends: list[End] = []
    async with working(redis, shop) as (_, client):

        async def order_one() -> None:
            ends.append(await order(client, 1))

        async with anyio.create_task_group() as group:
            group.start_soon(order_one)
            await shop.is_placing.wait()
            await start_anew(redis)
            shop.may_go_on.set()
        return ends[0]


async def before_the_result_is_heard(redis: RedisServer, shop: Shop) -> End:
    async with working(redis, shop) as (_, client):
        yes = answering(await client.call(arguments={"number": 1}), ask_1=YES)
        await client.call(arguments={"number": 1}, **yes)
        await start_anew(redis)
        return await end_of(client.call(arguments={"number": 1}, **yes))


async def before_it_is_called_anew(redis: RedisServer, shop: Shop) -> End:
    async with working(redis, shop) as (_, client):
        await order(client, 1)
        await start_anew(redis)
        return await order(client, 1)


async def and_it_may_be_repeated(redis: RedisServer, shop: Shop) -> End:
    async with working(redis, shop, retry=True) as (_, client):
        await order(client, 1)
        await start_anew(redis)
        return await order(client, 1)


async def before_the_workers_are_replaced(redis: RedisServer, shop: Shop) -> End:
    async with working(redis, shop) as (_, client):
        await order(client, 1)
        await start_anew(redis)
        await order(client, 2)
    async with working(redis, shop) as (_, client):
        return await order(client, 1)


async def with_all_workers(redis: RedisServer, shop: Shop) -> End:
    async with working(redis, shop) as (_, client):
        await order(client, 1)
    await start_anew(redis)
    async with working(redis, shop) as (_, client):
        return await order(client, 1)


AGAIN, SAME = "makes the call again, with a yes", "sends the answer again"

Lose = Callable[[RedisServer, Shop], Awaitable[End]]

MOMENTS: list[tuple[str, str, Lose]] = [
    ("while the person thinks", "sends the answer", while_somebody_thinks),
    ("while the effect runs", "waits", while_it_runs),
    ("after the effect, before the client heard of it", SAME, before_the_result_is_heard),
    ("after the call", AGAIN, before_it_is_called_anew),
    ("after the call, with `retry=True`", AGAIN, and_it_may_be_repeated),
    ("after the call, and later all workers", AGAIN, before_the_workers_are_replaced),
    ("after the call, and all workers with it", AGAIN, with_all_workers),
]


async def find_out_losses(redis: RedisServer) -> list[Loss]:
    """Each moment with a shop of its own. In the first second after a loss, a call that begins is refused like one from
    before; that second is left out."""
    with mock.patch.object(redis_store, "EPOCH_LIFE", 0.0):
        return [await _found(redis, *moment) for moment in MOMENTS]


async def _found(redis: RedisServer, moment: str, then: str, lose: Lose) -> Loss:
    await start_anew(redis)
    shop = Shop()
    text = text_of(await lose(redis, shop))
    outcome = "told to find out first" if FIND_OUT in text else "done"
    assert outcome != "done" or text == "order 1 is placed", text
    return Loss(moment, then, outcome, len(shop.placed))
