"""The desk over HTTP: the page's files, the event stream, and an address for each thing a person can do with a card."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from importlib.resources import files
from typing import Any

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from askback.answers import Cancelled, Declined
from askback.client.consent import Opener
from askback.client.desk.cards import (
    BEING_OPENED,
    AnyCard,
    Board,
    CardRefusal,
    FormCard,
    TurnCard,
    VisitCard,
    WaitCard,
)
from askback.client.desk.views import (
    CODE_REFUSED,
    Json,
    view_board,
    view_card,
    view_end,
    view_field_note,
    view_review,
    view_summary,
)
from askback.pages.look import SHARED_ASSETS, read_asset

NO_SUCH_BUTTON = "This card has no such button; load the page again."


class ActionInput(BaseModel):
    """What the page sends along; each act reads its own part."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    field: int = -1
    value: Any = None
    values: list[Any] = []
    stamp: int = -1
    sure: bool = False


class CardActions:
    """The acts on one board's cards."""

    def __init__(self, board: Board, opener: Opener) -> None:
        self._board, self._opener = board, opener

    async def do(self, name: str, act: str, said: ActionInput) -> Json:
        """What the page gets; a `CardRefusal` where it cannot be done."""
        card = self._board.find(name)
        if isinstance(card, FormCard):
            shown = _act_on_form(card, act, said)
        else:
            shown = await self._act_on_visit(card, act)
        settled = self._decline_others(card) if act == "decline-all" else []
        if card.outcome is not None:
            self._board.take(card)
        return {**shown, "outcome": card.outcome, "settled": settled, "then": card.then}

    async def _act_on_visit(self, card: VisitCard | WaitCard, act: str) -> Json:
        verdict = card.visit.verdict
        match card, act:
            case VisitCard(), "open":
                card.consent()
                if not await anyio.to_thread.run_sync(self._opener, verdict):
                    card.href = verdict.href
                    return {"href": card.href}
                card.settle_opened()
            case VisitCard(), "opened":
                card.settle_opened()
            case VisitCard(), _:
                _act_on_turn(card, act)
            case WaitCard(), "done":
                card.settle("done", "done")
            case WaitCard(), "cancel":
                card.settle("cancel", "cancelled")
            case WaitCard(), "retry" if verdict.allowed:
                is_open = await anyio.to_thread.run_sync(self._opener, verdict)
                return {"href": None if is_open else verdict.href}
            case _:
                raise CardRefusal(NO_SUCH_BUTTON)
        return {}

    def _decline_others(self, first: AnyCard) -> list[str]:
        """Decline the other questions of the same server that are on the desk; gives the ids of their cards."""
        # By all we know of the server: a label is a word that several of them may share.
        asker = first.asked.asker
        beside = (card for card in self._board if isinstance(card, TurnCard))
        others = [card for card in beside if card.asked.asker == asker and not card.is_opening]
        for card in others:
            if card.outcome is None:
                card.decline_all()
            self._board.take(card)
        return [card.id for card in others]


def _act_on_form(card: FormCard, act: str, said: ActionInput) -> Json:
    match act:
        case "fill":
            return view_field_note(card, said.field, card.fill(said.field, said.value))
        case "excuse":
            card.excuse(said.field)
        case "review":
            card.fill_all(said.values)
            return view_review(card)
        case "send":
            card.send(said.stamp, is_sure=said.sure)
        case _:
            _act_on_turn(card, act)
    return {}


def _act_on_turn(card: TurnCard, act: str) -> None:
    if card.is_opening:
        raise CardRefusal(BEING_OPENED)
    match act:
        case "decline":
            card.settle(Declined(), "declined")
        case "decline-all":
            card.decline_all()
        case "cancel":
            card.settle(Cancelled(), "cancelled")
        case "close" if card.gone is not None:
            card.settle(Cancelled(), "closed")
        case _:
            raise CardRefusal(NO_SUCH_BUTTON)


TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}

PAGE = {
    "/": "index.html",
    **{
        f"/{name}": name
        for name in (
            "desk.css",
            "desk.js",
            "api.js",
            "card.js",
            "dom.js",
            "fields.js",
            "form.js",
            "visit.js",
            *SHARED_ASSETS,
        )
    },
}
"""Addresses of the page's own files, and nothing else: no folder is served."""

MAX_BODY_BYTES = 8 * 1024 * 1024
"""Of one request. A form of a hundred boxes, each as full as a box can be, is about as large."""

BEAT_SECONDS = 15
"""A quiet watch sends a sign of life, so that a connection that is gone is noticed at both ends."""


EXCHANGE = "/token"
"""Where the page gives a code of one use for the token."""

ONCE = "once="
"""Before such a code, in a fragment; no token has this sign."""

MAX_CODE_BYTES = 1_000
"""The sender has shown no token yet."""


def make_app(board: Board, acts: CardActions, *, exchange: Callable[[str], str | None]) -> Starlette:
    """Everything behind the gate. `exchange` gives the token for a code that is good."""

    async def give_token(request: Request) -> Response:
        token = exchange(Code.model_validate_json(await _read_body(request, MAX_CODE_BYTES)).code)
        return PlainTextResponse(CODE_REFUSED, 403) if token is None else _json({"token": token})

    async def watch(_: Request) -> Response:
        return StreamingResponse(_events(board), media_type="application/x-ndjson")

    async def show(request: Request) -> Response:
        return _json(view_card(board.find(request.path_params["id"])))

    async def act(request: Request) -> Response:
        said = ActionInput.model_validate_json(await _read_body(request, MAX_BODY_BYTES))
        return _json(await acts.do(request.path_params["id"], request.path_params["act"], said))

    return Starlette(
        routes=[
            *(Route(address, _file(name)) for address, name in PAGE.items()),
            Route(EXCHANGE, give_token, methods=["POST"]),
            Route("/events", watch, methods=["GET"]),
            Route("/cards/{id}", show),
            Route("/cards/{id}/{act}", act, methods=["POST"]),
        ],
        exception_handlers={CardRefusal: _refuse, ValidationError: _refuse},
    )


async def _refuse(_: Request, error: Exception) -> Response:
    if isinstance(error, CardRefusal):
        return _json({"said": str(error)}, error.status)
    return _json({"said": "The page sent something that cannot be read; load it again."}, 400)


def _json(content: object, status: int = 200) -> Response:
    # In ASCII: what was typed may hold half a character, which UTF-8 has no bytes for.
    return Response(json.dumps(content), status, media_type="application/json")


class Code(BaseModel):
    """What the page sends for the token."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    code: str


def _file(name: str) -> Callable[[Request], Awaitable[Response]]:
    own = files("askback.client.desk") / "page" / name
    content = read_asset(name) if name in SHARED_ASSETS else own.read_bytes()
    kind = TYPES[name.rpartition(".")[2]]

    async def give(_: Request) -> Response:
        return Response(content, media_type=kind)

    return give


async def _read_body(request: Request, most: int) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise CardRefusal("This is too much text for one answer.", status=413)
    return bytes(body)


async def _events(board: Board) -> AsyncGenerator[bytes]:
    """One tab's stream of changes, a JSON text on each line. It ends when the tab leaves."""
    with board.watch() as watcher:
        yield _line(view_board(board))
        while not watcher.is_over:
            changed = None
            with anyio.move_on_after(BEAT_SECONDS):
                changed = await watcher.changes()
            if changed is None:
                yield b"\n"
            elif changed:
                yield _line({"changed": [view_summary(board, card) for card in changed]})
        yield _line(view_end(board))


def _line(event: Json) -> bytes:
    return json.dumps(event).encode() + b"\n"
