"""A Form and the FieldSet of fields it shows. Frozen values, made by `schema.read`, which refuses what cannot be asked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Generic, TypeVar

from askback.model.fields import Field

T_co = TypeVar("T_co", covariant=True)

SINGLE = "value"
"""The name of the only field where a bare type is asked for. Nobody chose it, so nobody should be shown it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FieldSet(Generic[T_co]):
    """The fields of a form in their order, and how a checked reply becomes the author's value. Made by `fieldset_of`.

    `build` takes content that `read_content` has checked; what the author's own validators refuse there comes out as
    pydantic's `ValidationError`.
    """

    fields: Mapping[str, Field[Any]]
    required: frozenset[str]
    build: Callable[[Mapping[str, Any]], T_co]
    refill: Callable[["FieldSet[Any]", object], "FieldSet[Any]"] = field(repr=False)
    digest: str
    title: str | None = None
    """Of the whole form, where its schema has one: some clients name what they make of the form by it."""
    verbatim: Mapping[str, Any] | None = None
    """The schema of a host's own call, as it was written. It is sent so, and replies go to the host as they come;
    without fields they are not checked."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to fill in: yes or no is the whole answer."""
        return self.verbatim is not None and not self.verbatim.get("properties")

    def with_initial(self, values: object) -> "FieldSet[T_co]":
        """The fieldset with this call's defaults: a mapping by name, an instance, or the bare value of a single field."""
        return self.refill(self, values)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Form(Generic[T_co]):
    """A message and the fieldset below it. Made by `form_of`, which refuses what could not be shown."""

    message: str
    fieldset: FieldSet[T_co]
    meta: Mapping[str, Any] | None = None
    digest: str = field(default="", init=False, repr=False)
    """The same for the same question on every worker; `meta` is not part of what is asked."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", digest_of(self.message, under=self.fieldset.digest))


def digest_of(text: str, *, under: str = "") -> str:
    """A short name for a text, and for what it stands under."""
    return blake2b(f"{under}\0{text}".encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
