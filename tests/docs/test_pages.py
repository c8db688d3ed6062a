"""The code on the pages about secrets, visits and pages does what they say, on both revisions that know links."""

import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_bytes
from typing import Any

import httpx2
import pytest
from anyio import create_task_group
from fastmcp.server.auth import StaticTokenVerifier
from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.lowlevel import Server
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.requests import Request

from askback import Askback
from askback.errors import LinkRefused, VisitorUnknown
from askback.model.owners import LOCAL
from askback.oauth import Provider
from askback.oauth.connector import grant_values
from askback.oauth.exchange import TokenResponse
from askback.pages import Pages
from askback.schema.links import link_of
from askback.stores import MemoryStore
from askback.testing import Asked, Run, accept, cancel, decline, run_tool
from askback.testing.script import Reply
from askback.vault.keyring import KeyRing
from askback.vault.keys import new_key
from askback.vault.vault import Vault, VaultItem
from examples.secrets import connecting, providers, serving, visits
from examples.secrets.server import make_server as make_reading_room
from tests.examples.test_examples import EXAMPLES, pytest_of
from tests.support.docs_pages import DOCS, ROOT, blocks, code_of, table
from tests.support.visitor import visitor

pytestmark = pytest.mark.slow

LINKS: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}

REFUSED_LINKS = table(DOCS / "how-to" / "visits.md", "a link like", "is refused, since")

Then = Callable[[str], Coroutine[Any, Any, None]]


@pytest.fixture(params=["2025-11-25", "2026-07-28"])
def revision(request: pytest.FixtureRequest) -> str:
    return request.param


def empty_vault() -> Vault:
    """In memory: nobody's home is touched."""
    return Vault(MemoryStore(clock=time.time), KeyRing([token_bytes(32)]), clock=time.time)


async def call(server: Any, tool: str, arguments: dict[str, Any], revision: str, then: Then) -> Run:
    """Agree to every link, and go there."""
    runs: list[Run] = []
    async with create_task_group() as tasks:

        def agree(asked: Asked) -> Reply:
            tasks.start_soon(then, asked.url)
            return accept()

        runs.append(await run_tool(server, tool, arguments, agree, revision=revision, capabilities=LINKS))
    return runs[0]


class Reader:
    """Types the next thing on every page."""

    def __init__(self, *typed: dict[str, str]) -> None:
        self._typed = list(typed)
        self.pages: list[str] = []

    async def __call__(self, url: str) -> None:
        async with visitor() as browser:
            self.pages.append((await browser.open(url)).html)
            await browser.give(url, **self._typed.pop(0))


async def test_a_secret_is_asked_for_once_and_shared_by_name(revision: str):
    server, reader = make_reading_room(vault=empty_vault()), Reader({"value": "a-right-key"})
    first = await call(server, "define", {"word": "owl"}, revision, reader)
    assert first.text == "owl: a word with 3 letters"
    again = await call(server, "compare", {"one": "owl", "other": "lamp"}, revision, reader)
    assert again.text == "owl: a word with 3 letters; lamp: a word with 4 letters"
    assert len(reader.pages) == 1


async def test_a_key_that_is_rejected_is_asked_for_again_with_the_reason(revision: str):
    server, reader = (
        make_reading_room(vault=empty_vault()),
        Reader({"value": "wrong"}, {"value": "a-right-key"}),
    )
    run = await call(server, "define_at_last", {"word": "owl"}, revision, reader)
    assert run.text == "owl: a word with 3 letters"
    assert [asked.mode for asked in run.asked] == ["url", "url"]
    assert "The dictionary does not know this key." in reader.pages[1]


async def test_several_fields_are_asked_for_on_one_page(revision: str):
    server, reader = make_reading_room(vault=empty_vault()), Reader({"card": "0123456789", "pin": "4711"})
    run = await call(server, "lend", {"title": "Moby Dick"}, revision, reader)
    assert run.text == "Moby Dick is reserved on card 89, with a PIN of 4 digits."
    assert "Number of your card" in reader.pages[0] and "30 days" in reader.pages[0]


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (decline(), "Without a key nothing can be looked up."),
        (cancel(), "Call again when you have your key at hand."),
    ],
    ids=["decline", "cancel"],
)
async def test_a_no_to_the_link_is_an_answer(reply: Reply, text: str, revision: str):
    server = make_reading_room(vault=empty_vault())
    run = await run_tool(server, "define", {"word": "owl"}, [reply], revision=revision, capabilities=LINKS)
    assert run.text == text


