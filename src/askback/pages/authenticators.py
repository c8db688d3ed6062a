"""Who is in front of the pages. One door each for this machine, for an author's own sign-in, and for no check at all;
the one by OpenID Connect has a file of its own."""

import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from inspect import isawaitable
from secrets import token_hex
from typing import Any, Protocol, cast

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from askback.model.channels import Channel
from askback.model.owners import owner_from_claims, owner_from_name
from askback.model.store import Store
from askback.model.visit import StoredVisit
from askback.pages.navigation import is_person_opening
from askback.pages.renderer import Renderer
from askback.pages.sessions import BrowserSession, BrowserSessions
from askback.pages.settings import Ask, Pages
from askback.runtime.visits import digest_of

logger = logging.getLogger("askback")

MUTE = (
    "Pages(door=...) gave a %s, which names nobody, so somebody was turned away. Return the name that "
    "Askback(caller=...) gives to that person, their claims as a mapping where the server has authorization, or None "
    "for a stranger."
)

Find = Callable[[str], Awaitable[StoredVisit | None]]
"""The visit of an id whose page is here."""


class Authenticator(Protocol):
    """Tells who somebody is; what they may see is for the pages to say."""

    channel: Channel
    """On whose word it does."""
    sees_kept: bool
    """Whether it knows people well enough to show them what is kept of theirs."""
    signs_in: bool
    """Whether people sign in at it, and so may want to do that as somebody else."""

    async def visitor(self, request: Request) -> str | None:
        """The owner, in the same words as at the server; None if nobody is known yet."""
        ...

    async def come_in(self, request: Request) -> Response:
        """What somebody unknown gets who wants to see a page."""
        ...

    @property
    def routes(self) -> list[Route]:
        """Addresses of its own."""
        ...


class LinkAuthenticator:
    """Lets in whoever opens a link, as the one it was made for."""

    def __init__(self, *, base: str, sessions: BrowserSessions, find: Find, renderer: Renderer) -> None:
        self._base = base
        self._sessions, self._find, self._renderer = sessions, find, renderer

    channel = Channel.LINK
    sees_kept = False
    signs_in = False

    @property
    def routes(self) -> list[Route]:
        return []

    async def visitor(self, request: Request) -> str | None:
        session = self._sessions.read(request)
        if session is None or (id := request.path_params.get("id")) is None:
            return None if session is None else session.owner
        visiting = await self._find(id)
        return session.owner if visiting is None or visiting.owner == session.owner else None

    async def come_in(self, request: Request) -> Response:
        if (id := request.path_params.get("id")) is None:
            return self._renderer.stranger(request)
        visiting = await self._find(id)
        if visiting is None:
            return self._renderer.gone()
        if not is_person_opening(request) or not await self._admits(id, visiting.owner):
            return self._renderer.stranger(request)
        response = RedirectResponse(f"{self._base}/visit/{id}", 303)
        self._sessions.write(response, BrowserSession.new(visiting.owner))
        return response

    async def _admits(self, id: str, owner: str) -> bool:
        return True


class LoopbackAuthenticator(LinkAuthenticator):
    """The same for links that are opened once, by whoever sits here (R92). Whether that is a person or a program of
    theirs cannot be told on one machine (T25)."""

    def __init__(
        self,
        *,
        base: str,
        sessions: BrowserSessions,
        find: Find,
        renderer: Renderer,
        store: Store,
        owners: Collection[str],
    ) -> None:
        super().__init__(base=base, sessions=sessions, find=find, renderer=renderer)
        self._store, self._owners = store, owners
        # Whom an earlier launch let in is out with it, and may come in once more by the same link.
        self._launch = token_hex(8)

    channel = Channel.THIS_MACHINE
    sees_kept = True

    async def visitor(self, request: Request) -> str | None:
        found = await super().visitor(request)
        if found is not None and (id := request.path_params.get("id")):
            await self._spend(id)  # who is in does not need it, and nobody else is to come in by it
        return found

    async def _admits(self, id: str, owner: str) -> bool:
        """Only callers of this machine's own servers: a link for somebody elsewhere is not for here."""
        return owner in self._owners and await self._spend(id)

    async def _spend(self, id: str) -> bool:
        visiting = await self._find(id)
        spent = f"link:{self._launch}:{digest_of(id)}"
        return visiting is not None and await self._store.spend(spent, until=visiting.until)


class FunctionAuthenticator:
    """The author's own way to tell who somebody is."""

    channel = Channel.FUNCTION
    sees_kept = True
    signs_in = False

    def __init__(self, ask: Ask, *, pages: Pages, renderer: Renderer) -> None:
        self._ask, self._pages, self._renderer = ask, pages, renderer

    @property
    def routes(self) -> list[Route]:
        return []

    async def visitor(self, request: Request) -> str | None:
        told: Any = self._ask(request)
        if isawaitable(told):
            told = await told
        match told:
            case None | "":
                return None
            case str(name):
                return owner_from_name(name)
            case Mapping():
                return owner_from_claims(cast("Mapping[str, Any]", told), self._pages.claims)
            case _:
                logger.error(MUTE, type(told).__name__)
                return None

    async def come_in(self, request: Request) -> Response:
        return self._renderer.stranger(request)
