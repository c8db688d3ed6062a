"""What all events of one call have in common: who called what, with which client, and how that speaks."""

import json
from dataclasses import dataclass
from hashlib import sha256

from mcp.server.auth.middleware.auth_context import get_access_token

from askback.model.journal import Journal
from askback.model.owners import LOCAL
from askback.protocol.revisions import KINDS, target_of
from askback.server.hosts.boundary import Caller, Context

MAX_CALLER_LENGTH = 200
"""Characters; of a longer principal the digest is written."""

MAX_CLIENT_LENGTH = 100
"""Characters of what a client calls itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFacts:
    """None for what is not known: of a page, which call it belongs to, and little else."""

    server: str
    journal: Journal
    kind: str | None = None
    target: str | None = None
    arguments: str | None = None
    """A digest."""
    caller: str | None = None
    client: str | None = None
    revision: str | None = None

    @property
    def call(self) -> str:
        """The conversation's id; empty until it has one."""
        return self.journal.conversation


def read_call_facts(ctx: Context, journal: Journal, *, server: str, caller: Caller) -> CallFacts:
    target, arguments = target_of(ctx.method, ctx.params or {})
    return CallFacts(
        server=server,
        journal=journal,
        kind=KINDS.get(ctx.method),
        target=target,
        arguments=_digest(json.dumps(arguments, sort_keys=True, separators=(",", ":"))),
        caller=_caller(ctx, caller),
        client=_client(ctx),
        revision=ctx.protocol_version,
    )


def shorten_caller(caller: str) -> str:
    return caller if len(caller) <= MAX_CALLER_LENGTH else f"sha256:{_digest(caller)}"


def _caller(ctx: Context, caller: Caller) -> str | None:
    """As the seal binds it; None where nobody tells."""
    told = caller(ctx)
    if told is None:
        return LOCAL if ctx.request is None and get_access_token() is None else None
    return shorten_caller(told)


def _client(ctx: Context) -> str | None:
    params = ctx.session.client_params
    if params is None:
        return None
    return f"{params.client_info.name} {params.client_info.version}"[:MAX_CLIENT_LENGTH].strip()


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
