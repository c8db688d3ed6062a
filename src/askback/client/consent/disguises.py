"""Hosts that are not written as they are read. A browser would go to the one; the person would see the other."""

import re
import unicodedata
from collections.abc import Callable
from typing import Final

from askback.client.consent.link import ParsedLink
from askback.client.consent.names import false_letters, is_ace, is_false_ace, unicode_of
from askback.client.consent.refusals import authority_of

DOTS: Final = re.compile("[\u3002\uff0e\uff61]")
"""Full stops of other scripts, which a browser takes for the dot between two names."""

_NO_LETTER = re.compile(r"[^a-z0-9._-]")
_PORT = re.compile(r":[0-9]*$")


def refusal_of_host(place: ParsedLink, url: str) -> str | None:
    """Why no person should be asked to trust this host."""
    written = _PORT.sub("", authority_of(url) or "")
    return next((refusal for check in CHECKS if (refusal := check(place, written))), None)


def _labels(place: ParsedLink, _: str) -> str | None:
    if not place.host:
        return "The link names no host."
    if not place.address and not all(place.labels):
        return "The host has a dot too many."
    if any(map(is_false_ace, place.labels)):
        return "The host holds Punycode that stands for no name."
    return None


def _signs(place: ParsedLink, _: str) -> str | None:
    if not place.address and (sign := _NO_LETTER.search(place.host)):
        return f"The host holds a sign that no name may hold: {sign[0]}"
    for label in map(unicode_of, place.labels):
        if signs := false_letters(label):
            name = unicodedata.name(signs[0], "unnamed").lower()
            return f"The host holds a sign that is no letter ({name}) and can pass for a slash or a dot."
    return None


def _spelling(place: ParsedLink, written: str) -> str | None:
    """Case aside, a name is written as it is read, in ASCII or in Unicode, and an address in the usual way."""
    if written.startswith("[") or (written.isascii() and written.lower() == place.host):
        return None
    if place.address or "%" in written or DOTS.search(written) or not _is_spelled_out(place, written):
        return f"The host is written in disguise; a browser reads {place.host}."
    return None


def _is_spelled_out(place: ParsedLink, written: str) -> bool:
    """Letters of other scripts stay what they are: they make Punycode, and not a plain name."""
    pairs = zip(written.removesuffix(".").split("."), place.labels, strict=False)
    if any(not label.isascii() and not is_ace(read) for label, read in pairs):
        return False
    return _folded(written) == _folded(unicode_of(place.host))


def _folded(host: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", host).casefold())


CHECKS: Final[tuple[Callable[[ParsedLink, str], str | None], ...]] = (_labels, _signs, _spelling)
