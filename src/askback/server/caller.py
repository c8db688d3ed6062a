"""Who is behind a call: the principal that state and effects are bound to, and the owner of what is kept for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.request_state import authenticated_principal
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER

from askback.model.owners import CLAIMS, LOCAL, owner_from_claims, owner_from_name
from askback.protocol.revisions import Era, revision_of, target_of
from askback.runtime.context import Caller, CallIdentity
from askback.server.hosts.boundary import CallerFunction, Context


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerReader:
    """Reads the caller of one server's calls."""

    principal: CallerFunction
    """What the boundary binds its seal to: the operator's function, or the SDK's."""
    function: CallerFunction | None = None
    """The operator's `Askback(caller=...)`."""
    claims: Sequence[str] = CLAIMS
    """The claims of a token that make a person."""

    def read_request(self, ctx: Context) -> CallIdentity:
        """Who called what, and with which client."""
        target, arguments = target_of(ctx.method, ctx.params or {})
        client = ctx.session.client_params
        return CallIdentity(
            method=ctx.method,
            target=target,
            arguments=arguments,
            caller=self.read(ctx),
            client="" if client is None else client.client_info.name,
        )

    def read(self, ctx: Context) -> Caller:
        """The caller of this call."""
        token, owner = get_access_token(), self._owner(ctx)
        is_local = ctx.request is None and token is None
        name = LOCAL if is_local and self.principal is authenticated_principal else self.principal(ctx)
        if name is not None and token is not None and self.principal is authenticated_principal:
            # Of a token without a subject the SDK names the client alone, which all its users share.
            name = name if token.subject else owner or None
        if name is None and is_local:
            name = LOCAL
        has_shared_token = token is not None and not owner
        return Caller(
            name=name,
            lasting_name=None if has_shared_token else name,
            owner=owner,
            holder=_holder(ctx, name),
            is_local=is_local,
        )

    def recorded(self, ctx: Context) -> str | None:
        """The caller as the ledger has it, which is what the seal is bound to; None if unknown."""
        name = self.principal(ctx)
        if name is None:
            return LOCAL if ctx.request is None and get_access_token() is None else None
        return name

    def _owner(self, ctx: Context) -> str:
        """The owner of what is kept for the caller; empty if unknown, and then there is no vault (T26)."""
        if self.function is not None:
            name = self.function(ctx)
            return owner_from_name(name) if name else ""
        token = get_access_token()
        if token is not None:
            subject = {} if token.subject is None else {"sub": token.subject}
            return owner_from_claims({**(token.claims or {}), **subject}, self.claims) or ""
        return LOCAL if ctx.request is None else ""


def _holder(ctx: Context, name: str | None) -> str:
    """A digest of the caller, or of the session of a 2025 revision if the caller is unknown. On other revisions
    the header of the session is the client's own word, and could be another for each call."""
    if name is None:
        is_session = ctx.request is not None and revision_of(ctx.protocol_version).era is Era.PUSH
        session = ctx.request.headers.get(MCP_SESSION_ID_HEADER) if is_session and ctx.request else None
        if not session:
            return ""
        holder = f"session {session}"
    else:
        holder = f"caller {name}"
    return sha256(holder.encode("utf-8", "surrogatepass")).hexdigest()[:32]
