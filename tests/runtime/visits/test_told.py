"""What a client reads of a set-up that fails under a call: what helps the person, and nothing of the inside."""

import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from fastmcp import FastMCP
from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError

from askback import Askback, ask
from askback.errors import OperatorError, ProviderUnavailable, VaultUnavailable, VisitorUnknown
from askback.pages import Pages
from tests.runtime.once.servers import Host as Anywhere
from tests.runtime.once.servers import serve
from tests.support.raw import accepting, answering, raw_client
from tests.support.vault_keys import written
from tests.support.visit_shops import Host, Shop, Traveller, text_of

pytestmark = pytest.mark.anyio

Reached = Callable[[Shop], AbstractAsyncContextManager[Any]]

INSIDE = "/srv/askback/vault.keys"
SERVERS: dict[str, Callable[[str], Any]] = {"MCPServer": MCPServer, "FastMCP": FastMCP}
ENDPOINT = "https://tokens.internal:8443/oauth2/token"


def failing(error: OperatorError) -> Callable[[], Any]:
    async def body() -> str:
        raise error

    return body


async def test_a_vault_that_cannot_be_used_is_one_fixed_sentence_and_the_log_has_the_rest(
    revision: str, host: Host, reached: Reached, caplog: pytest.LogCaptureFixture
):
    shop = host(failing(VaultUnavailable(f"{INSIDE}: Permission denied. Run chmod 600 {INSIDE}.")))
    async with reached(shop) as target, Traveller().at(revision, target) as client:
        with pytest.raises(MCPError) as told:
            await client.call_tool("t", {})
    assert told.value.message == (
        "The server cannot seal or open the secrets that this call needs. Its operator must look after it; "
        "try again later."
    )
    assert told.value.data == {"reason": "vault_unavailable"}
    (record,) = (one for one in caplog.records if one.name == "askback" and one.levelno == logging.ERROR)
    assert (
        record.getMessage()
        == f"the vault cannot be used: {INSIDE}: Permission denied. Run chmod 600 {INSIDE}."
    )
    assert record.exc_info is None, "one line, however many calls meet it"


async def test_of_a_provider_that_fails_the_name_is_told_and_no_address(
    revision: str, host: Host, reached: Reached, caplog: pytest.LogCaptureFixture
):
    shop = host(failing(ProviderUnavailable("calendar", f"{ENDPOINT} gave no metadata (ConnectError)")))
    async with reached(shop) as target, Traveller().at(revision, target) as client:
        text = text_of(await client.call_tool("t", {}))
    assert text == (
        "The provider 'calendar' cannot be used now. Call again later; if it stays so, the operator of this server "
        "must look after it."
    )
    (record,) = (one for one in caplog.records if one.name == "askback" and one.levelno == logging.ERROR)
    assert record.exc_info is not None and ENDPOINT in str(record.exc_info[1])


async def test_what_an_operator_has_left_out_is_said_as_it_is(revision: str, host: Host, reached: Reached):
    advice = "Say who is let in: Pages(door=...)."
    async with (
        reached(host(failing(VisitorUnknown(advice)))) as target,
        Traveller().at(revision, target) as client,
    ):
        assert text_of(await client.call_tool("t", {})) == advice


@pytest.mark.parametrize("host", ["MCPServer", "FastMCP"])
async def test_a_round_that_needed_the_vault_goes_on_when_the_vault_is_back(host: Anywhere):
    missing = [VaultUnavailable("The keyring is locked.")]

    async def body() -> str:
        await ask("Shall I?", bool)
        if missing:
            raise missing.pop()
        return "done"

    async with raw_client(serve(host, body)) as client:
        first = await client.call()
        yes = answering(first, ask_1=accepting(value=True))
        with pytest.raises(MCPError):
            await client.call(**yes)
        assert (await client.call(**yes))["content"][0]["text"] == "done"


@pytest.mark.parametrize("host", SERVERS)
def test_a_set_up_that_was_refused_for_its_vault_can_be_mended_and_tried_again(
    host: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
):
    monkeypatch.setenv("ASKBACK_HOME", str(tmp_path))
    monkeypatch.delenv("ASKBACK_VAULT_KEYS", raising=False)

    async def nobody(_: object) -> str | None:
        return None

    pages = Pages(url="https://tools.example", door=nobody)
    server = SERVERS[host]("tools")
    with pytest.raises(VaultUnavailable):
        Askback(server, pages=pages, caller=lambda _: "ada")
    monkeypatch.setenv("ASKBACK_VAULT_KEYS", written("new"))
    Askback(server, pages=pages, caller=lambda _: "ada")
