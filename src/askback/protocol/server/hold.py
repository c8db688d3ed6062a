"""Holding a round while the person is on a page: for how long, what the client hears meanwhile, and what it puts up
with. The last is in no capability, only in the code of clients."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import anyio
from mcp.shared.dispatcher import DispatchContext

from askback.errors import AskbackError
from askback.model.visit import Ending
from askback.runtime.carrier import Ended, Pause

PROGRESS_INTERVAL = 5.0
"""Seconds between two progress notifications: often enough that no client takes the server for dead."""

USUAL_ROUNDS = 10
"""After so many results with questions the SDKs for Python, TypeScript, Go and C# give a call up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientPatience:
    """How a client takes it that a person is not done yet."""

    max_rounds: int | None = USUAL_ROUNDS
    """None: it counts time, not rounds, so its person need not be asked once more to keep the call alive."""
    takes_state_alone: bool = True
    """Whether it comes back by itself when nothing is asked."""

    def pause(self, rounds: int) -> Pause:
        """What to do about a visit that is still open, in a call that has taken so many rounds."""
        if self.max_rounds is not None and rounds >= self.max_rounds:
            return Pause.GIVE_UP
        is_last_chance = self.max_rounds is not None and rounds == self.max_rounds - 1
        return Pause.ASK_AGAIN if is_last_chance or not self.takes_state_alone else Pause.END_ROUND


ASKBACK = "askback"
"""How our own driver calls itself; it bounds a call in time. One that lies makes its own calls fail, and no others."""


def patience_of(name: str, *, without_polling: frozenset[str]) -> ClientPatience:
    """What this client puts up with; clients in `without_polling` come back only where something is asked.

    LangChain is one of these, and calls itself what its transport does: only its operator can name it.
    """
    if name in without_polling:
        return ClientPatience(takes_state_alone=False)
    return ClientPatience(max_rounds=None) if name == ASKBACK else ClientPatience()


class RoundHold(NamedTuple):
    """How this call may be held while a person is on a page."""

    seconds: float
    rounds: int
    """How many this call has taken."""
    patience: ClientPatience
    channel: DispatchContext[Any] | None
    """Where the client asked to hear how it goes on."""


class HoldProgress:
    """Progress of one request, whatever it is held for: the numbers of one token only grow."""

    def __init__(self) -> None:
        self._begun: float | None = None
        self._said = -1.0

    async def report(self, channel: DispatchContext[Any], seconds: float) -> None:
        """Report until cancelled."""
        now = anyio.current_time()
        begun = self._begun = now if self._begun is None else self._begun
        until = round(now - begun + seconds, 1)
        while True:
            passed = round(anyio.current_time() - begun, 1)
            if passed > self._said:
                self._said = passed
                await channel.progress(passed, until, "Waiting for the person to finish on the page.")
            await anyio.sleep(PROGRESS_INTERVAL)


async def hold(
    ended: Ended, seconds: float, channel: DispatchContext[Any] | None, progress: HoldProgress
) -> Ending | None:
    """Wait at most so many seconds for the end of a visit, and report progress to a client that wants it."""
    if channel is None:
        return await ended(seconds)
    ending: Ending | None = None
    failed: AskbackError | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(progress.report, channel, seconds)
        try:
            ending = await ended(seconds)
        except AskbackError as error:  # raised after the group, which would wrap it up
            failed = error
        group.cancel_scope.cancel()
    if failed is not None:
        raise failed
    return ending
