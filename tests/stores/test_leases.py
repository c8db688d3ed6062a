"""The thread that renews leases and releases claims that nobody runs."""

import asyncio
import logging
import threading
from collections.abc import Collection, Mapping

import anyio
import anyio.to_thread
import pytest

from askback.errors import OperatorError, StoreUnavailable
from askback.stores.leases import Leases, require_lease

BOUND = 20.0


class Server:
    """What a store would tell its server."""

    def __init__(self) -> None:
        self.renewed: list[str] = []
        self.released: list[str] = []
        self.lost: set[str] = set()
        self.is_away = False
        self.is_told = threading.Event()

    async def renew(self, held: Mapping[str, str]) -> Collection[str]:
        self._answer()
        self.renewed += held
        return self.lost & set(held)

    async def release(self, token: str, row: str) -> None:
        self._answer()
        self.released.append(token)

    def _answer(self) -> None:
        self.is_told.set()
        if self.is_away:
            raise StoreUnavailable(store="shop", problem="it is away", advice="Look for it.")


async def until_told(server: Server) -> None:
    server.is_told.clear()
    assert await anyio.to_thread.run_sync(server.is_told.wait, BOUND)


@pytest.fixture
def server() -> Server:
    return Server()


def leases_of(server: Server, lease: float = 0.06) -> Leases[str]:
    return Leases(lease, renew=server.renew, release=server.release)


async def test_a_claim_is_renewed_until_it_is_dropped_or_lost(server: Server):
    leases = leases_of(server)
    leases.hold("ours", "order")
    leases.hold("another's", "drink")
    server.lost = {"another's"}
    for _ in range(4):
        await until_told(server)
    assert leases.holds("ours") and not leases.holds("another's")
    assert server.renewed.count("ours") > server.renewed.count("another's") > 0
    leases.end()
    await anyio.to_thread.run_sync(leases.join, BOUND)


async def test_a_claim_whose_loop_is_closed_is_not_renewed(server: Server):
    leases = leases_of(server)

    async def hold() -> None:
        leases.hold("closed", "order")

    await anyio.to_thread.run_sync(asyncio.run, hold())
    leases.hold("running", "drink")
    for _ in range(3):
        await until_told(server)
    assert not leases.holds("closed") and leases.holds("running")
    leases.end()


async def test_an_abandoned_claim_is_released_when_the_server_is_back_and_the_log_has_it_once(
    server: Server, caplog: pytest.LogCaptureFixture
):
    server.is_away = True
    leases = leases_of(server, lease=3.0)
    with caplog.at_level(logging.WARNING, logger="askback"):
        leases.abandon("order", "order")
        leases.abandon("drink", "drink")
        await until_told(server)
        await until_told(server)
    assert not server.released
    server.is_away = False
    leases.end()
    await anyio.to_thread.run_sync(leases.join, BOUND)
    assert sorted(server.released) == ["drink", "order"]
    assert len(caplog.messages) == 1 and "it is away" in caplog.messages[0]


@pytest.mark.parametrize("lease", [0.0, -1.0, float("inf"), float("nan")])
def test_a_lease_is_a_time_that_can_pass(lease: float):
    with pytest.raises(OperatorError, match=r"RedisStore\(lease="):
        require_lease(lease, of="RedisStore")
