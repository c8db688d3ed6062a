"""The tables of what a client sees when the body catches nothing, or stops politely."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from askback import Askback, ask
from askback.testing import Run, accept, decline, get_prompt, read_resource, run_tool, silence
from askback.testing.script import Answers
from tests.support.docs_pages import DOCS, code_of, table

pytestmark = pytest.mark.anyio

PAGE = DOCS / "how-to" / "when-nobody-can-answer.md"
UNCAUGHT = table(
    PAGE,
    "error",
    "tool, 2025",
    "tool, 2026",
    "prompt or resource, 2025",
    "prompt or resource, 2026",
)

server: MCPServer[Any] = MCPServer("uncaught")
Askback(server, reply_retries=0, timeout=0.1)


class Order(BaseModel):
    number: int


@server.tool()
async def tool() -> str:
    return (await ask("Which?", str)).or_stop("Then not.")


@server.tool()
async def typed_tool() -> Order:
    return Order(number=(await ask("Which?", int)).or_stop("Then not."))


@server.tool(structured_output=False)
async def plain_tool() -> str:
    return (await ask("Which?", str)).or_stop("Then not.")


@server.prompt()
async def prompt() -> str:
    return (await ask("Which?", str)).or_stop("Then not.")


@server.resource("desk://only")
async def resource() -> str:
    return (await ask("Which?", str)).or_stop("Then not.")


Call = Callable[..., Awaitable[Run]]


async def call_tool(answers: Answers, **options: Any) -> Run:
    return await run_tool(server, "tool", None, answers, **options)


async def call_prompt(answers: Answers, **options: Any) -> Run:
    return await get_prompt(server, "prompt", None, answers, **options)


async def call_resource(answers: Answers, **options: Any) -> Run:
    return await read_resource(server, "desk://only", answers, **options)


CAUSES: dict[str, dict[str, Any]] = {
    "CannotAsk": {"answers": [], "capabilities": {}},
    "TimedOut": {"answers": [silence()]},
    "InvalidAnswer": {"answers": [accept(3)]},
}


async def seen(call: Call, revision: str, **cause: Any) -> str:
    try:
        run = await call(revision=revision, **cause)
    except MCPError as error:
        return str(error.code)
    return "error result" if run.is_error else run.text


@pytest.mark.parametrize("row", UNCAUGHT, ids=lambda row: code_of(row[0]))
async def test_an_uncaught_error_is_seen_as_the_table_says(row: list[str]):
    error, tool_2025, tool_2026, other_2025, other_2026 = row
    cause = CAUSES[code_of(error)]
    for revision, of_tool, of_others in (
        ("2025-06-18", tool_2025, other_2025),
        ("2025-11-25", tool_2025, other_2025),
        ("2026-07-28", tool_2026, other_2026),
    ):
        assert await seen(call_tool, revision, **cause) == of_tool
        assert await seen(call_prompt, revision, **cause) == of_others
        assert await seen(call_resource, revision, **cause) == of_others


async def test_stopping_has_the_shape_that_the_table_says(askback_revision: str):
    async def stopped(name: str) -> Run:
        return await run_tool(server, name, None, [decline()], revision=askback_revision)

    assert (await stopped("plain_tool")).structured is None
    assert (await stopped("tool")).structured == {"result": "Then not."}
    typed = await stopped("typed_tool")
    assert (typed.text, typed.structured, typed.is_error) == ("Then not.", None, True)
    message = (await call_prompt([decline()], revision=askback_revision)).result["messages"][0]
    assert message == {"role": "user", "content": {"type": "text", "text": "Then not."}}
    contents = (await call_resource([decline()], revision=askback_revision)).result["contents"][0]
    assert (contents["mimeType"], contents["text"]) == ("text/plain", "Then not.")
