"""What is kept of an approval, on every store's terms: see `tests/stores` for the stores themselves."""

import pytest

from askback.runtime.approvals import OWNER_PREFIX, Approvals, Scope
from askback.stores import MemoryStore
from tests.support.clock import Clock

pytestmark = pytest.mark.anyio

SCOPE = Scope("ada", "shop", "pay", "guard", "key", "1")


async def granted(
    approvals: Approvals, scope: Scope = SCOPE, *, seconds: float = 60, call: str = "c1"
) -> None:
    await approvals.grant(
        scope,
        seconds=seconds,
        covers="pay",
        message="Pay?",
        call=call,
        place="p",
        remembered=10,
        word="client",
    )


@pytest.fixture
def store(clock: Clock) -> MemoryStore:
    return MemoryStore(clock=clock)


@pytest.fixture
def approvals(store: MemoryStore, clock: Clock) -> Approvals:
    return Approvals(store, clock=clock)


@pytest.mark.parametrize("field", Scope._fields)
async def test_with_anything_else_it_does_not_hold(approvals: Approvals, field: str):
    await granted(approvals)
    assert await approvals.find(SCOPE) is not None
    assert await approvals.find(SCOPE._replace(**{field: "other"})) is None


async def test_its_parts_cannot_be_shifted_into_each_other(approvals: Approvals):
    await granted(approvals, SCOPE._replace(server='a", "b', target="c"))
    assert await approvals.find(SCOPE._replace(server="a", target='b", "c')) is None


async def test_it_is_over_when_it_says_whatever_the_store_keeps(clock: Clock):
    sleepy = MemoryStore(clock=lambda: 0.0)
    approvals = Approvals(sleepy, clock=clock)
    await granted(approvals)
    clock.now += 60
    assert await approvals.find(SCOPE) is None and await approvals.rows() == []


async def test_a_clock_that_was_set_back_makes_it_no_longer(approvals: Approvals, clock: Clock):
    await granted(approvals)
    clock.now -= 1
    assert await approvals.find(SCOPE) is None


async def test_the_same_place_of_the_same_call_grants_once(approvals: Approvals, clock: Clock):
    await granted(approvals)
    first = await approvals.find(SCOPE)
    clock.now += 30
    await granted(approvals)
    assert await approvals.find(SCOPE) == first
    await granted(approvals, call="c2")
    later = await approvals.find(SCOPE)
    assert first is not None and later is not None and later.until == first.until + 30


async def test_they_are_listed_by_owner_and_a_name_that_begins_alike_is_another(approvals: Approvals):
    for owner in ("ada", "adam", "bob"):
        for target in ("pay", "send"):
            await granted(approvals, SCOPE._replace(owner=owner, target=target), call=f"{owner} {target}")
    assert [row.owner for row in await approvals.rows()] == ["ada", "ada", "adam", "adam", "bob", "bob"]
    assert {row.tool for row in await approvals.rows("ada")} == {"pay", "send"}
    assert len(await approvals.rows("ada")) == 2


@pytest.mark.parametrize("row", [b"", b"[]", b"{}", b'{"server": 1}', b"\xff"])
async def test_a_row_that_is_none_is_no_approval(approvals: Approvals, store: MemoryStore, row: bytes):
    await store.put(OWNER_PREFIX + SCOPE.owner, SCOPE.name, row)
    assert await approvals.find(SCOPE) is None and await approvals.rows() == []
