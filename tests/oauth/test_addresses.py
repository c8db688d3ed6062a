"""Where a name leads: an issuer outside must not send this server to places that only it can reach (T12)."""

from collections.abc import Coroutine
from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import Any

import httpx2
import pytest

from askback.errors import ProviderUnavailable
from askback.oauth import exchange, transport, zones
from askback.oauth.identity import InvalidIdToken, verify_id_token
from askback.oauth.metadata import MetadataCache, discover, parse_metadata
from askback.oauth.transport import BoundedTransport, fetch_json
from askback.oauth.zones import Zone, zone_of
from askback.schema.networks import AddressKind, kind_of_address
from tests.oauth.switches import SWITCH, place
from tests.support.authorization_server import Authority, authority, port_of, signed
from tests.support.corpus import corpus

pytestmark = pytest.mark.verifies("T12")

ZONES = {
    "8.8.8.8": Zone.PUBLIC,
    "2606:4700::1111": Zone.PUBLIC,
    "::ffff:8.8.8.8": Zone.PUBLIC,
    "64:ff9b::808:808": Zone.PUBLIC,
    "10.1.2.3": Zone.PRIVATE,
    "172.16.0.1": Zone.PRIVATE,
    "192.168.1.1": Zone.PRIVATE,
    "100.64.0.1": Zone.PRIVATE,
    "100.127.255.254": Zone.PRIVATE,
    "fd12::1": Zone.PRIVATE,
    "::ffff:10.0.0.1": Zone.PRIVATE,
    "64:ff9b::a00:1": Zone.PRIVATE,
    "2002:a00:1::": Zone.PRIVATE,
    "127.0.0.1": Zone.THIS_MACHINE,
    "127.8.9.10": Zone.THIS_MACHINE,
    "::1": Zone.THIS_MACHINE,
    "::ffff:127.0.0.1": Zone.THIS_MACHINE,
    "64:ff9b::7f00:1": Zone.THIS_MACHINE,
    "2002:7f00:1::": Zone.THIS_MACHINE,
    "169.254.169.254": Zone.RESERVED,
    "::ffff:169.254.169.254": Zone.RESERVED,
    "fe80::1": Zone.RESERVED,
    "fe80::1%eth0": Zone.RESERVED,
    "0.0.0.0": Zone.RESERVED,
    "::": Zone.RESERVED,
    "::7f00:1": Zone.RESERVED,
    "224.0.0.1": Zone.RESERVED,
    "240.0.0.1": Zone.RESERVED,
    "255.255.255.255": Zone.RESERVED,
    "ff02::1": Zone.RESERVED,
    "fec0::1": Zone.RESERVED,
}


@corpus(("address", "zone"), ZONES.items())
def test_an_address_is_as_far_inside_as_it_leads(address: str, zone: Zone):
    assert zone_of(address) is zone


WRITTEN = [
    "https://127.0.0.1/token",
    "http://127.0.0.1:8080/token",
    "https://127.1/token",
    "https://0x7f.1/token",
    "https://0x7f000001/token",
    "https://2130706433/token",
    "https://017700000001/token",
    "https://[::1]/token",
    "https://[::ffff:127.0.0.1]/token",
    "https://[::ffff:7f00:1]/token",
    "https://localhost/token",
    "http://localhost:8080/token",
    "https://LOCALHOST./token",
    "https://id.localhost/token",
    "https://169.254.169.254/latest/meta-data",
    "https://[::ffff:a9fe:a9fe]/latest/meta-data",
    "https://10.0.0.1/token",
    "https://192.168.0.1/token",
    "https://100.64.0.1/token",
    "https://100.100.100.200/latest/meta-data",
    "https://0.0.0.0/token",
    "https://0/token",
    "https://[fd00::1]/token",
    "https://[fe80::1]/token",
    "https://[64:ff9b::7f00:1]/token",
]


@corpus("place", ["authorization_endpoint", "token_endpoint", "revocation_endpoint", "jwks_uri"])
@corpus("url", WRITTEN)
def test_an_issuer_outside_cannot_name_an_address_inside(url: str, place: str):
    issuer = "https://id.example"
    said = {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/authorize",
        "token_endpoint": f"{issuer}/token",
    }
    assert parse_metadata(said, issuer, "calendar", deepest=Zone.PUBLIC)
    with pytest.raises(ProviderUnavailable, match="further inside than the issuer"):
        parse_metadata({**said, place: url}, issuer, "calendar", deepest=Zone.PUBLIC)


INSIDE = [
    ("10.0.0.1", "https://10.9.9.9/token", True),
    ("10.0.0.1", "https://id.example/token", True),
    ("10.0.0.1", "https://127.0.0.1/token", False),
    ("10.0.0.1", "https://169.254.169.254/token", False),
    ("127.0.0.1", "http://127.0.0.1:8080/token", True),
    ("127.0.0.1", "https://192.168.0.1/token", True),
    ("127.0.0.1", "https://169.254.169.254/token", False),
]


