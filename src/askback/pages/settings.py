"""What an author says about the pages: where they are, who is let in, and how they look."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import Url
from starlette.requests import Request

from askback.errors import OperatorError, Unguarded
from askback.owners import CLAIMS
from askback.schema.links import is_loopback

ROOT = "/askback"
"""Under which all pages are, so that they stand beside whatever the server has."""

Told = str | Mapping[str, Any] | None
"""Whom an author's function sees at the door: the name that `Askback(caller=...)` gives them, or their claims."""

Ask = Callable[[Request], Awaitable[Told] | Told]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """Visitors sign in at the authorization server that the MCP server trusts, by OpenID Connect; whoever has the same
    claims as the caller is the caller.

    Args:
        issuer: its identifier, the `iss` of the tokens that callers present.
        client_id: how these pages are registered there, with URL/askback/sign-in/callback as the redirect URI.
        client_secret: for confidential clients; PKCE is used either way.
        scopes: what is asked for; some providers give the claims you compare only with more than "openid".
    """

    issuer: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    scopes: tuple[str, ...] = ("openid",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Brand:
    """The author's own touch. Texts are shown as texts, and files come from our own address: the policy that the
    browser is given stays as it is."""

    name: str = ""
    """In place of the server's name in the head of each page; the server's name is still said below."""
    logo: Path | None = None
    """An SVG or PNG file."""
    style: Path | None = None
    """A CSS file that is loaded after ours."""
    foot: str = ""
    """A line at the foot of each page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """The pages of one server.

    Args:
        url: where the server is reached from outside, such as "https://tools.example". Servers on stdio need none:
            they open pages on this very machine.
        door: who is at the door: `SignIn(...)` at the authorization server that the MCP server trusts, or a function of
            your own from a request to the name that `Askback(caller=...)` gives to that person.
        claims: which claims make a person, for servers with authorization.
        accept_anyone: let in whoever has the link. Only where you know that no link can reach anybody else.
        brand: how they look.
        port: of the pages on this machine, for servers on stdio; 0 for a free one. A provider that wants to know a
            callback to the letter needs a fixed one: http://127.0.0.1:PORT/askback/callback/NAME.
    """

    url: str | None = None
    door: "SignIn | Ask | None" = None
    claims: tuple[str, ...] = CLAIMS
    accept_anyone: bool = False
    brand: Brand = field(default_factory=Brand)
    port: int = 0

    def __post_init__(self) -> None:
        if self.url is None:
            return
        _require_public(self.url)
        if self.door is None and not self.accept_anyone:
            raise Unguarded(
                "Pages(url=...) has no door, so whoever gets hold of a link could answer in the caller's place. Give "
                "it door=SignIn(issuer, client_id=...) with the authorization server that your MCP server trusts, or a "
                "function from a request to the caller's name; or, if you accept that risk, accept_anyone=True."
            )

    @property
    def is_local(self) -> bool:
        """Whether nobody comes to them from another machine."""
        return self.url is None or is_loopback(Url(self.url).host or "")

    @property
    def base(self) -> str:
        """The URL without a stroke at its end."""
        return (self.url or "").rstrip("/")


def _require_public(url: str) -> None:
    try:
        parsed = Url(url)
    except (ValidationError, ValueError):
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
