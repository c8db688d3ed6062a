"""A client that declares nothing and answers by hand, as in the SDK's tutorial: rounds of the body's own reach it."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types import ElicitRequestURLParams

from askback import ask
from askback.testing import REVISIONS, run_tool
from tests.protocol.styles.people import ROOTS, SAMPLED
from tests.protocol.styles.servers import End, asking, content_of, form, link
from tests.protocol.styles.test_own_requests import POEM
from tests.protocol.styles.test_own_requests import ROOTS as LIST_ROOTS
from tests.support.deliveries import end_of, without_seal
from tests.support.raw import accepting, answering, raw_client

pytestmark = pytest.mark.anyio

NOTHING: dict[str, Any] = {}


async def seated(ctx: Context) -> End:
    """Two rounds, and everything that a round can hold in the first."""
    if ctx.request_state is None:
        return asking(
            seat=form("Seat?"),
            till=link("Pay.", "https://till.example/7"),
            poem=POEM,
            roots=LIST_ROOTS,
            state="one",
        )
    if ctx.request_state == "one":
        return asking(sure=form("Sure?"), state=f"two {content_of(ctx, 'seat')['row']}")
    return f"{ctx.request_state} {content_of(ctx, 'sure')['row']}"


async def test_a_round_of_the_bodys_own_reaches_it_and_its_answers_the_body(host: Callable[..., Any]):
    replies = {"seat": accepting(row=3), "till": {"action": "accept"}, "poem": SAMPLED, "roots": ROOTS}
    with anyio.fail_after(20):
        async with raw_client(host(seated)) as client:
            first = await client.call(capabilities=NOTHING)
            assert first["inputRequests"].keys() == replies.keys()
            answer = answering(first, **replies)
            second = await client.call(capabilities=NOTHING, **answer)
            copy = await client.call(capabilities=NOTHING, **answer)
            assert without_seal(copy) == without_seal(second)
            end = await client.call(capabilities=NOTHING, **answering(second, sure=accepting(row=4)))
    assert end["content"][0]["text"] == "two 3 4"


@pytest.mark.verifies("R02")
async def test_one_that_declares_something_else_gets_no_copy_either(host: Callable[..., Any]):
    with anyio.fail_after(20):
        async with raw_client(host(seated)) as client:
            answer = answering(await client.call(capabilities=NOTHING), seat=accepting(row=3))
            await client.call(capabilities=NOTHING, **answer)
            refused = await end_of(client.call(capabilities={"sampling": {}}, **answer))
    assert refused["code"] == -32021


@pytest.mark.verifies("R02")
async def test_what_ask_puts_does_not_reach_it(host: Callable[..., Any]):
    async def body(ctx: Context) -> End:
        if ctx.request_state is None:
            return asking(seat=form("Seat?"), state="one")
        return repr(await ask("Sure?", bool))

    with anyio.fail_after(20):
        async with raw_client(host(body)) as client:
            first = await client.call(capabilities=NOTHING)
            end = await end_of(client.call(capabilities=NOTHING, **answering(first, seat=accepting(row=3))))
    assert end["code"] == -32021


@pytest.mark.verifies("R02")
@pytest.mark.parametrize("revision", REVISIONS[:-1])
async def test_nor_does_a_round_on_the_push_era(host: Callable[..., Any], revision: str):
    result = await run_tool(host(seated), "t", revision=revision, capabilities=NOTHING)
    assert result.is_error and not result.asked


async def paying(ctx: Context) -> End:
    visit = ElicitRequestURLParams(message="Pay.", url="https://till.example/7", elicitation_id="7")
    raise UrlElicitationRequiredError([visit])


@pytest.mark.verifies("R02", "R09")
@pytest.mark.parametrize("declared", [{}, {"elicitation": {}}], ids=["nothing", "forms"])
async def test_an_error_that_demands_visits_does_not_reach_it(
    host: Callable[..., Any], declared: dict[str, Any]
):
    """That revision has no such error, whatever a client declares."""
    with pytest.raises(MCPError) as refused:
        await run_tool(host(paying), "t", capabilities=declared)
    assert refused.value.code == -32021
