"""The pages of an account: what this server stores about a visitor, and signing out."""

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from askback.model.owners import describe_owner
from askback.pages.visitors import SIGN_OUT, PageDenied, Visitor, VisitorGate
from askback.vault.vault import ItemSummary, VaultItem

SIGNED_OUT = "/signed-out"


class StoredPage:
    """Lists names and times, never values, and deletes what the visitor wants deleted."""

    def __init__(self, gate: VisitorGate) -> None:
        self._gate, self._site, self._renderer = gate, gate.site, gate.renderer

    @property
    def routes(self) -> list[Route]:
        return [
            Route("/kept", self._show, methods=["GET"]),
            Route("/kept", self._forget, methods=["POST"]),
        ]

    async def _show(self, request: Request) -> Response:
        visitor = await self._visitor(request)
        items = [self._row(item) for item in await self._site.vault.list_items(visitor.owner)]
        token, whom = self._gate.token(request, visitor), describe_owner(visitor.owner)
        response = self._renderer.page("stored.html", items=items, whom=whom, token=token)
        return self._gate.with_session(response, visitor)

    async def _forget(self, request: Request) -> Response:
        visitor = await self._visitor(request)
        form = await self._gate.read_post(request, visitor)
        name = form.get("name", "")
        kind = "connection" if form.get("kind") == "connection" else "secret"
        connector = self._site.connectors.get(name) if kind == "connection" else None
        if connector is not None:
            await connector.for_owner(visitor.owner).disconnect()
        else:
            await self._site.vault.forget(visitor.owner, VaultItem(kind, name))
        return RedirectResponse(f"{self._site.base}/kept", 303)

    async def _visitor(self, request: Request) -> Visitor:
        if not self._gate.authenticator.lists_items:
            raise PageDenied(self._renderer.stranger(request))
        return await self._gate.visitor(request)

    def _row(self, stored: ItemSummary) -> dict[str, str]:
        item = stored.item
        connector = self._site.connectors.get(item.name) if item.kind == "connection" else None
        return {
            "kind": item.kind,
            "name": item.name,
            "title": item.name if connector is None else connector.title,
            "since": _day(stored.put_at),
            "until": _day(stored.until),
        }


class SignOutPage:
    """Redirects to one page of ours, never to an address from the request (T06)."""

    def __init__(self, gate: VisitorGate) -> None:
        self._gate = gate

    @property
    def routes(self) -> list[Route]:
        """Empty if nobody signs in."""
        if not self._gate.authenticator.signs_in:
            return []
        return [
            Route(SIGN_OUT, self._sign_out, methods=["POST"]),
            Route(SIGNED_OUT, self._show, methods=["GET"]),
        ]

    async def _sign_out(self, request: Request) -> Response:
        response = RedirectResponse(self._gate.site.base + SIGNED_OUT, 303)
        if await self._gate.authenticator.identify(request) is None:
            # No cookie is written: if another site sent this post, the browser has withheld the cookie that it has.
            return response
        await self._gate.read_post(request, await self._gate.visitor(request))
        return self._gate.sign_out(response)

    async def _show(self, request: Request) -> Response:
        is_known = await self._gate.authenticator.identify(request) is not None
        return self._gate.renderer.gone() if is_known else self._gate.renderer.page("signed_out.html")


def _day(time: float | None) -> str:
    return "" if time is None else datetime.fromtimestamp(time, UTC).strftime("%d %B %Y").lstrip("0")
