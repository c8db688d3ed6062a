"""A server in memory whose tools need somebody's calendar, and that somebody, with a browser that shows nothing.

Their client takes every link, and they go the whole way before it says so; what differs is how they answer.
"""

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from secrets import token_hex
from typing import Any, Literal

from mcp import Client
from mcp.server import MCPServer
from mcp_types import ElicitRequestURLParams, ElicitResult, TextContent

from askback import Accepted, Askback, connect, disconnect
from askback.answers import Answer
from askback.oauth import Provider
from askback.pages.settings import ROOT
from askback.vault import Token
from tests.support.openid.provider import LASTING, OpenID
from tests.support.openid.revisions import mode_of
from tests.support.openid.sign_in import walk
from tests.support.visitor import Visitor, visitor

BASIC = ("openid", "offline_access")
NAME = "calendar"
ALMOST_OVER = LASTING - 30
"""Seconds after which a token is so near its end that it is refreshed, and still good."""


@dataclass(slots=True)
class Clock:
    """The time, and as much later as a test says."""

    ahead: float = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


@dataclass(slots=True, kw_only=True)
class Traveller:
    """Opens the links, agrees on our page, signs in at the provider as that name, and comes back."""

    openid: OpenID
    provider: Provider
    visitor: Visitor
    name: str = field(default_factory=lambda: f"alice@{token_hex(4)}")
    on_our_page: Literal["yes", "no"] = "yes"
    at_the_provider: Literal["agree", "refuse"] = "agree"
    without: str | None = None
    """A scope that they do not agree to."""
    registered: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """How the server is registered at the provider, beside its secret and its callback."""
    links: list[str] = field(default_factory=list[str])
    pages: list[str] = field(default_factory=list[str])
    """What was on our page before they answered."""

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        assert isinstance(params, ElicitRequestURLParams)
        self.links.append(params.url)
        callback = f"{_root(params.url)}/callback/{self.provider.name}"
        client_id, secret = self.provider.client_id, self.provider.client_secret
        await self.openid.register(client_id, callback, secret=secret, **self.registered)
        await self.go(params.url)
        return ElicitResult(action="accept")

    async def go(self, link: str) -> None:
        self.pages.append((await self.visitor.open(link)).html)
        if self.on_our_page == "no":
            await self.visitor.decline(link)
            return
        away = (await self.visitor.agree(link)).location
        back = await walk(
            self.visitor.client,
            away,
            self.name,
            to=_root(link),
            answer=self.at_the_provider,
            without=self.without,
        )
        await self.visitor.open(back)


def _root(link: str) -> str:
    """What a provider knows of the pages: without the path of one launch on this machine."""
    return f"{link.partition(ROOT)[0]}{ROOT}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    """What a test looks at and turns."""

    openid: OpenID
    clock: Clock
    asked: Askback
    client: Client
    traveller: Traveller

    async def fetch(self, *scopes: str) -> str:
        """Call the tool that needs a token with these scopes, and ask the provider whose it is."""
        return text_of(await self.client.call_tool("fetch", {"scopes": scopes or BASIC}))

    async def call(self, tool: str) -> str:
        return text_of(await self.client.call_tool(tool, {}))

    async def refreshes(self) -> int:
        """How many the provider has seen."""
        return len(await self.openid.refreshes(self.traveller.provider.client_id))


def text_of(result: Any) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def calendar(openid: OpenID, **options: Any) -> Provider:
    """One that nobody has been connected with."""
    return replace(Provider(name=NAME, client_id=f"calendar-{token_hex(4)}", issuer=openid.issuer), **options)


def tools_of(openid: OpenID) -> list[Callable[..., Any]]:
    """What the office can do: all of it shows what the provider says, and never a token."""

    async def described(answer: Answer[Token]) -> str:
        match answer:
            case Accepted(token):
                said = await openid.userinfo(token.reveal())
                if isinstance(said, int):
                    return f"refused with {said}"
                return f"{said['sub'].partition('@')[0]}: {' '.join(sorted(token.scopes))}"
            case other:
                return type(other).__name__

    async def fetch(scopes: list[str]) -> str:
        return await described(await connect(NAME, scopes, message="Your calendar is wanted."))

    async def fetch_twice() -> str:
        """As a body does whose first token the service did not take."""
        first = await connect(NAME, BASIC)
        if isinstance(first, Accepted) and isinstance(await openid.userinfo(first.value.reveal()), int):
            await first.value.reject("The calendar did not take it.")
        return await described(await connect(NAME, BASIC))

    async def part() -> bool:
        return await disconnect(NAME)

    return [fetch, fetch_twice, part]


@asynccontextmanager
async def open_office(
    openid: OpenID, revision: str, provider: Provider | None = None, **options: Any
) -> AsyncGenerator[Office]:
    """`options` are those of `Askback`."""
    provider, clock = provider or calendar(openid), Clock()
    server: MCPServer[Any] = MCPServer("office")
    for tool in tools_of(openid):
        server.add_tool(tool)
    asked = Askback(server, providers=[provider], clock=clock, **options)
    async with visitor() as alone:
        traveller = Traveller(openid=openid, provider=provider, visitor=alone)
        async with Client(server, elicitation_callback=traveller, mode=mode_of(revision)) as client:
            yield Office(openid=openid, clock=clock, asked=asked, client=client, traveller=traveller)
