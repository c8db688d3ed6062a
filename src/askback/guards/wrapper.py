"""Wraps a function so that it asks before it runs. Callers and hosts see the same signature; it is always awaited."""

from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from functools import partial, wraps
from inspect import isasyncgenfunction, isawaitable, iscoroutinefunction, isgeneratorfunction
from types import FunctionType
from typing import Any, NamedTuple, cast

from anyio import to_thread

from askback.errors import AuthorError
from askback.guards.arguments import Parameters, apply_changes
from askback.guards.decision import run_guarded
from askback.guards.risk import Arguments
from askback.guards.rule import GuardRule, identify_function
from askback.guards.templates import TOOL, Template

MARK = "__askback_guard__"

MAX_NAME_LENGTH = 80
"""Characters of a function's name in the ledger."""


class GuardMark(NamedTuple):
    """Set on a function and on its wrapper. Other decorators copy attributes, so the mark names its function."""

    bare: Callable[..., Any]
    guarded: Callable[..., Any]
    guards: tuple[GuardRule, ...]


class GuardMarks:
    """Whether any function of this process has a guard; most servers have none, and skip the search."""

    exist = False


def bypasses_guard(function: object) -> bool:
    """Whether a direct call of this function would bypass its guard. No tool may be made of such a function."""
    for one in _reached(function):
        mark = _mark_of(one)
        if mark is not None and mark.guarded is one:
            return False
        if mark is not None and any(inner is one for inner in _inwards(mark.bare)):
            return True
    return False


def refuse_bypass(name: object, function: object) -> None:
    """Refuse to run a tool that was made of the bare function: `@guard(...)` above the line that makes the tool."""
    if bypasses_guard(function):
        raise AuthorError(
            f"{name} was not run: it has a guard, and it was made of the function without it. Put @guard(...) "
            "directly above def, and the line that makes a tool, prompt or resource of it above that."
        )


def wrap_function(function: Callable[..., Any], rule: GuardRule) -> Callable[..., Coroutine[Any, Any, Any]]:
    """Put a rule before a function. If it has rules already, all of them ask, the new one first."""
    _require_function(function)
    mark = _mark_of(function)
    inner = mark if mark is not None and mark.guarded is function else None
    bare = function if inner is None else inner.bare
    parameters, name = Parameters(bare), _name_of(bare)
    own = replace(rule, name=rule.name or name, before=identify_function(bare))
    _require_names(own, parameters, name)
    return _asking(bare, name, parameters, (own, *(() if inner is None else inner.guards)))


def _asking(
    bare: Callable[..., Any], tool: str, parameters: Parameters, guards: tuple[GuardRule, ...]
) -> Callable[..., Coroutine[Any, Any, Any]]:
    @wraps(bare)
    async def ask_first(*args: Any, **kwargs: Any) -> Any:
        bound = parameters.bind(*args, **kwargs)

        async def run(arguments: Arguments) -> Any:
            approved = apply_changes(bound, arguments)
            return await _called(bare, partial(bare, *approved.args, **approved.kwargs))

        return await run_guarded(guards, tool=tool, arguments=parameters.caller_arguments(bound), run=run)

    mark = GuardMark(bare, ask_first, guards)
    GuardMarks.exist = True
    setattr(ask_first, MARK, mark)
    for one in _inwards(bare):
        _leave(mark, on=one)
    return ask_first


async def _called(bare: Callable[..., Any], call: Callable[[], Any]) -> Any:
    """Call it as a host does: a function that may block runs in a worker thread."""
    if iscoroutinefunction(bare) or iscoroutinefunction(getattr(bare, "__call__", None)):  # noqa: B004 - an object's own
        return await call()
    result = await to_thread.run_sync(call)
    return await result if isawaitable(result) else result


def _inwards(function: object) -> Iterator[object]:
    """The function, and the functions inside its wrappers."""
    while function is not None:
        function = getattr(function, "__func__", function)  # of a method
        yield function
        function = getattr(function, "__wrapped__", None)


def _reached(function: object) -> Iterator[object]:
    """The functions that a call of it runs, as far as is known: also those of a partial or a callable object."""
    waiting, seen = [function], set[int]()
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        owner = getattr(one, "__self__", None) if getattr(one, "__name__", "") == "__call__" else None
        inner = getattr(one, "__func__", one)
        yield inner
        waiting += [owner, *_next(inner)]  # what runs first is looked at first


def _next(function: object) -> Iterator[object]:
    if isinstance(function, partial):
        yield cast("partial[Any]", function).func
        return
    called = getattr(type(function), "__call__", None)  # noqa: B004 - that of its class
    if isinstance(called, FunctionType):
        yield called
    yield getattr(function, "__wrapped__", None)


def _leave(mark: GuardMark, *, on: object) -> None:
    try:
        setattr(on, MARK, mark)
    except (AttributeError, TypeError):  # a method of C, a slotted object: no host makes a tool of those
        return


def _mark_of(function: object) -> GuardMark | None:
    mark = getattr(function, MARK, None)
    return mark if isinstance(mark, GuardMark) else None


def _name_of(function: Callable[..., Any]) -> str:
    inner = function
    while isinstance(inner, partial):
        inner = cast("partial[Any]", inner).func
    return str(getattr(inner, "__name__", type(inner).__name__))[:MAX_NAME_LENGTH]


def _require_function(function: object) -> None:
    is_tool = hasattr(function, "__fastmcp__")  # FastMCP's own mark: it would go on with the bare function
    if is_tool or not callable(function) or isinstance(function, type):
        raise AuthorError(
            f"guard(...) was put around an object of type {type(function).__name__}. It goes directly around the "
            "function, below the line that makes a tool of it: @mcp.tool(), then @guard(...), then def."
        )
    if isgeneratorfunction(function) or isasyncgenfunction(function):
        raise AuthorError("guard(...) was put around a generator, which runs piece by piece. Return a list.")


def _require_names(own: GuardRule, parameters: Parameters, what: str) -> None:
    for option, template in (("say", own.say), ("key", own.key)):
        if isinstance(template, Template):
            template.require(parameters.names, option=option, what=what)
    if TOOL in parameters.names:
        require_plain(own, what)


def require_plain(rule: GuardRule, what: str) -> None:
    """Refuse {tool} in a rule if the function also has an argument of this name."""
    if rule.names_tool:
        raise AuthorError(
            f"A guard before {what} names {{tool}}, which is the name of the tool, and there is an argument called "
            "'tool' as well. Give the argument another name, or leave {tool} out: the argument is shown below the text."
        )
