"""What a form's message and meta may be. Knows that a fieldset has fields one types into, and no more of it."""

import json
import re
import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from askback.errors import AskbackWarning, QuestionRefused, SecretInForm
from askback.model.question import FieldSet
from askback.schema.formats import is_readable
from askback.schema.refusals import require
from askback.schema.rules import SECRET_ADVICE
from askback.schema.secret_lint import Suspicion, suspect_message
from askback.schema.size import MAX_DEPTH, exceeds_depth

MAX_MESSAGE_LENGTH = 10_000
"""Characters. A longer question is a document; nobody reads it in a dialog."""

_URL = re.compile(r"https?://", re.IGNORECASE)

_KEPT = 128
"""Messages whose verdict is kept: a body that is replayed asks the same again."""


def require_message(message: Any) -> None:
    """Refuse a message that could not be shown."""
    require(
        isinstance(message, str) and message.strip(),
        problem="the message is not a text that says something",
        instead="say what is asked, and why",
    )
    _require_readable(message)
    require(
        len(message) <= MAX_MESSAGE_LENGTH,
        problem=f"the message has {len(message)} characters, and {MAX_MESSAGE_LENGTH} is the most",
        instead="ask for one thing, briefly",
    )


def examine_message(message: Any, fieldset: FieldSet[Any]) -> None:
    """Refuse a message that could not be shown, or fishes for secrets in fields that are typed into."""
    require_message(message)
    _examine_text(message, is_typed=is_typed_into(fieldset))


def examine_host_message(message: str, *, is_typed: bool) -> None:
    """Refuse a message of a host's own call that cannot travel, or fishes; it may be empty, and of any length."""
    _require_readable(message)
    _examine_text(message, is_typed=is_typed)


def is_typed_into(fieldset: FieldSet[Any]) -> bool:
    """Whether a field of this fieldset takes what a person types, without an excuse."""
    return any(field.is_typed and field.not_a_secret is None for field in fieldset.fields.values())


def _require_readable(message: str) -> None:
    require(is_readable(message), problem="the message is not Unicode text", instead="decode it as UTF-8")


def _examine_text(message: str, *, is_typed: bool) -> None:
    if "://" in message and _URL.search(message):
        warnings.warn(
            "A form's message holds a URL, and a form is no place for links: clients should not make it clickable.",
            AskbackWarning,
            stacklevel=7,  # whoever awaits ask(...)
        )
    if is_typed:
        _refuse_fishing(message)


def _refuse_fishing(message: str) -> None:
    found = _suspicion(message)
    if found is not None:
        raise SecretInForm(
            field=None,
            problem=(
                f"the message asks for a secret ({found.kind}: {found.text!r}), and what is typed into a form passes "
                "the client and perhaps a model"
            ),
            instead=SECRET_ADVICE,
        )


@lru_cache(maxsize=_KEPT)
def _suspicion(message: str) -> Suspicion | None:
    return suspect_message(message)


def examine_meta(meta: Mapping[str, Any]) -> None:
    """Refuse what cannot travel."""
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
