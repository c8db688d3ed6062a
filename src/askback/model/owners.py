"""Owners: who secrets, approvals and visits belong to, as a text that the server and its pages compute alike."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

LOCAL = "local"
"""The caller on stdio and in memory: the user who started the server."""

ISSUER = "iss"

NAME = "a name"

CLAIMS = (ISSUER, "sub")
"""What makes a person: a subject is unique with its issuer alone."""

SHARED = frozenset(
    {ISSUER, "aud", "azp", "client_id", "cid", "appid", "tid", "tenant", "tenant_id", "org_id", "hd", "realm"}
)
"""Claims that all people of one issuer, application or organization share; alone they identify no person."""


def owner_from_name(name: str) -> str:
    """The owner that the author's own function named."""
    return json.dumps(["named", name])


def owner_from_claims(claims: Mapping[str, Any], wanted: Sequence[str] = CLAIMS) -> str | None:
    """Somebody with these claims; None if one of those that make a person is missing (T26)."""
    values = [claims.get(name) for name in wanted]
    if not values or not all(isinstance(value, str) and value for value in values):
        return None
    return json.dumps(["claims", *zip(wanted, values, strict=True)])


def describe_owner(owner: str) -> str:
    """The owner in words for a person to read."""
    if owner == LOCAL:
        return "the user of this computer"
    claims = dict(_parts(owner))
    who = " · ".join(value for claim, value in claims.items() if claim != ISSUER)
    return f"{who} at {claims[ISSUER]}" if ISSUER in claims else who


def describe_owner_claims(owner: str) -> str:
    """What tells them from others, without saying who they are: a name, or which claims."""
    return " and ".join(claim or NAME for claim, _ in _parts(owner))


def matches_owner(owner: str, name: str) -> bool:
    """Whether a person may mean this owner by that name: the whole of it, or any part that is not their issuer's."""
    parts = (value for claim, value in _parts(owner) if claim != ISSUER)
    return name in {owner, describe_owner(owner), *parts}


def _parts(owner: str) -> list[tuple[str, str]]:
    """What tells this owner from others; of one that was not made here, all there is."""
    try:
        match json.loads(owner):
            case ["named", str(name)]:
                return [("", name)]
            case ["claims", *claims]:
                return [(str(claim), str(value)) for claim, value in claims]
            case _:
                return [("", owner)]
    except (ValueError, TypeError):
        return [("", owner)]
