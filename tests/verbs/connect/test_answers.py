"""How a visit to a provider ends: with a no here or there, with less than was asked for, or because it fails."""

import pytest

from tests.support.openid.provider import Method, OpenID
from tests.verbs.connect.office import BASIC, Office, calendar, open_office

pytestmark = [pytest.mark.anyio, pytest.mark.strangers]

ALICE = "alice: offline_access openid"


async def test_a_no_on_our_page_is_a_no_and_nobody_is_sent_to_the_provider(office: Office):
    office.traveller.on_our_page = "no"
    assert await office.fetch() == "Declined"
    assert await office.openid.seen(office.traveller.provider.client_id) == []


async def test_a_no_at_the_provider_is_a_no(office: Office):
    office.traveller.at_the_provider = "refuse"
    assert await office.fetch() == "Declined"
    assert await office.openid.seen(office.traveller.provider.client_id) == []


async def test_who_has_said_no_can_say_yes_the_next_time(office: Office):
    office.traveller.at_the_provider = "refuse"
    await office.fetch()
    office.traveller.at_the_provider = "agree"
    assert await office.fetch() == ALICE


async def test_a_scope_that_was_not_granted_is_named(office: Office):
    office.traveller.without = "email"
    said = await office.fetch(*BASIC, "email")
    assert "did not work out: calendar did not grant: email." in said


async def test_what_was_granted_before_is_still_good_where_more_was_not(office: Office):
    await office.fetch()
    office.traveller.without = "email"
    await office.fetch("email")
    assert await office.fetch() == ALICE
    assert len(office.traveller.links) == 2


async def test_an_error_of_the_provider_is_a_visit_that_failed_without_its_words(
    openid: OpenID, revision: str
):
    async with open_office(openid, revision) as office:
        office.traveller.registered = {"scope": "openid offline_access"}
        said = await office.fetch("openid", "email")
    assert "did not work out: calendar did not sign the person in." in said
    assert "scope" not in said


async def test_a_code_that_the_provider_does_not_take_is_a_visit_that_failed(office: Office):
    async with office.openid.failing(500):
        assert "calendar did not sign the person in" in await office.fetch()
    assert await office.fetch() == ALICE


async def test_nobody_is_sent_to_a_provider_that_cannot_be_reached(openid: OpenID, revision: str):
    async with open_office(openid, revision, calendar(openid, issuer="http://127.0.0.1:1")) as office:
        said = await office.fetch()
    assert "provider 'calendar' cannot be used now" in said and "Call again later" in said
    assert office.traveller.links == []


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post", "none"])
async def test_clients_with_a_secret_and_without_are_taken(openid: OpenID, revision: str, method: Method):
    secret = None if method == "none" else "a secret of thirty-two characters"
    provider = calendar(openid, client_secret=secret, auth_method=None if secret is None else method)
    async with open_office(openid, revision, provider) as office:
        office.traveller.registered = {"method": method}
        assert await office.fetch() == ALICE
        assert await office.call("part") == "true"
        assert await openid.revoke(office.traveller.name) == 0
    (seen,) = await openid.seen(provider.client_id)
    assert (seen.secret, seen.proves) == (method.removeprefix("client_secret_"), True)


@pytest.mark.parametrize("has_issuer", [True, False], ids=["with its issuer", "without"])
async def test_a_provider_can_be_given_by_its_endpoints(openid: OpenID, revision: str, has_issuer: bool):
    provider = calendar(
        openid,
        issuer=openid.issuer if has_issuer else None,
        authorization_endpoint=f"{openid.issuer}/auth",
        token_endpoint=f"{openid.issuer}/token",
        revocation_endpoint=f"{openid.issuer}/token/revocation",
    )
    async with open_office(openid, revision, provider) as office:
        assert await office.fetch() == ALICE
        assert await office.call("part") == "true"
        assert await openid.revoke(office.traveller.name) == 0
