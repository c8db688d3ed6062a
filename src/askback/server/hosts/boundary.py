"""The SDK's boundary in less time: every question crosses it twice, and most calls are in order.

The seal is the SDK's, and so are the claims under it: what either has sealed, the other opens. What is not in order
here is left to the SDK, which refuses it, and says why in the log.
"""

import json
from binascii import a2b_base64, b2a_base64
from functools import lru_cache
from hashlib import sha256
from inspect import signature
from os import urandom
from types import SimpleNamespace
from typing import Any

from mcp.server import request_state
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.request_state import AESGCMRequestStateCodec, RequestStateBoundary, RequestStateSecurity
from mcp_types.methods import INPUT_REQUIRED_METHODS
from pydantic_core import from_json, to_json

from askback.model.durations import CLOCK_SKEW
from askback.protocol.revisions import TOOLS_CALL, target_of
from askback.protocol.server.nested_rounds import asks_by_itself
from askback.protocol.server.state import SEALED_UNTIL, STATE

Context = ServerRequestContext[Any, Any]
Binding = tuple[str, str, str | None]
"""What a round is bound to: its target, a digest of its arguments, and the principal."""

ENVELOPE = 1
"""The version of the claims that are written and read here."""

_sdk: Any = request_state
"""For the SDK's clock: whoever sets that for a test sets it for the seal."""

_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode

_KEPT, _LONGEST_KEPT = 512, 500
"""Arguments whose digest is kept, and bytes of each."""

_PLAIN = frozenset({str, int, bool, type(None)})

_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_STANDARD = bytes.maketrans(b"-_", b"+/")

_PREFIX, _KEY_ID, _NONCE = b"v1.", 4, 12
"""A token of the SDK's codec: what it begins with, and bytes of the key's id and of the nonce before what is sealed."""

_principal_claim: Any = getattr(request_state, "_principal_claim", None)
_principal_matches: Any = getattr(request_state, "_principal_matches", None)
"""The SDK's own: the claim is a salted digest. Where an SDK does not have them, who calls is left to its boundary."""


class Boundary(RequestStateBoundary):
    """Seals and opens by itself where nothing is amiss."""

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        params = ctx.params
        if ctx.method not in INPUT_REQUIRED_METHODS:
            return await call_next(ctx)
        binding: Binding | None = None
        if params is not None and params.get(STATE) is not None:
            state, binding = self._unseal(ctx)
            ctx = with_params(ctx, {**params, STATE: state})
        result = await call_next(ctx)
        if not isinstance(result, dict):
            return self._seal_result(ctx, result, binding)
        state = result.get(STATE)
        if not isinstance(state, str) or not asks_by_itself(result):
            return result
        return {**result, STATE: self._seal(ctx, state, binding)}

    def _unseal(self, ctx: Context) -> tuple[str, Binding]:
        try:
            params: Any = ctx.params
            claims = from_json(_opened(self._security.codec, params[STATE]), cache_strings="none")
            target, digest, principal = self._bound(ctx)
            now = _sdk.time.time()
            if (
                claims["v"] == ENVELOPE
                and claims["iat"] <= now + CLOCK_SKEW
                and now < claims["exp"]
                and claims["m"] == ctx.method
                and claims["t"] == target
                and claims["a"] == digest
                and claims.get("aud") == self._audience
                and type(claims["s"]) is str
                and _is_bound_to(principal, claims)
            ):
                SEALED_UNTIL.set(claims["exp"])
                return claims["s"], (target, digest, principal)
        except Exception:  # noqa: BLE001 - a codec may raise anything, and the SDK knows what to say of it
            pass
        unsealed = super()._unseal(ctx)
        SEALED_UNTIL.set(self._expiry(ctx))
        return unsealed

    def _expiry(self, ctx: Context) -> float:
        """Of a state that the SDK has just opened."""
        params: Any = ctx.params
        return float(json.loads(self._security.codec.unseal(params[STATE]))["exp"])

    def _seal(self, ctx: Context, state: str, binding: Binding | None = None) -> str:
        try:
            target, digest, principal = binding or self._bound(ctx)
            now = _sdk.time.time()
            claims = {
                "v": ENVELOPE,
                "iat": now,
                "exp": now + self._security.ttl,
                "m": ctx.method,
                "t": target,
                "a": digest,
                "s": state,
            }
            if self._audience is not None:
                claims["aud"] = self._audience
            if principal is not None:
                claims["p"] = _principal_claim(principal)
            return _sealed(self._security.codec, to_json(claims))
        except Exception:  # noqa: BLE001 - as above
            pass
        return super()._seal(ctx, state, binding)

    def _bound(self, ctx: Context) -> Binding:
        bind = self._security.bind_principal
        principal = None if bind is None else bind(ctx)
        if principal is not None and not isinstance(principal, str):  # pyright: ignore[reportUnnecessaryIsInstance] # authors err
            raise TypeError("a principal is a text")  # which the SDK says in its own words
        target, arguments = target_of(ctx.method, ctx.params or {})
        return target, _digest(arguments), principal


