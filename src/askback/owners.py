"""Whose something is: a text that comes out the same at the server and at the door of its pages."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

LOCAL = "local"
"""The caller on stdio and in memory: whoever started the server."""

CLAIMS = ("iss", "sub")
"""What makes a person: a subject is unique with its issuer alone."""


def owner_named(name: str) -> str:
    """Somebody whom the author's own function named."""
    return json.dumps(["named", name])


def owner_with(claims: Mapping[str, Any], wanted: Sequence[str] = CLAIMS) -> str | None:
    """Somebody with these claims; None if one of those that make a person is missing (T26)."""
    values = [claims.get(name) for name in wanted]
    if not all(isinstance(value, str) and value for value in values):
        return None
    return json.dumps(["claims", *zip(wanted, values, strict=True)])


def described(owner: str) -> str:
    """The same for a person to read."""
    if owner == LOCAL:
        return "whoever uses this computer"
    match json.loads(owner):
        case ["named", name]:
            return str(name)
        case ["claims", *claims]:
            values = dict(claims)
            who = " · ".join(str(value) for claim, value in values.items() if claim != "iss")
            return f"{who} at {values['iss']}" if "iss" in values else who
        case _:
            return owner
