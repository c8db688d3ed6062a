"""Which scopes were granted, as authorization servers write it."""

from collections.abc import Collection, Mapping

OPENID, OFFLINE = "openid", "offline_access"
"""Not every provider writes these among what it grants; an ID token and a refresh token say as much."""

SAME: Mapping[str, str] = {
    "https://www.googleapis.com/auth/userinfo.email": "email",
    "https://www.googleapis.com/auth/userinfo.profile": "profile",
}
"""What Google grants for the names that OpenID Connect has."""


def granted_scopes(said: str | None, wanted: Collection[str], *, implied: Collection[str]) -> tuple[str, ...]:
    """What was granted: all that was wanted, where nothing is said (RFC 6749, 5.1)."""
    if said is None:
        return tuple(wanted)
    # GitHub and others write commas between them.
    words = said.split() if said in wanted else said.replace(",", " ").split()
    also = [SAME[word] for word in words if word in SAME]
    return tuple(dict.fromkeys([*words, *also, *(scope for scope in implied if scope in wanted)]))
