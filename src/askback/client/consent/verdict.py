"""The verdict on a link before anybody opens it: from its text alone, nothing is fetched and no name is looked up.

Browsers repair what they are given: they drop tabs and newlines, cut blanks off the ends, turn a backslash into a
slash, find a host after one slash or three. Each repair is a place where what a person or another parser reads is not
where the browser goes. An honest link needs none, so a link that needs one is refused.
"""

import re
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from askback.client.consent.link import (
    JOINERS,
    ParsedLink,
    concerns_of,
    false_letters,
    is_ace,
    is_false_ace,
    may_join,
    parse_link,
    strangeness_of,
    unicode_of,
)
from askback.model.safe import is_blank


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a link is, as a browser reads it. A refused one keeps its parts, so that it can be shown."""

    refusal: str | None
    """Why it is never opened, in one sentence; None where a person may decide."""
    href: str = ""
    """The link as a browser writes it: what is shown and, if allowed, opened. Empty where no browser could read it."""
    host: str = ""
    """In ASCII, lower case; IPv6 addresses in brackets."""
    domain: str = ""
    """The part of the host that somebody registered; the whole host for addresses and single words."""
    unicode_host: str = ""
    warnings: tuple[str, ...] = ()
    """Plain sentences, the gravest first. They may name the host in Unicode: shown like any text of a server."""

    note: str = ""
    """A fact that is no reason for care."""

    @property
    def allowed(self) -> bool:
        """Whether a person may be asked to open it at all."""
        return self.refusal is None


MAX_URL_LENGTH: Final = 8_192
"""Web servers refuse longer addresses, and so do some ways to start a browser; a long OAuth request has 2,000."""

UNSEEN: Final = frozenset(("Cc", "Cf", "Cs", "Zs", "Zl", "Zp"))
"""Controls, format characters, half characters and blanks: dropped, moved, or not to be seen."""

ON_THIS_COMPUTER: Final = "The page is on this very computer; what goes there does not leave it."
"""Neither a name nor encryption would add anything there."""

HOLDS_UNSEEN: Final = "The link holds characters that cannot be seen; they are written out below."

_AUTHORITY = re.compile(r"https?://([^/?#]*)", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,30}:", re.IGNORECASE)


def authority_of(url: str) -> str | None:
    """What stands between the two slashes and the path, as written; None for anything but http and https."""
    match = _AUTHORITY.match(url)
    return match[1] if match else None


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
        is_unseen = unicodedata.category(character) in UNSEEN or (in_host and is_blank(character))
        may_stand = character in JOINERS and (is_spelled or not in_host)
        if not is_unseen or may_stand:
            continue
        name = unicodedata.name(character, "a control character").lower()
        return f"The link holds a character that cannot be seen (U+{ord(character):04X}, {name})."
    return None


def _end_of_host(url: str) -> int:
    authority = _AUTHORITY.match(url)
    return authority.end() if authority else len(url)


def _holds_joiner(text: str) -> bool:
    return any(joiner in text for joiner in JOINERS)


def _scheme(url: str) -> str | None:
    if "\\" in url:
        return "The link holds a backslash, which browsers and programs read differently."
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


URL_CHECKS: Final[tuple[Callable[[str], str | None], ...]] = (
    _length,
    _characters,
    _scheme,
    _authority,
)
"""In this order: each may rely on those before it."""


DOTS: Final = re.compile("[\u3002\uff0e\uff61]")
"""Full stops of other scripts, which a browser takes for the dot between two names."""

_NO_LETTER = re.compile(r"[^a-z0-9._-]")
_PORT = re.compile(r":[0-9]*$")


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


HOST_CHECKS: Final[tuple[Callable[[ParsedLink, str], str | None], ...]] = (_labels, _signs, _spelling)


def judge(url: object, *, server_host: str | None = None, before: Collection[str] | None = None) -> Verdict:
    """What a link is, and whether a person may be asked to open it.

    `server_host` is the host of the asking server's own address, `before` the domains that the person has consented
    to for this server: a link to another domain is warned of. A server may send anything, so anything is taken.
    """
    if not isinstance(url, str):
        return _unreadable("The link is not text.")
    refusal = next((found for check in URL_CHECKS if (found := check(url))), None)
    place = parse_link(url) if len(url) <= MAX_URL_LENGTH else None
    if place is None:
        return _unreadable(refusal or "The link cannot be read as an address.")
    written = _PORT.sub("", authority_of(url) or "")
    of_host = (found for check in HOST_CHECKS if (found := check(place, written)))
    refusal = refusal or _refusal_of_place(place) or next(of_host, None)
    holds_unseen = _holds_joiner(url[_end_of_host(url) :])
    strange = strangeness_of(place.domain, own=own_domain(server_host), before=frozenset(before or ()))
    return Verdict(
        refusal=refusal,
        href=place.href,
        host=place.host,
        domain=place.domain,
        unicode_host=unicode_of(place.host),
        warnings=tuple(
            filter(None, (refusal, *concerns_of(place), HOLDS_UNSEEN if holds_unseen else None, *strange))
        ),
        note=ON_THIS_COMPUTER if place.is_loopback else "",
    )


def own_domain(server_host: str | None) -> str | None:
    """The registrable domain of a server's own address; None for a program on this machine."""
    if not server_host:
        return None
    is_bare_ipv6 = server_host.count(":") > 1 and not server_host.startswith("[")
    place = parse_link(f"https://[{server_host}]/" if is_bare_ipv6 else f"https://{server_host}/")
    return place.domain if place else server_host


def _refusal_of_place(place: ParsedLink) -> str | None:
    if place.scheme == "http:" and not place.is_loopback:
        return "The link uses http, which is not encrypted; that is opened for this machine alone."
    if place.has_user:
        return "The link has a user name before its host, which makes it look like another site's."
    if len(place.href) > MAX_URL_LENGTH:
        return f"Written out, the link has {len(place.href):,} characters; more than {MAX_URL_LENGTH:,} are not opened."
    return None


def _unreadable(refusal: str) -> Verdict:
    return Verdict(refusal=refusal, warnings=(refusal,))
