"""How far inside our network an address is: a server outside must not direct us further in than itself (T12)."""

from enum import IntEnum
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

from askback.schema.networks import AddressKind, kind_of_address

TRANSLATED = ip_network("64:ff9b::/96")
"""Prefix of IPv6 addresses that stand for IPv4 ones, on networks without IPv4 (NAT64)."""


class Zone(IntEnum):
    """From the outside inwards."""

    PUBLIC = 0
    PRIVATE = 1
    THIS_MACHINE = 2
    RESERVED = 3
    """Link-local, where clouds give credentials to every caller; multicast; unused."""


ZONES: Final = {
    AddressKind.PUBLIC: Zone.PUBLIC,
    AddressKind.PRIVATE: Zone.PRIVATE,
    AddressKind.LOOPBACK: Zone.THIS_MACHINE,
}
"""All other kinds are reserved."""


def zone_of(address: str) -> Zone:
    """The zone of an address, as a resolver writes it; raises `ValueError` for anything else."""
    ip = _meant(ip_address(address.partition("%")[0]))
    return ZONES.get(kind_of_address(ip), Zone.RESERVED)


def _meant(ip: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address that an IPv6 one stands for, else the address itself."""
    if isinstance(ip, IPv4Address):
        return ip
    translated = IPv4Address(int(ip) & 0xFFFF_FFFF) if ip in TRANSLATED else None
    return ip.ipv4_mapped or ip.sixtofour or translated or ip
