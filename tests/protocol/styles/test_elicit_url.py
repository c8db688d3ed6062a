"""`ctx.elicit_url()` as it was written before: for every client that declares links."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from mcp.server.mcpserver import Context

from askback import CannotAsk, ask, once
from askback.testing import Asked, Run, accept, cancel, decline, raw, run_tool
from askback.testing.script import Reply
from tests.protocol.styles.cells import FORMS_AND_LINKS
from tests.protocol.styles.conftest import LATEST, RunBody, Way
from tests.protocol.styles.servers import Seat
from tests.support.ids import sent_words

pytestmark = pytest.mark.anyio

JUNE = "2025-06-18"
COMPLETE = "notifications/elicitation/complete"


def links(run: Run) -> list[dict[str, Any]]:
    """The links as they went out, without the ids of their questions."""
    pushed = [sent_words(line.body) for line in run.transcript if line.what == "elicitation/create"]
    returned = [
        request["params"]
        for line in run.transcript
        if line.what == "result"
        for request in line.body.get("inputRequests", {}).values()
    ]
    return [params for params in pushed + returned if params.get("mode") == "url"]


def agreeing(asked: Asked) -> Reply:
    return raw({"action": "accept"}) if asked.mode == "url" else accept(row=1)


async def pay(ctx: Context) -> str:
    """As the SDK's own example has it: link and id are new on every run."""
    number = str(uuid4())
    paid = await ctx.elicit_url("Please pay.", f"https://till.example/{number}", number)
    return paid.action


async def test_a_link_that_is_new_on_every_run_is_asked_once(run_on_sdk: RunBody):
    booked: list[str] = []

    async def body(ctx: Context) -> str:
        paid = await pay(ctx)
        await once("book", booked.append, paid)
        seat = await ctx.elicit("Seat?", Seat)
        row = await ask("Row?", int)
        return f"{paid} {seat.action} {row}"

    answers = [raw({"action": "accept"}), accept(row=1), cancel()]
    result = await run_on_sdk(body, answers, capabilities=FORMS_AND_LINKS)
    assert result.text == "accept accept Cancelled()"
    assert [asked.message for asked in result.asked] == ["Please pay.", "Seat?", "Row?"]
    assert booked == ["accept"]


@pytest.mark.parametrize("reply", [decline(), cancel()], ids=["decline", "cancel"])
async def test_a_no_and_a_closed_link_are_told_apart(run_on_sdk: RunBody, reply: Reply):
    result = await run_on_sdk(pay, [reply], capabilities=FORMS_AND_LINKS)
    assert {"action": result.text} == getattr(reply, "reply", None)


async def test_what_comes_with_the_consent_is_not_looked_at(run_on_sdk: RunBody):
    reply = raw({"action": "accept", "content": {"row": 1}})
    assert (await run_on_sdk(pay, [reply], capabilities=FORMS_AND_LINKS)).text == "accept"


@pytest.mark.verifies("R07")
async def test_the_authors_id_goes_out_where_the_revision_has_ids(run_on_sdk: RunBody, way: Way):
    async def body(ctx: Context) -> str:
        return (await ctx.elicit_url("Please pay.", "https://till.example/7", "payment-7")).action

    result = await run_on_sdk(body, agreeing, capabilities=FORMS_AND_LINKS)
    sent = {"mode": "url", "message": "Please pay.", "url": "https://till.example/7"}
    assert links(result) == [sent if way.revision == LATEST else {**sent, "elicitationId": "payment-7"}]


@pytest.mark.verifies("R08")
async def test_word_that_it_is_settled_goes_to_clients_that_know_it(run_on_sdk: RunBody, way: Way):
    async def body(ctx: Context) -> str:
        paid = await ctx.elicit_url("Please pay.", "https://till.example/7", "payment-7")
        await ctx.session.send_elicit_complete("payment-7")
        return paid.action

    result = await run_on_sdk(body, agreeing, capabilities=FORMS_AND_LINKS)
    assert result.text == "accept"
    told = [line.body for line in result.transcript if line.what == COMPLETE]
    assert told == ([] if way.revision == LATEST else [{"elicitationId": "payment-7"}])


async def test_another_site_is_another_question(run_on_sdk: RunBody, way: Way):
    sites = iter(["one.example"])

    async def body(ctx: Context) -> str:
        return (await ctx.elicit_url("Please pay.", f"https://{next(sites, 'two.example')}/7", "7")).action

    result = await run_on_sdk(body, agreeing, capabilities=FORMS_AND_LINKS)
    assert result.text == "accept"
    asked = [link["url"] for link in links(result)]
    assert asked == ["https://one.example/7", *["https://two.example/7"] * way.always_replay]


@pytest.mark.verifies("R01", "R02")
async def test_a_client_that_shows_forms_alone_is_not_sent_a_link(run_on_sdk: RunBody):
    async def body(ctx: Context) -> str:
        try:
            return await pay(ctx)
        except CannotAsk as error:
            return f"Please pay at the counter ({error.mode})."

    result = await run_on_sdk(body, capabilities={"elicitation": {"form": {}}})
    assert (result.text, result.asked) == ("Please pay at the counter (url).", [])


@pytest.mark.parametrize("always_replay", [True, False])
async def test_in_june_2025_there_were_none_and_most_clients_declare_none(
    sdk_host: Callable[..., Any], always_replay: bool
):
    result = await run_tool(sdk_host(pay), "t", revision=JUNE, always_replay=always_replay)
    assert result.is_error and not result.asked
    assert result.text.startswith("This client speaks MCP 2025-06-18, which knows forms and no links.")
