"""Runs one call on a chosen revision, answered by a script, and records everything that happened.

A client of any revision is joined to a server in memory. It sends what the script says and checks nothing.
"""

from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import anyio
from mcp.server.lowlevel import Server
from mcp.shared.dispatcher import DispatchContext
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    METHOD_NOT_FOUND,
    PROTOCOL_VERSION_META_KEY,
)

from askback.errors import AuthorError
from askback.protocol import revisions
from askback.protocol.elicitation import ELICIT
from askback.protocol.revisions import Era, revision_of
from askback.server.askback import middleware_of
from askback.server.call import REHEARSAL, Rehearsal
from askback.server.hosts import lowlevel_of
from askback.testing.script import Accept, Answers, Asked, Fail, Raw, Script, ScriptMismatch, Silence

CLIENT_INFO = {"name": "askback.testing", "version": "1"}


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """One message of a transcript: `->` to the server, `<-` from it."""

    direction: Literal["->", "<-"]
    what: str
    body: Any

    def __str__(self) -> str:
        return f"{self.direction} {self.what} {self.body}"


class Wire:
    """A connection on one revision. Made by `connect`."""

    def __init__(self, *, version: str, capabilities: Mapping[str, Any] | None, script: Script) -> None:
        """Without `capabilities` a client of the push era skips the handshake, and its abilities stay unknown."""
        self.transcript: list[TranscriptLine] = []
        self.failure: Exception | None = None
        """An error of the script, which fails the test instead of answering the question."""
        self.on_silence: Callable[[], None] = lambda: None
        self._version, self._capabilities, self._script = version, capabilities, script
        self._dispatcher: JSONRPCDispatcher[TransportContext] | None = None
        self._calling: anyio.CancelScope | None = None

    async def open(self, dispatcher: JSONRPCDispatcher[TransportContext]) -> None:
        """Initialize the connection, on revisions of the push era."""
        self._dispatcher = dispatcher
        if revision_of(self._version).era is not Era.ROUNDS:
            hello = {
                "protocolVersion": self._version,
                "capabilities": self._capabilities,
                "clientInfo": CLIENT_INFO,
            }
            if self._capabilities is not None:
                await self.send("initialize", hello)
            await dispatcher.notify("notifications/initialized", None)

    async def call(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Make the call and answer its questions until it ends; raises if the script does not fit."""
        with anyio.CancelScope() as self._calling:
            if revision_of(self._version).era is Era.ROUNDS:
                return await self._rounds(method, {**params, "_meta": self.envelope()})
            return await self.send(method, params)
        assert self.failure is not None
        raise self.failure

    async def on_request(
        self, _ctx: DispatchContext[TransportContext], method: str, params: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """A question of the push era."""
        self.transcript.append(TranscriptLine("<-", method, params))
        if method != ELICIT:
            raise MCPError(METHOD_NOT_FOUND, f"askback.testing answers questions, not {method}")
        reply = await self._answer(None, params or {})
        self.transcript.append(TranscriptLine("->", "answer", reply))
        return reply

    async def on_notify(
        self, _ctx: DispatchContext[TransportContext], method: str, params: Mapping[str, Any] | None
    ) -> None:
        self.transcript.append(TranscriptLine("<-", method, params))

    async def _rounds(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        result = await self.send(method, params)
        while result.get("resultType") == "input_required":
            requests: dict[str, Any] = result.get("inputRequests", {})
            replies: dict[str, Any] = {}
            for key, request in requests.items():
                reply = await self._answer(key, request.get("params", {}))
                replies |= {} if reply is None else {key: reply}
            round_two = {**params, "inputResponses": replies}
            if "requestState" in result:
                round_two["requestState"] = result["requestState"]
            result = await self.send(method, round_two)
        return result

    async def _answer(self, key: str | None, params: Mapping[str, Any]) -> Any:
        asked = Asked(
            message=str(params.get("message")),
            schema=params.get("requestedSchema", {}),
            key=key,
            mode=params.get("mode", "form"),
            url=params.get("url", ""),
        )
        try:
            reply = self._script.reply_to(asked)
            content = self._script.content_for(reply, asked) if isinstance(reply, Accept) else None
        except Exception as error:  # raised by the call
            assert self._calling is not None
            self.failure = error
            self._calling.cancel()
            await anyio.sleep_forever()
            raise
        match reply:
            case Accept():
                # A yes to a link is consent alone (R67).
                return {"action": "accept"} | ({} if asked.mode == "url" else {"content": content})
            case Raw():
                return reply.reply
            case Fail():
                raise MCPError(reply.code, reply.message)
            case Silence():
                if key is None:
                    await anyio.sleep_forever()  # the server's own timeout withdraws the question
                self.on_silence()
                return None

    async def send(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Send one request exactly as it is, and give its result."""
        assert self._dispatcher is not None
        self.transcript.append(TranscriptLine("->", method, params))
        try:
            result = await self._dispatcher.send_raw_request(method, params)
        except MCPError as error:
            self.transcript.append(TranscriptLine("<-", "error", error.error.model_dump(exclude_none=True)))
            raise
        self.transcript.append(TranscriptLine("<-", "result", result))
        return result

    def envelope(self) -> dict[str, Any]:
        """What every request of the rounds era carries in `_meta`."""
        return {
            PROTOCOL_VERSION_META_KEY: self._version,
            CLIENT_INFO_META_KEY: CLIENT_INFO,
            CLIENT_CAPABILITIES_META_KEY: self._capabilities,
        }


@asynccontextmanager
async def connect(lowlevel: Server[Any], wire: Wire) -> AsyncGenerator[None]:
    """Run the server and join the wire to it; both end with the block."""
    failure: Exception | None = None
    async with create_client_server_memory_streams() as (client, served), anyio.create_task_group() as tasks:
        tasks.start_soon(lowlevel.run, *served, lowlevel.create_initialization_options())
        dispatcher: JSONRPCDispatcher[TransportContext] = JSONRPCDispatcher(*client)
        await tasks.start(dispatcher.run, wire.on_request, wire.on_notify)
        try:
            await wire.open(dispatcher)
            yield
        except Exception as error:  # noqa: BLE001 - raised below, because the task group would wrap it
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


REVISIONS = tuple(revisions.REVISIONS)
"""Every protocol revision that can ask, oldest first."""

LATEST = REVISIONS[-1]

FORMS: Mapping[str, Any] = {"elicitation": {}}
"""What the scripted client declares unless told otherwise: forms."""

CALL_TIMEOUT = 30.0
"""Seconds that a call may take in a test."""

A_YEAR = 365 * 24 * 3600.0
"""How far the clock moves when the scripted person stays silent: past every timeout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What happened in a call: its result, the questions as they reached the client, and every message."""

    result: Mapping[str, Any]
    asked: list[Asked]
    transcript: list[TranscriptLine]

    @property
    def text(self) -> str:
        """The text of the result: a tool's content, a prompt's messages, a resource's contents."""
        parts: list[Mapping[str, Any]] = [
            *self.result.get("content", ()),
            *(message["content"] for message in self.result.get("messages", ())),
            *self.result.get("contents", ()),
        ]
        return "\n".join(str(part["text"]) for part in parts if "text" in part)

    @property
    def is_error(self) -> bool:
        """Whether a tool ended with an error."""
        return bool(self.result.get("isError", False))

    @property
    def structured(self) -> Any:
        """A tool's structured content."""
        return self.result.get("structuredContent")


async def run_tool(
    server: Any,
    name: str,
    arguments: Mapping[str, Any] | None = None,
    answers: Answers = (),
    *,
    revision: str = LATEST,
    always_replay: bool = True,
    capabilities: Mapping[str, Any] = FORMS,
) -> Run:
    """Call a tool of a server that has Askback installed, in memory.

    Args:
        server: the server object; nothing of it is replaced.
        name: the tool.
        arguments: its arguments.
        answers: the replies in order, by key, or a function of the question.
        revision: one of `REVISIONS`.
        always_replay: run the body again after every answer, on every revision, so that a body that cannot be
            replayed fails in the test.
        capabilities: what the client declares.

    Raises:
        ScriptMismatch: the script and the questions differ.
        MCPError: the call ended with a JSON-RPC error.
    """
    params = {"name": name, "arguments": dict(arguments or {})}
    return await _run(server, revisions.TOOLS_CALL, params, answers, revision, always_replay, capabilities)


async def get_prompt(
    server: Any,
    name: str,
    arguments: Mapping[str, str] | None = None,
    answers: Answers = (),
    *,
    revision: str = LATEST,
    always_replay: bool = True,
    capabilities: Mapping[str, Any] = FORMS,
) -> Run:
    """Get a prompt, as `run_tool` calls a tool."""
    params = {"name": name, "arguments": dict(arguments or {})}
    return await _run(server, revisions.PROMPTS_GET, params, answers, revision, always_replay, capabilities)


async def read_resource(
    server: Any,
    uri: str,
    answers: Answers = (),
    *,
    revision: str = LATEST,
    always_replay: bool = True,
    capabilities: Mapping[str, Any] = FORMS,
) -> Run:
    """Read a resource, as `run_tool` calls a tool."""
    return await _run(
        server, revisions.RESOURCES_READ, {"uri": uri}, answers, revision, always_replay, capabilities
    )


async def _run(
    server: Any,
    method: str,
    params: Mapping[str, Any],
    answers: Answers,
    revision: str,
    always_replay: bool,
    capabilities: Mapping[str, Any],
) -> Run:
    script = Script(answers)
    wire = Wire(version=revision, capabilities=capabilities, script=script)
    if middleware_of(server) is None:
        raise AuthorError("This server has no Askback. Write Askback(server) where the server is made.")
    with _rehearse(wire, always_replay), anyio.move_on_after(CALL_TIMEOUT):
        async with connect(lowlevel_of(server), wire):
            result = await wire.call(method, params)
        run = Run(result=result, asked=script.asked, transcript=wire.transcript)
        script.finish(run.text)
        return run
    raise ScriptMismatch(
        f"The call did not end within {CALL_TIMEOUT:g} seconds. A silence() needs a question with a shorter timeout; "
        f"the last message was {wire.transcript[-1]}."
    )


@contextmanager
def _rehearse(wire: Wire, always_replay: bool) -> Generator[None]:
    """Set the rehearsal for this call alone; other calls of the server have their own contexts."""
    rehearsal = Rehearsal(always_replay=always_replay)

    def a_year_later() -> None:
        rehearsal.seconds_ahead += A_YEAR

    wire.on_silence = a_year_later
    token = REHEARSAL.set(rehearsal)
    try:
        yield
    finally:
        REHEARSAL.reset(token)
