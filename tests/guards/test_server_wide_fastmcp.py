"""FastMCP's many kinds of tools: however a call gets to one, a person is asked about what it will really run with."""

from typing import Any

import httpx2
import pytest
from fastmcp import Context, FastMCP
from fastmcp.server import create_proxy
from fastmcp.server.transforms import Namespace, ToolTransform
from fastmcp.server.transforms.search import RegexSearchTransform
from fastmcp.tools import Tool, ToolResult
from fastmcp.tools.tool_transform import ArgTransform, ArgTransformConfig, ToolTransformConfig, forward
from mcp_types import ToolAnnotations

from askback import Askback
from askback.guards import guard
from askback.testing import decline, run_tool
from tests.guards.office import YES, asked_and_ran, office, ran, send, sending
from tests.server.hosts.fastmcp.conftest import quiet_fastmcp as quiet_fastmcp

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    ran.clear()


async def test_a_mounted_tool_is_known_by_the_name_it_is_called_by_and_by_its_own(revision: str):
    for pattern in ("send", "deep_post_send", "deep_*", "post_send"):
        parent, middle = FastMCP[Any]("parent"), FastMCP[Any]("middle")
        Askback(parent, guards=[guard(tools=pattern)])
        middle.mount(office(), namespace="post")
        parent.mount(middle, namespace="deep")
        refused = await run_tool(parent, "deep_post_send", {"to": "Ada"}, [decline()], revision=revision)
        assert refused.is_error and ran == []
        run = await run_tool(parent, "deep_post_send", {"to": "Ada"}, [YES], revision=revision)
        assert run.asked[0].message.startswith("Run deep_post_send?")
        assert ran == [("Ada", 1, "low")]
        ran.clear()


@pytest.mark.parametrize("pattern", ["post", "api_post", "v2_api_post"])
async def test_a_namespace_hides_no_tool(pattern: str):
    server = office(guard(tools=pattern))
    server.tool(send, name="post")
    server.add_transform(Namespace("api"))
    server.add_transform(Namespace("v2"))
    await asked_and_ran(server, "v2_api_post", {"to": "Ada"})
    ran.clear()
    assert not (await run_tool(server, "v2_api_send", {"to": "Ada"})).asked


async def test_the_guards_of_a_mounted_server_hold_in_its_parent_after_the_parents_own():
    parent = FastMCP[Any]("parent")
    Askback(parent, guards=[guard("The parent's?", tools="kid_*")])
    parent.mount(office(guard("The child's?", tools="send")), namespace="kid")
    run = await asked_and_ran(parent, "kid_send", {"to": "Ada"}, times=2)
    assert [question.message.split("?")[0] for question in run.asked] == ["The parent's", "The child's"]


async def test_a_tool_that_another_server_gave_out_stays_under_its_guards():
    tool = await office(guard("The lender's?", tools="send")).get_tool("send")
    assert tool is not None
    borrower = FastMCP[Any]("borrower")
    Askback(borrower, guards=[guard("The borrower's?", tools="send")])
    borrower.add_tool(tool)
    run = await asked_and_ran(borrower, "send", {"to": "Ada"}, times=2)
    assert [question.message.split("?")[0] for question in run.asked] == ["The borrower's", "The lender's"]


async def test_the_guards_of_a_mounted_server_hold_in_a_parent_that_has_none():
    parent = FastMCP[Any]("parent")
    Askback(parent)
    parent.mount(office(guard(tools="send")), namespace="kid")
    await asked_and_ran(parent, "kid_send", {"to": "Ada"})


async def test_of_a_transformed_tool_the_person_sees_what_the_transform_makes_of_the_arguments():
    server = office(guard("Send to {to}?", tools="mail"))
    renamed = Tool.from_tool(
        await sending(),
        name="mail",
        transform_args={"to": ArgTransform(name="whom"), "priority": ArgTransform(hide=True, default="high")},
    )
    server.add_tool(renamed)
    run = await asked_and_ran(server, "mail", {"whom": "Ada", "copies": 2})
    assert run.asked[0].message == "Send to Ada?\n\nWith copies = 2\nWith priority = high"
    assert ran == [("Ada", 2, "high")]


async def test_a_transformed_tool_is_asked_about_under_its_old_name_too():
    server = office(guard(tools="send"))
    server.add_tool(Tool.from_tool(await sending(), name="harmless"))
    await asked_and_ran(server, "harmless", {"to": "Ada"})


async def test_a_transform_with_a_function_of_its_own_is_asked_about_before_it_and_before_what_it_calls():
    async def twice(to: str) -> ToolResult:
        ran.append(to)
        await forward(to=to)
        return await forward(to=f"{to} again")

    server = office(guard(tools=["twice", "send"]))
    tool = await sending()
    hidden = {"copies": ArgTransform(hide=True), "priority": ArgTransform(hide=True)}
    server.add_tool(Tool.from_tool(tool, name="twice", transform_fn=twice, transform_args=hidden))
    run = await run_tool(server, "twice", {"to": "Ada"}, [decline()])
    assert run.is_error and ran == []
    run = await run_tool(server, "twice", {"to": "Ada"}, [YES] * 3, always_replay=False)
    first_lines = [question.message.splitlines()[0] for question in run.asked]
    assert first_lines == ["Run twice?", 'Run "twice > send"?', 'Run "twice > send"?']


