"""The other side: MCP clients whose questions reach a person.

async with Driver(["python", "server.py"], TerminalPerson()) as driver:
    print(await driver.call_tool("order", {"pizza": "Margherita"}))
"""

from askback.client.answered import Answered
from askback.client.callbacks import Answering
from askback.client.driver import Driver
from askback.client.line import Line
from askback.client.pacing import Limits
from askback.client.person import Asked, Asker, FormAsked, Mode, Person, Turn, VisitAsked, Word
from askback.client.steps import Ended, Waiting

__all__ = [
    "Answered",
    "Answering",
    "Asked",
    "Asker",
    "Driver",
    "Ended",
    "FormAsked",
    "Limits",
    "Line",
    "Mode",
    "Person",
    "Turn",
    "VisitAsked",
    "Waiting",
    "Word",
]
