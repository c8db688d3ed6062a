"""One process that is answered so many times, over both eras, and says by how much it grew.

`python -m tests.protocol.endurance REPLIES` prints it as JSON. A process of its own: nobody else's memory is measured.
"""

import gc
import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path
from typing import Any, Literal

import anyio
from mcp.server import MCPServer
from pydantic import BaseModel, Field

from askback import Askback, Choices, Date, InvalidAnswer, Text, ask
from askback.server.hosts import lowlevel_of
from askback.stores import MemoryStore
from askback.testing import REVISIONS, Asked, Script, raw
from askback.testing.run import FORMS, Wire, connect
from askback.testing.script import Raw as RawReply
from tests.support.raw import Raw, answering

STATM = Path("/proc/self/statm")

WARM_UP = 25_000
"""Replies before those that count: so many that every cache is filled to its bound and its memory has settled."""

IN_ROUNDS = 0.06
"""The share of them in rounds, which take longer."""

IN_ONE_CALL = 500
"""Questions that one body asks on the push era."""


class Booking(BaseModel):
    guests: int = Field(ge=1, le=8)
    name: str = "Ada"


QUESTIONS: list[Any] = [
    Booking,
    {"day": Date(), "note": Text(optional=True, max_length=9)},
    Literal["cola", "water"],
    {"toppings": Choices(["ham", "olives"])},
]

FIT: dict[str, Any] = {"guests": 2, "day": "2026-07-28", "value": "cola", "toppings": ["ham"]}
"""Fits every question: each takes what it asked for."""

REPLIES: list[dict[str, Any]] = [
    {"action": "accept", "content": FIT},
    {"action": "accept", "content": {**FIT, "surplus": "x" * 1_000}},
    {"action": "accept", "content": dict.fromkeys(FIT, 99)},
    {"action": "accept", "content": FIT},
    {"action": "decline"},
    {"action": "accept"},
    {"action": "cancel", "content": FIT},
    {"action": "accept", "content": {**FIT, "name": "x" * 100_000}},
    {"action": "accept", "content": []},
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What they left behind."""

    replies: int
    seconds: float
    grown_bytes: int
    grown_objects: int
    """As the garbage collector counts them: what is kept by mistake shows here before it shows in bytes."""


async def order(first: int, questions: int) -> str:
    """Asks one question after another, every other one in words that were never used before."""
    for number in range(first, first + questions):
        try:
            await ask(f"Number {number if number % 2 else 0}?", QUESTIONS[number % len(QUESTIONS)])
        except InvalidAnswer:
            continue
    return "done"


class Client:
    """Answers without end, and remembers nothing but how often."""

    def __init__(self, revision: str) -> None:
        self.given = 0
        self._asked = 0
        self._replies = cycle(REPLIES)
        self._script = Script(self._reply_to)
        self.wire = Wire(version=revision, capabilities=FORMS, script=self._script)

    async def push(self, replies: int) -> None:
        """Calls with many questions each, until so many replies were given."""
        until = self.given + replies
        while self.given < until:
            await self.wire.call("tools/call", {"name": "order", "arguments": self._arguments(IN_ONE_CALL)})

    async def rounds(self, replies: int) -> None:
        """Calls with one question each, answered round by round."""
        client, until = Raw(self.wire), self.given + replies
        while self.given < until:
            arguments = self._arguments(1)
            result = await client.call("order", arguments)
            while "inputRequests" in result:
                result = await client.call("order", arguments, **answering(result, ask_1=self._next()))

    def _arguments(self, questions: int) -> dict[str, int]:
        first, self._asked = self._asked, self._asked + questions
        return {"first": first, "questions": questions}

    def _reply_to(self, _asked: Asked) -> RawReply:
        return raw(self._next())

    def _next(self) -> dict[str, Any]:
        self.given += 1
        self.wire.transcript.clear()
        self._script.asked.clear()
        return next(self._replies)


def resident_bytes() -> int:
    gc.collect()
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def endure(replies: int) -> Report:
    server: MCPServer[Any] = MCPServer("endurance")
    server.add_tool(order)
    Askback(server, store=MemoryStore(max_results=100))  # filled while warming up, like every other cache
    lowlevel, (_, november, latest) = lowlevel_of(server), REVISIONS
    push, rounds = Client(november), Client(latest)
    async with connect(lowlevel, push.wire), connect(lowlevel, rounds.wire):
        await push.push(WARM_UP)
        await rounds.rounds(WARM_UP // 8)
        given, started = push.given + rounds.given, time.monotonic()
        warm_bytes, warm_objects = resident_bytes(), len(gc.get_objects())
        in_rounds = int(replies * IN_ROUNDS)
        await push.push(replies - in_rounds)
        await rounds.rounds(in_rounds)
        return Report(
            replies=push.given + rounds.given - given,
            seconds=time.monotonic() - started,
            grown_bytes=resident_bytes() - warm_bytes,
            grown_objects=len(gc.get_objects()) - warm_objects,
        )


if __name__ == "__main__":
    os.write(1, json.dumps(asdict(anyio.run(endure, int(sys.argv[1])))).encode())
