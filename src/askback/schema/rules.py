"""What a form may hold, whichever way it was written. Each refusal names the field and what to write instead."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from askback.errors import QuestionRefused, SecretInForm
from askback.model.question import (
    Boolean,
    Choice,
    Choices,
    Date,
    DateTime,
    Field,
    Integer,
    Number,
    Option,
    Text,
)
from askback.model.texts import Problem, Words
from askback.schema.checks import Check, check_of, matcher_of
from askback.schema.dialect import folded_name
from askback.schema.formats import is_readable
from askback.schema.keywords import FieldEntry, is_number
from askback.schema.secret_lint import suspect_field
from askback.schema.values import as_default, to_wire

_URL = re.compile(r"https?://", re.IGNORECASE)

MAX_FIELDS, MAX_OPTIONS = 100, 1_000
"""More than anybody fills in or scrolls through at one go."""

MAX_LABEL_LENGTH, MAX_DESCRIPTION_LENGTH = 500, 5_000
"""Characters of a name, title or option, and of a description."""

_ADVISE = Words()


def examine_entries(entries: Mapping[str, FieldEntry]) -> dict[str, FieldEntry]:
    """The same entries with their defaults in the field's own type; QuestionRefused where one cannot be asked."""
    if not entries:
        raise QuestionRefused(
            field=None,
            problem="the form is empty",
            instead="ask for at least one field; confirm(...) asks for a yes",
        )
    if len(entries) > MAX_FIELDS:
        raise QuestionRefused(
            field=None,
            problem=f"{len(entries)} fields are too many for one form",
            instead="ask in several steps",
        )
    for name, entry in entries.items():
        _examine(name, entry.field)
    _refuse_folded_twice(entries)
    return {name: _with_default(name, entry) for name, entry in entries.items()}


def require_fitting(name: str, spelling: Any, check: Check, *, said: str) -> Any:
    """An author's own value for a field, as the wire spells it; refused where a person could not have given it."""
    kept = check(spelling)
    if type(kept) is Problem:
        raise QuestionRefused(
            field=name,
            problem=f"{said} does not fit the field itself: {_ADVISE.sentence(kept)}",
            instead="give a value that a person could have given",
        )
    return kept


def _with_default(name: str, entry: FieldEntry) -> FieldEntry:
    field = entry.field
    if field.default is None:
        return entry
    spelling = to_wire(field, field.default, entry.meanings)
    kept = require_fitting(name, spelling, check_of(name, field), said="the default")
    return replace(entry, field=field.altered(default=as_default(field, kept)))


def _examine(name: Any, field: Field[Any]) -> None:
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_LABEL_LENGTH or not is_readable(name):
        raise QuestionRefused(
            field=str(name)[:MAX_LABEL_LENGTH], problem="a field needs a short name", instead="name it"
        )
    rules = next((_RULES[kind] for kind in type(field).__mro__ if kind in _RULES), None)
    if rules is None:
        raise QuestionRefused(
            field=name,
            problem=f"{type(field).__name__} is no kind of field",
            instead="use Text(), Choice([...]) or another",
        )
    for rule in (*rules, _examine_words, _examine_secret):
        rule(name, field)


def _examine_words(name: str, field: Field[Any]) -> None:
    for what, text, most in _words(field):
        if not isinstance(text, str) or not is_readable(text):
            raise QuestionRefused(field=name, problem=f"its {what} is not text", instead="write a str")
        if len(text) > most:
            raise QuestionRefused(
                field=name, problem=f"its {what} is over {most} characters", instead="shorten it"
            )
        if _URL.search(text):
            raise QuestionRefused(
                field=name,
                problem=f"its {what} holds a URL, and a form is no place for links",
                instead="send the person to a page with a link of its own, or name the site without 'https://'",
            )


def _words(field: Field[Any]) -> Iterator[tuple[str, Any, int]]:
    if field.title is not None:
        yield "title", field.title, MAX_LABEL_LENGTH
    if field.description is not None:
        yield "description", field.description, MAX_DESCRIPTION_LENGTH
    if isinstance(field, Choice | Choices):
        yield from (("option", option.shown, MAX_LABEL_LENGTH) for option in field.options)


def _examine_secret(name: str, field: Field[Any]) -> None:
    excuse: Any = field.not_a_secret
    if excuse is not None:
        if not isinstance(excuse, str) or not excuse.strip():
            raise QuestionRefused(
                field=name, problem="its excuse is empty", instead="say why: not_a_secret='...'"
            )
        return
    if field.is_typed:
        refuse_secret(name, field.title, field.description)


def refuse_secret(name: str, title: str | None, description: str | None) -> None:
    """Refuse a field that is typed into and whose words ask for a secret."""
    found = suspect_field(name, title, description)
    if found is not None:
        raise SecretInForm(
            field=name,
            problem=(
                f"its {found.where} asks for a secret ({found.kind}: {found.text!r}), and what is typed into a form "
                "passes the client and perhaps a model"
            ),
            instead=SECRET_ADVICE,
        )


SECRET_ADVICE = (
    "ask for it with secret(...), on a page where what is typed does not pass the client; if it is no secret, say why, "
    "with Text(not_a_secret='...') or Annotated[str, Text(not_a_secret='...')]"
)


def accept_title(title: object) -> str | None:
    """The title of a whole form, or None where it says what a field's title must not."""
    if (
        not isinstance(title, str)
        or not is_readable(title)
        or len(title) > MAX_LABEL_LENGTH
        or _URL.search(title)
    ):
        return None
    return None if suspect_field("", title, None) else title


