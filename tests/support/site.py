"""Pages whose door is a function: whoever a request says it comes from. Visits are put there as a call would."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from mcp.server import MCPServer
from mcp.server.context import ServerRequestContext
from starlette.requests import Request

from askback import Askback
from askback.model.owners import owner_from_name
from askback.model.visit import Ending, StoredVisit
from askback.oauth import Provider
from askback.pages import Pages
from askback.vault.vault import VaultItem
from tests.support.clock import Clock
from tests.support.visitor import Shown, Visitor, visitor

BASE = "https://tools.example/askback"
WHO = "x-signed-in-as"


async def who_is_there(request: Request) -> str | None:
    return request.headers.get(WHO)


def nobody(_: ServerRequestContext[None, None]) -> str | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A server's pages, and what is kept behind them."""

    asked: Askback
    clock: Clock

    @asynccontextmanager
    async def visitor(self, name: str | None) -> AsyncGenerator[Visitor]:
        """That person, at a browser of their own."""
        async with visitor(self.asked.pages) as browser:
            become(browser, name)
            yield browser

    async def ask(self, name: str, provider: str, scopes: tuple[str, ...] = ("read",)) -> str:
        """The link that a call of that person's would give out."""
        id, now = self.asked.visits.new_id(), self.clock()
        await self.asked.visits.open(
            StoredVisit(
                id=id,
                kind="connect",
                server=self.asked.page_host.server,
                owner=owner_from_name(name),
                client="a client",
                message="So that your calendar can be read.",
                asked_at=now,
                until=now + 3_600,
                about={"provider": provider, "scopes": list(scopes)},
                thing=provider,
            )
        )
        return f"{BASE}/visit/{id}"

    async def ending(self, link: str) -> Ending | None:
        """How it ended, if it has."""
        return await self.asked.visits.ended(link.rpartition("/")[2])

    async def is_open(self, link: str) -> bool:
        return await self.ending(link) is None

    async def token_of(self, name: str, provider: str) -> str | None:
        """What the vault holds for that person."""
        kept = await self.asked.page_host.vault.get(owner_from_name(name), VaultItem("connection", provider))
        return None if kept is None else kept.values["access_token"]

    async def kept(self, *names: str) -> int:
        """How much there is in the vaults of these."""
        return sum(
            [len(await self.asked.page_host.vault.list_items(owner_from_name(name))) for name in names]
        )


def site(*providers: Provider, **options: Any) -> Site:
    clock = Clock()
    asked = Askback(
        MCPServer("tools"),
        caller=nobody,
        pages=Pages(url="https://tools.example", door=who_is_there),
        providers=providers,
        clock=clock,
        **options,
    )
    return Site(asked=asked, clock=clock)


def become(browser: Visitor, name: str | None) -> None:
    """Whom the author's function sees from now on, in the same browser."""
    browser.client.headers.pop(WHO, None)
    if name is not None:
        browser.client.headers[WHO] = name


def sent(shown: Shown) -> dict[str, str]:
    """What the browser is sent to the provider with; nothing said twice."""
    assert shown.status == 303, shown.heading
    return {name: value for name, [value] in parse_qs(urlsplit(shown.location).query).items()}
