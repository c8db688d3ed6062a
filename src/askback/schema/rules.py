"""What a form may hold, however it was written. Each refusal names the field and what to write instead."""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from pydantic_core import SchemaError

from askback.errors.questions import QuestionRefused, SecretInForm, require
from askback.model.question import (
    Boolean,
    Choice,
    Choices,
    Date,
    DateTime,
    Field,
    Integer,
    Number,
    Text,
)
from askback.model.texts import Problem, Words
from askback.schema.dialect import folded_name
from askback.schema.keywords import FieldEntry, is_number
from askback.schema.secret_lint import Suspicion, suspect_field
from askback.schema.validation import check_of, matcher_of
from askback.schema.values import Meanings, as_default, is_readable, to_wire

URL = re.compile(r"https?://", re.IGNORECASE)

MAX_FIELDS, MAX_OPTIONS = 100, 1_000
"""More than anybody fills in or scrolls through at one go."""

MAX_LABEL_LENGTH, MAX_DESCRIPTION_LENGTH = 500, 5_000
"""Characters of a name, title or option, and of a description."""

_ADVICE = Words()


def examine_entries(entries: Mapping[str, FieldEntry]) -> dict[str, FieldEntry]:
    """The entries with defaults in the type of their field; raises `QuestionRefused` if one cannot be asked."""
    require(
        entries,
        problem="the form is empty",
        instead="ask for at least one field; confirm(...) asks for a yes",
    )
    require(
        len(entries) <= MAX_FIELDS,
        problem=f"{len(entries)} fields are too many for one form",
        instead="ask in several steps",
    )
    for name, entry in entries.items():
        _examine(name, entry.field)
    _refuse_folded_twice(entries)
    return {name: _with_default(name, entry) for name, entry in entries.items()}


def fitting_default(name: str, field: Field[Any], value: Any, meanings: Meanings, *, said: str) -> Any:
    """An author's own value for a field, as the wire spells it; refused where a person could not have given it."""
    checked = check_of(name, field)(to_wire(field, value, meanings))
    if type(checked) is Problem:
        raise QuestionRefused(
            field=name,
            problem=f"{said} does not fit the field itself: {_ADVICE.sentence(checked)}",
            instead="give a value that a person could have given",
        )
    return checked


def _with_default(name: str, entry: FieldEntry) -> FieldEntry:
    field = entry.field
    if field.default is None:
        return entry
    default = fitting_default(name, field, field.default, entry.meanings, said="the default")
    return replace(entry, field=field.altered(default=as_default(field, default)))


def _examine(name: Any, field: Field[Any]) -> None:
    require(
        is_label(name) and name.strip(),
        field=str(name)[:MAX_LABEL_LENGTH],
        problem="a field needs a short name",
        instead="name it",
    )
    kinds = [kind for kind in type(field).__mro__ if kind in _RULES]
    require(
        kinds,
        field=name,
        problem=f"{type(field).__name__} is not a kind of field",
        instead="use Text(), Choice([...]) or another",
    )
    for rule in (*_RULES[kinds[0]], _examine_words):
        rule(name, field)


def is_label(text: Any) -> bool:
    """Whether it is a text that is short enough for one line."""
    return isinstance(text, str) and is_readable(text) and len(text) <= MAX_LABEL_LENGTH


def _examine_words(name: str, field: Field[Any]) -> None:
    options = field.options if isinstance(field, Choice | Choices) else ()
    words: list[tuple[str, Any, int]] = [
        ("title", field.title, MAX_LABEL_LENGTH),
        ("description", field.description, MAX_DESCRIPTION_LENGTH),
        *(("option", option.shown, MAX_LABEL_LENGTH) for option in options),
    ]
    for what, text, most in words:
        require(
            text is None or (isinstance(text, str) and is_readable(text)),
            field=name,
            problem=f"its {what} is not text",
            instead="write a str",
        )
        require(
            text is None or len(text) <= most,
            field=name,
            problem=f"its {what} is over {most} characters",
            instead="shorten it",
        )
        require(
            text is None or not URL.search(text),
            field=name,
            problem=f"its {what} holds a URL, and a form is no place for links",
            instead="send the person to a page with a link of its own, or name the site without 'https://'",
        )
    reason: Any = field.not_a_secret
    require(
        reason is None or (isinstance(reason, str) and reason.strip()),
        field=name,
        problem="its not_a_secret is empty",
        instead="say why: not_a_secret='...'",
    )
    if field.is_typed and reason is None:
        refuse_suspicion(name, suspect_field(name, field.title, field.description))


def refuse_suspicion(field: str | None, found: Suspicion | None) -> None:
    """Refuse a form because the words of a field, or of its message, seem to ask for a secret."""
    if found is not None:
        raise SecretInForm(
            field=field,
            problem=(
                f"{'the' if field is None else 'its'} {found.where} asks for a secret ({found.kind}: {found.text!r}), "
                "and what is typed into a form passes the client and perhaps a model"
            ),
            instead=(
                "ask for it with secret(...), on a page where what is typed does not pass the client; if it is no "
                "secret, say why, with Text(not_a_secret='...') or Annotated[str, Text(not_a_secret='...')]"
            ),
        )


