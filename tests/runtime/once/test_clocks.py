"""Workers whose clocks differ, or who let people think for different times: a yes counts once, for as long as any of
them would take a copy of it (T35)."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from mcp.server import request_state

from askback import ask
from askback.model.durations import CLOCK_SKEW
from askback.server import round_claims
from askback.server.hosts import lowlevel_of
from askback.stores import Store
from tests.runtime.once.bank import Bank
from tests.runtime.once.servers import serve
from tests.support.defence import with_and_without
from tests.support.deliveries import end_of, text_of
from tests.support.raw import Raw, accepting, answering, raw_client
from tests.support.stores.workers import Opener

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("T04", "T35")]

KEYS = ["the same in all workers, 32 bytes and more"]
HOUR = 3600.0

AHEAD: ContextVar[float] = ContextVar("ahead", default=0.0)
"""How far the clock of the worker is ahead that serves this request."""


class Time:
    """One time for all, and a clock for each worker."""

    now = 1_800_000_000.0

    def clock(self, ahead: float) -> Callable[[], float]:
        return lambda: self.now + ahead

    def for_seals(self) -> float:
        return self.now + AHEAD.get()


@pytest.fixture
def moment(monkeypatch: pytest.MonkeyPatch) -> Time:
    moment = Time()
    monkeypatch.setattr(request_state, "time", SimpleNamespace(time=moment.for_seals))
    return moment


class Worker(NamedTuple):
    """A client of one worker, and the store as that worker has it open."""

    client: Raw
    store: Store


Start = Callable[..., Any]


@pytest.fixture
async def start(moment: Time, opener: Opener) -> AsyncGenerator[Start]:
    """Starts a worker of the bank whose clock is so far ahead."""
    async with AsyncExitStack() as stack:

        async def start(bank: Bank, *, ahead: float = 0.0, think_time: float = HOUR) -> Worker:
            clock = moment.clock(ahead)
            store = opener(clock)

            async def body() -> str:
                await ask("Sure?", bool)
                return f"transfer {bank.transfer()}"

            async def in_its_time(ctx: Any, call_next: Any) -> Any:
                AHEAD.set(ahead)
                return await call_next(ctx)

            server = serve("MCPServer", body, store=store, keys=KEYS, think_time=think_time, clock=clock)
            lowlevel_of(server).middleware.insert(0, in_its_time)
            return Worker(await stack.enter_async_context(raw_client(server)), store)

        yield start


def keep_claims_for_think_time_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def for_think_time(now: float, life: float) -> float:
        return now + life

    monkeypatch.setattr(round_claims, "redeemable_until", for_think_time)


@with_and_without
async def test_a_copy_of_a_yes_is_known_while_the_seal_of_a_fast_clock_is_good(
    is_defended: bool, start: Start, moment: Time, monkeypatch: pytest.MonkeyPatch
):
    if not is_defended:
        keep_claims_for_think_time_alone(monkeypatch)
    bank = Bank()
    slow, fast = await start(bank), await start(bank, ahead=CLOCK_SKEW)
    yes = answering(await fast.client.call(), ask_1=accepting(value=True))
    assert text_of(await slow.client.call(**yes)) == "transfer 1"
    moment.now += HOUR + CLOCK_SKEW - 1
    await slow.store.sweep()
    assert text_of(await slow.client.call(**yes)) == ("transfer 1" if is_defended else "transfer 2")
    moment.now += 1
    assert "expired requestState" in text_of(await end_of(slow.client.call(**yes)))
    assert len(bank.made) == (1 if is_defended else 2)


@with_and_without
async def test_what_a_worker_with_a_fast_clock_forgets_is_not_open_to_one_with_a_slow_clock(
    is_defended: bool, start: Start, moment: Time, monkeypatch: pytest.MonkeyPatch
):
    if not is_defended:
        keep_claims_for_think_time_alone(monkeypatch)
    bank = Bank()
    slow, fast = await start(bank), await start(bank, ahead=CLOCK_SKEW)
    yes = answering(await slow.client.call(), ask_1=accepting(value=True))
    assert text_of(await slow.client.call(**yes)) == "transfer 1"
    moment.now += HOUR - 1
    await fast.store.sweep()
    is_shared = slow.store is fast.store  # in memory there is one clock, and so nobody to forget too soon
    expected = 1 if is_defended or is_shared else 2
    assert text_of(await slow.client.call(**yes)) == f"transfer {expected}"
    assert len(bank.made) == expected


@with_and_without
async def test_a_worker_with_less_time_to_think_remembers_for_as_long_as_the_seal_of_another_lasts(
    is_defended: bool, start: Start, moment: Time, monkeypatch: pytest.MonkeyPatch
):
    if not is_defended:
        keep_claims_for_think_time_alone(monkeypatch)
    bank = Bank()
    patient, hasty = await start(bank), await start(bank, think_time=60.0)
    yes = answering(await patient.client.call(), ask_1=accepting(value=True))
    assert text_of(await hasty.client.call(**yes)) == "transfer 1"
    moment.now += HOUR - 1
    await hasty.store.sweep()
    assert text_of(await hasty.client.call(**yes)) == ("transfer 1" if is_defended else "transfer 2")
    assert len(bank.made) == (1 if is_defended else 2)
