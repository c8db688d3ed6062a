"""Tokens are their provider's: under the same name another one gets none of them, and nobody is sent them."""

from dataclasses import replace
from typing import Any

import pytest

from askback.model.owners import LOCAL
from askback.oauth import Provider
from askback.oauth.connector import Connector
from askback.oauth.exchange import TokenResponse
from askback.stores import MemoryStore
from askback.vault.vault import Vault
from tests.support.authorization_server import Authority, authority
from tests.support.clock import Clock
from tests.support.vault_keys import ring

FORMER = Provider(
    name="calendar",
    client_id="ours",
    authorization_endpoint="https://calendar.example/authorize",
    token_endpoint="https://calendar.example/token",
)

GRANTED = TokenResponse(access_token="of-the-former", refresh_token="again", lasts=3_600.0, scopes=("read",))


async def kept(provider: Provider, clock: Clock) -> Vault:
    """A vault with tokens of that provider's."""
    vault = Vault(MemoryStore(clock=clock), ring("key"), clock=clock)
    connector = Connector(provider, vault=vault, clock=clock)
    await vault.put(LOCAL, connector.item, connector.written(GRANTED))
    return vault


def by_endpoints(one: Authority) -> Provider:
    return replace(
        FORMER,
        authorization_endpoint=f"{one.issuer}/authorize",
        token_endpoint=f"{one.issuer}/token",
        revocation_endpoint=f"{one.issuer}/revoke",
    )


MOVED: dict[str, dict[str, Any]] = {
    "other endpoints": {},
    "an issuer": {"issuer": "https://id.example"},
    "another client": {"client_id": "another"},
}


@pytest.mark.verifies("T22")
@pytest.mark.parametrize("which", MOVED)
async def test_a_provider_of_the_same_name_gets_no_token_of_the_former(which: str):
    clock = Clock()
    async with authority() as one:
        former = FORMER if not MOVED[which] else by_endpoints(one)
        vault = await kept(former, clock)
        now = replace(by_endpoints(one), **MOVED[which])
        connection = Connector(now, vault=vault, clock=clock).for_owner(LOCAL)
        assert await connection.token(["read"]) is None
        clock.now += 7_200
        assert await connection.token(["read"]) is None
        assert await connection.wanted(["write"]) == ("write",)
        assert await connection.disconnect()
    assert one.asked == [] and await vault.list_items() == []


async def test_the_very_provider_has_its_tokens_under_another_title_and_secret():
    clock = Clock()
    vault = await kept(FORMER, clock)
    now = replace(
        FORMER, title="The calendar", client_secret="new", revocation_endpoint="https://c.example/r"
    )
    token = await Connector(now, vault=vault, clock=clock).for_owner(LOCAL).token(["read"])
    assert token is not None and token.reveal() == "of-the-former"


async def test_what_is_refreshed_is_still_its_providers():
    clock = Clock()
    async with authority() as one:
        provider = by_endpoints(one)
        connection = Connector(provider, vault=await kept(provider, clock), clock=clock).for_owner(LOCAL)
        one.gives(expires_in=3_600)
        for _ in range(2):
            clock.now += 3_600
            token = await connection.token(["read"])
            assert token is not None and token.reveal() == "for-use"
    assert [asked.form["refresh_token"] for asked in one.asked] == ["again", "again"]
