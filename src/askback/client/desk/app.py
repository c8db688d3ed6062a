"""The desk over HTTP: the page's files, the watch, and one address for each thing a person can do with a card."""

import json
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

import anyio
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from askback.client.desk import desk_texts
from askback.client.desk.actions import ActionInput, CardActions
from askback.client.desk.board import Board, Watcher
from askback.client.desk.cards import CardRefusal
from askback.client.desk.views import hello, over, summary, whole
from askback.pages.look import SHARED_ASSETS, read_asset

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
        return PlainTextResponse(desk_texts.CODE_REFUSED, 403) if token is None else _json({"token": token})

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
