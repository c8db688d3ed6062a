"""A fieldset for a list of options, or for a `{value: title}`: by the same road as a `Literal` an author wrote."""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Annotated, Any, Literal, cast

from askback.errors import QuestionRefused
from askback.model.question import Choice, Choices, FieldSet
from askback.schema.forms import fieldset_of


def fieldset_of_options(
    options: Mapping[Any, str] | Iterable[Any], *, multiple: bool, least: int | None, most: int | None
) -> FieldSet[Any]:
    """One of the options, or a list of them."""
    values = _values(options)
    titles = cast("Mapping[Any, str]", options) if isinstance(options, Mapping) else None
    spelled = [_spelled(value) for value in values]
    if len(set(spelled)) < len(spelled):
        raise QuestionRefused(
            field=None, problem=f"{options!r} offers the same option twice", instead="name each option once"
        )
    named = spelled if titles is None else dict(zip(spelled, titles.values(), strict=True))
    one: Any = Literal[values]
    if multiple:
        several: Any = Annotated[list[one], Choices(named, least=least, most=most)]
        return fieldset_of(several)
    _refuse_bounds(least, most)
    titled: Any = one if titles is None else Annotated[one, Choice(named)]
    return fieldset_of(titled)


def _values(options: Mapping[Any, str] | Iterable[Any]) -> tuple[Any, ...]:
    values = () if isinstance(options, str) else tuple(options)
    if not values or not all(isinstance(value, str | int | Enum) for value in values):
        raise QuestionRefused(
            field=None,
            problem=f"{options!r} is not a list of options",
            instead="give a list of strings, whole numbers or Enum members, or a dict of them with their titles",
        )
    return values


def _spelled(value: Any) -> str:
    if isinstance(value, Enum):
        return value.value if isinstance(value.value, str) else value.name
    return str(value)


def _refuse_bounds(least: int | None, most: int | None) -> None:
    if least is not None or most is not None:
        raise QuestionRefused(
            field=None,
            problem="least and most bound how many are chosen, and here one is",
            instead="say multiple=True, or leave them out",
        )
