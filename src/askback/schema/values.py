"""Python values and how the wire spells them, both ways. Knows fields; does not judge whether a value fits."""

from collections.abc import Sequence, Set
from datetime import date
from enum import Enum
from typing import Any, cast

from pydantic import AnyUrl

from askback.model.form import Meanings
from askback.model.question import Choice, Choices, Date, DateTime, Field
from askback.schema.formats import as_date, as_date_time

NO_MEANINGS: Meanings = {}


def to_wire(field: Field[Any], value: Any, meanings: Meanings = NO_MEANINGS) -> Any:
    """The value as the wire spells it; one that the field has no spelling for comes back as it is, and will not fit."""
    if isinstance(field, Choice):
        return _option(value, meanings)
    if isinstance(field, Choices):
        return _several(field, value, meanings)
    return _plain(value)


def _plain(value: Any) -> Any:
    match value:
        case bool():
            return value
        case date():
            return value.isoformat()
        case AnyUrl():
            return str(value)
        case str():
            return str.__str__(value)
        case int():
            return int(value)
        case _:
            return value


def _option(value: Any, meanings: Meanings) -> Any:
    for spelling, meaning in meanings.items():
        if _is_same(meaning, value) or (isinstance(meaning, Enum) and _is_same(meaning.value, value)):
            return spelling
    return _plain(value)


def _is_same(one: object, other: object) -> bool:
    # True == 1, and an IntEnum equals its number: those are different options.
    return type(one) is type(other) and one == other


def _several(field: Choices, value: Any, meanings: Meanings) -> Any:
    if isinstance(value, str) or not isinstance(value, Sequence | Set):
        return value
    spellings = [_option(one, meanings) for one in cast("Sequence[Any] | Set[Any]", value)]
    if isinstance(value, Set):
        order = {option.value: place for place, option in enumerate(field.options)}
        spellings.sort(key=lambda spelling: order.get(spelling, len(order)))
    return spellings


def from_wire(field: Field[Any], value: Any) -> Any:
    """What a field's own type makes of content that fits."""
    match field:
        case _ if value is None:
            return None
        case Date():
            return as_date(value)
        case DateTime():
            return as_date_time(value)
        case Choices():
            return list(value)
        case _:
            return value


def as_default(field: Field[Any], value: Any) -> Any:
    """A value of content that fits, frozen as a field has its default."""
    return tuple(value) if isinstance(field, Choices) else from_wire(field, value)
