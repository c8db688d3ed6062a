"""The SDK's boundary, which seals what travels with the client between rounds: installed and configured."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from inspect import signature
from typing import Any, cast

from mcp.server.context import ServerMiddleware, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import (
    AESGCMRequestStateCodec,
    RequestStateBoundary,
    RequestStateCodec,
    RequestStateSecurity,
    authenticated_principal,
)
from pydantic_core import from_json

from askback.errors import AuthorError
from askback.protocol.server.rounds import SEALED_UNTIL

Context = ServerRequestContext[Any, Any]
CallerFunction = Callable[[Context], str | None]
Keys = Sequence[bytes | bytearray | str]

SDK_THINK_TIME: object = signature(RequestStateSecurity).parameters["ttl"].default
"""The SDK's default as an object: a time to live that the author wrote is another object, even if it is as long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundaryOptions:
    """The operator's choices for the boundary. None keeps the choice of the server."""

    keys: Keys | None
    think_time: float | None
    caller: CallerFunction | None
    default_think_time: float


class ExpiryCodec:
    """Seals and opens with another codec, and notes for the request when the opened state expires.

    A worker with another `think_time` may have sealed it.
    """

    def __init__(self, codec: RequestStateCodec) -> None:
        self.seal, self._unseal = codec.seal, codec.unseal

    def unseal(self, token: str) -> bytes:
        payload = self._unseal(token)
        with suppress(ValueError, KeyError, TypeError):  # the boundary refuses it, and says why in the log
            SEALED_UNTIL.set(float(from_json(payload, cache_strings="none")["exp"]))
        return payload


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledBoundary:
    """The boundary of a server as Askback installed it."""

    life: float
    """Seconds until a state expires."""
    caller: CallerFunction
    """The principal that a state is bound to."""
    open: Callable[[str], bytes]
    """Opens a sealed state, and raises an error of its codec for anything else."""


def install_boundary(lowlevel: Server[Any], options: BoundaryOptions) -> InstalledBoundary:
    """Install the boundary that seals the state, or replace the present one by one with the operator's choices."""
    chain = lowlevel.middleware
    at = _place_of_boundary(chain)
    old = None if at is None else cast("RequestStateBoundary", chain[at])
    before = None if old is None else old._security  # pyright: ignore[reportPrivateUsage]
    audience = lowlevel.name if old is None else old._audience  # pyright: ignore[reportPrivateUsage]
    codec = _codec(options.keys, before)
    security = RequestStateSecurity(
        codec=ExpiryCodec(codec),
        ttl=_time_to_live(options, before),
        bind_principal=options.caller
        or (authenticated_principal if before is None else before.bind_principal),
    )
    boundary = RequestStateBoundary(security, default_audience=audience)
    if at is None:
        # Outermost but for the SDK's tracing, whose spans should record the sealed form.
        at = 1 if chain and type(chain[0]).__name__ == "OpenTelemetryMiddleware" else 0
        chain.insert(at, boundary)
    else:
        chain[at] = boundary
    return InstalledBoundary(
        life=security.ttl, caller=security.bind_principal or (lambda ctx: None), open=codec.unseal
    )


def _codec(keys: Keys | None, before: RequestStateSecurity | None) -> RequestStateCodec:
    if keys is not None:
        return AESGCMRequestStateCodec(keys)
    return RequestStateSecurity.ephemeral().codec if before is None else before.codec


def _time_to_live(options: BoundaryOptions, before: RequestStateSecurity | None) -> float:
    if options.think_time is not None:
        return options.think_time
    if before is None or before.ttl is SDK_THINK_TIME:
        return options.default_think_time
    return before.ttl


def install(lowlevel: Server[Any], middleware: ServerMiddleware[Any], *, places_inside: int = 1) -> None:
    """Put `middleware` directly inside the boundary."""
    at = _place_of_boundary(lowlevel.middleware)
    assert at is not None
    lowlevel.middleware.insert(at + places_inside, middleware)


def install_outside(lowlevel: Server[Any], middleware: ServerMiddleware[Any]) -> None:
    """Put `middleware` directly outside the boundary, where it sees requests that the boundary refuses."""
    install(lowlevel, middleware, places_inside=0)


def _place_of_boundary(chain: Sequence[object]) -> int | None:
    return next((i for i, item in enumerate(chain) if isinstance(item, RequestStateBoundary)), None)


def require_one_boundary(lowlevel: Server[Any]) -> None:
    """Refuse to start a server with a boundary inside ours: its keys would not seal what clients carry."""
    if sum(isinstance(item, RequestStateBoundary) for item in lowlevel.middleware) > 1:
        raise AuthorError(
            f"The server {lowlevel.name!r} has a RequestStateBoundary besides Askback's own, and inside it: its keys, "
            "its ttl and its principal would not hold for what clients carry. Add it before Askback(server), which "
            "then takes them over, or give Askback(keys=..., think_time=..., caller=...)."
        )
