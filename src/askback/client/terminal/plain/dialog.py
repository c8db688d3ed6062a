"""What every question has in line mode: who asks, why, their words, and the commands that always work."""

from collections.abc import Iterable
from typing import Any

from askback.answers import Answer, Cancelled, Declined
from askback.client import labels
from askback.client.person import Turn
from askback.client.terminal.plain.line_reader import SETTLE_SECONDS, LineReader
from askback.client.terminal.question_screen import OFFER_DECLINE_ALL_AT
from askback.client.terminal.tty import Tty
from askback.model import safe

HELP = "?"
BACK = "<"
COMMANDS = {
    HELP: "says this again",
    BACK: "goes back one field",
    "!decline": "says no; the server learns that you said no",
    "!cancel": "puts the question away without an answer; Ctrl-C does the same",
}
HUNG = "     | "
"""Before the later lines of words of the server: deeper than any line of ours begins, and behind a bar."""
DEEP = " " * 9
"""The same for a sentence of ours that names something of theirs: it is no quotation, and begins no line either."""
ALL = "!decline all"
ALL_MEANS = "says no to this and to all that this server asks from now on"


class Decided(Exception):
    """The person has decided."""

    def __init__(self, answer: Answer[Any]) -> None:
        super().__init__(answer)
        self.answer = answer


class PlainDialog:
    """Speaks and listens for one turn."""

    def __init__(self, turn: Turn, tty: Tty, lines: LineReader, *, quiet: float) -> None:
        self.turn = turn
        self._tty = tty
        self._lines = lines
        self._quiet = quiet

    def say(self, *lines: str) -> None:
        """Our own words."""
        for line in lines:
            self._tty.tell(line)

    def tell(self, before: str, words: str) -> None:
        """Words of the server after a beginning of ours: what is too long for a line goes on behind a bar."""
        self._tty.tell(words, before=before, hang=HUNG)

    def mention(self, before: str, sentence: str) -> None:
        """Our own words with a label or an option of the server among them."""
        self._tty.tell(sentence, before=before, hang=DEEP)

    def quote(self, lines: Iterable[str], *, indent: str = "") -> None:
        """What the server writes: every line behind a bar, and further in what only goes on from the line before."""
        bar = f"{indent}| "
        for line in lines:
            self._tty.tell(line, before=bar, hang=f"{bar}  ")

    def warn(self, *lines: str) -> None:
        for line in lines:
            self.mention("Warning: ", line)

    def introduce(self) -> None:
        asked = self.turn.asked
        self.say("", f"{labels.who_asks(asked.asker)} asks. {labels.place(self.turn)}.")
        self.tell("", labels.why(asked))
        self.say(f"Words of {safe.safe_line(asked.asker.label)}, each line behind a bar:")
        self.quote(safe.safe_block(asked.message))

    def offer_all(self) -> None:
        """From the third question on, the way out of all of them is named unasked."""
        if self.turn.number >= OFFER_DECLINE_ALL_AT:
            self.say(f"{ALL} {ALL_MEANS}.")

    def help(self) -> None:
        self.say(*(f"{command} {meaning}." for command, meaning in COMMANDS.items()))
        self.offer_all()

    async def read(self, *, decides: bool = False) -> str:
        """A line that is not one of the ways to say no. Where it can decide, the prompt waits a little longer."""
        line = await self._lines.read(quiet=self._quiet if decides else min(self._quiet, SETTLE_SECONDS))
        match line.strip().casefold():
            case "!decline":
                raise Decided(Declined())
            case "!cancel":
                raise Decided(Cancelled())
            case "!decline all" if self.turn.number >= OFFER_DECLINE_ALL_AT:
                self.turn.declines_all = True
                raise Decided(Declined())
            case _:
                return line
