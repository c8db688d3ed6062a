"""Errors that are their own cause, which `raise e from e` makes: they end the call like any other."""

import asyncio

import pytest

from askback import CannotAsk, ask
from askback.errors import AskbackError, causes, own_error
from askback.server.hosts import fastmcp, mcp
from askback.testing import accept
from tests.runtime.conftest import RunBody, says
from tests.support.tool_servers import HOSTS, Body

pytestmark = pytest.mark.anyio


async def itself() -> str:
    await ask("Who?", str)
    error = ValueError("it broke")
    raise error from error


async def each_other() -> str:
    await ask("Who?", str)
    first, second = ValueError("it broke"), LookupError("for this")
    second.__cause__ = first
    raise first from second


async def its_own_group() -> str:
    await ask("Who?", str)

    async def fail() -> None:
        raise ValueError("it broke")

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(fail())
    except ExceptionGroup as group:
        raise group.exceptions[0] from group
    return ""


@pytest.mark.parametrize("body", [itself, each_other, its_own_group])
async def test_an_error_that_causes_itself_ends_the_call_as_any_other(
    run: RunBody, body: Body, caplog: pytest.LogCaptureFixture
):
    told = await says(run(body, [accept("Ada")]))
    assert told in {
        "it broke",
        "Internal server error",
        "Error executing tool t",
        "Error calling tool 't': it broke",
    }
    assert "RecursionError" not in caplog.text


WRAPPING = [host for host in HOSTS if host != "Server"]
"""Hosts that wrap what a body raises, so that ours is searched for among the causes."""


def own_error_of_a_line(error: BaseException | None) -> AskbackError | None:
    """As if no error could be its own cause."""
    if error is None or isinstance(error, AskbackError):
        return error
    return own_error_of_a_line(error.__cause__)


@pytest.mark.parametrize("host", WRAPPING, indirect=True)
@pytest.mark.parametrize("body", [itself, each_other])
async def test_without_this_the_call_ends_in_the_depth_of_the_search(
    run: RunBody, body: Body, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    for module in (mcp, fastmcp):
        monkeypatch.setattr(module, "own_error", own_error_of_a_line)
    told = await says(run(body, [accept("Ada")]))
    assert "maximum recursion depth exceeded" in told or "RecursionError" in caplog.text


async def test_one_of_ours_is_found_in_a_circle(run: RunBody):
    async def body() -> str:
        ours = CannotAsk(reason="Nobody is there.", advice="Come back.", mode="form")
        theirs = ValueError("it broke")
        ours.__cause__ = theirs
        raise theirs from ours

    assert "Nobody is there. Come back." in await says(run(body))


def test_a_chain_is_walked_once():
    first, second = ValueError(), LookupError()
    first.__cause__, second.__context__ = second, first
    assert list(causes(first)) == [first, second]
    assert list(causes(second)) == [second] and list(causes(second, or_context=True)) == [second, first]
    assert own_error(first) is None and not list(causes(None))
