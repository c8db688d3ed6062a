"""Python values and how the wire spells them, both ways, and the four formats of a form: email, uri, date, date-time.

Knows fields; does not judge whether a value fits them.
"""

import re
from collections.abc import Sequence, Set
from datetime import date, datetime
from enum import Enum
from typing import Any, cast

from pydantic import AnyUrl, TypeAdapter

from askback.model.form import Meanings
from askback.model.question import Choice, Choices, Date, DateTime, Field

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DATE_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)", re.ASCII
)
_URI = re.compile(r"""[A-Za-z][A-Za-z0-9+.-]*:[^\s"<>\\^`{|}]+""")
_LOCAL = re.compile(r"""[^\s@"(),:;<>\[\\\].]+(?:\.[^\s@"(),:;<>\[\\\].]+)*""")
_LABEL = re.compile(r"[^\W_](?:[\w-]*[^\W_])?")

_MAX_EMAIL, _MAX_LOCAL, _MAX_LABEL = 254, 64, 63
"""What SMTP can carry (RFC 5321), in characters."""

_URL = TypeAdapter(AnyUrl).validator


def is_email(text: str) -> bool:
    """An address as people write it: no quotes, no comments, a domain with a dot."""
    local, _, domain = text.rpartition("@")
    if (
        len(text) > _MAX_EMAIL
        or len(local) > _MAX_LOCAL
        or not text.isprintable()
        or not _LOCAL.fullmatch(local)
    ):
        return False
    labels = domain.split(".")
    return len(labels) > 1 and all(len(label) <= _MAX_LABEL and _LABEL.fullmatch(label) for label in labels)


def is_url(text: str) -> bool:
    """An absolute URI of any scheme, without spaces or characters that hide."""
    return text.isprintable() and _URI.fullmatch(text) is not None and _URL.isinstance_python(text)


def as_date(text: str) -> date | None:
    """The day, if the text is a date of RFC 3339."""
    if not _DATE.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def as_date_time(text: str) -> datetime | None:
    """The moment, if the text is a date-time of RFC 3339, with seconds and an offset."""
    if not _DATE_TIME.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text.upper())
    except ValueError:
        return None


def is_readable(text: str) -> bool:
    """Whether the text can be written as UTF-8: JSON lets half of a surrogate pair through."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


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
