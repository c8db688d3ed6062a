"""The tokens that `connect` brings home are found nowhere but in the vault and in the body that asked (T05, R30)."""

import logging
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from playwright.async_api import Page, expect

from askback import Accepted, connect
from askback.oauth import Provider
from askback.stores import SQLiteStore
from askback.vault.vault import VaultItem
from tests.end_to_end.secrets.relay import relayed
from tests.end_to_end.secrets.scene import Customer, text_of
from tests.support.chromium import browsing
from tests.support.openid.guarded_server import Guarded, guarded
from tests.support.openid.provider import OpenID, provider
from tests.support.openid.revisions import REVISIONS, mode_of
from tests.support.openid.sign_in import access_token, agree, sign_in
from tests.support.secret_shop.canary import Canary
from tests.support.secret_shop.process import PATIENCE

pytestmark = [pytest.mark.strangers, pytest.mark.browser, pytest.mark.verifies("T05", "R30")]

logger = logging.getLogger("office")

CLIENT_SECRET = "a secret between the office and the calendar"


async def fetch(tells: bool) -> str:
    """A body that uses its token, and tells it where it is to be found."""
    match await connect("calendar", ["openid", "offline_access"]):
        case Accepted(token):
            logger.debug("fetched with %s, %r", token, token)
            return token.reveal() if tells else f"{len(token.reveal())} signs"
        case answer:
            return type(answer).__name__


async def kept(server: Guarded) -> list[Canary]:
    """All that nobody else is to know: the tokens, and our own secret at the provider."""
    vault = server.asked.page_host.vault
    (note,) = await vault.list_items()
    found = await vault.get(note.owner, VaultItem("connection", "calendar"))
    assert found is not None
    tokens = [value for name, value in found.values.items() if "token" in name and len(value) > 20]
    assert len(tokens) >= 2, "access and refresh"
    return [Canary(value) for value in [*tokens, CLIENT_SECRET]]


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("tells", [False, True], ids=["as it is", "told by the body"])
async def test_the_tokens_are_found_nowhere(
    tells: bool,
    revision: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    monkeypatch.setenv("ASKBACK_HOME", str(tmp_path / "home"))
    caplog.set_level(logging.DEBUG)
    places, canaries = dict[str, bytes](), list[Canary]()
    with anyio.fail_after(PATIENCE):
        async with browsing() as browser, provider() as openid, anyio.create_task_group() as tasks:
            page = await browser.new_page()
            addresses: list[str] = []
            page.on("request", lambda request: addresses.append(request.url))

            async def go(link: str) -> None:
                await connect_in(page, link)

            customer = Customer(tasks, go)
            store = SQLiteStore(tmp_path / "office.db")
            async with office(openid, store) as server, relayed(int(server.base.rpartition(":")[2])) as relay:
                for _ in range(2):
                    said = await said_to("alice", server, relay.url, revision, customer, tells)
                    assert len(said) > 20 if tells else said.endswith(" signs"), said
                await customer.rests()
                canaries += await kept(server)
                places |= {
                    "to the server": bytes(relay.out),
                    "to the client": bytes(relay.back),
                    "ledger": b"\n".join(line for _, line in await store.read(limit=10_000)),
                    "addresses": "\n".join(addresses).encode(),
                    "page": (await page.content()).encode(),
                    "browser": repr(await page.context.storage_state()).encode(),
                }
            await store.close()
            assert len(customer.links) == 1
    places["log"] = caplog.text.encode()
    places["database"] = files_in(tmp_path)
    assert b"fetched with" in places["log"]
    found = [canary.places(places) for canary in canaries]
    assert any(found) == tells, found


def office(openid: OpenID, store: SQLiteStore) -> AbstractAsyncContextManager[Guarded]:
    ours = Provider(name="calendar", client_id="office", client_secret=CLIENT_SECRET, issuer=openid.issuer)
    return guarded(openid, fetch, providers=[ours], store=store)


def files_in(folder: Path) -> bytes:
    return b"\n".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


async def connect_in(page: Page, link: str) -> None:
    await page.goto(link)
    await sign_in(page, "alice")
    await agree(page)
    await page.get_by_role("button", name="Continue to calendar").click()
    await agree(page)
    await expect(page.get_by_role("heading", name="You are connected")).to_be_visible(timeout=PATIENCE * 1000)


async def said_to(
    name: str, server: Guarded, url: str, revision: str, customer: Customer, tells: bool
) -> str:
    """By the SDK's client, through the wire that keeps every byte."""
    token = await access_token(server.openid, name, resource=server.url)
    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=PATIENCE) as http,
        Client(
            streamable_http_client(url, http_client=http),
            mode=mode_of(revision),
            elicitation_callback=customer,
        ) as client,
    ):
        return text_of(await client.call_tool("fetch", {"tells": tells}))
