"""Judging a link before anybody opens it: from its text alone, nothing is fetched and no name is looked up."""

from collections.abc import Collection

from askback.client.consent.concerns import concerns_of, note_of, strangeness_of
from askback.client.consent.disguises import refusal_of_host
from askback.client.consent.link import ParsedLink, parse_link
from askback.client.consent.names import unicode_of
from askback.client.consent.refusals import MAX_URL_LENGTH, concern_of, refusal_of
from askback.client.consent.verdict import Verdict


def judge(url: object, *, server_host: str | None = None, before: Collection[str] | None = None) -> Verdict:
    """What a link is, and whether a person may be asked to open it.

    `server_host` is the host of the asking server's own address, `before` the domains that the person has consented
    to for this server: a link to another domain is warned of. A server may send anything, so anything is taken.
    """
    if not isinstance(url, str):
        return _unreadable("The link is not text.")
    refusal = refusal_of(url)
    place = parse_link(url) if len(url) <= MAX_URL_LENGTH else None
    if place is None:
        return _unreadable(refusal or "The link cannot be read as an address.")
    refusal = refusal or _refusal_of_place(place) or refusal_of_host(place, url)
    strange = strangeness_of(place.domain, own=own_domain(server_host), before=frozenset(before or ()))
    return Verdict(
        refusal=refusal,
        href=place.href,
        host=place.host,
        domain=place.domain,
        unicode_host=unicode_of(place.host),
        warnings=tuple(filter(None, (refusal, *concerns_of(place), concern_of(url), *strange))),
        note=note_of(place),
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
