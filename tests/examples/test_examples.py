"""The examples that the pages take their code from: each tells its story on every revision."""

import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.shared.exceptions import MCPError

from askback.testing import Asked, accept, cancel, decline, raw, run_tool, silence
from askback.testing.plugin import RunTool
from askback.testing.script import Answers, Reply
from examples.nobody.server import mcp as print_shop
from examples.questions.server import mcp as desk
from examples.replay import effects
from examples.several.server import mcp as travel
from examples.workers.server import make_server, make_server_for_tenants
from tests.support.paths import ROOT
from tests.support.raw import accepting, answering, raw_client

pytestmark = pytest.mark.anyio

EXAMPLES = ROOT / "examples"

Story = tuple[str, dict[str, Any], Answers, str]

DESK: list[Story] = [
    (
        "register",
        {},
        [accept(name="Ada", arrival=date(2026, 7, 28), days=["tu"])],
        "Ada, 2026-07-28, all, ['tu'], 0, None",
    ),
    ("register", {}, [decline()], "Not registered."),
    ("introduce", {}, [accept(name="Ada", role="dev")], "Ada, dev, None"),
    ("seats", {}, [accept(3)], "3 seats"),
    ("change_address", {"street": "Oude Delft 1"}, [accept(town="Leiden")], "Oude Delft 1, Leiden"),
    ("badge", {}, [accept("A1"), accept("AB1234")], "AB1234"),
    ("stay", {}, [accept(nights=13), accept(nights=12)], "12 nights"),
    ("print_badges", {}, [accept(colour="red")], "1 in red"),
    ("send_parcel", {}, [accept(pin="600001")], "600001"),
]


def by_message(asked: Asked) -> Reply:
    replies = {
        "Where to?": accept("delft"),
        "How many nights?": accept(2),
        "A bag?": accept(True),
        "A coat?": decline(),
    }
    return replies[asked.message]


TRAVEL: list[Story] = [
    ("plan", {}, by_message, "2 nights in delft"),
    ("plan", {}, [cancel(), accept(2)], "Not yet planned."),
    ("plan_typed", {}, by_message, "3 days in Delft"),
    ("pack", {}, by_message, "bag: yes, coat: no"),
    ("pack_in_a_group", {}, by_message, "bag: yes, coat: no"),
    ("travel", {}, [accept("ferry")], "By ferry"),
    ("excursions", {"offers": ["museum", "mill", "sea"]}, [accept(["mill", "sea"])], "mill, sea"),
    ("cancel_booking", {"number": 7}, [accept(yes=True)], "Booking 7 is cancelled."),
    ("cancel_booking", {"number": 7}, [cancel()], "Booking 7 stays."),
    ("name_travellers", {"count": 2}, [accept("Ada"), accept("Grace")], "Ada, Grace"),
]

PRINT_SHOP: list[Story] = [
    ("copy", {"pages": 3}, [accept("A3")], "3 pages on A3"),
    ("copy", {"pages": 3}, [decline()], "Nothing copied."),
    ("copy_on", {"pages": 3, "paper": "A3"}, [], "3 pages on A3"),
    ("hold_press", {}, [silence()], "Nobody said anything in 0.2 seconds. Printing."),
    (
        "order_copies",
        {},
        [accept("many"), accept("lots"), accept("all")],
        "One copy, since after 3 replies the number was still unclear.",
    ),
    ("bind", {"pages": 3}, [decline()], "3 loose pages"),
    ("bind", {"pages": 3}, [cancel()], "Nothing bound yet. Call again when you know."),
    ("pay", {"euro": 5}, [raw({"action": "decline"})], "Nothing was paid."),
]

STORIES = [
    (server, *story)
    for server, stories in ((desk, DESK), (travel, TRAVEL), (print_shop, PRINT_SHOP))
    for story in stories
]


@pytest.mark.parametrize(
    ("server", "tool", "arguments", "answers", "text"), STORIES, ids=[one[1] for one in STORIES]
)
async def test_an_example_says_the_same_on_every_revision(
    askback_run_tool: RunTool, server: Any, tool: str, arguments: dict[str, Any], answers: Answers, text: str
):
    run = await askback_run_tool(server, tool, arguments, answers)
    assert run.text == text