@asynccontextmanager
async def hook_of(server: MCPServer[Any]) -> AsyncGenerator[httpx2.AsyncClient]:
    """The server's own application, as the notary's page reaches it."""
    app = server.streamable_http_app()
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        yield client


def id_of(url: str) -> str:
    return url.replace("?visit=", "/").rpartition("/")[2]


async def test_a_visit_goes_on_when_the_page_says_that_somebody_is_done(revision: str):
    server, _ = visits.make_server()
    codes: list[int] = []

    async def finish(url: str) -> None:
        assert url.startswith("https://notary.example/documents/4-W?visit=")
        async with hook_of(server) as page:
            for name, day in (
                ("x", "Monday"),
                ("notary", "Monday"),
                ("notary", "Monday"),
                ("notary", "Friday"),
            ):
                hook = f"/signed/{id_of(url)}"
                done = await page.post(hook, json={"signed_on": day}, headers={"x-from": name})
                codes.append(done.status_code)

    run = await call(server, "sign", {"title": "Will"}, revision, finish)
    assert run.text == "Will was signed on Monday."
    assert codes == [403, 204, 204, 409]


async def test_an_id_that_nobody_gave_out_is_answered_with_410():
    server, _ = visits.make_server()
    async with hook_of(server) as page:
        done = await page.post("/signed/unknown", json={}, headers={"x-from": "notary"})
    assert done.status_code == 410


async def test_a_visit_is_settled_from_another_process_by_its_store(tmp_path: Path, revision: str):
    store = f"sqlite:///{tmp_path}/askback.db"
    server, asked = visits.make_server(store=store)

    async def finish(url: str) -> None:
        assert await visits.sign_off(id_of(url), "Tuesday", store=store)

    run = await call(server, "sign", {"title": "Will"}, revision, finish)
    await asked.store.close()
    assert run.text == "Will was signed on Tuesday."


async def test_a_page_of_our_own_sends_its_visitor_on_to_the_checkout():
    server, _ = visits.make_server()
    address = link_of(visits.PAGE).with_id("an-id").removeprefix("https://notary.example")
    async with hook_of(server) as page:
        assert (await page.get(address)).status_code == 403
        sent = await page.get(address, headers={"cookie": "session=a-client"}, follow_redirects=False)
    assert (sent.status_code, sent.headers["location"]) == (
        303,
        "https://checkout.example/c/pay/cs_test_an-id",
    )


def test_the_recipes_for_services_are_providers_that_a_server_takes():
    recipes = [
        providers.google("id", "secret"),
        providers.github("id", "secret"),
        providers.entra("6f1d3c2e-7a7d-4b3e-9d55-3f3a0a8d4c11", "id"),
    ]
    Askback(MCPServer("recipes"), providers=recipes)


@pytest.mark.parametrize("row", REFUSED_LINKS, ids=lambda row: code_of(row[0]))
def test_a_link_is_refused_for_what_the_table_says(row: list[str]):
    link, why = row
    with pytest.raises(LinkRefused) as caught:
        link_of(code_of(link))
    assert caught.value.problem == why


async def test_without_waiting_the_body_goes_on_with_the_id(revision: str):
    server, _ = visits.make_server()
    run = await run_tool(
        server, "register", {"title": "Will"}, [accept()], revision=revision, capabilities=LINKS
    )
    id = id_of(run.asked[0].url)
    assert run.text == f"Under way as {id[:4]}…; ask for its state later."


BY_ENDPOINTS = Provider(
    name="calendar",
    client_id="secretary",
    authorization_endpoint="https://calendar.example/authorize",
    token_endpoint="https://calendar.example/token",
)
"""Needs no discovery: nobody is there."""


async def connected(*, token: str) -> Vault:
    """A vault in which whoever uses this machine has a token already."""
    vault = empty_vault()
    granted = TokenResponse(access_token=token, refresh_token=None, lasts=None, scopes=("calendar.read",))
    values = grant_values(granted, BY_ENDPOINTS, time.time())
    await vault.for_server("secretary").put(LOCAL, VaultItem("connection", "calendar"), values)
    return vault


