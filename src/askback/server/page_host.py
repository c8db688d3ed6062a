"""The pages of one server: for which callers, at which address, and the application that serves them."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from askback.errors import AuthorError, OperatorError, VisitorUnknown
from askback.model.store import Store
from askback.model.visit import Ending
from askback.oauth import Provider
from askback.pages import Pages
from askback.pages.settings import ROOT, SignIn
from askback.runtime.context import Caller
from askback.runtime.visits import VisitStore
from askback.vault.vault import Vault

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from askback.oauth.connector import CallerConnection, Connector
    from askback.pages.loopback import LoopbackListener
    from askback.pages.site import Site
    from askback.server.audit import Audit


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPagesOptions:
    """What the pages stand on."""

    server: str
    is_named: bool
    """Whether its author named it: what is kept for it is found by that name."""
    pages: Pages
    providers: Mapping[str, Provider]
    visits: VisitStore
    end: Callable[[str, Ending], Any]
    """Ends a visit and notifies its client."""
    store: Store
    open_vault: Callable[[], Vault]
    key: bytes
    """Signs cookies; the same on all workers."""
    audit: Callable[[], "Audit | None"]
    """Known when the server is sealed, which is after its pages are made."""
    clock: Callable[[], float]


def require_callers(pages: Pages, *, are_named: bool, bring_tokens: bool | None) -> None:
    """Refuse pages whose authenticator could never recognize a caller, before a link goes out."""
    if pages.url is None or pages.door is None:
        return
    if are_named and isinstance(pages.door, SignIn):
        raise VisitorUnknown(
            "Askback(caller=...) gives callers a name of your own, and Pages(door=SignIn(...)) knows visitors by their "
            "claims, so no visitor would ever be the caller. Leave caller= out and say with Pages(claims=...) what "
            "makes a person; or give a function as door=, from a request to the same name."
        )
    if not are_named and bring_tokens is False:
        raise VisitorUnknown(
            "Pages(door=...) lets in the caller alone, and this server has no authorization, so over HTTP nobody tells "
            "who calls. Protect the server (auth=...) before Askback(server, ...), or tell callers apart with "
            "Askback(server, caller=...)."
        )


class ServerPages:
    """Opens the vault and the listener when they are first needed: most servers ask for no secret."""

    def __init__(self, foundation: ServerPagesOptions) -> None:
        self._on = foundation
        self._local_owners: set[str] = set()
        self._own_name = f"unnamed {token_urlsafe(16)}"
        self._lock = threading.Lock()
        self._vault: Vault | None = None

    @property
    def server(self) -> str:
        """The name of the server whose pages these are."""
        return self._on.server

    @property
    def lasting_name(self) -> str:
        """The server's name if its author gave it one, else empty: FastMCP makes up another name at every start."""
        return self._on.server if self._on.is_named else ""

    @property
    def effect_name(self) -> str:
        """Tells this server's effects from those of others on one store; raises `AuthorError` where nothing does."""
        if self._on.is_named:
            return self._on.server
        if getattr(self._on.store, "reach", "process") == "process":
            return self._own_name
        raise AuthorError(
            "once(..., within=...) keeps what was done for this server, and nobody named it: of two servers without a "
            "name on one store, the second would get what the first one did. Name it: "
            'MCPServer("weather"), FastMCP("weather").'
        )

    @property
    def vault(self) -> Vault:
        with self._lock:
            self._vault = self._vault or self._on.open_vault().for_server(self._on.server)
        return self._vault

    @cached_property
    def app(self) -> "ASGIApp":
        """The pages for visitors from outside."""
        if self._on.pages.url is None:
            raise OperatorError(
                "These pages have no address. Say where the server is reached: Askback(server, "
                'pages=Pages(url="https://tools.example", door=...)).'
            )
        _require_extra()
        from askback.pages.app import make_app

        return make_app(self._site(self._on.pages.base + ROOT), self._on.pages)

    @cached_property
    def loopback(self) -> "LoopbackListener":
        """The pages for the user of this machine."""
        from askback.pages.app import make_local_app
        from askback.pages.loopback import LoopbackListener

        def app(base: str) -> "ASGIApp":
            return make_local_app(self._site(base), owners=self._local_owners)

        return LoopbackListener(app, port=self._on.pages.port)

    async def close(self) -> None:
        """Close the listener on this machine; it is opened again when a link needs it."""
        if "loopback" in vars(self):
            await self.loopback.close()

    async def open_for(self, caller: Caller, verb: str) -> "CallerPages":
        """The pages of one caller; raises `VisitorUnknown` if the caller or this server has no name of its own."""
        # A caller who brings a token is a visitor from outside, however the call came in.
        owner, is_local = caller.owner, caller.is_local
        if not self._on.is_named:
            raise VisitorUnknown(
                f"{verb} keeps something for this server, and nobody named it: as {self._on.server!r} it would share "
                "with all others that have no name, or be another one at its next start. Name it: "
                'MCPServer("weather"), FastMCP("weather").'
            )
        if not owner:
            claims = " and ".join(self._on.pages.claims)
            raise VisitorUnknown(
                f"{verb} keeps something for its caller, and nobody tells who that is: this call came over HTTP "
                f"without authorization, or with a token that does not say all of {claims}. "
                "Protect the server with tokens that do, say with Pages(claims=...) what else makes a person, or tell "
                "callers apart with Askback(server, caller=...)."
            )
        if not is_local and self._on.pages.url is None:
            raise VisitorUnknown(
                f"{verb} needs a page, and this server has none that its callers could open. Say where it is reached "
                'and who is let in: Askback(server, pages=Pages(url="https://tools.example", door=SignIn(...))).'
            )
        if is_local:
            self._local_owners.add(owner)
        vault = await anyio.to_thread.run_sync(self._open)
        return CallerPages(owner=owner, is_local=is_local, vault=vault, host=self, verb=verb)

    def _open(self) -> Vault:
        """Takes its time: much is imported, and a key may come from the desktop's keyring, which may ask the person."""
        _require_extra()
        return self.vault

    async def base_address(self, *, is_local: bool) -> str:
        """The address of the pages; on this machine they are there from now on."""
        return await self.loopback.base() if is_local else self._on.pages.base + ROOT

    def connector(self, name: str, *, verb: str) -> "Connector":
        """Raises `AuthorError` for a provider that the server was not given."""
        found = self._connectors.get(name)
        if found is None:
            known = ", ".join(map(repr, self._connectors)) or "none"
            raise AuthorError(
                f"{verb} was given {name!r:.80}, and this server has no provider of that name. It has: {known}. "
                "Check the spelling, or add it to Askback(server, providers=[...])."
            )
        return found

    @cached_property
    def _connectors(self) -> "dict[str, Connector]":
        from askback.oauth.connector import Connector

        on = self._on
        return {
            name: Connector(provider, vault=self.vault, clock=on.clock)
            for name, provider in on.providers.items()
        }

    def _site(self, base: str) -> "Site":
        from askback.pages.site import Site

        on = self._on
        return Site(
            server=on.server,
            base=base,
            brand=on.pages.brand,
            visits=on.visits,
            end=on.end,
            vault=self.vault,
            store=on.store,
            connectors=self._connectors,
            key=on.key,
            clock=on.clock,
            audit=on.audit,
        )


def _require_extra() -> None:
    """Before anything of the pages is used."""
    try:
        import_module("askback.pages.app")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("askback"):
            raise
        raise OperatorError(
            f"secret(...), connect(...) and their pages need the pages extra ({error.name} is not there). Install it "
            'with: pip install "askback[pages]"'
        ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerPages:
    """The pages of a server, as one caller may use them."""

    owner: str
    is_local: bool
    vault: Vault
    host: ServerPages
    verb: str
    """What the body awaits, for errors."""

    async def link(self, id: str) -> str:
        return f"{await self.host.base_address(is_local=self.is_local)}/visit/{id}"

    def connection(self, provider: str) -> "CallerConnection":
        return self.host.connector(provider, verb=self.verb).for_owner(self.owner)