@corpus(("at", "url", "may"), INSIDE)
def test_an_issuer_inside_may_name_what_is_no_further_inside(at: str, url: str, may: bool):
    issuer = "https://id.corp.example"
    said = {"issuer": issuer, "authorization_endpoint": f"{issuer}/authorize", "token_endpoint": url}
    if may:
        assert parse_metadata(said, issuer, "calendar", deepest=zone_of(at)).token_endpoint == url
    else:
        with pytest.raises(ProviderUnavailable, match="further inside than the issuer"):
            parse_metadata(said, issuer, "calendar", deepest=zone_of(at))


async def fetch_as_an_outsider_wants(url: str) -> bool:
    """Whether somebody outside gets this server to fetch this."""
    try:
        await fetch_json(url, BoundedTransport(Zone.PUBLIC))
    except transport.AddressNotAllowed:
        return False
    return True


HOSTS = ["127.0.0.1", "0x7f.1", "2130706433", "127.1", "localhost", "[::ffff:127.0.0.1]"]


@SWITCH
@pytest.mark.parametrize("host", HOSTS)
async def test_a_name_is_judged_by_where_it_leads(monkeypatch: pytest.MonkeyPatch, host: str, is_on: bool):
    if not is_on:
        place(monkeypatch, {})
    async with authority() as one:
        one.says("/secret", {"key": "value"})
        assert await fetch_as_an_outsider_wants(f"http://{host}:{port_of(one.issuer)}/secret") is not is_on
    assert bool(one.asked) is not is_on


MAPPED = ip_network("::ffff:0:0/96")


