"""Replay in tests: on unless told otherwise, and over when the run is."""

from contextlib import suppress
from typing import Any

import anyio
import pytest
from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError

from askback import ask_all
from askback.server.hosts import lowlevel_of
from askback.testing import Script, ScriptMismatch, accept, decline, fail, run_tool, silence
from askback.testing.run import FORMS, Wire, connect
from askback.testing.script import Reply
from tests.support.tool_servers import HOSTS, mcpserver
from tests.testing.tools import JUNE, LATEST, NOVEMBER, on_every_revision

pytestmark = pytest.mark.anyio


class Counted:
    """A body that is not ready for replay: what it does before it asks, it does on every run."""

    def __init__(self) -> None:
        self.runs = 0

    async def body(self) -> str:
        self.runs += 1
        answers = await ask_all({"a": ("A?", str), "b": ("B?", str)})
        return " ".join(str(answer) for answer in answers.values())


YES = [accept("yes"), accept("yes")]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("revision", [JUNE, NOVEMBER])
async def test_on_the_push_era_a_body_is_run_again_after_every_answer_unless_told_not_to(
    revision: str, host: str
):
    counted = Counted()
    await run_tool(HOSTS[host](counted.body), "t", None, YES, revision=revision)
    assert counted.runs == 3
    await run_tool(HOSTS[host](counted.body), "t", None, YES, revision=revision, always_replay=False)
    assert counted.runs == 4


@pytest.mark.parametrize("always_replay", [True, False])
async def test_on_the_rounds_era_a_body_is_run_again_in_every_round(always_replay: bool):
    counted = Counted()
    await run_tool(mcpserver(counted.body), "t", None, YES, revision=LATEST, always_replay=always_replay)
    assert counted.runs == 2


async def run_as_in_production(server: MCPServer[Any]) -> str:
    """A call past the kit's own door."""
    wire = Wire(version=NOVEMBER, capabilities=FORMS, script=Script(YES))
    async with connect(lowlevel_of(server), wire):
        result = await wire.call("tools/call", {"name": "t", "arguments": {}})
    return result["content"][0]["text"]


@pytest.mark.parametrize("answers", [YES, [], [*YES, decline()], [silence(), *YES], [fail()]])
@on_every_revision
async def test_however_a_run_ends_the_server_is_as_it_was(
    revision: str, answers: list[Reply], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("askback.testing.run.CALL_TIMEOUT", 0.5)
    counted = Counted()
    server = mcpserver(counted.body)
    with suppress(ScriptMismatch, MCPError):
        await run_tool(server, "t", None, answers, revision=revision)
    counted.runs = 0
    assert await run_as_in_production(server) == "Accepted(value='yes') Accepted(value='yes')"
    assert counted.runs == 1


async def test_calls_side_by_side_on_one_server_keep_their_own_settings():
    counted = Counted()
    server = mcpserver(counted.body)
    texts: list[str] = []

    async def replayed() -> None:
        texts.append((await run_tool(server, "t", None, YES, revision=NOVEMBER)).text)

    async def as_it_is() -> None:
        run = await run_tool(server, "t", None, YES, revision=NOVEMBER, always_replay=False)
        texts.append(run.text)

    async with anyio.create_task_group() as calls:
        calls.start_soon(replayed)
        calls.start_soon(as_it_is)
    assert texts == ["Accepted(value='yes') Accepted(value='yes')"] * 2
    assert counted.runs == 4
