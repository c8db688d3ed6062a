"""A Person, who answers; the Turn in which one question is put before them; and the queue of those that wait.

Knows no wire and no screen.
"""

import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Collection, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import anyio

from askback.answers import Answer, Cancelled
from askback.client.consent import Verdict
from askback.client.forms import ReceivedForm
from askback.errors import Unanswered
from askback.model.journal import Action
from askback.protocol.revisions import Mode

VisitReply = Literal["done", "again", "cancel"]
"""What a person says after a visit: go on with the call, open the page once more, or give the call up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Which server asks. `label` is the person's own word for it; `name` is what it calls itself."""

    label: str
    name: str | None = None
    host: str | None = None
    """The host of a remote server's own address; a program on this machine has none."""
    identity: str | None = None
    """A digest of the command or address behind the label, to know the server again; None where we do not know it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedQuestion:
    """What forms and visits have in common. `message` is the server's text: a surface makes it safe to show."""

    asker: Asker
    purposes: tuple[str, ...]
    """The calls that may be asking, in our words: `tool order`. Mostly one; the wire does not always say which."""
    message: str
    key: str | None = None
    meta: Mapping[str, Any] | None = None
    question: str | None = None
    """The server's own id of the question; a copy has the same: see `askback.client.intake`."""

    @property
    def purpose(self) -> str:
        """The purposes as text to show. Not for comparisons: a name may hold the word that joins them."""
        return " or ".join(self.purposes)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormAsked(ReceivedQuestion):
    """A form as it came."""

    blank: ReceivedForm


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitAsked(ReceivedQuestion):
    """A link as it came, with our verdict. Only `verdict.href` is ever opened, and only if it is allowed."""

    url: str
    verdict: Verdict
    id: str | None = None
    is_demanded: bool = False
    """Whether the call was refused until this visit is made: then the person says when they are done, and the call is
    made again."""


Asked = FormAsked | VisitAsked


class Turn:
    """One question's turn: the question, its place among those that wait, and whether its answer is still wanted."""

    def __init__(self, asked: Asked, *, number: int = 1) -> None:
        self.asked = asked
        self.number = number
        """Counts the questions of this call: it shows a server that asks a lot."""
        self.behind = 0
        """How many more wait their turn; kept up to date while this one is shown."""
        self.by = "person"
        """On whose word the answer stands; a policy writes its file and rule here."""
        self.declines_all = False
        """Set by the person: every further question of this server is declined without being shown."""
        self.channel: str | None = None
        """The way by which it was answered; a person who states none leaves it open."""
        self.rule: str | None = None
        """The rule of a policy that has answered."""
        self.shown_at: float | None = None
        """When it was put before the person, in seconds since 1970; None where it was not shown."""
        self.gone: str | None = None
        """Why the answer is no longer wanted, as a sentence to show; what was typed stays until the person leaves."""
        self._changed = anyio.Event()

    def withdraw(self, why: str) -> None:
        """The server took the question back, or is not there any more."""
        self.gone = self.gone or why
        self.note()

    def note(self) -> None:
        """Wake the surface that shows this turn: its place or its standing has changed."""
        self._changed.set()
        self._changed = anyio.Event()

    def origin(self) -> dict[str, Any]:
        """How this was answered, for the server: nothing about the person."""
        known = {"channel": self.channel, "rule": self.rule, "shown": self.shown_at}
        return {name: value for name, value in known.items() if value is not None}

    async def changed(self) -> None:
        """Return at the next change."""
        await self._changed.wait()


def channel_of(person: object) -> str | None:
    """The way that this person states, if any."""
    channel = getattr(person, "channel", None)
    return channel if isinstance(channel, str) else None


