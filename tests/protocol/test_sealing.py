"""Our boundary and the SDK's are one to whoever looks from outside: what one seals, the other opens or refuses."""

import json
from collections import UserString
from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as some
from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types import InputRequiredResult

from askback.server.hosts.boundary import Boundary, boundary_class

Context = ServerRequestContext[Any, Any]

KEY = b"k" * 32
TEXTS = some.text(some.characters(exclude_categories=()), max_size=12)  # halves of surrogate pairs among them
SCALARS = some.none() | some.booleans() | some.integers() | some.floats() | TEXTS
VALUES = some.recursive(
    SCALARS,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
ARGUMENTS = some.dictionaries(TEXTS, VALUES, max_size=4)
KINDS = [(Boundary, RequestStateBoundary), (RequestStateBoundary, Boundary), (Boundary, Boundary)]
"""Who seals, and who opens."""

TOOL: dict[str, Any] = {"name": "order", "arguments": {"guest": "you", "seats": 2}}


def context(method: str, params: Mapping[str, Any] | None) -> Context:
    return ServerRequestContext(
        session=cast("Any", None),
        lifespan_context={},
        protocol_version="2026-07-28",
        method=method,
        params=params,
    )


def made(
    kind: type[RequestStateBoundary],
    *,
    ttl: float = 60.0,
    audience: str | None = "shop",
    principal: str | None = None,
) -> RequestStateBoundary:
    security = RequestStateSecurity(keys=[KEY], ttl=ttl, bind_principal=lambda _: principal)
    return kind(security, default_audience=audience)


async def sealed(boundary: RequestStateBoundary, method: str, params: Mapping[str, Any], state: str) -> str:
    async def body(_: Context) -> HandlerResult:
        return {"resultType": "input_required", "requestState": state}

    result = await boundary(context(method, params), body)
    assert isinstance(result, dict)
    return result["requestState"]


async def opened(
    boundary: RequestStateBoundary, method: str, params: Mapping[str, Any], token: object
) -> str:
    seen: list[str] = []

    async def body(ctx: Context) -> HandlerResult:
        assert ctx.params is not None
        seen.append(ctx.params["requestState"])
        return {"resultType": "complete"}

    await boundary(context(method, {**params, "requestState": token}), body)
    return seen[0]


@pytest.mark.parametrize(("sealing", "opening"), KINDS)
@given(arguments=ARGUMENTS, name=TEXTS, state=TEXTS, audience=some.none() | TEXTS)
async def test_what_either_has_sealed_the_other_opens(
    sealing: type[RequestStateBoundary],
    opening: type[RequestStateBoundary],
    arguments: dict[str, Any],
    name: str,
    state: str,
    audience: str | None,
):
    params = {"name": name, "arguments": arguments}
    token = await sealed(made(sealing, audience=audience), "tools/call", params, state)
    assert await opened(made(opening, audience=audience), "tools/call", params, token) == state


@pytest.mark.parametrize(("sealing", "opening"), KINDS)
async def test_names_in_another_order_are_the_same_arguments(
    sealing: type[RequestStateBoundary], opening: type[RequestStateBoundary]
):
    token = await sealed(made(sealing), "tools/call", TOOL, "state")
    turned = {"name": "order", "arguments": dict(reversed(TOOL["arguments"].items()))}
    assert await opened(made(opening), "tools/call", turned, token) == "state"


@pytest.mark.parametrize(("sealing", "opening"), KINDS)
@pytest.mark.parametrize("character", [chr(code) for code in range(128)], ids=ascii)
async def test_no_character_is_one_that_they_write_differently(
    sealing: type[RequestStateBoundary], opening: type[RequestStateBoundary], character: str
):
    params = {"name": "order", "arguments": {f"for {character}": character}}
    token = await sealed(made(sealing), "tools/call", params, "state")
    assert await opened(made(opening), "tools/call", params, token) == "state"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("prompts/get", TOOL),
        ("tools/call", {**TOOL, "name": "cancel"}),
        ("tools/call", {"name": "order", "arguments": {"guest": "me", "seats": 2}}),
        ("tools/call", {"name": "order", "arguments": {"guest": "you", "seats": 2.0}}),
        ("tools/call", {"name": "order", "arguments": {"guest": "you", "seats": True}}),
        ("tools/call", {"name": "order", "arguments": {"guest": "you"}}),
        ("tools/call", {"name": "order"}),
    ],
)
@pytest.mark.parametrize(("sealing", "opening"), KINDS)
async def test_another_call_is_refused(
    sealing: type[RequestStateBoundary],
    opening: type[RequestStateBoundary],
    method: str,
    params: dict[str, Any],
):
    token = await sealed(made(sealing), "tools/call", TOOL, "state")
    with pytest.raises(MCPError, match="Invalid or expired requestState"):
        await opened(made(opening), method, params, token)


