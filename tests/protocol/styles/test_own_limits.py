"""Where a body's own rounds end: too many of them, or none that anybody could read."""

from collections.abc import Callable
from typing import Any

import pytest
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams, CallToolResult, TextContent

from askback import Askback, ask
from askback.protocol.server.returned_rounds import MAX_RETURNED_ROUNDS
from askback.testing import Run, accept, raw, run_tool
from askback.testing.script import Answers
from tests.protocol.styles.conftest import WAYS, Way
from tests.protocol.styles.servers import End, asking, content_of, form
from tests.support.corpus import corpus
from tests.support.raw import raw_client

pytestmark = pytest.mark.anyio

PUSHING = [way for way in WAYS if way.revision.startswith("2025")]


@pytest.fixture(params=PUSHING, ids=str)
def way(request: pytest.FixtureRequest) -> Way:
    """Where the rounds are ours to count."""
    return request.param


async def run(server: Any, way: Way, answers: Answers = ()) -> Run:
    revision, always_replay = way
    return await run_tool(server, "t", None, answers, revision=revision, always_replay=always_replay)


async def test_a_body_that_never_comes_to_an_end_is_stopped(host: Callable[..., Any], way: Way):
    async def body(ctx: Context) -> End:
        return asking(seat=form("Seat?"), state=f"{ctx.request_state}x")

    result = await run(host(body), way, lambda _: accept(row=1))
    assert result.is_error
    assert result.text == (
        "This call has returned 50 rounds of questions and no result. Let it read the replies it is called with "
        "(input_responses, request_state) and come to an end."
    )
    assert len(result.asked) == MAX_RETURNED_ROUNDS


async def test_rounds_of_state_alone_are_counted_too(
    sdk_host: Callable[..., Any], way: Way, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("askback.protocol.server.returned_rounds.PAUSES", (0.0,))
    monkeypatch.setattr("askback.protocol.server.returned_rounds.MAX_RETURNED_ROUNDS", 4)

    async def body(ctx: Context) -> End:
        return asking(state="not yet")

    result = await run(sdk_host(body), way)
    assert result.is_error and result.text.startswith("This call has returned 4 rounds of questions")


async def test_what_is_asked_between_them_is_not_counted(
    sdk_host: Callable[..., Any], way: Way, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("askback.protocol.server.returned_rounds.MAX_RETURNED_ROUNDS", 2)

    async def body(ctx: Context) -> End:
        rows = [await ask(f"Row {number}?", int) for number in range(5)]
        if ctx.request_state is None:
            return asking(seat=form("Seat?"), state="asked")
        return f"{len(rows)} {content_of(ctx, 'seat')['row']}"

    answers = [*(accept(number) for number in range(5)), accept(row=1)]
    result = await run(sdk_host(body), way, answers)
    assert result.text == "5 1"


MALFORMED: dict[str, dict[str, Any]] = {
    "neither questions nor state": {},
    "a question of no kind": {"inputRequests": {"seat": {"method": "ask/nicely", "params": {}}}},
    "a question without a message": {
        "inputRequests": {"seat": {"method": "elicitation/create", "params": {}}}
    },
    "questions in a list": {"inputRequests": [form("Seat?").model_dump(by_alias=True)]},
    "a state that is no text": {"requestState": 7},
}


def returning(fields: dict[str, Any]) -> Server[Any]:
    """A low-level server returns whatever its handler makes, also what is no model of the SDK's."""

    async def call(_ctx: ServerRequestContext[Any, Any], _params: CallToolRequestParams) -> Any:
        return {"resultType": "input_required", **fields}

    server: Server[Any] = Server("test", on_call_tool=call)
    Askback(server)
    return server


@corpus("mistake", MALFORMED)
async def test_a_round_that_is_none_is_told_to_its_author(mistake: str, way: Way):
    result = await run(returning(MALFORMED[mistake]), way)
    assert result.is_error and not result.asked
    assert result.text == (
        "This call returned a round of questions that is not one: check it against InputRequiredResult."
    )


@pytest.mark.verifies("R33", "R34")
@corpus("mistake", MALFORMED)
async def test_on_the_rounds_era_it_never_goes_out(mistake: str):
    """The SDK refuses most by itself; one without questions and state it would let a client call for ever."""
    async with raw_client(returning(MALFORMED[mistake])) as client:
        if mistake == "neither questions nor state":
            result = await client.call()
            assert result["isError"] and "is not one" in result["content"][0]["text"]
            return
        with pytest.raises(MCPError) as caught:
            await client.call()
    assert caught.value.code == -32603


async def test_a_round_as_a_plain_dict_is_as_good_as_the_model(revision: str):
    question = form("Seat?").model_dump(by_alias=True, mode="json", exclude_none=True)

    async def call(_ctx: ServerRequestContext[Any, Any], params: CallToolRequestParams) -> Any:
        if params.input_responses is None:
            return {"resultType": "input_required", "inputRequests": {"seat": question}}
        return CallToolResult(content=[TextContent(text="seated")])

    server: Server[Any] = Server("test", on_call_tool=call)
    Askback(server)
    result = await run_tool(server, "t", None, [accept(row=1)], revision=revision)
    assert (result.text, len(result.asked)) == ("seated", 1)


async def test_a_form_that_is_too_large_is_refused(sdk_host: Callable[..., Any], way: Way):
    question = form("Seat?")
    seats = {f"seat-{number}": {"description": "x" * 1000} for number in range(300)}
    question.params.requested_schema = {"type": "object", "properties": seats}  # pyright: ignore[reportAttributeAccessIssue]

    async def body(ctx: Context) -> End:
        return asking(seat=question)

    result = await run(sdk_host(body), way)
    assert result.is_error and not result.asked
    assert result.text.startswith("the JSON Schema is larger than")


async def test_a_reply_that_is_too_large_is_asked_again(sdk_host: Callable[..., Any], way: Way):
    async def body(ctx: Context) -> End:
        if ctx.input_responses is None:
            return asking(seat=form("Seat?"))
        return str(content_of(ctx, "seat")["row"])

    large = raw({"action": "accept", "content": {"row": 1, "more": "x" * 70_000}})
    result = await run(sdk_host(body), way, [large, accept(row=2)])
    assert result.text == "2"
