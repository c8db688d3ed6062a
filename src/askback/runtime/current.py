"""Which conversation the running code belongs to, and how a body leaves it before its end.

The ways to leave are `BaseException`s on purpose: an author's `except Exception` must not swallow them.
"""

from contextvars import ContextVar
from typing import TYPE_CHECKING, NoReturn

from askback.errors import OutsideConversation

if TYPE_CHECKING:
    from askback.runtime.conversation import Conversation


class BodyLeft(BaseException):
    """The body ends here; the middleware answers for it."""


class BodySuspended(BodyLeft):
    """The call ends with questions; the client calls again with the answers."""


class BodyStopped(BodyLeft):
    """The author ended the call politely; the conversation keeps the words."""


class QuestionsReturned(BodyLeft):
    """The body returned questions by itself; the conversation keeps them."""


CURRENT: ContextVar["Conversation | None"] = ContextVar("askback_conversation", default=None)

EFFECT: ContextVar[str | None] = ContextVar("askback_effect", default=None)
"""The key of the `once` whose function is running; a context variable, since siblings may be asking meanwhile."""


def current_conversation(verb: str) -> "Conversation":
    """The conversation of the running call, or an error that says how to get into one."""
    conversation = CURRENT.get()
    if conversation is None:
        raise OutsideConversation(
            f"{verb} works inside a tool, prompt or resource body of a server with Askback(server) installed, while "
            "its call is being served. Here there is no such call. Install Askback on the server that clients connect "
            "to; a parent covers what is mounted in it. In background work, a task of FastMCP for example, nobody can "
            "be asked: ask before it begins and pass the answer in."
        )
    conversation.require_open(verb)
    return conversation


def stop_call(text: str) -> NoReturn:
    """End the running call with `text`, whatever task of it this is."""
    current_conversation("or_stop(...)").stop(text)
