"""Replies to a round that a body returned, from a client that may send anything."""

from collections.abc import Callable
from typing import Annotated, Any

import anyio
import pytest
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp.shared.exceptions import MCPError

from askback import Askback, ask, once
from tests.protocol.styles.servers import HOSTS, End, Seat, asking, content_of, form
from tests.support.raw import Raw, accepting, answering, raw_client

pytestmark = pytest.mark.anyio

done: list[object] = []


@pytest.fixture(autouse=True)
def nothing_done() -> None:
    done.clear()


async def book(ctx: Context) -> End:
    if ctx.request_state is None:
        return asking(seat=form("Seat?"), side=form("Side?"), state="a recognisable state")
    replies = ctx.input_responses or {}
    await once("book", done.append, sorted(replies))
    return f"{ctx.request_state}: {[content_of(ctx, key) for key in sorted(replies)]}"


async def where() -> Elicit[Seat]:
    return Elicit("Seat?", Seat)


def resolving() -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("test")
    Askback(server)

    @server.tool(name="t")
    async def book_resolved(seat: Annotated[Seat, Resolve(where)]) -> str:
        await once("book", done.append, seat.row)
        return f"row {seat.row}"

    return server


SERVERS: dict[str, Callable[[], Any]] = {
    **{name: lambda make=make: make(book) for name, make in HOSTS.items()},
    "MCPServer with a resolver": resolving,
}


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest) -> Any:
    return SERVERS[request.param]()


def text(result: dict[str, Any]) -> str:
    return result["content"][0]["text"]


def filled(first: dict[str, Any], row: int = 1) -> dict[str, Any]:
    """The retry in which every question is answered with this row."""
    return answering(first, **{key: accepting(row=row) for key in first["inputRequests"]})


async def code_of(client: Raw, **fields: Any) -> tuple[int, str]:
    with pytest.raises(MCPError) as caught:
        await client.call(**fields)
    return caught.value.code, caught.value.message


MALFORMED: dict[str, Any] = {
    "a word": "yes",
    "a list": [accepting(row=1)],
    "no action": {"content": {"row": 1}},
    "an action that there is not": {"action": "maybe"},
    "an action that is no word": {"action": 1},
    "content that is no object": {"action": "accept", "content": ["row"]},
    "content with an object in it": {"action": "accept", "content": {"row": {"number": 1}}},
}


@pytest.mark.verifies("R39", "R41")
@pytest.mark.parametrize("malformed", MALFORMED)
async def test_malformed_replies_are_an_error_and_burn_nothing(server: Any, malformed: str):
    async with raw_client(server) as client:
        first = await client.call()
        bad = answering(first, **dict.fromkeys(first["inputRequests"], MALFORMED[malformed]))
        for _ in range(2):
            assert await code_of(client, **bad) == (-32602, "Invalid inputResponses")
        assert not done
        assert (await client.call(**filled(first)))["resultType"] == "complete"
        assert len(done) == 1


@pytest.mark.verifies("R41")
@pytest.mark.parametrize("responses", ["yes", [1], 7], ids=str)
async def test_replies_that_are_no_replies_at_all_too(server: Any, responses: Any):
    async with raw_client(server) as client:
        first = await client.call()
        state = {"requestState": first["requestState"]}
        assert (await code_of(client, inputResponses=responses, **state))[0] == -32602
        assert (await client.call(**filled(first)))["resultType"] == "complete"


@pytest.mark.verifies("R42")
async def test_a_reply_that_comes_without_a_state_is_not_taken(server: Any):
    async with raw_client(server) as client:
        keys = list((await client.call())["inputRequests"])
        unasked = {key: accepting(row=1) for key in keys}
        again = await client.call(inputResponses=unasked)
        assert list(again["inputRequests"]) == keys and not done


@pytest.mark.verifies("R42", "R43")
async def test_what_was_not_asked_is_not_seen_and_what_is_missing_is_missing():
    async with raw_client(SERVERS["MCPServer"]()) as client:
        first = await client.call()
        replies = {"seat": accepting(row=1), "side": None, "ask-1": accepting(value=1), "x": "anything"}
        last = await client.call(**answering(first, **replies))
        assert text(last) == "a recognisable state: [{'row': 1}]"


@pytest.mark.verifies("R39")
async def test_a_copy_of_a_round_gets_the_same_result_and_does_nothing(server: Any):
    async with raw_client(server) as client:
        first = await client.call()
        results = [await client.call(**filled(first)) for _ in range(3)]
        assert results[0] == results[1] == results[2]
        assert len(done) == 1


@pytest.mark.verifies("R39")
async def test_copies_that_come_at_once_are_one_run(server: Any):
    results: list[dict[str, Any]] = []
    async with raw_client(server) as client:
        first = await client.call()

        async def deliver() -> None:
            results.append(await client.call(**filled(first)))

        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                for _ in range(10):
                    tasks.start_soon(deliver)
    assert len(done) == 1
    assert results == [results[0]] * 10


@pytest.mark.verifies("R39")
async def test_other_answers_to_a_used_round_are_refused(server: Any):
    used = (-32602, "This round was answered before. Call again from the start.")
    async with raw_client(server) as client:
        first = await client.call()
        await client.call(**filled(first, row=1))
        assert await code_of(client, **filled(first, row=2)) == used
        declined = {key: {"action": "decline"} for key in first["inputRequests"]}
        assert await code_of(client, **answering(first, **declined)) == used
        assert len(done) == 1


@pytest.mark.verifies("R39")
@pytest.mark.parametrize("host", HOSTS)
async def test_an_older_round_is_refused_when_a_later_one_was_answered(host: str):
    async def body(ctx: Context) -> End:
        if ctx.request_state is None:
            return asking(seat=form("Seat 1?"), state="1")
        if ctx.request_state == "1":
            return asking(seat=form("Seat 2?"), state="2")
        return f"{content_of(ctx, 'seat')} {await ask('Sure?', bool)}"

    async with raw_client(HOSTS[host](body)) as client:
        first = await client.call()
        second = await client.call(**filled(first, row=1))
        third = await client.call(**filled(second, row=2))
        refused = (-32602, "This round was answered before. Call again from the start.")
        assert await code_of(client, **filled(first, row=1)) == refused
        assert list(third["inputRequests"]) == ["ask-1"]
        last = await client.call(**answering(third, ask_1=accepting(value=True)))
        assert text(last) == "{'row': 2} Accepted(value=True)"


@pytest.mark.parametrize("host", HOSTS)
async def test_replies_too_large_to_travel_on_end_the_call(host: str):
    async def body(ctx: Context) -> End:
        if ctx.input_responses is None:
            return asking(seat=form("Seat?"), state="asked")
        return f"{len(str(content_of(ctx, 'seat')))} {await ask('Sure?', bool)}"

    async with raw_client(HOSTS[host](body)) as client:
        first = await client.call()
        large = await client.call(**answering(first, seat=accepting(row=1, more="x" * 300_000)))
        assert large["isError"] and text(large).startswith(
            "The journal of this call is longer than the 262144"
        )


async def test_replies_of_any_size_do_where_the_body_ends_with_them():
    async with raw_client(SERVERS["MCPServer"]()) as client:
        first = await client.call()
        last = await client.call(**answering(first, seat=accepting(row=1, more="x" * 300_000)))
        assert len(text(last)) > 300_000