def _examine_lengths(name: str, field: Text) -> None:
    _refuse_unless_count(name, min_length=field.min_length, max_length=field.max_length)
    if field.min_length is not None and field.max_length is not None and field.min_length > field.max_length:
        raise QuestionRefused(
            field=name,
            problem=f"min_length {field.min_length} is above max_length {field.max_length}",
            instead="swap or drop one of them",
        )


def _examine_pattern(name: str, field: Text) -> None:
    pattern: Any = field.pattern
    if pattern is None:
        return
    try:
        matcher_of(pattern)
    except (ValueError, TypeError) as error:
        raise QuestionRefused(
            field=name,
            problem=f"its pattern cannot be checked in linear time: {error}",
            instead="write it without look-around and back references, or check the answer in your code",
        ) from error


def _examine_range(name: str, field: Number | Integer) -> None:
    for attribute in field.limits:
        bound = getattr(field, attribute)
        if bound is not None and not (is_number(bound) and (isinstance(field, Number) or type(bound) is int)):
            raise QuestionRefused(
                field=name, problem=f"{attribute} {bound!r} is no bound", instead="give a number"
            )
    step = field.multiple_of
    if step is not None and step <= 0:
        raise QuestionRefused(
            field=name, problem=f"multiple_of {step} is not above 0", instead="make it positive"
        )
    if not _has_room(field):
        bounds = ", ".join(
            f"{one} {value}" for one in field.limits if (value := getattr(field, one)) is not None
        )
        raise QuestionRefused(
            field=name, problem=f"no number fits between its bounds ({bounds})", instead="swap or widen them"
        )


def _has_room(field: Number | Integer) -> bool:
    # Of two equal bounds the one that leaves itself out is the tighter: it sorts last from below, first from above.
    lows = [(bound, is_out) for bound, is_out in _bounds(field, "minimum", "above")]
    highs = [(bound, not is_out) for bound, is_out in _bounds(field, "maximum", "below")]
    if not lows or not highs:
        return True
    (least, is_above), (most, is_included) = max(lows), min(highs)
    if field.multiple_of is None:
        return least < most or (least == most and is_included and not is_above)
    step = Fraction(str(field.multiple_of))
    first = -(-least // step) * step
    first += step if is_above and first == least else 0
    return first < most or (first == most and is_included)


def _bounds(field: Number | Integer, inclusive: str, exclusive: str) -> Iterator[tuple[Fraction, bool]]:
    """Each bound on one side, and whether it is itself left out."""
    for attribute, is_out in ((inclusive, False), (exclusive, True)):
        bound = getattr(field, attribute, None)
        if bound is not None:
            yield Fraction(str(bound)), is_out


def _examine_options(name: str, field: Choice | Choices) -> None:
    if not field.options:
        raise QuestionRefused(
            field=name, problem="there is nothing to choose", instead="offer at least one option"
        )
    if len(field.options) > MAX_OPTIONS:
        raise QuestionRefused(
            field=name,
            problem=f"{len(field.options)} options are too many to choose from",
            instead="narrow them first",
        )
    seen: set[str] = set()
    for option in field.options:
        _examine_option(name, option, seen)


def _examine_option(name: str, option: Option, seen: set[str]) -> None:
    value: Any = option.value
    if not isinstance(value, str) or not is_readable(value) or len(value) > MAX_LABEL_LENGTH:
        raise QuestionRefused(
            field=name,
            problem=f"the option {str(value)[:MAX_LABEL_LENGTH]!r} is not a short text",
            instead="write {'1': 'One'}, or use a Literal or Enum, whose values may be anything",
        )
    if value in seen:
        raise QuestionRefused(
            field=name,
            problem=f"two options are spelled {value!r} on the wire",
            instead="leave one out, or spell them apart",
        )
    seen.add(value)


def _examine_count(name: str, field: Choices) -> None:
    _refuse_unless_count(name, least=field.least, most=field.most)
    least, most = field.least or 0, len(field.options) if field.most is None else field.most
    if least > most or least > len(field.options):
        raise QuestionRefused(
            field=name,
            problem=f"nobody can choose at least {least} and at most {most} of {len(field.options)} options",
            instead="lower least, or raise most",
        )


def _refuse_unless_count(name: str, **counts: Any) -> None:
    for what, count in counts.items():
        if count is not None and (type(count) is not int or count < 0):
            raise QuestionRefused(
                field=name, problem=f"{what} {count!r} is no count", instead="give 0 or more"
            )


def _refuse_folded_twice(entries: Mapping[str, FieldEntry]) -> None:
    """Where several choices are shown as one yes-or-no field each, those need names of their own."""
    names = set(entries)
    for name, entry in entries.items():
        for option in entry.field.options if isinstance(entry.field, Choices) else ():
            folded = folded_name(name, option.value)
            if folded in names:
                raise QuestionRefused(
                    field=folded,
                    problem=f"older clients see the option {option.value!r} of {name!r} under the same name",
                    instead="rename one of the two",
                )
            names.add(folded)


_RULES: Mapping[type[Field[Any]], tuple[Callable[[str, Any], None], ...]] = {
    Text: (_examine_lengths, _examine_pattern),
    Date: (),
    DateTime: (),
    Number: (_examine_range,),
    Integer: (_examine_range,),
    Boolean: (),
    Choice: (_examine_options,),
    Choices: (_examine_options, _examine_count),
}
