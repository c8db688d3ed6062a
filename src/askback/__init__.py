"""Ask the person behind the client, in the middle of a task: one `await`, on every MCP revision.

The other errors are in `askback.errors`; what operators, guards, pages and clients need is in the packages beside this
one.
"""

from askback import sync
from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.errors import AskbackError, CannotAsk, Drift, InvalidAnswer, OutsideConversation, TimedOut
from askback.guards import guard
from askback.model.question import (
    Boolean,
    Choice,
    Choices,
    Date,
    DateTime,
    Email,
    Integer,
    Number,
    Text,
    Url,
)
from askback.model.texts import Words
from askback.server.askback import Askback
from askback.server.hosts.entrance import wrap
from askback.verbs import (
    Ask,
    ask,
    ask_all,
    choose,
    confirm,
    connect,
    disconnect,
    once,
    secret,
    visit,
)

__all__ = [
    "Accepted",
    "Answer",
    "Ask",
    "Askback",
    "AskbackError",
    "Boolean",
    "Cancelled",
    "CannotAsk",
    "Choice",
    "Choices",
    "Date",
    "DateTime",
    "Declined",
    "Drift",
    "Email",
    "Integer",
    "InvalidAnswer",
    "Number",
    "OutsideConversation",
    "Text",
    "TimedOut",
    "Url",
    "Words",
    "ask",
    "ask_all",
    "choose",
    "confirm",
    "connect",
    "disconnect",
    "guard",
    "once",
    "secret",
    "sync",
    "visit",
    "wrap",
]
