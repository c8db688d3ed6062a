"""You as the guest of the demo: its servers run in this process and ask you in this terminal."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from types import ModuleType
from typing import Any

from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError

from askback.answers import Accepted, Answer, Declined
from askback.cli.call.argument_form import ask_missing
from askback.cli.call.arguments import signature_of
from askback.cli.call.people import PersonWrapper
from askback.cli.call.report import lines_of
from askback.cli.console import Printer
from askback.cli.demo import pizzeria
from askback.cli.demo.transcript import DemoAnswers
from askback.client import Driver, Person, Turn
from askback.client.terminal import TerminalPerson
from askback.errors import Unanswered
from askback.testing import accept, cancel, decline
from askback.testing.script import Reply

PIZZERIA = "A pizzeria that asks: the tool `order` of an MCP server, and you are the guest."
WEATHER = (
    "A weather server that needs a key of yours. In a form it would pass the client and perhaps a model, so the tool "
    "`forecast` sends you to a page of its own."
)
SHOP = (
    "A shop's database, and an agent that may query it: the tool `query`. Some columns are personal, and before one of "
    "them is read you are asked."
)

NEVER_ASKED = decline()
"""The reply to a question that did not come."""


class RecordingPerson(PersonWrapper):
    """Records a person's answers, to give them again on the other revisions."""

    def __init__(self, person: Person) -> None:
        super().__init__(person)
        self.replies: list[Reply] = []

    async def answer(self, turn: Turn) -> Answer[Any]:
        answer = await super().answer(turn)
        self.replies.append(_reply(answer))
        return answer


async def ask_you(stories: Mapping[str, ModuleType | None], plain: bool) -> DemoAnswers | None:
    """Let the servers ask you one after the other; None if you left the first."""
    person, printer = TerminalPerson(plain=plain), Printer()
    answers = await _order(person, printer)
    if answers is not None and (weather := stories["weather"]):
        answers = replace(answers, link=await _forecast(weather, person, printer))
    if answers is not None and (shop := stories["shop"]):
        answers = replace(answers, query=await _query(shop, person, printer))
    return answers


async def _order(person: Person, printer: Printer) -> DemoAnswers | None:
    _print_heading(printer, PIZZERIA)
    you = RecordingPerson(person)
    async with Driver(pizzeria.make_server(), you, label="pizzeria") as driver:
        try:
            (order,) = await driver.list_tools()
            # A question of the command, as in `askback call`, and not of the pizzeria, so it is not recorded.
            arguments = await ask_missing(signature_of(order), {}, person, asker=driver.asker)
            printer.print()
            await _call(driver, printer, "order", arguments)
        except Unanswered:
            printer.print("Nothing was ordered. Come again.")
            return None
        except MCPError as error:
            printer.print(f"The pizzeria is closed: {error.message}")
            return None
    printer.print()
    return DemoAnswers(pizza=arguments["pizza"], order=you.replies, link=NEVER_ASKED, query=NEVER_ASKED)


async def _forecast(weather: ModuleType, person: Person, printer: Printer) -> Reply:
    _print_heading(printer, WEATHER)
    you = RecordingPerson(person)
    server: MCPServer[Any] = weather.make_server()
    try:
        async with Driver(server, you, label="weather") as driver:
            await _call(driver, printer, "forecast", {"city": "Delft"})
    except MCPError as error:
        printer.print(f"There is no forecast: {error.message}")
    with suppress(MCPError):  # without a person this call works only if the key is in the vault
        async with Driver(server, None, label="weather") as driver:
            await _call(driver, printer, "forecast", {"city": "Leiden"})
        printer.print("The second time it did not ask: the key is kept, encrypted, until this demo ends.")
    printer.print()
    return you.replies[0] if you.replies else NEVER_ASKED


async def _query(shop: ModuleType, person: Person, printer: Printer) -> Reply:
    _print_heading(printer, SHOP)
    you = RecordingPerson(person)
    with shop.temporary_database() as database:
        async with Driver(shop.make_server(database), you, label="shop") as driver:
            for statement in (shop.HARMLESS, shop.PERSONAL):
                printer.print(f"The agent: {statement}")
                try:
                    await _call(driver, printer, "query", {"statement": statement})
                except MCPError as error:
                    printer.print(f"Nothing was queried: {error.message}")
                printer.print()
    return you.replies[0] if you.replies else NEVER_ASKED


def _print_heading(printer: Printer, text: str) -> None:
    printer.print(text, "bold")
    printer.print()


async def _call(driver: Driver, printer: Printer, tool: str, arguments: Mapping[str, Any]) -> None:
    for line in lines_of(await driver.call_tool(tool, dict(arguments))):
        printer.print(line, "good")


def _reply(answer: Answer[Any]) -> Reply:
    if isinstance(answer, Accepted):
        return accept(answer.value or {})
    return decline() if isinstance(answer, Declined) else cancel()
