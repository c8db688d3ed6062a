"""What an issuer says of itself, when it lies, leads elsewhere, breaks or stalls."""

import gzip
import json
from collections.abc import AsyncGenerator
from typing import Any

import anyio.lowlevel
import pytest
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from askback.errors import ProviderUnavailable
from askback.oauth import transport
from askback.oauth.metadata import Metadata, MetadataCache, discover
from tests.support.authorization_server import METADATA, OAUTH_METADATA, Authority, authority
from tests.support.clock import Clock

pytestmark = pytest.mark.verifies("T12")

PATIENCE = 5
"""Seconds, where something must end by itself much sooner."""


async def found(one: Authority) -> Metadata:
    with anyio.fail_after(PATIENCE):
        return await discover(one.issuer, "calendar")


async def test_an_honest_issuer_is_believed():
    async with authority(
        authorization_response_iss_parameter_supported=True,
        token_endpoint_auth_methods_supported=["client_secret_post"],
    ) as one:
        metadata = await found(one)
    assert (metadata.issuer, metadata.token_endpoint) == (one.issuer, f"{one.issuer}/token")
    assert metadata.names_itself and metadata.auth_methods == ("client_secret_post",)


async def test_metadata_is_also_found_where_oauth_keeps_it():
    async with authority() as one:
        one.answers[OAUTH_METADATA] = one.answers.pop(METADATA)
        assert (await found(one)).token_endpoint == f"{one.issuer}/token"


LIES: dict[str, dict[str, Any]] = {
    "another issuer": {"issuer": "https://id.example"},
    "its issuer with a stroke behind it": {"issuer": "{issuer}/"},
    "its issuer in capitals": {"issuer": "HTTP://127.0.0.1"},
    "no issuer": {"issuer": None},
    "two issuers": {"issuer": ["{issuer}", "https://id.example"]},
    "plain http to elsewhere": {"token_endpoint": "http://id.example/token"},
    "plain http for its keys": {"jwks_uri": "http://id.example/keys"},
    "a name and a password": {"token_endpoint": "https://somebody:secret@id.example/token"},
    "a fragment": {"authorization_endpoint": "https://id.example/authorize#here"},
    "a script": {"authorization_endpoint": "javascript:alert(1)"},
    "a file": {"token_endpoint": "file:///etc/passwd"},
    "a host in a name": {"token_endpoint": "http://127.0.0.1.id.example/token"},
    "a number for an endpoint": {"token_endpoint": 7},
    "a list for an endpoint": {"authorization_endpoint": ["https://id.example/authorize"]},
    "no token endpoint": {"token_endpoint": None},
    "no authorization endpoint": {"authorization_endpoint": None},
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES.keys())
async def test_an_issuer_that_says_what_cannot_be_is_not_believed(lie: dict[str, Any]):
    async with authority(**lie) as one:
        with pytest.raises(ProviderUnavailable, match="calendar"):
            await found(one)


NOT_METADATA = {
    "a page": b"<!doctype html><title>Sign in</title>",
    "nothing": b"",
    "a list": b"[]",
    "a text": b'"metadata"',
    "null": b"null",
    "half of it": b'{"issuer": "http://127',
    "not UTF-8": b'{"issuer": "\xff\xfe"}',
    "nested without end": b"[" * 100_000,
    "two megabytes": json.dumps({"issuer": "x" * 2 * 1024 * 1024}).encode(),
}


@pytest.mark.parametrize("said", NOT_METADATA.values(), ids=NOT_METADATA.keys())
async def test_what_is_no_metadata_is_not_taken_for_it(said: bytes):
    async with authority() as one:
        one.says(METADATA, said)
        with pytest.raises(ProviderUnavailable):
            await found(one)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_metadata_that_leads_elsewhere_is_not_followed(status: int):
    async with authority() as one, authority() as elsewhere:
        one.says(METADATA, {}, status, location=f"{elsewhere.issuer}{METADATA}")
        with pytest.raises(ProviderUnavailable):
            await found(one)
    assert elsewhere.asked == []


async def without_end(chunk: bytes) -> AsyncGenerator[bytes]:
    while True:
        await anyio.lowlevel.checkpoint()
        yield chunk


async def dripping(request: Request) -> Response:
    return StreamingResponse(without_end(b" "), media_type="application/json")


async def gushing(request: Request) -> Response:
    return StreamingResponse(without_end(b" " * 256 * 1024), media_type="application/json")


async def silent(request: Request) -> Response:
    while not await request.is_disconnected():
        await anyio.lowlevel.checkpoint()
    return Response()


@pytest.mark.parametrize("answer", [dripping, silent], ids=lambda answer: answer.__name__)
async def test_an_issuer_that_takes_its_time_is_given_up(monkeypatch: pytest.MonkeyPatch, answer: Any):
    monkeypatch.setattr(transport, "REQUEST_TIMEOUT", 0.3)
    monkeypatch.setattr(transport, "MAX_RESPONSE_BYTES", 2**40)
    async with authority() as one:
        one.answers = {METADATA: answer}
        with pytest.raises(ProviderUnavailable, match="Timeout"):
            await found(one)


async def test_an_answer_without_end_is_cut_off():
    async with authority() as one:
        one.answers[METADATA] = gushing
        with pytest.raises(ProviderUnavailable, match="TooLarge"):
            await found(one)


async def test_a_small_answer_that_would_unpack_to_a_large_one_is_not_unpacked():
    async with authority() as one:
        packed = gzip.compress(json.dumps({**one.metadata, "more": "0" * 50_000_000}).encode())
        assert len(packed) < transport.MAX_RESPONSE_BYTES
        one.says(METADATA, packed, 200, **{"content-encoding": "gzip"})
        with pytest.raises(ProviderUnavailable, match="TooLarge"):
            await found(one)
    assert one.asked[0].headers["accept-encoding"] == "identity"


async def test_an_issuer_is_asked_again_after_ten_minutes():
    clock, times = Clock(), (0, 599, 601)
    async with authority() as one:
        directory, provider = MetadataCache(clock), one.provider("calendar")
        for later in times:
            clock.now = 1_000_000.0 + later
            await directory.of(provider)
    assert len(one.asked) == 2


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("revocation_endpoint", None),
        ("revocation_endpoint", "{issuer}/revoke"),
        ("token_endpoint", "{issuer}/token"),
        ("authorization_endpoint", "{issuer}/authorize"),
    ],
)
async def test_an_endpoint_that_the_operator_wrote_comes_before_what_the_issuer_says(
    place: str, said: str | None
):
    async with authority(**{place: said}) as one:
        metadata = await MetadataCache().of(one.provider("calendar", **{place: "https://id.example/written"}))
        theirs = await MetadataCache().of(one.provider("calendar"))
    assert getattr(metadata, place) == "https://id.example/written"
    assert metadata._replace(**{place: getattr(theirs, place)}, written=frozenset()) == theirs


async def test_an_issuer_that_is_down_is_named_with_what_to_do():
    async with authority() as one:
        pass
    with pytest.raises(ProviderUnavailable, match=r"'calendar' cannot .*ConnectError.* Call again later"):
        await found(one)
