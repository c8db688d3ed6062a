"""`once(..., within=...)` over HTTP: what is kept for one caller never reaches another."""

from typing import Any

import pytest
from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.context import ServerRequestContext

from askback import Askback, ask, once
from askback.stores import Store
from tests.runtime.once.bank import HOUR, Bank
from tests.runtime.once.kitchen import Kitchen, until_cut
from tests.runtime.once.servers import Host, serve
from tests.support.deliveries import End, end_of, text_of
from tests.support.raw import accepting, answering
from tests.support.raw_http import Posting
from tests.support.servers.http import served

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("R39")]

Context = ServerRequestContext[Any, Any]


def name_in_header(ctx: Context) -> str | None:
    assert ctx.request is not None
    return ctx.request.headers.get("x-name")


async def test_over_http_without_authorization_nobody_knows_the_caller_and_nothing_is_run(
    host: Host, store: Store
):
    bank = Bank()
    async with served(serve(host, bank.body, store=store)) as url:
        end = await end_of(Posting(url, {}).call())
    assert "the caller is not known" in text_of(end) and "Askback(server, caller=...)" in text_of(end)
    assert bank.made == []


async def test_over_http_callers_are_told_apart_by_who_knows_them(host: Host, store: Store):
    bank = Bank()
    async with served(serve(host, bank.body, store=store, caller=name_in_header)) as url:
        for _ in range(2):
            texts = [text_of(await Posting(url, {"x-name": name}).call()) for name in ("ada", "bob")]
            assert texts == ["transfer 1", "transfer 2"]
        nobody = await end_of(Posting(url, {}).call())
    assert "the caller is not known" in text_of(nobody)
    assert bank.made == ["Ada", "Ada"]


class Tokens:
    """Every token names its bearer: `ada-1`, `ada-2`."""

    async def verify_token(self, token: str) -> AccessToken:
        return AccessToken(token=token, client_id="app", scopes=[], subject=token.partition("-")[0])


async def test_over_http_with_authorization_the_bearer_is_the_caller(store: Store):
    bank = Bank()
    address: Any = "http://127.0.0.1/"
    server: MCPServer[Any] = MCPServer(
        "bank",
        token_verifier=Tokens(),
        auth=AuthSettings(
            issuer_url=address, resource_server_url=address, required_scopes=[], validate_token_resource=False
        ),
    )
    server.add_tool(bank.body, name="t")
    Askback(server, store=store)
    async with served(server) as url:
        tokens = ["ada-1", "bob-1", "ada-2", "bob-2"]
        texts = [text_of(await Posting(url, {"authorization": f"Bearer {token}"}).call()) for token in tokens]
    assert texts == ["transfer 1", "transfer 2"] * 2
    assert bank.made == ["Ada", "Ada"]


async def test_over_http_a_call_that_is_begun_anew_after_hanging_up_does_not_repeat_it(
    host: Host, store: Store
):
    kitchen = Kitchen("after")

    async def body() -> str:
        await ask("Hungry?", bool)
        pizza = await once("bake", kitchen.bake, within=HOUR)
        await kitchen.pass_by("after")
        return pizza

    async with served(serve(host, body, store=store, caller=name_in_header)) as url:
        client = Posting(url, {"x-name": "ada"})
        first = await client.call()

        async def deliver() -> End:
            return await client.call(**answering(first, ask_1=accepting(value=True)))

        await until_cut(kitchen, deliver)
        anew = await client.call()
        end = await end_of(client.call(**answering(anew, ask_1=accepting(value=True))))
    assert text_of(end) == "pizza 1"
    assert kitchen.baked == ["pizza"]
