"""Whose a secret is: over HTTP whoever the authorization names, on this machine whoever uses it, else nobody's."""

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.context import ServerRequestContext
from mcp_types import Implementation, TextContent

from askback import Accepted, Askback, CannotAsk, secret
from askback.errors import VisitorUnknown
from askback.model.owners import (
    LOCAL,
    describe_owner,
    matches_owner,
    owner_from_claims,
    owner_from_name,
)
from askback.pages import Pages
from askback.testing import run_tool
from askback.vault.vault import Vault, VaultItem
from tests.support.servers.http import served

WEATHER = VaultItem("secret", "weather key")
ISSUER = "https://id.example"

PAGES = Pages(url="https://tools.example", accept_anyone=True)


class Tokens:
    """A token is what it claims, in JSON; all are of the same client."""

    async def verify_token(self, token: str) -> AccessToken:
        claims: dict[str, Any] = json.loads(token)
        return AccessToken(
            token=token, client_id="one app", scopes=[], subject=claims.get("sub"), claims=claims
        )


async def forecast() -> str:
    try:
        match await secret("Your key.", "weather key"):
            case Accepted(key):
                return f"with {key.reveal()}"
            case other:
                return type(other).__name__
    except CannotAsk:
        return "CannotAsk"
    except VisitorUnknown as error:
        return f"VisitorUnknown: {error}"


def protected(vault: Vault, pages: Pages = PAGES) -> MCPServer[Any]:
    address: Any = "http://127.0.0.1/"
    server: MCPServer[Any] = MCPServer(
        "weather",
        token_verifier=Tokens(),
        auth=AuthSettings(
            issuer_url=address, resource_server_url=address, required_scopes=[], validate_token_resource=False
        ),
    )
    server.add_tool(forecast, name="t")
    Askback(server, vault=vault, pages=pages)
    return server


def with_headers(vault: Vault, caller: Callable[..., str | None] | None) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("weather")
    server.add_tool(forecast, name="t")
    Askback(server, vault=vault, pages=PAGES, caller=caller)
    return server


async def called(url: str, client_name: str = "client", **headers: str) -> str:
    """What the tool says to somebody who comes with these headers."""
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(
            streamable_http_client(url, http_client=http),
            client_info=Implementation(name=client_name, version="1"),
        ) as client,
    ):
        result = await client.call_tool("t", {})
    return "".join(part.text for part in result.content if isinstance(part, TextContent))


async def bearing(url: str, client_name: str = "client", /, **claims: Any) -> str:
    return await called(url, client_name, authorization=f"Bearer {json.dumps(claims)}")


def owner(**claims: str) -> str:
    found = owner_from_claims(claims)
    assert found is not None
    return found


@pytest.mark.verifies("R26", "R28", "T26")
async def test_each_subject_has_a_vault_of_their_own_in_whatever_session(vault: Vault):
    await vault.put(owner(iss=ISSUER, sub="ada"), WEATHER, {"value": "ada's"})
    async with served(protected(vault)) as url:
        assert await bearing(url, iss=ISSUER, sub="ada") == "with ada's"
        assert await bearing(url, iss=ISSUER, sub="ada", jti="another token") == "with ada's"
        assert await bearing(url, iss=ISSUER, sub="bob") == "CannotAsk"
        assert await bearing(url, iss="https://other.example", sub="ada") == "CannotAsk"


NOBODY: dict[str, dict[str, Any]] = {
    "no claims": {},
    "no subject": {"iss": ISSUER},
    "an empty subject": {"iss": ISSUER, "sub": ""},
    "no issuer": {"sub": "ada"},
}


@pytest.mark.verifies("T26", "R26")
@pytest.mark.parametrize("which", NOBODY)
async def test_two_users_of_one_client_whom_no_token_names_share_nothing(vault: Vault, which: str):
    async with served(protected(vault)) as url:
        for number in range(2):
            said = await bearing(url, **NOBODY[which], jti=f"user {number}")
            assert said.startswith("VisitorUnknown: secret(...) keeps something for its caller")
    assert await vault.list_items() == []


@pytest.mark.verifies("T26")
async def test_without_authorization_nobody_over_http_has_a_vault(vault: Vault):
    await vault.put(LOCAL, WEATHER, {"value": "whoever sits at the server"})
    async with served(with_headers(vault, None)) as url:
        assert (await called(url)).startswith("VisitorUnknown: ")


@pytest.mark.verifies("R27")
async def test_what_a_client_says_of_itself_makes_it_nobody_else(vault: Vault):
    """Its name, its headers, and the very text by which the vault knows somebody."""
    adas = owner(iss=ISSUER, sub="ada")
    await vault.put(adas, WEATHER, {"value": "ada's"})
    await vault.put(LOCAL, WEATHER, {"value": "whoever sits at the server"})
    async with served(protected(vault)) as url:
        assert await bearing(url, "ada", iss=ISSUER, sub="eve") == "CannotAsk"
        assert await bearing(url, adas, iss=ISSUER, sub="eve") == "CannotAsk"
        assert await bearing(url, LOCAL, iss=ISSUER, sub=adas) == "CannotAsk"
        assert await bearing(url, iss=ISSUER, sub=LOCAL) == "CannotAsk"
        assert (await bearing(url, iss=ISSUER, client_id="ada")).startswith("VisitorUnknown: ")


