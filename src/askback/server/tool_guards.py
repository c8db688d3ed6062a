"""Guards for a whole server: what a call is under on its way to a tool, and which of them are for that tool.

Knows no host: the adapters find the place where a tool is about to run, and bring what it will really run with.
"""

from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import lru_cache, wraps
from inspect import signature
from typing import Any, NamedTuple, cast

from mcp_types import ToolAnnotations

from askback.errors import NotApproved
from askback.guards import Guard
from askback.guards.arguments import apply_changes
from askback.guards.decision import run_guarded
from askback.guards.guard import HINTS, MAX_NAME_LENGTH

CACHE_SIZE = 5000
"""Functions that are kept with guards around them; FastMCP keeps as many of its own readings of functions."""

READ_ONLY = "readOnlyHint"
"""The one hint that speaks for a tool."""

Body = Callable[..., Any]
Run = Callable[..., Awaitable[Any]]


class ToolFacts(NamedTuple):
    """What a call has met on the way to its tool: all that only passed it on, and the tool itself.

    A tool may be mounted under another name, or changed on the way. Whatever one of them says counts, so that it does
    not slip by under the other.
    """

    names: tuple[str, ...] = ()
    annotations: tuple[ToolAnnotations, ...] = ()
    arguments: frozenset[str] = frozenset()
    version: str = ""
    """Of the tool, where its host has several of one name: what was said of one is not said of another."""

    def add(
        self, names: Iterable[str], annotations: ToolAnnotations | None, arguments: Iterable[str]
    ) -> "ToolFacts":
        """One further on the way."""
        stated = () if annotations is None else (annotations,)
        return self._replace(
            names=tuple(dict.fromkeys((*self.names, *names))),
            annotations=(*self.annotations, *stated),
            arguments=self.arguments.union(arguments),
        )

    def add_arguments(self, arguments: Iterable[str]) -> "ToolFacts":
        """With what the call brings, which may be more than the tool is listed with."""
        return self._replace(arguments=self.arguments.union(arguments))

    def merge_hints(self) -> dict[str, bool]:
        """What is stated; where that differs, what asks rather than not."""
        told = [one.model_dump(by_alias=True, exclude_none=True) for one in self.annotations]
        stated = {hint: {bool(one[hint]) for one in told if hint in one} for hint in HINTS}
        return {hint: all(said) if hint == READ_ONLY else any(said) for hint, said in stated.items() if said}


class GuardSet(tuple[Guard, ...]):
    """Guards in their order, told from others by which they are: they may hold what cannot be compared."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(tuple(map(id, self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GuardSet) and [*map(id, self)] == [*map(id, other)]


class ApplicableGuards(NamedTuple):
    """Those of a server's guards that are for one tool, and their numbers among all of them: which others apply as
    well may depend on what a call brings, and must not make one pass for another."""

    guards: GuardSet = GuardSet()
    numbers: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.guards)


class GuardScope(NamedTuple):
    """The guards that a call is under, wherever it gets to."""

    guards: GuardSet
    facts: ToolFacts = ToolFacts()
    within: str = ""
    """The tool whose body makes the call, if one does."""
    tool: object = None
    """The one that was asked about last: it is not asked about again further down in itself."""

    def join(self, inner: "GuardScope") -> "GuardScope":
        """This one's guards first, then those of `inner` that it does not have."""
        mine = {id(one) for one in self.guards}
        guards = GuardSet((*self.guards, *(one for one in inner.guards if id(one) not in mine)))
        seen = self.facts.add(inner.facts.names, None, inner.facts.arguments)
        return GuardScope(guards, seen, self.within)

    def select_guards(self, *, is_known: bool = True) -> ApplicableGuards:
        """Those that are for the tool that the call has come to; whatever it is called, where nobody knows it."""
        names = self.facts.names if is_known else (None,)
        hints, parameters = self.facts.merge_hints(), self.facts.arguments
        found = [
            (number, guard)
            for number, guard in enumerate(self.guards)
            if any(guard.is_for(name, annotations=hints, parameters=parameters) for name in names)
        ]
        return ApplicableGuards(GuardSet(guard for _, guard in found), tuple(number for number, _ in found))

    @property
    def label(self) -> str:
        """What the tool is called before the person and on record: as it is listed, and by whom it is called."""
        version = f" (version {self.facts.version})" if self.facts.version else ""
        name = f"{self.facts.names[0]}{version}"
        return f"{self.within} > {name}" if self.within else name

    def for_body_of(self, tool: object) -> "GuardScope":
        """For what the body of the tool calls by itself."""
        return GuardScope(self.guards, within=self.label, tool=tool)


GUARD_SCOPE: ContextVar[GuardScope | None] = ContextVar("askback_watch", default=None)
"""What the running code is under."""


@contextmanager
def enter_scope(watch: GuardScope) -> Generator[None]:
    token = GUARD_SCOPE.set(watch)
    try:
        yield
    finally:
        GUARD_SCOPE.reset(token)


def properties_of(schema: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The arguments of a tool, by the schema that it is listed with."""
    properties: object = (schema or {}).get("properties")
    return cast("Mapping[str, Any]", properties) if isinstance(properties, Mapping) else {}


def fill_defaults(arguments: Mapping[str, Any], schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """As they came, with the defaults that a tool is listed with: where nobody knows how it reads them itself."""
    listed = {
        name: cast("Any", one) for name, one in properties_of(schema).items() if isinstance(one, Mapping)
    }
    defaults = {name: one["default"] for name, one in listed.items() if "default" in one}
    return {**arguments, **{name: value for name, value in defaults.items() if name not in arguments}}


async def ask_and_run(
    applying: ApplicableGuards,
    tool: str,
    arguments: Mapping[str, Any],
    schema: Mapping[str, Any] | None,
    run: Callable[[Mapping[str, Any]], Awaitable[Any]],
) -> Any:
    """What `run(approved)` gives, of a tool of which only the schema is known. A guard without a name is on record
    under the tool's."""
    _require_listed(applying.guards, tool, frozenset(arguments) - properties_of(schema).keys())
    given = fill_defaults(arguments, schema)
    return await run_guarded(
        _named(applying.guards, tool), tool=tool, arguments=given, run=run, numbers=applying.numbers
    )


def _require_listed(guards: GuardSet, tool: str, unlisted: frozenset[str]) -> None:
    """What only the caller has thought of must not decide whether they are asked."""
    for guard in guards:
        if taken := guard.could_take(unlisted):
            raise NotApproved(
                tool=tool,
                outcome="refused",
                reason=f"It came with {min(taken)!r:.80}, which the tool is not listed with, and its guard would "
                "go by that.",
            )


@lru_cache(maxsize=CACHE_SIZE)
def wrap_function(
    body: Body, run: Run, applying: ApplicableGuards, tool: str, injected: frozenset[str]
) -> Body:
    """A function like `body`, which asks and then has `run(body, ...)` run it. What a host injects is no argument."""
    parameters, named = signature(body), _named(applying.guards, tool)

    @wraps(body)
    async def ask_first(*args: Any, **kwargs: Any) -> Any:
        bound = parameters.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = {name: value for name, value in bound.arguments.items() if name not in injected}

        async def go_on(approved: Mapping[str, Any]) -> Any:
            call = apply_changes(bound, approved)
            return await run(body, *call.args, **call.kwargs)

        return await run_guarded(named, tool=tool, arguments=arguments, run=go_on, numbers=applying.numbers)

    return ask_first


def _named(guards: GuardSet, tool: str) -> tuple[Guard, ...]:
    return tuple(guard if guard.name else replace(guard, name=tool[:MAX_NAME_LENGTH]) for guard in guards)
