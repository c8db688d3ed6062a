"""The person at this terminal: each question on a screen of its own, or asked line by line, so that a screen reader can
follow; one line of it stays behind."""

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, TextIO, TypeVar

import anyio

from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.client import labels
from askback.client.consent import Opener, open_in_browser
from askback.client.forms import Draft, FormEntry
from askback.client.person import FormAsked, Mode, Turn, VisitAsked, VisitReply
from askback.client.terminal.form_screen import doubts, form_screen
from askback.client.terminal.question_screen import MAX_REASON_LENGTH, GoneScreen
from askback.client.terminal.screen_app import QUIET_SECONDS, KeyGuard, ScreenApp
from askback.client.terminal.tty import ALL, BACK, COMMANDS, HELP, Decided, LineReader, PlainDialog, Tty
from askback.client.terminal.visit_screen import (
    ConsentScreen,
    WaitScreen,
    clock_time,
    conclude,
    link_to_copy,
    open_link,
    rows_of_wait,
)
from askback.model import safe

T = TypeVar("T")


class PlainPerson:
    """Answers at a terminal in its ordinary mode: nothing moves. Ctrl-C and the end of the input cancel."""

    def __init__(self, tty: Tty, *, opener: Opener, clock: Callable[[], float], quiet: float) -> None:
        self._tty, self._lines = tty, LineReader(tty)
        self._opener, self._clock, self._quiet = opener, clock, quiet

    async def answer(self, turn: Turn) -> Answer[Any]:
        async def until_gone() -> None:
            while turn.gone is None:
                await turn.changed()

        with self._lines.take_terminal():
            answer = await first_of(partial(self._ask, turn), until_gone)
            if answer is None:  # the question was taken back: the person leaves when they have read so
                self._tty.say("")
                self._tty.tell(safe.safe_line(turn.gone or "", MAX_REASON_LENGTH))
                self._tty.say("Press Enter to leave.")
                with suppress(Decided):
                    await self._lines.read(quiet=self._quiet)
                answer = Cancelled()
        await conclude(turn, answer, self._tty, self._opener)
        return answer

    async def _ask(self, turn: Turn) -> Answer[Any]:
        dialog = PlainDialog(turn, self._tty, self._lines, quiet=self._quiet)
        dialog.introduce()
        try:
            if isinstance(turn.asked, FormAsked):
                return await PlainForm(dialog, turn.asked).answer()
            return await ask_consent(dialog, turn.asked)
        except Decided as ended:
            return ended.answer

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        """The person's word after a visit, or `done` once the server says that it is finished."""
        return await first_of(partial(self._read_word, asked), finished.wait) or "done"

    async def _read_word(self, asked: VisitAsked) -> VisitReply:
        started = self._clock()
        self._tty.tell(
            f"Waiting for {safe.safe_line(asked.asker.label)}. "
            "Type done when you are done, retry to open the page again, or cancel; Enter tells the time."
        )
        with self._lines.take_terminal():
            while True:
                try:
                    line = await self._lines.read(quiet=self._quiet)
                except Decided:
                    return "cancel"
                match line.strip().casefold():
                    case "done":
                        return "done"
                    case "cancel" | "!cancel":
                        return "cancel"
                    case "retry" if await open_link(asked, self._opener):
                        self._tty.say(labels.OPENED_AGAIN)
                    case "retry":
                        self._tty.say(labels.NO_BROWSER, *link_to_copy(asked))
                    case _:
                        self._tty.say(f"Waiting for {clock_time(self._clock() - started)}.")


async def first_of(work: Callable[[], Awaitable[T]], ended: Callable[[], Awaitable[object]]) -> T | None:
    """The result of `work`; None if `ended` returns first, which cancels the work."""
    results: list[T] = []
    async with anyio.create_task_group() as group:

        async def run() -> None:
            results.append(await work())
            group.cancel_scope.cancel()

        group.start_soon(run)
        await ended()
        group.cancel_scope.cancel()
    return results[0] if results else None


