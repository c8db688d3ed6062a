"""Secret values: a body uses them by calling a method, and nothing prints them or writes them down."""

import hmac
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, SupportsIndex

from pydantic_core import SchemaSerializer, core_schema

from askback.errors import AuthorError
from askback.runtime.current import verb

Reject = Callable[[str], Awaitable[None]]
"""What takes a value out of the vault, with the reason to show when it is asked for again."""


def _not_written(value: "Hidden") -> NoReturn:
    value._refuse("written down or sent, as a field, an argument or a result")  # pyright: ignore[reportPrivateUsage] # below


_REFUSING = SchemaSerializer(
    core_schema.any_schema(serialization=core_schema.plain_serializer_function_ser_schema(_not_written))
)
"""What pydantic asks of a value it does not know, before it would fall back on `str`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretField:
    """One field of a page for secrets."""

    label: str
    hint: str = ""
    hidden: bool = True
    """Whether it is covered while it is typed; a user name need not be, and several lines cannot be."""
    lines: bool = False
    """Whether it has several lines, as a PEM key does; they come out as they were pasted, each ending in a newline."""


class Hidden:
    """Base of `Secret` and `Token`: `repr` and `str` hide the value, and serializers are refused."""

    __slots__ = ("_reject", "_values", "name")

    __pydantic_serializer__: ClassVar[SchemaSerializer] = _REFUSING

    def __init__(self, name: str, values: Mapping[str, str], *, reject: Reject) -> None:
        self.name = name
        self._values = dict(values)
        self._reject = reject

    @verb
    async def reject(self, reason: str = "") -> None:
        """Say that it was wrong: it is forgotten, and asked for again the next time, with this reason."""
        await self._reject(reason)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}, hidden>"

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __eq__(self, other: object) -> bool:
        """By value, in a time that tells nothing of it."""
        if type(other) is not type(self):
            return False
        return self.name == other.name and hmac.compare_digest(_joined(self._values), _joined(other._values))

    def __hash__(self) -> int:
        """Hash of the name alone: hashes are printed and stored without care."""
        return hash((type(self), self.name))

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        self._refuse("pickled or copied")

    def __getstate__(self) -> NoReturn:
        self._refuse("taken apart")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> NoReturn:
        raise AuthorError(
            f"A {cls.__name__} cannot be a field, an argument or a result: whatever is in those is written down and "
            "sent. Use it in the body, and give back what it was good for."
        )

    def _refuse(self, what: str) -> NoReturn:
        raise AuthorError(
            f"The {type(self).__name__.lower()} {self.name!r} cannot be {what}. Use it where it is, with reveal()."
        )


class Secret(Hidden):
    """What a person typed on a page of ours."""

    __slots__ = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of what was typed, in the order of the page."""
        return tuple(self._values)

    def reveal(self, field: str | None = None) -> str:
        """The value itself; with several fields, of the one that is named."""
        if field is None and len(self._values) == 1:
            return next(iter(self._values.values()))
        if field is None or field not in self._values:
            raise AuthorError(
                f"The secret {self.name!r} has no field {field!r}. Name one of these: {_listed(self._values)}."
            )
        return self._values[field]


class Token(Hidden):
    """An access token of another service, good for now: call `connect(...)` again rather than keep it."""

    __slots__ = ("expires_at", "scopes")

    def __init__(
        self, name: str, access_token: str, *, scopes: Iterable[str], expires_at: float | None, reject: Reject
    ) -> None:
        super().__init__(name, {"access_token": access_token}, reject=reject)
        self.scopes = frozenset(scopes)
        self.expires_at = expires_at
        """Seconds since the epoch; None where its issuer did not say."""

    def reveal(self) -> str:
        """The token itself, for an `Authorization` header."""
        return self._values["access_token"]


def _joined(values: Mapping[str, str]) -> bytes:
    return repr(sorted(values.items())).encode("utf-8", "surrogatepass")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))
