"""The code on the page about hosts, at work."""

from typing import Any

import pytest
from mcp_types import CallToolResult, TextContent

from askback.testing import accept
from askback.testing.person import ScriptedPerson
from examples.host.driving import order, order_everywhere
from examples.host.person import LinePerson
from examples.host.steps import begin, resume
from examples.pizzeria.server import mcp
from tests.client.stranger_servers import Context, Heard, Stranger, asking, done, form

ANSWERS = [accept(drink="cola"), accept(yes=True)]


def text(result: CallToolResult) -> str:
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


async def test_a_host_orders_and_sees_what_was_answered(capsys: pytest.CaptureFixture[str]):
    assert text(await order(mcp, ScriptedPerson(ANSWERS))).endswith("Margherita, cola, tip 0")
    assert "Anything with your pizza? accept, on the word of person" in capsys.readouterr().out


async def rude(ctx: Context, heard: Heard) -> dict[str, Any]:
    return done() if "inputResponses" in heard.params else asking("s", size=form("\x1b[2JWhich size?"))


async def test_what_the_server_wrote_is_printed_safely(capsys: pytest.CaptureFixture[str]):
    await order(Stranger(rude).transport(), ScriptedPerson([accept(size=1)]))
    assert capsys.readouterr().out == "␛[2JWhich size? accept, on the word of person\n"


async def test_several_servers_share_one_line():
    results = await order_everywhere([mcp, mcp], ScriptedPerson(ANSWERS * 2))
    assert len(results) == 2


async def test_a_person_of_ones_own_reads_lines():
    lines = iter(["water", "3", "yes"])
    person = LinePerson(lambda prompt: next(lines))
    assert text(await order(mcp, person)).endswith("Margherita, water, tip 3")


async def test_a_web_host_begins_and_resumes_without_anybody_waiting():
    page: dict[str, Any] = await begin(mcp, "order", {"pizza": "Margherita"})
    while "forms" in page:
        (key,) = page["forms"]
        sent = {"drink": "cola"} if "drink" in page["forms"][key]["fields"] else {"yes": True}
        page = await resume(mcp, page["kept"], {key: sent})
    assert page["result"].endswith("Margherita, cola, tip 0")
