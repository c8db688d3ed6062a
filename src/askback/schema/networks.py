"""What an IP address belongs to, by tables of our own.

Python's `is_loopback`, `is_private`, `is_global` and `is_reserved` change between its versions: 3.13 takes
`::ffff:127.0.0.1` for loopback, and the lists of private networks grew in 3.11 to 3.13. A verdict about a link or an
address must not depend on that.
"""

from enum import Enum, auto
from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import Final


class AddressKind(Enum):
    """From the IANA registries of special addresses, as far as a verdict needs them."""

    LOOPBACK = auto()
    UNSPECIFIED = auto()
    LINK_LOCAL = auto()
    """One network segment; clouds give credentials to every program that asks there."""
    MULTICAST = auto()
    PRIVATE = auto()
    UNUSED = auto()
    PUBLIC = auto()


NETWORKS: Final = {
    AddressKind.LOOPBACK: "127.0.0.0/8 ::1/128",
    AddressKind.UNSPECIFIED: "0.0.0.0/8 ::/128",
    AddressKind.LINK_LOCAL: "169.254.0.0/16 fe80::/10",
    AddressKind.MULTICAST: "224.0.0.0/4 ff00::/8",
    AddressKind.PRIVATE: """
        10.0.0.0/8 100.64.0.0/10 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.168.0.0/16 198.18.0.0/15
        198.51.100.0/24 203.0.113.0/24 2001::/23 2001:db8::/32 3fff::/20 fc00::/7
    """,
    AddressKind.UNUSED: "240.0.0.0/4",
    AddressKind.PUBLIC: "0.0.0.0/0 2000::/3",
}
"""An address has the first kind whose networks hold it. Addresses for examples and measurements count as private, and
so does 100.64.0.0/10, between a provider and its customers. Of IPv6, only 2000::/3 is given out so far."""

_TABLE: Final = tuple((kind, ip_network(text)) for kind, texts in NETWORKS.items() for text in texts.split())


def kind_of_address(ip: IPv4Address | IPv6Address) -> AddressKind:
    """The kind of the address as written: an IPv6 address that stands for an IPv4 one is not resolved."""
    return next((kind for kind, network in _TABLE if ip in network), AddressKind.UNUSED)


def is_loopback_address(ip: IPv4Address | IPv6Address) -> bool:
    """Whether it is this machine, written in the usual way: not for `::ffff:127.0.0.1`."""
    return kind_of_address(ip) is AddressKind.LOOPBACK