async def test_other_claims_can_make_a_person(vault: Vault):
    pages = Pages(url="https://tools.example", accept_anyone=True, claims=("tid", "oid"))
    kept_for = owner_from_claims({"tid": "1", "oid": "ada"}, pages.claims)
    assert kept_for is not None
    await vault.put(kept_for, WEATHER, {"value": "ada's"})
    async with served(protected(vault, pages)) as url:
        assert await bearing(url, tid="1", oid="ada", sub="one of many", iss=ISSUER) == "with ada's"
        assert await bearing(url, tid="2", oid="ada", sub="one of many", iss=ISSUER) == "CannotAsk"
        assert (await bearing(url, sub="ada", iss=ISSUER)).startswith("VisitorUnknown: ")


ALIKE: dict[str, Any] = {
    "none": (),
    "a text": "sub",
    "the issuer": ("iss",),
    "the issuer twice": ("iss", "iss"),
    "the audience": ("aud",),
    "the tenant": ("iss", "tid"),
    "the client": ("azp", "client_id"),
}


@pytest.mark.verifies("T26")
@pytest.mark.parametrize("which", ALIKE)
@pytest.mark.parametrize("url", [None, "https://tools.example"])
def test_claims_that_everybody_has_alike_make_nobody(which: str, url: str | None):
    with pytest.raises(VisitorUnknown, match=r'makes no person.*\("iss", "sub"\)'):
        Pages(url=url, accept_anyone=True, claims=ALIKE[which])


def test_without_claims_nobody_is_somebody():
    assert owner_from_claims({"iss": ISSUER, "sub": "ada"}, ()) is None


async def test_an_authors_own_function_tells_callers_apart(vault: Vault):
    def by_header(ctx: ServerRequestContext[Any, Any]) -> str | None:
        return None if ctx.request is None else ctx.request.headers.get("x-name")

    await vault.put(owner_from_name("ada"), WEATHER, {"value": "ada's"})
    async with served(with_headers(vault, by_header)) as url:
        assert await called(url, **{"x-name": "ada"}) == "with ada's"
        assert await called(url, **{"x-name": "bob"}) == "CannotAsk"
        assert (await called(url)).startswith("VisitorUnknown: ")
        assert (await called(url, **{"x-name": ""})).startswith("VisitorUnknown: ")


async def test_on_this_machine_it_is_whoever_uses_it(vault: Vault):
    await vault.put(LOCAL, WEATHER, {"value": "mine"})
    server: MCPServer[Any] = MCPServer("weather")
    server.add_tool(forecast, name="t")
    Askback(server, vault=vault)
    assert (await run_tool(server, "t")).text == "with mine"


CLAIMS = st.fixed_dictionaries(
    {claim: st.sampled_from(["", "a", "b", '", "']) for claim in ("iss", "sub", "tid")}
)


@pytest.mark.verifies("T26")
@given(one=CLAIMS, other=CLAIMS, wanted=st.sampled_from([("iss", "sub"), ("tid", "sub"), ("sub",)]))
def test_who_differs_in_a_claim_that_counts_is_somebody_else(
    one: dict[str, str], other: dict[str, str], wanted: tuple[str, ...]
):
    first, second = owner_from_claims(one, wanted), owner_from_claims(other, wanted)
    assert (first is None) == (not all(one.get(claim) for claim in wanted))
    if first is not None and second is not None:
        assert (first == second) == all(one[claim] == other[claim] for claim in wanted)


@given(st.text())
def test_nobody_by_name_is_somebody_by_claims_or_the_local_user(name: str):
    assert owner_from_name(name) not in {LOCAL, owner_from_claims({"iss": name or "x", "sub": name or "x"})}


DESCRIBED = {
    LOCAL: "the user of this computer",
    owner_from_name("Ada"): "Ada",
    owner(iss=ISSUER, sub="ada"): "ada at https://id.example",
    str(owner_from_claims({"tid": "1", "oid": "ada"}, ("tid", "oid"))): "1 · ada",
    "of another making": "of another making",
    "[1": "[1",
    '["claims", 1]': '["claims", 1]',
}


@pytest.mark.parametrize("whose", DESCRIBED)
def test_an_owner_is_described_in_words(whose: str):
    assert describe_owner(whose) == DESCRIBED[whose]
    assert matches_owner(whose, whose) and matches_owner(whose, DESCRIBED[whose])


def test_a_person_is_called_by_what_is_their_own():
    adas = owner(iss=ISSUER, sub="ada")
    assert matches_owner(adas, "ada")
    assert (
        not matches_owner(adas, "ad") and not matches_owner(adas, ISSUER) and not matches_owner(adas, "bob")
    )
