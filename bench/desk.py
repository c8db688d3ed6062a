"""What it costs to answer one question on a desk, by how many others wait there: over HTTP, as the page does it."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2 as httpx

from askback.answers import Accepted
from askback.client.desk import DeskPerson
from askback.client.forms import read_form
from askback.client.person import Asker, FormAsked, Turn
from bench.blocks import Call
from bench.contests import Target
from bench.growth import Growth

WAITING = 200

MOST = Target(ratio=2)
"""A person should not notice how many others are in the queue."""

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"tip": {"type": "integer", "title": "Tip", "default": 0}},
}


def desk_growths() -> list[Growth]:
    """On the clock: the page's requests pass a socket."""
    return [
        Growth(
            name="desk/answer",
            much=f"answer one of {WAITING} on a desk",
            little="one waiting",
            target=MOST,
            clock=perf_counter,
            sides=_sides,
        )
    ]


@asynccontextmanager
async def _sides() -> AsyncGenerator[tuple[Call, Call]]:
    async with _crowded(WAITING - 1) as much, _crowded(0) as little:
        yield much, little


@asynccontextmanager
async def _crowded(others: int) -> AsyncGenerator[Call]:
    """A desk on which so many others wait, and one tab that watches it."""
    async with DeskPerson() as desk, _Tab(desk) as tab, anyio.create_task_group() as tasks:
        for _ in range(others):
            tasks.start_soon(desk.answer, _turn())
        for _ in range(others):
            await tab.next_card()
        yield tab.answer_one
        tasks.cancel_scope.cancel()


def _turn() -> Turn:
    asked = FormAsked(
        asker=Asker(label="pizzeria"), purposes=("tool order",), message="A tip?", blank=read_form(SCHEMA)
    )
    return Turn(asked)


class _Tab:
    """Does what the page does: hears of a card, opens it, fills it in, reviews it, sends it, hears that it is gone."""

    def __init__(self, desk: DeskPerson) -> None:
        self._desk = desk
        address = urlsplit(desk.url)
        origin = f"http://{address.netloc}"
        headers = {"authorization": f"Bearer {address.fragment}", "origin": origin}
        self._client = httpx.AsyncClient(base_url=origin, headers=headers)

    async def __aenter__(self) -> "_Tab":
        self._watch = self._client.stream("GET", "/events")
        self._lines = (await self._watch.__aenter__()).aiter_lines()
        self._heard: list[dict[str, Any]] = []
        await anext(self._lines)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._watch.__aexit__(None, None, None)
        await self._client.aclose()

    async def _next(self) -> dict[str, Any]:
        while not self._heard:
            line = await anext(self._lines)
            self._heard = json.loads(line)["changed"] if line else []
        return self._heard.pop(0)

    async def next_card(self) -> str:
        return (await self._next())["id"]

    async def answer_one(self) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._put)
            card = await self.next_card()
            await self._client.get(f"/cards/{card}")
            await self._say(card, "fill", field=0, value="3")
            reviewed = await self._say(card, "review", values=["3"])
            await self._say(card, "send", stamp=reviewed["stamp"])
            await self._next()

    async def _put(self) -> None:
        """Only what does the whole work is measured."""
        answer = await self._desk.answer(_turn())
        if answer != Accepted({"tip": 3}):
            raise RuntimeError(f"The desk gave {answer}.")

    async def _say(self, card: str, act: str, **said: object) -> dict[str, Any]:
        reply = await self._client.post(f"/cards/{card}/{act}", json=said)
        return reply.raise_for_status().json()
