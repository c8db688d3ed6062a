"""What a token endpoint gives, when it does not give tokens."""

import json
from typing import Any

import anyio
import pytest

from askback.errors import ProviderUnavailable
from askback.oauth import transport
from askback.oauth.exchange import TokenRequestRejected, TokenResponse, redeem, refresh, revoke
from askback.oauth.metadata import Metadata, discover
from tests.oauth.test_metadata import dripping, gushing, silent
from tests.support.authorization_server import Authority, authority

CANARY = "kanari-from-the-other-side"
CALLBACK = "https://tools.example/askback/callback/calendar"


async def redeemed(one: Authority) -> TokenResponse:
    with anyio.fail_after(5):
        return await redeem(
            one.provider("calendar"),
            await discover(one.issuer, "calendar"),
            code="a-code",
            verifier="a-verifier",
            redirect_uri=CALLBACK,
            scopes=("read",),
        )


async def test_a_code_goes_with_its_verifier_and_the_very_redirect():
    async with authority() as one:
        one.gives(refresh_token="again", expires_in=60, scope="read write")
        granted = await redeemed(one)
    assert granted == ("for-use", "again", 60.0, ("read", "write"), None)
    form = one.asked[-1].form
    assert (form["code"], form["code_verifier"], form["redirect_uri"]) == ("a-code", "a-verifier", CALLBACK)


async def test_the_secret_of_a_client_goes_the_way_that_the_provider_takes():
    for methods, is_in_form in ((["client_secret_post"], True), (["client_secret_basic"], False)):
        async with authority(token_endpoint_auth_methods_supported=methods) as one:
            metadata, provider = await discover(one.issuer, "c"), one.provider("c", client_secret="hush")
            await redeem(provider, metadata, code="c", verifier="v", redirect_uri=CALLBACK, scopes=())
        assert (one.asked[-1].form.get("client_secret") == "hush") is is_in_form
        assert ("authorization" in one.asked[-1].headers) is not is_in_form


NONSENSE: dict[str, bytes] = {
    "a page": b"<!doctype html><title>Sign in</title>",
    "nothing": b"",
    "a list": b"[]",
    "null": b"null",
    "a text": b'"for-use"',
    "nested without end": b'{"access_token":' * 50_000,
    "two megabytes": json.dumps({"access_token": "x" * 2 * 1024 * 1024}).encode(),
    "a form": b"access_token=for-use&token_type=bearer",
    "no token": b"{}",
    "no text for a token": b'{"access_token": 7, "token_type": "bearer"}',
    "a list of tokens": b'{"access_token": ["for-use"], "token_type": "bearer"}',
    "an empty token": b'{"access_token": "", "token_type": "bearer"}',
    "a token with a line of its own": b'{"access_token": "x\\r\\nCookie: y", "token_type": "bearer"}',
    "a token that no header can hold": b'{"access_token": "\\u2028", "token_type": "bearer"}',
    "a proof-of-possession token": b'{"access_token": "for-use", "token_type": "DPoP"}',
    "a MAC token": b'{"access_token": "for-use", "token_type": "mac"}',
    "a kind that is no text": b'{"access_token": "for-use", "token_type": ["bearer"]}',
    "a refresh token that is no text": b'{"access_token": "for-use", "token_type": "bearer", "refresh_token": {}}',
    "an ID token that is no text": b'{"access_token": "for-use", "token_type": "bearer", "id_token": 1}',
    "a scope that is no text": b'{"access_token": "for-use", "token_type": "bearer", "scope": [["read"]]}',
}


@pytest.mark.parametrize("said", NONSENSE.values(), ids=NONSENSE.keys())
async def test_what_is_no_token_is_not_taken_for_one(said: bytes):
    async with authority() as one:
        one.says("/token", said)
        with pytest.raises(ProviderUnavailable, match="'calendar' cannot be used now"):
            await redeemed(one)
        with pytest.raises(ProviderUnavailable):
            await refresh(
                one.provider("calendar"),
                await discover(one.issuer, "calendar"),
                refresh_token="again",
                scopes=(),
            )


