"""A link as a browser reads it: host, address, registrable domain, international names. Nothing is looked up."""

import ipaddress
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

import ada_url
import idna
from publicsuffixlist import PublicSuffixList

from askback.schema.networks import is_loopback_address
from askback.schema.secret_lint.text import fold

SCRIPTS: Final = {"CJK": "Han", "IDEOGRAPHIC": "Han", "MODIFIER": "", "COMBINING": ""}
"""First words of Unicode's character names that are not themselves the name of a script."""

TOGETHER: Final = (
    frozenset(("Latin", "Han", "Hiragana", "Katakana")),
    frozenset(("Latin", "Han", "Bopomofo")),
    frozenset(("Latin", "Han", "Hangul")),
)
"""Scripts that are written side by side in one word."""

JOINERS: Final = "\u200c\u200d"
"""Unseen, and yet spelling in Persian, in Indian scripts and in emoji. A browser leaves them where they are."""

MAX_HOST_LABEL_LENGTH: Final = 63
"""Characters between two dots that the network can carry."""

TWINS: Final = (("0", "o"), ("1", "l"), ("rn", "m"), ("vv", "w"), ("5", "s"), ("3", "e"))
"""Plain characters that pass for others at a glance."""


def unicode_of(host: str) -> str:
    """As it would be read aloud; labels that stand for no name stay as they are."""
    return ".".join(label if is_false_ace(label) else _decoded(label) for label in host.split("."))


def is_ace(label: str) -> bool:
    return label.startswith("xn--")


def is_false_ace(label: str) -> bool:
    """Punycode that says something else when it is written again: no registry gives out such a name."""
    if not is_ace(label):
        return False
    decoded = _decoded(label)
    return decoded == label or decoded.isascii() or ada_url.idna_to_ascii(decoded).decode() != label


def false_letters(label: str) -> str:
    """Signs in a Unicode label that could pass for a slash, a dot or a colon."""
    if label.isascii() or _is_idna(label):
        return ""
    return "".join(
        sign
        for sign in label
        if not sign.isascii()
        and (
            unicodedata.category(sign)[0] in "PZ"
            or unicodedata.category(sign) in ("Sm", "Sk", "Sc")
            or "\u2500" <= sign <= "\u257f"
        )
    )


def may_join(label: str) -> bool:
    """Whether the joiners in a label stand where its script is spelled with them, by the rules of registries."""
    return len(label) <= MAX_HOST_LABEL_LENGTH and _is_idna(unicodedata.normalize("NFC", label).lower())


def scripts_of(label: str) -> list[str]:
    """The scripts of its letters, in order."""
    found: dict[str, None] = {}
    for character in label:
        if unicodedata.category(character).startswith("L"):
            first = unicodedata.name(character, "UNNAMED").split()[0].split("-")[0]
            found.setdefault(SCRIPTS.get(first, first.capitalize()))
    return [script for script in found if script]


def is_mixed(label: str) -> bool:
    """Letters of scripts that nobody writes in one word."""
    scripts = frozenset(scripts_of(label))
    return len(scripts) > 1 and not any(scripts <= usual for usual in TOGETHER)


def passes_for(label: str) -> str | None:
    """The plain name it reads as, where no letter of it is Latin and yet all of them look so."""
    if label.isascii() or "Latin" in scripts_of(label):
        return None
    folded = fold(label).lower()
    return folded if folded.isascii() and folded.replace("-", "").isalnum() else None


def readings_of(name: str) -> Iterator[str]:
    """What a hasty eye could make of a name: without accents and disguise, and with look-alikes exchanged."""
    plain = ".".join(fold(label).lower().replace(" ", "-") for label in name.split("."))
    yield plain
    for twin, meant in TWINS:
        plain = plain.replace(twin, meant)
    yield plain


def _decoded(label: str) -> str:
    return ada_url.idna_to_unicode(label) if is_ace(label) else label


def _is_idna(label: str) -> bool:
    try:
        idna.check_label(label)
    except idna.IDNAError:
        return False
    return True


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
    has_user: bool
    address: Address | None

    @property
    def labels(self) -> list[str]:
        """The host's parts between the dots; the dot that may end a host is no part."""
        return self.host.removesuffix(".").split(".")

    @property
    def domain(self) -> str:
        """The registrable domain. Suffixes that a company rents out count: each `x.github.io` has its own owner."""
        bare = self.host.removesuffix(".")
        return self.host if self.address else _suffixes().privatesuffix(bare) or bare

    @property
    def is_loopback(self) -> bool:
        """This machine itself. Mapped and zero addresses are not taken for it: no honest link is written so."""
        if self.address:
            return is_loopback_address(self.address)
        return self.labels[-1] == "localhost" and not self.host.endswith(".")


def parse_link(url: str) -> ParsedLink | None:
    """Parse a link as every browser does; None where no browser could read it."""
    try:
        parsed = ada_url.URL(url)
    except ValueError:  # also for half characters, which no encoding can carry
        return None
    return ParsedLink(
        href=parsed.href,
        scheme=parsed.protocol,
        host=parsed.hostname,
        port=parsed.port,
        has_user=bool(parsed.username or parsed.password),
        address=_address(parsed.hostname),
    )


def is_shared(host: str) -> bool:
    """Whether a host is a suffix below which anybody can register, and so no site of its own."""
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
