"""A Redis that is killed, stopped, emptied, full, locked or not there: an error that says so, and back by itself."""

import gc
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager

import anyio
import pytest
from redis.exceptions import BusyLoadingError, ResponseError
from redis.exceptions import ConnectionError as ConnectionLost

from askback.errors import StoreUnavailable
from askback.stores import EpochChanged, Finished, Granted
from askback.stores.redis import RedisStore, client
from askback.stores.redis.problems import explain
from askback.testing.store_contract.base import begin, granted
from scripts.services import RedisServer, redis_server
from tests.support.services import found
from tests.support.stores.cut import wire_to
from tests.support.stores.redis import BOUND, FAR, shell, until, until_heard

pytestmark = pytest.mark.services

CANARY = "zwölf-Kanarienvögel"


@pytest.fixture
def server() -> Generator[RedisServer]:
    """Writes everything to its disk before it answers."""
    with found(), redis_server() as server:
        yield server


@pytest.fixture
def forgetful() -> Generator[RedisServer]:
    """Keeps nothing beyond its end."""
    with found(), redis_server(keeps=False) as server:
        yield server


@asynccontextmanager
async def opened(url: str, *, lease: float = 15.0) -> AsyncGenerator[RedisStore]:
    store = RedisStore(url, lease=lease)
    try:
        yield store
    finally:
        await store.close()


# Lost memory.


async def empty(server: RedisServer) -> None:
    async with shell(server.url) as redis:
        await redis.say("FLUSHALL")


async def start_anew(server: RedisServer) -> None:
    server.kill()
    server.start()


async def start_from_a_snapshot(server: RedisServer) -> None:
    async with shell(server.url) as redis:
        await redis.say("SAVE")
    await start_anew(server)


async def evict(server: RedisServer, *, policy: str = "allkeys-lru") -> None:
    async with shell(server.url) as redis:
        await redis.say("CONFIG", "SET", "maxmemory-policy", policy)
        await redis.say("CONFIG", "SET", "maxmemory", "3mb")
        for number in range(500):
            await redis.say("SET", f"somebody else's {number}", bytes(10_000), "EX", 1000)
        await redis.say("CONFIG", "SET", "maxmemory", "0")


@pytest.mark.parametrize("lose", [empty, start_anew, start_from_a_snapshot, evict])
async def test_lost_memory_is_noticed(forgetful: RedisServer, lose: Callable[[RedisServer], Awaitable[None]]):
    async with opened(forgetful.url) as store, opened(forgetful.url) as other:
        epoch = await store.epoch()
        claim = granted(await store.claim("order", turn=1, until=FAR, epoch=epoch))
        assert await store.record(claim, b"Order 1")
        running = granted(await store.claim("drink", turn=1, until=FAR, epoch=epoch))
        async with anyio.create_task_group() as group:
            waiter = await begin(group, lambda: other.claim("drink", turn=1, until=FAR))
            await until_heard(forgetful.url, 1)
            await lose(forgetful)
            for each in (store, other):
                assert await each.claim("order", turn=1, until=FAR, epoch=epoch) == EpochChanged()
                assert await each.claim("order", turn=2, until=FAR, epoch=epoch) == EpochChanged()
            assert await waiter.outcome() == EpochChanged(), "it may have been run, or may be still"
        await store.release(running)
        anew = await store.epoch()
        assert anew != epoch
        assert anew == await other.epoch()
        granted(await other.claim("order", turn=3, until=FAR, epoch=anew))


async def test_a_restart_that_loses_nothing_changes_nothing(server: RedisServer):
    async with opened(server.url) as store:
        epoch = await store.epoch()
        await store.record(granted(await store.claim("order", until=FAR, epoch=epoch)), b"Order 1")
        running = granted(await store.claim("drink", until=FAR, epoch=epoch))
        await store.append(b"line")
        for _ in range(2):
            await start_anew(server)
            assert await store.claim("order", until=FAR, epoch=epoch) == Finished(b"Order 1")
            assert await store.append(b"line") > 1
        assert await store.record(running, b"Cola")
        async with opened(server.url) as late:
            assert await late.epoch() == await store.epoch() == epoch
            assert await late.claim("drink", until=FAR, epoch=epoch) == Finished(b"Cola")


