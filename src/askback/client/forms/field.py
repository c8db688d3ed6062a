"""Which Field a stranger's property is, with the limits that can be kept, and what fits it in a few of our own words.

Tolerant: a limit that makes no sense is dropped. A `pattern` is shown and never compiled; an unknown `format` is text.
"""

import dataclasses
from collections.abc import Callable, Mapping
from functools import partial
from math import ceil, floor
from typing import Any, Final, cast

from askback.client.forms.form import MAX_TYPED_LENGTH, UNSAFE_INTEGER, is_masked
from askback.client.forms.property import Json, OptionList, Unshowable, offer_of, resolve_property
from askback.errors import QuestionRefused
from askback.model.question import (
    Boolean,
    Choice,
    Choices,
    Date,
    DateTime,
    Email,
    Field,
    Integer,
    Number,
    Text,
    Url,
)
from askback.model.safe import quote_safely
from askback.schema.keywords import KINDS, FieldEntry, is_number
from askback.schema.rules import examine_entries


def describe_field(field: Field[Any]) -> str:
    """For example "whole number, 0 to 20"."""
    say = next(_DESCRIPTIONS[kind] for kind in type(field).__mro__ if kind in _DESCRIPTIONS)
    return say(field)


def _describe_text(what: str, field: Text) -> str:
    count = _describe_range(field.min_length, field.max_length)
    last = field.min_length if field.max_length is None else field.max_length
    return f"{what}, {count} {'character' if last == 1 else 'characters'}" if count else what


def _describe_range(least: float | None, most: float | None) -> str:
    match least, most:
        case None, None:
            return ""
        case _, None:
            return f"at least {least}"
        case None, _:
            return f"at most {most}"
        case _:
            return f"exactly {least}" if least == most else f"{least} to {most}"


def _describe_number(what: str, field: Number | Integer) -> str:
    above, below = (field.above, field.below) if isinstance(field, Number) else (None, None)
    parts = [
        what,
        _describe_range(field.minimum, field.maximum),
        f"more than {above}" if above is not None else "",
        f"less than {below}" if below is not None else "",
        f"a multiple of {field.multiple_of}" if field.multiple_of is not None else "",
    ]
    return ", ".join(filter(None, parts))


def _describe_choices(field: Choices) -> str:
    least, most = field.least or None, field.most
    count = _describe_range(least, most if most is None or most < len(field.options) else None)
    return f"{count or 'any'} of {len(field.options)}"


_DESCRIPTIONS: Final[Mapping[type[Field[Any]], Callable[[Any], str]]] = {
    Email: partial(_describe_text, "email address, like name@example.org"),
    Url: partial(_describe_text, "complete web address, like https://example.org/"),
    Text: partial(_describe_text, "text"),
    Date: lambda _: "date, like 2026-11-15",
    DateTime: lambda _: "date and time with its offset, like 2026-11-15T18:30:00+01:00",
    Number: partial(_describe_number, "number"),
    Integer: partial(_describe_number, "whole number"),
    Boolean: lambda _: "yes or no",
    Choice: lambda field: f"one of {len(field.options)}",
    Choices: _describe_choices,
}


_MAX_QUOTED: Final = 60
"""Characters of a format's name or a pattern: a hint, not a lesson."""

_NOTHING_FITS: Final = "nothing can fit its own limits"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ReadField:
    """A field without its words; `notes` say in our words what of the server's wishes was read otherwise."""

    field: Field[Any]
    meanings: Mapping[str, Any] = dataclasses.field(default_factory=dict[str, Any])
    notes: tuple[str, ...] = ()


def shape_of(whole: Json, definitions: Mapping[str, Any]) -> ReadField:
    """The field behind the keywords; Unshowable where a form has none for them."""
    if whole.get("type") == "array":
        return _several(whole, definitions)
    offer = offer_of(whole, definitions)
    if offer is not None:
        return ReadField(field=Choice(offer.options), meanings=offer.meanings, notes=_skipped(offer))
    return _typed(whole)


def _typed(whole: Json) -> ReadField:
    kind = whole.get("type", "string" if "properties" not in whole and "items" not in whole else "object")
    if kind == "string":
        made = KINDS.get((kind, _name(whole.get("format"))), Text)
        return ReadField(field=_limited_text(made, whole), notes=tuple(_hints(made, whole)))
    if not isinstance(kind, str) or (kind, None) not in KINDS:
        raise Unshowable(_WHY_NOT.get(str(kind)[:20], "it is of a type that forms do not have"))
    made = KINDS[kind, None]
    if made is Number:
        return ReadField(field=_number(whole))
    return ReadField(field=_integer(whole) if made is Integer else made())


