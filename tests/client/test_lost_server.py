"""Servers that go, or think better of it, while a person types: nothing is lost before the person says so."""

from typing import Any

import anyio
import anyio.abc
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import URL_ELICITATION_REQUIRED

from askback.answers import Accepted, Answer
from askback.client import Driver, Turn, VisitAsked, VisitReply
from askback.client.labels import GONE, GONE_WITHDRAWN
from askback.errors import ServerGone, Unfinished
from tests.client.stranger_servers import (
    JULY,
    SIZE,
    Context,
    Heard,
    LoopClock,
    Stranger,
    Typing,
    asking,
    done,
    form,
    settle,
    visit,
    withdrawn,
)

NOVEMBER = "2025-11-25"
FORM = {"message": "Which size?", "requestedSchema": SIZE}


def asks_once(revision: str) -> Stranger:
    async def push(ctx: Context, heard: Heard) -> dict[str, Any]:
        await ctx.send_raw_request("elicitation/create", FORM)
        return done()

    async def rounds(ctx: Context, heard: Heard) -> dict[str, Any]:
        return done() if "inputResponses" in heard.params else asking("s", size=form())

    return Stranger(rounds if revision == JULY else push, revision=revision)


async def test_a_server_that_dies_while_the_person_types_leaves_them_their_form_until_they_leave(
    revision: str,
):
    server, person = asks_once(revision), Typing()
    errors: list[Exception] = []

    async def call(driver: Driver) -> None:
        try:
            await driver.call_tool("order")
        except ServerGone as error:
            errors.append(error)

    async with Driver(server.transport(), person) as driver, anyio.create_task_group() as tasks:
        tasks.start_soon(call, driver)
        await person.begun.wait()
        server.gone.set()
        assert await withdrawn(person.turns[0]) == GONE
        await settle()
        assert (errors, person.was_cancelled) == ([], False)
        person.sends.set()
    assert len(errors) == 1
    assert "went away during tool order" in str(errors[0])
    assert driver.answered == []


async def test_a_question_that_is_taken_back_stays_until_the_person_leaves_and_is_not_answered():
    async def think_better(ctx: Context, heard: Heard) -> dict[str, Any]:
        async with anyio.create_task_group() as asks:
            asks.start_soon(ctx.send_raw_request, "elicitation/create", FORM)
            await person.begun.wait()
            asks.cancel_scope.cancel()
        return done("never mind")

    person = Typing()
    driving = Driver(Stranger(think_better, revision=NOVEMBER).transport(), person)
    async with driving as driver, anyio.create_task_group() as tasks:
        tasks.start_soon(driver.call_tool, "order")
        await person.begun.wait()
        assert await withdrawn(person.turns[0]) == GONE_WITHDRAWN
        await settle()
        assert not person.was_cancelled
        person.sends.set()
    assert driver.answered == []


async def test_a_caller_who_gives_up_takes_the_question_away_at_once(revision: str):
    person = Typing()
    async with Driver(asks_once(revision).transport(), person) as driver, anyio.create_task_group() as tasks:
        tasks.start_soon(driver.call_tool, "order")
        await person.begun.wait()
        tasks.cancel_scope.cancel()
    assert person.was_cancelled


