"""The person who is asked line by line: nothing moves on the screen, so that a screen reader can follow."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO, assert_never

import anyio

from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.client import labels
from askback.client.consent import Opener, open_in_browser, view_visit
from askback.client.person import FormAsked, Mode, Turn, VisitAsked, VisitReply
from askback.client.terminal.plain_dialog import Decided, InputEnded, LineReader, PlainDialog
from askback.client.terminal.plain_form import PlainForm
from askback.client.terminal.question_screen import MAX_REASON_LENGTH
from askback.client.terminal.record import by_hand, conclude, open_link, said_time
from askback.client.terminal.screen_app import QUIET_SECONDS
from askback.client.terminal.tty import Tty
from askback.model import safe


async def consent(asking: PlainDialog, asked: VisitAsked) -> Answer[None]:
    """Only the word `open` opens; Enter alone declines."""
    _say_visit(asking, asked)
    words = "open, decline or cancel" if asked.verdict.allowed else "decline or cancel"
    asking.say(f"Type {words}. Enter alone declines.")
    asking.offer_all()
    while True:
        match (await asking.read(decides=True)).strip().casefold():
            case "open" if asked.verdict.allowed:
                return Accepted(None)
            case "" | "decline":
                return Declined()
            case "cancel":
                return Cancelled()
            case _:
                asking.say(f"Nothing is opened. Type {words}.")


def _say_visit(asking: PlainDialog, asked: VisitAsked) -> None:
    seen = view_visit(asked)
    before, domain, after = seen.where
    asking.say(f"who: {seen.who}")
    asking.tell("where: ", f"{before}[{domain}]{after}")
    asking.tell("why: ", seen.why)
    if seen.refusal is not None:
        asking.warn(seen.refusal)
    asking.warn(*seen.warnings)
    if seen.note:
        asking.tell("", seen.note)
    asking.tell("the whole link: ", seen.url)


class PlainPerson:
    """Answers at a terminal in its ordinary mode. Ctrl-C and the end of the input cancel."""

    channel = "terminal"
    shows_several = False

    def __init__(
        self,
        *,
        input: TextIO | None = None,  # noqa: A002 - the words that everybody knows for the two streams
        output: TextIO | None = None,
        opener: Opener = open_in_browser,
        clock: Callable[[], float] = time.monotonic,
        quiet: float = QUIET_SECONDS,
    ) -> None:
        self._tty = Tty(input, output)
        self._lines = LineReader(self._tty)
        self._opener = opener
        self._clock = clock
        self._quiet = quiet

    @property
    def modes(self) -> frozenset[Mode]:
        return self._tty.modes

    async def answer(self, turn: Turn) -> Answer[Any]:
        self._tty.require()
        with self._lines.taken():
            answer = await self._until_gone(turn)
        await conclude(turn, answer, self._tty, self._opener)
        return answer

    async def _until_gone(self, turn: Turn) -> Answer[Any]:
        """Asks; a question that is taken back is let go when the person has seen that it is."""
        answers: list[Answer[Any]] = []
        async with anyio.create_task_group() as group:

            async def ask() -> None:
                answers.append(await self._ask(turn))
                group.cancel_scope.cancel()

            group.start_soon(ask)
            while turn.gone is None:
                await turn.changed()
            group.cancel_scope.cancel()
        if turn.gone is None or answers:
            return answers[0]
        return await self._let_go(turn.gone)

    async def _let_go(self, why: str) -> Answer[Any]:
        self._tty.say("")
        self._tty.tell(safe.safe_line(why, MAX_REASON_LENGTH))
        self._tty.say("Press Enter to leave.")
        with suppress(InputEnded):
            await self._lines.read(quiet=self._quiet)
        return Cancelled()

    async def _ask(self, turn: Turn) -> Answer[Any]:
        asking = PlainDialog(turn, self._tty, self._lines, quiet=self._quiet)
        asking.introduce()
        try:
            match turn.asked:
                case FormAsked() as asked:
                    return await PlainForm(asking, asked).answer()
                case VisitAsked() as asked:
                    return await consent(asking, asked)
                case _:
                    assert_never(turn.asked)
        except Decided as ended:
            return ended.answer
        except InputEnded:
            return Cancelled()

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        words: list[VisitReply] = ["done"]
        async with anyio.create_task_group() as group:

            async def listen() -> None:
                words[0] = await self._word(asked)
                group.cancel_scope.cancel()

            group.start_soon(listen)
            await finished.wait()
            group.cancel_scope.cancel()
        return words[0]

    async def _word(self, asked: VisitAsked) -> VisitReply:
        started = self._clock()
        self._tty.tell(
            f"Waiting for {safe.safe_line(asked.asker.label)}. "
            "Type done when you are done, retry to open the page again, or cancel; Enter tells the time."
        )
        with self._lines.taken():
            while True:
                try:
                    line = await self._lines.read(quiet=self._quiet)
                except InputEnded:
                    return "cancel"
                match line.strip().casefold():
                    case "done":
                        return "done"
                    case "cancel" | "!cancel":
                        return "cancel"
                    case "retry":
                        await self._reopen(asked)
                    case _:
                        self._tty.say(f"Waiting for {said_time(self._clock() - started)}.")

    async def _reopen(self, asked: VisitAsked) -> None:
        is_open = await open_link(asked, self._opener)
        self._tty.say(*([labels.OPENED_AGAIN] if is_open else [labels.NO_BROWSER, *by_hand(asked)]))
