"""What travels with the client is sealed by the SDK's own boundary, with the operator's choices."""

import json
from collections.abc import Callable
from typing import Any, cast

import pytest
from mcp.server import MCPServer
from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError

from askback.protocol.server.rounds import SEALED_UNTIL
from askback.server.hosts.boundary import BoundaryOptions, Context, ExpiryCodec, install_boundary

pytestmark = pytest.mark.anyio

KEY, OLD = b"k" * 32, b"o" * 32
TOOL: dict[str, Any] = {"name": "order", "arguments": {"guest": "you", "seats": 2}}
REFUSED = "Invalid or expired requestState"


def context(method: str, params: dict[str, Any]) -> Context:
    return ServerRequestContext(
        session=cast("Any", None),
        lifespan_context={},
        protocol_version="2026-07-28",
        method=method,
        params=params,
    )


def installed(
    *keys: bytes, name: str = "shop", think_time: float = 60.0, principal: str | None = None
) -> RequestStateBoundary:
    """The boundary of a low-level server, which has none of its own."""
    server: Server[Any] = Server(name)
    options = BoundaryOptions(
        keys=keys or [KEY], think_time=think_time, caller=lambda _: principal, default_think_time=1.0
    )
    install_boundary(server, options)
    return boundary_of(server)


def boundary_of(server: Server[Any]) -> RequestStateBoundary:
    (boundary,) = (item for item in server.middleware if isinstance(item, RequestStateBoundary))
    return boundary


async def sealed(boundary: RequestStateBoundary, state: str = "state") -> str:
    async def body(_: Context) -> HandlerResult:
        return {"resultType": "input_required", "requestState": state}

    result = await boundary(context("tools/call", TOOL), body)
    assert isinstance(result, dict)
    return result["requestState"]


async def opened(
    boundary: RequestStateBoundary, token: str, method: str = "tools/call", params: dict[str, Any] = TOOL
) -> tuple[str, float]:
    """The state as what is inside the boundary sees it, and when its seal expires."""
    seen: list[tuple[str, float]] = []

    async def body(ctx: Context) -> HandlerResult:
        assert ctx.params is not None
        seen.append((ctx.params["requestState"], SEALED_UNTIL.get()))
        return {"resultType": "complete"}

    await boundary(context(method, {**params, "requestState": token}), body)
    return seen[0]


def test_the_boundary_is_the_sdks_own():
    assert type(installed()) is RequestStateBoundary


async def test_a_worker_knows_until_when_another_has_sealed():
    patient = installed(think_time=1000.0)
    token = await sealed(patient)
    claims = json.loads(ExpiryCodec(RequestStateSecurity(keys=[KEY]).codec).unseal(token))
    assert await opened(installed(think_time=1.0), token) == ("state", claims["exp"])
    assert claims["exp"] - claims["iat"] == 1000.0


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("prompts/get", TOOL),
        ("tools/call", {**TOOL, "name": "cancel"}),
        ("tools/call", {"name": "order", "arguments": {"guest": "me", "seats": 2}}),
        ("tools/call", {"name": "order"}),
    ],
)
async def test_another_call_is_refused(method: str, params: dict[str, Any]):
    with pytest.raises(MCPError, match=REFUSED):
        await opened(installed(), await sealed(installed()), method, params)


OTHERS: dict[str, Callable[[], RequestStateBoundary]] = {
    "another server": lambda: installed(name="bank"),
    "a caller where nobody was known": lambda: installed(principal="ann"),
    "another key": lambda: installed(OLD),
}


@pytest.mark.parametrize("other", OTHERS)
async def test_another_server_caller_or_key_is_refused(other: str):
    with pytest.raises(MCPError, match=REFUSED):
        await opened(OTHERS[other](), await sealed(installed()))


async def test_every_key_opens_and_the_first_seals():
    token = await sealed(installed(OLD))
    assert (await opened(installed(KEY, OLD), token))[0] == "state"
    with pytest.raises(MCPError, match=REFUSED):
        await opened(installed(OLD), await sealed(installed(KEY, OLD)))


async def test_a_codec_of_the_operators_own_stays_where_no_keys_are_given():
    class Reversed:
        def seal(self, payload: bytes) -> str:
            return payload.decode()[::-1]

        def unseal(self, token: str) -> bytes:
            return token[::-1].encode()

    server: MCPServer[Any] = MCPServer(
        "shop", request_state_security=RequestStateSecurity(codec=Reversed(), ttl=7.0)
    )
    lowlevel: Server[Any] = vars(server)["_lowlevel_server"]
    found = install_boundary(
        lowlevel, BoundaryOptions(keys=None, think_time=None, caller=None, default_think_time=1.0)
    )
    token = await sealed(boundary_of(lowlevel))
    assert json.loads(token[::-1])["s"] == "state"
    assert (await opened(boundary_of(lowlevel), token))[0] == "state"
    assert found.life == 7.0
    assert found.open(token) == token[::-1].encode()


@pytest.mark.parametrize("payload", ["no json", "[]", "{}", '{"exp": null}', '{"exp": "soon"}'])
async def test_what_was_sealed_and_is_no_state_is_refused(payload: str):
    token = RequestStateSecurity(keys=[KEY]).codec.seal(payload.encode())
    with pytest.raises(MCPError, match=REFUSED):
        await opened(installed(), token)
