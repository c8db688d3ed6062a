"""The fields of a form: frozen values that know how JSON Schema writes them, also as the annotation of a type.

`keywords()` gives the whole field, with the constraints that are never sent. `schema.rules` says which fields can be
asked, `schema.dialect` what a client is sent, `schema.validation` which values fit.
"""

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Self, TypeVar, cast

from askback.errors.questions import require

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic_core import CoreSchema

T = TypeVar("T")

Json = dict[str, Any]

CLASS_NOTES = "askback-class-notes"
"""The key for the title and description that only the name and docstring of a class gave."""

_CHOOSING = frozenset({"enum", "enumNames", "const", "oneOf", "anyOf", "items"})
_NULL: Json = {"type": "null"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field(Generic[T]):
    """What all fields have. Required, unless `optional` or given a `default`.

    `not_a_secret` is the author's reason why a field whose name sounds like a secret does not ask for one. Also an
    annotation: `Annotated[str, Text(not_a_secret="...")]`.
    """

    shape: ClassVar[Mapping[str, str]] = {}
    limits: ClassVar[Mapping[str, str]] = {}
    is_typed: ClassVar[bool] = True

    title: str | None = None
    description: str | None = None
    optional: bool = False
    default: Any = None
    not_a_secret: str | None = None

    def keywords(self) -> Json:
        """The field in JSON Schema, in full."""
        named = {"title": self.title, "description": self.description}
        limits = {keyword: getattr(self, name) for name, keyword in self.limits.items()}
        said = {"default": spelled(self.default), "notASecret": self.not_a_secret}
        whole = {**self.shape, **named, **self.choices(), **limits, **said}
        return {keyword: value for keyword, value in whole.items() if value is not None}

    def choices(self) -> Json:
        """The keywords that list the options."""
        return {}

    def altered(self, **changes: Any) -> Self:
        """A copy of the field with other values for some attributes."""
        other = copy(self)  # not replace(), which would give a set that is the default an order of its own
        _set(other, **changes)
        return other

    def __get_pydantic_json_schema__(
        self, core_schema: "CoreSchema", handler: "GetJsonSchemaHandler"
    ) -> Json:
        require(
            not self.optional,
            problem=f"{type(self).__name__}(optional=True) annotates a type, which says itself what may be absent",
            instead="leave optional=True out and write `... | None = None`",
        )
        plain = handler.resolve_ref_schema(handler(core_schema))
        return overlay_schema(plain, self.keywords(), handler.resolve_ref_schema)


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Field[str]):
    """Free text. The `pattern` is searched for on the server, in linear time, and never sent."""

    shape: ClassVar[Mapping[str, str]] = {"type": "string"}
    limits: ClassVar[Mapping[str, str]] = {
        "min_length": "minLength",
        "max_length": "maxLength",
        "pattern": "pattern",
    }

    default: str | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Email(Text):
    """An email address, as text."""

    shape: ClassVar[Mapping[str, str]] = {"type": "string", "format": "email"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Url(Text):
    """An absolute URI of any scheme, as text: still untrusted."""

    shape: ClassVar[Mapping[str, str]] = {"type": "string", "format": "uri"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Date(Field[date]):
    """A day."""

    shape: ClassVar[Mapping[str, str]] = {"type": "string", "format": "date"}

    default: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DateTime(Field[datetime]):
    """A moment, always with its offset from UTC."""

    shape: ClassVar[Mapping[str, str]] = {"type": "string", "format": "date-time"}

    default: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Number(Field[float]):
    """A number. `above`, `below` and `multiple_of` are checked on the server; clients have no words for them."""

    shape: ClassVar[Mapping[str, str]] = {"type": "number"}
    limits: ClassVar[Mapping[str, str]] = {
        "minimum": "minimum",
        "maximum": "maximum",
        "above": "exclusiveMinimum",
        "below": "exclusiveMaximum",
        "multiple_of": "multipleOf",
    }

    default: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    below: float | None = None
    multiple_of: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Integer(Field[int]):
    """A whole number."""

    shape: ClassVar[Mapping[str, str]] = {"type": "integer"}
    limits: ClassVar[Mapping[str, str]] = {
        "minimum": "minimum",
        "maximum": "maximum",
        "multiple_of": "multipleOf",
    }

    default: int | None = None
    minimum: int | None = None
    maximum: int | None = None
    multiple_of: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Boolean(Field[bool]):
    """Yes or no."""

    shape: ClassVar[Mapping[str, str]] = {"type": "boolean"}
    is_typed: ClassVar[bool] = False

    default: bool | None = None


class Option(NamedTuple):
    """One option: the value that is sent, and the title that is shown instead of it, if any."""

    value: str
    title: str | None = None

    @property
    def shown(self) -> str:
        """What the person reads."""
        return self.value if self.title is None else self.title


Options = Iterable[str | Option] | Mapping[str, str]


@dataclass(frozen=True, slots=True, init=False)
class Choice(Field[str]):
    """One of several: a list of values, or `{value: title}`.

    `enum_names` sends the titles in the older spelling on every revision, for clients that know no other.
    """

    shape: ClassVar[Mapping[str, str]] = {"type": "string"}
    is_typed: ClassVar[bool] = False

    default: str | None = None
    options: tuple[Option, ...] = ()
    enum_names: bool = False

    def __init__(
        self,
        options: Options,
        /,
        *,
        enum_names: bool = False,
        title: str | None = None,
        description: str | None = None,
        optional: bool = False,
        default: str | None = None,
        not_a_secret: str | None = None,
    ) -> None:
        _set(
            self,
            title=title,
            description=description,
            optional=optional,
            default=default,
            not_a_secret=not_a_secret,
            options=_options(options),
            enum_names=enum_names,
        )

    def choices(self) -> Json:
        if self.enum_names:
            values, titles = [one.value for one in self.options], [one.shown for one in self.options]
            return {"enum": values, "enumNames": titles}
        return _choices(self.options, titled="oneOf")


@dataclass(frozen=True, slots=True, init=False)
class Choices(Field[list[str]]):
    """Several of several, each at most once."""

    shape: ClassVar[Mapping[str, str]] = {"type": "array"}
    limits: ClassVar[Mapping[str, str]] = {"least": "minItems", "most": "maxItems"}
    is_typed: ClassVar[bool] = False

    default: tuple[str, ...] | None = None
    options: tuple[Option, ...] = ()
    least: int | None = None
    most: int | None = None

    def __init__(
        self,
        options: Options,
        /,
        *,
        least: int | None = None,
        most: int | None = None,
        title: str | None = None,
        description: str | None = None,
        optional: bool = False,
        default: Iterable[str] | None = None,
        not_a_secret: str | None = None,
    ) -> None:
        _set(
            self,
            title=title,
            description=description,
            optional=optional,
            default=None if default is None else _listed(default),
            not_a_secret=not_a_secret,
            options=_options(options),
            least=least,
            most=most,
        )

    def choices(self) -> Json:
        listed = _choices(self.options, titled="anyOf")
        return {"items": {"type": "string", **listed} if "enum" in listed else listed}


def spelled(value: Any) -> Any:
    """A default as JSON writes it."""
    match value:
        case date():
            return value.isoformat()
        case tuple():
            return list(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] of anything
        case _:
            return value


def _set(field: Field[Any], **attributes: Any) -> None:
    for name, value in attributes.items():
        object.__setattr__(field, name, value)


def _options(options: Options) -> tuple[Option, ...]:
    if isinstance(options, Mapping):
        titles = cast("Mapping[str, str]", options)
        return tuple(Option(value, title) for value, title in titles.items())
    return tuple(one if isinstance(one, Option) else Option(one) for one in _listed(options))


def _listed(values: Iterable[T]) -> tuple[T, ...]:
    require(
        not isinstance(values, str),
        problem=f"{values!r} is one text where a list is meant",
        instead=f"write [{values!r}]",
    )
    return tuple(values)


def _choices(options: tuple[Option, ...], *, titled: str) -> Json:
    if all(option.title is None for option in options):
        return {"enum": [option.value for option in options]}
    return {titled: [{"const": option.value, "title": option.shown} for option in options]}


# A field as the annotation of a type


def overlay_schema(plain: Json, own: Json, resolve: Callable[[Json], Json]) -> Json:
    """The schema of a type with the field's keywords over it; what only the type knows stays."""
    if _NULL in plain.get("anyOf", ()):
        inner = next(branch for branch in plain["anyOf"] if branch != _NULL)
        return {**plain, "anyOf": [overlay_schema(resolve(inner), own, resolve), _NULL]}
    kind = None if "enum" in plain or "const" in plain else plain.get("type")
    require(
        kind in {None, own["type"]} or (own["type"], kind) == ("integer", "number"),
        problem=f"a type that JSON Schema calls {kind!r} is annotated with a field for {own['type']!r}",
        instead="annotate str with Text or Choice, int with Integer, float with Number, list[str] with Choices",
    )
    plain = without_class_notes(plain)
    if "items" in own:
        items = _without_choices(resolve(plain.get("items", {})))
        own = {**own, "items": {**items, **own["items"]}}
    return {**(_without_choices(plain) if _CHOOSING & own.keys() else plain), **own}


def without_class_notes(plain: Json) -> Json:
    """A schema without the notes that are for readers of the code, not for the person who is asked."""
    notes = plain.get(CLASS_NOTES, {})
    return {
        keyword: value
        for keyword, value in plain.items()
        if keyword != CLASS_NOTES and (keyword not in notes or value != notes[keyword])
    }


def _without_choices(plain: Json) -> Json:
    return {keyword: value for keyword, value in plain.items() if keyword not in _CHOOSING}
