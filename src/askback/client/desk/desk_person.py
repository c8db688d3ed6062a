"""The person at the desk: a page in their own browser, on loopback, where questions of all servers wait together."""

import secrets
import time
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from functools import partial
from types import TracebackType
from typing import Any, Self

import anyio

from askback.answers import Answer, Cancelled
from askback.client import labels
from askback.client.consent import Opener, open_in_browser
from askback.client.desk.app import EXCHANGE, ONCE, PAGE, CardActions, make_app
from askback.client.desk.cards import WITHDRAWN, AnyCard, Board, FormCard, VisitCard, WaitCard, card_of
from askback.client.desk.gate import Gate, OneTimeCodes
from askback.client.limits import Clock
from askback.client.person import Mode, Turn, VisitAsked, VisitReply
from askback.errors import AuthorError
from askback.pages.loopback_server import LOOPBACK, bind_loopback, serve_app


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
