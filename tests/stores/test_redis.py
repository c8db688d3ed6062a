"""A Redis store on a Redis that is well: its keys, its scripts, and what is asked twice."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from hashlib import sha1
from pathlib import Path

import anyio
import pytest

from askback.errors import StoreUnavailable
from askback.stores import Cap, Finished, Granted
from askback.stores.redis import RedisStore, keys, subscriber
from askback.stores.redis.client import MAX_CONNECTIONS
from askback.stores.redis.keys import decode_pair, encode_pair
from askback.stores.redis.scripts import read_script
from askback.stores.redis.subscriber import Subscriber
from askback.testing.store_contract.base import begin, granted
from scripts.services import RedisServer
from tests.support.stores.cut import Wire, wire_to
from tests.support.stores.postgres import schema_of
from tests.support.stores.redis import BOUND, FAR, shell, until, until_heard

pytestmark = pytest.mark.services


@pytest.fixture
def prefix(tmp_path: Path) -> str:
    return schema_of(tmp_path)


@pytest.fixture
async def store(redis_url: str, prefix: str) -> AsyncGenerator[RedisStore]:
    store = RedisStore(redis_url, prefix=prefix)
    yield store
    await store.close()


@pytest.fixture
async def wire(redis_service: RedisServer) -> AsyncGenerator[Wire]:
    async with wire_to(redis_service.port) as wire:
        yield wire


@pytest.fixture
async def far(wire: Wire, prefix: str) -> AsyncGenerator[RedisStore]:
    """The same store at the other end of a wire that can be cut."""
    far = RedisStore(f"redis://127.0.0.1:{wire.port}/0", prefix=prefix)
    await far.epoch()
    yield far
    await far.close()


# Keys.


async def test_two_prefixes_do_not_see_each_other(store: RedisStore, redis_url: str, prefix: str):
    other = RedisStore(f"{redis_url}?prefix={prefix}/other")
    await store.put("anna", "token", b"1")
    await store.append(b"line")
    assert await store.spend("link", until=FAR)
    granted(await store.claim("order", until=FAR))
    assert await other.get("anna", "token") is None
    assert await other.rows(prefix="") == await other.read() == []
    assert await other.spend("link", until=FAR)
    granted(await other.claim("order", digest="other", until=FAR))
    assert (await store.count(), await other.count()) == (3, 2)
    await other.close()


async def test_one_prefix_may_begin_with_another_or_look_like_a_pattern(redis_url: str, prefix: str):
    for number, name in enumerate(["a", "a*", "a?", "[a]", "a\\"]):
        store = RedisStore(redis_url, prefix=f"{prefix}{name}")
        for key in range(number + 1):
            await store.spend(str(key), until=FAR)
        assert await store.count() == number + 1
        await store.close()


@pytest.mark.parametrize(
    ("owner", "name"),
    [("", ""), ("a\0", "b"), ("a", "\0b"), ("\0\0", "\0"), ("a\0ÿ", "🍕:{x}\n"), ("a b", "*")],
)
async def test_owners_and_names_may_be_any_text(store: RedisStore, owner: str, name: str):
    assert decode_pair(encode_pair(owner, name)) == (owner, name)
    await store.put(owner, name, b"value")
    assert await store.get(owner, name) == b"value"
    assert await store.rows(prefix=owner) == [(owner, name)]


async def test_rows_come_in_the_order_of_pairs(store: RedisStore):
    pairs = [
        (owner, name) for owner in ("", "a", "a\0", "a\0b", "a\1", "aé", "b") for name in ("", "\0", "x", "é")
    ]
    for owner, name in reversed(pairs):
        await store.put(owner, name, b"")
    assert await store.rows(prefix="") == sorted(pairs)
    assert await store.rows(prefix="a\0") == [pair for pair in sorted(pairs) if pair[0].startswith("a\0")]
    assert await store.rows(prefix="", after=("a\0", "x"), limit=3) == sorted(pairs)[11:14]


async def test_a_key_that_cannot_be_written_fails_alone(store: RedisStore):
    with pytest.raises(UnicodeEncodeError):
        await store.claim("\ud800", until=FAR)
    assert isinstance(await store.claim("order", until=FAR), Granted)


async def test_everything_goes_by_itself(redis_url: str, prefix: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(keys, "CLOCK_TOLERANCE", 0.0)
    store = RedisStore(redis_url, prefix=prefix, lease=0.1)
    soon = time.time() + 1.0
    await store.record(granted(await store.claim("order", until=soon)), b"Order 1")
    granted(await store.claim("noted", until=soon))
    await store.settle("visit", b"yes", until=soon)
    await store.spend("link", until=soon)
    await store.put("anna", "token", b"1", until=soon)
    await store.put("bert", "token", b"1", until=soon + 0.1)
    await store.put("carl", "token", b"1")
    assert await store.delete("carl", "token")
    for name in ("first", "second"):
        cap = Cap("visits", "dora", max_of_holder=1, max_in_all=1)
        await store.put_capped("dora", name, b"1", until=soon, cap=cap)
    await store.close()
    async with shell(redis_url) as redis:

        async def all_but_answers_are_gone() -> bool:
            return all(key.startswith(b"answered:") for key in await redis.keys(prefix))

        await until(all_but_answers_are_gone)
        for key in await redis.keys(prefix):
            assert 0 < await redis.say("PTTL", b"{%s}:%s" % (prefix.encode(), key)) <= 30_000


async def test_what_is_put_with_a_time_takes_those_away_whose_time_is_over(redis_url: str, prefix: str):
    now = [1000.0]
    store = RedisStore(redis_url, prefix=prefix, clock=lambda: now[0])
    for number in range(20):
        await store.put("anna", str(number), b"", until=now[0] + 60)
    now[0] += 60
    for number in range(4):
        await store.put("bert", str(number), b"", until=now[0] + 60)
    async with shell(redis_url) as redis:
        assert await redis.say("ZCARD", f"{{{prefix}}}:rows") == 4
        assert await redis.say("ZCARD", f"{{{prefix}}}:due") == 4
    await store.close()


async def test_what_is_over_is_not_listed_beside_what_stays_for_good(redis_url: str, prefix: str):
    now = [1000.0]
    store = RedisStore(redis_url, prefix=prefix, clock=lambda: now[0])
    await store.put("anna", "address", b"")
    await store.put("anna", "token", b"", until=now[0] + 60)
    now[0] += 3600
    async with shell(redis_url) as redis:
        await redis.let_time_pass(prefix)
        assert await store.rows(prefix="") == [("anna", "address")]
        assert await store.count() == 1
        await store.sweep()
        assert await redis.say("ZCARD", f"{{{prefix}}}:rows") == 1
        await store.put("anna", "token", b"", until=now[0] + 60)
        assert await store.delete("anna", "address")
        assert await store.rows(prefix="") == [("anna", "token")]
        await redis.let_time_pass(prefix)
        assert await redis.keys(prefix) == set(), "with the last that stays, all goes"
    await store.close()


# Scripts and connections.


async def test_scripts_that_redis_has_forgotten_are_sent_again(store: RedisStore, redis_url: str):
    async with shell(redis_url) as redis:
        claim = granted(await store.claim("order", until=FAR))
        for verb in (
            lambda: store.note(claim, b"placed"),
            lambda: store.record(claim, b"Order 1"),
            lambda: store.append(b"line"),
            lambda: store.spend("link", until=FAR),
        ):
            await redis.say("SCRIPT", "FLUSH")
            assert await verb()


async def test_connections_that_were_cut_are_opened_again(store: RedisStore, redis_url: str):
    async with shell(redis_url) as redis:
        claim = granted(await store.claim("order", until=FAR))
        async with anyio.create_task_group() as group:
            waiter = await begin(group, lambda: store.claim("order", until=FAR))
            visit = await begin(group, lambda: store.wait("visit"))
            await until_heard(redis_url, 2)
            for _ in range(3):
                assert await redis.kill_all_others()
                assert await store.note(claim, b"placed")
            await store.settle("visit", b"yes", until=FAR)
            assert await store.record(claim, b"Order 1")
            assert await waiter.outcome() == Finished(b"Order 1")
            assert await visit.outcome() == b"yes"


async def test_waiters_are_rung_for_and_need_not_look(
    redis_url: str, prefix: str, store: RedisStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(subscriber, "LOOK_INTERVAL", 2 * BOUND)
    other = RedisStore(redis_url, prefix=prefix)
    claim = granted(await store.claim("order", until=FAR))
    async with anyio.create_task_group() as group:
        copies = [await begin(group, lambda: other.claim("order", until=FAR)) for _ in range(3)]
        visits = [await begin(group, lambda: other.wait("visit")) for _ in range(3)]
        await until_heard(redis_url, 2)
        await store.record(claim, b"Order 1")
        await store.settle("visit", b"yes", until=FAR)
        for copy, visit in zip(copies, visits, strict=True):
            assert await copy.outcome() == Finished(b"Order 1")
            assert await visit.outcome() == b"yes"
    await other.close()


async def test_a_waiter_whom_nobody_told_finds_out_by_himself(store: RedisStore, redis_url: str, prefix: str):
    async with shell(redis_url) as redis, anyio.create_task_group() as group:
        visit = await begin(group, lambda: store.wait("visit"))
        await until_heard(redis_url, 1)
        await redis.say("SET", f"{{{prefix}}}:settled:visit", f"{FAR}:yes")
        assert await visit.outcome() == b"yes"


async def test_closing_tells_those_who_wait(store: RedisStore, redis_url: str):
    granted(await store.claim("order", until=FAR))
    async with anyio.create_task_group() as group:

        async def wait(call: Callable[[], Awaitable[object]]) -> None:
            with pytest.raises(StoreUnavailable, match="closed while somebody waited"):
                await call()

        await begin(group, lambda: wait(lambda: store.claim("order", until=FAR)))
        await begin(group, lambda: wait(lambda: store.claim("order", until=FAR)))
        await begin(group, lambda: wait(lambda: store.wait("visit")))
        await until_heard(redis_url, 2)
        with anyio.fail_after(BOUND):
            await store.close()


async def test_a_few_connections_serve_many_calls_at_once(store: RedisStore, redis_url: str):
    async with shell(redis_url) as redis:
        before = len((await redis.say("CLIENT", "LIST")).splitlines())
        async with asyncio.TaskGroup() as group:
            for number in range(200):
                group.create_task(store.spend(str(number), until=FAR))
        assert len((await redis.say("CLIENT", "LIST")).splitlines()) <= before + MAX_CONNECTIONS


# Asked twice, since the wire was cut after it was done and before it was answered.


def digest(verb: str) -> bytes:
    return sha1(read_script(verb).encode(), usedforsecurity=False).hexdigest().encode()


async def test_a_claim_that_was_granted_unheard_is_mine(far: RedisStore, wire: Wire):
    wire.cut_at(digest("claim"))
    claim = granted(await far.claim("order", until=FAR))
    assert wire.cuts == 1
    assert await far.record(claim, b"Order 1")


async def test_a_record_that_was_kept_unheard_stands(far: RedisStore, wire: Wire):
    claim = granted(await far.claim("order", until=FAR))
    wire.cut_at(digest("record"))
    assert await far.record(claim, b"Order 1")
    assert wire.cuts == 1
    assert not await far.record(claim, b"Order 2")
    assert await far.claim("order", until=FAR) == Finished(b"Order 1")


async def test_a_key_that_was_spent_unheard_was_spent_by_us(far: RedisStore, wire: Wire):
    wire.cut_at(digest("spend"))
    assert await far.spend("link", until=FAR)
    assert not await far.spend("link", until=FAR)
    assert wire.cuts == 1


async def test_lines_that_were_written_unheard_are_written_once(far: RedisStore, wire: Wire):
    wire.cut_at(digest("append"))
    assert await far.append(b"1", b"2") == 2
    assert await far.read() == [(1, b"1"), (2, b"2")]
    assert wire.cuts == 1


async def test_what_was_replaced_or_deleted_unheard_was_so_by_us(far: RedisStore, wire: Wire):
    await far.put("anna", "token", b"1")
    wire.cut_at(digest("replace"))
    assert await far.replace("anna", "token", b"1", b"2")
    wire.cut_at(digest("replace"))
    assert await far.delete("anna", "token")
    assert wire.cuts == 2


async def test_a_claim_whose_asker_has_gone_is_taken_back(far: RedisStore, store: RedisStore, wire: Wire):
    for _ in range(10):
        with anyio.move_on_after(0):
            await far.claim("order", turn=1, digest="gone", until=FAR)
        with anyio.fail_after(BOUND):
            claim = granted(await store.claim("order", turn=1, digest="gone", until=FAR))
        await store.release(claim)


async def test_a_claim_whose_waiter_is_cancelled_as_he_leaves_is_given_back(
    store: RedisStore, monkeypatch: pytest.MonkeyPatch, redis_url: str
):
    claim = granted(await store.claim("order", until=FAR))
    say = Subscriber._say  # pyright: ignore[reportPrivateUsage] - it waits only where the connection is choked

    async def choked(subscriber: Subscriber, verb: str, topic: bytes) -> None:
        await say(subscriber, verb, topic)
        if verb == "unsubscribe":
            await anyio.sleep_forever()

    async with anyio.create_task_group() as group:
        waiter = await begin(group, lambda: store.claim("order", until=FAR))
        await until_heard(redis_url, 1)
        monkeypatch.setattr(Subscriber, "_say", choked)
        await store.release(claim)
        await until_heard(redis_url, 0)
        waiter.cancel()
        await waiter.outcome()
    monkeypatch.undo()
    with anyio.fail_after(BOUND):
        assert isinstance(await store.claim("order", until=FAR), Granted)


async def test_a_claim_that_was_withdrawn_before_it_arrived_is_nobodys(
    store: RedisStore, redis_url: str, prefix: str
):
    claim = granted(await store.claim("order", until=FAR))
    await store.release(claim)
    async with shell(redis_url) as redis:
        home = f"{{{prefix}}}"
        row, mark = f"{home}:claim:order", f"{home}:withdrawn:late"
        await redis.say("EVAL", read_script("release"), 2, row, mark, "late", 60_000)
        late = (1000, 0, "", FAR, "1", "late", "", 15_000, 60_000, "", "")
        said = await redis.say("EVAL", read_script("claim"), 3, row, f"{home}:memory", mark, *map(str, late))
        assert said[0] == b"rejected"
        assert await redis.say("EXISTS", row) == 0
