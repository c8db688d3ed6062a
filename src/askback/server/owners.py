"""Who a call is for, as the vault and the pages know them: a text that is the same at the server and at the door."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.context import ServerRequestContext

from askback.server.adapters.mcp import Caller
from askback.server.keeping import LOCAL

Context = ServerRequestContext[Any, Any]
OwnerOf = Callable[[Context], str | None]

CLAIMS = ("iss", "sub")
"""What makes a person: a subject is unique with its issuer alone."""


def owners(*, caller: Caller | None, claims: Sequence[str] = CLAIMS) -> OwnerOf:
    """How the owner of a call is told; None for a call of which nobody can tell, and that one has no vault (T26)."""

    def owner_of(ctx: Context) -> str | None:
        if caller is not None:
            told = caller(ctx)
            return None if told is None else owner_named(told)
        token = get_access_token()
        if token is not None:
            subject = {} if token.subject is None else {"sub": token.subject}
            return owner_with({**(token.claims or {}), **subject}, claims)
        return LOCAL if ctx.request is None else None

    return owner_of


def owner_named(name: str) -> str:
    """Somebody whom the author's own function named."""
    return json.dumps(["named", name])


def owner_with(claims: Mapping[str, Any], wanted: Sequence[str] = CLAIMS) -> str | None:
    """Somebody with these claims; None if one of those that make a person is missing."""
    values = [claims.get(name) for name in wanted]
    if not all(isinstance(value, str) and value for value in values):
        return None
    return json.dumps(["claims", *zip(wanted, values, strict=True)])
