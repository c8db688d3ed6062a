"""A link as a browser reads it: host, address, registrable domain, international names; and what a person should know
about it before opening it. Nothing is looked up. Each concern is one plain sentence.
"""

import ipaddress
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final

import ada_url
import idna
from publicsuffixlist import PublicSuffixList

from askback.schema.networks import AddressKind, is_loopback_address, kind_of_address
from askback.schema.secret_lint.lexicon import fold

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


WELL_KNOWN: Final = frozenset((
    "adobe.com", "airbnb.com", "aliexpress.com", "amazon.co.uk", "amazon.com", "amazon.de",
    "apple.com", "atlassian.com", "auth0.com", "bankofamerica.com", "binance.com", "bitbucket.org",
    "booking.com", "box.com", "chase.com", "cloudflare.com", "coinbase.com",
    "databricks.com", "dhl.com", "digitalocean.com", "discord.com", "docker.com", "docusign.com",
    "dropbox.com", "ebay.com", "facebook.com", "fedex.com", "figma.com", "gitea.com", "github.com",
    "gitlab.com", "gmail.com", "google.com", "googleapis.com", "grafana.com", "heroku.com", "hubspot.com",
    "huggingface.co", "icloud.com", "instagram.com", "intuit.com", "jira.com", "linear.app", "linkedin.com",
    "live.com", "microsoft.com", "microsoftonline.com", "mongodb.com", "netflix.com", "netlify.com",
    "notion.so", "npmjs.com", "office.com", "okta.com", "onedrive.com", "oracle.com",
    "outlook.com", "paypal.com", "pypi.org", "python.org", "reddit.com", "revolut.com", "salesforce.com",
    "sap.com", "sentry.io", "shopify.com", "slack.com", "snowflake.com", "spotify.com", "stackoverflow.com",
    "steampowered.com", "stripe.com", "supabase.com", "telegram.org", "tiktok.com", "trello.com",
    "twitch.tv", "twitter.com", "usps.com", "vercel.com", "wellsfargo.com", "whatsapp.com", "wikipedia.org",
    "wise.com", "x.com", "yahoo.com", "youtube.com", "zendesk.com", "zoom.us",
))  # fmt: skip
"""Only to say "this is not that site": a link to a site that is not listed is judged like any other."""

BORROWED: Final = frozenset(("com", "org", "net", "gov", "edu"))
"""Endings that belong at the end: inside a host they make a sub-domain look like a site of its own."""


MAX_LABELS: Final = 5
"""In front of the domain; cloud regions take four. More push the domain out of sight."""
MAX_HOST_LENGTH: Final = 100

_NAMES = "|".join(name.replace(".", "[.-]") for name in sorted(WELL_KNOWN))
_BORROWED = re.compile(rf"(?:^|[.-])({_NAMES})(?=[.-])")
_UNSEEN = re.compile("%E2%80%8[BEF]|%E2%80%A[A-E]|%E2%81%A[0-9]|%EF%BB%BF", re.IGNORECASE)
_SECRETS = re.compile(
    r"[?&#;](password|passwd|pwd|secret|client_secret|(?:(?:access|refresh|id|auth)_)?token|api_?key)=[^&#;]",
    re.IGNORECASE,
)


def concerns_of(place: ParsedLink) -> Iterator[str]:
    """The gravest first; nothing for an ordinary https link."""
    for concern in CONCERNS if place.host else ():
        yield from concern(place)


def strangeness_of(domain: str, *, own: str | None, before: frozenset[str]) -> Iterator[str]:
    """A domain that is neither the server's own nor one that the person went to for this server before."""
    if domain in before or not domain:
        return
    if own is not None and domain != own:
        yield f"{domain} is not the domain of the server that asks ({own})."
    if before:
        yield f"This server sent you to {_listed(before)} before; {domain} is new."


def _look_alike(place: ParsedLink) -> Iterator[str]:
    domain = unicode_of(place.domain)
    for reading in readings_of(domain):
        if reading in WELL_KNOWN and place.domain not in WELL_KNOWN:
            yield f"{domain} looks like {reading}, and is another site."
            return


