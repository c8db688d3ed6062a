"""One server and one connection to it, over which question after question is answered by reply after reply."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
from mcp.shared.exceptions import MCPError

from askback import Answer, InvalidAnswer, ask, confirm
from askback.protocol.revisions import Era, revision_of
from askback.server.hosts import lowlevel_of
from askback.testing import Asked, Script, cancel, raw
from askback.testing.run import FORMS, Wire, connect
from askback.testing.script import Raw as RawReply
from tests.protocol.hostile.questions import Question
from tests.protocol.hostile.replies import Reply
from tests.support.raw import Raw, answering
from tests.support.tool_servers import mcpserver

MESSAGE, AFTERWARDS = "What shall it be?", "Go on?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of one reply: how it ended, and what the body saw of it."""

    reply: Reply
    end: str
    """The name of the answer or error the body got; "asked again"; or the code of a JSON-RPC error."""
    seen: list[Answer[Any]]
    """An answer is seen again when the body is replayed."""


class Desk:
    """Asks whatever it is told to, and gives the replies it is told to."""

    def __init__(self, revision: str) -> None:
        self._wire = Wire(version=revision, capabilities=FORMS, script=Script(self._next))
        self._play = self._play_rounds if revision_of(revision).era is Era.ROUNDS else self._play_push
        self._question = Question(what=str, slots={})
        self._left: list[Reply] = []
        self._given: Reply | None = None
        self._seen: list[Answer[Any]] = []
        self._taken: list[Taken] = []

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        async with connect(lowlevel_of(mcpserver(self._body)), self._wire):
            yield

    async def put(self, question: Question, replies: list[Reply]) -> list[Taken]:
        """Have the question asked, in as many calls as it takes, until every reply was given."""
        self._question, self._left, self._taken = question, list(replies), []
        self._wire.transcript.clear()
        with anyio.fail_after(20):
            while self._left:
                before = len(self._left)
                await self._play()
                assert len(self._left) < before, "the question was not asked"
        return self._taken

    async def _body(self) -> str:
        try:
            answer = await ask(MESSAGE, self._question.what)
        except InvalidAnswer as error:
            return type(error).__name__
        self._seen.append(answer)
        await confirm(AFTERWARDS)  # on the rounds era the answer is now read once more, from the journal
        return type(answer).__name__

    async def _play_push(self) -> None:
        result = await self._wire.call("tools/call", {"name": "t"})
        self._note(result["content"][0]["text"])

    def _next(self, asked: Asked) -> RawReply:
        if asked.message == AFTERWARDS:
            return cancel()
        self._note("asked again")
        self._given = self._left.pop(0) if self._left else None
        return cancel() if self._given is None else raw(self._given.raw)

    async def _play_rounds(self) -> None:
        client = Raw(self._wire)
        opened = await client.call()
        while self._left and "inputRequests" in opened:
            self._given = self._left.pop(0)
            try:
                result = await client.call(**answering(opened, ask_1=self._given.raw))
            except MCPError as error:
                self._note(str(error.code))
                continue
            if "ask-2" in result.get("inputRequests", {}):
                result = await client.call(**answering(result, ask_2={"action": "cancel"}))
            self._note("asked again" if "inputRequests" in result else result["content"][0]["text"])
            opened = result

    def _note(self, end: str) -> None:
        if self._given is not None:
            self._taken.append(Taken(reply=self._given, end=end, seen=self._seen))
        self._given, self._seen = None, []