async def ask_consent(dialog: PlainDialog, asked: VisitAsked) -> Answer[None]:
    """Show a link and read a word. Only the word `open` opens; Enter alone declines."""
    seen = labels.view_visit(asked)
    before, domain, after = seen.where
    dialog.say(f"who: {seen.who}")
    dialog.tell("where: ", f"{before}[{domain}]{after}")
    dialog.tell("why: ", seen.why)
    if seen.refusal is not None:
        dialog.warn(seen.refusal)
    dialog.warn(*seen.warnings)
    if seen.note:
        dialog.tell("", seen.note)
    dialog.tell("the whole link: ", seen.url)
    words = "open, decline or cancel" if asked.verdict.allowed else "decline or cancel"
    dialog.say(f"Type {words}. Enter alone declines.")
    dialog.offer_all()
    while True:
        match (await dialog.read(decides=True)).strip().casefold():
            case "open" if asked.verdict.allowed:
                return Accepted(None)
            case "" | "decline":
                return Declined()
            case "cancel":
                return Cancelled()
            case _:
                dialog.say(f"Nothing is opened. Type {words}.")


FIELD_COMMANDS = ("!empty", "!lines", "!list")
FIELD_HELP = (
    "Enter alone keeps what stands there.",
    "!empty empties the field.",
    "!lines begins a text of several lines, which a line with a single dot ends.",
    "A backslash before one of these makes it an ordinary answer.",
)
MAX_LISTED_OPTIONS = 30
"""Options that are read out unasked; the rest is listed by !list."""


