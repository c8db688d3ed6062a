"""ID tokens that do not prove what they say; each of them is refused."""

import hmac
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from joserfc.jwk import ECKey, KeySet, OctKey, RSAKey

from askback.errors import ProviderUnavailable
from askback.oauth import identity
from askback.oauth.identity import InvalidIdToken, verify_id_token
from askback.oauth.metadata import discover
from tests.oauth.switches import SWITCH
from tests.support.authorization_server import KEY, Authority, authority, by_own_key, put_together, signed

NOW = 1_700_000_000.0
SECRET = "a client secret of forty characters, all"
ANOTHER = RSAKey.generate_key(2048, {"kid": "first"})
CURVE = ECKey.generate_key("P-256", {"kid": "curve"})

ME: dict[str, Any] = {
    "iss": "{issuer}",
    "sub": "alice",
    "aud": "ours",
    "exp": NOW + 300,
    "iat": NOW,
    "nonce": "n-0",
}


def claims(one: Authority, **changed: Any) -> dict[str, Any]:
    """Those of an honest token, but for what is changed; what is None is left out."""
    whole = {**ME, "iss": one.issuer, **changed}
    return {name: value for name, value in whole.items() if value is not None}


async def believed(one: Authority, token: str) -> bool:
    metadata = await discover(one.issuer, "sign-in")
    try:
        found = await verify_id_token(token, metadata, client_id="ours", nonce="n-0", now=NOW)
    except InvalidIdToken:
        return False
    return found["sub"] == "alice"


@asynccontextmanager
async def issuer() -> AsyncGenerator[Authority]:
    async with authority() as one:
        one.says("/keys", KeySet([KEY, CURVE]).as_dict(private=False))
        yield one


HONEST: dict[str, dict[str, Any]] = {
    "as it should be": {},
    "for a list of one": {"aud": ["ours"]},
    "for several, made out to us": {"aud": ["ours", "theirs"], "azp": "ours"},
    "made out to us by name": {"azp": "ours"},
    "a little old": {"exp": NOW - 59},
    "a little young": {"iat": NOW + 59, "nbf": NOW + 59},
}


@pytest.mark.parametrize("changed", HONEST.values(), ids=HONEST.keys())
async def test_an_honest_token_is_believed(changed: dict[str, Any]):
    async with issuer() as one:
        assert await believed(one, signed(claims(one, **changed)))


async def test_a_token_by_another_key_of_the_same_issuer_is_believed():
    async with issuer() as one:
        assert await believed(one, signed(claims(one), key=CURVE, alg="ES256", kid="curve"))


LIES: dict[str, dict[str, Any]] = {
    "another issuer": {"iss": "https://id.example"},
    "no issuer": {"iss": None},
    "two issuers": {"iss": ["https://id.example"]},
    "another audience": {"aud": "theirs"},
    "no audience": {"aud": None},
    "an empty audience": {"aud": []},
    "an audience that is no text": {"aud": {"ours": True}},
    "for several, made out to nobody": {"aud": ["ours", "theirs"]},
    "for several, made out to another": {"aud": ["ours", "theirs"], "azp": "theirs"},
    "for us, made out to another": {"azp": "theirs"},
    "made out to a list": {"azp": ["ours"]},
    "made out to a thing": {"azp": {"ours": 1}},
    "another nonce": {"nonce": "n-1"},
    "no nonce": {"nonce": None},
    "an empty nonce": {"nonce": ""},
    "expired": {"exp": NOW - 61},
    "without an end": {"exp": None},
    "an end that is no time": {"exp": "tomorrow"},
    "an end that is true": {"exp": True},
    "from the future": {"iat": NOW + 61},
    "not good yet": {"nbf": NOW + 61},
}


@pytest.mark.parametrize("changed", LIES.values(), ids=LIES.keys())
async def test_a_token_that_lies_is_not_believed(changed: dict[str, Any]):
    async with issuer() as one:
        assert not await believed(one, signed(claims(one, **changed)))


Forged = Callable[[dict[str, Any]], str]


def _tampered(token: str, part: int) -> str:
    parts = token.split(".")
    middle = len(parts[part]) // 2
    changed = "A" if parts[part][middle] != "A" else "B"
    parts[part] = parts[part][:middle] + changed + parts[part][middle + 1 :]
    return ".".join(parts)


def _by_secret(secret: bytes) -> Callable[[bytes], bytes]:
    return lambda body: hmac.digest(secret, body, "sha256")


HASHED = {"alg": "HS256", "kid": "first"}