@pytest.mark.parametrize(("sealing", "opening"), KINDS)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"audience": "bank"}),
        ({"audience": None}, {}),
        ({}, {"principal": "ann"}),
        ({"principal": "ann"}, {}),
        ({"principal": "ann"}, {"principal": "bob"}),
    ],
)
async def test_another_server_or_caller_is_refused(
    sealing: type[RequestStateBoundary],
    opening: type[RequestStateBoundary],
    before: dict[str, Any],
    after: dict[str, Any],
):
    token = await sealed(made(sealing, **before), "tools/call", TOOL, "state")
    assert await opened(made(opening, **before), "tools/call", TOOL, token) == "state"
    with pytest.raises(MCPError, match="Invalid or expired requestState"):
        await opened(made(opening, **after), "tools/call", TOOL, token)


@pytest.mark.parametrize(
    "claims",
    [
        {"v": 2},
        {"iat": 4e9},
        {"iat": "now"},
        {"exp": 1.0},
        {"exp": float("nan")},
        {"exp": None},
        {"s": {"not": "text"}},
        {"m": None},
        {"p": None, "aud": None},
        {"p": "somebody's"},
    ],
)
async def test_claims_that_are_not_in_order_are_refused_though_the_seal_is_good(claims: dict[str, Any]):
    boundary = made(Boundary)
    codec = made(Boundary)._security.codec  # pyright: ignore[reportPrivateUsage]
    good = json.loads(codec.unseal(await sealed(boundary, "tools/call", TOOL, "state")))
    token = codec.seal(json.dumps({**good, **claims}).encode())
    for kind in (Boundary, RequestStateBoundary):
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await opened(made(kind), "tools/call", TOOL, token)


@pytest.mark.parametrize("token", ["", "v1.", "v1.AAAA", "not a token", 7, ["v1."], {}])
async def test_what_is_no_token_is_refused(token: object):
    with pytest.raises(MCPError, match="Invalid or expired requestState"):
        await opened(made(Boundary), "tools/call", TOOL, token)


async def test_every_other_spelling_of_a_token_is_refused():
    """One byte more or less, another alphabet, padding: the bytes would be the same, and the token is not."""
    token = await sealed(made(Boundary), "tools/call", TOOL, "state of some length")
    head, last = token[:-1], token[-1]
    others = [
        f"{head}{other}"
        for other in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        if other != last
    ]
    others += [
        f"{token}=",
        f"{token}==",
        f"{token}\n",
        f" {token}",
        token.upper(),
        token.replace("v1.", "v2."),
        f"{token}é",
    ]
    others += [token.replace("-", "+").replace("_", "/")] if {"-", "_"} & set(token) else []
    for other in others:
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await opened(made(Boundary), "tools/call", TOOL, other)
    assert await opened(made(Boundary), "tools/call", TOOL, token) == "state of some length"


@pytest.mark.parametrize(("sealing", "opening"), KINDS)
async def test_every_key_of_the_ring_opens_and_a_stranger_to_it_does_not(
    sealing: type[RequestStateBoundary], opening: type[RequestStateBoundary]
):
    def with_keys(kind: type[RequestStateBoundary], *keys: bytes) -> RequestStateBoundary:
        return kind(RequestStateSecurity(keys=keys), default_audience="shop")

    old, new = b"o" * 32, b"n" * 32
    token = await sealed(with_keys(sealing, old), "tools/call", TOOL, "state")
    assert await opened(with_keys(opening, new, old), "tools/call", TOOL, token) == "state"
    with pytest.raises(MCPError, match="Invalid or expired requestState"):
        await opened(with_keys(opening, new), "tools/call", TOOL, token)


async def test_a_codec_of_the_operators_own_is_used_as_it_is():
    class Reversed:
        def seal(self, payload: bytes) -> str:
            return payload.decode()[::-1]

        def unseal(self, token: str) -> bytes:
            return token[::-1].encode()

    boundary = Boundary(RequestStateSecurity(codec=Reversed()), default_audience="shop")
    token = await sealed(boundary, "tools/call", TOOL, "state")
    assert json.loads(token[::-1])["s"] == "state"
    assert await opened(boundary, "tools/call", TOOL, token) == "state"


