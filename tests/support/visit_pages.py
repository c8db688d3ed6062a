"""A server whose visits are under way, and its pages: on this machine, at an address outside, or before a browser."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import uvicorn
from mcp.server import MCPServer
from starlette.requests import Request
from starlette.types import ASGIApp

from askback import Askback
from askback.model.owners import LOCAL, describe_owner, owner_from_name
from askback.model.visit import Ending, StoredVisit, VisitKind
from askback.oauth import Provider
from askback.pages import Pages
from askback.pages.settings import ROOT
from askback.runtime.visits import digest_of
from askback.stores import MemoryStore
from askback.vault.keyring import KeyRing
from askback.vault.vault import Vault, VaultItem
from tests.support.callers import LOCAL_CALLER

OUTSIDE = "https://tools.example"

ADA, EVE = owner_from_name("ada"), owner_from_name("eve")

WHO = "x-signed-in-as"
"""The header by which a proxy of the author's says who somebody is."""

LIBRARY = Provider(
    name="library",
    client_id="weather",
    title="City Library",
    authorization_endpoint="https://login.library.example/authorize",
    token_endpoint="https://login.library.example/token",
)

LASTS = 4 * 3600.0
"""Seconds of a visit: longer than a browser is known."""


@dataclass
class Clock:
    """Stands still until it is moved."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


async def by_header(request: Request) -> str | None:
    return request.headers.get(WHO)


def by_function(url: str = OUTSIDE, **options: Any) -> Pages:
    options.setdefault("door", by_header)
    return Pages(url=url, **options)


@dataclass(kw_only=True)
class Grounds:
    """One server, and what is behind its links."""

    asked: Askback
    vault: Vault
    clock: Clock
    owner: str
    base: str
    """Of all pages."""

    @property
    def app(self) -> ASGIApp:
        return self.asked.pages

    async def secret(
        self, *, name: str = "weather key", message: str = "", problem: str = "", **about: Any
    ) -> str:
        """The link of a question for a secret; where there was a problem with what was given before, that is said."""
        if problem:
            await self.reject(name, problem)
        value = {"name": "value", "label": name, "hint": "", "hidden": True}
        shown = {"name": name, "fields": [value], "keep": None, **about}
        return await self.visit("secret", message or "To look up the forecast where you are.", name, shown)

    async def connect(self, *scopes: str, message: str = "") -> str:
        """The link of a question for a sign-in."""
        about = {"provider": "library", "scopes": list(scopes)}
        return await self.visit(
            "connect", message or "To renew the books that are due this week.", "library", about
        )

    async def visit(
        self,
        kind: VisitKind,
        message: str,
        thing: str,
        about: dict[str, Any],
        *,
        client: str = "Desktop Chat",
    ) -> str:
        id = self.asked.visits.new_id()
        now = self.clock()
        await self.asked.visits.open(
            StoredVisit(
                id=id,
                kind=kind,
                server=self.asked.page_host.server,
                owner=self.owner,
                client=client,
                message=message,
                asked_at=now,
                until=now + LASTS,
                about=about,
                thing=thing,
            )
        )
        return f"{self.base}/visit/{id}"

    async def ending(self, link: str) -> Ending | None:
        return await self.asked.visits.ended(link.rpartition("/")[2])

    async def end(self, link: str, ending: Ending) -> None:
        """As a page does."""
        await self.asked.visits.end(digest_of(link.rpartition("/")[2]), ending)

    async def kept(self, owner: str = "") -> dict[str, dict[str, str]]:
        """All that is in the vault of one owner, by name."""
        found = [note.item for note in await self.vault.list_items(owner or self.owner)]
        rows = {item.name: await self.vault.get(owner or self.owner, item) for item in found}
        return {name: dict(row.values) for name, row in rows.items() if row is not None}

    async def keep(self, *names: str, owner: str = "", until: float | None = None) -> None:
        for name in names:
            await self.vault.put(owner or self.owner, VaultItem("secret", name), {"value": name}, until=until)

    async def reject(self, name: str, reason: str) -> None:
        item = VaultItem("secret", name)
        version = await self.vault.put(self.owner, item, {"value": "given-before-1b7d"})
        await self.vault.reject(self.owner, item, reason, version=version)

    @property
    def whom(self) -> str:
        return describe_owner(self.owner)


def outside(pages: Pages | None = None, *, server: str = "weather", owner: str = ADA) -> Grounds:
    """Pages at an address outside, which nobody serves: see `visitor(grounds.app)`."""
    pages = pages or by_function()
    clock = Clock()
    store = MemoryStore(clock=clock)
    vault = Vault(store, KeyRing([bytes(32)]), clock=clock)
    asked = Askback(
        MCPServer(server),
        pages=pages,
        store=store,
        vault=vault,
        providers=[LIBRARY],
        caller=lambda _: "ada",
        clock=clock,
    )
    return Grounds(asked=asked, vault=asked.page_host.vault, clock=clock, owner=owner, base=pages.base + ROOT)


@asynccontextmanager
async def on_this_machine(pages: Pages | None = None, **options: Any) -> AsyncGenerator[Grounds]:
    """Pages as a server on stdio opens them."""
    grounds = outside(pages or Pages(), owner=LOCAL, **options)
    house = grounds.asked.page_host
    try:
        await house.open_for(LOCAL_CALLER, "secret(...)")
        grounds.base = await house.base_address(is_local=True)
        yield grounds
    finally:
        with anyio.CancelScope(shield=True):
            await house.close()


@asynccontextmanager
async def in_a_browser(**options: Any) -> AsyncGenerator[Grounds]:
    """Pages as a server over HTTP has them, with these options, listening on this machine: a browser can go there."""
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        grounds = outside(by_function(url, **options))
        async with listening(grounds.app, listener):
            yield grounds


@asynccontextmanager
async def listening(app: ASGIApp, listener: socket.socket) -> AsyncGenerator[None]:
    """Any application on a socket that is bound."""
    runner = uvicorn.Server(
        uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(runner.serve, [listener])
        with anyio.fail_after(10):
            while not runner.started:
                await anyio.lowlevel.checkpoint()
        yield
        runner.should_exit = True
