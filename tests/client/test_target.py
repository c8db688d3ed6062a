"""What a driver connects to: commands, URLs and objects, on every revision; and what it says when it cannot."""

import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from fastmcp import FastMCP
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import TextContent, TextResourceContents

from askback import Accepted, Askback, ask
from askback.client import Driver
from askback.client.labels import GONE
from askback.errors import AuthorError, CannotConnect, ServerGone
from askback.testing import accept
from askback.testing.person import ScriptedPerson
from tests.client.inns import mcp
from tests.client.stranger_servers import Typing
from tests.support.paths import ROOT
from tests.support.programs import listening
from tests.support.servers.http import served

pytestmark = pytest.mark.slow

PROGRAM = [sys.executable, "-m", "tests.client.inns"]
TARGETS = ["object", "low-level", "program", "URL"]


@asynccontextmanager
async def reached(target: str) -> AsyncGenerator[Any]:
    match target:
        case "object":
            yield mcp
        case "low-level":
            yield vars(mcp)["_lowlevel_server"]
        case "program":
            yield StdioServerParameters(command=PROGRAM[0], args=PROGRAM[1:], cwd=ROOT)
        case _:
            async with served(mcp) as url:
                yield url


@pytest.mark.parametrize("target", TARGETS)
async def test_tools_prompts_and_resources_ask_the_person(target: str, revision: str):
    person = ScriptedPerson([accept(3), accept(yes=True), accept("Bo"), accept(7)])
    async with reached(target) as place, Driver(place, person, revision=revision) as driver:
        assert (driver.revision, driver.asker.name, driver.instructions) == (revision, "inn", "Be kind.")
        assert [tool.name for tool in await driver.list_tools()] == ["book", "process"]
        assert [prompt.name for prompt in await driver.list_prompts()] == ["greet"]
        assert [str(resource.uri) for resource in await driver.list_resources()] == ["inn://rooms"]
        assert await driver.list_resource_templates() == []
        booked = (await driver.call_tool("book", {"guest": "Ada"})).content[0]
        greeted = (await driver.get_prompt("greet")).messages[0].content
        shown = (await driver.read_resource("inn://rooms")).contents[0]
    assert isinstance(booked, TextContent) and booked.text == "Ada: 3"
    assert isinstance(greeted, TextContent) and greeted.text == "Greet Bo"
    assert isinstance(shown, TextResourceContents) and shown.text == "Rooms for 7"
    assert [turn.asked.purpose for turn in person.turns] == [
        "tool book",
        "tool book",
        "prompt greet",
        "resource inn://rooms",
    ]


async def test_a_fastmcp_server_is_a_target_too(revision: str):
    cafe: FastMCP[Any] = FastMCP("cafe")
    Askback(cafe)

    @cafe.tool
    async def brew() -> str:
        return f"{(await ask('How many cups?', int)).or_stop('none')} cups"

    person = ScriptedPerson([accept(2)])
    async with Driver(cafe, person, revision=revision) as driver:
        result = await driver.call_tool("brew")
    assert isinstance(result.content[0], TextContent) and result.content[0].text == "2 cups"


async def killed_while_typing(driving: Driver, person: Typing) -> ServerGone:
    """Call a tool that asks with its process id, end that process, and let the person leave when they have seen it."""
    errors = list[ServerGone]()

    async def call(driver: Driver) -> None:
        try:
            await driver.call_tool("process")
        except ServerGone as error:
            errors.append(error)

    async with driving as driver, anyio.create_task_group() as tasks:
        tasks.start_soon(call, driver)
        await person.begun.wait()
        os.kill(int(person.turns[0].asked.message), signal.SIGKILL)
        while person.turns[0].gone is None:
            await person.turns[0].changed()
        assert (person.turns[0].gone, errors, person.was_cancelled) == (GONE, [], False)
        person.sends.set()
    return errors[0]


async def test_a_program_that_dies_while_the_person_types_is_told_with_its_last_words(revision: str):
    place = StdioServerParameters(command=PROGRAM[0], args=PROGRAM[1:], cwd=ROOT)
    person = Typing()
    error = await killed_while_typing(Driver(place, person, revision=revision, label="inn"), person)
    assert "The server inn went away during tool process" in str(error)
    assert "The last words." in error.said


