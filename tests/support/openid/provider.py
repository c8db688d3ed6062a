"""An OpenID provider for the length of a block: oidc-provider from npm, as provider.mjs sets it up.

Whoever types a name on its page is that person: `sub` is what was typed.
"""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any, Literal, NamedTuple

import anyio
import httpx2
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.support.strangers import openid_library, openid_node

SCRIPT = Path(__file__).with_name("provider.mjs")

STARTING, ANSWERING = 30, 20
"""Seconds: many times what each takes."""

MOST_LINE = 1_000

LASTING = 3_600
"""Seconds for which an access token is good, unless a test says otherwise."""

Failure = int | Literal["drop"]
Method = Literal["client_secret_basic", "client_secret_post", "none"]


class TokenRequest(NamedTuple):
    """One request to the token endpoint, as the provider saw it."""

    grant: str | None = None
    """authorization_code or refresh_token."""
    proves: bool = False
    """Whether it brought the verifier of PKCE."""
    secret: str = "none"
    """How the client proved who it is: basic, post or none."""
    status: int | str = 200
    error: str | None = None
    client: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenID:
    """A running provider, and what it can be told."""

    issuer: str
    client: httpx2.AsyncClient

    async def register(
        self,
        client_id: str,
        *redirect_uris: str,
        secret: str | None = None,
        method: Method | None = None,
        scope: str | None = None,
    ) -> str:
        """Make a client known, public unless it has a secret; redirect URIs must match to the letter.

        Gives its id. With `scope`, it may ask for these alone, and any other is an error that goes to its callback.
        """
        known: dict[str, Any] = {
            "client_id": client_id,
            "redirect_uris": redirect_uris,
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": method or ("client_secret_basic" if secret else "none"),
        }
        optional = {"client_secret": secret, "scope": scope}
        known |= {name: value for name, value in optional.items() if value is not None}
        await self._control("register", **known)
        return client_id

    async def revoke(self, account: str) -> int:
        """The person takes back whatever anybody was given."""
        return await self._control("revoke", account=account)

    async def cut(self, account: str) -> int:
        """Their access tokens are no longer good, before their time; refresh tokens are."""
        return await self._control("cut", account=account)

    async def seen(self, client_id: str | None = None) -> list[TokenRequest]:
        """The requests to the token endpoint, of one client or of all; those that were made to fail have none."""
        wanted = {} if client_id is None else {"client": client_id}
        return [TokenRequest(**row) for row in await self._control("seen", **wanted)]

    async def refreshes(self, client_id: str) -> list[TokenRequest]:
        return [request for request in await self.seen(client_id) if request.grant == "refresh_token"]

    @asynccontextmanager
    async def failing(self, failure: Failure) -> AsyncGenerator[None]:
        """The token endpoint answers with that status, or hangs up."""
        async with self._misbehaving(failure=failure):
            yield

    @asynccontextmanager
    async def holding(self, when: Literal["before", "after"]) -> AsyncGenerator[None]:
        """Requests to the token endpoint wait to the end of the block, before or after they have had their effect."""
        async with self._misbehaving(hold=when):
            yield

    async def until_held(self) -> None:
        """Wait until a request is held."""
        await self._control("held")

    async def until_abandoned(self) -> None:
        """Wait until whoever made a request that is held is gone."""
        await self._control("abandoned")

    async def let_go(self) -> None:
        """Whoever is held goes on, and nobody else is held."""
        await self._control("misbehave")

    async def userinfo(self, access_token: str) -> dict[str, Any] | int:
        """Whom the provider names for a token, or the status with which it refuses."""
        response = await self.client.get("/me", headers={"authorization": f"Bearer {access_token}"})
        return response.json() if response.is_success else response.status_code

    @asynccontextmanager
    async def _misbehaving(self, **how: Any) -> AsyncGenerator[None]:
        await self._control("misbehave", **how)
        try:
            yield
        finally:
            await self._control("misbehave")

    async def _control(self, name: str, **wanted: Any) -> Any:
        response = await self.client.post(f"/control/{name}", json=wanted)
        response.raise_for_status()
        return response.json()["answer"]


@asynccontextmanager
async def provider(*, seconds: int = LASTING) -> AsyncGenerator[OpenID]:
    """Start one, with access tokens that last so long."""
    settings = {"library": openid_library(), "seconds": seconds}
    command = [openid_node(), str(SCRIPT), json.dumps(settings)]
    async with await anyio.open_process(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL) as process:
        assert process.stdin is not None and process.stdout is not None
        try:
            with anyio.fail_after(STARTING):
                line = await BufferedByteReceiveStream(process.stdout).receive_until(b"\n", MOST_LINE)
            issuer = line.decode()
            async with httpx2.AsyncClient(base_url=issuer, timeout=ANSWERING) as client:
                yield OpenID(issuer=issuer, client=client)
        finally:
            process.kill()


@pytest.fixture(scope="package")
async def openid(anyio_backend: str) -> AsyncGenerator[OpenID]:
    """One for all tests of a folder whose conftest takes this over; each registers clients of its own."""
    async with provider() as openid:
        yield openid