class Person(Protocol):
    """Answers questions. Asked one turn at a time unless `shows_several`.

    `answer` returns when the person has decided: `Accepted(content)` for a form, `Accepted(None)` for a visit that
    was consented and opened. When `turn.gone` is set it may not return before the person has seen it; what it returns
    then is not sent. It is cancelled only when the caller itself gives up.

    One that states a `channel` (a word: "desk", "terminal", "policy", "script", or its own) has servers that run
    Askback told by which way their questions are answered.
    """

    @property
    def modes(self) -> frozenset[Mode]:
        """What this person can be shown; nothing else is declared to a server. Empty where nobody can answer."""
        ...

    @property
    def shows_several(self) -> bool:
        """Whether turns of different calls may be given side by side; those of one call never are."""
        ...

    async def answer(self, turn: Turn) -> Answer[Any]: ...

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        """After an opened visit, until the server says it is `finished` or the person says a word."""
        ...


NO_PERSON = (
    "The server asked a question, and this driver has nobody to put it to. Give Driver a person, or leave the "
    "call with begin(...) and take it up with resume(...) when there is an answer."
)


class Nobody:
    """Shows nothing; a host that leaves calls and takes them up again may declare `modes` all the same."""

    shows_several = False

    def __init__(self, modes: Collection[Mode] = ()) -> None:
        self.modes: frozenset[Mode] = frozenset(modes)

    async def answer(self, turn: Turn) -> Answer[Any]:
        raise Unanswered(NO_PERSON)

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        raise Unanswered(NO_PERSON)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord:
    """How a question was answered, without what was written in it."""

    asked: Asked
    action: Action
    by: str


OnAnswer = Callable[[AnswerRecord], object]
"""Hears of each question that got an answer, when it got it."""


class PersonQueue:
    """Gives a person their turns, one at a time. A person who shows several gets them as they come."""

    def __init__(self, person: Person, *, time: Callable[[], float] = time.time) -> None:
        """`time` tells in seconds since 1970 when a question was put before the person."""
        self.person, self._time = person, time
        self._door = anyio.Lock()
        self._waiting = 0
        self._later: Counter[object] = Counter()
        """Questions that enter the queue after another one of their call."""
        self._shown: dict[Turn, object] = {}

    @property
    def modes(self) -> frozenset[Mode]:
        return self.person.modes

    async def ask(self, asked: Asked) -> Answer[Any]:
        """Put one question, and return its answer."""
        return await self.put(Turn(asked))

    async def put(
        self, turn: Turn, *, beforehand: Callable[[], Answer[Any] | None] = lambda: None, call: object = None
    ) -> Answer[Any]:
        """Wait for this turn's place, then let the person answer. What was withdrawn before is never shown.

        `beforehand` gives an answer for all that wait, if the person has given one meanwhile.
        `call` stands for the call that the question belongs to, as in `behind`.
        """
        async with self._place():
            if turn.gone is not None:
                return Cancelled()
            if (found := beforehand()) is not None:
                return found
            self._shown[turn] = call
            turn.channel, turn.shown_at = channel_of(self.person), self._time()
            self._count_waiting()
            try:
                return await self.person.answer(turn)
            finally:
                del self._shown[turn]

    @contextmanager
    def behind(self, call: object, count: int = 1) -> Generator[None]:
        """Inside the block, so many questions wait for another one of their call, and are not in the queue yet."""
        self._later[call] += count
        self._count_waiting()
        try:
            yield
        finally:
            self._later[call] -= count
            self._later += Counter()
            self._count_waiting()

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        """After an opened visit: the person's word, or `done` when the server has said so already."""
        async with self._place():
            return "done" if finished.is_set() else await self.person.wait(asked, finished)

    @asynccontextmanager
    async def _place(self) -> AsyncGenerator[None]:
        if self.person.shows_several:
            yield
            return
        self._waiting += 1
        self._count_waiting()
        try:
            await self._door.acquire()
        finally:
            self._waiting -= 1
            self._count_waiting()
        try:
            yield
        finally:
            self._door.release()

    def _count_waiting(self) -> None:
        """Tell the turns that are shown how many wait behind them: side by side, only questions of their call."""
        everybody = self._waiting + self._later.total()
        for turn, call in self._shown.items():
            behind = self._later[call] if self.person.shows_several else everybody
            if turn.behind != behind:
                turn.behind = behind
                turn.note()