async def test_a_replica_in_place_of_its_primary_may_have_missed_something(server: RedisServer):
    with redis_server() as spare:
        async with opened(server.url) as store, opened(spare.url) as other, shell(spare.url) as redis:
            epoch = await store.epoch()
            async with shell(server.url) as primary:
                await primary.say("CONFIG", "SET", "repl-diskless-sync-delay", 0)
            await redis.say("REPLICAOF", "127.0.0.1", server.port)

            async def is_copied() -> bool:
                return bool(await redis.say("EXISTS", "{askback}:memory"))

            await until(is_copied)
            server.kill()
            await redis.say("REPLICAOF", "NO", "ONE")
            assert await other.claim("order", until=FAR, epoch=epoch) == EpochChanged()
        spare.kill()  # it would not stop before it has written all of its copy to its disk


async def test_what_was_evicted_before_anybody_was_back_is_noticed(server: RedisServer):
    async with opened(server.url) as store:
        epoch = await store.epoch()
        await start_anew(server)
        await evict(server, policy="volatile-ttl")  # the memory's name itself stays
        assert await store.claim("order", until=FAR, epoch=epoch) == EpochChanged()


async def test_a_disk_that_is_not_waited_for_during_a_rewrite_may_have_missed_something(server: RedisServer):
    async with shell(server.url) as redis:
        await redis.say("CONFIG", "SET", "no-appendfsync-on-rewrite", "yes")
    async with opened(server.url) as store:
        epoch = await store.epoch()
        await start_anew(server)
        assert await store.claim("order", until=FAR, epoch=epoch) == EpochChanged()


async def test_a_redis_that_may_evict_is_warned_of_once(
    forgetful: RedisServer, caplog: pytest.LogCaptureFixture
):
    async with shell(forgetful.url) as redis:
        await redis.say("CONFIG", "SET", "maxmemory-policy", "volatile-lru")
        await redis.say("CONFIG", "SET", "maxmemory", "100mb")
        with caplog.at_level(logging.WARNING, logger="askback"):
            async with opened(forgetful.url) as store:
                await store.count()
                await redis.kill_all_others()
                await store.count()
    (line,) = caplog.messages
    assert "volatile-lru" in line and "noeviction" in line


# Killed, stopped, and back.


async def test_killed_and_started_under_those_who_wait(server: RedisServer):
    async with opened(server.url) as store, opened(server.url) as other:
        claim = granted(await store.claim("order", until=FAR))
        async with anyio.create_task_group() as group:
            waiter = await begin(group, lambda: other.claim("order", until=FAR))
            visit = await begin(group, lambda: other.wait("visit"))
            await until_heard(server.url, 2)
            server.kill()
            with pytest.raises(StoreUnavailable, match="by itself"):
                await store.note(claim, b"placed")
            assert waiter.is_waiting and visit.is_waiting
            server.start()
            back = time.monotonic()
            assert await store.note(claim, b"placed")
            assert await store.record(claim, b"Order 1")
            await store.settle("visit", b"yes", until=FAR)
            assert await waiter.outcome() == Finished(b"Order 1")
            assert await visit.outcome() == b"yes"
            assert time.monotonic() - back < 2


async def test_nobody_counts_as_dead_for_having_said_nothing_to_a_server_that_was_down(server: RedisServer):
    async with opened(server.url) as runner, opened(server.url) as other:
        claim = granted(await runner.claim("order", until=FAR))
        long = granted(await runner.claim("drink", until=time.time()))
        await start_anew(server)
        async with shell(server.url) as redis:
            for key in ("order", "drink"):  # as if it had been down for long
                await redis.say("HSET", f"{{askback}}:claim:{key}", "alive", 1)
        assert await other.sweep() == 0
        assert await runner.record(long, b"Cola")
        async with anyio.create_task_group() as group:
            waiter = await begin(group, lambda: other.claim("order", until=FAR))
            await until_heard(server.url, 1)
            assert waiter.is_waiting
            assert await runner.record(claim, b"Order 1")
            assert await waiter.outcome() == Finished(b"Order 1")