async def test_a_token_that_is_there_is_used_and_given_back(revision: str):
    server = connecting.make_server([BY_ENDPOINTS], vault=await connected(token="a-good-token"))
    for tool, text in (
        ("next_meeting", "Tea at four"),
        ("next_meeting_for_sure", "Tea at four"),
        ("forget_calendar", "Disconnected."),
        ("forget_calendar", "It was not connected."),
    ):
        assert (await run_tool(server, tool, None, revision=revision, capabilities=LINKS)).text == text


async def test_a_token_that_the_service_does_not_take_is_asked_for_again(revision: str):
    server = connecting.make_server([BY_ENDPOINTS], vault=await connected(token="a-stale-token"))
    run = await run_tool(
        server, "next_meeting_for_sure", None, [decline()], revision=revision, capabilities=LINKS
    )
    assert (run.text, run.asked[0].mode) == ("Then look it up yourself.", "url")


@pytest.mark.parametrize(
    ("reply", "text"),
    [(decline(), "Then look it up yourself."), (cancel(), "Ask me again when you have a minute.")],
    ids=["decline", "cancel"],
)
async def test_a_no_to_connecting_is_an_answer(reply: Reply, text: str, revision: str):
    server = connecting.make_server([BY_ENDPOINTS], vault=empty_vault())
    run = await run_tool(server, "next_meeting", None, [reply], revision=revision, capabilities=LINKS)
    assert run.text == text


KEYS = ["k" * 40]


class NoTokens:
    """Nobody calls in these tests."""

    async def verify_token(self, token: str) -> AccessToken | None:
        return None


class TestServing:
    @pytest.fixture(autouse=True)
    def home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ASKBACK_HOME", str(tmp_path))
        monkeypatch.setenv("ASKBACK_VAULT_KEYS", new_key())

    async def test_an_mcpserver_serves_the_pages_beside_mcp(self):
        auth = AuthSettings(issuer_url=AnyHttpUrl(serving.ISSUER), resource_server_url=None)
        assert await style_sheet(serving.make_server(auth, NoTokens(), KEYS).streamable_http_app()) == 200

    async def test_so_does_fastmcp(self):
        verifier = StaticTokenVerifier({})
        assert await style_sheet(serving.make_fastmcp(verifier, KEYS).http_app()) == 200

    async def test_any_application_takes_them_in_one_line(self):
        app = Starlette()
        serving.mount(Server("reading room"), app, KEYS)
        assert await style_sheet(app) == 200

    async def test_the_function_names_whoever_the_application_knows(self):
        def coming_with(cookie: str) -> Request:
            return Request({"type": "http", "headers": [(b"cookie", f"session={cookie}".encode())]})

        assert await serving.who_is_there(coming_with("an-opaque-cookie")) == {
            "iss": "https://id.example",
            "sub": "ada",
        }
        assert await serving.who_is_there(coming_with("another")) is None

    async def test_a_brand_is_on_the_pages(self, tmp_path: Path):
        (tmp_path / "owl.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
        (tmp_path / "room.css").write_text("body { color: teal }")
        asked = Askback(Server("reading room"), pages=serving.in_our_colours(tmp_path))
        async with visitor(asked.pages) as browser:
            shown = await browser.open("https://tools.example/askback/kept")
            style = await browser.open("https://tools.example/askback/brand.css")
        assert shown.status == 403
        assert "Reading room" in shown.html and "Open on weekdays" in shown.html
        assert style.html == "body { color: teal }"

    def test_pages_without_a_door_are_refused_when_they_are_made(self):
        with pytest.raises(VisitorUnknown, match="has no door"):
            Pages(url="https://tools.example")


def test_the_readme_has_the_lines_of_the_example():
    shown = section("examples/secrets/server.py", "first")
    assert any(block.text.strip() == shown for block in blocks(ROOT / "README.md", "python"))


def section(file: str, name: str) -> str:
    """A part of an example, as a page includes it."""
    _, _, rest = (ROOT / file).read_text().partition(f"# --8<-- [start:{name}]")
    return rest.partition(f"# --8<-- [end:{name}]")[0].strip()


def test_the_notary_passes_its_own_tests():
    assert "6 passed" in pytest_of(EXAMPLES / "secrets")


async def style_sheet(app: Any) -> int:
    """The status of a file that every page loads."""
    async with visitor(app) as browser:
        return (await browser.open("https://tools.example/askback/style.css")).status
