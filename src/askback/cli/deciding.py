"""You, before a query that an agent wants to run: asked on this terminal by a database in this process."""

from dataclasses import replace

from mcp.shared.exceptions import MCPError

from askback.cli.demo import DemoAnswers
from askback.cli.guest import NEVER_ASKED, RecordingPerson, show
from askback.cli.printer import Printer
from askback.cli.querying import HARMLESS, PERSONAL, shop
from askback.cli.signals import run
from askback.client import Driver, Person
from askback.client.terminal import TerminalPerson

GUARDED = (
    "A shop's database with a million orders, and an agent that may query it: the tool `query`. A file says which "
    "columns are personal, and before one of them is read you are asked."
)


def decide(guest: DemoAnswers, *, plain: bool = False) -> DemoAnswers:
    """The same guest, with what you said to the query."""
    return run(_decide, guest, TerminalPerson(plain=plain), Printer())


async def _decide(guest: DemoAnswers, person: Person, paper: Printer) -> DemoAnswers:
    paper.print(GUARDED, "bold")
    paper.print()
    you = RecordingPerson(person)
    with shop() as server:
        async with Driver(server, you, label="shop") as driver:
            for arguments in (HARMLESS, PERSONAL):
                paper.print(f"The agent: {arguments['statement']}")
                try:
                    show(paper, await driver.call_tool("query", dict(arguments)))
                except MCPError as error:
                    paper.print(f"Nothing was queried: {error.message}")
                paper.print()
    return replace(guest, to_query=you.replies[0] if you.replies else NEVER_ASKED)