def _sealed(codec: Any, payload: bytes) -> str:
    """As the codec seals it; the SDK's own takes a third of its time over the alphabet of the token."""
    if type(codec) is not AESGCMRequestStateCodec:
        return codec.seal(payload)
    ring: Any = codec
    key, nonce = ring._mint_kid, urandom(_NONCE)
    return _token(key + nonce + ring._ring[key].encrypt(nonce, payload, _PREFIX + key)).decode()


def _opened(codec: Any, token: Any) -> bytes:
    if type(codec) is not AESGCMRequestStateCodec:
        return codec.unseal(token)
    written = token.encode("ascii")
    text = written[len(_PREFIX) :].translate(_STANDARD)
    raw = a2b_base64(text + b"=" * (-len(text) % 4))
    if _token(raw) != written:  # there are other ways to spell the same bytes, and none of them is ours
        raise ValueError("not a token of this codec")
    ring: Any = codec
    key, nonce, sealed = raw[:_KEY_ID], raw[_KEY_ID : _KEY_ID + _NONCE], raw[_KEY_ID + _NONCE :]
    return ring._ring[key].decrypt(nonce, sealed, _PREFIX + key)


def _token(raw: bytes) -> bytes:
    return _PREFIX + b2a_base64(raw, newline=False).rstrip(b"=").translate(_URL_SAFE)


def _is_bound_to(principal: str | None, claims: dict[str, Any]) -> bool:
    if principal is None:
        return "p" not in claims
    return _principal_matches(claims["p"], principal)


def _digest(arguments: dict[str, Any]) -> str:
    """As the SDK has it: of JSON in ASCII with its names in order."""
    written = b""
    if _PLAIN.issuperset(map(type, arguments.values())):
        # The same text in less time; but of what is ASCII, the standard library escapes one character more.
        written = to_json(dict(sorted(arguments.items())) if len(arguments) > 1 else arguments)
    if not written or not written.isascii() or b"\x7f" in written:
        written = _canonical(arguments).encode()
    return _kept_digest(written) if len(written) <= _LONGEST_KEPT else _digest_of(written)


def _digest_of(written: bytes) -> str:
    return b2a_base64(sha256(written).digest()[:16])[:22].translate(_URL_SAFE).decode()


_kept_digest = lru_cache(maxsize=_KEPT)(_digest_of)
"""Every round of a call brings the same arguments."""


def with_params(ctx: Context, params: dict[str, Any]) -> Context:
    """A copy of the context; `dataclasses.replace` takes five times as long for it."""
    other = object.__new__(type(ctx))
    other.__dict__ = {**ctx.__dict__, "params": params}
    return other


_STEPS = {
    "_unseal": ("self", "ctx"),
    "_seal": ("self", "ctx", "state", "binding"),
    "_seal_result": ("self", "ctx", "result", "binding"),
}
"""What the SDK's boundary does that is done here in its stead, or left to it."""


def boundary_class() -> type[RequestStateBoundary]:
    """Ours, as long as the SDK's takes the same steps and seals the same claims in the same tokens; else the SDK's own,
    which is as good and takes longer."""
    steps = {name: getattr(RequestStateBoundary, name, None) for name in _STEPS}
    are_there = all(
        step is not None and (*signature(step).parameters,) == _STEPS[name] for name, step in steps.items()
    )
    has_plain_contexts = "__slots__" not in vars(ServerRequestContext)
    return Boundary if are_there and has_plain_contexts and _seal_alike() else RequestStateBoundary


class _Unsealed:
    """A codec that shows what would be sealed."""

    def seal(self, payload: bytes) -> str:
        return payload.decode()

    def unseal(self, token: str) -> bytes:
        return token.encode()


def _seal_alike() -> bool:
    try:
        codec, sample = AESGCMRequestStateCodec([bytes(32)]), b"state"
        opens_ours = codec.unseal(_sealed(codec, sample)) == sample
        is_opened_here = _opened(codec, codec.seal(sample)) == sample
        have_same_claims = _claims_of(Boundary) == _claims_of(RequestStateBoundary)
        return opens_ours and is_opened_here and have_same_claims
    except Exception:  # noqa: BLE001 - whatever another SDK makes of such a call, it is not what is known here
        return False


def _claims_of(kind: type[RequestStateBoundary]) -> dict[str, Any]:
    """What a boundary seals for some call; of what differs each time, only that it is there."""
    params = {"name": "order", "arguments": {"pizza": "Margherita", "pieces": 2}}
    security = RequestStateSecurity(codec=_Unsealed(), bind_principal=lambda _: "guest")
    boundary: Any = kind(security, default_audience="pizzeria")
    claims = json.loads(boundary._seal(SimpleNamespace(method=TOOLS_CALL, params=params), "state"))
    return {name: None if name in _OF_THE_MOMENT else claim for name, claim in claims.items()}


_OF_THE_MOMENT = frozenset({"iat", "exp", "p"})
