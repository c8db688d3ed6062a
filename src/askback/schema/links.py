"""What the link of a visit may be. It carries an id and no meaning, so that its readers on the way learn nothing.

A link passes the client, and often a model, its logs and the person's history. Refused here (R17 to R19) are plain http
beyond this machine, names and passwords, parameters that are named like credentials or like a person, and values that
are shaped like either. Like the secret lint, this reads what is written and looks nothing up.
"""

import re
from dataclasses import dataclass
from functools import lru_cache, partial
from ipaddress import ip_address
from urllib.parse import parse_qsl, unquote

from pydantic import ValidationError
from pydantic_core import Url

from askback.errors.questions import LinkRefused, require
from askback.schema.networks import is_loopback_address
from askback.schema.secret_lint.shapes import recognize_key
from askback.schema.secret_lint.verdict import find_demand_in_label

ID_PLACEHOLDER = "{id}"
"""Where the id goes."""

MAX_LINK_LENGTH = 2_000
"""Characters: what every browser takes, with room for the id."""

MAX_DECODINGS = 3
"""How often a value is decoded: a value that goes through two services is encoded twice."""

_require = partial(require, error=LinkRefused)

_STAND_IN = "A" * 43
"""As long as an id; the link is judged with this in its place."""

_WHOLE = re.compile(r"""(?i)https?://[^/?#\s][^\s\\{}"<>^`|]*""")
"""Written out, and read alike by every parser: a backslash is a slash to some, and a part of the host to others."""

_SIGNS_IN = re.compile(
    r"(.+_)?(sig|signature|signed|credentials?|otp|jwt|bearer|assertion|sso|sid|session(_?(id|token|key))?|"
    r"auth(orization|_?(key|code|hash|cookie|header))?|magic(_?(link|key|code))?|login_?(key|code))|"
    r"\w*sess_?(ion)?_?id|saml\w+|x_(amz|goog)_\w+"
)
"""Names of parameters that sign a person in, in addition to those that the secret lint knows."""

_MAY_SIGN_IN = {"code", "key", "ticket"}
_PLAIN = re.compile(r"[A-Za-z]+([-_ .][A-Za-z]+)*[-_]?\d{0,4}|\d{1,5}")
"""A voucher, the key of a table, the number of a ticket: nobody signs in with these."""

_PERSONAL = re.compile(
    r"(.+_)?(e?_?mail(_?addr(ess)?)?|(tele|mobile_?)?phone(_?(no|nr|number))?|tel|mobile|msisdn|ssn|dob|iban|surname|"
    r"birth_?(day|date)|date_of_birth|street|address|zip|postcode)|"
    r"((first|last|full|user|given|family|middle|display|real|customer|patient|person)_?)?name|"
    r"(user|customer|account|patient|person|member|employee|passport)(_?(id|no|nr|num|number|ref))?|uid|login(_?hint)?"
)
"""Names of parameters that identify a person. `name` alone may be a person's; `product_name` is not."""

_SWITCH = re.compile(r"(?i)|true|false|on|off|yes|no|none|all|auto|required|optional|[01]")
"""Values that say nothing about a person, under any name."""

_OPEN = {"client_id", "code_challenge", "nonce", "state"}
"""Parameters of an OAuth request that look random and are not secret."""

ELSEWHERE = (
    "keep it on the server under a number of your own, made in once(...) before the visit; put that number into the "
    "link and look it up when the page is opened ({id} only tells which visit it is)"
)
"""What an author can do: the id is not known before the link goes out."""

SENT_ON = (
    "; if this is the address of somebody else's page, such as a hosted checkout, link to a page of your own with {id} "
    "that sends the person on when it is opened: there you can also check who they are"
)
"""What to do for a page whose address is all that a visitor needs."""

_LEFT_OVER = re.compile(r"\{\w*\}")
"""What an f-string, or `format`, would have filled in."""

_ADDRESS = re.compile(r"[^\s@/]+@[^\s@/]+\.[^\s@/]+")
_PHONE = re.compile(r"(\+|00)\d[\d\s().-]{6,}\d")
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTemplate:
    """A link that was checked, and the place of its id. Made by `link_of`."""

    template: str

    def with_id(self, id: str) -> str:
        return self.template.replace(ID_PLACEHOLDER, id)


def link_of(template: str, *, needs_id: bool = True) -> LinkTemplate:
    """The link with this template; raises `LinkRefused` where it must not go out."""
    _require(
        isinstance(template, str) and len(template) <= MAX_LINK_LENGTH,  # pyright: ignore[reportUnnecessaryIsInstance] # authors err
        problem=f"the link is not a text of at most {MAX_LINK_LENGTH:,} characters",
        instead="give the URL as a text",
    )
    return _judged(template, needs_id)


@lru_cache(maxsize=256)
def _judged(template: str, needs_id: bool) -> LinkTemplate:
    _examine_writing(template)
    _require(
        not needs_id or ID_PLACEHOLDER in template,
        problem="the link has no {id} in it, so it could not be said which visit has ended",
        instead="write {id} where the page finds it, such as https://pay.example/checkout/{id}, and in an f-string "
        "{{id}}; or go on without the end, with wait=False",
    )
    filled = template.replace(ID_PLACEHOLDER, _STAND_IN)
    try:
        url = Url(filled)
    except (ValidationError, ValueError) as error:
        raise LinkRefused(
            field=None,
            problem=f"the link cannot be read as a URL ({filled[:80]!r})",
            instead="give a whole https URL",
        ) from error
    _examine_place(url)
    _require(
        _WHOLE.fullmatch(filled) and filled.isprintable(),
        problem=f"the link has spaces, backslashes or characters that hide, or is not written out ({template[:80]!r})",
        instead="write it from https:// on, with such characters as %20",
    )
    _examine_words(filled)
    return LinkTemplate(template=template)


