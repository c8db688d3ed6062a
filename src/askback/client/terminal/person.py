"""The person at this terminal: each question on a screen of its own, and one line of it left behind."""

import time
from collections.abc import Callable
from typing import Any, TextIO, assert_never

import anyio

from askback.answer import Answer
from askback.client.consent import Opener, open_in_browser
from askback.client.person import FormAsked, Mode, Turn, VisitAsked, Word
from askback.client.terminal.asking import Asking, Gone
from askback.client.terminal.ending import conclude, opened
from askback.client.terminal.form import form_scene
from askback.client.terminal.guard import QUIET_SECONDS, Guard
from askback.client.terminal.plain import PlainPerson
from askback.client.terminal.record import by_hand
from askback.client.terminal.stage import Stage
from askback.client.terminal.tty import Tty
from askback.client.terminal.visit import Consent, Wait, rows_of_wait


class TerminalPerson:
    """Answers at a terminal; where there is none it has no modes, so that nothing is asked and nothing hangs.

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
        self._opener = opener
        self._clock = clock
        self._quiet = quiet
        self._is_plain = plain
        self._plain = PlainPerson(input=input, output=output, opener=opener, clock=clock, quiet=quiet)

    @property
    def modes(self) -> frozenset[Mode]:
        return self._tty.modes

    @property
    def _speaks_lines(self) -> bool:
        return self._is_plain or self._tty.is_dumb

    async def answer(self, turn: Turn) -> Answer[Any]:
        if self._speaks_lines:
            return await self._plain.answer(turn)
        self._tty.require()
        answer = await Stage[Answer[Any]](self._tty, self._guard()).play(_scene(turn), turn.changed)
        await conclude(turn, answer, self._tty, self._opener)
        return answer

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> Word:
        if self._speaks_lines:
            return await self._plain.wait(asked, finished)
        started = self._clock()
        words: list[Word] = []
        async with anyio.create_task_group() as group:

            async def reopen() -> None:
                scene.has_opened = await opened(asked, self._opener)
                if not scene.has_opened:
                    await stage.say(*by_hand(asked))

            scene = Wait(
                asked,
                finished,
                elapsed=lambda: self._clock() - started,
                reopen=lambda: group.start_soon(reopen),
            )
            rows = rows_of_wait(self._tty.columns)
            stage = Stage[Word](self._tty, self._guard(), rows=rows)
            words.append(await stage.play(scene, finished.wait, _second))
        return words[0]

    def _guard(self) -> Guard:
        return Guard(self._clock, quiet=self._quiet)


def _scene(turn: Turn) -> Asking:
    match turn.asked:
        case FormAsked() as asked:
            scene = form_scene(turn, asked)
        case VisitAsked() as asked:
            scene = Consent(turn, asked)
        case _:
            assert_never(turn.asked)
    return scene if turn.gone is None else Gone(scene)


async def _second() -> None:
    await anyio.sleep(1)