async def test_a_remote_server_that_dies_while_the_person_types_is_told_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("askback.client.connection.LEAVE_SECONDS", 0.1)
    person = Typing()
    with listening(*PROGRAM[1:], "--http") as url:
        error = await killed_while_typing(Driver(url, person, revision="2025-11-25"), person)
    assert "went away during tool process" in str(error)


async def test_a_remote_server_that_died_between_two_rounds_is_found_out_when_the_answer_is_sent(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("askback.client.connection.LEAVE_SECONDS", 0.1)
    person = Typing(Accepted({"value": 3}))
    with listening(*PROGRAM[1:], "--http") as url:
        async with Driver(url, person, revision="2026-07-28") as driver, anyio.create_task_group() as tasks:

            async def call() -> None:
                with pytest.raises(ServerGone):
                    await driver.call_tool("process")

            tasks.start_soon(call)
            await person.begun.wait()
            os.kill(int(person.turns[0].asked.message), signal.SIGKILL)
            person.sends.set()


async def test_a_program_that_is_not_there_is_said():
    with pytest.raises(CannotConnect, match="there is no program 'no-such-program'"):
        async with Driver(["no-such-program"]):
            pass


async def test_a_program_that_ends_at_once_is_shown_with_what_it_wrote_made_safe():
    code = r"import sys; print('\033]0;title\007 no key found', file=sys.stderr); sys.exit(3)"
    with pytest.raises(CannotConnect, match="it ended before it had answered") as raised:
        async with Driver([sys.executable, "-c", code], label="inn"):
            pass
    assert "no key found" in raised.value.said
    assert "\033" not in str(raised.value)


async def test_a_program_that_writes_without_end_is_read_and_only_its_end_is_kept():
    code = "import sys; sys.stderr.write('x' * 5_000_000 + 'the end'); sys.exit(3)"
    with pytest.raises(CannotConnect) as raised:
        async with Driver([sys.executable, "-c", code], label="inn"):
            pass
    assert len(raised.value.said) < 10_000


async def test_an_address_where_nobody_listens_is_said():
    with pytest.raises(CannotConnect, match="Check that it runs"):
        async with Driver("http://127.0.0.1:9/mcp"):
            pass


async def test_a_transport_that_cannot_be_opened_is_said_too():
    with pytest.raises(
        CannotConnect, match="Cannot connect to inn: All connection attempts failed"
    ) as raised:
        async with Driver(sse_client("http://127.0.0.1:9/sse"), label="inn"):
            pass
    assert isinstance(raised.value.__cause__, httpx2.ConnectError)


async def test_a_revision_that_the_server_does_not_speak_is_said():
    with pytest.raises(AuthorError, match="2025-06-18, 2025-11-25, 2026-07-28"):
        Driver(mcp, revision="2024-11-05")


async def test_what_is_no_target_is_said():
    with pytest.raises(AuthorError, match="a command"):
        Driver(7)


NO_TARGETS: dict[str, tuple[Any, str]] = {
    "no words": ([], "A command is a list of words"),
    "a path among the words": (["python", Path("server.py")], r"write paths as str\(path\)"),
    "a command in one text": ("python server.py SECRET", "Give a command as a list of words"),
    "an address without its beginning": ("inn.example/mcp?key=SECRET", "begins with http:// or https://"),
}


@pytest.mark.parametrize("name", NO_TARGETS)
def test_a_target_that_is_almost_one_is_refused_with_what_to_write_and_not_repeated(name: str):
    target, said = NO_TARGETS[name]
    with pytest.raises(AuthorError, match=said) as raised:
        Driver(target)
    assert "SECRET" not in str(raised.value)


@pytest.mark.parametrize("target", [PROGRAM, mcp], ids=["command", "object"])
def test_headers_that_nobody_would_send_are_refused(target: Any):
    Driver(target, headers={})
    with pytest.raises(AuthorError, match="headers= go with requests to a URL"):
        Driver(target, headers={"Authorization": "Bearer x"})


async def test_an_error_in_the_block_comes_out_as_it_is(revision: str):
    with pytest.raises(KeyError):
        async with Driver(mcp, revision=revision):
            raise KeyError("mine")


async def test_progress_is_heard(revision: str):
    busy, heard = MCPServer("busy"), list[float]()

    @busy.tool()
    async def steps(ctx: Context[Any, Any]) -> str:
        await ctx.report_progress(1, 2)
        return "done"

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async with Driver(busy, revision=revision) as driver:
        await driver.call_tool("steps", progress=hear)
    assert heard == [1]
