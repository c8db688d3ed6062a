"""Who a call is for, as the vault and the pages know them."""

from collections.abc import Callable, Sequence
from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.context import ServerRequestContext

from askback.model.owners import CLAIMS, LOCAL, owner_from_claims, owner_from_name
from askback.server.hosts.boundary import Caller

Context = ServerRequestContext[Any, Any]
OwnerOf = Callable[[Context], str | None]


def owners(*, caller: Caller | None, claims: Sequence[str] = CLAIMS) -> OwnerOf:
    """How the owner of a call is told; None for a call of which nobody can tell, and that one has no vault (T26)."""

    def owner_of(ctx: Context) -> str | None:
        if caller is not None:
            told = caller(ctx)
            return owner_from_name(told) if told else None
        token = get_access_token()
        if token is not None:
            subject = {} if token.subject is None else {"sub": token.subject}
            return owner_from_claims({**(token.claims or {}), **subject}, claims)
        return LOCAL if ctx.request is None else None

    return owner_of
