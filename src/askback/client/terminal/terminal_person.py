"""The person at this terminal: each question on a screen of its own, and one line of it left behind."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any, TextIO

import anyio

from askback.answers import Answer
from askback.client.consent import Opener, open_in_browser
from askback.client.person import FormAsked, Mode, Turn, VisitAsked, VisitReply
from askback.client.terminal.form_screen import form_screen
from askback.client.terminal.plain_person import PlainPerson
from askback.client.terminal.question_screen import GoneScreen
from askback.client.terminal.record import conclude, link_to_copy, open_link
from askback.client.terminal.screen_app import QUIET_SECONDS, KeyGuard, ScreenApp
from askback.client.terminal.tty import Tty
from askback.client.terminal.visit_screen import ConsentScreen, WaitScreen, rows_of_wait


class TerminalPerson:
    """Answers at a terminal; without a terminal it has no modes, so that nothing is asked and nothing hangs.

    `plain` asks line by line, for screen readers and for terminals that cannot move their cursor.
    """

    channel = "terminal"
    shows_several = False

    def __init__(
        self,
        *,
        plain: bool = False,
        input: TextIO | None = None,  # noqa: A002 - the words that everybody knows for the two streams
        output: TextIO | None = None,
        opener: Opener = open_in_browser,
        clock: Callable[[], float] = time.monotonic,
        quiet: float = QUIET_SECONDS,
    ) -> None:
        self._tty = Tty(input, output)
        self._opener, self._clock, self._quiet, self._is_plain = opener, clock, quiet, plain
        self._plain = PlainPerson(self._tty, opener=opener, clock=clock, quiet=quiet)

    @property
    def modes(self) -> frozenset[Mode]:
        return self._tty.modes

    async def answer(self, turn: Turn) -> Answer[Any]:
        self._tty.require()
        if self._is_plain or self._tty.is_dumb:
            return await self._plain.answer(turn)
        asked = turn.asked
        screen = form_screen(turn, asked) if isinstance(asked, FormAsked) else ConsentScreen(turn, asked)
        first = screen if turn.gone is None else GoneScreen(screen)
        answer = await ScreenApp[Answer[Any]](self._tty, self._guard()).play(first, turn.changed)
        await conclude(turn, answer, self._tty, self._opener)
        return answer

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        if self._is_plain or self._tty.is_dumb:
            return await self._plain.wait(asked, finished)
        started = self._clock()
        words: list[VisitReply] = []
        async with anyio.create_task_group() as group:

            async def reopen() -> None:
                scene.has_opened = await open_link(asked, self._opener)
                if not scene.has_opened:
                    await stage.say(*link_to_copy(asked))

            scene = WaitScreen(
                asked,
                finished,
                elapsed=lambda: self._clock() - started,
                reopen=lambda: group.start_soon(reopen),
            )
            rows = rows_of_wait(self._tty.columns)
            stage = ScreenApp[VisitReply](self._tty, self._guard(), rows=rows)
            words.append(await stage.play(scene, finished.wait, partial(anyio.sleep, 1)))
        return words[0]

    def _guard(self) -> KeyGuard:
        return KeyGuard(self._clock, quiet=self._quiet)
