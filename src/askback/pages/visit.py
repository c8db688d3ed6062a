"""The page of a visit: what is asked and by whom. A secret is typed here, and goes from here into the vault."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from askback.model.owners import describe_owner
from askback.model.safe import safe_line
from askback.model.texts import Words
from askback.model.visit import Ending, StoredVisit, VisitAborted, VisitDeclined, VisitSettled
from askback.pages.connect import ConnectPage
from askback.pages.visitors import Visitor, VisitorGate
from askback.vault.vault import VaultItem

MAX_VALUE_LENGTH = 20_000
"""Characters of one field: the longest keys and certificates people paste."""

MAX_CLIENT_LENGTH = 60
"""Characters of a client's name, which the client chooses freely."""

TEMPLATES: Mapping[type[Ending], str] = {
    VisitSettled: "done.html",
    VisitDeclined: "declined.html",
    VisitAborted: "failed.html",
}


class VisitPage:
    """GET shows it. POST is an answer: a value, a yes to continue to a provider, or a no."""

    def __init__(self, gate: VisitorGate, connect: ConnectPage) -> None:
        self._gate, self._connect = gate, connect
        self._site, self._renderer = gate.site, gate.renderer

    @property
    def routes(self) -> list[Route]:
        return [
            Route("/visit/{id}", self._show, methods=["GET"]),
            Route("/visit/{id}", self._take, methods=["POST"]),
        ]

    async def _show(self, request: Request) -> Response:
        visitor, visit = await self._gate.visitor_of(request)
        ending = await self._site.visits.ended(visit.id)
        if ending is not None:
            return self._ended(visit, ending)
        if (audit := self._site.audit()) is not None:
            await audit.record_page_opened(visit)
        return await self._ask(request, visitor, visit)

    async def _take(self, request: Request) -> Response:
        visitor, visit = await self._gate.visitor_of(request)
        form = await self._gate.read_post(request, visitor)
        ending = await self._site.visits.ended(visit.id)
        if ending is not None:
            return self._ended(visit, ending, status=409)
        if form.get("answer") == "no":
            await self._site.decline(visit, VisitDeclined())
            return self._back(visit)
        if visit.kind == "connect":
            return await self._connect.begin(visitor, visit)
        return await self._save(request, visitor, visit, form)

    async def _save(
        self, request: Request, visitor: Visitor, visit: StoredVisit, form: Mapping[str, str]
    ) -> Response:
        values = {field["name"]: _typed(form, field) for field in visit.about["fields"]}
        problems = {name: problem for name, value in values.items() if (problem := _problem(value))}
        if problems:
            return await self._ask(request, visitor, visit, problems=problems)
        seconds, vault = visit.about["keep"], self._site.vault
        until = None if seconds is None else self._site.clock() + seconds
        item = VaultItem("secret", visit.about["name"])
        put = await vault.put_for_now(visit.owner, item, values, until=until)
        if not await self._site.settle(visit):
            # A no in another window came first, and stands; so does a value that was given since.
            await vault.take_back(visit.owner, item, put)
        return self._back(visit)

    async def _ask(
        self,
        request: Request,
        visitor: Visitor,
        visit: StoredVisit,
        *,
        problems: Mapping[str, str] | None = None,
    ) -> Response:
        about = visit.about
        shown: dict[str, Any] = {
            **self._shown(visit),
            "about": about,
            "whom": describe_owner(visit.owner),
            "problems": problems or {},
            "token": self._gate.token(request, visitor),
        }
        if visit.kind == "connect":
            response = await self._connect.page(visit, **shown)
        else:
            kept_for = None if about["keep"] is None else Words().length(about["keep"])
            why = await self._site.vault.rejection_reason(visit.owner, VaultItem("secret", about["name"]))
            status = 422 if problems else 200
            response = self._renderer.page("secret.html", status, kept_for=kept_for, why=why, **shown)
        return self._gate.with_session(response, visitor)

    def _back(self, visit: StoredVisit) -> Response:
        return RedirectResponse(f"{self._site.base}/visit/{visit.id}", 303)

    def _ended(self, visit: StoredVisit, ending: Ending, *, status: int = 200) -> Response:
        shown = self._shown(visit)
        return self._renderer.page(
            TEMPLATES[type(ending)], status, ending=ending, is_again=status != 200, **shown
        )

    def _shown(self, visit: StoredVisit) -> dict[str, Any]:
        client = safe_line("".join(filter(str.isprintable, visit.client)), MAX_CLIENT_LENGTH)
        return {"visit": visit, "client": client, "lists_items": self._gate.authenticator.lists_items}


def _typed(form: Mapping[str, str], field: Mapping[str, Any]) -> str:
    """The value as it was meant. Browsers write the end of a line as two characters, and pasted text often ends with
    one: this is part of a key of several lines, as spaces are of any key."""
    typed = form.get(f"field-{field['name']}", "").replace("\r\n", "\n")
    return typed if field.get("lines") else typed.strip("\n")


def _problem(value: str) -> str:
    if not value.strip("\n"):
        return "Fill this in."
    too_long = f"This is longer than {MAX_VALUE_LENGTH:,} characters."
    return too_long if len(value) > MAX_VALUE_LENGTH else ""
