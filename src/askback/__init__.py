"""Ask the person behind the client, in the middle of a task: one `await`, on every MCP revision."""

from askback import sync
from askback.answer import Accepted, Answer, Cancelled, Declined
from askback.asking import Ask, ask, ask_all, choose, confirm, once
from askback.errors import (
    AskbackError,
    AskbackWarning,
    CannotAsk,
    Drift,
    EffectFailed,
    InvalidAnswer,
    OutsideConversation,
    QuestionRefused,
    SecretInForm,
    TimedOut,
)
from askback.question import (
    Boolean,
    Choice,
    Choices,
    Date,
    DateTime,
    Email,
    Field,
    Integer,
    Number,
    Text,
    Url,
)
from askback.server.askback import Askback
from askback.words import Words

__all__ = [
    "Accepted",
    "Answer",
    "Ask",
    "Askback",
    "AskbackError",
    "AskbackWarning",
    "Boolean",
    "Cancelled",
    "CannotAsk",
    "Choice",
    "Choices",
    "Date",
    "DateTime",
    "Declined",
    "Drift",
    "EffectFailed",
    "Email",
    "Field",
    "Integer",
    "InvalidAnswer",
    "Number",
    "OutsideConversation",
    "QuestionRefused",
    "SecretInForm",
    "Text",
    "TimedOut",
    "Url",
    "Words",
    "ask",
    "ask_all",
    "choose",
    "confirm",
    "once",
    "sync",
]
