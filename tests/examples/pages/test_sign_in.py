"""The sign-in example against a real OpenID provider: signed in once, asked again when the grant was taken back."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx2
import pytest

from askback.client import Driver
from tests.support.link_follower import CORNERS, Deed, free_port, going, running, text_of
from tests.support.openid.provider import OpenID, provider
from tests.support.openid.sign_in import access_token

pytestmark = pytest.mark.strangers

CLIENT = "profile"
ALICE = "alice, with these scopes: email, openid, profile"

_TOKEN = re.compile(r'name="token" value="([^"]*)"')
_SCOPE = re.compile(r'name="scope" value="([^"]+)"')
MOST_PAGES = 10
READING = {"accept": "text/html"}


class Place(NamedTuple):
    """The example, running, with the provider that it was given."""

    openid: OpenID
    target: Any
    headers: dict[str, str]


@asynccontextmanager
async def signing_in(transport: str, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Place]:
    async with provider() as openid:
        port = free_port()
        pages = f"http://127.0.0.1:{port}/askback"
        await openid.register(CLIENT, f"{pages}/callback/account", f"{pages}/sign-in/callback")
        monkeypatch.setenv("SIGN_IN_ISSUER", openid.issuer)
        monkeypatch.setenv("SIGN_IN_CLIENT_ID", CLIENT)
        if transport == "stdio":
            async with running("sign_in", transport, "--callback-port", str(port)) as target:
                yield Place(openid, target, {})
            return
        async with running("sign_in", transport, port=port) as target:
            token = await access_token(openid, "alice", resource=target)
            yield Place(openid, target, {"authorization": f"Bearer {token}"})


def signing_in_as(name: str, openid: OpenID) -> Deed:
    """Goes through every page on the way, the provider's and ours, until there is nothing more to say."""

    async def go(link: str) -> None:
        async with httpx2.AsyncClient(follow_redirects=True, headers=READING, trust_env=False) as browser:
            here = {"origin": link.partition("/askback")[0]}
            page = await browser.get(link)
            for _ in range(MOST_PAGES):
                if str(page.url).startswith(openid.issuer):
                    typed = {"name": name, "answer": "agree", "scope": _SCOPE.findall(page.text)}
                    page = await browser.post(page.url, data=typed)
                elif (token := _TOKEN.search(page.text)) is not None:
                    said = {"token": token[1], "answer": "yes"}
                    page = await browser.post(page.url, data=said, headers=here)
                else:
                    assert page.status_code == 200, page.text
                    return
        raise AssertionError(f"There was always one more page; the last was {page.url}")

    return go


@asynccontextmanager
async def alice(place: Place, revision: str, *, times: int) -> AsyncGenerator[Driver]:
    """Somebody who signs in as often as that."""
    deeds = [signing_in_as("alice", place.openid)] * times
    options: dict[str, Any] = {"headers": place.headers} if place.headers else {}
    async with going(place.target, *deeds, revision=revision, **options) as driver:
        yield driver
        assert len(driver.answered) == times


@pytest.mark.parametrize(("revision", "transport"), CORNERS)
async def test_who_signed_in_once_is_known_until_they_sign_out(
    revision: str, transport: str, monkeypatch: pytest.MonkeyPatch
):
    async with signing_in(transport, monkeypatch) as place, alice(place, revision, times=2) as driver:
        assert text_of(await driver.call_tool("sign_out")) == "You were not signed in."
        assert text_of(await driver.call_tool("whoami")) == ALICE
        assert text_of(await driver.call_tool("whoami")) == ALICE
        assert text_of(await driver.call_tool("sign_out")) == "Signed out."
        assert text_of(await driver.call_tool("whoami")) == ALICE


async def test_a_grant_that_was_taken_back_at_the_provider_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
):
    async with signing_in("HTTP", monkeypatch) as place, alice(place, "2026-07-28", times=2) as driver:
        assert text_of(await driver.call_tool("whoami")) == ALICE
        await place.openid.revoke("alice")
        assert text_of(await driver.call_tool("whoami")) == ALICE


async def test_a_token_for_another_server_opens_nothing(monkeypatch: pytest.MonkeyPatch):
    async with signing_in("HTTP", monkeypatch) as place:
        for_another = await access_token(place.openid, "alice", resource="http://127.0.0.1:1/mcp")
        async with httpx2.AsyncClient(trust_env=False) as client:
            headers = {"authorization": f"Bearer {for_another}"}
            assert (await client.post(place.target, json={}, headers=headers)).status_code == 401
