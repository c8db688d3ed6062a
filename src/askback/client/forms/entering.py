"""One property as an Entry: its words, its check, its default and what is suspected of it."""

from collections.abc import Mapping
from typing import Any, Final

from askback.client.forms.caps import (
    MAX_DESCRIPTION_LENGTH,
    MAX_LABEL_LENGTH,
    MAX_TYPED_LENGTH,
    UNSAFE_INTEGER,
    cut,
)
from askback.client.forms.expecting import describe_field
from askback.client.forms.field import shape_of, within_reach
from askback.client.forms.form import EntryKind, FormEntry
from askback.client.forms.property import Json
from askback.client.forms.suspicion import suspicion_of_wishes
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
    Option,
    Text,
    Url,
)
from askback.model.safe import has_hidden_characters, safe_line
from askback.model.texts import Problem
from askback.schema.checks import Check, check_of
from askback.schema.values import Meanings, as_default, to_wire

_KINDS: Final[Mapping[type[Field[Any]], EntryKind]] = {
    Text: "text",
    Email: "email",
    Url: "uri",
    Date: "date",
    DateTime: "date-time",
    Number: "number",
    Integer: "integer",
    Boolean: "boolean",
    Choice: "choice",
    Choices: "choices",
}

MAX_QUOTED_LENGTH: Final = 60
"""Characters of a label or option inside a sentence of ours."""

_LONGEST: Final = {"title": MAX_LABEL_LENGTH, "description": MAX_DESCRIPTION_LENGTH}

_NO_DEFAULT: Final = "the server's own suggestion does not fit and is not filled in"
_HIDDEN_DEFAULT: Final = (
    "the server's own suggestion holds characters that cannot be seen and is not filled in"
)


def entry_of(
    name: str,
    label: str,
    whole: Json,
    definitions: Mapping[str, Any],
    *,
    is_required: bool,
) -> FormEntry:
    """The property under the label that was found for it; Unshowable where a form has no field for it."""
    shape = shape_of(whole, definitions)
    title, hint = words_of(whole, "title"), words_of(whole, "description")
    field = shape.field.altered(title=title or None, description=hint or None, optional=not is_required)
    check = _check_of(name, label, field)
    default, why_not = _default_of(field, whole.get("default"), shape.meanings, check)
    return FormEntry(
        name=name,
        field=field if default is None else field.altered(default=as_default(field, default)),
        label=label,
        hint=hint,
        kind=_KINDS[type(field)],
        is_required=is_required,
        expects="; ".join([describe_field(field), *shape.notes, *why_not]),
        suspicion=suspicion_of_wishes(whole.get("format"), whole.get("pattern")) if field.is_typed else None,
        default=default,
        check=check,
        meanings=shape.meanings,
    )


def words_of(whole: Json, keyword: str) -> str:
    """The server's own title or description, cut; empty where it says nothing."""
    text = whole.get(keyword)
    return cut(text, _LONGEST[keyword]) if type(text) is str and text.strip() else ""


def _check_of(name: str, label: str, field: Field[Any]) -> Check:
    """The check whose problems name the field as it is shown, so that its sentences are safe to print."""
    spoken = field.altered(title=safe_line(label, MAX_QUOTED_LENGTH))
    if isinstance(spoken, Integer):
        spoken = within_reach(spoken)
    if isinstance(spoken, Choice | Choices):
        shown = tuple(Option(one.value, safe_line(one.shown, MAX_QUOTED_LENGTH)) for one in spoken.options)
        spoken = spoken.altered(options=shown)
    check = check_of(name, spoken)
    return _exactly(name, spoken, check) if isinstance(spoken, Number) else check


def _exactly(name: str, field: Number, check: Check) -> Check:
    """A whole number is sent to the digit or not at all, also where any number may stand."""
    most = UNSAFE_INTEGER - 1
    too_high = Problem(code="too_high", field=name, title=field.title, facts={"most": most})
    too_low = Problem(code="too_low", field=name, title=field.title, facts={"least": -most})

    def exact(value: Any) -> Any:
        if type(value) is not int or abs(value) <= most:
            return check(value)
        return too_high if value > 0 else too_low

    return exact


def _default_of(
    field: Field[Any], default: Any, meanings: Meanings, check: Check
) -> tuple[Any, tuple[str, ...]]:
    """The default as it is filled in, or why it is not."""
    if default is None:
        return None, ()
    kept = check(to_wire(field, default, meanings))
    if type(kept) is Problem or (type(kept) is str and len(kept) > MAX_TYPED_LENGTH):
        return None, (_NO_DEFAULT,)
    # What nobody can see, nobody can agree to send.
    if type(field) is Text and has_hidden_characters(kept):
        return None, (_HIDDEN_DEFAULT,)
    return kept, ()
