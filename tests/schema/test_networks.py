"""What an address belongs to is the same on every Python."""

from ipaddress import IPv6Address, ip_address

import pytest

from askback.client.consent import judge, link
from askback.schema import links
from askback.schema.networks import AddressKind, is_loopback_address, kind_of_address
from askback.server.forwarding import directory
from tests.support.defence import with_and_without

KINDS = {
    AddressKind.LOOPBACK: "127.0.0.1 127.255.255.254 ::1",
    AddressKind.UNSPECIFIED: "0.0.0.0 0.1.2.3 ::",
    AddressKind.LINK_LOCAL: "169.254.169.254 fe80::1 febf::1",
    AddressKind.MULTICAST: "224.0.0.1 239.1.1.1 ff02::1",
    AddressKind.PRIVATE: """
        10.1.2.3 100.64.0.1 172.31.0.1 192.0.0.8 192.0.0.9 192.0.0.10 192.0.0.170 192.0.2.1 192.168.0.1 198.19.0.1
        198.51.100.1 203.0.113.1 2001::1 2001:1::1 2001:4:112::1 2001:20::1 2001:db8::1 3fff::1 fc00::1 fd12::1
    """,
    AddressKind.UNUSED: "240.0.0.1 255.255.255.255 ::7f00:1 64:ff9b:1::1 100::1 5f00::1 fec0::1",
    AddressKind.PUBLIC: "8.8.8.8 172.32.0.1 192.88.99.1 2606:4700::1111 2002:7f00:1::",
}
"""Several of these are private, global or reserved in one release of Python and not in another."""

MAPPED = "::ffff:127.0.0.1"


@pytest.mark.parametrize("kind", KINDS)
def test_an_address_belongs_to_its_network(kind: AddressKind):
    found = {text: kind_of_address(ip_address(text)) for text in KINDS[kind].split()}
    assert found == dict.fromkeys(found, kind)


@pytest.mark.parametrize("text", [MAPPED, "::ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:8.8.8.8"])
def test_an_address_inside_another_is_not_followed(text: str):
    assert kind_of_address(ip_address(text)) is AddressKind.UNUSED


def as_python_3_13_says(ip: IPv6Address) -> bool:
    return ip == ip_address("::1") or (ip.ipv4_mapped is not None and ip.ipv4_mapped.is_loopback)


@pytest.mark.verifies("R68", "T12")
@with_and_without
def test_a_mapped_address_does_not_pass_for_this_machine(monkeypatch: pytest.MonkeyPatch, is_defended: bool):
    if not is_defended:
        for module in (link, links, directory):
            monkeypatch.setattr(module, "is_loopback_address", as_python_3_13_says)
    passes = [
        judge(f"http://[{MAPPED}]/").allowed,
        links.is_loopback(f"[{MAPPED}]"),
        directory.is_loopback(f"http://[{MAPPED}]:8000"),
    ]
    assert passes == [not is_defended] * 3


def test_this_machine_in_its_usual_spelling_is_this_machine():
    assert all(is_loopback_address(ip_address(text)) for text in KINDS[AddressKind.LOOPBACK].split())
    assert judge("http://127.0.0.1:8000/").allowed and judge("http://[::1]:8000/").allowed
