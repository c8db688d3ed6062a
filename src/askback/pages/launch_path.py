"""The pages of one launch on this machine, below a path that its links alone tell.

A browser sends a cookie to every port of a host, and any user of this machine may listen on one: so the cookie has that
path, and whoever does not know it cannot have it sent to them.
"""

from collections.abc import Collection
from secrets import compare_digest

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from askback.pages.oauth_states import OAuthStates, answer_in
from askback.pages.settings import ROOT
from askback.pages.site import Site


class LaunchPath:
    """Leads those to it who hold something that it gave out, and tells nobody else where it is."""

    def __init__(self, app: ASGIApp, site: Site, *, flows: OAuthStates, owners: Collection[str]) -> None:
        self._app, self._site, self._flows, self._owners = app, site, flows, owners
        self._launch = site.base.rpartition("/")[2].encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        root, launch, rest = _parts(scope["path"])
        if root == ROOT and compare_digest(launch.encode("utf-8", "surrogatepass"), self._launch):
            await self._app({**scope, "path": f"{ROOT}/{rest}"}, receive, send)
            return
        led = await self._led(Request(scope), launch, rest) if root == ROOT else None
        answer = Response(status_code=403) if led is None else RedirectResponse(led, 303)
        await answer(scope, receive, send)

    async def _led(self, request: Request, first: str, rest: str) -> str | None:
        if first == "callback":
            return await self._callback(request, rest)
        page, _, id = rest.partition("/")
        return await self._visit(id) if page == "visit" else None

    async def _callback(self, request: Request, name: str) -> str | None:
        """Providers know an address that stays the same; who comes from one has a state that was given out here."""
        is_ours = name in self._site.connectors and request.method == "GET"
        if not is_ours or not await self._flows.is_under_way(answer_in(request).get("state", "")):
            return None
        return f"{self._site.base}/callback/{name}?{request.url.query}"

    async def _visit(self, id: str) -> str | None:
        """A link of an earlier launch: who has it may as well have the one of this. Those of callers over HTTP, who
        may be anybody, lead nowhere here."""
        visiting = await self._site.find(id)
        if visiting is None or visiting.owner not in self._owners:
            return None
        is_open = await self._site.visits.ended(id) is None
        return f"{self._site.base}/visit/{id}" if is_open else None


def _parts(path: str) -> tuple[str, str, str]:
    """The root, what follows it, and the rest."""
    root, _, below = path.removeprefix("/").partition("/")
    first, _, rest = below.partition("/")
    return f"/{root}", first, rest
