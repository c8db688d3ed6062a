"""A Form and the FieldSet it shows. Frozen values, made by `schema.forms`, which refuses what cannot be asked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, ClassVar, Generic, Literal, TypeVar, cast

from askback.model.fields import Field

T_co = TypeVar("T_co", covariant=True)

SINGLE = "value"
"""The name of the only field where a bare type is asked for. No author chose it, so no person is shown it."""

Meanings = Mapping[str, Any]
"""The Python value behind each spelling of a choice."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FieldSet(Generic[T_co]):
    """The fields of a form in order, and how a checked reply becomes the author's value. Made by `fieldset_of`."""

    fields: Mapping[str, Field[Any]]
    required: frozenset[str] = frozenset()
    make: Callable[[dict[str, Any]], T_co]
    """Makes the author's value of content whose choices have their Python values; not called for a host's own form."""
    attributes: Mapping[str, str] | None = None
    """The author's own name of each field; None where a bare value is asked for."""
    meanings: Mapping[str, Meanings] = field(default_factory=dict[str, Meanings])
    """By field, for choices that are not plain texts."""
    nulls: tuple[str, ...] = ()
    """Fields whose value is None if they are left empty."""
    digest: str = ""
    title: str | None = None
    """Of the whole form, where its schema has one: some clients name what they make of the form by it."""
    verbatim: Mapping[str, Any] | None = None
    """The schema of a host's own call, as it was written. It is sent so, and replies go to the host as they come;
    without fields they are not checked."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to fill in: yes or no is the whole answer."""
        return self.verbatim is not None and not self.verbatim.get("properties")

    def build(self, content: Any) -> T_co:
        """The author's value of content that `read_content` has checked; a host may be sent no content at all.

        Raises pydantic's `ValidationError` if the author's own validators refuse the content.
        """
        if self.verbatim is not None:
            return content
        values = {**dict.fromkeys(self.nulls), **content}
        for name, meanings in self.meanings.items():
            if values.get(name) is not None:
                values[name] = python_values(values[name], meanings)
        return self.make(values)


def python_values(value: Any, meanings: Meanings) -> Any:
    """The Python values behind one choice or a list of them."""
    if isinstance(value, list):
        return [meanings[one] for one in cast("list[str]", value)]
    return meanings[value]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Form(Generic[T_co]):
    """A message and the fields below it. Made by `form_of`, which refuses what could not be shown."""

    mode: ClassVar[Literal["form"]] = "form"
    """What a client must be able to show for it."""
    message: str
    fieldset: FieldSet[T_co]
    meta: Mapping[str, Any] | None = None
    digest: str = field(default="", init=False, repr=False)
    """Stable name of the question, equal on every worker. `meta` is no part of it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", digest_of(self.message, under=self.fieldset.digest))


def digest_of(text: str, *, under: str = "") -> str:
    """A short name for a text, and for what it stands under."""
    return blake2b(f"{under}\0{text}".encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
