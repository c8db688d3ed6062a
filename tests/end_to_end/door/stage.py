"""A call that waits for a page, its caller at one browser, and a stranger at another."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.client import ClientRequestContext
from mcp_types import CallToolResult, ElicitRequestURLParams, ElicitResult, TextContent
from playwright.async_api import Browser, BrowserContext, Page, Response

from askback import Accepted, connect, secret
from askback.model.owners import owner_from_claims
from askback.oauth import Provider
from askback.vault.vault import VaultItem
from tests.support.openid.guarded_server import Guarded, Host, guarded
from tests.support.openid.provider import OpenID
from tests.support.openid.sign_in import agree, sign_in

CALLER, STRANGER = "alice", "mallory"

REASON = "So that the forecast can be looked up."

PATIENCE = 30
"""Seconds for what takes one or two."""

PIN = "0000-of-alice"


async def forecast() -> str:
    match await secret(REASON, "weather key"):
        case Accepted(key):
            return f"A key of {len(key.reveal())} signs."
        case other:
            return repr(other)


async def appointments() -> str:
    match await connect("calendar", ["openid", "profile"], message=REASON):
        case Accepted(token):
            return f"A token for {' and '.join(sorted(token.scopes))}."
        case other:
            return repr(other)


TOOLS = {"secret": forecast, "connect": appointments}
ENDS = {"secret": f"A key of {len(PIN)} signs.", "connect": "A token for openid and profile."}


@dataclass(slots=True, kw_only=True)
class Seat:
    """Somebody at a browser of their own."""

    page: Page
    context: BrowserContext
    base: str
    name: str
    been: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    """Everywhere the browser was led, with the status it got there."""

    @property
    def status(self) -> int:
        """Of the page that is shown."""
        return self.been[-1][1]

    async def open(self, url: str) -> int:
        """Follow a link, and sign in on the way where that is wanted; the status of the page it ends on."""
        await self.page.goto(url)
        await self.pass_the_provider()
        return self.status

    async def pass_the_provider(self) -> None:
        """Sign in and agree as this person, until our pages are there again."""
        await self.answer_the_provider()
        await self.page.wait_for_url(f"{self.base}/**")

    async def answer_the_provider(self) -> None:
        """The same, without looking where it leads."""
        await self.page.wait_for_load_state()
        if await self.page.get_by_label("User name").is_visible():
            await sign_in(self.page, self.name)
            await self.page.get_by_role("button", name="Agree").wait_for()
        if await self.page.get_by_role("button", name="Agree").is_visible():
            await agree(self.page)

    async def submit(self) -> None:
        """The yes of the form that the page has."""
        async with self.page.expect_navigation():
            await self.page.locator("button[value=yes]").click()

    @asynccontextmanager
    async def stopped_at(self, path: str) -> AsyncGenerator[list[str]]:
        """Whatever goes to `path` in this browser is stopped and put on the list; redirects too."""
        seen: list[str] = []
        tools: Any = await self.context.new_cdp_session(self.page)  # untyped in playwright
        stopped = anyio.Event()

        async def stop(event: dict[str, Any]) -> None:
            seen.append(event["request"]["url"])
            await tools.send("Fetch.failRequest", {"requestId": event["requestId"], "errorReason": "Aborted"})
            stopped.set()

        tools.on("Fetch.requestPaused", stop)
        await tools.send("Fetch.enable", {"patterns": [{"urlPattern": f"{self.base}{path}*"}]})
        yield seen
        with anyio.fail_after(PATIENCE):
            await stopped.wait()
        await tools.detach()


@dataclass(slots=True, kw_only=True)
class Stage:
    """The question is out, and nobody has answered it."""

    kind: str
    server: Guarded
    openid: OpenID
    link: str
    caller: Seat
    stranger: Seat
    result: "anyio.Event"
    said: list[CallToolResult]

    async def is_open(self) -> bool:
        return await self.server.asked.visits.ended(self.link.rpartition("/")[2]) is None

    async def kept(self, name: str) -> dict[str, str]:
        """What is in the vault of that person."""
        owner = owner_from_claims({"iss": self.openid.issuer, "sub": name})
        assert owner is not None
        item = (
            VaultItem("secret", "weather key")
            if self.kind == "secret"
            else VaultItem("connection", "calendar")
        )
        found = await self.server.asked.page_host.vault.get(owner, item)
        return {} if found is None else dict(found.values)

    async def account(self) -> str | None:
        """Whose account the caller was connected with."""
        token = (await self.kept(CALLER)).get("access_token")
        found = None if token is None else await self.openid.userinfo(token)
        return found["sub"] if isinstance(found, dict) else None

    async def require_untouched(self) -> None:
        """Both vaults are empty, and the question is open."""
        assert await self.kept(CALLER) == {} and await self.kept(STRANGER) == {}
        assert await self.is_open() and not self.result.is_set()

    async def finish(self) -> None:
        """The caller does what was asked, and the call ends well."""
        if await self.is_open():
            assert await self.caller.open(self.link) == 200
            if self.kind == "secret":
                await self.caller.page.locator("input[type=password]").fill(PIN)
            await self.caller.submit()
            await self.caller.pass_the_provider()
        with anyio.fail_after(PATIENCE):
            await self.result.wait()
        [content] = self.said[0].content
        assert isinstance(content, TextContent) and content.text == ENDS[self.kind]


@asynccontextmanager
async def stage(
    browser: Browser, openid: OpenID, kind: str, revision: str, *, host: Host = "mcp", **options: Any
) -> AsyncGenerator[Stage]:
    """alice's client has called a tool that asks for this kind of page, and has the link."""
    links, out = anyio.create_memory_object_stream[str](10)
    ended, said = anyio.Event(), list[CallToolResult]()

    async def agree_to_go(context: ClientRequestContext, params: Any) -> ElicitResult:
        assert isinstance(params, ElicitRequestURLParams)
        await links.send(params.url)
        return ElicitResult(action="accept")

    async def call() -> None:
        async with server.client(CALLER, revision, agree_to_go) as client:
            said.append(await client.call_tool(TOOLS[kind].__name__, {}))
            ended.set()

    calendar = Provider(name="calendar", client_id="calendar", issuer=openid.issuer)
    async with guarded(openid, TOOLS[kind], providers=[calendar], host=host, **options) as server:
        with links, out:
            async with anyio.create_task_group() as tasks, seated(browser, server, CALLER) as caller:
                async with seated(browser, server, STRANGER) as stranger:
                    tasks.start_soon(call)
                    with anyio.fail_after(PATIENCE):
                        link = await out.receive()
                    yield Stage(
                        kind=kind,
                        server=server,
                        openid=openid,
                        link=link,
                        caller=caller,
                        stranger=stranger,
                        result=ended,
                        said=said,
                    )
                tasks.cancel_scope.cancel()


@asynccontextmanager
async def seated(browser: Browser, server: Guarded, name: str) -> AsyncGenerator[Seat]:
    context = await browser.new_context()
    context.set_default_timeout(PATIENCE * 1000)
    seat = Seat(page=await context.new_page(), context=context, base=server.base, name=name)

    def see(response: Response) -> None:
        if response.request.is_navigation_request():
            seat.been.append((response.url, response.status))

    seat.page.on("response", see)
    yield seat
    await context.close()