@pytest.mark.parametrize("kind", [Boundary, RequestStateBoundary])
async def test_who_calls_is_looked_up_once_each_time(kind: type[RequestStateBoundary]):
    """It may be a look into a directory."""
    asked: list[str] = []

    def look_up(ctx: Context) -> str:
        asked.append(ctx.method)
        return "ann"

    boundary = kind(RequestStateSecurity(keys=[KEY], bind_principal=look_up), default_audience="shop")
    token = await sealed(boundary, "tools/call", TOOL, "state")
    assert len(asked) == 1
    assert await opened(boundary, "tools/call", TOOL, token) == "state"
    assert len(asked) == 2


def no_directory(_: Context) -> Any:
    raise RuntimeError("no directory")


def like_a_text(_: Context) -> Any:
    return UserString("ann")


@pytest.mark.parametrize("look_up", [no_directory, like_a_text])
@pytest.mark.parametrize("principal", [None, "ann"])
@pytest.mark.parametrize("kind", [Boundary, RequestStateBoundary])
async def test_for_a_caller_that_cannot_be_told_nothing_is_sealed_and_nothing_opened(
    kind: type[RequestStateBoundary], principal: str | None, look_up: Callable[[Context], Any]
):
    token = await sealed(made(kind, principal=principal), "tools/call", TOOL, "state")
    boundary = kind(RequestStateSecurity(keys=[KEY], bind_principal=look_up), default_audience="shop")
    with pytest.raises(MCPError, match="Invalid or expired requestState"):
        await opened(boundary, "tools/call", TOOL, token)
    with pytest.raises(MCPError, match="Internal error"):
        await sealed(boundary, "tools/call", TOOL, "state")


@pytest.mark.parametrize("kind", [Boundary, RequestStateBoundary])
async def test_what_needs_no_seal_passes_as_it_is(kind: type[RequestStateBoundary]):
    results: list[HandlerResult] = [
        None,
        {"resultType": "complete", "requestState": "not ours"},
        {"resultType": "input_required", "inputRequests": {}},
        {"resultType": "input_required", "requestState": 7},
    ]
    for result in results:

        async def body(_: Context, result: HandlerResult = result) -> HandlerResult:
            return result

        assert await made(kind)(context("tools/call", TOOL), body) is result
    asks = {"resultType": "input_required", "requestState": "state"}

    async def listed(_: Context) -> HandlerResult:
        return asks

    assert await made(kind)(context("tools/list", {}), listed) is asks


async def test_a_result_that_is_a_model_is_sealed_too():
    async def body(_: Context) -> HandlerResult:
        return InputRequiredResult(request_state="state")

    result = await made(Boundary)(context("tools/call", TOOL), body)
    assert isinstance(result, InputRequiredResult)
    assert await opened(made(RequestStateBoundary), "tools/call", TOOL, result.request_state) == "state"


async def test_the_context_of_those_outside_keeps_the_sealed_state():
    token = await sealed(made(Boundary), "tools/call", TOOL, "state")
    outer = context("tools/call", {**TOOL, "requestState": token})
    inner: list[Context] = []

    async def body(ctx: Context) -> HandlerResult:
        inner.append(ctx)
        return {}

    await made(Boundary)(outer, body)
    assert outer.params == {**TOOL, "requestState": token}
    assert inner[0].params == {**TOOL, "requestState": "state"}
    assert vars(inner[0]) | {"params": None} == vars(outer) | {"params": None}


def test_where_the_sdk_has_moved_its_own_boundary_is_used(monkeypatch: pytest.MonkeyPatch):
    assert boundary_class() is Boundary
    monkeypatch.setattr(RequestStateBoundary, "_seal", lambda self, claims: "")  # pyright: ignore[reportUnknownArgumentType,reportUnknownLambdaType]
    assert boundary_class() is RequestStateBoundary
    monkeypatch.delattr(RequestStateBoundary, "_seal")
    assert boundary_class() is RequestStateBoundary


@pytest.mark.parametrize("claim", [{"jti": "one of a kind"}, {"v": 2}, {"a": "another digest"}], ids=str)
def test_where_the_sdk_seals_other_claims_its_own_boundary_is_used(
    claim: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    """Ours would not look at them."""
    before: Any = RequestStateBoundary._seal  # pyright: ignore[reportPrivateUsage]

    def seal(self: Any, ctx: Any, state: str, binding: Any = None) -> str:
        return json.dumps({**json.loads(before(self, ctx, state, binding)), **claim})

    monkeypatch.setattr(RequestStateBoundary, "_seal", seal)
    assert boundary_class() is RequestStateBoundary
