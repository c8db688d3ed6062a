"""The verbs of `askback` for bodies written with `def`: each runs the async verb on the event loop and waits for it.

A host runs such a body in one of anyio's worker threads, which is the thread that is meant here.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from datetime import timedelta
from functools import partial, update_wrapper, wraps
from inspect import isawaitable, iscoroutinefunction
from math import inf
from typing import Any, NoReturn, ParamSpec, TypeVar, overload

import anyio
from anyio import from_thread
from anyio.lowlevel import RunVar, cancel_shielded_checkpoint, checkpoint
from anyio.to_thread import current_default_thread_limiter

from askback import verbs
from askback.errors import OutsideConversation
from askback.runtime.body_task import ON_WAIT, running_task
from askback.runtime.current import EFFECT
from askback.runtime.secrets import Hidden

__all__ = [
    "ask",
    "ask_all",
    "choose",
    "confirm",
    "connect",
    "disconnect",
    "once",
    "reject",
    "secret",
    "visit",
]

T = TypeVar("T")
P = ParamSpec("P")

MAX_PARKED = 200
"""Threads that may wait for people beyond the host's own limit. A waiting call takes some 80 KiB, and more at once is
probably a flood: further ones count as ordinary threads."""

_PARKED: RunVar[int] = RunVar("askback_parked", 0)


def _waiting(verb: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The verb for a thread; type checkers see the same overloads without the `await`."""

    @wraps(verb, updated=())  # without the mark that it is a coroutine function
    def wait_for(*args: P.args, **kwargs: P.kwargs) -> T:
        _require_worker_thread()
        return from_thread.run(partial(_run, partial(verb, *args, **kwargs)))

    return wait_for


async def _run(verb: Callable[[], Awaitable[T]]) -> T:
    await _raise_if_cancelled()
    place = _ThreadSlot()
    ON_WAIT.set(place.release)
    try:
        return await verb()
    finally:
        place.acquire()


ask = _waiting(verbs.ask)
"""Put a form to the person behind the call and give their answer; see `askback.ask`."""

ask_all = _waiting(verbs.ask_all)
"""Ask several questions in one round; see `askback.ask_all`."""

choose = _waiting(verbs.choose)
"""Let the person choose one or several of a list or a `{value: title}`; see `askback.choose`."""

confirm = _waiting(verbs.confirm)
"""Whether the person explicitly said yes; see `askback.confirm`."""

visit = _waiting(verbs.visit)
"""Send the person to another site's page, and go on when they are done there; see `askback.visit`."""

secret = _waiting(verbs.secret)
"""Get a password or a key, from the vault or from a hosted page; see `askback.secret`."""

reject = _waiting(Hidden.reject)
"""Report that a value from `secret` or `connect` was wrong: `reject(found, "The service refused it")`."""

connect = _waiting(verbs.connect)
"""Get a token for another service; see `askback.connect`."""

disconnect = _waiting(verbs.disconnect)
"""Revoke and forget a token of `connect`; see `askback.disconnect`."""