def judge_as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the properties of Python before 3.13, which follow no address to the one that it stands for."""

    def kind(ip: IPv4Address | IPv6Address) -> AddressKind:
        if ip in MAPPED:
            return AddressKind.PRIVATE  # `is_private`, and not `is_loopback`
        return kind_of_address(ip)

    monkeypatch.setattr(zones, "_meant", lambda ip: ip)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType] # as it is
    monkeypatch.setattr(zones, "kind_of_address", kind)


@SWITCH
async def test_an_issuer_in_a_private_network_does_not_get_to_this_machine_by_a_mapped_address(
    monkeypatch: pytest.MonkeyPatch, is_on: bool
):
    if not is_on:
        judge_as_written(monkeypatch)
    async with authority() as one:
        one.says("/secret", {"key": "value"})
        url = f"http://[::ffff:127.0.0.1]:{port_of(one.issuer)}/secret"
        try:
            reached = await fetch_json(url, BoundedTransport(Zone.PRIVATE)) == {"key": "value"}
        except transport.AddressNotAllowed:
            reached = False
    assert reached is bool(one.asked) is not is_on


STANDING_FOR_THIS_MACHINE = {
    "https://[::ffff:127.0.0.1]/token": "10.0.0.1",
    "https://[2002:7f00:1::]/token": "8.8.8.8",
}
"""Each with the address of an issuer that would get there if it were judged as it is written."""


@SWITCH
@corpus(("url", "at"), STANDING_FOR_THIS_MACHINE.items())
def test_nor_may_it_name_one_that_stands_for_this_machine(
    monkeypatch: pytest.MonkeyPatch, url: str, at: str, is_on: bool
):
    if not is_on:
        judge_as_written(monkeypatch)
    issuer = "https://id.corp.example"
    said = {"issuer": issuer, "authorization_endpoint": f"{issuer}/authorize", "token_endpoint": url}
    try:
        named = parse_metadata(said, issuer, "calendar", deepest=zone_of(at)).token_endpoint == url
    except ProviderUnavailable:
        named = False
    assert named is not is_on


def lead(monkeypatch: pytest.MonkeyPatch, *turns: list[str]) -> list[str]:
    """Whoever asks where a name leads is told these, one after another; the list grows with each who asks."""
    asked: list[str] = []

    async def resolve(url: httpx2.URL) -> list[str]:
        asked.append(url.host)
        return turns[min(len(asked), len(turns)) - 1]

    monkeypatch.setattr(transport, "resolve", resolve)
    return asked


async def test_a_name_that_leads_inside_at_its_second_look_is_not_looked_at_twice(
    monkeypatch: pytest.MonkeyPatch,
):
    asked = lead(monkeypatch, ["192.0.2.1"], ["127.0.0.1"])
    place(monkeypatch, {"127.0.0.1": Zone.THIS_MACHINE})
    monkeypatch.setattr(transport, "REQUEST_TIMEOUT", 0.2)
    async with authority() as one:
        with pytest.raises(httpx2.TransportError):
            await fetch_json(
                f"http://rebinding.example:{port_of(one.issuer)}/secret", BoundedTransport(Zone.PUBLIC)
            )
    assert asked == ["rebinding.example"] and one.asked == []


async def test_of_several_addresses_only_those_outside_are_tried(monkeypatch: pytest.MonkeyPatch):
    lead(monkeypatch, ["192.0.2.1", "127.0.0.1"])
    place(monkeypatch, {"127.0.0.1": Zone.THIS_MACHINE})
    monkeypatch.setattr(transport, "REQUEST_TIMEOUT", 0.2)
    async with authority() as one:
        with pytest.raises(httpx2.TransportError):
            await fetch_json(
                f"http://both.example:{port_of(one.issuer)}/secret", BoundedTransport(Zone.PUBLIC)
            )
    assert one.asked == []


async def test_a_dead_address_before_a_good_one_does_no_harm(monkeypatch: pytest.MonkeyPatch):
    lead(monkeypatch, ["127.0.0.2", "127.0.0.1"])
    async with authority() as one:
        one.says("/public", {"fine": True})
        url = f"http://two.example:{port_of(one.issuer)}/public"
        assert await fetch_json(url, BoundedTransport()) == {"fine": True}
    assert one.asked[0].headers["host"] == f"two.example:{port_of(one.issuer)}"


SOMEWHERE = "https://tools.example/askback/callback/calendar"


async def reaches_the_inside(one: Authority) -> list[bool]:
    """Whether a code, a refresh token, a token that is given back, and a wish for keys each go to where the issuer's
    names lead."""
    metadata = await discover(one.issuer, "calendar")
    assert metadata.deepest is Zone.PUBLIC
    provider, code = one.provider("calendar", client_secret="ours alone"), {"code": "c", "verifier": "v"}
    tries = [
        exchange.redeem(provider, metadata, **code, redirect_uri=SOMEWHERE, scopes=()),
        exchange.refresh(provider, metadata, refresh_token="r", scopes=()),
        exchange.revoke(provider, metadata, token="r"),
        verify_id_token(signed({}), metadata, client_id="ours", nonce="n", now=0.0),
    ]
    return [await _arrives(one_try) for one_try in tries]


async def _arrives(one_try: Coroutine[Any, Any, Any]) -> bool:
    try:
        await one_try
    except ProviderUnavailable:
        return False
    except InvalidIdToken:
        return True
    return True


@SWITCH
async def test_endpoints_found_outside_are_not_used_where_their_names_lead_inside(
    monkeypatch: pytest.MonkeyPatch, is_on: bool
):
    async with authority() as inner:
        inner.says("/revoke", {})
        names = {
            name: f"http://inner.localhost:{port_of(inner.issuer)}/{path}"
            for name, path in (
                ("token_endpoint", "token"),
                ("revocation_endpoint", "revoke"),
                ("jwks_uri", "keys"),
            )
        }
        async with authority(**names) as one:
            _put_outside(monkeypatch, one, inner_zone=Zone.THIS_MACHINE if is_on else Zone.PUBLIC)
            assert await reaches_the_inside(one) == [not is_on] * 4
    assert bool(inner.asked) is not is_on


async def test_an_endpoint_that_the_operator_wrote_may_be_inside_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
):
    async with authority() as inner, authority() as one:
        inner.says("/revoke", {})
        _put_outside(monkeypatch, one, inner_zone=Zone.THIS_MACHINE)
        written = f"http://inner.localhost:{port_of(inner.issuer)}/revoke"
        provider = one.provider("calendar", revocation_endpoint=written)
        await exchange.revoke(provider, await MetadataCache().of(provider), token="for-use")
    assert [asked.path for asked in inner.asked] == ["/revoke"]
    assert "/revoke" not in [asked.path for asked in one.asked]


def _put_outside(monkeypatch: pytest.MonkeyPatch, one: Authority, *, inner_zone: Zone) -> None:
    """As if this authority were far away, and only a look at where a name leads told what is near."""

    async def resolve(url: httpx2.URL) -> list[str]:
        return ["127.0.0.1"] if url.port == port_of(one.issuer) else ["::ffff:127.0.0.1"]

    def of_no_known_place(host: str) -> bool:
        return False

    def unwritten(host: str) -> Zone:
        return Zone.PUBLIC

    monkeypatch.setattr(transport, "resolve", resolve)
    place(monkeypatch, {"::ffff:127.0.0.1": inner_zone})
    monkeypatch.setattr("askback.oauth.metadata.is_loopback", of_no_known_place)
    monkeypatch.setattr("askback.oauth.metadata.zone_of", unwritten)
