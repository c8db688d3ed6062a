"""server-everything from npm, a server by others: its form, its link and its -32042, through the driver."""

from typing import Any

import pytest
from mcp_types import CallToolResult, TextContent

from askback.client import Driver, FormAsked, VisitAsked
from askback.errors import NotVisited
from askback.testing import ScriptedPerson, accept, cancel, decline
from askback.testing.script import Reply
from tests.end_to_end.outside.everything import (
    DEFAULTS,
    DEMANDED,
    DEMANDING,
    FILLED,
    FORM_TOOL,
    LINK,
    LINK_TOOL,
    reply_in,
)
from tests.support.strangers import everything_command

pytestmark = [pytest.mark.anyio, pytest.mark.strangers]


def text_of(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


async def call(tool: str, arguments: dict[str, Any], person: ScriptedPerson) -> str:
    async with Driver(everything_command(), person, label="everything") as driver:
        assert driver.revision == "2025-11-25"
        text = text_of(await driver.call_tool(tool, arguments))
    person.finish()
    return text


@pytest.mark.verifies("R45", "R56", "R58")
async def test_all_thirteen_fields_of_its_form_are_filled_in():
    person = ScriptedPerson([accept(FILLED)])
    text = await call(FORM_TOOL, {}, person)
    (form,) = (turn.asked for turn in person.turns)
    assert isinstance(form, FormAsked)
    assert {entry.name for entry in form.blank.entries} == FILLED.keys()
    assert form.blank.left_out == ()
    assert reply_in(text) == {"action": "accept", "content": FILLED}


@pytest.mark.verifies("R57")
async def test_what_nobody_touches_goes_back_as_it_came():
    text = await call(FORM_TOOL, {}, ScriptedPerson([accept(name="Ada")]))
    assert reply_in(text) == {"action": "accept", "content": DEFAULTS | {"name": "Ada"}}


@pytest.mark.verifies("R52")
@pytest.mark.parametrize(
    ("reply", "action"), [(decline(), "decline"), (cancel(), "cancel")], ids=["decline", "cancel"]
)
@pytest.mark.parametrize(("tool", "arguments"), [(FORM_TOOL, {}), (LINK_TOOL, LINK)], ids=["form", "link"])
async def test_a_no_arrives_as_what_it_is(tool: str, arguments: dict[str, Any], reply: Reply, action: str):
    assert reply_in(await call(tool, arguments, ScriptedPerson([reply]))) == {"action": action}


@pytest.mark.verifies("R59", "R60", "R67")
async def test_its_link_is_consented_without_content():
    person = ScriptedPerson([accept()])
    text = await call(LINK_TOOL, LINK, person)
    (visit,) = (turn.asked for turn in person.turns)
    assert isinstance(visit, VisitAsked)
    assert (visit.asker.label, visit.verdict.domain, visit.message) == (
        "everything",
        "inn.example",
        LINK["message"],
    )
    assert person.visited == [LINK["url"]]
    assert reply_in(text) == {"action": "accept"}


@pytest.mark.verifies("R66", "R79")
async def test_its_demanded_visit_comes_first_and_then_the_call_again():
    person = ScriptedPerson([accept(), accept()])
    assert reply_in(await call(LINK_TOOL, DEMANDING, person)) == {"action": "accept"}
    assert person.visited == [DEMANDED, LINK["url"]]


@pytest.mark.verifies("R66")
async def test_a_demanded_page_is_opened_once_more_when_the_person_says_so():
    person = ScriptedPerson([accept(), accept(), accept()], words=["again", "done"])
    await call(LINK_TOOL, DEMANDING, person)
    assert person.visited == [DEMANDED, DEMANDED, LINK["url"]]


@pytest.mark.verifies("R66")
async def test_who_gives_up_on_a_demanded_page_gives_up_the_call():
    person = ScriptedPerson([accept()], words=["cancel"])
    with pytest.raises(NotVisited):
        await call(LINK_TOOL, DEMANDING, person)
    assert person.visited == [DEMANDED]


@pytest.mark.verifies("R45")
@pytest.mark.parametrize(
    ("modes", "offered"),
    [(["form"], {FORM_TOOL}), (["form", "url"], {FORM_TOOL, LINK_TOOL}), ([], set[str]())],
)
async def test_it_offers_what_the_person_can_be_shown(modes: list[Any], offered: set[str]):
    async with Driver(everything_command(), ScriptedPerson(), modes=modes) as driver:
        names = {tool.name for tool in await driver.list_tools()}
    assert names & {FORM_TOOL, LINK_TOOL} == offered
