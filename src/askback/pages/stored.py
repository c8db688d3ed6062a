"""What is kept of somebody, for them to see and to have forgotten."""

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from askback.model.owners import describe_owner
from askback.pages.visitors import PageDenied, VisitorGate
from askback.vault.vault import ItemSummary, VaultItem


class StoredPage:
    """Names and times, never values."""

    def __init__(self, reception: VisitorGate) -> None:
        self._reception, self._site, self._renderer = reception, reception.site, reception.renderer

    @property
    def routes(self) -> list[Route]:
        path = "/kept"
        return [
            Route(path, self._show, methods=["GET"]),
            Route(path, self._forget, methods=["POST"]),
        ]

    async def _show(self, request: Request) -> Response:
        self._require_known(request)
        guest = await self._reception.guest(request)
        notes = [self._row(note) for note in await self._site.vault.list_items(guest.owner)]
        token = self._reception.token(request, guest)
        response = self._renderer.page(
            "kept.html", notes=notes, whom=describe_owner(guest.owner), token=token
        )
        return self._reception.with_session(response, guest)

    async def _forget(self, request: Request) -> Response:
        self._require_known(request)
        guest = await self._reception.guest(request)
        form = await self._reception.posted(request, guest)
        name = str(form.get("name", ""))
        connector = self._site.connectors.get(name)
        if form.get("kind") == "connection" and connector is not None:
            await connector.for_owner(guest.owner).disconnect()
        else:
            kind = "connection" if form.get("kind") == "connection" else "secret"
            await self._site.vault.forget(guest.owner, VaultItem(kind, name))
        return RedirectResponse(f"{self._site.base}/kept", 303)

    def _require_known(self, request: Request) -> None:
        if not self._reception.door.sees_kept:
            raise PageDenied(self._renderer.stranger(request))

    def _row(self, note: ItemSummary) -> dict[str, str]:
        connector = self._site.connectors.get(note.item.name) if note.item.kind == "connection" else None
        return {
            "kind": note.item.kind,
            "name": note.item.name,
            "title": note.item.name if connector is None else connector.title,
            "since": "" if note.put_at is None else _day(note.put_at),
            "until": "" if note.until is None else _day(note.until),
        }


def _day(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%d %B %Y").lstrip("0")
