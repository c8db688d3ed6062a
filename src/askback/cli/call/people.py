"""Who answers on this command line: the terminal, the desk, a policy before them, or nobody, and then why."""

import sys
from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, TextIO

import anyio
from anyio import to_thread

from askback.answers import Answer
from askback.cli.call.options import ConnectOptions
from askback.cli.call.status_line import StatusLine
from askback.cli.printer import is_terminal, print_note
from askback.client.consent import judge, open_in_browser
from askback.client.desk import DeskPerson
from askback.client.person import Mode, Person, Turn, VisitAsked, VisitReply
from askback.client.policy import Policy, PolicyPerson, load_policy
from askback.client.terminal import TerminalPerson
from askback.model.safe import safe_line

NOBODY = (
    "Nobody can be asked here: {why}. Run this in a terminal, add --desk to answer in a browser, or --policy FILE "
    "to answer by rules you wrote."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerer:
    """Who is there. `own` answers our own questions, on which no policy has a say."""

    person: Person | None
    own: Person | None
    nobody: str

    @property
    def reason(self) -> str | None:
        """Why nobody can be asked, if so; a policy is nobody."""
        return self.nobody if self.own is None else None


class PersonWrapper:
    """A person as they are, for those who stand beside them and change one thing."""

    def __init__(self, person: Person) -> None:
        self._person = person

    @property
    def modes(self) -> frozenset[Mode]:
        return self._person.modes

    @property
    def shows_several(self) -> bool:
        return self._person.shows_several

    async def answer(self, turn: Turn) -> Answer[Any]:
        return await self._person.answer(turn)

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        return await self._person.wait(asked, finished)


class PersonBesideStatus(PersonWrapper):
    """A person before whom the line of a working server falls silent; one at a desk is told to look there."""

    def __init__(self, person: Person, working: StatusLine | None, *, is_elsewhere: bool) -> None:
        super().__init__(person)
        self._working, self._is_elsewhere = working, is_elsewhere

    async def answer(self, turn: Turn) -> Answer[Any]:
        with self._hushed():
            if self._is_elsewhere:
                print_note(f"{safe_line(turn.asked.asker.label)} asks on the desk.")
            return await super().answer(turn)

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        with self._hushed():
            return await super().wait(asked, finished)

    def _hushed(self) -> AbstractContextManager[None]:
        return nullcontext() if self._working is None else self._working.pause()


@asynccontextmanager
async def open_answerer(
    connecting: ConnectOptions, working: StatusLine | None = None
) -> AsyncGenerator[Answerer]:
    """Whoever the options name, for the length of the block."""
    policy = None if connecting.policy is None else load_policy(connecting.policy)
    if connecting.desk:
        async with DeskPerson() as desk:
            await _announce(desk, opens_browser=connecting.opens_browser)
            person = PersonBesideStatus(desk, working, is_elsewhere=True)
            yield _with_policy(person, policy, why="")
    else:
        terminal = TerminalPerson(plain=connecting.plain, output=_screen())
        person = PersonBesideStatus(terminal, working, is_elsewhere=False) if terminal.modes else None
        yield _with_policy(person, policy, why=_why())


def _with_policy(own: Person | None, policy: Policy | None, *, why: str) -> Answerer:
    person = own if policy is None else PolicyPerson(policy, own)
    return Answerer(person=person, own=own, nobody=NOBODY.format(why=why))


def _why() -> str:
    """Which of the two ends is missing."""
    return "there is no terminal to ask on" if is_terminal(sys.stdin) else "standard input is not a terminal"


def _screen() -> TextIO | None:
    """Questions stay on the screen where the result goes elsewhere."""
    return sys.stderr if not is_terminal(sys.stdout) and is_terminal(sys.stderr) else None


async def _announce(desk: DeskPerson, *, opens_browser: bool) -> None:
    # What is printed only this person sees; a browser keeps what it opens in its history.
    is_open = opens_browser and await to_thread.run_sync(open_in_browser, judge(desk.opening_url()))
    print_note(f"The desk is {'open' if is_open else 'ready: open it'} at {desk.url}")
