"""Tokens over time: refreshed before they end, once for all who look, and asked for where only the person can help."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest

from tests.support.openid.provider import LASTING, TokenRequest
from tests.verbs.connect.office import ALMOST_OVER, BASIC, Office

pytestmark = [pytest.mark.anyio, pytest.mark.strangers]

ALICE = "alice: offline_access openid"


@asynccontextmanager
async def at_once(office: Office, count: int) -> AsyncGenerator[list[str]]:
    """So many calls from the beginning of the block; what they say is there at its end."""
    said: list[str] = []

    async def fetch() -> None:
        said.append(await office.fetch())

    async with anyio.create_task_group() as tasks:
        for _ in range(count):
            tasks.start_soon(fetch)
        yield said


@pytest.mark.verifies("R30", "R31", "R85")
async def test_a_person_signs_in_once_and_the_tool_has_a_token_that_the_provider_takes(office: Office):
    assert [await office.fetch() for _ in range(3)] == [ALICE] * 3
    assert len(office.traveller.links) == 1
    seen = await office.openid.seen(office.traveller.provider.client_id)
    assert seen == [
        TokenRequest(grant="authorization_code", proves=True, client=office.traveller.provider.client_id)
    ]


async def test_a_token_is_refreshed_before_it_ends_and_again_with_the_refresh_token_it_got_then(
    office: Office,
):
    await office.fetch()
    for _ in range(3):
        office.clock.ahead += ALMOST_OVER
        assert await office.fetch() == ALICE
    assert await office.refreshes() == 3
    assert len(office.traveller.links) == 1


async def test_twenty_calls_at_once_refresh_once(office: Office):
    await office.fetch()
    office.clock.ahead += 2 * LASTING
    async with office.openid.holding("before"), at_once(office, 20) as said:
        await office.openid.until_held()
        await office.openid.let_go()
    assert said == [ALICE] * 20
    assert await office.refreshes() == 1


async def test_while_the_provider_is_down_the_old_token_does_as_long_as_it_is_good(office: Office):
    await office.fetch()
    office.clock.ahead += ALMOST_OVER
    async with office.openid.failing(503):
        assert await office.fetch() == ALICE
        office.clock.ahead += 60
        said = await office.fetch()
        assert "provider 'calendar' cannot be used now" in said and "Call again later" in said
    office.clock.ahead += 60
    assert await office.fetch() == ALICE
    assert len(office.traveller.links) == 1


async def test_a_provider_that_is_down_is_not_tried_by_every_call(office: Office):
    await office.fetch()
    office.clock.ahead += ALMOST_OVER
    before = len(await office.openid.seen())
    async with office.openid.failing("drop"):
        async with at_once(office, 20) as said:
            pass
        assert await office.fetch() == ALICE
    assert said == [ALICE] * 20
    assert len(await office.openid.seen()) == before + 1


async def test_a_revoked_grant_is_asked_for_again(office: Office):
    await office.fetch()
    await office.openid.revoke(office.traveller.name)
    office.clock.ahead += ALMOST_OVER
    assert await office.fetch() == ALICE
    assert len(office.traveller.links) == 2


async def test_a_token_that_the_service_did_not_take_is_refreshed(office: Office):
    await office.fetch()
    await office.openid.cut(office.traveller.name)
    assert await office.call("fetch_twice") == ALICE
    assert (await office.refreshes(), len(office.traveller.links)) == (1, 1)


async def test_a_token_that_the_service_did_not_take_is_asked_for_where_it_was_revoked(office: Office):
    await office.fetch()
    await office.openid.revoke(office.traveller.name)
    assert await office.call("fetch_twice") == ALICE
    assert len(office.traveller.links) == 2


async def test_without_a_refresh_token_the_person_is_asked_when_it_ends(office: Office):
    await office.fetch("openid")
    office.clock.ahead += 2 * LASTING
    assert await office.fetch("openid") == "alice: openid"
    assert (await office.refreshes(), len(office.traveller.links)) == (0, 2)


async def test_more_is_asked_only_when_needed_and_what_was_agreed_to_before_stays(office: Office):
    await office.fetch(*BASIC, "email")
    await office.fetch("openid")
    assert len(office.traveller.links) == 1
    assert await office.fetch("openid", "calendar") == "alice: calendar email offline_access openid"
    await office.fetch("email", "calendar")
    assert len(office.traveller.links) == 2
    assert "<code>email</code>" in office.traveller.pages[1]


async def test_disconnect_gives_the_tokens_back_and_forgets_them(office: Office):
    await office.fetch()
    assert [await office.call("part") for _ in range(2)] == ["true", "false"]
    assert await office.openid.revoke(office.traveller.name) == 0
    assert await office.fetch() == ALICE
    assert len(office.traveller.links) == 2


async def test_disconnecting_while_a_token_is_refreshed_leaves_nothing(office: Office):
    await office.fetch()
    office.clock.ahead += 2 * LASTING
    async with office.openid.holding("after"), anyio.create_task_group() as tasks:
        tasks.start_soon(office.fetch)
        await office.openid.until_held()
        assert await office.call("part") == "true"
        office.traveller.on_our_page = "no"
        await office.openid.let_go()
    assert await office.fetch() == "Declined"
    assert await office.openid.revoke(office.traveller.name) == 0


async def test_a_call_that_is_cut_off_while_it_refreshes_loses_nothing(office: Office):
    await office.fetch()
    office.clock.ahead += ALMOST_OVER
    cut = anyio.CancelScope()

    async def fetch() -> None:
        with cut:
            await office.fetch()

    async with office.openid.holding("after"), anyio.create_task_group() as tasks:
        tasks.start_soon(fetch)
        await office.openid.until_held()
        cut.cancel()
        await office.openid.let_go()
    assert cut.cancelled_caught
    office.clock.ahead += 60
    assert await office.fetch() == ALICE
    assert (await office.refreshes(), len(office.traveller.links)) == (1, 1)
