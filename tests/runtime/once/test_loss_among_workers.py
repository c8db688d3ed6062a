"""One worker learns that the store lost its memory, and all others know it: those that nobody called, and those that
were started later (T35)."""

from typing import Any

import anyio
import pytest

from askback.runtime.conversation_ids import ConversationIds
from askback.runtime.effect_claims import EffectClaims
from scripts.services import RedisServer
from tests.runtime.once.forgetful import FIND_OUT, Shop, order, start_anew, working
from tests.runtime.once.forgetful import at_once as at_once
from tests.runtime.once.forgetful import redis as redis
from tests.support.defence import with_and_without
from tests.support.deliveries import End, text_of
from tests.support.stores.redis import shell

pytestmark = [pytest.mark.anyio, pytest.mark.services, pytest.mark.verifies("R39", "T35")]


async def nothing(*_: Any) -> None: ...


def when_heard(monkeypatch: pytest.MonkeyPatch, count: int) -> anyio.Event:
    """Set when so many epochs were heard of, by all workers together."""
    heard, all_heard, hear = list[str](), anyio.Event(), ConversationIds.note_epoch

    async def hear_and_count(self: ConversationIds, epoch: str) -> None:
        await hear(self, epoch)
        heard.append(epoch)
        if len(heard) == count:
            all_heard.set()

    monkeypatch.setattr(ConversationIds, "note_epoch", hear_and_count)
    return all_heard


@with_and_without
@pytest.mark.usefixtures("at_once")
async def test_a_worker_that_was_started_after_the_loss_learns_of_it_from_another(
    is_defended: bool, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
):
    if not is_defended:
        monkeypatch.setattr(ConversationIds, "_told_loss", nothing)
    shop = Shop()
    async with working(redis, shop) as (_, client):
        await order(client, 7)
        await order(client, 8)
        await start_anew(redis)
        assert FIND_OUT in text_of(await order(client, 7))
    async with working(redis, shop) as (_, client):
        end = text_of(await order(client, 8))
        assert (FIND_OUT in end) == is_defended
        assert shop.placed == ([7, 8] if is_defended else [7, 8, 8])
        assert text_of(await order(client, 7)) == "order 7 is placed"  # they were told by the other worker


@with_and_without
@pytest.mark.usefixtures("at_once")
async def test_a_worker_that_nobody_called_before_the_loss_knows_of_it(
    is_defended: bool, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
):
    if not is_defended:
        monkeypatch.setattr(ConversationIds, "watch_epoch", nothing)
    shop = Shop()
    async with working(redis, shop) as (_, client):
        await order(client, 7)
    has_heard = when_heard(monkeypatch, 1)
    async with working(redis, shop) as (_, idle):
        if is_defended:
            with anyio.fail_after(10):
                await has_heard.wait()
        await start_anew(redis)
        assert (FIND_OUT in text_of(await order(idle, 7))) == is_defended
    assert shop.placed == ([7] if is_defended else [7, 7])


@pytest.mark.usefixtures("at_once")
async def test_workers_that_nobody_calls_between_the_loss_and_their_end_tell_those_that_follow(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("askback.runtime.conversation_ids.LOOK", 0.05)
    shop, told, learn = Shop(), anyio.Event(), ConversationIds._learn_of_loss  # pyright: ignore[reportPrivateUsage]

    async def learn_and_tell(self: ConversationIds, epoch: str) -> None:
        await learn(self, epoch)
        told.set()

    monkeypatch.setattr(ConversationIds, "_learn_of_loss", learn_and_tell)
    async with working(redis, shop) as (_, client):
        await order(client, 7)
        await start_anew(redis)
        with anyio.fail_after(10):
            await told.wait()
    async with working(redis, shop) as (_, client):
        assert FIND_OUT in text_of(await order(client, 7))
    assert shop.placed == [7]


@with_and_without
async def test_a_copy_that_comes_right_behind_the_call_that_is_told_is_told_too(
    is_defended: bool, redis: RedisServer, at_once: None, monkeypatch: pytest.MonkeyPatch
):
    if is_defended:
        monkeypatch.setattr("askback.runtime.effect_claims.NOTICE_DELAY", 5.0)
    shop = Shop()
    async with working(redis, shop) as (_, client):
        await order(client, 7)
        await start_anew(redis)
        assert FIND_OUT in text_of(await order(client, 7))
        assert (FIND_OUT in text_of(await order(client, 7))) == is_defended
        assert shop.placed == ([7] if is_defended else [7, 7])
        monkeypatch.setattr("askback.runtime.effect_claims.NOTICE_DELAY", 0.0)  # as if that time had passed
        assert text_of(await order(client, 7)) == "order 7 is placed"


@with_and_without
async def test_an_effect_under_way_gives_its_result_though_the_epoch_was_heard_a_moment_ago(
    is_defended: bool, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("askback.stores.redis.store.EPOCH_LIFE", 60.0)

    async def ask_for_name(self: Any) -> bool:
        return await self._names.epoch() != self._journal.epoch

    if not is_defended:
        monkeypatch.setattr(EffectClaims, "_is_epoch_lost", ask_for_name)
    shop = Shop()
    shop.may_go_on = anyio.Event()
    ends: list[End] = []
    async with working(redis, shop, within=None) as (_, client):

        async def order_one() -> None:
            ends.append(await order(client, 7))

        async with anyio.create_task_group() as group:
            group.start_soon(order_one)
            await shop.is_placing.wait()
            async with shell(redis.url) as beside:  # without a restart: a new connection asks for the epoch
                await beside.say("FLUSHALL")
            shop.may_go_on.set()
    assert (text_of(ends[0]) == "order 7 is placed") == is_defended
    assert shop.placed == [7]
