"""What ties a verb to the running conversation: where it finds it, the coroutine it gives, and how a body is left.

The ways to leave are `BaseException`s on purpose: an author's `except Exception` must not swallow them.
"""

import asyncio
import inspect
import sys
from collections.abc import Callable, Coroutine, Generator
from contextvars import ContextVar
from functools import update_wrapper
from types import CoroutineType, TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from askback.errors import NotAwaited, OutsideConversation

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
    if conversation.is_left or conversation.is_over:
        conversation.require_open(verb)
    return conversation


def stop_call(text: str) -> NoReturn:
    """End the running call with `text`, whatever task of it this is."""
    current_conversation("or_stop(...)").stop(text)


Verb = TypeVar("Verb", bound=Callable[..., Coroutine[Any, Any, Any]])

ANSWER_NAMES = frozenset({"or_stop", "value", "reveal", "reject"})
"""Attributes of what a verb gives when it is awaited; no coroutine has them."""


class Unawaited(Coroutine[Any, Any, Any]):
    """A coroutine that can be awaited or scheduled. Used as a truth value, a text or an answer, it raises.

    The conversation of its call holds it until it is first driven, and so finds those that were forgotten.
    """

    __slots__ = ("__weakref__", "_coroutine", "_unawaited", "verb")

    def __init__(self, coroutine: "CoroutineType[Any, Any, Any]", verb: str) -> None:
        self._coroutine, self.verb = coroutine, verb
        conversation = CURRENT.get()
        unawaited = None if conversation is None else conversation.unawaited
        self._unawaited: set[Unawaited] | None = unawaited
        if unawaited is not None:
            unawaited.add(self)

    def __await__(self) -> Generator[Any, Any, Any]:
        self._leave()
        return self._coroutine.__await__()

    def send(self, value: Any, /) -> Any:
        self._leave()
        return self._coroutine.send(value)

    def throw(
        self, kind: Any, value: BaseException | object = None, traceback: TracebackType | None = None, /
    ) -> Any:
        self._leave()
        if value is None and traceback is None:  # Python 3.12 warns of the other spelling
            return self._coroutine.throw(kind)
        return self._coroutine.throw(kind, value, traceback)

    def close(self) -> None:
        self._leave()
        self._coroutine.close()

    def _leave(self) -> None:
        if self._unawaited is not None:
            self._unawaited.discard(self)
            self._unawaited = None

    def __bool__(self) -> bool:
        # Python 3.12 and 3.13 ask `if task._coro` where they print a task.
        if sys._getframe(1).f_globals.get("__name__") == "asyncio.base_tasks":  # pyright: ignore[reportPrivateUsage]
            return True
        raise NotAwaited(self.verb)

    def __str__(self) -> NoReturn:
        raise NotAwaited(self.verb)

    def __format__(self, spec: str) -> NoReturn:
        raise NotAwaited(self.verb)

    def __eq__(self, other: object) -> bool:
        """Raises when it is compared with anything but a coroutine: the author takes it for an answer."""
        if isinstance(other, Coroutine):
            return self is other
        raise NotAwaited(self.verb)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        """For logs and debuggers, which must not fail."""
        return f"<coroutine of {self.verb}(...)>"

    def __getattr__(self, name: str) -> Any:
        """`cr_frame` and the like, which anyio, asyncio and debuggers read."""
        if name in ANSWER_NAMES:
            raise NotAwaited(self.verb)
        return getattr(self._coroutine, name)

    @property
    def __class__(self) -> type[Any]:  # pyright: ignore[reportIncompatibleMethodOverride] # what isinstance reads
        """For `inspect.iscoroutine`, by which many decide whether to await."""
        return CoroutineType


def verb(function: Verb) -> Verb:
    """Have an `async def` give an `Unawaited`. Type checkers and `inspect` still see the `async def`."""
    name, begin = function.__name__, cast("Callable[..., CoroutineType[Any, Any, Any]]", function)

    def call(*args: Any, **kwargs: Any) -> Unawaited:
        return Unawaited(begin(*args, **kwargs), name)

    if sys.version_info >= (3, 12):
        inspect.markcoroutinefunction(call)
    else:  # Python 3.11 looks at this flag alone, and does not go by it when it runs the function
        call.__code__ = call.__code__.replace(co_flags=call.__code__.co_flags | inspect.CO_COROUTINE)
    return cast("Verb", update_wrapper(call, function))


def forgotten_await(cause: BaseException | None = None) -> NotAwaited | None:
    """The error of a body that has called a verb and not awaited it, at the end of that body; else None.

    `cause` is what the body failed with, if it failed.
    """
    conversation = CURRENT.get()
    if conversation is None or conversation.is_left or not conversation.unawaited:
        return None
    if not (left := _unscheduled(conversation)):
        return None
    error = NotAwaited(left[0].verb)
    error.__cause__ = cause
    return error


def close_unawaited(conversation: "Conversation") -> None:
    """Close what no body will come back to: Python would warn of it once more, at any later time."""
    if conversation.unawaited:
        for one in _unscheduled(conversation):
            one.close()
        conversation.unawaited.clear()


def _unscheduled(conversation: "Conversation") -> list[Unawaited]:
    """Without those that a task of the running loop is about to run."""
    try:
        scheduled = {id(task.get_coro()) for task in asyncio.all_tasks()}
    except RuntimeError:  # under trio, where a nursery has run all of its tasks before a body ends
        scheduled = set[int]()
    return [one for one in tuple(conversation.unawaited) if id(one) not in scheduled]
