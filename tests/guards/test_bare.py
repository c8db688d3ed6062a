"""A function that has a guard elsewhere is not run without it, whatever was made of the bare one."""

import functools
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from fastmcp import Context, FastMCP
from fastmcp.prompts import Prompt
from fastmcp.resources import Resource, ResourceTemplate
from fastmcp.server.providers import LocalProvider
from fastmcp.tools import Tool
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent

from askback import Askback, guard
from askback.errors import AuthorError
from askback.guards.guard import GuardMarks
from askback.testing import accept, get_prompt, read_resource, run_tool
from tests.guards.serving import Serve
from tests.support.corpus import corpus

pytestmark = pytest.mark.anyio

ran: list[str] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    ran.clear()


async def burn() -> str:
    ran.append("burn")
    return "burnt"


async def burn_with(context: Context) -> str:
    return await burn()


async def burn_named(name: str, context: Context) -> str:
    return await burn()


guarded = guard("Burn it?")(burn)
guarded_with = guard("Burn it?")(burn_with)
guarded_named = guard("Burn it?")(burn_named)


async def test_a_bare_function_is_refused_as_a_tool_and_the_guarded_one_asks(serve: Serve, revision: str):
    run = await run_tool(serve(burn), "burn", {}, revision=revision)
    assert run.is_error and ran == []
    assert "burn was not run: it has a guard" in run.text and "directly above def" in run.text
    run = await run_tool(serve(guarded), "burn", {}, [accept(yes=True)], revision=revision)
    assert run.text == "burnt" and len(run.asked) == 1


