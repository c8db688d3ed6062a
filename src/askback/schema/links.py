"""What the link of a visit may be: it carries an id and no meaning, so whoever reads it on its way learns nothing.

A link passes the client, and often a model, its logs and the person's history. What is refused here (R17 to R19): plain
http beyond this machine, names and passwords, parameters that are named like credentials or like a person, and values
that are shaped like either. It reads what is written, like the secret lint beside it.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import parse_qsl, unquote

from pydantic import ValidationError
from pydantic_core import Url

from askback.errors import LinkRefused
from askback.schema.formats import is_readable
from askback.schema.secrets.judging import asked_in_label
from askback.schema.secrets.shapes import likeness

PLACE = "{id}"
"""Where the id goes."""

MOST_LINK = 2_000
"""Characters: what every browser takes, with room for the id."""

_STAND_IN = "A" * 43
"""As long as an id; the link is judged with this in its place."""

_SIGNS_IN = re.compile(
    r"(?i)(x-(amz|goog)-)?(sig(nature)?|signed|credentials?|otp|jwt|sso|saml\w*|assertion|ticket|sid|session\w*|magic\w*|"
    r"auth\w*|bearer|nonce_?token|login_?token|key|code)"
)
"""Names of parameters that sign somebody in, beside what the secret lint knows."""

_PERSONAL = re.compile(
    r"(?i)(e-?mail\w*|mail|phone\w*|tel|mobile|msisdn|(first|last|sur|full|user|given|family)?_?-?name|user(_?-?id)?|"
    r"uid|login(_?hint)?|ssn|dob|birth\w*|address|street|zip|iban|passport\w*|customer\w*|account\w*|patient\w*)"
)
"""Names of parameters that say who somebody is."""

_ADDRESS = re.compile(r"[^\s@/]+@[^\s@/]+\.[^\s@/]+")
_PHONE = re.compile(r"(\+|00)\d[\d\s().-]{6,}\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link that was judged, and where its id goes. Made by `link_of`."""

    template: str

    def with_id(self, id: str) -> str:
        return self.template.replace(PLACE, id)


@lru_cache(maxsize=256)
def link_of(template: str, *, needs_id: bool = True) -> Link:
    """The link with this template; raises `LinkRefused` where it must not go out."""
    if not isinstance(template, str) or not is_readable(template) or len(template) > MOST_LINK:  # pyright: ignore[reportUnnecessaryIsInstance] # authors err
        raise _refused("the link is not a text of at most 2,000 characters", "give the URL as a text")
    if needs_id and PLACE not in template:
        raise _refused(
            "the link has no {id} in it, so nobody could say which visit has ended",
            "write {id} where the page finds it, such as https://pay.example/checkout/{id}; or go on without the end, "
            "with wait=False",
        )
    filled = template.replace(PLACE, _STAND_IN)
    _examine_place(_parsed(filled))
    _examine_words(filled)
    return Link(template=template)


def _parsed(link: str) -> Url:
    try:
        return Url(link)
    except (ValidationError, ValueError) as error:
        raise _refused(
            f"the link cannot be read as a URL ({link[:80]!r})", "give a whole https URL"
        ) from error


def _examine_place(url: Url) -> None:
    if url.scheme not in {"https", "http"} or not url.host:
        raise _refused(f"the link leads to {url.scheme}:, which no browser should open", "give an https URL")
    if url.username or url.password:
        raise _refused("the link holds a name or a password before its host", "leave them out")
    if url.scheme == "http" and not is_loopback(url.host):
        raise _refused(
            f"the link goes to {url.host} over plain http, where others can read and change it", "use https"
        )
    if _STAND_IN.lower() in url.host.lower():
        raise _refused("the id stands in the host of the link", "put it into the path")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    bare = host.strip("[]").rstrip(".").lower()
    if bare == "localhost" or bare.endswith(".localhost"):
        return True
    try:
        return ip_address(bare).is_loopback
    except ValueError:
        return False


def _examine_words(link: str) -> None:
    """Every part of a link that could mean something, read as browsers and servers would read it."""
    before, _, fragment = link.partition("#")
    path, _, query = before.partition("?")
    for name, value in [*_pairs(query), *_pairs(fragment)]:
        _examine_parameter(name, value)
    for piece in unquote(path.split("://", 1)[-1]).split("/")[1:]:
        for name, value in _pairs(piece.partition(";")[2]):
            _examine_parameter(name, value)
        _examine_value(piece)


def _pairs(text: str) -> list[tuple[str, str]]:
    return parse_qsl(text.replace(";", "&"), keep_blank_values=True)


def _examine_parameter(name: str, value: str) -> None:
    if value == _STAND_IN or not value:
        return
    secret = asked_in_label(name)
    if secret is not None or _SIGNS_IN.fullmatch(name):
        raise _refused(
            f"the link carries {name!r}, which looks like a credential or like a sign-in that was done before",
            "let the page sign the person in by itself, and look up the rest under the id",
        )
    if _PERSONAL.fullmatch(name):
        raise _refused(
            f"the link carries {name!r}, which says who somebody is", "keep it on the server, under the id"
        )
    _examine_value(value)


def _examine_value(value: str) -> None:
    text = value.replace(_STAND_IN, "")
    if (found := likeness(text)) is not None:
        raise _refused(f"a part of the link {found}", "keep it on the server, under the id")
    if _ADDRESS.search(text) or _PHONE.fullmatch(text.strip()):
        raise _refused(
            "a part of the link looks like an e-mail address or a telephone number",
            "keep it on the server, under the id",
        )


def _refused(problem: str, instead: str) -> LinkRefused:
    return LinkRefused(field=None, problem=problem, instead=instead)