def _examine_writing(template: str) -> None:
    """Refuse mistakes in writing first: a later check would describe them as something else."""
    _require(
        "://" in template or not re.search(r"\s", template.strip()),
        problem=f"the link is a sentence ({template[:80]!r})",
        instead="say what it is for first, and then where it leads: "
        'visit("Please pay.", "https://pay.example/orders/{id}")',
    )
    _require(
        "{{id}}" not in template,
        problem="the link has {{id}} in it, which becomes {id} in an f-string alone",
        instead="write {id}, or put an f before the quotes",
    )
    if left := [found for found in _LEFT_OVER.findall(template) if found != ID_PLACEHOLDER]:
        raise LinkRefused(
            field=None,
            problem=f"the link still has {left[0]} in it, and {ID_PLACEHOLDER} alone is filled in here",
            instead="fill in the rest before, for example with an f-string, in which the id is written {{id}}: "
            'f"https://pay.example/orders/{number}?visit={{id}}"; elsewhere it is https://pay.example/checkout/{id}',
        )


def _examine_place(url: Url) -> None:
    host = url.host or ""
    _require(
        url.scheme in {"https", "http"} and host,
        problem=f"the link leads to {url.scheme}:, which no browser should open",
        instead="give an https URL",
    )
    _require(
        not (url.username or url.password),
        problem="the link holds a name or a password before its host",
        instead="leave them out",
    )
    _require(
        url.scheme != "http" or is_loopback(host),
        problem=f"the link goes to {host} over plain http, where others can read and change it",
        instead="use https",
    )
    _require(
        _STAND_IN.lower() not in host.lower(),
        problem="the id stands in the host of the link",
        instead="put it into the path",
    )


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    bare = host.strip("[]").rstrip(".").lower()
    if bare == "localhost" or bare.endswith(".localhost"):
        return True
    try:
        return is_loopback_address(ip_address(bare))
    except ValueError:
        return False


def _examine_words(link: str) -> None:
    """Refuse a link if a part of it says too much, read as browsers and servers read it."""
    path = _examine_pairs(link)
    for piece in path.split("://", 1)[-1].split("/")[1:]:
        _examine_value(unquote(piece))


def _examine_pairs(text: str) -> str:
    """Check the parameters in a text; returns the path before them."""
    before, _, fragment = text.partition("#")
    path, _, query = before.partition("?")
    matrix = "&".join(piece.partition(";")[2] for piece in path.split("/"))
    for part in (query, fragment.rpartition("?")[2], matrix):
        for name, value in parse_qsl(part.replace(";", "&"), keep_blank_values=True):
            _examine_parameter(name, value)
    return path


def _examine_parameter(name: str, value: str) -> None:
    if value == _STAND_IN or _SWITCH.fullmatch(value):
        return
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    words = re.sub(r"[^A-Za-z0-9]+", "_", parted).strip("_").lower()
    _require(
        not _PERSONAL.fullmatch(words),
        problem=f"the link carries {name!r}, which says who somebody is",
        instead=ELSEWHERE,
    )
    _require(
        not _would_sign_in(name, words, value),
        problem=f"the link carries {name!r}, which looks like a credential or like a sign-in that was done before",
        instead=f"let the page sign the person in by itself; what else it must know, {ELSEWHERE}",
    )
    _examine_value(value, is_open=words in _OPEN)


def _would_sign_in(name: str, words: str, value: str) -> bool:
    if words in _OPEN:
        return False
    if words in _MAY_SIGN_IN:
        return not _PLAIN.fullmatch(value)
    return find_demand_in_label(name) is not None or _SIGNS_IN.fullmatch(words) is not None


def _examine_value(value: str, *, is_open: bool = False, decodings: int = MAX_DECODINGS) -> None:
    text = value.replace(_STAND_IN, "")
    if not is_open and (found := recognize_key(text)) is not None:
        raise LinkRefused(field=None, problem=f"a part of the link {found}", instead=ELSEWHERE + SENT_ON)
    _require(
        not (_ADDRESS.search(text) or _PHONE.fullmatch(text.strip()) or _is_account(text)),
        problem="a part of the link looks like an e-mail address, a telephone number or a bank account",
        instead=ELSEWHERE,
    )
    if "=" in text:  # a link in a link, such as where to go on afterwards
        _examine_pairs(text)
    if decodings and (inner := unquote(text)) != text:
        _examine_value(inner, is_open=is_open, decodings=decodings - 1)


def _is_account(text: str) -> bool:
    """Whether it is an IBAN, by its sum: letters count from 10, and the first four characters go last."""
    iban = text.replace(" ", "")
    return (
        bool(_IBAN.fullmatch(iban))
        and int("".join(str(int(character, 36)) for character in iban[4:] + iban[:4])) % 97 == 1
    )