@overload
def once(key: str, fn: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T: ...
@overload
def once(key: str, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T: ...
@overload
def once(
    key: str,
    fn: Callable[..., Awaitable[T]],
    /,
    *args: Any,
    within: timedelta | float,
    retry: bool = False,
    **kwargs: Any,
) -> T: ...
@overload
def once(
    key: str,
    fn: Callable[..., T],
    /,
    *args: Any,
    within: timedelta | float,
    retry: bool = False,
    **kwargs: Any,
) -> T: ...
@overload
def once(key: str, fn: Callable[..., Awaitable[T]], /, *args: Any, retry: bool, **kwargs: Any) -> T: ...
@overload
def once(key: str, fn: Callable[..., T], /, *args: Any, retry: bool, **kwargs: Any) -> T: ...
def once(
    key: str,
    fn: Callable[..., Any],
    /,
    *args: Any,
    within: timedelta | float | None = None,
    retry: bool = False,
    **kwargs: Any,
) -> Any:
    """Run an effect that must not repeat when the body runs again; see `askback.once`.

    `fn` runs in the thread that calls this, and may block. An `async def` is awaited on the event loop.
    """
    if iscoroutinefunction(fn) or not callable(fn):
        return _once_on_the_loop(key, fn, *args, within=within, retry=retry, **kwargs)
    _require_worker_thread()
    effect = _ThreadedEffect(fn, partial(verbs.once, key, within=within, retry=retry))
    if not from_thread.run(effect.is_wanted):
        return effect.outcome()
    token = EFFECT.set(key)
    try:
        result = fn(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - whatever the author's function raises is its outcome
        return from_thread.run(effect.end, partial(_fail, error))
    except BaseException:
        from_thread.run(effect.cut_short)
        raise
    finally:
        EFFECT.reset(token)
    return from_thread.run(effect.end, lambda: result)


_once_on_the_loop: Callable[..., Any] = _waiting(verbs.once)


class _ThreadedEffect:
    """Runs the effect of a `once` in the thread that called it, because a connection is often bound to its thread."""

    def __init__(self, fn: Callable[..., Any], once: Callable[..., Coroutine[Any, Any, Any]]) -> None:
        self._fn, self._begin = fn, once
        self._turn: asyncio.Event
        self._ended: asyncio.Future[Callable[[], Any]]
        self._once: asyncio.Task[Any]

    async def is_wanted(self) -> bool:
        """Whether the thread must run the effect now and then call `end`; otherwise `outcome` has the result."""
        await _raise_if_cancelled()
        self._turn, self._ended = asyncio.Event(), asyncio.get_running_loop().create_future()
        self._once = asyncio.create_task(self._begin(self._stand_in()))
        self._once.add_done_callback(lambda _: self._turn.set())
        try:
            await self._turn.wait()
        except BaseException:
            await self.cut_short()
            raise
        return not self._once.done()

    async def end(self, result: Callable[[], Any]) -> Any:
        """Hand in the result or the error of the effect; it is recorded also if the call was cancelled meanwhile."""
        if not self._ended.done():
            self._ended.set_result(result)
        with anyio.CancelScope(shield=True):
            return await self._once

    async def cut_short(self) -> None:
        """Leave the effect recorded as begun and not ended."""
        self._once.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([self._once])

    def outcome(self) -> Any:
        return self._once.result()

    def _stand_in(self) -> Callable[..., Any]:
        """The function that `once` calls on the event loop, with the return type that the effect declares."""

        async def fetch() -> Any:
            self._turn.set()
            result = (await self._ended)()
            return await result if isawaitable(result) else result

        declared = self._fn
        while isinstance(declared, partial):
            declared = declared.func
        return update_wrapper(fetch, declared, updated=())


def _fail(error: BaseException) -> NoReturn:
    raise error


class _ThreadSlot:
    """A thread's slot in the host's limit: released while it waits for a person, and taken again before it goes on."""

    def __init__(self) -> None:
        self._limiter: anyio.CapacityLimiter | None = None

    def release(self) -> None:
        parked = _PARKED.get()
        if self._limiter is None and parked < MAX_PARKED:
            _PARKED.set(parked + 1)
            self._limiter = current_default_thread_limiter()
            self._limiter.total_tokens += 1

    def acquire(self) -> None:
        if self._limiter is not None:
            _PARKED.set(_PARKED.get() - 1)
            self._limiter.total_tokens -= 1


def _require_worker_thread() -> None:
    if running_task() is not None:
        raise OutsideConversation(
            "askback.sync was called where an event loop is running: waiting there for a person would stop "
            "everything else the loop does. In a body written with async def, import the verb from askback and await "
            "it: await ask(...). A body written with def must be run in a worker thread, as MCPServer and FastMCP "
            "do by themselves; with FastMCP, take out run_in_thread=False."
        )
    try:
        # The cancellation is raised on the loop: before 4.14, anyio does not recognize this one as its own.
        with suppress(asyncio.CancelledError):
            from_thread.check_cancelled()
    except RuntimeError:
        raise OutsideConversation(
            "askback.sync works in the body of a tool, prompt or resource written with def, in the thread that its "
            "server runs it in. This thread is not one of the server's: ask in the body itself and pass the answer "
            "to threads you start (threading, ThreadPoolExecutor, asyncio.to_thread), or start them with "
            "anyio.to_thread.run_sync(...)."
        ) from None


async def _raise_if_cancelled() -> None:
    """End here if the call was cancelled before this task began. Anyio cancels only tasks that wait already, and others
    after a shielded checkpoint."""
    if anyio.current_effective_deadline() == -inf:
        await cancel_shielded_checkpoint()
        await checkpoint()
