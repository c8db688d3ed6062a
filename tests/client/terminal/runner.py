"""A program with a person at its terminal; a test tells it over a socket what to ask, and is told what was answered.

python -m tests.client.terminal.runner SOCKET [plain]
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import anyio

from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.client.consent import Verdict
from askback.client.person import Turn, VisitAsked
from askback.client.terminal import TerminalPerson
from tests.client.turns import make_form, make_visit


class Room:
    """The turn that is shown now, and what was opened."""

    def __init__(self, *, plain: bool, replies: asyncio.StreamWriter) -> None:
        self._plain = plain
        self._replies = replies
        self._turn: Turn | None = None
        self._task: asyncio.Task[None] | None = None
        self._finished = anyio.Event()
        self._opened: list[str] = []
        self._opens = True
        self._time = 0.0
        """Of a wait: it passes when a test says so."""

    def hear(self, order: dict[str, Any]) -> None:
        match order.pop("do"):
            case "form":
                self._ask(make_form, **order)
            case "visit":
                self._ask(make_visit, **order)
            case "wait":
                self._start(self._wait(**order))
            case "pass":
                self._time += order["seconds"]
            case "finish":
                self._finished.set()
            case "withdraw" if self._turn is not None:
                self._turn.withdraw(order["why"])
            case "behind" if self._turn is not None:
                self._turn.behind = order["count"]
                self._turn.note()
            case "give up" if self._task is not None:
                self._task.cancel()
            case unknown:
                raise ValueError(unknown)

    def _ask(self, make: Any, *, quiet: float = 0, opens: bool = True, behind: int = 0, **given: Any) -> None:
        turn: Turn = make(**given)
        turn.behind = behind
        self._turn, self._opens = turn, opens
        self._start(self._answer(turn, quiet))

    def _start(self, work: Any) -> None:
        self._task = asyncio.ensure_future(work)

    async def _answer(self, turn: Turn, quiet: float) -> None:
        self._opened = []
        try:
            answer = await self._person(quiet).answer(turn)
        except asyncio.CancelledError:
            self._reply({"action": "given up"})
            return
        self._reply({**_told(answer), "opened": self._opened, "declines_all": turn.declines_all})

    async def _wait(self, url: str, opens: bool = True, **given: Any) -> None:
        self._finished = anyio.Event()
        self._opened, self._opens = [], opens
        asked = make_visit(url, **given).asked
        assert isinstance(asked, VisitAsked)
        word = await self._person(clock=lambda: self._time).wait(asked, self._finished)
        self._reply({"word": word, "opened": self._opened})

    def _person(self, quiet: float = 0, clock: Callable[[], float] = time.monotonic) -> TerminalPerson:
        return TerminalPerson(plain=self._plain, opener=self._open, quiet=quiet, clock=clock)

    def _open(self, verdict: Verdict) -> bool:
        self._opened.append(verdict.href)
        return self._opens

    def _reply(self, message: dict[str, Any]) -> None:
        self._replies.write(json.dumps(message).encode() + b"\n")


def _told(answer: Answer[Any]) -> dict[str, Any]:
    match answer:
        case Accepted(content):
            return {"action": "accept", "content": content}
        case Declined():
            return {"action": "decline"}
        case Cancelled():
            return {"action": "cancel"}


async def main(path: str, *, plain: bool) -> None:
    orders, replies = await asyncio.open_unix_connection(path, limit=1 << 24)
    room = Room(plain=plain, replies=replies)
    modes = sorted(TerminalPerson(plain=plain).modes)
    replies.write(json.dumps({"modes": modes}).encode() + b"\n")
    while line := await orders.readline():
        room.hear(json.loads(line))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], plain="plain" in sys.argv))
