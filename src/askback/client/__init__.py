"""The other side: MCP clients whose questions reach a person.

async with Driver(["python", "server.py"], TerminalPerson()) as driver:
    print(await driver.call_tool("order", {"pizza": "Margherita"}))
"""

from askback.client.call import FinishedCall, WaitingCall
from askback.client.callbacks import ElicitationCallbacks
from askback.client.driver import Driver
from askback.client.limits import QuestionLimits
from askback.client.person import (
    AnswerRecord,
    Asked,
    Asker,
    FormAsked,
    Mode,
    Person,
    PersonQueue,
    Turn,
    VisitAsked,
    VisitReply,
)

__all__ = [
    "AnswerRecord",
    "Asked",
    "Asker",
    "Driver",
    "ElicitationCallbacks",
    "FinishedCall",
    "FormAsked",
    "Mode",
    "Person",
    "PersonQueue",
    "QuestionLimits",
    "Turn",
    "VisitAsked",
    "VisitReply",
    "WaitingCall",
]
