"""What the pages quote is what Askback says: a block fenced as `said` is one of the texts below, word for word.

In a quotation `…` stands for what differs from run to run.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError

from askback import Askback, OutsideConversation, Text, ask, once
from askback.errors import QuestionRefused, VisitorUnknown
from askback.pages import Pages
from askback.schema.forms import form_of
from askback.testing import Asked, ScriptMismatch, accept, cancel, decline, fail, run_tool, silence
from askback.testing.script import Answers, Reply
from examples.first_question.server import mcp as cafe
from examples.guards.server import make_server as make_files
from examples.nobody.server import mcp as print_shop
from examples.pizzeria.server import mcp as pizzeria
from examples.questions.server import mcp as desk
from examples.replay.effects import charge
from examples.replay.effects import mcp as effects
from examples.replay.server import mcp as replay
from examples.secrets.visits import make_server as make_notary
from tests.support.docs_pages import PAGES, Block, blocks, one_line
from tests.support.raw import answering, raw_client

Said = Callable[[], Awaitable[str]]


def yes(_: Asked) -> Reply:
    return accept(yes=True)


def result(server: Any, tool: str, answers: Answers = (), **options: Any) -> Said:
    """The text of a call's result, or of the error that ended it."""

    async def say() -> str:
        try:
            run = await run_tool(server, tool, options.pop("arguments", None), answers, **options)
        except (MCPError, ScriptMismatch) as error:
            return str(error)
        assert run.is_error
        return run.text

    return say


def question(server: Any, tool: str, **arguments: Any) -> Said:
    """What the person reads."""

    async def say() -> str:
        return (await run_tool(server, tool, arguments, [decline()])).asked[0].message

    return say


def second_question(server: Any, tool: str, answers: Answers) -> Said:
    """What the person reads when their first answer did not fit."""

    async def say() -> str:
        return (await run_tool(server, tool, None, answers)).asked[1].message

    return say


async def refused_secret() -> str:
    with pytest.raises(QuestionRefused) as caught:
        form_of("Sign in?", {"api_key": Text()})
    return str(caught.value)


async def refused_state() -> str:
    async with raw_client(cafe) as client:
        asked = await client.call("coffee", {"kind": "latte"})
        retry = answering({"requestState": asked["requestState"][:-1]})
        with pytest.raises(MCPError) as caught:
            await client.call("coffee", {"kind": "latte"}, **retry)
    return caught.value.message


async def still_open() -> str:
    """What a client reads that has come back as often as it does, while the person is on the page."""
    server, _ = make_notary(hold=0.001)
    links: dict[str, Any] = {"elicitation": {"url": {}}}
    run = await run_tool(server, "sign", {"title": "Will"}, lambda _: accept(), capabilities=links)
    assert run.is_error
    return run.text


async def no_door() -> str:
    with pytest.raises(VisitorUnknown) as caught:
        Pages(url="https://tools.example")
    return str(caught.value)


async def asked_too_late() -> str:
    over, told = anyio.Event(), list[str]()

    async def straggler() -> None:
        await over.wait()
        with pytest.raises(OutsideConversation) as caught:
            await ask("Too late?", str)
        told.append(str(caught.value))

    tasks: list[asyncio.Task[None]] = []

    async def body() -> str:
        tasks.append(asyncio.create_task(straggler()))
        return "done"

    await run_tool(server_of(body), "body")
    over.set()
    await asyncio.wait_for(tasks[0], 5)
    return told[0]


async def failed_charge() -> str:
    async def body() -> int:
        return await once("charge", charge)

    return (await run_tool(server_of(body), "body")).text


def server_of(body: Callable[[], Awaitable[Any]]) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("said")
    server.add_tool(body)
    Askback(server)
    return server


TEXTS: dict[str, Said] = {
    "the script runs out": result(cafe, "coffee", [accept("huge")], arguments={"kind": "latte"}),
    "a pattern": second_question(desk, "badge", [accept("A1"), decline()]),
    "a validator": second_question(desk, "stay", [accept(nights=13), decline()]),
    "two problems": second_question(desk, "register", [accept(name="Ada", days=["mo"], guests=9), cancel()]),
    "a secret": refused_secret,
    "no keys": result(replay, "together_without_keys", lambda _: decline()),
    "one key twice": result(replay, "one_key_in_a_loop", yes, arguments={"names": ["ada", "grace"]}),
    "the clock": result(replay, "changing_clock", yes),
    "the request": result(effects, "number_by_request", yes),
    "not recordable": result(effects, "keep_connection"),
    "too long": result(effects, "keep_report"),
    "asked inside": result(effects, "ask_inside"),
    "failed": failed_charge,
    "too late": asked_too_late,
    "refused state": refused_state,
    "a wrong field": result(pizzeria, "order", [accept(drnk="cola")], arguments={"pizza": "Margherita"}),
    "no forms": result(print_shop, "ask_plainly", capabilities={}),
    "no links": result(make_notary()[0], "sign", arguments={"title": "Will"}, capabilities={}),
    "an old client": result(print_shop, "ask_plainly", revision="2025-03-26"),
    "a broken client": result(
        print_shop, "ask_plainly", [fail(-32603, "window closed")], revision="2025-11-25"
    ),
    "silence": result(print_shop, "ask_plainly", [silence()]),
    "still open": still_open,
    "no door": no_door,
    "a guard": question(make_files(), "delete", path="/notes", recursive=True),
    "a guard's no": result(make_files(), "delete", [decline()], arguments={"path": "/notes"}),
    "no fit": result(print_shop, "ask_plainly", [accept("B5")] * 3),
}

QUOTED = [block for page in PAGES for block in blocks(page, "said")]


def quotes(block: Block, text: str) -> bool:
    parts = (re.escape(part) for part in one_line(block.text).split("…"))
    return re.fullmatch(".*?".join(parts), one_line(text)) is not None


@pytest.fixture(scope="module")
def spoken() -> dict[str, str]:
    """Every text, said once."""

    async def say_all() -> dict[str, str]:
        return {name: await say() for name, say in TEXTS.items()}

    return asyncio.run(say_all())


@pytest.mark.parametrize("block", QUOTED, ids=str)
def test_a_quotation_is_what_is_said(block: Block, spoken: dict[str, str]):
    assert any(quotes(block, text) for text in spoken.values()), block.text


@pytest.mark.parametrize("name", TEXTS)
def test_each_of_these_texts_is_quoted_somewhere(name: str, spoken: dict[str, str]):
    assert any(quotes(block, spoken[name]) for block in QUOTED), spoken[name]
