"""Whose a visit is: where tokens tell callers apart, and where they do not."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken

from askback import once, secret
from askback.errors import VisitorUnknown, VisitUnknown
from askback.pages import Pages
from tests.runtime.visits.test_demands import demanded
from tests.support.visit_shops import NOVEMBER, Shop, Traveller, in_memory, mcpserver, pay, text_of

pytestmark = pytest.mark.anyio

ISSUER = "https://id.example"


@asynccontextmanager
async def bearing(shop: Shop, subject: str | None = None, **claims: str) -> AsyncGenerator[Any]:
    """A client of 2025-11-25 in the server's own process, whose calls carry a token of the one application."""
    token = AccessToken(
        token="t", client_id="app", scopes=[], subject=subject, claims={"iss": ISSUER, **claims}
    )
    before = auth_context_var.set(AuthenticatedUser(token))
    try:
        async with in_memory(shop) as target, Traveller().at(NOVEMBER, target) as client:
            yield client
    finally:
        auth_context_var.reset(before)


@pytest.mark.verifies("T01", "T26")
async def test_a_caller_whom_claims_alone_tell_apart_is_not_given_the_visit_of_another():
    shop = mcpserver(pay, demand_visits=True, hold=0.01)
    async with bearing(shop, sub="ada") as client:
        (ada,) = await demanded(client)
    assert await shop.asked.settle(ada["elicitationId"], "paid by Ada")
    async with bearing(shop, sub="eve") as client:
        (eve,) = await demanded(client)
    assert eve["elicitationId"] != ada["elicitationId"]
    async with bearing(shop, sub="ada") as client:
        assert text_of(await client.call_tool("t", {})) == "Accepted(value='paid by Ada')"


@pytest.mark.verifies("T01", "T26")
async def test_for_a_token_that_names_nobody_nothing_is_left():
    shop = mcpserver(pay, demand_visits=True)
    async with bearing(shop) as client:
        assert "the caller is unknown" in text_of(await client.call_tool("t", {}))


@pytest.mark.verifies("T26")
async def test_callers_of_one_application_share_no_effect():
    made: list[str] = []

    def transfer() -> str:
        made.append("one")
        return f"transfer {len(made)}"

    async def body() -> str:
        return await once("transfer", transfer, within=60)

    shop, texts = mcpserver(body), list[str]()
    for claims in ({"sub": "ada"}, {"sub": "eve"}, {"sub": "ada"}, {}):
        async with bearing(shop, **claims) as client:
            texts.append(text_of(await client.call_tool("t", {})))
    assert texts[:3] == ["transfer 1", "transfer 2", "transfer 1"]
    assert "the caller is not known" in texts[3]


async def asks_for_a_key() -> str:
    try:
        return repr(await secret("To look it up.", "weather key"))
    except VisitorUnknown as error:
        return f"unguarded: {error}"


@pytest.mark.verifies("T01")
async def test_a_call_with_a_token_is_sent_to_the_guarded_pages_also_from_the_server_s_own_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("ASKBACK_HOME", str(tmp_path))
    bare = mcpserver(asks_for_a_key, demand_visits=True)
    async with bearing(bare, "ada") as client:
        assert text_of(await client.call_tool("t", {})).startswith("unguarded: secret(...) needs a page")
    pages = Pages(url="http://127.0.0.1:1", accept_anyone=True)
    guarded = mcpserver(asks_for_a_key, demand_visits=True, pages=pages)
    async with bearing(guarded, "ada") as client:
        (listed,) = await demanded(client)
    assert listed["url"].startswith("http://127.0.0.1:1/askback/visit/")


async def test_the_application_ends_visits_to_its_own_pages_and_no_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("ASKBACK_HOME", str(tmp_path))
    shop = mcpserver(asks_for_a_key, demand_visits=True, hold=0.01)
    async with in_memory(shop) as target, Traveller().at(NOVEMBER, target) as client:
        (listed,) = await demanded(client)
        with pytest.raises(VisitUnknown):
            await shop.asked.settle(listed["elicitationId"])
        with pytest.raises(VisitUnknown):
            await shop.asked.fail(listed["elicitationId"], "call this number to unlock your account")
        assert await demanded(client) == [listed]


async def test_an_application_of_another_name_ends_visits_to_its_pages():
    shop = mcpserver(pay)
    till = mcpserver(pay, "till", store=shop.asked.store)
    person = Traveller(then=lambda id: till.asked.settle(id, "paid"))
    with anyio.fail_after(60):
        async with in_memory(shop) as target, person.at(NOVEMBER, target) as client:
            assert text_of(await client.call_tool("t", {})) == "Accepted(value='paid')"
