"""Who a visitor of the pages is: known by the link, by sitting at this machine, or by the author's own function.
`sign_in.py` has the sign-in by OpenID Connect."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from inspect import isawaitable
from secrets import token_hex
from typing import Any, ClassVar, cast

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from askback.model.channels import Channel
from askback.model.owners import owner_from_claims, owner_from_name
from askback.pages.renderer import Renderer
from askback.pages.requests import is_person_opening
from askback.pages.sessions import BrowserSession, BrowserSessions
from askback.pages.settings import Ask, Pages
from askback.pages.site import Site
from askback.runtime.visits import digest_of

logger = logging.getLogger("askback")

NAMES_NOBODY = (
    "The function in Pages(door=...) returned a %s, which names nobody, so a visitor was turned away. Return the name "
    "that Askback(caller=...) gives to that person, their claims as a mapping where the server has authorization, or "
    "None for a visitor who is unknown."
)


class Authenticator(ABC):
    """Tells who a visitor is. What this person may see is decided by the pages."""

    channel: ClassVar[Channel]
    """How far its word can be trusted."""
    lists_items = True
    """Whether it identifies people well enough to list what the server stores about them."""
    signs_in = False
    """Whether people sign in here, and so may want to sign in as somebody else."""

    @abstractmethod
    async def identify(self, request: Request) -> str | None:
        """The owner, in the same words as at the server; None if the visitor is unknown."""

    @abstractmethod
    async def admit(self, request: Request) -> Response:
        """The answer to an unknown visitor of a page: the way in, or a refusal."""

    @property
    def routes(self) -> Sequence[Route]:
        """Addresses of its own."""
        return ()


class LinkAuthenticator(Authenticator):
    """Takes the person who opens a link for the one it was made for."""

    channel = Channel.LINK
    lists_items = False

    def __init__(self, site: Site, *, sessions: BrowserSessions, renderer: Renderer) -> None:
        self._site, self._sessions, self._renderer = site, sessions, renderer

    async def identify(self, request: Request) -> str | None:
        session = self._sessions.read(request)
        if session is None or (id := request.path_params.get("id")) is None:
            return None if session is None else session.owner
        visit = await self._site.find(id)
        return session.owner if visit is None or visit.owner == session.owner else None

    async def admit(self, request: Request) -> Response:
        if (id := request.path_params.get("id")) is None:
            return self._renderer.stranger(request)
        visit = await self._site.find(id)
        if visit is None:
            return self._renderer.gone()
        if not is_person_opening(request) or not await self._may_enter(id, visit.owner):
            return self._renderer.stranger(request)
        response = RedirectResponse(f"{self._site.base}/visit/{id}", 303)
        self._sessions.write(response, BrowserSession.new(visit.owner))
        return response

    async def _may_enter(self, id: str, owner: str) -> bool:
        return True


class LoopbackAuthenticator(LinkAuthenticator):
    """Like `LinkAuthenticator`, for the person at this machine: each link admits one browser (R92). Whether that is a
    person or one of their programs cannot be told on one machine (T25)."""

    channel = Channel.THIS_MACHINE
    lists_items = True

    def __init__(
        self, site: Site, *, sessions: BrowserSessions, renderer: Renderer, owners: Collection[str]
    ) -> None:
        super().__init__(site, sessions=sessions, renderer=renderer)
        self._owners = owners
        # A browser that an earlier launch admitted has lost its session, and may enter once more by the same link.
        self._launch = token_hex(8)

    async def identify(self, request: Request) -> str | None:
        found = await super().identify(request)
        if found is not None and (id := request.path_params.get("id")):
            await self._spend(id)  # this browser is in already, and no other one may enter by this link
        return found

    async def _may_enter(self, id: str, owner: str) -> bool:
        """Only for callers of this machine's own servers: a link of a caller elsewhere does not open here."""
        return owner in self._owners and await self._spend(id)

    async def _spend(self, id: str) -> bool:
        visit = await self._site.find(id)
        spent = f"link:{self._launch}:{digest_of(id)}"
        return visit is not None and await self._site.store.spend(spent, until=visit.until)


class FunctionAuthenticator(Authenticator):
    """Calls the author's function."""

    channel = Channel.FUNCTION

    def __init__(self, ask: Ask, *, pages: Pages, renderer: Renderer) -> None:
        self._ask, self._pages, self._renderer = ask, pages, renderer

    async def identify(self, request: Request) -> str | None:
        found: Any = self._ask(request)
        if isawaitable(found):
            found = await found
        match found:
            case None | "":
                return None
            case str(name):
                return owner_from_name(name)
            case Mapping():
                return owner_from_claims(cast("Mapping[str, Any]", found), self._pages.claims)
            case _:
                logger.error(NAMES_NOBODY, type(found).__name__)
                return None

    async def admit(self, request: Request) -> Response:
        return self._renderer.stranger(request)
