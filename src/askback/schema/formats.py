"""The four formats a form knows: email, uri, date, date-time. Texts in, verdicts or values out."""

import re
from datetime import date, datetime

from pydantic import AnyUrl, TypeAdapter

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