async def test_one_who_waits_gives_up_on_a_redis_that_stays_away(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
):
    """However many wait for the same, and so one behind the other."""
    monkeypatch.setattr("askback.stores.redis.subscriber.OUTAGE_TIMEOUT", 0.5)
    async with opened(server.url) as store, anyio.create_task_group() as group:

        async def wait() -> None:
            with pytest.raises(StoreUnavailable, match="redis://127"):
                await store.wait("visit")

        waiters = [await begin(group, wait) for _ in range(8)]
        await until_heard(server.url, 1)
        server.kill()
        began = time.monotonic()
        for waiter in waiters:
            await waiter.outcome()
        assert time.monotonic() - began < 3


async def test_what_could_not_be_given_back_is_so_soon_after_redis_is_back(server: RedisServer):
    async with opened(server.url) as store, opened(server.url) as other:
        claim = granted(await store.claim("order", until=FAR))
        server.kill()
        with pytest.raises(StoreUnavailable):
            await store.release(claim)
        server.start()
        with anyio.fail_after(3):  # a third of the lease is five
            assert isinstance(await other.claim("order", until=FAR), Granted)


async def test_a_name_that_leads_elsewhere_after_a_failover_is_followed(forgetful: RedisServer):
    with redis_server(keeps=False) as spare:
        async with wire_to(forgetful.port) as wire, opened(f"redis://127.0.0.1:{wire.port}/0") as store:
            assert await store.spend("link", until=FAR)
            async with shell(forgetful.url) as redis:
                await redis.say("REPLICAOF", "127.0.0.1", "1")
            wire.lead_to(spare.port)
            assert await store.spend("another", until=FAR)


