"""Visits that a call demands first (-32042): consent, open, wait until they are finished, call again."""

from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import URL_ELICITATION_REQUIRED, CallToolResult, TextContent

from askback.client import Driver, VisitAsked, VisitReply
from askback.errors import NotUnderstood, NotVisited, PeerError
from askback.testing import accept, cancel, decline
from askback.testing.person import ScriptedPerson
from tests.client.stranger_servers import Context, Heard, Stranger, done

NOVEMBER = "2025-11-25"
FINISHED = "notifications/elicitation/complete"


def link(name: str = "e1") -> dict[str, Any]:
    url = f"https://pay.example/{name}"
    return {"mode": "url", "message": "Please pay first.", "url": url, "elicitationId": name}


def demand(*links: Any) -> MCPError:
    return MCPError(URL_ELICITATION_REQUIRED, "Pay first", {"elicitations": list(links)})


class Till:
    """Demands its visits until it was called `times` times."""

    def __init__(self, *links: Any, times: int = 1) -> None:
        self.server = Stranger(self._on_call, revision=NOVEMBER)
        self._links, self._times = links or (link(),), times

    async def _on_call(self, ctx: Context, heard: Heard) -> dict[str, Any]:
        if len(self.server.calls) <= self._times:
            raise demand(*self._links)
        return done("paid")


class Watching(ScriptedPerson):
    """Consents, and then waits for what the server says; meanwhile the server is busy."""

    def __init__(self, till: Till, *said: str) -> None:
        super().__init__([accept()])
        self.waited: list[bool] = []
        self._till, self._said = till, said

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        for name in self._said:
            self.waited.append(finished.is_set())
            await self._till.server.notify(FINISHED, {"elicitationId": name})
        await finished.wait()
        return "done"


def text_of(result: CallToolResult) -> str:
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


@pytest.mark.verifies("R66", "R79")
async def test_a_demanded_visit_is_consented_opened_and_waited_for_and_the_call_made_again():
    till, person = Till(), ScriptedPerson([accept()], words=["done"])
    async with Driver(till.server.transport(), person) as driver:
        assert text_of(await driver.call_tool("order", {"pizza": "Margherita"})) == "paid"
    assert person.visited == ["https://pay.example/e1"]
    first, second = till.server.calls
    assert first.id != second.id
    assert first.params["arguments"] == second.params["arguments"]


@pytest.mark.verifies("R80")
async def test_the_server_may_say_that_the_visit_is_finished_and_unknown_ids_mean_nothing():
    till = Till()
    person = Watching(till, "somebody else's", "e1", "e1")
    async with Driver(till.server.transport(), person) as driver:
        assert text_of(await driver.call_tool("order")) == "paid"
    assert person.waited[:2] == [False, False]


@pytest.mark.verifies("R79")
async def test_several_visits_are_made_one_after_another():
    till, person = Till(link("one"), link("two")), ScriptedPerson([accept(), accept()])
    async with Driver(till.server.transport(), person) as driver:
        await driver.call_tool("order")
    assert person.visited == ["https://pay.example/one", "https://pay.example/two"]
    assert len(till.server.calls) == 2


@pytest.mark.parametrize(("reply", "why"), [(decline(), "declined"), (cancel(), "without a choice")], ids=str)
async def test_a_visit_that_is_not_wanted_ends_the_call(reply: Any, why: str):
    till = Till()
    async with Driver(till.server.transport(), ScriptedPerson([reply])) as driver:
        with pytest.raises(NotVisited, match=why):
            await driver.call_tool("order")
    assert len(till.server.calls) == 1


@pytest.mark.verifies("R66")
async def test_a_person_who_gives_up_waiting_ends_the_call():
    till = Till()
    async with Driver(till.server.transport(), ScriptedPerson([accept()], words=["cancel"])) as driver:
        with pytest.raises(NotVisited, match="gave up waiting"):
            await driver.call_tool("order")


@pytest.mark.verifies("R61")
async def test_opening_the_page_again_is_the_persons_wish_and_asks_for_consent_again():
    till, wishes = Till(), 20
    again: list[VisitReply] = ["again"] * wishes
    person = ScriptedPerson([accept()] * (wishes + 1), words=again)
    async with Driver(till.server.transport(), person) as driver:
        assert text_of(await driver.call_tool("order")) == "paid"
    assert len(person.visited) == wishes + 1


class Crowd(ScriptedPerson):
    """Waits for two visits at once: gives the first up when both have begun, and is told of the second then."""

    def __init__(self, till: Till) -> None:
        super().__init__(lambda asked: accept())
        self.shows_several = True
        self.waited: list[anyio.Event] = []
        self._till, self._both = till, anyio.Event()

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        self.waited.append(finished)
        if len(self.waited) == 1:
            await self._both.wait()
            return "cancel"
        self._both.set()
        await anyio.wait_all_tasks_blocked()
        await self._till.server.notify(FINISHED, {"elicitationId": "e1"})
        await finished.wait()
        return "done"


@pytest.mark.verifies("R80")
async def test_of_two_calls_that_wait_for_one_visit_the_end_of_one_leaves_the_other_its_notification():
    till, ends = Till(times=2), list[str]()
    person = Crowd(till)
    async with Driver(till.server.transport(), person) as driver, anyio.create_task_group() as calls:

        async def call() -> None:
            try:
                ends.append(text_of(await driver.call_tool("order")))
            except NotVisited as error:
                ends.append(error.why)

        calls.start_soon(call)
        calls.start_soon(call)
    assert ends == ["they gave up waiting for it", "paid"]


async def test_a_server_that_is_never_content_is_left():
    till, person = Till(times=1000), ScriptedPerson(lambda asked: accept())
    async with Driver(till.server.transport(), person) as driver:
        with pytest.raises(PeerError, match="demanded visits 6 times"):
            await driver.call_tool("order")
    assert len(till.server.calls) == 6


async def test_where_nobody_can_visit_the_error_is_handed_on():
    till, person = Till(), ScriptedPerson(modes=frozenset({"form"}))
    async with Driver(till.server.transport(), person) as driver:
        with pytest.raises(MCPError, match="Pay first"):
            await driver.call_tool("order")


@pytest.mark.verifies("R79")
@pytest.mark.parametrize(
    "links",
    [[{"mode": "form"}], [{**link(), "elicitationId": None}], ["what?"]],
    ids=["form", "no id", "text"],
)
async def test_what_is_no_visit_with_an_id_is_the_servers_mistake(links: list[Any]):
    till, person = Till(*links), ScriptedPerson()
    async with Driver(till.server.transport(), person) as driver:
        with pytest.raises(NotUnderstood):
            await driver.call_tool("order")
    assert person.turns == []