def accept_title(title: Any) -> str | None:
    """The title of a whole form, or None where it says what a field's title must not."""
    is_harmless = is_label(title) and not URL.search(title) and not suspect_field("", title, None)
    return title if is_harmless else None


def _examine_text(name: str, field: Text) -> None:
    least, most = field.min_length, field.max_length
    _require_counts(name, min_length=least, max_length=most)
    require(
        least is None or most is None or least <= most,
        field=name,
        problem=f"min_length {least} is above max_length {most}",
        instead="swap or drop one of them",
    )
    try:
        matcher_of("" if field.pattern is None else field.pattern)
    except (SchemaError, TypeError) as error:
        reason = str(error).strip().splitlines()[-1].removeprefix("error: ")
        raise QuestionRefused(
            field=name,
            problem=f"its pattern cannot be checked in linear time: {reason}",
            instead="write it without look-around and back references, or check the answer in your code",
        ) from error


def _examine_range(name: str, field: Number | Integer) -> None:
    bounds = {one: value for one in field.limits if (value := getattr(field, one)) is not None}
    for attribute, bound in bounds.items():
        require(
            is_number(bound) and (isinstance(field, Number) or type(bound) is int),
            field=name,
            problem=f"{attribute} {bound!r} is not a bound",
            instead="give a number",
        )
    step = field.multiple_of
    require(
        step is None or step > 0,
        field=name,
        problem=f"multiple_of {step} is not above 0",
        instead="make it positive",
    )
    listed = ", ".join(f"{one} {value}" for one, value in bounds.items())
    require(
        _has_room(field),
        field=name,
        problem=f"no number fits between its bounds ({listed})",
        instead="swap or widen them",
    )


_BOUNDS: Mapping[str, Callable[[Fraction, Fraction], bool]] = {
    "minimum": operator.ge,
    "above": operator.gt,
    "maximum": operator.le,
    "below": operator.lt,
}


def _has_room(field: Number | Integer) -> bool:
    """Whether a number fits between the bounds: the one in the middle, or one of the first two multiples."""
    given = {name: getattr(field, name, None) for name in _BOUNDS}
    bounds = {name: Fraction(str(bound)) for name, bound in given.items() if bound is not None}
    lower = [bounds[name] for name in ("minimum", "above") if name in bounds]
    upper = [bounds[name] for name in ("maximum", "below") if name in bounds]
    if not lower or not upper:
        return True
    step = Fraction(str(field.multiple_of or 0))
    first = -(-max(lower) // step) * step if step else (max(lower) + min(upper)) / 2
    return any(
        all(_BOUNDS[name](number, bound) for name, bound in bounds.items())
        for number in (first, first + step)
    )


def _examine_options(name: str, field: Choice | Choices) -> None:
    options = field.options
    require(options, field=name, problem="there is nothing to choose", instead="offer at least one option")
    require(
        len(options) <= MAX_OPTIONS,
        field=name,
        problem=f"{len(options)} options are too many to choose from",
        instead="narrow them first",
    )
    seen: set[str] = set()
    for value, _ in options:
        require(
            is_label(value),
            field=name,
            problem=f"the option {str(value)[:MAX_LABEL_LENGTH]!r} is not a short text",
            instead="write {'1': 'One'}, or use a Literal or Enum, whose values may be anything",
        )
        require(
            value not in seen,
            field=name,
            problem=f"two options are spelled {value!r} on the wire",
            instead="leave one out, or spell them apart",
        )
        seen.add(value)


def _examine_count(name: str, field: Choices) -> None:
    _require_counts(name, least=field.least, most=field.most)
    least, most = field.least or 0, len(field.options) if field.most is None else field.most
    require(
        least <= min(most, len(field.options)),
        field=name,
        problem=f"it is impossible to choose at least {least} and at most {most} of {len(field.options)} options",
        instead="lower least, or raise most",
    )


def _require_counts(name: str, **counts: Any) -> None:
    for what, count in counts.items():
        require(
            count is None or (type(count) is int and count >= 0),
            field=name,
            problem=f"{what} {count!r} is not a count",
            instead="give 0 or more",
        )


def _refuse_folded_twice(entries: Mapping[str, FieldEntry]) -> None:
    """Refuse choices that older clients, which show a yes-or-no field for each, would see under equal names."""
    names = set(entries)
    for name, entry in entries.items():
        for option in entry.field.options if isinstance(entry.field, Choices) else ():
            folded = folded_name(name, option.value)
            require(
                folded not in names,
                field=folded,
                problem=f"older clients see the option {option.value!r} of {name!r} under the same name",
                instead="rename one of the two",
            )
            names.add(folded)


_RULES: Mapping[type[Field[Any]], tuple[Callable[[str, Any], None], ...]] = {
    Text: (_examine_text,),
    Date: (),
    DateTime: (),
    Number: (_examine_range,),
    Integer: (_examine_range,),
    Boolean: (),
    Choice: (_examine_options,),
    Choices: (_examine_options, _examine_count),
}