LASTING: list[tuple[Any, float | None]] = [
    (3600, 3600.0),
    ("3600", 3600.0),
    (0.5, 0.5),
    (0, None),
    (-1, None),
    ("soon", None),
    ([3600], None),
    ({}, None),
    (10**400, None),
    (10**12, None),
    ("NaN", None),
    ("Infinity", None),
]


@pytest.mark.parametrize(("said", "lasts"), LASTING, ids=[f"{said!r:.20}" for said, _ in LASTING])
async def test_a_length_that_cannot_be_is_as_good_as_none(said: Any, lasts: float | None):
    async with authority() as one:
        one.gives(expires_in=said)
        assert (await redeemed(one)).lasts == lasts


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_code_is_not_taken_elsewhere(status: int):
    async with authority() as one, authority() as elsewhere:
        one.says("/token", {"access_token": "x"}, status, location=f"{elsewhere.issuer}/token")
        with pytest.raises(ProviderUnavailable):
            await redeemed(one)
    assert elsewhere.asked == []


ERRORS: list[tuple[Any, int, str]] = [
    ("invalid_grant", 400, "invalid_grant"),
    ("invalid_client", 401, "invalid_client"),
    ("access_denied", 200, "access_denied"),
    (f"{CANARY}\r\nINFO a line of its own", 400, "refused"),
    ("x" * 10_000, 400, "refused"),
    ({CANARY: 1}, 400, "refused"),
    ("", 400, "refused"),
]


@pytest.mark.parametrize(("said", "status", "code"), ERRORS, ids=[f"{said!r:.20}" for said, *_ in ERRORS])
async def test_a_refusal_is_told_by_its_code_and_not_by_their_words(said: Any, status: int, code: str):
    async with authority() as one:
        one.says("/token", {"error": said, "error_description": CANARY, "access_token": "x"}, status)
        with pytest.raises(TokenRequestRejected) as caught:
            await redeemed(one)
    assert (caught.value.code, str(caught.value)) == (code, code)


async def test_a_server_that_is_broken_is_not_a_refusal():
    async with authority() as one:
        one.says("/token", {"error": "invalid_grant"}, 503)
        with pytest.raises(ProviderUnavailable, match="HTTPStatusError"):
            await redeemed(one)


async def test_an_answer_that_says_no_and_gives_a_token_gives_none():
    async with authority() as one:
        one.says("/token", {"access_token": "for-use", "token_type": "bearer"}, 403)
        with pytest.raises(ProviderUnavailable):
            await redeemed(one)


@pytest.mark.parametrize("answer", [dripping, silent, gushing], ids=lambda answer: answer.__name__)
async def test_a_token_endpoint_that_takes_its_time_or_never_ends_is_given_up(
    monkeypatch: pytest.MonkeyPatch, answer: Any
):
    async with authority() as one:
        metadata: Metadata = await discover(one.issuer, "calendar")
        monkeypatch.setattr(transport, "REQUEST_TIMEOUT", 0.3)
        one.answers["/token"] = answer
        with pytest.raises(ProviderUnavailable, match=r"ReadTimeout|TooLarge"), anyio.fail_after(5):
            await redeem(
                one.provider("calendar"), metadata, code="c", verifier="v", redirect_uri=CALLBACK, scopes=()
            )


async def test_a_token_that_is_not_taken_back_is_said():
    async with authority(revocation_endpoint="{issuer}/revoke") as one:
        metadata = await discover(one.issuer, "calendar")
        one.says("/revoke", {"error": CANARY}, 503)
        with pytest.raises(ProviderUnavailable, match="did not take a token back") as caught:
            await revoke(one.provider("calendar"), metadata, token="for-use")
    assert CANARY not in str(caught.value)


def test_what_was_granted_does_not_show_its_tokens():
    granted = TokenResponse("for-use", "again", None, ("read",), "proof")
    assert not any(hidden in repr(granted) for hidden in ("for-use", "again", "proof"))