async def test_what_did_not_fit_is_said_in_the_words_of_the_field_and_of_the_author(askback_revision: str):
    badge = await run_tool(desk, "badge", None, [accept("A1"), accept("AB1234")], revision=askback_revision)
    assert badge.asked[1].message.endswith("Badge number does not have the expected form.")
    stay = await run_tool(desk, "stay", None, [accept(nights=13), decline()], revision=askback_revision)
    assert stay.asked[1].message.endswith("Nights: the house does not let for thirteen nights.")


async def test_a_client_that_cannot_ask_gets_the_default(askback_run_tool: RunTool):
    run = await askback_run_tool(print_shop, "copy", {"pages": 3}, capabilities={})
    assert run.text == "3 pages on A4; nobody was asked (form)."


EFFECTS: list[Story] = [
    ("buy_as_seen", {"thing": "lamp"}, [accept(yes=True)], "Bought one of 3."),
    ("pay_once", {"euro": 5}, [accept(yes=True)], "paid 5"),
    ("pay_once", {"euro": 5}, [decline()], "Not paid."),
    ("receipt", {"number": 7}, [accept(yes=True)], "7 of 2026-07-28, sent: True"),
    ("charge_or_bill", {}, [accept(yes=True)], "A bill, since: ConnectionError."),
    ("pack", {"rain": True}, [accept(yes=True), decline()], "umbrella: True, coat: False"),
]


@pytest.mark.parametrize(("tool", "arguments", "answers", "text"), EFFECTS, ids=[one[0] for one in EFFECTS])
async def test_the_right_ways_of_the_guide_to_replay_work_on_every_revision(
    askback_run_tool: RunTool, tool: str, arguments: dict[str, Any], answers: Answers, text: str
):
    assert (await askback_run_tool(effects.mcp, tool, arguments, answers)).text == text


async def test_what_changed_while_the_person_thought_is_asked_once_more(
    askback_run_tool: RunTool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(effects.stock, "lamp", 3)

    def sold_meanwhile(_: Asked) -> Reply:
        effects.stock["lamp"] = 2
        return accept(yes=True)

    run = await askback_run_tool(effects.mcp, "buy", {"thing": "lamp"}, sold_meanwhile)
    assert [asked.message for asked in run.asked] == ["3 left. Buy one?", "2 left. Buy one?"]
    assert run.text == "Bought one of 2."


async def test_the_id_of_a_request_is_that_of_its_round(askback_run_tool: RunTool, askback_revision: str):
    run = await askback_run_tool(effects.mcp, "number_by_request", None, lambda _: accept(yes=True))
    assert run.is_error == (askback_revision == "2026-07-28")


async def test_any_worker_with_the_same_keys_serves_the_next_round():
    keys = ["first " * 8, "second " * 8]
    one, two = make_server(keys), make_server(keys[::-1])
    call: dict[str, Any] = {"tool": "close_account", "arguments": {"name": "ada"}}
    async with raw_client(one) as first, raw_client(two) as second:
        asked = await first.call(**call)
        done = await second.call(**call, **answering(asked, ask_1=accepting(yes=True)))
    assert done["content"][0]["text"] == "ada is closed."


@contextmanager
def signed_in(tenant: str) -> Generator[None]:
    claims = {"tenant": tenant}
    token = AccessToken(token="t", client_id="c", scopes=[], subject="ada", claims=claims)
    before = auth_context_var.set(AuthenticatedUser(token))
    try:
        yield
    finally:
        auth_context_var.reset(before)  # the tests of a session share one context


async def test_state_of_another_tenant_is_refused():
    call: dict[str, Any] = {"tool": "close_account", "arguments": {"name": "ada"}}
    keys = ["first " * 8]
    with signed_in("north"):
        async with raw_client(make_server_for_tenants(keys)) as client:
            retry = answering(await client.call(**call), ask_1=accepting(yes=True))
    with signed_in("south"):
        async with raw_client(make_server_for_tenants(keys)) as client:
            with pytest.raises(MCPError, match="Invalid or expired requestState"):
                await client.call(**call, **retry)
    with signed_in("north"):
        async with raw_client(make_server_for_tenants(keys)) as client:
            assert (await client.call(**call, **retry))["resultType"] == "complete"


def pytest_of(folder: Path, *options: str) -> str:
    """Run the tests in a folder as their author would."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_first_question_works_in_an_empty_folder(tmp_path: Path):
    for file in ("server.py", "test_server.py"):
        shutil.copy(EXAMPLES / "first_question" / file, tmp_path)
    assert "9 passed" in pytest_of(tmp_path)


def test_the_pizzeria_passes_its_own_tests():
    assert "passed" in pytest_of(EXAMPLES / "pizzeria")
