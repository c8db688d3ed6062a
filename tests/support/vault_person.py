"""A person with a client and a browser: agrees to links, and does on the page behind each what the test says."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import TaskGroup
from mcp.client.context import ClientRequestContext
from mcp_types import ElicitRequestParams, ElicitRequestURLParams, ElicitResult, TextContent

from tests.support.servers.clients import client_on
from tests.support.visitor import visitor

BOUND = 20.0

Act = Callable[[str], Awaitable[str]]
"""What is done with a link; gives the page as it was found."""


def give(value: str = "", **values: str) -> Act:
    """Type it and save it."""

    async def act(link: str) -> str:
        async with visitor() as browser:
            page = await browser.open(link)
            shown = await browser.give(link, value, **values)
            assert shown.status == 200, shown.heading
        return page.html

    return act


async def say_no(link: str) -> str:
    """On the page, where the client was told yes."""
    async with visitor() as browser:
        page = await browser.open(link)
        await browser.decline(link)
    return page.html


async def leave(link: str) -> str:
    """Agree to go, and never go."""
    return ""


DECLINE, CANCEL = "decline", "cancel"
"""What a person can say to the client, without going anywhere."""


@dataclass
class Sitting:
    """The person, and what came before them."""

    tasks: TaskGroup
    acts: list[Act | str]
    links: list[str] = field(default_factory=list[str])
    messages: list[str] = field(default_factory=list[str])
    pages: list[str] = field(default_factory=list[str])
    client: Any = None

    async def call(self, tool: str = "t") -> str:
        """The text that the call ends with."""
        with anyio.fail_after(BOUND):
            result = await self.client.call_tool(tool, {})
        return "".join(part.text for part in result.content if isinstance(part, TextContent))

    async def answer(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert isinstance(params, ElicitRequestURLParams), params
        self.links.append(params.url)
        self.messages.append(params.message)
        act = self.acts.pop(0)
        if isinstance(act, str):
            return ElicitResult(action="decline" if act == DECLINE else "cancel")
        self.tasks.start_soon(self._go, act, params.url)
        return ElicitResult(action="accept")

    async def _go(self, act: Act, link: str) -> None:
        self.pages.append(await act(link))


@asynccontextmanager
async def sitting(server: Any, revision: str, *acts: Act | str) -> AsyncGenerator[Sitting]:
    """Every act is for one link, in order; a link too many fails the test."""
    async with anyio.create_task_group() as tasks:
        person = Sitting(tasks, list(acts))
        async with client_on(revision, server, person.answer) as person.client:
            yield person
        assert not person.acts, f"Nothing was asked for {len(person.acts)} of the acts."
