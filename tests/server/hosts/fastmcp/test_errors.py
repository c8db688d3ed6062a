"""Errors that a body leaves uncaught: FastMCP wraps and masks errors, and ours are read all the same."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import anyio
import httpx2
import pytest
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types import (
    INTERNAL_ERROR,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    URL_ELICITATION_REQUIRED,
    ElicitRequestURLParams,
)

from askback import Askback, CannotAsk, ask
from askback.testing import Run, accept, decline, raw, read_resource, run_tool, silence
from askback.testing.script import Answers
from tests.protocol.test_capabilities import HEADERS, request
from tests.server.hosts.fastmcp.cafe import EVERYWHERE, LINKS, Call, Order, serve
from tests.support.corpus import corpus
from tests.support.fastmcp_http import fastmcp_served

pytestmark = pytest.mark.anyio

Body = Callable[[], Awaitable[str]]
PUSH = ["2025-06-18", "2025-11-25"]
LATEST = "2026-07-28"


async def nameless() -> str:
    """An author's mistake: a question that says nothing."""
    return str(await ask("", Order))


async def in_a_task_group() -> str:
    async with asyncio.TaskGroup() as group:
        group.create_task(nameless())
    return "never"


async def in_nested_groups() -> str:
    async with anyio.create_task_group() as outer, anyio.create_task_group() as inner:
        inner.start_soon(nameless)
        outer.start_soon(anyio.sleep_forever)
    return "never"


async def as_a_cause() -> str:
    try:
        return await nameless()
    except Exception as error:
        raise RuntimeError("the author's own words") from error


def cafe(body: Body, *, masked: bool, is_mounted: bool = False) -> FastMCP[Any]:
    """The body as a tool, a prompt, a resource and a template."""
    mcp: FastMCP[Any] = FastMCP("cafe", mask_error_details=masked)
    serve(mcp, body)

    @mcp.resource("cafe://order/{table}")
    async def order(table: str) -> str:
        return await body()

    if is_mounted:
        parent: FastMCP[Any] = FastMCP("mall", mask_error_details=masked)
        parent.mount(mcp)
        mcp = parent
    Askback(mcp)
    return mcp


async def read_template(mcp: FastMCP[Any], **options: Any) -> Run:
    return await read_resource(mcp, "cafe://order/7", **options)


PLACES: dict[str, Call] = {**EVERYWHERE, "template": read_template}
WITHOUT_ROOM = [place for place in PLACES if place != "tool"]
"""Where an error of ours is a JSON-RPC error: their results have no room for one."""

MISTAKES = [nameless, in_a_task_group, in_nested_groups, as_a_cause]


@corpus("is_mounted", [False, True])
@corpus("masked", [False, True])
@corpus("body", MISTAKES)
async def test_a_tool_says_what_its_author_must_change(
    body: Body, masked: bool, is_mounted: bool, askback_revision: str
):
    mcp = cafe(body, masked=masked, is_mounted=is_mounted)
    run = await run_tool(mcp, "order", revision=askback_revision)
    assert run.is_error
    assert run.text == "the message is not a text that says something. Instead: say what is asked, and why."


@corpus("masked", [False, True])
@corpus("place", WITHOUT_ROOM)
@corpus("body", MISTAKES)
async def test_so_do_prompts_and_resources(body: Body, place: str, masked: bool, askback_revision: str):
    with pytest.raises(MCPError, match="say what is asked") as raised:
        await PLACES[place](cafe(body, masked=masked), revision=askback_revision)
    assert raised.value.code == INTERNAL_ERROR


async def hurried() -> str:
    return str(await ask("Quick?", Order, timeout=0.01))


async def plain() -> str:
    return str(await ask("What would you like?", Order))


WINE = raw({"action": "accept", "content": {"drink": "wine"}})

ENDS: dict[str, tuple[Body, Answers, str]] = {
    "nobody answered": (hurried, [silence()], "0.01 seconds"),
    "nothing fitted": (plain, [WINE] * 4, "answered 4 times"),
}


@corpus("masked", [False, True])
@corpus("end", ENDS)
async def test_what_became_of_a_question_is_said_in_the_result(end: str, masked: bool, askback_revision: str):
    body, answers, told = ENDS[end]
    run = await run_tool(cafe(body, masked=masked), "order", None, answers, revision=askback_revision)
    assert run.is_error and told in run.text
    assert not run.text.startswith("Error calling tool")


