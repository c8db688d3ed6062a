"""A form in line mode: field after field, back at will, then everything once more before it is sent."""

from typing import Any, NoReturn

from askback.answers import Accepted, Answer
from askback.client import labels
from askback.client.forms import Draft, FormEntry
from askback.client.labels import (
    expectation,
    key_warning,
    label_of,
    notes_on_sending,
    titles,
    value_line,
    value_lines,
)
from askback.client.person import FormAsked
from askback.client.terminal.form_screen import doubts
from askback.client.terminal.plain_dialog import ALL, BACK, COMMANDS, HELP, PlainDialog
from askback.model import safe

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

    def __init__(self, asking: PlainDialog, asked: FormAsked) -> None:
        self._asking = asking
        self._asked = asked
        self._entries = asked.blank.entries
        self._draft = Draft(asked.blank)

    async def answer(self) -> Answer[Any]:
        if self._asked.blank.refusal is not None:
            await self._refuse(self._asked.blank.refusal)
        self._introduce()
        at = 0
        while True:
            at = await self._fill(at)
            chosen = await self._review()
            if chosen is None:
                return Accepted(self._draft.content())
            at = chosen

    async def _refuse(self, why: str) -> NoReturn:
        self._asking.say(why, "This form can only be refused: type !decline or !cancel.")
        while True:
            await self._asking.read(decides=True)
            self._asking.say("Type !decline or !cancel.")

    def _introduce(self) -> None:
        if self._asked.blank.suspicion_of(self._asked.message):
            self._asking.warn(labels.BANNER)
        for one in self._asked.blank.left_out:
            self._asking.mention("", labels.left_out(one))
        count = len(self._entries)
        fields = (
            f"{count} field{'' if count == 1 else 's'} to fill in." if count else labels.NOTHING_TO_FILL_IN
        )
        self._asking.say(fields, "Type ? for help, < to go back, !decline or !cancel at any time.")
        self._asking.offer_all()

    async def _fill(self, at: int) -> int:
        """From this field on to the last, back where the person goes back."""
        while at < len(self._entries):
            entry = self._entries[at]
            self._present(at, entry)
            line = await self._asking.read(decides=at == 0)
            if line.strip() == BACK:
                at = max(0, at - 1)
            elif await self._take(entry, line):
                at += 1
        return at

    def _present(self, at: int, entry: FormEntry) -> None:
        asking = self._asking
        asking.say("")
        asking.tell(f"Field {at + 1} of {len(self._entries)}: ", label_of(entry))
        asking.quote(safe.safe_block(entry.hint) if entry.hint else [], indent="  ")
        if entry.suspicion is not None:
            asking.warn(entry.suspicion)
        self._list(entry, MAX_LISTED_OPTIONS)
        how = "; type a number or a name, several with commas" if entry.kind == "choices" else ""
        how = "; type a number or a name" if entry.kind == "choice" else how
        asking.say(f"  {expectation(entry)}{how}")
        asking.tell("  now: ", value_line(entry, self._draft))

    def _list(self, entry: FormEntry, most: int) -> None:
        if entry.kind == "boolean":
            return
        options = titles(entry)
        for number, (_, title) in enumerate(options[:most], start=1):
            self._asking.tell(f"  {number}. ", title)
        if len(options) > most:
            self._asking.say(f"  and {len(options) - most} more; !list says them all")

    async def _take(self, entry: FormEntry, line: str) -> bool:
        """Put what was typed into the field; whether the next one can come."""
        match line.strip():
            case "?":
                self._asking.help()
                self._asking.say(*FIELD_HELP)
                return False
            case "!list":
                self._list(entry, len(entry.options))
                return False
            case "":
                pass
            case "!empty":
                self._draft.set(entry.name, None)
            case "!lines" if entry.kind == "text":
                self._draft.write(entry.name, await self._several_lines())
            case _:
                self._draft.write(entry.name, _unescaped(line))
        return self._is_fine(entry)

    async def _several_lines(self) -> str:
        self._asking.say("Several lines; a single dot ends them.")
        lines: list[str] = []
        while (line := await self._asking.read()) != ".":
            lines.append(line)
        return "\n".join(lines)

    def _is_fine(self, entry: FormEntry) -> bool:
        if (why := self._draft.pasted_key(entry.name)) is not None:
            self._asking.warn(key_warning(entry, why))
        problem = self._draft.problem(entry.name)
        if problem is not None:
            self._asking.mention("Problem: ", problem)
        return problem is None

    async def _review(self) -> int | None:
        """None to send; otherwise the field to go on with."""
        self._say_review()
        while True:
            word = (await self._asking.read(decides=True)).strip().casefold()
            if word == "send":
                if await self._may_go_out():
                    return None
                self._say_review()
            elif word == BACK and self._entries:
                return len(self._entries) - 1
            elif word.isdecimal() and 0 < int(word) <= len(self._entries):
                return int(word) - 1
            else:
                self._asking.say("Nothing is sent. " + self._review_words())
            if word == HELP:
                self._asking.help()

    def _say_review(self) -> None:
        self._asking.say("", f"Review what is sent to {safe.safe_line(self._asked.asker.label)}:")
        for number, entry in enumerate(self._entries, start=1):
            first, *rest = value_lines(entry, self._draft)
            self._asking.tell(f"  {number}. ", f"{label_of(entry)}: {first}")
            self._asking.quote(rest, indent="     ")
            for note in notes_on_sending(entry, self._draft):
                self._asking.tell("     ", note)
        self._asking.say(self._review_words())

    def _review_words(self) -> str:
        number = ", a number to change that field, < to go back" if self._entries else ""
        return f"Type send to send it{number}, !decline or !cancel."

    async def _may_go_out(self) -> bool:
        """Whether the person says so, asked once more where something looks like a secret."""
        reasons = list(doubts(self._asked, self._draft))
        if not reasons:
            return True
        self._asking.warn(*reasons)
        self._asking.say("Nothing is sent yet. Type yes to send it all the same; anything else goes back.")
        word = (await self._asking.read(decides=True)).strip().casefold()
        if word != "yes":
            return False
        for name in self._draft.stops():
            self._draft.excuse(name)
        return True


def _unescaped(line: str) -> str:
    """Without the backslash that makes a command an ordinary answer; any other is the person's own."""
    is_command = line.lstrip("\\").strip().casefold() in {*COMMANDS, *FIELD_COMMANDS, ALL}
    return line.removeprefix("\\") if is_command else line
