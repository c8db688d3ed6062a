"""How much one server may ask, how fast, and how long it may work. Pure: the time comes from outside."""

import math
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from askback.client.person import Asked, FormAsked
from askback.errors import TooManyQuestions

Clock = Callable[[], float]
"""Seconds on a clock that never goes back."""
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionLimits:
    """What a person is spared. The defaults are far above what an honest call asks."""

    questions: int = 100
    """In one call."""
    repeats: int = 10
    """Of the very same question in one call: a person who gave ten answers to it has no other one."""
    burst: int = 20
    """Questions that one server may put at once; a long form split up is still let through as it comes."""
    per_second: float = 2.0
    """Questions after that, faster than anybody reads; those that come sooner wait."""
    requests: int = 100
    """For roots or a model in one call, which go to callbacks; each may cost money, and no person slows them down."""
    visits: int = 5
    """Times that one call may be refused until a link was visited."""
    seconds: float = 3600.0
    """That a server may work on one call in all; what people take to answer is not counted."""


LIMITS = QuestionLimits()


class TokenBucket:
    """A rate: so many at once, and then so many a second."""

    def __init__(self, limits: QuestionLimits, clock: Clock) -> None:
        self._limits, self._clock = limits, clock
        self._level = float(limits.burst)
        self._since = clock()

    def take(self) -> float:
        """Take a place, and learn how many seconds it is still away."""
        now = self._clock()
        self._level = min(self._limits.burst, self._level + (now - self._since) * self._limits.per_second) - 1
        self._since = now
        return max(0.0, -self._level / self._limits.per_second)


class QuestionTally:
    """The questions of one call, counted."""

    def __init__(self, limits: QuestionLimits) -> None:
        self._limits = limits
        self._seen: Counter[str] = Counter()
        self.questions = self._requests = 0

    def count(self, asked: Asked) -> int:
        """The number of this question; raises where it is one too many (T20)."""
        self.questions += 1
        same = _gist(asked)
        self._seen[same] += 1
        if self.questions > self._limits.questions:
            self._refuse(f"The server asked more than {self._limits.questions} questions in one call")
        if self._seen[same] > self._limits.repeats:
            self._refuse(f"The server asked the same question more than {self._limits.repeats} times")
        return self.questions

    def count_request(self) -> None:
        """One that no person is asked; raises where it is one too many (T20)."""
        self._requests += 1
        if self._requests > self._limits.requests:
            self._refuse(
                f"The server wanted roots or a model more than {self._limits.requests} times in one call"
            )

    def forgive(self, asked: Asked) -> None:
        """The person wants this one once more; that is not the server's doing."""
        self.questions -= 1
        self._seen[_gist(asked)] -= 1

    def _refuse(self, problem: str) -> None:
        raise TooManyQuestions(asked=self.questions, problem=problem)


def _gist(asked: Asked) -> str:
    """What makes two questions the same: their words. A link may carry an id that is new each time."""
    if isinstance(asked, FormAsked):
        return repr((asked.message, [entry.name for entry in asked.blank.entries]))
    return repr((asked.message, asked.verdict.host))


class WorkTimer:
    """How long a server has worked on a call, without the time of people."""

    def __init__(self, *, patience: float | None, limits: QuestionLimits, clock: Clock) -> None:
        self._patience = math.inf if patience is None else patience
        self._most, self._clock = limits.seconds, clock
        self._worked = 0.0
        self._since = self._sign = clock()
        self._thinking = 0
        self.changed: Callable[[], None] = lambda: None
        """Called whenever `left` became something else than less by the time that passed."""

    def left(self) -> float:
        """Seconds until the server has had its time; without end while a person is asked."""
        if self._thinking:
            return math.inf
        now = self._clock()
        return min(self._patience - (now - self._sign), self._most - self._worked - (now - self._since))

    def touch(self) -> None:
        """A sign of life."""
        self._sign = self._clock()
        self.changed()

    @contextmanager
    def person(self) -> Generator[None]:
        """While a person is asked, nothing runs."""
        if not self._thinking:
            self._worked += self._clock() - self._since
        self._thinking += 1
        self.changed()
        try:
            yield
        finally:
            self._thinking -= 1
            self._since = self._sign = self._clock()
            self.changed()
