"""Servers that send people to pages of others, the people, and a store that tells who waits in it."""

import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Any, Literal, NamedTuple

import anyio
from anyio.abc import TaskGroup
from fastmcp import FastMCP
from mcp import Client, ClientSession
from mcp.server import MCPServer
from mcp_types import (
    CallToolResult,
    ElicitCompleteNotification,
    ElicitRequestParams,
    ElicitRequestURLParams,
    ElicitResult,
    TextContent,
    ToolListChangedNotification,
)

from askback import Askback, visit
from askback.server.hosts import lowlevel_of
from askback.stores import MemoryStore, SQLiteStore
from tests.support.fastmcp_http import fastmcp_served
from tests.support.servers.clients import client_on
from tests.support.servers.http import served

NOVEMBER, JULY = "2025-11-25", "2026-07-28"

LINK = "https://pay.example/checkout/{id}"
TO_THE_TILL = LINK.removesuffix("{id}")

LINKS: Mapping[str, Any] = {"elicitation": {"form": {}, "url": {}}}
"""What a client declares that shows forms and links."""

BOUND = 60.0
"""Seconds for what takes some milliseconds, or the start of a process."""

SHORT = 0.01
"""Seconds for which a request is held where the person is never done."""

Body = Callable[[], Awaitable[str]]
Action = Literal["accept", "decline", "cancel"]
Then = Callable[[str], Coroutine[Any, Any, Any]]
"""What happens with an id after the person agreed to go."""


class Shop(NamedTuple):
    """A server and the Askback on it."""

    server: Any
    asked: Askback
    served: Callable[..., AbstractAsyncContextManager[str]]
    """Puts it on a port."""


Host = Callable[..., Shop]
"""Makes one, of a body and the options of its Askback."""


def mcpserver(body: Callable[..., Any], name: str = "shop", **options: Any) -> Shop:
    """Its tool "t" is `body`."""
    server: MCPServer[Any] = MCPServer(name)
    server.add_tool(body, name="t")
    return Shop(server, Askback(server, **options), served)


def fastmcp(body: Callable[..., Any], **options: Any) -> Shop:
    server: FastMCP[Any] = FastMCP("shop")
    server.tool(body, name="t")
    return Shop(server, Askback(server, **options), fastmcp_served)


HOSTS: dict[str, Host] = {"MCPServer": mcpserver, "FastMCP": fastmcp}


def over_http(shop: Shop, **options: Any) -> AbstractAsyncContextManager[str]:
    """Where it listens."""
    return shop.served(shop.server, **options)


def in_memory(shop: Shop) -> AbstractAsyncContextManager[Any]:
    return nullcontext(lowlevel_of(shop.server))


TRANSPORTS: dict[str, Callable[[Shop], AbstractAsyncContextManager[Any]]] = {
    "in memory": in_memory,
    "HTTP": over_http,
}


async def pay() -> str:
    """The body of most tests: what came of the visit, as the author sees it."""
    return repr(await visit("Please pay.", LINK))


def id_in(url: str) -> str:
    """The id that a link carries."""
    assert url.startswith(TO_THE_TILL)
    return url.removeprefix(TO_THE_TILL)


class Traveller:
    """A person at a client of the SDK: agrees to go or not; and then something happens, where the test says so."""

    def __init__(self, action: Action = "accept", then: Then | None = None) -> None:
        self.action: Action = action
        self.then = then
        self.urls: list[str] = []
        self.messages: list[str] = []
        self.asked = anyio.Event()
        self.group: TaskGroup | None = None

    @property
    def id(self) -> str:
        """Of the one visit that they were asked for."""
        (url,) = set(self.urls)
        return id_in(url)

    async def __call__(self, context: Any, params: ElicitRequestParams) -> ElicitResult:
        assert isinstance(params, ElicitRequestURLParams)
        is_first = params.url not in self.urls
        self.urls.append(params.url)
        self.messages.append(params.message)
        self.asked.set()
        if self.then is not None and is_first:
            assert self.group is not None
            self.group.start_soon(self.then, id_in(params.url))
        return ElicitResult(action=self.action)

    @asynccontextmanager
    async def at(self, revision: str, target: Any) -> AsyncGenerator[Client | ClientSession]:
        """Connected to a server for the length of the block."""
        with anyio.fail_after(BOUND):
            async with (
                anyio.create_task_group() as self.group,
                client_on(revision, target, self, shows_links=True) as client,
            ):
                yield client


