"""The arguments with which a function will run: their values as JSON, a digest of exactly these values, and the risk in
them."""

import inspect
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from hashlib import sha256
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from pathlib import PurePath
from types import ModuleType, NoneType
from typing import Any, NamedTuple, cast, get_args, get_origin, get_type_hints
from uuid import UUID

from pydantic import AnyUrl, BaseModel, SecretBytes, SecretStr
from pydantic.dataclasses import is_pydantic_dataclass
from pydantic_core import MultiHostUrl, Url, to_json

from askback.errors import AuthorError

Arguments = Mapping[str, Any]
"""Arguments by name, with defaults applied and without those that a host injects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskOption:
    """Another way to say yes."""

    value: str
    """One word, for the wire and the ledger: "limit"."""
    title: str
    """What it does, in words for the person: "Run it for at most 1,000 rows"."""
    change: Callable[[Arguments], Arguments]
    """Returns the changed arguments, given all of them; arguments that it leaves out stay as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """Why a person is asked."""

    message: str
    """The question. Web addresses in it are broken so that nobody can click them; the rest is shown as it is."""
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Facts for the ledger, as JSON."""
    options: tuple[RiskOption, ...] = ()
    covers: str | None = None
    """What a lasting approval covers, in words; by default the tool with these arguments, or with its key."""
    scope: str = ""
    """A digest of what else the question depends on, such as a catalogue. If it changes, approvals no longer hold."""
    yes: str | None = None
    """The label of a yes to this one run."""
    no: str | None = None


HOSTS = frozenset({"mcp", "fastmcp", "fastmcp_slim", "uncalled_for", "docket"})
"""Packages whose objects a host passes to a function by itself."""

INJECTED = frozenset({"Context", "Resolve", "Dependency"})
"""What those objects, their annotations or their defaults derive from."""

HIDDEN = "(hidden)"

MAX_DEPTH = 50
"""Levels of lists and objects; a person does not read deeper ones."""


class HiddenValue(NamedTuple):
    """A secret, which is not shown; its digest distinguishes it from others."""

    digest: str


class Parameters:
    """The parameters of a function; read once, when it is guarded."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.signature = inspect.signature(function)
        hints, is_method = _hints(function), _is_method(function)
        self.injected = frozenset(
            name
            for position, (name, parameter) in enumerate(self.signature.parameters.items())
            if (is_method and position == 0 and _is_object(parameter))
            or _is_injected(parameter, hints.get(name))
        )
        self.names = frozenset(self.signature.parameters) - self.injected

    def bind(self, *args: Any, **kwargs: Any) -> inspect.BoundArguments:
        """As Python would call it, defaults applied."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound

    def caller_arguments(self, bound: inspect.BoundArguments) -> dict[str, Any]:
        """The arguments that came from the caller, without those that a host injects."""
        return {name: value for name, value in bound.arguments.items() if name not in self.injected}


def digest_of(*values: Any) -> str:
    """A digest that is equal for equal values, on every worker."""
    return sha256(to_json([_digestible(to_plain(value)) for value in values])).hexdigest()


def to_plain(value: Any, *, depth: int = 0) -> Any:
    """A value as JSON would have it, with everything in it: also what a model leaves out when it is serialized."""
    if depth > MAX_DEPTH:
        raise AuthorError(
            f"An argument has more than {MAX_DEPTH} levels, and a person could not be shown it."
        )
    for kinds, written in _SIMPLE:
        if isinstance(value, kinds):
            return written(value)
    return _listed(value, depth + 1)


_ADDRESSES = (Url, MultiHostUrl, AnyUrl, IPv4Address, IPv6Address, IPv4Network, IPv6Network)

_SIMPLE: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (Enum, lambda member: to_plain(member.value)),
    ((NoneType, bool), lambda value: value),
    (int, int.__int__),
    (float, float.__float__),
    (str, str.__str__),
    (
        (SecretStr, SecretBytes),
        lambda secret: HiddenValue(digest_of([type(secret).__name__, secret.get_secret_value()])),
    ),
    ((bytes, bytearray), lambda given: b64encode(given).decode()),
    ((date, time), lambda moment: moment.isoformat()),
    ((timedelta, Decimal, Fraction, UUID, PurePath, *_ADDRESSES), str),
)
"""The first kind that fits is used. A subclass of a text or a number counts as that, whatever its own methods say."""


def _listed(value: Any, depth: int) -> Any:
    pairs = _pairs_of(value)
    if pairs is not None:
        listed = {_key(key): to_plain(one, depth=depth) for key, one in pairs}
        if len(listed) < len(pairs):
            raise AuthorError(
                f"A {type(value).__name__} among the arguments has something twice, under what would be shown as one "
                "name, so nothing ran."
            )
        return listed
    if isinstance(value, Set):
        return sorted((to_plain(one, depth=depth) for one in cast("Set[Any]", value)), key=repr)
    if isinstance(value, Sequence):
        return [to_plain(one, depth=depth) for one in cast("Sequence[Any]", value)]
    raise AuthorError(
        f"A guard cannot show an argument of type {type(value).__name__}, so nothing ran. Take plain values, dates, "
        "paths, dataclasses or pydantic models, or lists and dicts of them."
    )


def _pairs_of(value: Any) -> list[tuple[Any, Any]] | None:
    """Names and values of a model, dataclass or mapping, with those beyond its fields; None for other values."""
    if isinstance(value, BaseModel):
        return [*value.__dict__.items(), *(value.__pydantic_extra__ or {}).items()]
    if is_dataclass(value) and not isinstance(value, type):
        declared = [one.name for one in fields(value)]
        further: dict[str, Any] = getattr(value, "__dict__", {}) if is_pydantic_dataclass(type(value)) else {}
        return [(name, getattr(value, name)) for name in dict.fromkeys((*declared, *further))]
    return list(cast("Mapping[Any, Any]", value).items()) if isinstance(value, Mapping) else None


def _key(key: Any) -> str:
    kept = to_plain(key)
    if not isinstance(kept, str | int | float | bool | None):
        raise AuthorError(f"A guard cannot show a dict with keys of type {type(key).__name__}. Use texts.")
    return kept if isinstance(kept, str) else f"{type(kept).__name__} {kept}"


def _digestible(value: Any) -> Any:
    """No value may have the digest of another: a number of any size, half of a surrogate pair, a secret."""
    match value:
        case HiddenValue():
            return {"secret": value.digest}
        case str():
            return value.encode("utf-8", "surrogatepass").hex()
        case None | bool():
            return value
        case int() | float():
            return {type(value).__name__: repr(value)}
        case list():
            return [_digestible(one) for one in cast("list[Any]", value)]
        case dict():
            pairs = cast("dict[str, Any]", value).items()
            return {"dict": [[_digestible(key), _digestible(one)] for key, one in sorted(pairs)]}
        case _:
            return value


def _hints(function: Callable[..., Any]) -> Mapping[str, Any]:
    try:
        return get_type_hints(inspect.unwrap(function), include_extras=True)
    except Exception:  # noqa: BLE001 - names that exist only for the type checker; what is written is looked at then
        return {}


def _is_method(function: Callable[..., Any]) -> bool:
    """Whether it was written in a class, and is not bound to an object of it."""
    owner = str(getattr(function, "__qualname__", "")).rpartition(".")[0]
    return inspect.isfunction(function) and owner != "" and not owner.endswith("<locals>")


def _is_object(parameter: inspect.Parameter) -> bool:
    """Whether it is the object of a method. With an annotation, `cls` may be an argument that only has this name."""
    return parameter.name == "self" or (
        parameter.name == "cls" and parameter.annotation is inspect.Parameter.empty
    )


def _is_injected(parameter: inspect.Parameter, hint: Any) -> bool:
    if _derives_from_host(parameter.default):
        return True
    annotation = parameter.annotation if hint is None else hint
    if isinstance(annotation, str):  # it could not be looked up
        return annotation.partition("[")[0].rpartition(".")[2] == "Context"
    return any(_derives_from_host(one) for one in _parts(annotation))


def _parts(annotation: Any) -> Iterator[Any]:
    """An annotation and its parts: `Context | None`, `Annotated[str, Resolve(...)]`."""
    yield annotation
    origin = get_origin(annotation)
    if origin is not None:
        yield origin
        yield from get_args(annotation)


def _derives_from_host(thing: Any) -> bool:
    if thing is inspect.Parameter.empty or isinstance(thing, ModuleType):
        return False
    kind = thing if isinstance(thing, type) else type(thing)
    return any(one.__name__ in INJECTED and one.__module__.partition(".")[0] in HOSTS for one in kind.__mro__)


def apply_changes(bound: inspect.BoundArguments, arguments: Arguments) -> inspect.BoundArguments:
    """Put the approved arguments into a call."""
    strange = set(arguments) - set(bound.arguments)
    if strange:
        raise AuthorError(
            f"An option of a guard would run the function with {min(strange)!r}, which it does not take. "
            "Change its own arguments alone."
        )
    bound.arguments.update(arguments)
    return bound