async def test_a_tool_behind_a_proxy_is_asked_about_here_with_what_goes_out():
    for pattern in ("send", "far_send"):
        server: FastMCP[Any] = FastMCP("near")
        Askback(server, guards=[guard("{tool}: {to}?", tools=pattern)])
        server.mount(create_proxy(office()), namespace="far")
        run = await asked_and_ran(server, "far_send", {"to": "Ada", "copies": 3})
        assert run.asked[0].message == "far_send: Ada?\n\nWith copies = 3\nWith priority = low"
        assert ran == [("Ada", 3, "low")]
        ran.clear()


async def test_a_tool_made_of_an_http_api_is_asked_about_before_its_request():
    def answer(request: httpx2.Request) -> httpx2.Response:
        ran.append(request.url.path)
        return httpx2.Response(200, json={"ok": True})

    spec = {
        "openapi": "3.1.0",
        "info": {"title": "api", "version": "1"},
        "paths": {
            "/letters/{to}": {
                "delete": {
                    "operationId": "shred",
                    "parameters": [
                        {"name": "to", "in": "path", "required": True, "schema": {"type": "string"}}
                    ],
                    "responses": {"200": {"description": "gone"}},
                }
            }
        },
    }
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(answer), base_url="http://api.test")
    server = FastMCP.from_openapi(spec, client=client)
    Askback(server, guards=[guard("Shred what went to {to}?", hints="destructiveHint")])
    await asked_and_ran(server, "shred", {"to": "Ada"})
    assert ran == ["/letters/Ada"]


class Telegraph(Tool):
    """A kind of tool that nobody but its author has ever seen."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        ran.append(arguments)
        return ToolResult(content=f"wired to {arguments['to']}")


SCHEMA = {"type": "object", "properties": {"to": {"type": "string"}, "words": {"default": 10}}}


async def test_a_tool_of_an_unknown_kind_is_asked_about_with_all_that_it_is_given(revision: str):
    server = office(guard("Wire {to}?", arguments="to"))
    server.add_tool(Telegraph(name="wire", parameters=SCHEMA))
    run = await asked_and_ran(server, "wire", {"to": "Ada"})
    assert run.asked[0].message == "Wire Ada?\n\nWith words = 10"
    assert ran == [{"to": "Ada", "words": 10}]


async def test_a_kind_of_tool_that_is_made_while_the_server_runs_is_asked_about_too():
    server = office(guard(tools=["send", "late*"]))
    await asked_and_ran(server, "send", {"to": "Ada"})

    class Late(Telegraph):
        async def _run(self, arguments: dict[str, Any]) -> ToolResult:
            return await self.run(arguments)

        async def run(self, arguments: dict[str, Any]) -> ToolResult:
            ran.append("late")
            return await super().run(arguments)

    ran.clear()
    server.add_tool(Late(name="late", parameters=SCHEMA))
    await asked_and_ran(server, "late", {"to": "Ada"})


async def test_a_transformed_tool_of_an_unknown_kind_is_asked_about_once():
    server = office(guard(tools="mail"))
    server.add_tool(Tool.from_tool(Telegraph(name="wire", parameters=SCHEMA), name="mail"))
    await asked_and_ran(server, "mail", {"to": "Ada"})


async def test_whoever_calls_tools_by_their_names_in_arguments_is_asked_about_them():
    server = office(guard(tools="send"))
    server.add_transform(RegexSearchTransform())
    call = {"name": "send", "arguments": {"to": "Ada"}}
    run = await asked_and_ran(server, "call_tool", call)
    assert run.asked[0].message.startswith('Run "call_tool > send"?')


async def test_a_tool_that_a_body_looks_up_and_runs_itself_is_asked_about():
    server = office(guard(tools="send"))

    @server.tool
    async def by_name(ctx: Context) -> str:
        tool = await ctx.fastmcp.get_tool("send")
        assert tool is not None
        await tool.run({"to": "Ada"})
        return "done"

    @server.tool
    async def by_list(ctx: Context) -> str:
        tools = {tool.name: tool for tool in await ctx.fastmcp.list_tools()}
        await tools["send"].run({"to": "Bob"})
        return "done"

    await asked_and_ran(server, "by_name", {})
    ran.clear()
    await asked_and_ran(server, "by_list", {})


async def test_hints_hold_wherever_on_the_way_they_are_given():
    server = office(guard(hints="destructiveHint"))
    tool = await sending()
    safe, risky = ToolAnnotations(read_only_hint=True), ToolAnnotations(destructive_hint=True)
    server.add_tool(Tool.from_tool(tool, name="safe", annotations=safe))
    server.add_tool(
        Tool.from_tool(Tool.from_tool(tool, name="x", annotations=risky), name="y", annotations=safe)
    )
    assert not (await run_tool(server, "safe", {"to": "Ada"})).asked
    ran.clear()
    await asked_and_ran(server, "y", {"to": "Ada"})


async def test_a_tool_of_a_mounted_server_that_the_parent_renames_is_asked_about_where_it_is():
    parent = FastMCP[Any]("parent")
    Askback(parent, guards=[guard("Send to {to}?", tools="mail")])
    parent.mount(office(), namespace="kid")
    whom = ArgTransformConfig(name="whom")
    parent.add_transform(
        ToolTransform({"kid_send": ToolTransformConfig(name="mail", arguments={"to": whom})})
    )
    run = await asked_and_ran(parent, "mail", {"whom": "Ada"})
    assert run.asked[0].message.startswith("Send to Ada?")
    assert ran == [("Ada", 1, "low")]
