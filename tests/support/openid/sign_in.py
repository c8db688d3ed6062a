"""A person's way through the provider's pages: in a browser, or without one where only the token matters."""

import re
from base64 import urlsafe_b64encode
from hashlib import sha256
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Literal

import httpx2

from tests.support.openid.provider import OpenID

if TYPE_CHECKING:
    from playwright.async_api import Page

MCP_CLIENT = "mcp-client"
ELSEWHERE = "http://127.0.0.1:1/callback"
"""Where the MCP client is told its code; nobody needs to be there."""

MOST_STEPS = 20

_SCOPE = re.compile(r'name="scope" value="([^"]+)"')


async def sign_in(page: "Page", name: str) -> None:
    """On the provider's page."""
    await page.get_by_label("User name").fill(name)
    await page.get_by_role("button", name="Sign in").click()


async def agree(page: "Page", *, without: str | None = None) -> None:
    """On the provider's page, to everything that the client wants, or to all but one scope."""
    if without is not None:
        await page.get_by_label(without).uncheck()
    await page.get_by_role("button", name="Agree").click()


async def refuse(page: "Page") -> None:
    await page.get_by_role("button", name="Refuse").click()


async def access_token(openid: OpenID, name: str, *, resource: str, client_id: str = MCP_CLIENT) -> str:
    """A token of the kind that an MCP client of this person brings: a JWT with `sub`, for that MCP server alone."""
    await openid.register(client_id, ELSEWHERE)
    verifier = token_urlsafe(48)
    challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    wanted = {
        "client_id": client_id,
        "response_type": "code",
        "redirect_uri": ELSEWHERE,
        "scope": "openid tools",
        "resource": resource,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    async with httpx2.AsyncClient(trust_env=False) as browser:
        back = await walk(browser, httpx2.URL(f"{openid.issuer}/auth", params=wanted), name, to=ELSEWHERE)
    proof = {
        "grant_type": "authorization_code",
        "client_id": client_id,
        "redirect_uri": ELSEWHERE,
        "resource": resource,
        "code": httpx2.URL(back).params["code"],
        "code_verifier": verifier,
    }
    given = (await openid.client.post("/token", data=proof)).raise_for_status().json()
    return given["access_token"]


async def walk(
    browser: httpx2.AsyncClient,
    place: httpx2.URL | str,
    name: str,
    *,
    to: str,
    answer: Literal["agree", "refuse"] = "agree",
    without: str | None = None,
) -> str:
    """What `sign_in` and `agree` or `refuse` do, for a browser that shows nothing; from the provider's authorization
    endpoint to the redirect that leads back, which is given and not followed."""
    for _ in range(MOST_STEPS):
        response = await browser.get(place)
        if "location" not in response.headers:
            assert response.is_success, response.text
            scopes = [scope for scope in _SCOPE.findall(response.text) if scope != without]
            typed = {"name": name, "answer": answer, "scope": scopes}
            response = await browser.post(response.url, data=typed)
        place = str(response.url.join(response.headers["location"]))
        if place.startswith(to):
            return place
    raise AssertionError("The provider does not lead back.")
