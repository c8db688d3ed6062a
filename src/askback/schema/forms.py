"""A Form: a message above the fields that an author asks for. Refused when it is made if it could never be shown."""

import json
import re
import warnings
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import lru_cache
from typing import Annotated, Any, Literal, cast

from askback.errors import AskbackWarning, QuestionRefused
from askback.errors.questions import require
from askback.model.question import Choice, Choices, FieldSet, Form
from askback.schema.adapter import wire_name
from askback.schema.fieldsets import fieldset_of, fill_in
from askback.schema.formats import is_readable
from askback.schema.rules import refuse_suspicion
from askback.schema.secret_lint import suspect_message
from askback.schema.size import MAX_DEPTH, exceeds_depth

MAX_MESSAGE_LENGTH = 10_000
"""Characters. A longer question is a document; nobody reads it in a dialog."""

_URL = re.compile(r"https?://", re.IGNORECASE)

_CACHE_SIZE = 128
"""Messages whose check is cached: a body that is replayed asks the same questions again."""


def form_of(
    message: str, what: Any, *, initial: object = None, meta: Mapping[str, Any] | None = None
) -> Form[Any]:
    """A question that can be asked; raises `QuestionRefused` if it could never be shown."""
    fieldset: FieldSet[Any] = fieldset_of(what)
    if initial is not None:
        fieldset = fill_in(fieldset, initial)
    require_message(message)
    is_typed = any(field.is_typed and field.not_a_secret is None for field in fieldset.fields.values())
    return make_form(message, fieldset, meta, is_typed=is_typed)


def make_form(
    message: str, fieldset: FieldSet[Any], meta: Mapping[str, Any] | None, *, is_typed: bool
) -> Form[Any]:
    """A form with this message, which may ask for a secret only if nothing is typed into the form."""
    if meta is not None:
        require_meta(meta)
    if "://" in message and _URL.search(message):
        warnings.warn(
            "A form's message holds a URL, and a form is no place for links: clients should not make it clickable.",
            AskbackWarning,
            stacklevel=6,  # the code that awaits ask(...)
        )
    if is_typed:
        _refuse_fishing(message)
    return Form(message=message, fieldset=fieldset, meta=meta)


def require_message(message: Any) -> None:
    """Refuse a message that could not be shown."""
    _examine_message(message if isinstance(message, str) else "")


@lru_cache(maxsize=_CACHE_SIZE)
def _examine_message(message: str) -> None:
    require(
        message.strip(),
        problem="the message is not a text that says something",
        instead="say what is asked, and why",
    )
    require_readable(message)
    require(
        len(message) <= MAX_MESSAGE_LENGTH,
        problem=f"the message has {len(message)} characters, and {MAX_MESSAGE_LENGTH} is the most",
        instead="ask for one thing, briefly",
    )


def require_readable(message: str) -> None:
    """Refuse a message that cannot be sent."""
    require(is_readable(message), problem="the message is not Unicode text", instead="decode it as UTF-8")


@lru_cache(maxsize=_CACHE_SIZE)
def _refuse_fishing(message: str) -> None:
    refuse_suspicion(None, suspect_message(message))


def require_meta(meta: Mapping[str, Any]) -> None:
    """Refuse what cannot be sent beside a question."""
    require(
        not exceeds_depth(meta),
        problem=f"meta is nested too deeply, over {MAX_DEPTH} levels",
        instead="give a flatter dict of JSON values",
    )
    try:
        json.dumps(meta, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise QuestionRefused(
            field=None,
            problem=f"meta cannot be written as JSON: {error}",
            instead="give a dict of JSON values",
        ) from error


def fieldset_of_options(
    options: Mapping[Any, str] | Iterable[Any], *, multiple: bool, least: int | None, most: int | None
) -> FieldSet[Any]:
    """A field to choose one of the options, or several of them; the value is the option, as in a `Literal`."""
    values = () if isinstance(options, str) else tuple(options)
    require(
        values and all(isinstance(value, str | int | Enum) for value in values),
        problem=f"{options!r} is not a list of options",
        instead="give a list of strings, whole numbers or Enum members, or a dict of them with their titles",
    )
    spellings = [wire_name(value) for value in values]
    require(
        len(set(spellings)) == len(spellings),
        problem=f"{options!r} offers the same option twice",
        instead="name each option once",
    )
    titles = cast("Mapping[Any, str]", options).values() if isinstance(options, Mapping) else None
    named = spellings if titles is None else dict(zip(spellings, titles, strict=True))
    one: Any = Literal[values]
    if multiple:
        several: Any = Annotated[list[one], Choices(named, least=least, most=most)]
        return fieldset_of(several)
    require(
        least is None and most is None,
        problem="least and most bound how many are chosen, and here one is",
        instead="say multiple=True, or leave them out",
    )
    titled: Any = one if titles is None else Annotated[one, Choice(named)]
    return fieldset_of(titled)
