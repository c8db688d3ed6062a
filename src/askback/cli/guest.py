"""You, at the pizzeria's table: asked on this terminal by a server in this process."""

from typing import Any, assert_never

import anyio
from mcp.shared.exceptions import MCPError

from askback.answer import Accepted, Answer, Cancelled, Declined
from askback.cli import pizzeria
from askback.cli.demo import Guest
from askback.cli.paper import Paper
from askback.cli.printing import lines_of
from askback.cli.signals import run
from askback.client import Asker, Driver, FormAsked, Mode, Person, Turn, VisitAsked, Word
from askback.client.forms import read_form
from askback.client.terminal import TerminalPerson
from askback.errors import Unanswered
from askback.testing import accept, cancel, decline
from askback.testing.replies import Reply

MENU = {
    "type": "object",
    "properties": {
        "pizza": {"type": "string", "title": "Pizza", "description": "Margherita, Funghi, or your own"}
    },
    "required": ["pizza"],
}


class Remembered:
    """A person whose answers can be given once more."""

    def __init__(self, person: Person) -> None:
        self._person = person
        self.replies: list[Reply] = []

    @property
    def modes(self) -> frozenset[Mode]:
        return self._person.modes

    @property
    def shows_several(self) -> bool:
        return self._person.shows_several

    async def answer(self, turn: Turn) -> Answer[Any]:
        answer = await self._person.answer(turn)
        self.replies.append(_reply(answer))
        return answer

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> Word:
        return await self._person.wait(asked, finished)


def ask_guest(*, plain: bool = False) -> Guest | None:
    """What you ordered and how you answered; None if you left."""
    return run(_ask, TerminalPerson(plain=plain), Paper())


async def _ask(person: Person, paper: Paper) -> Guest | None:
    paper.print("A pizzeria that asks: the tool `order` of an MCP server, and you are the guest.", "bold")
    paper.print()
    you = Remembered(person)
    async with Driver(pizzeria.mcp, you, label="pizzeria") as driver:
        try:
            pizza = await _pizza(person, driver.asker)
            result = await driver.call_tool("order", {"pizza": pizza})
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
    return Guest(pizza=pizza, replies=you.replies)


async def _pizza(person: Person, asker: Asker) -> str:
    """The argument of the call that follows, asked for as a waiter would."""
    asked = FormAsked(asker=asker, purpose="tool order", message="Which pizza?", blank=read_form(MENU))
    match await person.answer(Turn(asked)):
        case Accepted(content):
            return str(content["pizza"])
        case Declined() | Cancelled():
            raise Unanswered("No pizza was chosen, so nothing was ordered.")


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