_WHY_NOT: Final = {
    "object": "it is a form inside the form",
    "null": "it can only be empty",
}


def _name(given: Any) -> str | None:
    return given if type(given) is str and given else None


def _hints(made: type[Field[Any]], whole: Json) -> list[str]:
    hints: list[str] = []
    named, pattern = _name(whole.get("format")), whole.get("pattern")
    if named is not None and made is Text and not is_masked(named):
        hints.append(f"the server calls it {quote_safely(named, _MAX_QUOTED)}, which is not checked here")
    if type(pattern) is str and pattern:
        hints.append(f"the server may check it against {quote_safely(pattern, _MAX_QUOTED)}")
    return hints


def _limited_text(made: type[Field[Any]], whole: Json) -> Field[Any]:
    if not issubclass(made, Text):
        return made()
    least, most = _count(whole.get("minLength")), _count(whole.get("maxLength"))
    if most == 0 or (least or 0) > min(MAX_TYPED_LENGTH, MAX_TYPED_LENGTH if most is None else most):
        raise Unshowable(_NOTHING_FITS)
    return made(min_length=least or None, max_length=most)


def _count(value: Any) -> int | None:
    if type(value) is float and value.is_integer():
        value = int(value)
    return value if type(value) is int and value >= 0 else None


def _bound(whole: Json, keyword: str) -> float | None:
    value = whole.get(keyword)
    is_small = type(value) is float or (type(value) is int and value.bit_length() < 1_024)
    return value if is_small and is_number(value) else None


def _number(whole: Json) -> Field[Any]:
    limits: dict[str, Any] = {name: _bound(whole, keyword) for name, keyword in Number.limits.items()}
    return _roomy(Number(**{**limits, "multiple_of": _step(limits["multiple_of"])}))


def _integer(whole: Json) -> Field[Any]:
    """With bounds inside what every reader of JSON takes for the same number."""
    least, above = _bound(whole, "minimum"), _bound(whole, "exclusiveMinimum")
    most, below = _bound(whole, "maximum"), _bound(whole, "exclusiveMaximum")
    lower = [None if least is None else ceil(least), None if above is None else floor(above) + 1]
    upper = [None if most is None else floor(most), None if below is None else ceil(below) - 1]
    step = _step(_bound(whole, "multipleOf"))
    return _roomy(
        Integer(
            minimum=max((bound for bound in lower if bound is not None), default=None),
            maximum=min((bound for bound in upper if bound is not None), default=None),
            multiple_of=int(step) if step is not None and step == int(step) else None,
        )
    )


def _step(step: Any) -> Any:
    return step if step is not None and step > 0 else None


def within_reach(whole: Integer) -> Integer:
    """Limit a field to numbers that every reader of JSON takes for the same number."""
    least, most = whole.minimum, whole.maximum
    return whole.altered(
        minimum=max(least if least is not None else -UNSAFE_INTEGER, 1 - UNSAFE_INTEGER),
        maximum=min(most if most is not None else UNSAFE_INTEGER, UNSAFE_INTEGER - 1),
    )


def _roomy(made: Number | Integer) -> Field[Any]:
    tried = within_reach(made) if isinstance(made, Integer) else made
    try:
        examine_entries({"number": FieldEntry(field=tried)})
    except QuestionRefused as error:
        raise Unshowable(_NOTHING_FITS) from error
    return made


def _several(whole: Json, definitions: Mapping[str, Any]) -> ReadField:
    items = whole.get("items")
    offer = (
        offer_of(resolve_property(cast("Any", items), definitions), definitions)
        if type(items) is dict
        else None
    )
    if offer is None:
        raise Unshowable("it is a list of anything, and a form has only lists of choices")
    if offer.meanings:
        raise Unshowable("its options are not texts, and several choices can be sent only as texts")
    least, most = _count(whole.get("minItems")), _count(whole.get("maxItems"))
    if (least or 0) > min(len(offer.options), len(offer.options) if most is None else most):
        raise Unshowable(_NOTHING_FITS)
    return ReadField(field=Choices(offer.options, least=least, most=most), notes=_skipped(offer))


def _skipped(offer: OptionList) -> tuple[str, ...]:
    if not offer.skipped:
        return ()
    return (f"{offer.skipped} of its options cannot be shown or repeat others",)
