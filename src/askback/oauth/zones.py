"""How far inside an address is: what somebody outside tells us must not lead further in than they are (T12)."""

from enum import IntEnum
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

TRANSLATED = ip_network("64:ff9b::/96")
"""Stands for an IPv4 address, on networks that have none of their own."""

SHARED = ip_network("100.64.0.0/10")
"""Between a provider and its customers, and inside clouds; Python calls it neither private nor global."""

GLOBAL_6 = ip_network("2000::/3")
"""All that is given out of IPv6 so far."""


class Zone(IntEnum):
    """From the outside inwards."""

    PUBLIC = 0
    PRIVATE = 1
    THIS_MACHINE = 2
    RESERVED = 3
    """Link-local, where clouds keep credentials for whoever asks; multicast; nowhere."""


def zone_of(address: str) -> Zone:
    """Of an address as a resolver writes it; raises `ValueError` for anything else."""
    ip = _meant(ip_address(address.partition("%")[0]))
    if ip.is_loopback:
        return Zone.THIS_MACHINE
    if ip.is_link_local or ip.is_multicast or ip.is_unspecified:
        return Zone.RESERVED
    if ip.is_global and (ip.version == 4 or ip in GLOBAL_6):
        return Zone.PUBLIC
    return Zone.PRIVATE if (ip.is_private and not ip.is_reserved) or ip in SHARED else Zone.RESERVED


def _meant(ip: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address that an IPv6 one stands for, if it does."""
    if isinstance(ip, IPv4Address):
        return ip
    translated = IPv4Address(int(ip) & 0xFFFF_FFFF) if ip in TRANSLATED else None
    return ip.ipv4_mapped or ip.sixtofour or translated or ip
