"""Flows on 2025-11-25: a session with one worker, a call whose answer is a stream, and replies on the side."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bench.cluster.flows import AGAIN, NUMBERS, PATIENCE, PAUSE, PUSH, Flow, reply
from bench.cluster.http import Cut, Message, Response, Web

CLIENT: Message = {
    "protocolVersion": PUSH,
    "capabilities": {"elicitation": {"form": {}}},
    "clientInfo": {"name": "load", "version": "1"},
}

AT_MOST = 50
"""Times that something is tried before one gives up."""


A_WHILE = 2.0
"""Seconds for a stream that was taken up: what the SDK sends while it is being taken up comes with the next."""


class Gone(Exception):
    """The session, or the connection that its call was on: what the protocol has for it."""


UNBEGUN = "its connection broke"
"""Before the first event of its stream: there is nothing to take it up by."""


class NeverCalled(Exception):
    """The session had gone before the call was made."""


class Session:
    """With the worker that began it, whichever worker a request reaches; begun anew when that one is gone."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._headers: dict[str, str] = {}
        self.owner: int | None = None

    async def run(self, flow: Flow) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                while not flow.ended:
                    await self._begin()
                    flow.owner = self.owner
                    await self._call_or_begin_anew(flow)
        except (Gone, Cut) as error:
            flow.end("gone", str(error) or UNBEGUN)
            self._headers = {}
        except TimeoutError:
            flow.end("hung")
            self._headers = {}

    async def _begin(self) -> None:
        """Until one is begun: what is lost here was no flow yet."""
        for _ in range(AT_MOST):
            if self._headers:
                return
            try:
                await self._initialize()
            except (Gone, Cut):
                self._headers = {}
                await asyncio.sleep(PAUSE)

    async def _initialize(self) -> None:
        number = next(NUMBERS)
        body = _body(id=number, method="initialize", params=CLIENT)
        async with self._web.send(body, {}) as response:
            async for message in response.messages():
                if message.get("id") == number and "result" in message:
                    self.owner = int(message["result"]["instructions"])
            if response.status != 200:
                raise Gone(str(response.status))
            session = response.headers["mcp-session-id"]
        self._headers = {"Mcp-Session-Id": session, "MCP-Protocol-Version": PUSH}
        await self._tell(_body(method="notifications/initialized"))

    async def _call_or_begin_anew(self, flow: Flow) -> None:
        """A session that was not there has not made the call: the client begins another, and calls again."""
        try:
            await self._call(flow)
        except NeverCalled:
            flow.met("404")
            self._headers = {}

    async def _call(self, flow: Flow) -> None:
        """A stream that breaks is taken up where it broke, as long as there is a session."""
        number = next(NUMBERS)
        params = {"name": flow.tool, "arguments": flow.arguments}
        stream = _Stream(flow, number)
        body = _body(id=number, method="tools/call", params=params)
        try:
            async with self._web.send(body, self._headers) as response:
                await self._follow(response, stream)
        except Cut:
            if not stream.last:
                raise
        for _ in range(AT_MOST):
            if flow.ended:
                return
            flow.met("cut")
            await asyncio.sleep(PAUSE)
            await self._take_up(stream)
        raise Gone("the stream ended without a result")

    async def _take_up(self, stream: "_Stream") -> None:
        stream.is_taken_up = True
        headers = {**self._headers, "Last-Event-ID": stream.last}
        with suppress(Cut, TimeoutError):
            async with asyncio.timeout(A_WHILE), self._web.send(b"", headers, method="GET") as response:
                if response.status in AGAIN:
                    await response.body()
                else:
                    await self._follow(response, stream)

    async def _follow(self, response: Response, stream: "_Stream") -> None:
        flow = stream.flow
        if response.served_by:
            flow.carriers.add(response.served_by)
        if response.status == 404 and not stream.is_taken_up:
            raise NeverCalled
        if response.status != 200:
            raise Gone(f"{response.status} to the call")
        async for event in response.events():
            stream.last = event.id or stream.last
            message: Message = json.loads(event.data) if event.data else {}
            if message.get("method") == "elicitation/create":
                text = message["params"]["message"]
                flow.asked.append(text)
                await self._tell(_body(id=message["id"], result=reply(text)))
            elif message.get("id") == stream.number:
                flow.judge(message)
                if stream.is_taken_up:
                    return  # the SDK leaves it open

    async def _tell(self, body: bytes) -> None:
        """Sent again where it got lost: a reply that comes twice is one."""
        for _ in range(AT_MOST):
            with suppress(Cut):
                async with self._web.send(body, self._headers) as response:
                    await response.body()
                    if response.status == 202:
                        return
                    if response.status not in AGAIN:
                        raise Gone(f"{response.status} to a reply")
            await asyncio.sleep(PAUSE)
        raise Gone("nobody took a reply")


@dataclass(slots=True)
class _Stream:
    """Of one call: the answer with this number ends it, and behind the last event it is taken up."""

    flow: Flow
    number: int
    last: str = ""
    is_taken_up: bool = False


def _body(**parts: Any) -> bytes:
    said: Mapping[str, Any] = {"jsonrpc": "2.0", **parts}
    return json.dumps(said).encode()
