"""How long a question waits, and what its end looks like on each era."""

import anyio
import pytest

from askback import TimedOut, ask
from askback.server.hosts import lowlevel_of
from askback.testing import REVISIONS, Asked, Script, accept, run_tool, silence
from askback.testing.run import FORMS, Wire, connect
from askback.testing.script import Silence
from tests.support.raw import accepting, answering, raw_client
from tests.support.tool_servers import mcpserver

pytestmark = pytest.mark.anyio

PUSH = [revision for revision in REVISIONS if revision.startswith("2025")]


async def hurried() -> str:
    """Cannot wait."""
    try:
        return str(await ask("Quick?", bool, timeout=0.05))
    except TimedOut as error:
        return f"too late after {error.seconds:g}: {await ask('Still there?', bool)}"


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_silent_person_times_out_and_the_body_can_go_on(revision: str):
    run = await run_tool(mcpserver(hurried), "t", None, [silence(), accept(True)], revision=revision)
    assert run.text == "too late after 0.05: Accepted(value=True)"


@pytest.mark.parametrize("revision", REVISIONS)
async def test_left_uncaught_it_says_whose_move_is_next(revision: str):
    async def body() -> str:
        return str(await ask("Quick?", bool))

    run = await run_tool(mcpserver(body, timeout=0.05), "t", None, [silence()], revision=revision)
    assert run.is_error
    assert "within 0.05 seconds" in run.text and "Call again" in run.text


@pytest.mark.parametrize("revision", PUSH)
async def test_on_the_push_era_the_client_is_told_that_the_question_is_withdrawn(revision: str):
    run = await run_tool(mcpserver(hurried), "t", None, [silence(), accept(True)], revision=revision)
    assert "notifications/cancelled" in [line.what for line in run.transcript]


@pytest.mark.parametrize("revision", PUSH)
async def test_on_the_push_era_no_question_waits_longer_than_the_time_to_think(revision: str):
    """Nothing tells that a client is gone, so a question without a time-out of its own ends, too."""

    async def body() -> str:
        try:
            return str(await ask("Anybody?", bool))
        except TimedOut as error:
            return f"nobody for {error.seconds:g}"

    run = await run_tool(mcpserver(body, think_time=0.05), "t", None, [silence()], revision=revision)
    assert run.text == "nobody for 0.05"


async def test_on_the_rounds_era_a_late_answer_is_discarded():
    now = [1000.0]

    async def body() -> str:
        try:
            return str(await ask("Quick?", bool, timeout=60))
        except TimedOut:
            return f"late {await ask('Still there?', bool)}"

    async with raw_client(mcpserver(body, clock=lambda: now[0])) as client:
        first = await client.call()
        now[0] += 61
        second = await client.call(**answering(first, ask_1=accepting(value=True)))
        assert list(second["inputRequests"]) == ["ask-2"]
        third = await client.call(**answering(second, ask_2=accepting(value=False)))
        assert third["content"][0]["text"] == "late Accepted(value=False)"
        again = await client.call()
        now[0] += 59
        in_time = await client.call(**answering(again, ask_1=accepting(value=True)))
        assert in_time["content"][0]["text"] == "Accepted(value=True)"


async def test_a_misfit_gets_the_full_time_again():
    now = [1000.0]

    async def body() -> str:
        return str(await ask("How many?", int, timeout=60))

    async with raw_client(mcpserver(body, clock=lambda: now[0])) as client:
        first = await client.call()
        now[0] += 50
        second = await client.call(**answering(first, ask_1=accepting(value="many")))
        now[0] += 50
        third = await client.call(**answering(second, ask_1=accepting(value=3)))
        assert third["content"][0]["text"] == "Accepted(value=3)"


@pytest.mark.parametrize("revision", PUSH)
async def test_a_waiting_question_ends_with_its_session_and_nothing_is_left_waiting(revision: str):
    ended = anyio.Event()

    async def body() -> str:
        try:
            return str(await ask("Name?", str))
        finally:
            ended.set()

    async def hang_up() -> None:
        await run_tool(mcpserver(body), "t", None, [silence()], revision=revision)

    with anyio.move_on_after(0.2):
        await hang_up()
    with anyio.fail_after(5):
        await ended.wait()


@pytest.mark.parametrize("bad", [0, -1, float("inf"), float("nan")])
async def test_a_timeout_that_is_none_is_refused(bad: float):
    async def body() -> str:
        return str(await ask("Quick?", bool, timeout=bad))

    run = await run_tool(mcpserver(body), "t")
    assert run.is_error and "length of time" in run.text


async def test_the_client_can_cancel_the_call_while_a_question_waits():
    asked, ended = anyio.Event(), anyio.Event()

    async def body() -> str:
        try:
            return str(await ask("Name?", str))
        finally:
            ended.set()

    def reply(_asked: Asked) -> Silence:
        asked.set()
        return silence()

    wire = Wire(version="2025-11-25", capabilities=FORMS, script=Script(reply))
    async with connect(lowlevel_of(mcpserver(body)), wire):
        async with anyio.create_task_group() as calls:
            calls.start_soon(wire.call, "tools/call", {"name": "t"})
            with anyio.fail_after(5):
                await asked.wait()
            calls.cancel_scope.cancel()
        with anyio.fail_after(5):
            await ended.wait()


def test_a_timeout_of_ours_is_not_one_that_retrying_middleware_retries():
    assert not issubclass(TimedOut, TimeoutError)
