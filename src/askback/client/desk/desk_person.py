"""The person at the desk: a page in their own browser, on loopback, where questions of all servers wait together.

Before it stands a gate: only our own page gets answers, and no answer is of use anywhere else. It knows headers and
one-time codes. Each refusal is one sentence; which check failed goes to the log.
"""

import hmac
import logging
import secrets
import time
from collections.abc import Callable, Collection, Coroutine
from contextlib import AsyncExitStack
from functools import partial
from types import TracebackType
from typing import Any, Self

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askback.answers import Answer, Cancelled
from askback.client import labels
from askback.client.consent import Opener, open_in_browser
from askback.client.desk.app import EXCHANGE, ONCE, PAGE, CardActions, make_app
from askback.client.desk.cards import WITHDRAWN, AnyCard, Board, FormCard, VisitCard, WaitCard, card_of
from askback.client.limits import Clock
from askback.client.person import Mode, Turn, VisitAsked, VisitReply
from askback.errors import AuthorError
from askback.pages.loopback_server import LOOPBACK, bind_loopback, serve_app

CODE_SECONDS = 60
"""A browser that has to be started first takes some; somebody who finds the code later comes too late."""


class OneTimeCodes:
    """Each is taken once, and only while it is fresh."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    def make(self) -> str:
        now = self._clock()
        self._until = {code: until for code, until in self._until.items() if until > now}
        code = secrets.token_urlsafe(32)
        self._until[code] = now + CODE_SECONDS
        return code

    def take(self, given: str) -> bool:
        """Whether it is good; from here on it is not."""
        found = next(
            (code for code in self._until if hmac.compare_digest(code.encode(), given.encode())), None
        )
        return found is not None and self._until.pop(found) > self._clock()


logger = logging.getLogger(__name__)

REFUSED = "This desk answers only the page that its own link opened; open that link again."

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
"""The last two take away every way to turn text into markup, from our own script as well."""

HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), clipboard-read=(), payment=(), usb=()",
}


class Gate:
    """Lets through what names our own address, comes from our own page and carries the token.

    The page's own files hold nothing of anybody's and are given without the token: it travels in the link's fragment,
    which a browser never sends, so only the page itself can present it. A cookie would go to every port of this
    machine, also to the web server of an asking program. Where a code is exchanged for the token, the page has
    none yet.
    """

    def __init__(
        self, app: ASGIApp, *, authority: str, token: str, files: Collection[str], exchange: str
    ) -> None:
        self._app, self._files, self._exchange = app, files, exchange
        self._authority, self._origin = authority, f"http://{authority}"
        self._credential = f"Bearer {token}".encode()
        self._told: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        objection = self._objection(scope["method"], scope["path"], Headers(scope=scope))
        if objection is None:
            await self._app(scope, receive, guarded)
        else:
            # The first of its kind is told, so that a page elsewhere cannot fill the person's terminal.
            logger.log(
                logging.DEBUG if objection in self._told else logging.WARNING,
                "refused %s: %s",
                scope["method"],
                objection,
            )
            self._told.add(objection)
            await PlainTextResponse(REFUSED, 403)(scope, receive, guarded)

    def _objection(self, method: str, path: str, headers: Headers) -> str | None:
        if headers.getlist("host") != [self._authority]:
            return "Host is not the address of this desk"
        is_reading = method in {"GET", "HEAD"}
        if is_reading and path in self._files:
            return None
        if headers.getlist("sec-fetch-site") not in ([], ["same-origin"]):
            return "Sec-Fetch-Site is not same-origin"
        if headers.getlist("origin") not in ([[], [self._origin]] if is_reading else [[self._origin]]):
            return "Origin is not this desk"
        is_exchange = method == "POST" and path == self._exchange
        given = headers.getlist("authorization")
        is_ours = len(given) == 1 and hmac.compare_digest(given[0].encode("latin-1"), self._credential)
        if not is_exchange and not is_ours:
            return "no token, or not the one of this launch"
        return None


class DeskPerson:
    """Answers on a page. `async with` opens the desk; `url` is the link to it, for this person only.

    Nothing is answered by opening, reloading or closing the page. Whoever has the link can answer: it holds a token
    that was made for this launch and dies with it. A browser is sent to `opening_url()` instead.
    """

    modes: frozenset[Mode] = frozenset(("form", "url"))
    channel = "desk"
    shows_several = True

    def __init__(
        self,
        *,
        port: int = 0,
        opener: Opener = open_in_browser,
        clock: Clock = time.monotonic,
    ) -> None:
        self._board = Board()
        self._codes, self._clock = OneTimeCodes(clock), clock
        self._acts = CardActions(self._board, opener)
        self._port, self._token = port, secrets.token_urlsafe(32)
        self._stack = AsyncExitStack()
        self._authority = ""

    @property
    def url(self) -> str:
        """The token is in the fragment, which no browser sends to anybody."""
        return f"{self._address}#{self._token}"

    def opening_url(self) -> str:
        """A link to start a browser with, by `open_in_browser(judge(link))`: good once, and for a minute."""
        return f"{self._address}#{ONCE}{self._codes.make()}"

    @property
    def _address(self) -> str:
        if not self._authority:
            raise AuthorError("The desk is not open yet. Read its url inside `async with desk:`.")
        return f"http://{self._authority}/"

    async def __aenter__(self) -> Self:
        if self._authority:
            raise AuthorError("This desk was opened before. Make a new one for a new launch.")
        listener = self._stack.enter_context(bind_loopback(self._port, who="The desk"))
        self._authority = f"{LOOPBACK}:{listener.getsockname()[1]}"
        app = make_app(
            self._board, self._acts, exchange=lambda code: self._token if self._codes.take(code) else None
        )
        gate = Gate(app, authority=self._authority, token=self._token, files=PAGE, exchange=EXCHANGE)
        await self._stack.enter_async_context(serve_app(gate, listener, before_end=self._board.close))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Without the error: the task group of the server would wrap it.
        await self._stack.aclose()

    async def answer(self, turn: Turn) -> Answer[Any]:
        """The person's word. A question that is gone before it was seen needs none."""
        board, card = self._board, card_of(turn)
        board.put(card)
        try:
            await _wait_for_word(card, partial(self._follow, card))
        finally:
            if card.outcome is None and card.is_seen:
                turn.withdraw(labels.GONE_GIVEN_UP)
                board.note(card)
            else:
                board.take(card)
        return card.word

    async def _follow(self, card: FormCard | VisitCard) -> None:
        while card.gone is None or card.is_seen:
            await card.turn.changed()
            self._board.note(card)
        if card.outcome is None:
            card.settle(Cancelled(), WITHDRAWN, is_by_person=False)

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        """The person's word, or `done` when the server says so first."""
        card = WaitCard(asked, clock=self._clock)

        async def follow() -> None:
            await finished.wait()
            if card.outcome is None:
                card.settle("done", "the server says that it is finished", is_by_person=False)

        self._board.put(card)
        try:
            await _wait_for_word(card, follow)
        finally:
            self._board.take(card)
        return card.word


async def _wait_for_word(card: AnyCard, follow: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow)
        await card.settled.wait()
        tasks.cancel_scope.cancel()