class PlainForm:
    """One form with one person."""

    def __init__(self, dialog: PlainDialog, asked: FormAsked) -> None:
        self._dialog = dialog
        self._asked = asked
        self._entries = asked.blank.entries
        self._draft = Draft(asked.blank)

    async def answer(self) -> Answer[Any]:
        if self._asked.blank.refusal is not None:
            self._dialog.say(
                self._asked.blank.refusal, "This form can only be refused: type !decline or !cancel."
            )
            while True:
                await self._dialog.read(decides=True)
                self._dialog.say("Type !decline or !cancel.")
        self._introduce()
        at: int | None = 0
        while at is not None:
            await self._fill(at)
            at = await self._review()
        return Accepted(self._draft.content())

    def _introduce(self) -> None:
        if self._asked.blank.suspicion_of(self._asked.message):
            self._dialog.warn(labels.BANNER)
        for one in self._asked.blank.left_out:
            self._dialog.mention("", labels.describe_left_out(one))
        count = len(self._entries)
        fields = (
            f"{count} field{'' if count == 1 else 's'} to fill in." if count else labels.NOTHING_TO_FILL_IN
        )
        self._dialog.say(fields, "Type ? for help, < to go back, !decline or !cancel at any time.")
        self._dialog.offer_all()

    async def _fill(self, at: int) -> None:
        """From this field on to the last, back where the person goes back."""
        while at < len(self._entries):
            entry = self._entries[at]
            self._present(at, entry)
            line = await self._dialog.read(decides=at == 0)
            if line.strip() == BACK:
                at = max(0, at - 1)
            elif await self._take(entry, line):
                at += 1

    def _present(self, at: int, entry: FormEntry) -> None:
        dialog = self._dialog
        dialog.say("")
        dialog.tell(f"Field {at + 1} of {len(self._entries)}: ", labels.label_of(entry))
        dialog.quote(safe.safe_block(entry.hint) if entry.hint else [], indent="  ")
        if entry.suspicion is not None:
            dialog.warn(entry.suspicion)
        self._list(entry, MAX_LISTED_OPTIONS)
        how = "; type a number or a name, several with commas" if entry.kind == "choices" else ""
        how = "; type a number or a name" if entry.kind == "choice" else how
        dialog.say(f"  {labels.expectation(entry)}{how}")
        dialog.tell("  now: ", labels.value_line(entry, self._draft))

    def _list(self, entry: FormEntry, most: int) -> None:
        if entry.kind == "boolean":
            return
        options = labels.titles(entry)
        for number, (_, title) in enumerate(options[:most], start=1):
            self._dialog.tell(f"  {number}. ", title)
        if len(options) > most:
            self._dialog.say(f"  and {len(options) - most} more; !list says them all")

    async def _take(self, entry: FormEntry, line: str) -> bool:
        """Put what was typed into the field; whether the next one can come."""
        match line.strip():
            case "?":
                self._dialog.help()
                self._dialog.say(*FIELD_HELP)
                return False
            case "!list":
                self._list(entry, len(entry.options))
                return False
            case "":
                pass
            case "!empty":
                self._draft.set(entry.name, None)
            case "!lines" if entry.kind == "text":
                self._dialog.say("Several lines; a single dot ends them.")
                lines: list[str] = []
                while (typed := await self._dialog.read()) != ".":
                    lines.append(typed)
                self._draft.write(entry.name, "\n".join(lines))
            case _:  # a backslash makes a command an ordinary answer; any other backslash is the person's own
                is_command = line.lstrip("\\").strip().casefold() in {*COMMANDS, *FIELD_COMMANDS, ALL}
                self._draft.write(entry.name, line.removeprefix("\\") if is_command else line)
        if (why := self._draft.pasted_key(entry.name)) is not None:
            self._dialog.warn(labels.key_warning(entry, why))
        problem = self._draft.problem(entry.name)
        if problem is not None:
            self._dialog.mention("Problem: ", problem)
        return problem is None

    async def _review(self) -> int | None:
        """None to send; otherwise the field to go on with."""
        self._say_review()
        while True:
            word = (await self._dialog.read(decides=True)).strip().casefold()
            if word == "send":
                if await self._may_go_out():
                    return None
                self._say_review()
            elif word == BACK and self._entries:
                return len(self._entries) - 1
            elif word.isdecimal() and 0 < int(word) <= len(self._entries):
                return int(word) - 1
            else:
                self._dialog.say("Nothing is sent. " + self._review_words())
            if word == HELP:
                self._dialog.help()

    def _say_review(self) -> None:
        self._dialog.say("", f"Review what is sent to {safe.safe_line(self._asked.asker.label)}:")
        for number, entry in enumerate(self._entries, start=1):
            first, *rest = labels.value_lines(entry, self._draft)
            self._dialog.tell(f"  {number}. ", f"{labels.label_of(entry)}: {first}")
            self._dialog.quote(rest, indent="     ")
            for note in labels.notes_on_sending(entry, self._draft):
                self._dialog.tell("     ", note)
        self._dialog.say(self._review_words())

    def _review_words(self) -> str:
        number = ", a number to change that field, < to go back" if self._entries else ""
        return f"Type send to send it{number}, !decline or !cancel."

    async def _may_go_out(self) -> bool:
        """Whether the person says so, asked once more where something looks like a secret."""
        reasons = list(doubts(self._asked, self._draft))
        if not reasons:
            return True
        self._dialog.warn(*reasons)
        self._dialog.say("Nothing is sent yet. Type yes to send it anyway; anything else goes back.")
        word = (await self._dialog.read(decides=True)).strip().casefold()
        if word != "yes":
            return False
        for name in self._draft.stops():
            self._draft.excuse(name)
        return True


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
        answer = await ScreenApp(self._tty, self._guard(), first).play(turn.changed)
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
            stage = ScreenApp(self._tty, self._guard(), scene, rows=rows_of_wait(self._tty.columns))
            words.append(await stage.play(finished.wait, partial(anyio.sleep, 1)))
        return words[0]

    def _guard(self) -> KeyGuard:
        return KeyGuard(self._clock, quiet=self._quiet)
