"""The way out for somebody who signed in as the wrong person."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from askback.pages.visitors import SIGN_OUT, VisitorGate

SIGNED_OUT = "/signed-out"


class SignOutPage:
    """Leads to one page of ours, never to one that was asked for (T06)."""

    def __init__(self, reception: VisitorGate) -> None:
        self._reception, self._renderer = reception, reception.renderer
        self._after = reception.site.base + SIGNED_OUT

    @property
    def routes(self) -> list[Route]:
        """None where nobody signs in."""
        if not self._reception.door.signs_in:
            return []
        return [
            Route(SIGN_OUT, self._sign_out, methods=["POST"]),
            Route(SIGNED_OUT, self._show, methods=["GET"]),
        ]

    async def _sign_out(self, request: Request) -> Response:
        response = RedirectResponse(self._after, 303)
        if await self._reception.door.visitor(request) is None:
            # Without a cookie: where another site sends this, the browser keeps back the one it has.
            return response
        await self._reception.posted(request, await self._reception.guest(request))
        return self._reception.sign_out(response)

    async def _show(self, request: Request) -> Response:
        is_known = await self._reception.door.visitor(request) is not None
        return self._renderer.gone() if is_known else self._renderer.page("signed_out.html")