def _borrowed(place: ParsedLink) -> Iterator[str]:
    """Another site's name in front of the domain that the link really goes to."""
    if place.address or place.domain in WELL_KNOWN:
        return
    front = place.labels[: -place.domain.count(".") or None]
    named = _BORROWED.search(".".join(front) + ".")
    pairs = (f"{name}.{end}" for name, end in pairwise(front[:-1]) if end in BORROWED)
    if borrowed := named[1] if named else next(pairs, None):
        yield f"The host holds the name {borrowed}, but the site is {place.domain}."


def _scripts(place: ParsedLink) -> Iterator[str]:
    for label in map(unicode_of, place.labels):
        if is_mixed(label):
            yield f"{label} mixes letters of several scripts: {', '.join(scripts_of(label))}."
        elif plain := passes_for(label):
            letters = next((f"{script} letters" for script in scripts_of(label)), "signs")
            yield f"{label} is written in {letters} that look like {plain}."


def _international(place: ParsedLink) -> Iterator[str]:
    if any(map(is_ace, place.labels)):
        yield f"The host is an international name (Punycode): {place.host} reads as {unicode_of(place.host)}."
    # Joiners are allowed where a script is spelled with them; in many fonts the name looks the same without.
    if any(joiner in unicode_of(place.host) for joiner in JOINERS):
        yield "The host holds joining characters that cannot be seen: the name without them is another site."


def _warn_of_address(place: ParsedLink) -> Iterator[str]:
    if place.address is None or place.is_loopback:
        return
    where = ADDRESSES[kind_of_address(getattr(place.address, "ipv4_mapped", None) or place.address)]
    yield f"The host is an IP address{where}, not a name: it does not tell whose site it is."


ADDRESSES: Final = {
    AddressKind.LOOPBACK: " of this machine",
    AddressKind.UNSPECIFIED: " of this machine",
    AddressKind.LINK_LOCAL: " of your own network segment",
    AddressKind.PRIVATE: " of a private network",
    AddressKind.MULTICAST: " of a group of machines",
    AddressKind.UNUSED: " that is not in use",
    AddressKind.PUBLIC: "",
}
"""What an address belongs to, as the end of "an IP address"."""


def _connection(place: ParsedLink) -> Iterator[str]:
    if place.scheme == "http:" and not place.is_loopback:
        yield "The link uses http, which is not encrypted, so others can read and change it."
    if place.port and not place.is_loopback:
        yield f"The link uses an unusual port, {place.port}."


def _host_name(place: ParsedLink) -> Iterator[str]:
    if place.address or place.is_loopback:
        return
    if is_shared(place.host):
        yield f"{place.host} is an ending that many sites share, not a site."
    elif len(place.labels) == 1:
        yield f"{place.host} is a single word: it means whatever this network makes of it."
    if place.host.endswith("."):
        yield "The host ends in a dot, which can make it pass for another site."
    if len(place.labels) - place.domain.count(".") - 1 > MAX_LABELS or len(place.host) > MAX_HOST_LENGTH:
        yield f"The host is very long; all that counts is its end, {place.domain}."


def _contents(place: ParsedLink) -> Iterator[str]:
    if named := _SECRETS.search(place.href):
        yield f"The link itself carries something secret ({named[1].lower()})."
    # A browser may decode these where it shows the link; joiners are left out, since Persian is written with them.
    if _UNSEEN.search(place.href):
        yield "The link holds characters that turn or hide text where they are shown."


CONCERNS: Final[tuple[Callable[[ParsedLink], Iterator[str]], ...]] = (
    _look_alike,
    _borrowed,
    _scripts,
    _international,
    _warn_of_address,
    _connection,
    _host_name,
    _contents,
)


def _listed(domains: frozenset[str]) -> str:
    first, *others = sorted(domains)
    return f"{first} and {len(others)} more" if others else first
