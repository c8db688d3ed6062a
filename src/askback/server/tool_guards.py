"""Guards for a whole server: which of them apply to a call, and how they ask before its tool runs.

Knows no host: the adapters find the place where a tool is about to run, and give the arguments that it will get.
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
"""Functions that are kept with guards around them. FastMCP keeps as many of its own type adapters."""

READ_ONLY = "readOnlyHint"
"""The one hint that says a tool is harmless."""

Body = Callable[..., Any]
Run = Callable[..., Awaitable[Any]]


class ToolFacts(NamedTuple):
    """Names, hints and arguments of the tool of a call, and of every tool that passed the call on to it.

    A tool may be mounted under another name, or transformed. All its names count, so that it does not escape a guard
    under one of them.
    """

    names: tuple[str, ...] = ()
    annotations: tuple[ToolAnnotations, ...] = ()
    arguments: frozenset[str] = frozenset()
    version: str = ""
    """The version of the tool, if its host has several of one name: an approval of one is not for another."""

    def add(
        self, names: Iterable[str], annotations: ToolAnnotations | None, arguments: Iterable[str]
    ) -> "ToolFacts":
        """With the facts of the next tool on the way."""
        stated = () if annotations is None else (annotations,)
        return self._replace(
            names=tuple(dict.fromkeys((*self.names, *names))),
            annotations=(*self.annotations, *stated),
            arguments=self.arguments.union(arguments),
        )

    def add_arguments(self, arguments: Iterable[str]) -> "ToolFacts":
        """With the arguments of the call, which may be more than the tool is listed with."""
        return self._replace(arguments=self.arguments.union(arguments))

    def merge_hints(self) -> dict[str, bool]:
        """The hints that are stated. If two statements differ, the one counts that makes guards ask."""
        dumped = [one.model_dump(by_alias=True, exclude_none=True) for one in self.annotations]
        stated = {hint: {bool(one[hint]) for one in dumped if hint in one} for hint in HINTS}
        return {
            hint: all(values) if hint == READ_ONLY else any(values)
            for hint, values in stated.items()
            if values
        }


class GuardSet(tuple[Guard, ...]):
    """Guards in their order. Compared by identity, since a guard may hold values that cannot be compared."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(tuple(map(id, self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GuardSet) and [*map(id, self)] == [*map(id, other)]


class ApplicableGuards(NamedTuple):
    """The guards of a server that apply to one tool, with their numbers among all of its guards.

    Which guards apply may depend on the arguments, and must not make the approval of one count for another.
    """

    guards: GuardSet = GuardSet()
    numbers: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.guards)


class GuardScope(NamedTuple):
    """The guards that apply to a call, wherever it is passed on to."""

    guards: GuardSet
    facts: ToolFacts = ToolFacts()
    within: str = ""
    """The tool whose body makes the call. Empty for a call of the client."""
    tool: object = None
    """The tool that was asked about last. It is not asked about again when it calls its own class."""

    def join(self, inner: "GuardScope") -> "GuardScope":
        """The guards of this scope first, then those of `inner` that it does not have."""
        mine = {id(one) for one in self.guards}
        guards = GuardSet((*self.guards, *(one for one in inner.guards if id(one) not in mine)))
        seen = self.facts.add(inner.facts.names, None, inner.facts.arguments)
        return GuardScope(guards, seen, self.within)

    def select_guards(self, *, is_known: bool = True) -> ApplicableGuards:
        """The guards for the tool that the call has come to. For an unknown tool, guards of any name apply."""
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
        """The name of the tool for the person and the ledger: as it is listed, behind the tool that calls it."""
        version = f" (version {self.facts.version})" if self.facts.version else ""
        name = f"{self.facts.names[0]}{version}"
        return f"{self.within} > {name}" if self.within else name

    def for_body_of(self, tool: object) -> "GuardScope":
        """The scope for calls that the body of the tool makes."""
        return GuardScope(self.guards, within=self.label, tool=tool)


GUARD_SCOPE: ContextVar[GuardScope | None] = ContextVar("askback_guard_scope", default=None)
"""The scope of the running code."""


@contextmanager
def enter_scope(scope: GuardScope) -> Generator[None]:
    token = GUARD_SCOPE.set(scope)
    try:
        yield
    finally:
        GUARD_SCOPE.reset(token)


def properties_of(schema: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The arguments of a tool in the schema that it is listed with."""
    properties: object = (schema or {}).get("properties")
    return cast("Mapping[str, Any]", properties) if isinstance(properties, Mapping) else {}


def fill_defaults(arguments: Mapping[str, Any], schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Arguments with the defaults of the listed schema, for a tool that reads them in an unknown way."""
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
    """Ask, and give what `run(approved)` gives, for a tool with nothing known but its schema.

    The ledger has a guard without a name under the name of the tool.
    """
    _require_listed(applying.guards, tool, frozenset(arguments) - properties_of(schema).keys())
    given = fill_defaults(arguments, schema)
    return await run_guarded(
        _named(applying.guards, tool), tool=tool, arguments=given, run=run, numbers=applying.numbers
    )


def _require_listed(guards: GuardSet, tool: str, unlisted: frozenset[str]) -> None:
    """An argument that the tool is not listed with must not decide whether a guard asks."""
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
    """A function like `body` that asks and then has `run(body, ...)` run it. Guards see no injected parameters."""
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