async def test_a_stopped_redis_is_an_error_in_time_and_none_when_it_goes_on(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(client, "ANSWER_TIMEOUT", 0.5)
    async with opened(server.url) as store:
        held = granted(await store.claim("order", until=FAR))
        server.pause()
        try:
            for _ in range(2):
                began = time.monotonic()
                with pytest.raises(StoreUnavailable, match="did not answer") as raised:
                    await store.claim("drink", until=FAR)
                assert "by itself" in raised.value.advice
                assert time.monotonic() - began < 2
        finally:
            server.resume()
        assert await store.record(held, b"Order 1")
        with anyio.fail_after(BOUND):
            granted(await store.claim("drink", until=FAR))  # nobody holds what was asked for in vain


async def test_a_long_value_whose_writer_is_cancelled_leaves_nobody_complaining(
    forgetful: RedisServer, caplog: pytest.LogCaptureFixture
):
    async with opened(forgetful.url) as store:
        await store.put("anna", "journal", b"")
        forgetful.pause()
        with anyio.move_on_after(0.2) as patience:
            await store.put("anna", "journal", bytes(8_000_000))
        forgetful.resume()
        assert patience.cancelled_caught
        assert await store.get("anna", "journal") is not None
    gc.collect()
    assert not caplog.messages


async def test_a_redis_that_is_not_there_is_named_without_its_password():
    async with opened(f"redis://anna:{CANARY}@127.0.0.1:1/3") as store:
        with pytest.raises(StoreUnavailable, match=r"redis://127\.0\.0\.1:1/3 cannot be used") as raised:
            await store.claim("order", until=FAR)
    assert "Look whether it is running" in raised.value.advice
    assert CANARY not in f"{raised.value} {raised.value.__cause__!r} {store!r}"


# Locked, full, and read only.


async def test_a_password_and_tls(caplog: pytest.LogCaptureFixture):
    with found(), redis_server(password="pa55", tls=True) as server:
        async with opened(server.url) as store:
            with pytest.raises(StoreUnavailable) as raised:
                await store.count()
        assert "ssl_ca_certs" in raised.value.advice
        for wrong in ("", f":{CANARY}@", f"anna:{CANARY}@"):
            url = server.url.replace(":pa55@", wrong)
            async with opened(f"{url}?ssl_ca_certs={server.certificate}") as store:
                with pytest.raises(StoreUnavailable) as raised:
                    await store.claim("order", until=FAR)
            assert "user and the password" in raised.value.advice
            assert CANARY not in f"{raised.value} {raised.value.__cause__!r} {caplog.text}"
        async with opened(f"{server.url}?ssl_ca_certs={server.certificate}&prefix=pizzeria") as store:
            claim = granted(await store.claim("order", until=FAR))
            assert await store.record(claim, b"Order 1")
            assert await store.wait("visit", seconds=0.05) is None


async def test_a_full_redis_keeps_what_it_has_and_takes_more_when_it_can(forgetful: RedisServer):
    async with opened(forgetful.url) as store, shell(forgetful.url) as redis:
        claim = granted(await store.claim("order", until=FAR))
        await redis.say("CONFIG", "SET", "maxmemory", "1mb")
        with pytest.raises(StoreUnavailable) as raised:
            await store.record(claim, bytes(1000))
        assert "more memory" in raised.value.advice
        await redis.say("CONFIG", "SET", "maxmemory", "0")
        assert await store.record(claim, b"Order 1")
        assert await store.claim("order", until=FAR) == Finished(b"Order 1")


async def test_a_replica_refuses_and_is_served_by_when_it_is_none_any_more(forgetful: RedisServer):
    async with opened(forgetful.url) as store, shell(forgetful.url) as redis:
        await store.count()
        await redis.say("REPLICAOF", "127.0.0.1", "1")
        with pytest.raises(StoreUnavailable) as raised:
            await store.spend("link", until=FAR)
        assert "replica" in raised.value.advice
        await redis.say("REPLICAOF", "NO", "ONE")
        assert await store.spend("link", until=FAR)


async def test_a_user_may_be_kept_to_our_keys(forgetful: RedisServer):
    rights = ("on", ">pa55", "~{pizzeria}:*", "&{pizzeria}:*", "+@all", "-@dangerous")
    async with shell(forgetful.url) as redis:
        await redis.say("ACL", "SETUSER", "bert", *rights)
        await redis.say("ACL", "SETUSER", "anna", *rights, "+info")
    async with opened(forgetful.url.replace("//", "//bert:pa55@") + "?prefix=pizzeria") as store:
        with pytest.raises(StoreUnavailable) as raised:
            await store.spend("link", until=FAR)
    assert "-@dangerous +info" in raised.value.advice
    url = forgetful.url.replace("//", "//anna:pa55@")
    async with opened(f"{url}?prefix=pizzeria") as store:
        assert isinstance(await store.claim("order", until=FAR), Granted)
        assert await store.wait("visit", seconds=0.05) is None
        await store.put("anna", "token", b"1")
        assert await store.count() == 2
    async with opened(f"{url}?prefix=other") as store:
        with pytest.raises(StoreUnavailable) as raised:
            await store.spend("link", until=FAR)
    assert "~{other}:*" in raised.value.advice


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (BusyLoadingError("Redis is loading the dataset in memory"), "reads its data"),
        (ResponseError("MISCONF Redis is configured to save RDB snapshots"), "its disk"),
        (ResponseError("NOREPLICAS Not enough good replicas to write."), "replicas"),
        (ResponseError("BUSY Redis is busy running a script."), "SCRIPT KILL"),
        (ResponseError("WRONGTYPE Operation against a key"), "?prefix="),
        (ConnectionLost("Connection closed by server."), "by itself"),
        (ResponseError("ERR something new"), "Look whether"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_an_error_of_redis_comes_with_advice(error: Exception, advice: str):
    explained = explain(error, store="redis://db:6379/0", prefix="askback")
    assert advice in explained.advice
    assert "redis://db:6379/0" in str(explained)
