"""The screens of a visit: who, where and why before anything opens, the wait after it, and the line that is left."""

from collections.abc import Callable
from typing import Any

import anyio.to_thread

from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.client import labels
from askback.client.consent import Opener
from askback.client.person import Asked, FormAsked, Turn, VisitAsked, VisitReply
from askback.client.terminal.layout import (
    BOLD,
    PLAIN,
    ROOMY_COLUMNS,
    SPARE_COLUMNS,
    Body,
    Button,
    Page,
    Row,
    Size,
    at_most,
    link_rows,
    text_rows,
    warning_rows,
)
from askback.client.terminal.question_screen import Action, QuestionScreen
from askback.client.terminal.screen_app import BaseScreen, LeaveScreen
from askback.client.terminal.tty import Tty
from askback.model import safe
from askback.model.cells import ELLIPSIS, cut

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


DOMAIN = "bold underline"
"""Stands out by weight, by a line and by brackets: on every terminal by one of them at least."""
WHERE = " where  "

RETRIED = {None: labels.RETRY_MEANS, True: labels.OPENED_AGAIN, False: labels.NO_BROWSER}
"""What is said of Retry: what it does, and once it was pressed, what it did."""


class ConsentScreen(QuestionScreen):
    """A link before it is opened. The focus is on Decline, and Enter never opens."""

    def __init__(self, turn: Turn, asked: VisitAsked) -> None:
        super().__init__(turn)
        self._shown = labels.view_visit(asked)
        self._may_open = asked.verdict.allowed

    def status(self) -> tuple[str, ...]:
        if self._may_open:
            return ("Ctrl-O alone opens it, Enter does not", "Up Down: scroll")
        return ("This link is never opened", "Up Down: scroll")

    def actions(self) -> list[Action]:
        return [
            Action(word=labels.OPEN, key="c-o", act=lambda: LeaveScreen(Accepted(None)), takes_focus=False)
        ][: self._may_open]

    def above(self, size: Size) -> list[Row]:
        """Three lines; on the second the domain that somebody registered stands out, in brackets too."""
        who, why = self._who_and_why(size)
        return _where(self._shown, size) if size.is_low else [*who, *_where(self._shown, size), *why]

    def _who_and_why(self, size: Size) -> tuple[list[Row], list[Row]]:
        who = text_rows(self._shown.who, size.columns, before=" who    ")
        return at_most(who, 2), [[(PLAIN, cut(f" why    {self._shown.why}", size.columns))]]

    def body(self, size: Size) -> Body:
        who, why = self._who_and_why(size)
        rows: list[Row] = [*who, *why] if size.is_low else []
        if self._shown.refusal is not None:
            rows += [*warning_rows(self._shown.refusal, size.columns), []]
        for warning in self._shown.warnings:
            rows += [*warning_rows(warning, size.columns), []]
        if self._shown.note:
            rows += [*text_rows(self._shown.note, size.columns), []]
        rows += text_rows("the whole link:", size.columns)
        rows += link_rows(self._shown.url, size.columns)
        return Body(rows=rows)


def _where(shown: labels.VisitView, size: Size) -> list[Row]:
    """On one row, or cut at its left: the registered domain stands at the right, and the whole link is below."""
    before, domain, after = shown.where
    if not domain:
        return text_rows("nowhere that a browser could go", size.columns, before=WHERE)
    room = size.columns - len(WHERE) - len(domain) - len(after) - 2
    if len(before) > room:
        before = ELLIPSIS + before[len(before) - max(0, room - 1) :]
    if room < 1:
        return text_rows(f"{before}[{domain}]{after}", size.columns, before=WHERE, style=BOLD)
    return [[(PLAIN, f"{WHERE}{before}["), (DOMAIN, domain), (PLAIN, f"]{after}")]]


class WaitScreen(BaseScreen[VisitReply]):
    """A few lines below the record, with the time that has gone by."""

    def __init__(
        self,
        asked: VisitAsked,
        finished: anyio.Event,
        elapsed: Callable[[], float],
        reopen: Callable[[], Any],
    ) -> None:
        super().__init__()
        self._asked, self._finished = asked, finished
        self._elapsed, self._reopen = elapsed, reopen
        self.has_opened: bool | None = None
        """Whether the last Retry opened the page; None before the first."""

    def page(self, size: Size) -> Page:
        label = safe.safe_line(self._asked.asker.label)
        words = (labels.DONE, "Enter"), (labels.RETRY, "Ctrl-O"), (labels.CANCEL, "Ctrl-C")
        # Without a name no word of the server's can mean this visit; and with one, it may still not come.
        hears = ", or when it learns that itself" if self._asked.id is not None else ""
        sentences = (f"{label} goes on when you say that you are done{hears}.", RETRIED[self.has_opened])
        return Page(
            bar=(f"Waiting for {label}", clock_time(self._elapsed())),
            body=Body(rows=[row for one in sentences for row in text_rows(one, size.columns)]),
            buttons=[Button(word=word, key=key) for word, key in words],
        )

    def wants(self, key: str) -> bool:
        return key in {"enter", "c-o", "c-c"}

    def press(self, key: str) -> LeaveScreen[VisitReply] | None:
        match key:
            case "enter":
                return LeaveScreen("done")
            case "c-c":
                return LeaveScreen("cancel")
            case _:
                self._reopen()
                return None

    def at_end(self) -> VisitReply:
        return "cancel"

    def on_change(self) -> LeaveScreen[VisitReply] | None:
        return LeaveScreen("done") if self._finished.is_set() else None


def rows_of_wait(columns: int) -> int:
    """How high the wait is, by how wide."""
    return 5 if columns >= ROOMY_COLUMNS else 6 if columns >= SPARE_COLUMNS else 10
