"""The author's settings for the pages: where they are, who is let in, and how they look."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError
from pydantic_core import Url
from starlette.requests import Request

from askback.errors import OperatorError, VisitorUnknown
from askback.model.owners import CLAIMS, SHARED
from askback.oauth.provider import require_safe
from askback.schema.links import is_loopback

logger = logging.getLogger("askback")

ROOT = "/askback"
"""The path below which all pages are, so that they do not collide with other paths of the server."""

LAST_PORT = 65_535

NO_ADDRESS = (
    "Pages(door=...) has no url, so nobody ever comes to that door: pages open on this machine alone, for servers on "
    'stdio. Over HTTP say where the server is reached: Pages(url="https://tools.example", door=...).'
)

Told = str | Mapping[str, Any] | None
"""What an author's function returns about a visitor: claims, or the name that `Askback(caller=...)` gives them."""

Ask = Callable[[Request], Awaitable[Told] | Told]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """Visitors sign in by OpenID Connect, at the authorization server that the MCP server trusts. A visitor with the
    claims of the caller is the caller.

    Args:
        issuer: its identifier, the `iss` of the tokens that callers present.
        client_id: how these pages are registered there, with URL/askback/sign-in/callback as the redirect URI.
        client_secret: for confidential clients; PKCE is used either way.
        scopes: what is requested; some providers give the claims that you compare only with more than "openid".
        prompt: what makes the provider ask for the account, for a visitor who wants to sign in as another person. Every
            provider has to support "login"; Google supports only "select_account".
    """

    issuer: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    scopes: tuple[str, ...] = ("openid",)
    prompt: Literal["login", "select_account"] = "login"

    def __post_init__(self) -> None:
        scopes: Any = self.scopes
        if isinstance(scopes, str) or not all(isinstance(scope, str) for scope in scopes):
            raise OperatorError(
                f"SignIn(scopes={scopes!r:.80}) does not name scopes one by one. Give a tuple of them: "
                'scopes=("openid", "profile").'
            )
        require_safe(self.issuer, "SignIn(issuer=...)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Brand:
    """The author's name, logo and style. Texts are shown as plain text, and files are served from our own address, so
    the content security policy stays the same."""

    name: str = ""
    """In place of the server's name in the head of each page; the server's name is still said below."""
    logo: Path | str | None = None
    """An SVG or PNG file."""
    style: Path | str | None = None
    """A CSS file that is loaded after ours."""
    foot: str = ""
    """A line at the foot of each page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """The pages of one server.

    Args:
        url: the address at which the server is reached from outside, such as "https://tools.example". Servers on stdio
            need none: they open pages on this machine.
        door: how visitors are identified: `SignIn(...)` at the authorization server that the MCP server trusts, or a
            function of your own. It gets the request and returns the visitor's claims, {"iss": ..., "sub": ...}, if the
            server has MCP authorization, or the name that `Askback(caller=...)` gives; None for an unknown visitor.
        claims: which claims identify a person, for servers with authorization.
        accept_anyone: let in everybody who has the link. Only if you know that no link can reach another person.
        brand: how the pages look.
        port: the port of the pages on this machine, for servers on stdio; 0 for a free one. A provider that compares
            the callback exactly needs a fixed one: http://127.0.0.1:PORT/askback/callback/NAME.
    """

    url: str | None = None
    door: "SignIn | Ask | None" = None
    claims: tuple[str, ...] = CLAIMS
    accept_anyone: bool = False
    brand: Brand = field(default_factory=Brand)
    port: int = 0

    def __post_init__(self) -> None:
        _require_personal(self.claims)
        _require_port(self.port)
        _require_door(self.door, accept_anyone=self.accept_anyone)
        if not isinstance(self.brand, Brand):  # pyright: ignore[reportUnnecessaryIsInstance] # authors err
            raise OperatorError(
                f"Pages(brand={self.brand!r:.80}) is no look. Give brand=Brand(name=..., logo=...)."
            )
        if self.url is None:
            if self.door is not None:
                logger.warning(NO_ADDRESS)
            return
        _require_public(self.url)
        if self.door is None and not self.accept_anyone:
            raise VisitorUnknown(
                "Pages(url=...) has no door, so whoever gets hold of a link could answer in the caller's place. Give "
                'it door=SignIn(issuer="https://…", client_id="…") with the authorization server that your MCP server '
                "trusts, or a function from a request to who that is: the claims of their token where the server has "
                "authorization, the name where Askback(caller=...) gives one. Or, if you accept that risk, "
                "accept_anyone=True."
            )

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach them."""
        return self.url is None or is_loopback(Url(self.url).host or "")

    @property
    def base(self) -> str:
        """The URL without a slash at its end."""
        return (self.url or "").rstrip("/")


def _require_personal(claims: tuple[str, ...]) -> None:
    """Refuse claims that all callers have in common: they would share one vault."""
    if isinstance(claims, str) or set(claims) <= SHARED:
        raise VisitorUnknown(
            f"Pages(claims={claims!r}) makes no person: callers would not be told apart. Name claims that nobody else "
            'has together, as a tuple: ("iss", "sub"), or ("tid", "oid").'
        )


def _require_port(port: Any) -> None:
    if not isinstance(port, int) or isinstance(port, bool) or not 0 <= port <= LAST_PORT:
        raise OperatorError(
            f"Pages(port={port!r:.80}) is no port. Give a number up to {LAST_PORT}, such as port=8931, or 0 for a free "
            "one."
        )


def _require_door(door: Any, *, accept_anyone: bool) -> None:
    if door is None:
        return
    if isinstance(door, type) or not (isinstance(door, SignIn) or callable(door)):
        raise OperatorError(
            f"Pages(door={door!r:.80}) cannot tell who is there. Give "
            'door=SignIn(issuer="https://…", client_id="…"), or a function from a request to who sent it.'
        )
    if accept_anyone:
        raise OperatorError(
            "Pages(door=..., accept_anyone=True) says both that somebody looks who is there and that nobody does. "
            "Leave one of them out: with the door the caller alone is let in."
        )


def _require_public(url: str) -> None:
    try:
        parsed = Url(url)
    except (ValidationError, ValueError, TypeError):
        parsed = None
    if parsed is None or not parsed.host or parsed.query or parsed.fragment or parsed.username:
        raise OperatorError(
            f"Pages(url={url!r}) is no address that a browser could go to. Give scheme and host, and a path where the "
            "server is not at the root: https://tools.example"
        )
    if parsed.scheme != "https" and not (parsed.scheme == "http" and is_loopback(parsed.host)):
        raise OperatorError(
            f"Pages(url={url!r}) would take secrets over {parsed.scheme}. Use https; plain http is for this machine "
            "alone."
        )
    if (parsed.path or "").rstrip("/").endswith("/mcp"):
        raise OperatorError(
            f"Pages(url={url!r}) is where clients connect, and pages are beside it. Give the address of the server, "
            f"without /mcp: {url.rstrip('/').removesuffix('/mcp')}"
        )