async def test_a_driver_that_is_left_takes_its_questions_along(revision: str):
    person = Typing()
    with anyio.CancelScope() as scope:
        async with (
            Driver(asks_once(revision).transport(), person) as driver,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(driver.call_tool, "order")
            await person.begun.wait()
            scope.cancel()
    assert person.was_cancelled


async def test_patience_does_not_run_while_a_person_thinks_and_the_callers_limit_does(
    revision: str, monkeypatch: pytest.MonkeyPatch
):
    clock, person = LoopClock(monkeypatch), Typing()
    driving = Driver(asks_once(revision).transport(), person, patience=60, clock=clock)
    async with driving as driver, anyio.create_task_group() as tasks:

        async def call() -> None:
            with pytest.raises(Unfinished, match="3600 seconds at most, all told"):
                await driver.call_tool("order", limit=3600)

        tasks.start_soon(call)
        await person.begun.wait()
        await clock.skip(600)
        assert not person.was_cancelled
        await clock.skip(3600)
    assert person.was_cancelled


async def test_a_question_that_still_waits_in_line_and_is_taken_back_is_never_shown():
    """The first is with the person, the second behind it when the server dies."""

    async def two(ctx: Context, heard: Heard) -> dict[str, Any]:
        async with anyio.create_task_group() as both:
            both.start_soon(ctx.send_raw_request, "elicitation/create", FORM)
            both.start_soon(ctx.send_raw_request, "elicitation/create", FORM)
        return done()

    server, person = Stranger(two, revision=NOVEMBER), Typing()
    async with Driver(server.transport(), person) as driver, anyio.create_task_group() as tasks:

        async def call() -> None:
            with pytest.raises(ServerGone):
                await driver.call_tool("order")

        tasks.start_soon(call)
        await person.begun.wait()
        await settle()
        server.gone.set()
        await withdrawn(person.turns[0])
        person.sends.set()
    assert len(person.turns) == 1


class Consenting(Typing):
    """Opens so many links at once, and thinks long about what comes then."""

    def __init__(self, *, opens: int) -> None:
        super().__init__()
        self.waits: list[VisitAsked] = []
        self._opens = opens

    async def answer(self, turn: Turn) -> Answer[Any]:
        if isinstance(turn.asked, VisitAsked) and len(self.turns) < self._opens:
            self.turns.append(turn)
            return Accepted(None)
        return await super().answer(turn)

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        self.waits.append(asked)
        self.begun.set()
        await self.sends.wait()
        return "done"


async def demands_two(ctx: Context, heard: Heard) -> dict[str, Any]:
    links = [visit(f"https://pay.example/{name}")["params"] | {"elicitationId": name} for name in ("a", "b")]
    raise MCPError(URL_ELICITATION_REQUIRED, "Pay first", {"elicitations": links})


async def two_in_a_round(ctx: Context, heard: Heard) -> dict[str, Any]:
    return asking("s", one=form("One?"), two=form("Two?"))


async def pays_before(ctx: Context, heard: Heard) -> dict[str, Any]:
    return (
        asking("s", size=form(), pay=visit())
        if "inputResponses" in heard.params
        else asking("s", pay=visit())
    )


DIES: dict[str, tuple[Any, str, int]] = {
    "before a demanded visit is consented to": (demands_two, NOVEMBER, 0),
    "after one and before the next": (demands_two, NOVEMBER, 1),
    "before the second question of a round": (two_in_a_round, JULY, 0),
    "before a link of the same round is waited for": (pays_before, JULY, 1),
}


@pytest.mark.parametrize("name", DIES)
async def test_when_the_server_dies_the_person_is_asked_no_more_and_not_blamed(name: str):
    on_call, revision, opens = DIES[name]
    server, person = Stranger(on_call, revision=revision), Consenting(opens=opens)
    seen: list[object] = []
    async with Driver(server.transport(), person) as driver, anyio.create_task_group() as tasks:

        async def call() -> None:
            with pytest.raises(ServerGone):
                await driver.call_tool("order")

        tasks.start_soon(call)
        await person.begun.wait()
        server.gone.set()
        await anyio.wait_all_tasks_blocked()
        seen += [*person.turns, *person.waits]
        person.sends.set()
    assert [*person.turns, *person.waits] == seen


async def test_an_error_of_the_server_is_handed_on_as_it_is(revision: str):
    async def refuse(ctx: Context, heard: Heard) -> dict[str, Any]:
        raise MCPError(-32000, "Out of flour", {"until": "tomorrow"})

    async with Driver(Stranger(refuse, revision=revision).transport(), Typing()) as driver:
        with pytest.raises(MCPError, match="Out of flour") as raised:
            await driver.call_tool("order")
    assert raised.value.data == {"until": "tomorrow"}
    assert not isinstance(raised.value, ServerGone)


async def nothing(ctx: Context, heard: Heard) -> dict[str, Any]:
    return done()


class Listless(Stranger):
    """Goes away when it is asked what it has."""

    async def _on_request(self, ctx: Context, method: str, params: Any) -> dict[str, Any]:
        if method == "tools/list":
            self.gone.set()
            await anyio.sleep_forever()
        return await super()._on_request(ctx, method, params)


async def test_a_server_that_goes_during_a_list_leaves_nobody_in_doubt_about_what_was_done():
    async with Driver(Listless(nothing).transport()) as driver:
        assert not driver.is_gone
        with pytest.raises(ServerGone) as raised:
            await driver.list_tools()
        assert driver.is_gone
    assert "went away during the list of tools. Nothing was called; connect to it again." in str(raised.value)


async def test_a_server_that_goes_while_nothing_is_called_is_known_to_be_gone():
    server = asks_once(JULY)
    async with Driver(server.transport()) as driver:
        server.gone.set()
        await settle()
        assert driver.is_gone


async def test_a_task_that_is_cancelled_with_its_driver_ends():
    """A cancellation that is its own cause, by however many steps, has the event loop look for the first forever."""

    async def hold(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        try:
            async with Driver(asks_once(JULY).transport()):
                task_status.started()
                await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class() as error:
            causes: list[BaseException] = []
            cause: BaseException | None = error
            while cause is not None:
                assert cause not in causes
                causes.append(cause)
                cause = cause.__context__
            raise

    async with anyio.create_task_group() as tasks:
        await tasks.start(hold)
        tasks.cancel_scope.cancel()
