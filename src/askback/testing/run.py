"""Runs one call on a chosen revision, answered by a script, and records everything that happened."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import anyio

from askback.errors import AuthorError
from askback.protocol import revisions
from askback.server.askback import middleware_of
from askback.server.call import REHEARSAL, Rehearsal
from askback.server.hosts import lowlevel_of
from askback.testing.script import Answers, Asked, Script, ScriptMismatch
from askback.testing.wire import TranscriptLine, Wire, connect

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
