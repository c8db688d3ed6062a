"""The desk over HTTP: the page's files, the event stream, and an address for each thing a person can do with a card."""

import json
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

import anyio
import anyio.to_thread
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from askback.client.consent import Opener
from askback.client.desk.board import Board, Watcher
from askback.client.desk.cards import (
    BEING_OPENED,
    AnyCard,
    CardRefusal,
    FormCard,
    TurnCard,
    VisitCard,
    WaitCard,
)
from askback.client.desk.views import CODE_REFUSED, Json, field_note, hello, over, review, summary, whole
from askback.pages.look import SHARED_ASSETS, read_asset

NOT_THAT = "This card has no such button; load the page again."


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
        """What the page gets; a Refusal where it cannot be done."""
        card = self._board.find(name)
        match card:
            case FormCard():
                shown = _on_form(card, act, said)
            case VisitCard():
                shown = await self._on_visit(card, act)
            case WaitCard():
                shown = await self._on_wait(card, act)
        settled = self._decline_others(card) if act == "decline-all" else []
        if card.outcome is not None:
            self._board.take(card)
        return {**shown, "outcome": card.outcome, "settled": settled, "then": card.then}

    async def _on_visit(self, card: VisitCard, act: str) -> Json:
        match act:
            case "open":
                card.consent()
                if await anyio.to_thread.run_sync(self._opener, card.visit.verdict):
                    card.opened()
                    return {}
                return {"href": card.leave_to_them()}
            case "opened":
                card.opened()
            case _ if card.is_opening:
                raise CardRefusal(BEING_OPENED)
            case _:
                _on_turn(card, act)
        return {}

    async def _on_wait(self, card: WaitCard, act: str) -> Json:
        match act:
            case "done":
                card.done()
            case "retry" if card.visit.verdict.allowed:
                is_open = await anyio.to_thread.run_sync(self._opener, card.visit.verdict)
                return {"href": None if is_open else card.visit.verdict.href}
            case "cancel":
                card.cancel()
            case _:
                raise CardRefusal(NOT_THAT)
        return {}

    def _decline_others(self, first: AnyCard) -> list[str]:
        """Those of the same server that lie beside it; they came before the word was said."""
        # By all we know of the server: a label is a word that several of them may share.
        asker = first.asked.asker
        beside = (card for card in self._board if isinstance(card, TurnCard))
        others = [card for card in beside if card.asked.asker == asker and not card.is_opening]
        for card in others:
            if card.outcome is None:
                card.decline_all()
            self._board.take(card)
        return [card.id for card in others]


def _on_form(card: FormCard, act: str, said: ActionInput) -> Json:
    match act:
        case "fill":
            problem = card.fill(said.field, said.value)
            return field_note(card, said.field, problem)
        case "excuse":
            card.excuse(said.field)
        case "review":
            return review(card, card.review(said.values))
        case "send":
            card.send(said.stamp, is_sure=said.sure)
        case _:
            _on_turn(card, act)
    return {}


def _on_turn(card: TurnCard, act: str) -> None:
    match act:
        case "decline":
            card.decline()
        case "decline-all":
            card.decline_all()
        case "cancel":
            card.cancel()
        case "close" if card.gone is not None:
            card.close()
        case _:
            raise CardRefusal(NOT_THAT)


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
"""Whoever sends one has shown no token yet."""


def make_app(board: Board, acts: CardActions, *, exchange: Callable[[str], str | None]) -> Starlette:
    """Everything behind the gate. `exchange` gives the token for a code that is good."""

    async def give_token(request: Request) -> Response:
        code = Code.model_validate_json(await _body(request, MAX_CODE_BYTES)).code
        token = exchange(code)
        return PlainTextResponse(CODE_REFUSED, 403) if token is None else _json({"token": token})

    async def show(request: Request) -> Response:
        return _json(whole(board.find(request.path_params["id"])))

    async def act(request: Request) -> Response:
        said = ActionInput.model_validate_json(await _body(request))
        return _json(await acts.do(request.path_params["id"], request.path_params["act"], said))

    return Starlette(
        routes=[
            *(Route(address, _file(name)) for address, name in PAGE.items()),
            Route(EXCHANGE, give_token, methods=["POST"]),
            Route("/events", EventStream(board), methods=["GET"]),
            Route("/cards/{id}", show),
            Route("/cards/{id}/{act}", act, methods=["POST"]),
        ],
        exception_handlers={CardRefusal: _refused, ValidationError: _unreadable, TooLong: _too_long},
    )


def _json(content: object, status: int = 200) -> Response:
    # In ASCII: what was typed may hold half a character, which UTF-8 has no bytes for.
    return Response(json.dumps(content), status, media_type="application/json")


class Code(BaseModel):
    """What the page sends for the token."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    code: str


class TooLong(Exception):
    """A request that no page of ours would send."""


def _file(name: str) -> Callable[[Request], Awaitable[Response]]:
    own = files("askback.client.desk") / "page" / name
    content = read_asset(name) if name in SHARED_ASSETS else own.read_bytes()
    kind = TYPES[name.rpartition(".")[2]]

    async def give(_: Request) -> Response:
        return Response(content, media_type=kind)

    return give


async def _body(request: Request, most: int = MAX_BODY_BYTES) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise TooLong
    return bytes(body)


async def _refused(_: Request, refusal: Exception) -> Response:
    return _json({"said": str(refusal)}, 409)


async def _unreadable(_: Request, __: Exception) -> Response:
    return _json({"said": "The page sent something that cannot be read; load it again."}, 400)


async def _too_long(_: Request, __: Exception) -> Response:
    return _json({"said": "This is too much text for one answer."}, 413)


class EventStream:
    """One tab's stream of changes, a JSON text on each line. It ends when the tab leaves."""

    def __init__(self, board: Board) -> None:
        self._board = board

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        watcher = self._board.watch()
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_cancel_when_left, receive, tasks.cancel_scope)
                await self._tell(watcher, send)
                tasks.cancel_scope.cancel()
        finally:
            self._board.unwatch(watcher)

    async def _tell(self, watcher: Watcher, send: Send) -> None:
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-type", b"application/x-ndjson")],
            }
        )
        await _write(send, hello(self._board))
        while not watcher.is_over:
            changed = None
            with anyio.move_on_after(BEAT_SECONDS):
                changed = await watcher.changes()
            if changed is None:
                await send({"type": "http.response.body", "body": b"\n", "more_body": True})
            elif changed:
                await _write(send, {"changed": [summary(self._board, card) for card in changed]})
        await _write(send, over(self._board), is_last=True)


async def _write(send: Send, event: dict[str, Any], *, is_last: bool = False) -> None:
    line = json.dumps(event).encode() + b"\n"
    await send({"type": "http.response.body", "body": line, "more_body": not is_last})


async def _cancel_when_left(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