FORGED: dict[str, Forged] = {
    "by another key of the same name": lambda claims: signed(claims, key=ANOTHER),
    "by no key": lambda claims: put_together({"alg": "none", "kid": "first"}, claims, lambda _: b""),
    "by no key, in capitals": lambda claims: put_together(
        {"alg": "NONE", "kid": "first"}, claims, lambda _: b""
    ),
    "by the client secret": lambda claims: put_together(HASHED, claims, _by_secret(SECRET.encode())),
    "by the public key as a secret": lambda claims: put_together(
        HASHED, claims, _by_secret(KEY.as_pem(private=False))
    ),
    "by an unknown key": lambda claims: signed(claims, kid="second"),
    "by no named key": lambda claims: put_together({"alg": "RS256"}, claims, by_own_key),
    "by a key that it brings along": lambda claims: signed(
        claims, key=ANOTHER, jwk=ANOTHER.as_dict(private=False), kid="third"
    ),
    "by a key whose name is a list": lambda claims: put_together(
        {"alg": "RS256", "kid": ["first"]}, claims, by_own_key
    ),
    "with a header that nobody knows": lambda claims: put_together(
        {"alg": "RS256", "kid": "first", "crit": ["mine"], "mine": 1}, claims, by_own_key
    ),
    "by an algorithm that is a list": lambda claims: put_together(
        {"alg": ["RS256"], "kid": "first"}, claims, by_own_key
    ),
    "with a header that is a list": lambda claims: put_together(["RS256"], claims, by_own_key),
    "with its header changed": lambda claims: _tampered(signed(claims), 0),
    "with its claims changed": lambda claims: _tampered(signed(claims), 1),
    "with its signature changed": lambda claims: _tampered(signed(claims), 2),
    "without a signature": lambda claims: signed(claims).rpartition(".")[0] + ".",
    "encrypted": lambda claims: "eyJhbGciOiJkaXIiLCJlbmMiOiJBMTI4R0NNIn0..AAAA.AAAA.AAAA",
    "no token at all": lambda claims: "alice",
    "nothing": lambda claims: "",
    "with claims that are a list": lambda claims: put_together(
        {"alg": "RS256", "kid": "first"}, [claims], by_own_key
    ),
    "with claims that are nested without end": lambda claims: put_together(
        {"alg": "RS256", "kid": "first"}, b"[" * 100_000, by_own_key
    ),
    "not even letters": lambda claims: "\u2028.\U0001f511.\x00",
}


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED.keys())
async def test_a_forged_token_is_not_believed(forged: Forged):
    async with issuer() as one:
        assert not await believed(one, forged(claims(one)))


def test_no_algorithm_is_taken_that_a_client_could_sign_with():
    assert not [name for name in identity.ALGORITHMS if name == "none" or name.startswith("HS")]


@SWITCH
async def test_a_token_signed_with_a_shared_secret_passes_only_without_the_list_of_algorithms(
    monkeypatch: pytest.MonkeyPatch, is_on: bool
):
    if not is_on:
        monkeypatch.setattr(identity, "ALGORITHMS", (*identity.ALGORITHMS, "HS256"))
    async with issuer() as one:
        shared = OctKey.import_key(SECRET, {"kid": "shared"})
        one.says("/keys", {"keys": [KEY.as_dict(private=False), shared.as_dict()]})
        token = signed(claims(one), key=shared, alg="HS256", kid="shared")
        assert await believed(one, token) is not is_on


KEYS: dict[str, Any] = {
    "a page": b"<!doctype html>",
    "a list": [],
    "a list of lists": [[]],
    "null": None,
    "no keys": {},
    "empty": {"keys": []},
    "keys that are a text": {"keys": "first"},
    "keys that are nothing": {"keys": None},
    "keys that are a thing": {"keys": {"first": 1}},
    "a key that is a number": {"keys": [7]},
    "a key that is empty": {"keys": [{}]},
    "a key without its number": {"keys": [{"kty": "RSA", "kid": "first", "e": "AQAB"}]},
    "a key of a kind nobody knows": {"keys": [{"kty": "PQC", "kid": "first"}]},
    "a key whose name is a list": {"keys": [{**KEY.as_dict(private=False), "kid": ["first"]}]},
    "two megabytes": {"keys": [], "more": "x" * 2 * 1024 * 1024},
}


@pytest.mark.parametrize("said", KEYS.values(), ids=KEYS.keys())
async def test_keys_that_are_none_prove_nothing(said: Any):
    async with issuer() as one:
        one.says("/keys", said)
        with pytest.raises((ProviderUnavailable, InvalidIdToken)):
            await verify_id_token(
                signed(claims(one)),
                await discover(one.issuer, "sign-in"),
                client_id="ours",
                nonce="n-0",
                now=NOW,
            )


@pytest.mark.parametrize("status", [302, 404, 500])
async def test_without_keys_nobody_is_believed(status: int):
    async with issuer() as one, issuer() as elsewhere:
        one.says("/keys", {}, status, location=f"{elsewhere.issuer}/keys")
        with pytest.raises(ProviderUnavailable, match="its keys cannot be read"):
            await believed(one, signed(claims(one)))
    assert elsewhere.asked == []


async def test_an_issuer_that_does_not_say_where_its_keys_are_is_not_believed():
    async with authority(jwks_uri=None) as one:
        with pytest.raises(ProviderUnavailable, match="does not say where its keys are"):
            await believed(one, signed(claims(one)))


async def test_a_key_of_an_unknown_kind_beside_a_good_one_does_no_harm():
    async with issuer() as one:
        one.says("/keys", {"keys": [{"kty": "PQC", "kid": "new"}, KEY.as_dict(private=False)]})
        assert await believed(one, signed(claims(one)))
