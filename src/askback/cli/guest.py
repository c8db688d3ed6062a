"""You, at the pizzeria's table: asked on this terminal by a server in this process."""

from typing import Any, assert_never

from mcp.shared.exceptions import MCPError

from askback.answer import Accepted, Answer, Cancelled, Declined
from askback.cli import pizzeria
from askback.cli.demo import Guest
from askback.cli.missing import ask_missing
from askback.cli.paper import Paper
from askback.cli.parameters import offer_of
from askback.cli.people import Accompanied
from askback.cli.printing import lines_of
from askback.cli.signals import run
from askback.client import Driver, Person, Turn
from askback.client.terminal import TerminalPerson
from askback.errors import Unanswered
from askback.testing import accept, cancel, decline
from askback.testing.replies import Reply


class Remembered(Accompanied):
    """A person whose answers can be given once more."""

    def __init__(self, person: Person) -> None:
        super().__init__(person)
        self.replies: list[Reply] = []

    async def answer(self, turn: Turn) -> Answer[Any]:
        answer = await super().answer(turn)
        self.replies.append(_reply(answer))
        return answer


def ask_guest(*, plain: bool = False) -> Guest | None:
    """What you ordered and how you answered; None if you left."""
    return run(_ask, TerminalPerson(plain=plain), Paper())


async def _ask(person: Person, paper: Paper) -> Guest | None:
    paper.print("A pizzeria that asks: the tool `order` of an MCP server, and you are the guest.", "bold")
    paper.print()
    you = Remembered(person)
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
    for line in lines_of(result):
        paper.print(line, "good")
    paper.print()
    return Guest(pizza=arguments["pizza"], replies=you.replies)


async def _arguments(driver: Driver, person: Person) -> dict[str, Any]:
    """Asked for as `askback call` does. Not remembered: they are no answer to a question of the pizzeria."""
    (order,) = await driver.list_tools()
    return await ask_missing(offer_of(order), {}, person, asker=driver.asker)


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