@pytest.mark.verifies("R03")
@corpus("masked", [False, True])
async def test_on_rounds_nobody_to_ask_is_an_error_that_names_what_is_lacking(masked: bool):
    mcp = cafe(plain, masked=masked)
    for call in PLACES.values():
        with pytest.raises(MCPError, match="catch CannotAsk") as raised:
            await call(mcp, capabilities={}, revision=LATEST)
        assert raised.value.code == MISSING_REQUIRED_CLIENT_CAPABILITY
        assert raised.value.data == {"requiredCapabilities": {"elicitation": {"form": {}}}}


@pytest.mark.verifies("R03")
async def test_over_http_that_is_status_400():
    headers = {**HEADERS, "mcp-name": "order"}
    call = request({})
    call["params"]["name"] = "order"
    async with fastmcp_served(cafe(plain, masked=True)) as url, httpx2.AsyncClient() as http:
        answer = await http.post(url, json=call, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == MISSING_REQUIRED_CLIENT_CAPABILITY


@corpus("masked", [False, True])
@pytest.mark.parametrize("revision", PUSH)
async def test_before_that_it_is_an_error_of_the_tool_that_can_be_read(revision: str, masked: bool):
    run = await run_tool(cafe(plain, masked=masked), "order", revision=revision, capabilities={})
    assert run.is_error
    assert run.text.startswith("This client did not declare") and "catch CannotAsk" in run.text


async def careful() -> str:
    with suppress(CannotAsk):
        return await plain()
    return "Tea, as nobody can be asked."


async def careful_with_a_bug() -> str:
    await careful()
    raise RuntimeError("a bug")


async def test_an_author_who_catches_it_goes_on(askback_revision: str):
    mcp = cafe(careful, masked=True)
    run = await run_tool(mcp, "order", revision=askback_revision, capabilities={})
    assert (run.text, run.is_error) == ("Tea, as nobody can be asked.", False)


async def test_a_bug_after_that_is_masked_as_fastmcp_masks_bugs(askback_revision: str):
    mcp = cafe(careful_with_a_bug, masked=True)
    run = await run_tool(mcp, "order", revision=askback_revision, capabilities={})
    assert (run.text, run.is_error) == ("Error calling tool 'order'", True)


async def refusing() -> str:
    answer = await ask("What would you like?", Order)
    raise ToolError(f"Out of {answer.or_stop('Nothing, then.').drink}.")


async def test_the_authors_own_errors_are_left_to_fastmcp(askback_revision: str):
    mcp = cafe(refusing, masked=True)
    run = await run_tool(mcp, "order", None, [accept(drink="tea")], revision=askback_revision)
    assert (run.text, run.is_error) == ("Out of tea.", True)


VISIT = ElicitRequestURLParams(message="Sign in first.", url="https://till.example/in", elicitation_id="e1")


class Till:
    """Wants a sign-in before the first order, or several."""

    def __init__(self, times: int = 1) -> None:
        self._left = times

    async def order(self) -> str:
        self._left -= 1
        if self._left >= 0:
            raise UrlElicitationRequiredError([VISIT])
        return "One tea."


@corpus("is_mounted", [False, True])
@corpus("masked", [False, True])
@corpus("place", PLACES)
async def test_a_demanded_visit_reaches_a_client_of_2025_as_it_was_raised(
    place: str, masked: bool, is_mounted: bool
):
    mcp = cafe(Till().order, masked=masked, is_mounted=is_mounted)
    with pytest.raises(MCPError) as raised:
        await PLACES[place](mcp, revision="2025-11-25", capabilities=LINKS)
    assert raised.value.code == URL_ELICITATION_REQUIRED
    assert raised.value.data["elicitations"][0]["url"] == VISIT.url


@pytest.mark.verifies("R09")
@corpus("is_mounted", [False, True])
@corpus("masked", [False, True])
@corpus("place", PLACES)
async def test_on_2026_07_28_it_is_a_round(place: str, masked: bool, is_mounted: bool):
    mcp = cafe(Till().order, masked=masked, is_mounted=is_mounted)
    opened = await PLACES[place](mcp, answers=[raw({"action": "accept"})], capabilities=LINKS)
    assert opened.text == "One tea."
    assert [(asked.mode, asked.message) for asked in opened.asked] == [("url", "Sign in first.")]


async def test_a_visit_that_the_person_declines_ends_the_call():
    mcp = cafe(Till(times=2).order, masked=True)
    run = await run_tool(mcp, "order", None, [decline()], capabilities=LINKS)
    assert run.is_error and "did not agree to open the link" in run.text
