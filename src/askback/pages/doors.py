"""Who is in front of the pages. One door each for this machine, for an author's own sign-in, and for no check at all;
the one by OpenID Connect has a file of its own."""

from collections.abc import Collection
from typing import Protocol

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from askback.owners import owner_named, owner_with
from askback.pages.rendering import Renderer
from askback.pages.sessions import Session, Sessions
from askback.pages.settings import Ask, Pages
from askback.stores.protocol import Store
from askback.visits import Visits, digest_of


class Door(Protocol):
    """Tells who somebody is; what they may see is for the pages to say."""

    sees_kept: bool
    """Whether it knows people well enough to show them what is kept of theirs."""

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


class ByLink:
    """Lets in whoever opens a link, as the one it was made for."""

    def __init__(self, *, base: str, sessions: Sessions, visits: Visits, renderer: Renderer) -> None:
        self._base = base
        self._sessions, self._visits, self._renderer = sessions, visits, renderer

    sees_kept = False

    @property
    def routes(self) -> list[Route]:
        return []

    async def visitor(self, request: Request) -> str | None:
        session = self._sessions.read(request)
        if session is None or (id := request.path_params.get("id")) is None:
            return None if session is None else session.owner
        visiting = await self._visits.find(id)
        return session.owner if visiting is None or visiting.owner == session.owner else None

    async def come_in(self, request: Request) -> Response:
        id = request.path_params.get("id", "")
        visiting = await self._visits.find(id)
        if visiting is None or request.method != "GET" or not await self._admits(id, visiting.owner):
            return self._renderer.stranger(request)
        response = RedirectResponse(self._base + request.url.path, 303)
        self._sessions.write(response, Session.new(visiting.owner))
        return response

    async def _admits(self, id: str, owner: str) -> bool:
        return True


class OnThisMachine(ByLink):
    """The same for links that are opened once, by whoever sits here (R92). Whether that is a person or a program of
    theirs cannot be told on one machine (T25)."""

    def __init__(
        self,
        *,
        base: str,
        sessions: Sessions,
        visits: Visits,
        renderer: Renderer,
        store: Store,
        owners: Collection[str],
    ) -> None:
        super().__init__(base=base, sessions=sessions, visits=visits, renderer=renderer)
        self._store, self._owners = store, owners

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
        visiting = await self._visits.find(id)
        return visiting is not None and await self._store.spend(f"link:{digest_of(id)}", until=visiting.until)


class ByFunction:
    """The author's own way to tell who somebody is."""

    sees_kept = True

    def __init__(self, ask: Ask, *, pages: Pages, renderer: Renderer) -> None:
        self._ask, self._pages, self._renderer = ask, pages, renderer

    @property
    def routes(self) -> list[Route]:
        return []

    async def visitor(self, request: Request) -> str | None:
        told = await self._ask(request)
        if told is None or isinstance(told, str):
            return None if told is None else owner_named(told)
        return owner_with(told, self._pages.claims)

    async def come_in(self, request: Request) -> Response:
        return self._renderer.stranger(request)
