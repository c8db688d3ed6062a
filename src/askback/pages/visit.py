"""The page of a visit: what is asked and by whom; a secret is typed here, and from here it goes into the vault."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from askback.errors import VisitUnknown
from askback.model.owners import describe_owner
from askback.model.safe import safe_line
from askback.model.visit import Ending, StoredVisit, VisitAborted, VisitDeclined, VisitSettled
from askback.pages.connect import ConnectPage
from askback.pages.lengths import in_words
from askback.pages.visitors import Visitor, VisitorGate
from askback.vault.vault import VaultItem

MOST_VALUE = 20_000
"""Characters of one field: the longest keys and certificates people paste."""

MOST_CLIENT = 60
"""Characters of what a client calls itself: it may call itself anything."""


class VisitPage:
    """GET shows it, POST is an answer: a value, a yes to go on to a provider, or a no."""

    def __init__(self, reception: VisitorGate, connecting: ConnectPage) -> None:
        self._reception, self._connecting = reception, connecting
        self._site, self._renderer = reception.site, reception.renderer

    @property
    def routes(self) -> list[Route]:
        path = "/visit/{id}"
        return [
            Route(path, self._show, methods=["GET"]),
            Route(path, self._take, methods=["POST"]),
        ]

    async def _show(self, request: Request) -> Response:
        guest, visiting = await self._reception.guest_of(request)
        ending = await self._site.visits.ended(visiting.id)
        if ending is not None:
            return self._ended(visiting, ending)
        await self._site.tell_shown(visiting)
        return await self._asking(request, guest, visiting)

    async def _take(self, request: Request) -> Response:
        guest, visiting = await self._reception.guest_of(request)
        form = await self._reception.posted(request, guest)
        ending = await self._site.visits.ended(visiting.id)
        if ending is not None:
            return self._ended(visiting, ending, status=409)
        if form.get("answer") == "no":
            with suppress(VisitUnknown):
                await self._site.turn_down(visiting, VisitDeclined())
            return self._back(visiting)
        if visiting.kind == "connect":
            return await self._connecting.begin(guest, visiting)
        return await self._keep(request, guest, visiting, form)

    async def _keep(
        self, request: Request, guest: Visitor, visiting: StoredVisit, form: Mapping[str, str]
    ) -> Response:
        values = {field["name"]: _typed(form, field) for field in visiting.about["fields"]}
        problems = {name: problem for name, value in values.items() if (problem := _problem(value))}
        if problems:
            return await self._asking(request, guest, visiting, problems=problems, status=422)
        keep, site = visiting.about["keep"], self._site
        until = None if keep is None else site.clock() + keep
        item = VaultItem("secret", visiting.about["name"])
        put = await site.vault.put_for_now(visiting.owner, item, values, until=until)
        is_settled = False
        with suppress(VisitUnknown):  # its time was over just now
            is_settled = await site.settle(visiting)
        if not is_settled:
            # A no in another window came first, and stands; so does what somebody has given since.
            await site.vault.take_back(visiting.owner, item, put)
        return self._back(visiting)

    async def _asking(
        self,
        request: Request,
        guest: Visitor,
        visiting: StoredVisit,
        *,
        problems: dict[str, str] | None = None,
        status: int = 200,
    ) -> Response:
        about = visiting.about
        shown: dict[str, Any] = {
            "visit": visiting,
            "about": about,
            "whom": describe_owner(visiting.owner),
            "client": _shown(visiting.client),
            "problems": problems or {},
            "sees_kept": self._reception.door.sees_kept,
            "token": self._reception.token(request, guest),
        }
        if visiting.kind == "connect":
            response = await self._connecting.page(visiting, **shown)
        else:
            kept_for = None if about["keep"] is None else in_words(about["keep"])
            why = await self._site.vault.rejection_reason(visiting.owner, VaultItem("secret", about["name"]))
            response = self._renderer.page("secret.html", status, kept_for=kept_for, why=why, **shown)
        return self._reception.with_session(response, guest)

    def _back(self, visiting: StoredVisit) -> Response:
        return RedirectResponse(f"{self._site.base}/visit/{visiting.id}", 303)

    def _ended(self, visiting: StoredVisit, ending: Ending, *, status: int = 200) -> Response:
        match ending:
            case VisitSettled():
                template = "done.html"
            case VisitDeclined():
                template = "turned_down.html"
            case VisitAborted():
                template = "failed.html"
        return self._renderer.page(
            template,
            status,
            visit=visiting,
            ending=ending,
            is_again=status != 200,
            sees_kept=self._reception.door.sees_kept,
            client=_shown(visiting.client),
        )


def _typed(form: Mapping[str, str], field: Mapping[str, Any]) -> str:
    """As it was meant: browsers write every line's end as two signs, and what is pasted often ends in one. That one is
    part of a key of several lines, and spaces are of any."""
    typed = form.get(f"field-{field['name']}", "").replace("\r\n", "\n")
    return typed if field.get("lines") else typed.strip("\n")


def _problem(value: str) -> str:
    if not value.strip("\n"):
        return "Fill this in."
    return f"This is longer than {MOST_VALUE:,} characters." if len(value) > MOST_VALUE else ""


def _shown(client: str) -> str:
    return safe_line("".join(filter(str.isprintable, client)), MOST_CLIENT)
