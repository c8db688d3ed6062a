"""What a visit stands on: its call, and the conversation that it is part of."""

from collections.abc import Awaitable, Callable
from typing import Any, NoReturn, Protocol

from askback.answers import Answer
from askback.model.events import EventRecorder
from askback.model.visit import Ending
from askback.runtime.carrier import Carrier, Pause, PlacedQuestion
from askback.runtime.visits import VisitStore


class Grounds(Protocol):
    """What a visit needs to know of its call."""

    @property
    def visits(self) -> VisitStore: ...

    @property
    def carrier(self) -> Carrier: ...

    @property
    def owner(self) -> str:
        """The caller, as the vault and the pages know them; empty where nobody can tell."""
        ...

    @property
    def holder(self) -> str:
        """Whose share of the store this call takes: its caller's, or its session's; empty where neither is known."""
        ...

    @property
    def server_name(self) -> str: ...

    @property
    def client_name(self) -> str: ...

    @property
    def think_time(self) -> float:
        """Seconds for which a call may come back by itself."""
        ...

    def clock(self) -> float: ...

    def visit_seconds(self, asked: float | None) -> float:
        """How long a visit may take, where its author asked for that, or for nothing in particular."""
        ...

    def scope(self, place: str) -> str | None:
        """The same for the same question in the same call of the same caller, made anew; None for callers unknown."""
        ...

    def notify_when_ended(self, id: str, *, until: float) -> None:
        """Nobody waits for this visit; its client is told when it ends, if it does so by then."""
        ...

    @property
    def witness(self) -> EventRecorder | None:
        """Who is told what happens; None where nobody keeps a record."""
        ...

    async def call_id(self) -> str:
        """The name of this call on record; empty where there is none."""
        ...


class Talk(Protocol):
    """What a visit needs of its conversation."""

    @property
    def is_left(self) -> bool:
        """Whether the body is being left, to be run again: what is cancelled then comes back."""
        ...

    async def ask(self, put: PlacedQuestion) -> Answer[Any]: ...

    def reopen(self, put: PlacedQuestion) -> None: ...

    async def wait_outside(self, waiting: Callable[[], Awaitable[Ending | Pause]]) -> Ending | Pause: ...

    async def pause(self) -> NoReturn: ...
