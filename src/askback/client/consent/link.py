"""Where a link leads, as a browser reads it: host, address, registrable domain. Nothing is looked up anywhere."""

import ipaddress
from dataclasses import dataclass
from functools import cache
from typing import Final

import ada_url
from publicsuffixlist import PublicSuffixList

from askback.schema.networks import is_loopback_address

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
SCHEMES: Final = {"https:": 443, "http:": 80}


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedLink:
    """A parsed link."""

    href: str
    scheme: str
    host: str
    port: str
    """Empty where it is the scheme's own."""
    path: str
    has_user: bool
    address: Address | None

    @property
    def labels(self) -> list[str]:
        """The host's parts between the dots; the dot that may end a host is no part."""
        return self.host.removesuffix(".").split(".")

    @property
    def domain(self) -> str:
        return self.host if self.address else domain_of(self.host)

    @property
    def is_loopback(self) -> bool:
        """This machine itself. Mapped and zero addresses are not taken for it: no honest link is written so."""
        if self.address:
            return is_loopback_address(self.address)
        return self.labels[-1] == "localhost" and not self.host.endswith(".")


def parse_link(url: str) -> ParsedLink | None:
    """As every browser does; None where none could read it."""
    try:
        parsed = ada_url.URL(url)
    except ValueError:  # also for half characters, which no encoding can carry
        return None
    return ParsedLink(
        href=parsed.href,
        scheme=parsed.protocol,
        host=parsed.hostname,
        port=parsed.port,
        path=parsed.pathname,
        has_user=bool(parsed.username or parsed.password),
        address=_address(parsed.hostname),
    )


def domain_of(host: str) -> str:
    """The registrable domain. Suffixes that a company rents out count: each `x.github.io` has its own owner."""
    bare = host.removesuffix(".")
    return _suffixes().privatesuffix(bare) or bare


def is_shared(host: str) -> bool:
    """A suffix below which anybody can register: it is nobody's own site."""
    bare = host.removesuffix(".")
    return "." in bare and _suffixes().privatesuffix(bare) is None


def _address(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()
