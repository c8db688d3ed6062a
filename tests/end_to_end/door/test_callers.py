"""Who a caller is, over HTTP: what their token says, and nothing that their client says."""

import httpx2
import pytest

from askback.pages import Pages
from tests.end_to_end.door.served import BASE, CLAIMS, WHO, shed
from tests.support.openid.guarded_server import HOSTS, Host
from tests.support.visitor import visitor

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("host", HOSTS),
    pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"]),
]

NAMELESS = ["one without a subject", "one with an empty subject", "one without an issuer"]


@pytest.mark.verifies("R26", "R20", "R21")
async def test_a_secret_is_for_whoever_the_token_names(host: Host, revision: str):
    async with shed(host) as one:
        assert await one.call("alice", revision, types="under the mat") == "under the mat"
        assert await one.call("alice", revision) == "under the mat"
        for other in ("bob", "alice of elsewhere"):
            assert await one.call(other, revision) == "Declined()"


@pytest.mark.verifies("R21", "T01")
async def test_a_secret_that_somebody_else_would_type_is_not_taken(host: Host, revision: str):
    async with shed(host) as one:
        assert await one.call("alice", revision, types="mine", visits_as="bob") == "Cancelled()"
        assert await one.call("alice", revision) == await one.call("bob", revision) == "Declined()"


@pytest.mark.verifies("T26")
async def test_without_a_subject_there_is_no_vault_and_nobody_is_asked(host: Host, revision: str):
    async with shed(host) as one:
        await one.call("alice", revision, types="under the mat")
        for name in NAMELESS:
            text = await one.call(name, revision, types="for everybody")
            assert "nobody tells who that is" in text and "does not say all of iss and sub" in text
        assert await one.asked.page_host.vault.list_items("") == []


@pytest.mark.verifies("T26")
async def test_two_users_of_one_client_without_subjects_share_nothing(host: Host, revision: str):
    async with shed(host) as one:
        texts = [
            await one.call(f"{which} without a subject", revision, types="under the mat")
            for which in ("one", "another")
        ]
    assert "under the mat" not in " ".join(texts)


@pytest.mark.verifies("T26", "R26")
async def test_where_subjects_differ_by_client_other_claims_make_the_caller(host: Host, revision: str):
    async with shed(host, claims=("tid", "oid")) as one:
        alice, also_alice = "alice, as the MCP client knows her", "alice, as another client knows her"
        assert await one.call(alice, revision, types="under the mat", visits_as=also_alice) == "under the mat"
        assert await one.call(also_alice, revision) == "under the mat"
        assert await one.call("bob, as the MCP client knows him", revision) == "Declined()"
        assert "does not say all of tid and oid" in await one.call("alice", revision)


@pytest.mark.verifies("R27")
async def test_a_client_that_says_it_is_somebody_is_not_believed(host: Host, revision: str):
    async with shed(host) as one:
        await one.call("alice", revision, types="under the mat")
        told = await one.call(
            "bob",
            revision,
            calls_itself="alice",
            meta={"sub": "alice", "iss": CLAIMS["alice"]["iss"], "user": "alice"},
            **{WHO: "alice", "x-forwarded-user": "alice", "x-user": "alice", "cookie": "sub=alice"},
        )
    assert told == "Declined()"


@pytest.mark.verifies("R23")
async def test_whoever_was_on_the_pages_is_not_let_in_to_the_server_for_that(host: Host, revision: str):
    async with shed(host) as one, visitor(one.asked.pages) as browser:
        browser.client.headers[WHO] = "alice"
        assert (await browser.open(f"{BASE}/askback/kept")).status == 200
        cookies = "; ".join(f"{name}={value}" for name, value in browser.client.cookies.items())
        assert cookies
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        headers = {"cookie": cookies, WHO: "alice", "accept": "application/json, text/event-stream"}
        async with httpx2.AsyncClient(trust_env=False) as http:
            answer = await http.post(one.url, json=request, headers=headers)
    assert answer.status_code == 401 and "bearer" in answer.headers["www-authenticate"].lower()


@pytest.mark.verifies("R20", "R26")
async def test_without_authorization_secrets_are_refused_in_words(host: Host, revision: str):
    async with shed(host, is_protected=False) as one:
        text = await one.call(None, revision, types="for everybody")
    assert "this call came over HTTP without authorization" in text
    assert "Askback(server, caller=...)" in text


@pytest.mark.verifies("R20", "R26")
async def test_a_page_by_its_link_alone_is_still_for_nobody_where_nobody_calls(host: Host, revision: str):
    pages = Pages(url=BASE, accept_anyone=True)
    async with shed(host, is_protected=False, pages=pages) as one:
        assert "nobody tells who that is" in await one.call(None, revision, types="for everybody")


@pytest.mark.verifies("R20")
async def test_a_server_that_has_no_address_for_its_pages_says_so(host: Host, revision: str):
    async with shed(host, pages=Pages()) as one:
        text = await one.call("alice", revision, types="under the mat")
    assert "needs a page, and this server has none that its callers could open" in text
