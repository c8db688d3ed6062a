"""What a form from outside may weigh. Judged by counts and lengths alone, before anything is read of it."""

from typing import Any, Final, cast

from askback.schema.fieldsets import MAX_SCHEMA_BYTES
from askback.schema.formats import is_readable
from askback.schema.rules import MAX_DESCRIPTION_LENGTH, MAX_FIELDS, MAX_LABEL_LENGTH, MAX_OPTIONS
from askback.schema.size import exceeds_bytes

__all__ = [
    "MAX_DESCRIPTION_LENGTH",
    "MAX_LABEL_LENGTH",
    "MAX_OPTIONS",
    "MAX_OPTIONS_IN_FORM",
    "MAX_OPTION_LENGTH",
    "MAX_TYPED_LENGTH",
    "UNSAFE_INTEGER",
    "can_be_named",
    "cut",
    "objection",
]

MAX_TYPED_LENGTH: Final = 50_000
"""Characters in one box: a long letter. Our own servers take little more for a whole form."""

MAX_OPTION_LENGTH: Final = 2_000
"""Characters of an option's value, which is sent as it came and so cannot be cut: a long address is shorter."""

MAX_OPTIONS_IN_FORM: Final = 10 * MAX_OPTIONS
"""Options of a whole form: references can make many of one list."""

UNSAFE_INTEGER: Final = 2**53
"""From here on a reader that has only doubles gets another number than was typed."""

_MOST_REQUIRED: Final = 10 * MAX_FIELDS
"""Names in `required`; a few too many are a slip, more are an attack."""


def objection(schema: Any) -> str | None:
    """Why the schema is not even read, as a sentence; None where it is of a size that people fill in."""
    if type(schema) is not dict:
        return "What the server sent is not a form."
    whole = cast("dict[str, Any]", schema)
    properties, required = whole.get("properties", {}), whole.get("required", [])
    if type(properties) is not dict or whole.get("type", "object") != "object":
        return "What the server sent has no list of fields."
    fields = len(cast("dict[str, Any]", properties))
    if fields > MAX_FIELDS:
        return f"The form has {fields:,} fields, and {MAX_FIELDS} are the most that can be shown."
    if type(required) is list and len(cast("list[Any]", required)) > _MOST_REQUIRED:
        return "The form demands more fields than it has."
    if exceeds_bytes(whole, MAX_SCHEMA_BYTES):
        return f"The form is too large to be shown: more than {MAX_SCHEMA_BYTES // 1024:,} KB."
    return None


def can_be_named(name: Any) -> bool:
    """Whether a name can be shown whole, and sent back."""
    return type(name) is str and len(name) <= MAX_LABEL_LENGTH and is_readable(name)


def cut(text: str, most: int) -> str:
    """The beginning, with an ellipsis where something is left out."""
    return text if len(text) <= most else text[: most - 1] + "…"
