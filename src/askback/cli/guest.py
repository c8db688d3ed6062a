"""You, at the pizzeria's table and on the weather server's page: asked on this terminal by servers in this process."""

from contextlib import suppress
from dataclasses import replace
from typing import Any, assert_never

from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult

from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.cli import pizzeria
from askback.cli.argument_form import ask_missing
from askback.cli.demo import DemoAnswers
from askback.cli.parameters import signature_of
from askback.cli.people import PersonWrapper
from askback.cli.printer import Printer
from askback.cli.results import lines_of
from askback.cli.signals import run
from askback.cli.visiting import weather
from askback.client import Driver, Person, Turn
from askback.client.terminal import TerminalPerson
from askback.errors import Unanswered
from askback.testing import accept, cancel, decline
from askback.testing.replies import Reply


class RecordingPerson(PersonWrapper):
    """A person whose answers can be given once more."""

    def __init__(self, person: Person) -> None:
        super().__init__(person)
        self.replies: list[Reply] = []

    async def answer(self, turn: Turn) -> Answer[Any]:
        answer = await super().answer(turn)
        self.replies.append(_reply(answer))
        return answer


NEVER_ASKED = decline()
"""For what did not come before you."""

SENT = (
    "A weather server that needs a key of yours. In a form it would pass the client and perhaps a model, so the tool "
    "`forecast` sends you to a page of its own."
)


def ask_guest(*, plain: bool = False) -> DemoAnswers | None:
    """What you ordered and how you answered; None if you left."""
    return run(_ask, TerminalPerson(plain=plain), Printer())


async def _ask(person: Person, paper: Printer) -> DemoAnswers | None:
    paper.print("A pizzeria that asks: the tool `order` of an MCP server, and you are the guest.", "bold")
    paper.print()
    you = RecordingPerson(person)
    async with Driver(pizzeria.mcp, you, label="pizzeria") as driver:
        try:
            arguments = await _arguments(driver, person)
            result = await driver.call_tool("order", arguments)
        except Unanswered:
            paper.print("Nothing was ordered. Come again.")
            return None
        except MCPError as error:
            paper.print(f"The pizzeria is closed: {error.message}")
            return None
    paper.print()
    show(paper, result)
    paper.print()
    return DemoAnswers(
        pizza=arguments["pizza"], replies=you.replies, to_link=NEVER_ASKED, to_query=NEVER_ASKED
    )


def send_to_page(guest: DemoAnswers, *, plain: bool = False) -> DemoAnswers:
    """The same guest, with what you said to the link."""
    return run(_send, guest, TerminalPerson(plain=plain), Printer())


async def _send(guest: DemoAnswers, person: Person, paper: Printer) -> DemoAnswers:
    paper.print(SENT, "bold")
    paper.print()
    you = RecordingPerson(person)
    async with weather() as server:
        try:
            show(paper, await _forecast(server, "Delft", you))
        except MCPError as error:
            paper.print(f"There is no forecast: {error.message}")
        # Nobody can be asked now: it works only if the key is kept.
        with suppress(MCPError):
            show(paper, await _forecast(server, "Leiden", None))
            paper.print("The second time it did not ask: the key is kept, encrypted, until this demo ends.")
    paper.print()
    return replace(guest, to_link=you.replies[0] if you.replies else NEVER_ASKED)


async def _forecast(server: MCPServer[Any], city: str, person: Person | None) -> CallToolResult:
    async with Driver(server, person, label="weather") as driver:
        return await driver.call_tool("forecast", {"city": city})


def show(paper: Printer, result: CallToolResult) -> None:
    """What a tool gave."""
    for line in lines_of(result):
        paper.print(line, "good")


async def _arguments(driver: Driver, person: Person) -> dict[str, Any]:
    """Asked for as `askback call` does. Not remembered: they are no answer to a question of the pizzeria."""
    (order,) = await driver.list_tools()
    return await ask_missing(signature_of(order), {}, person, asker=driver.asker)


def _reply(answer: Answer[Any]) -> Reply:
    match answer:
        case Accepted(content):
            return accept(content or {})
        case Declined():
            return decline()
        case Cancelled():
            return cancel()
        case _:
            assert_never(answer)
