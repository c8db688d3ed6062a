"""How far inside an address is: what somebody outside tells us must not lead further in than they are (T12)."""

from enum import IntEnum
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

from askback.schema.networks import AddressKind, kind_of_address

TRANSLATED = ip_network("64:ff9b::/96")
"""Stands for an IPv4 address, on networks that have none of their own."""


class Zone(IntEnum):
    """From the outside inwards."""

    PUBLIC = 0
    PRIVATE = 1
    THIS_MACHINE = 2
    RESERVED = 3
    """Link-local, where clouds keep credentials for whoever asks; multicast; nowhere."""


ZONES: Final = {
    AddressKind.PUBLIC: Zone.PUBLIC,
    AddressKind.PRIVATE: Zone.PRIVATE,
    AddressKind.LOOPBACK: Zone.THIS_MACHINE,
}
"""All other kinds are reserved."""


def zone_of(address: str) -> Zone:
    """Of an address as a resolver writes it; raises `ValueError` for anything else."""
    ip = _meant(ip_address(address.partition("%")[0]))
    return ZONES.get(kind_of_address(ip), Zone.RESERVED)


def _meant(ip: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address that an IPv6 one stands for, if it does."""
    if isinstance(ip, IPv4Address):
        return ip
    translated = IPv4Address(int(ip) & 0xFFFF_FFFF) if ip in TRANSLATED else None
    return ip.ipv4_mapped or ip.sixtofour or translated or ip