async def test_without_this_it_runs(serve: Serve, revision: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(GuardMarks, "exist", False)
    assert (await run_tool(serve(burn), "burn", {}, revision=revision)).text == "burnt"


def by_name(server: FastMCP[Any]) -> None:
    server.tool("burn")(burn)


def as_tool(server: FastMCP[Any]) -> None:
    server.add_tool(Tool.from_function(burn))


def with_context(server: FastMCP[Any]) -> None:
    server.tool(burn_with, name="burn")


def mounted(server: FastMCP[Any]) -> None:
    child = FastMCP[Any]("child")
    child.tool(burn)
    server.mount(child)


def provided(server: FastMCP[Any]) -> None:
    provider = LocalProvider()
    provider.tool(burn)
    server.add_provider(provider)


def transformed(server: FastMCP[Any]) -> None:
    server.add_tool(Tool.from_tool(Tool.from_function(burn), description="Burn it."))


def transforming(server: FastMCP[Any]) -> None:
    async def look() -> str:
        return "looked"

    server.add_tool(Tool.from_tool(Tool.from_function(look), name="burn", transform_fn=burn))


@corpus("add", [by_name, as_tool, with_context, mounted, provided, transformed, transforming])
async def test_however_it_got_into_fastmcp(add: Callable[[FastMCP[Any]], None], revision: str):
    server = FastMCP[Any]("test")
    add(server)
    Askback(server)
    run = await run_tool(server, "burn", {}, revision=revision)
    assert run.is_error and "was not run: it has a guard" in run.text and ran == []


class Burner:
    """A callable object, with the name that MCPServer wants."""

    __name__ = "burn"

    async def __call__(self) -> str:
        return await burn()

    async def burn(self) -> str:
        return await burn()


class HastyBurner(Burner):
    async def __call__(self) -> str:
        return await burn()


class CarefulBurner:
    __name__ = "burn"

    @guard("Burn it?")
    async def __call__(self) -> str:
        return await burn()


def partial_of(function: Callable[..., Any]) -> Any:
    made: Any = functools.partial(function)
    made.__name__, made.__doc__ = "burn", "Burn it."
    return made


def wrapped_around(function: Callable[..., Any]) -> Any:
    @functools.wraps(function)
    async def around() -> str:
        return await function()

    return around


burner = Burner()
guarded_burner = guard("Burn it?")(burner)
guarded_call = guard("Burn it?")(HastyBurner.__call__)
guarded_method = guard("Burn it?")(Burner.burn)


BARE: dict[str, Callable[[], Any]] = {
    "a partial": lambda: partial_of(burn),
    "a partial of a partial": lambda: partial_of(partial_of(burn)),
    "a partial of what is wrapped around it": lambda: partial_of(wrapped_around(burn)),
    "something wrapped around a partial": lambda: wrapped_around(partial_of(burn)),
    "a callable object": lambda: burner,
    "its call": lambda: burner.__call__,
    "an object whose call has the guard": lambda: HastyBurner(),
    "a partial of it": lambda: partial_of(burner),
    "a method": lambda: Burner().burn,
    "a partial of a method": lambda: partial_of(Burner().burn),
}

GUARDED: dict[str, Callable[[], Any]] = {
    "a partial": lambda: partial_of(guarded),
    "a partial that says it is of the bare one": lambda: functools.update_wrapper(partial_of(guarded), burn),
    "something wrapped around it": lambda: wrapped_around(guarded),
    "a callable object": lambda: CarefulBurner(),
    "the guarded object": lambda: guarded_burner,
}


def serve_named(host: str, function: Any) -> Any:
    server: Any = FastMCP[Any]("test") if host == "FastMCP" else MCPServer[Any]("test")
    if host == "FastMCP":
        server.add_tool(Tool.from_function(function, name="burn"))
    else:
        server.add_tool(function, name="burn")
    Askback(server)
    return server


@pytest.mark.parametrize("host", ["MCPServer", "FastMCP"])
@corpus("made", BARE)
async def test_nor_is_it_run_in_other_clothes(made: str, host: str, revision: str):
    run = await run_tool(serve_named(host, BARE[made]()), "burn", {}, revision=revision)
    assert run.is_error and "was not run: it has a guard" in run.text and ran == []


@pytest.mark.parametrize("host", ["MCPServer", "FastMCP"])
@corpus("made", BARE)
async def test_without_this_it_runs_in_them(made: str, host: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(GuardMarks, "exist", False)
    assert (await run_tool(serve_named(host, BARE[made]()), "burn", {})).text == "burnt"


@pytest.mark.parametrize("host", ["MCPServer", "FastMCP"])
@corpus("made", GUARDED)
async def test_the_guarded_one_asks_in_them(made: str, host: str, revision: str):
    server = serve_named(host, GUARDED[made]())
    run = await run_tool(server, "burn", {}, [accept(yes=True)], revision=revision)
    assert (run.text, len(run.asked)) == ("burnt", 1)


async def test_what_a_guarded_partial_was_made_of_stays_free(serve: Serve):
    async def light() -> str:
        return "lit"

    guard("Light it?")(functools.partial(light))
    assert (await run_tool(serve(light), "light", {})).text == "lit"


@corpus("body", [burn, burn_with])
async def test_prompts_and_resources_of_fastmcp_are_held_to_it_as_well(body: Any, revision: str):
    server = FastMCP[Any]("test")
    server.add_prompt(Prompt.from_function(body, name="burn"))
    server.add_resource(Resource.from_function(body, uri="desk://burn"))
    server.add_template(ResourceTemplate.from_function(burn_named, uri_template="desk://{name}/burn"))
    Askback(server)
    calls: list[Awaitable[Any]] = [
        get_prompt(server, "burn", None, revision=revision),
        read_resource(server, "desk://burn", revision=revision),
        read_resource(server, "desk://paper/burn", revision=revision),
    ]
    for call in calls:
        with pytest.raises(MCPError, match="was not run: it has a guard"):
            await call
    assert ran == []


async def test_the_guarded_one_may_be_a_prompt(revision: str):
    server = FastMCP[Any]("test")
    server.add_prompt(Prompt.from_function(guarded_with, name="burn"))
    Askback(server)
    run = await get_prompt(server, "burn", None, [accept(yes=True)], revision=revision)
    assert ran and len(run.asked) == 1


async def test_in_the_background_it_is_refused_as_well():
    server = FastMCP[Any]("test")
    server.tool(burn, task=True)
    Askback(server)
    (task,) = await server.get_tasks()
    with pytest.raises(AuthorError, match="was not run: it has a guard"):
        await task.fn()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] # of function tools
    assert ran == []


async def test_a_bare_handler_of_a_low_level_server_is_refused(revision: str):
    async def handle(_ctx: Any, _params: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=await burn())])

    guard("Burn it?")(handle)
    server: Server[Any] = Server("test", on_call_tool=handle)
    Askback(server)
    run = await run_tool(server, "burn", {}, revision=revision)
    assert run.is_error and "was not run: it has a guard" in run.text and ran == []


async def test_a_server_without_askback_is_left_alone():
    server = FastMCP[Any]("test")
    server.tool(burn)
    Askback(FastMCP[Any]("another"))
    assert (await server.call_tool("burn", {})).structured_content == {"result": "burnt"}
    plain: MCPServer[Any] = MCPServer("test")
    plain.add_tool(burn)
    await plain.call_tool("burn", {})
    assert ran == ["burn", "burn"]