def text_of(result: Any) -> str:
    """What a tool said."""
    assert isinstance(result, CallToolResult)
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


class Listening:
    """A client's ear: the visits of whose end it heard."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.news = anyio.Event()
        self._is_listening = False

    async def hear(self, message: Any) -> None:
        match message:
            case ElicitCompleteNotification():
                self.heard.append(message.params.elicitation_id)
                self.news.set()
            case ToolListChangedNotification():
                self._is_listening = True
            case _:
                pass

    async def until_listening(self, client: Client | ClientSession) -> None:
        """Come back when it hears what is said outside of any call: over HTTP that stream opens in its own time."""
        while not self._is_listening:
            await client.list_tools()


def greeting(shop: Shop) -> Shop:
    """The same shop; whoever lists its tools is sent a word outside of the call."""

    async def greet(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "tools/list":
            await ctx.session.send_tool_list_changed()
        return await call_next(ctx)

    lowlevel_of(shop.server).middleware.append(greet)
    return shop


class Counting:
    """How often a store was read, and who waits in it."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.puts: Counter[str] = Counter()
        self._waiting = 0
        self._changed = anyio.Event()

    @asynccontextmanager
    async def one_more(self) -> AsyncGenerator[None]:
        """Who waits for the length of the block."""
        self._change(1)
        try:
            yield
        finally:
            self._change(-1)

    async def reading(self, row: Awaitable[bytes | None]) -> bytes | None:
        self.calls["get"] += 1
        return await row

    async def waiting(self, end: Awaitable[bytes | None]) -> bytes | None:
        self.calls["wait"] += 1
        async with self.one_more():
            return await end

    def _change(self, by: int) -> None:
        self._waiting += by
        self._changed.set()
        self._changed = anyio.Event()

    async def until_waiting(self, so_many: int = 1) -> None:
        """Come back as soon as so many wait, or nobody does any more."""
        with anyio.fail_after(BOUND):
            while self._waiting < so_many or (self._waiting and not so_many):
                await self._changed.wait()

    async def until_put(self, name: str) -> None:
        """Come back as soon as a row was put on a shelf of that name, or that begins with it."""
        with anyio.fail_after(BOUND):
            while not any(shelf.startswith(name) for shelf in self.puts):
                await self._changed.wait()

    def put(self, name: str) -> None:
        self.puts[name] += 1
        self._change(0)


class CountingMemory(MemoryStore):
    """The memory store, counted."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__(clock=clock)
        self.counting = Counting()

    async def wait(self, key: str, *, seconds: float | None = None) -> bytes | None:
        return await self.counting.waiting(super().wait(key, seconds=seconds))

    async def get(self, owner: str, name: str) -> bytes | None:
        return await self.counting.reading(super().get(owner, name))

    async def put(self, owner: str, name: str, value: bytes, *, until: float | None = None) -> None:
        await super().put(owner, name, value, until=until)
        self.counting.put(owner)


class CountingFile(SQLiteStore):
    """The SQLite store, counted."""

    def __init__(self, path: Any) -> None:
        super().__init__(path)
        self.counting = Counting()

    async def wait(self, key: str, *, seconds: float | None = None) -> bytes | None:
        return await self.counting.waiting(super().wait(key, seconds=seconds))

    async def get(self, owner: str, name: str) -> bytes | None:
        return await self.counting.reading(super().get(owner, name))
