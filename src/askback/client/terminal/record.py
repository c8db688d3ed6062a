"""What follows an answer at a terminal: the link is opened, and one line that stays readable says how it ended."""

from typing import Any

import anyio.to_thread

from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.client import labels
from askback.client.consent import Opener
from askback.client.person import Asked, FormAsked, Turn, VisitAsked
from askback.client.terminal.tty import Tty
from askback.model import safe
from askback.model.cells import cut

MAX_MESSAGE_WIDTH = 40
"""Cells of the question in its record: enough to know it by."""


def describe_question(asked: Asked) -> str:
    """Who asked, and what, on one line."""
    label = safe.safe_line(asked.asker.label)
    if isinstance(asked, VisitAsked):
        return f"{label} asked to visit {safe.safe_line(asked.verdict.host or asked.url, 80)}"
    first, *rest = asked.message.strip().split("\n", 1)
    message = safe.safe_line(first) + ("…" if rest else "")
    return f"{label} asked {safe.quote_safely(cut(message, MAX_MESSAGE_WIDTH))}"


def describe_end(turn: Turn, answer: Answer[Any], *, is_open: bool) -> str:
    """What became of a question."""
    if turn.gone is not None:
        return f"not answered. {safe.safe_line(turn.gone)}"
    match answer:
        case Accepted() if isinstance(turn.asked, FormAsked):
            return "sent"
        case Accepted():
            return "opened in the browser" if is_open else "agreed, but no browser opens here"
        case Declined():
            return "declined, and so will be all that this server asks" if turn.declines_all else "declined"
        case Cancelled():
            return "cancelled"


def link_to_copy(asked: VisitAsked) -> tuple[str, str]:
    """Where no browser opens: the link to copy, whole and alone on its line."""
    return "Open it by hand:", safe.safe_line(asked.verdict.href, len(asked.verdict.href))


def clock_time(seconds: float) -> str:
    """Elapsed, as a clock shows it."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02}"


GOES_ON = labels.GOES_ON.format(stop="Ctrl-C gives it up")


async def conclude(turn: Turn, answer: Answer[Any], tty: Tty, opener: Opener) -> None:
    """Open a link that was agreed to, and leave one line behind; where no browser opens, also the link to copy."""
    asked = turn.asked
    is_agreed = isinstance(answer, Accepted) and turn.gone is None
    visit = asked if is_agreed and isinstance(asked, VisitAsked) else None
    is_open = visit is not None and await open_link(visit, opener)
    tty.tell(f"{describe_question(asked)}: {describe_end(turn, answer, is_open=is_open)}")
    if visit is not None and not is_open:
        tty.say(*link_to_copy(visit))
    if visit is not None and not visit.is_demanded:  # else a screen follows that waits for their word
        tty.tell(GOES_ON)


async def open_link(asked: VisitAsked, opener: Opener) -> bool:
    """Whether a browser shows the page now. In a thread: it may take its time to start."""
    return await anyio.to_thread.run_sync(opener, asked.verdict)
