"""`guard(...)`: a rule that asks before something runs, around a function or before the tools of a whole server.

Callers and hosts see the same signature; a wrapped function is always awaited.
"""

from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from fnmatch import fnmatchcase
from functools import partial, wraps
from inspect import isasyncgenfunction, isawaitable, iscoroutinefunction, isgeneratorfunction
from types import FunctionType
from typing import Any, Literal, NamedTuple, ParamSpec, TypeVar, cast, get_args, overload

from anyio import to_thread

from askback.errors import AuthorError
from askback.guards.arguments import Arguments, Parameters, apply_changes
from askback.guards.decision import run_guarded
from askback.guards.rule import EvenIf, GuardRule, KeyOf, Say, When, identify_function, offers_of
from askback.guards.templates import TOOL, Template
from askback.model.durations import seconds_of

MARK = "__askback_guard__"

MAX_NAME_LENGTH = 80
"""Characters of the name of a guard or of a function, which is in each of its ledger lines."""


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


P = ParamSpec("P")
T = TypeVar("T")

Hint = Literal["destructiveHint", "openWorldHint", "readOnlyHint", "idempotentHint"]

HINTS: Mapping[str, bool] = {
    "destructiveHint": True,
    "openWorldHint": True,
    "readOnlyHint": False,
    "idempotentHint": False,
}
"""The protocol's defaults for annotations that a tool does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard(GuardRule):
    """Made by `guard(...)`. As a decorator it guards one function; in `Askback(server, guards=[...])`, all tools that
    match."""

    tools: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()

    def is_for(
        self, tool: str | None, *, annotations: Mapping[str, Any], parameters: Collection[str]
    ) -> bool:
        """Whether it guards that tool of a server. If it has several conditions, all must hold.

        `tool` is None if the name is not known for sure: then any name may match.
        """
        return (
            (not self.tools or tool is None or any(fnmatchcase(tool, pattern) for pattern in self.tools))
            and (not self.hints or any(_is_hinted(hint, annotations) for hint in self.hints))
            and (not self.parameters or any(name in parameters for name in self.parameters))
        )

    # What they give is spelled without Any: before a second guard, mypy would find that more than one of them fits.
    @overload
    def __call__(
        self, function: Callable[P, Coroutine[Any, Any, T]], /
    ) -> Callable[P, Coroutine[None, None, T]]: ...
    @overload
    def __call__(self, function: Callable[P, Awaitable[T]], /) -> Callable[P, Coroutine[None, None, T]]: ...
    @overload
    def __call__(self, function: Callable[P, T], /) -> Callable[P, Coroutine[None, None, T]]: ...
    def __call__(self, function: Callable[P, Any], /) -> Callable[P, Coroutine[None, None, Any]]:
        """The function, which now asks before it runs. One written with `def` runs in a worker thread then."""
        if self.tools or self.hints or self.parameters:
            raise AuthorError(
                "A guard with tools=, hints= or arguments= chooses among the tools of a server. Give it to "
                "Askback(server, guards=[...]), or leave those out where it stands before one function."
            )
        return wrap_function(function, self)


def guard(
    text: str | None = None,
    /,
    *,
    when: When | None = None,
    say: Say | str | None = None,
    offers: Iterable[Literal["conversation"] | timedelta | float] = (),
    key: str | KeyOf | None = None,
    even_if: EvenIf | Iterable[EvenIf] = (),
    timeout: timedelta | float | None = None,
    name: str | None = None,
    tools: str | Iterable[str] | None = None,
    hints: Hint | Iterable[Hint] | None = None,
    arguments: str | Iterable[str] | None = None,
) -> Guard:
    """Ask a person before something runs, about exactly what it would run with.

    Args:
        text: the question, with arguments in braces: "Delete {path}?". Arguments that are not in it are listed below.
        when: a function that decides whether to ask. It gets the arguments that it names. Without it, always.
        say: a function of the same kind that returns the question: a text, a `Risk`, or None if there is none.
        offers: how long a yes may hold beyond this once: "conversation" for the rest of the call, or a timedelta or
            seconds. The person chooses.
        key: what such an approval covers, "{to}", or a function; by default exactly the same arguments.
        even_if: outcomes in which it runs without a yes: "cannot ask", "timed out", "cancelled".
        timeout: how long the person has.
        name: its name in the ledger; by default the name of the function.
        tools: in `Askback(server, guards=[...])`, names of tools, or patterns such as "send_*".
        hints: likewise, tools with one of these annotations: "destructiveHint", "openWorldHint". A missing annotation
            has the protocol's default: a tool that is not read-only may destroy.
        arguments: likewise, tools that take one of these arguments.

    After a no, no answer, a late answer or any failure, nothing runs, and `NotApproved` is raised.
    """
    if text is not None and say is not None:
        raise AuthorError("guard(...) was given a text and say=. One of them is the question.")
    asks = text if text is not None else say
    made = Guard(
        say=Template(asks, option="say") if isinstance(asks, str) else _callable(asks, "say"),
        when=_callable(when, "when"),
        offers=offers_of(offers),
        key=Template(key, option="key") if isinstance(key, str) else _callable(key, "key"),
        even_if=_even_if(even_if),
        seconds=seconds_of(timeout, "timeout"),
        name=_name(name),
        tools=_several(tools, "tools"),
        hints=_hints(hints),
        parameters=_several(arguments, "arguments"),
    )
    if TOOL in made.parameters:
        require_plain(made, "tools that take it")
    return made


def _is_hinted(hint: str, annotations: Mapping[str, Any]) -> bool:
    """As the protocol reads annotations: a tool that only reads destroys nothing, unless it says that it does both."""
    said = annotations.get(hint)
    if said is None and hint == "destructiveHint" and annotations.get("readOnlyHint") is True:
        return False
    return HINTS[hint] if said is None else bool(said)


def _callable(given: Any, option: str) -> Any:
    if given is None or callable(given):
        return given
    raise AuthorError(
        f"guard({option}=...) was given an object of type {type(given).__name__}. It is a function of the arguments: "
        f"{option}=lambda path: ..."
    )


def _even_if(given: EvenIf | Iterable[EvenIf]) -> frozenset[EvenIf]:
    outcomes = frozenset((given,) if isinstance(given, str) else given)
    if strange := outcomes - set(get_args(EvenIf)):
        raise AuthorError(
            f"guard(even_if={min(map(str, strange))!r}) cannot be: who says no is heard. It may have "
            f"{', '.join(map(repr, get_args(EvenIf)))} in it."
        )
    return outcomes


def _hints(given: str | Iterable[str] | None) -> tuple[str, ...]:
    hints = _several(given, "hints")
    if strange := [hint for hint in hints if hint not in HINTS]:
        raise AuthorError(f"guard(hints={strange[0]!r}) is no annotation. There are: {', '.join(HINTS)}.")
    return hints


def _several(given: str | Iterable[str] | None, option: str) -> tuple[str, ...]:
    if given is None:
        return ()
    names = (given,) if isinstance(given, str) else tuple(given)
    if not names or not all(isinstance(name, str) and name for name in names):  # pyright: ignore[reportUnnecessaryIsInstance] # authors err
        raise AuthorError(f"guard({option}={given!r:.80}) names nothing. Give a name, or a list of names.")
    return names


def _name(given: str | None) -> str:
    if given is None:
        return ""
    if not (given.isprintable() and 0 < len(given.strip()) == len(given) <= MAX_NAME_LENGTH):
        raise AuthorError(
            f"guard(name={given!r:.100}) cannot be read in a ledger. Give 1 to {MAX_NAME_LENGTH} printable characters."
        )
    return given
