"""What follows an answer at a terminal, given either way: the link is opened, and a line says how it ended."""

from typing import Any

import anyio.to_thread

from askback.answers import Accepted, Answer
from askback.client import labels
from askback.client.consent import Opener
from askback.client.person import Turn, VisitAsked
from askback.client.terminal.record import by_hand, record
from askback.client.terminal.tty import Tty

GOES_ON = labels.GOES_ON.format(stop="Ctrl-C gives it up")


async def conclude(turn: Turn, answer: Answer[Any], tty: Tty, opener: Opener) -> None:
    """Where no browser opens, the link is left to be copied."""
    if not isinstance(turn.asked, VisitAsked) or not isinstance(answer, Accepted) or turn.gone is not None:
        tty.tell(record(turn, answer))
        return
    is_open = await open_link(turn.asked, opener)
    tty.tell(record(turn, answer, is_open=is_open))
    tty.say(*(() if is_open else by_hand(turn.asked)))
    if not turn.asked.is_demanded:  # else a screen follows that waits for their word
        tty.tell(GOES_ON)


async def open_link(asked: VisitAsked, opener: Opener) -> bool:
    """Whether a browser shows the page now. In a thread: it may take its time to start."""
    return await anyio.to_thread.run_sync(opener, asked.verdict)
