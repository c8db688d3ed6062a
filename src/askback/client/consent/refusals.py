"""A link as its server wrote it: what no honest link holds. Knows characters, not hosts.

Browsers repair what they are given: they drop tabs and newlines, cut blanks off the ends, turn a backslash into a
slash, find a host after one slash or three. Each repair is a place where what a person or another parser reads is not
where the browser goes. An honest link needs none, so a link that needs one is refused.
"""

import re
import unicodedata
from collections.abc import Callable
from typing import Final

from askback.client.consent.names import may_join
from askback.model.safe import is_blank

MAX_URL_LENGTH: Final = 8_192
"""Web servers refuse longer addresses, and so do some ways to start a browser; a long OAuth request has 2,000."""

JOINERS: Final = "\u200c\u200d"
"""Unseen, and yet spelling in Persian, in Indian scripts and in emoji. A browser leaves them where they are."""

UNSEEN: Final = frozenset(("Cc", "Cf", "Cs", "Zs", "Zl", "Zp"))
"""Controls, format characters, half characters and blanks: dropped, moved, or not to be seen."""

_AUTHORITY = re.compile(r"https?://([^/?#]*)", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,30}:", re.IGNORECASE)


def authority_of(url: str) -> str | None:
    """What stands between the two slashes and the path, as written; None for anything but http and https."""
    match = _AUTHORITY.match(url)
    return match[1] if match else None


def concern_of(url: str) -> str | None:
    """What is kept, and yet not seen in the link as it was written."""
    if _holds_joiner(url[_end_of_host(url) :]):
        return "The link holds characters that cannot be seen; they are written out below."
    return None


def refusal_of(url: str) -> str | None:
    """Why these characters make no link that could be opened."""
    return next((refusal for check in CHECKS if (refusal := check(url))), None)


def _length(url: str) -> str | None:
    if not url:
        return "The link is empty."
    if len(url) > MAX_URL_LENGTH:
        return f"The link has {len(url):,} characters; more than {MAX_URL_LENGTH:,} are not opened."
    return None


def _characters(url: str) -> str | None:
    end_of_host = _end_of_host(url)
    is_spelled = all(map(may_join, filter(_holds_joiner, (authority_of(url) or url).split("."))))
    for place, character in enumerate(url):
        in_host = place < end_of_host
        if not _is_unseen(character, in_host=in_host) or (character in JOINERS and is_spelled):
            continue
        name = unicodedata.name(character, "a control character").lower()
        return f"The link holds a character that cannot be seen (U+{ord(character):04X}, {name})."
    return None


def _is_unseen(character: str, *, in_host: bool) -> bool:
    if unicodedata.category(character) in UNSEEN:
        return in_host or character not in JOINERS
    return in_host and is_blank(character)


def _end_of_host(url: str) -> int:
    authority = _AUTHORITY.match(url)
    return authority.end() if authority else len(url)


def _holds_joiner(text: str) -> bool:
    return any(joiner in text for joiner in JOINERS)


def _backslash(url: str) -> str | None:
    return (
        "The link holds a backslash, which browsers and programs read differently." if "\\" in url else None
    )


def _scheme(url: str) -> str | None:
    if authority_of(url) is not None:
        return None
    scheme = _SCHEME.match(url)
    if scheme and scheme[0].lower() not in ("https:", "http:"):
        return f"The link begins with {scheme[0]} and only https:// links are opened."
    return "The link does not begin with https:// and only such links are opened."


def _authority(url: str) -> str | None:
    authority = authority_of(url) or ""
    if "@" in authority:
        return "The link has a user name before its host, which makes it look like another site's."
    return None if authority else "The link names no host."


CHECKS: Final[tuple[Callable[[str], str | None], ...]] = (
    _length,
    _characters,
    _backslash,
    _scheme,
    _authority,
)
"""In this order: each may rely on those before it."""
