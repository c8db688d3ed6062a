"""What every page does first: who is there, what they want to see, and whether it is for them (R20, R21)."""

import logging
from dataclasses import dataclass

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from askback.pages.doors import Door
from askback.pages.forgery import FIELD, Forgery
from askback.pages.rendering import Renderer
from askback.pages.sessions import Session, Sessions
from askback.pages.site import Site
from askback.visits import Visiting

logger = logging.getLogger("askback")

MOST_FIELDS = 20
MOST_BYTES = 256 * 1024
"""Of one post: ten fields of the longest keys there are."""


class Turned(Exception):
    """Somebody is answered at the door."""

    def __init__(self, response: Response) -> None:
        self.response = response
        super().__init__()


@dataclass(frozen=True, slots=True)
class Guest:
    """Somebody who was let in."""

    owner: str
    session: Session


class Reception:
    """Lets people in, or turns them away."""

    def __init__(
        self, site: Site, door: Door, *, sessions: Sessions, forgery: Forgery, renderer: Renderer
    ) -> None:
        self.site, self.door, self.renderer = site, door, renderer
        self._sessions, self._forgery = sessions, forgery

    async def guest(self, request: Request) -> Guest:
        """Whoever is at the door, if it knows them."""
        owner = await self.door.visitor(request)
        if owner is None:
            raise Turned(await self.door.come_in(request))
        session = self._sessions.read(request) or Session.new()
        return Guest(owner, session)

    async def guest_of(self, request: Request) -> tuple[Guest, Visiting]:
        """The one that the visit is for. Anybody else learns nothing of it."""
        guest = await self.guest(request)
        visiting = await self.site.visits.find(request.path_params["id"])
        if visiting is None or visiting.kind == "elsewhere":
            raise Turned(self.renderer.gone())
        self.require_same(guest, visiting, request)
        return guest, visiting

    def require_same(self, guest: Guest, visiting: Visiting, request: Request) -> None:
        """Whoever finishes is whoever was asked; looked at again at every step (T01)."""
        if guest.owner != visiting.owner:
            logger.warning("somebody else was at the door of a visit, and was turned away")
            raise Turned(self.renderer.stranger(request))

    async def posted(self, request: Request, guest: Guest) -> FormData:
        """What was typed, if it was typed on a page of ours, by this guest, in this browser."""
        refused = self._forgery.objection_to_headers(request)
        form = FormData() if refused else await self._form(request)
        token = form.get(FIELD)
        refused = refused or self._forgery.objection(
            request,
            token if isinstance(token, str) else "",
            guest.session.browser,
            guest.owner,
            request.url.path,
        )
        if refused:
            logger.warning("a post was refused: %s", refused)
            raise Turned(self.renderer.page("refused.html", 403))
        return form

    def token(self, request: Request, guest: Guest) -> str:
        """For the form on this page."""
        return self._forgery.token(guest.session.browser, guest.owner, request.url.path)

    def with_session(self, response: Response, guest: Guest) -> Response:
        """So that the browser can be told from others when it posts."""
        self._sessions.write(response, guest.session)
        return response

    async def _form(self, request: Request) -> FormData:
        length = request.headers.get("content-length", "")
        if not length.isdigit() or int(length) > MOST_BYTES:
            raise Turned(self.renderer.page("refused.html", 413))
        return await request.form(max_files=0, max_fields=MOST_FIELDS, max_part_size=MOST_BYTES)
