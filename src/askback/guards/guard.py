"""`guard(...)`: a rule that asks before something runs, around a function or before the tools of a whole server."""

from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import Any, Literal, ParamSpec, TypeVar, get_args, overload

from askback.errors import AuthorError
from askback.guards.offers import offers_of
from askback.guards.rule import EvenIf, GuardRule, KeyOf, Say, When
from askback.guards.templates import TOOL, Template
from askback.guards.wrapper import require_plain, wrap_function
from askback.model.durations import seconds_of

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

MAX_NAME_LENGTH = 80
"""Characters of a guard's name, which is in each of its ledger lines."""


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
