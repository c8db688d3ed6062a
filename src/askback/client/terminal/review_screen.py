"""The screens before a form is sent: everything once more, and where there is reason to, one more time."""

from collections.abc import Iterator
from typing import Any

from askback.answers import Accepted
from askback.client import labels
from askback.client.forms import Draft, FormEntry
from askback.client.person import FormAsked
from askback.client.terminal.editors import INDENT
from askback.client.terminal.layout import BOLD, SPARE_COLUMNS, Body, Row, Size, text_rows, warning_rows
from askback.client.terminal.question_screen import Action, Next, QuestionScreen
from askback.client.terminal.screen_app import LeaveScreen
from askback.client.terminal.values import (
    key_warning,
    label_of,
    notes_on_change,
    notes_on_sending,
    value_lines,
)
from askback.model import safe
from askback.model.cells import pad, width_of


class ReviewScreen(QuestionScreen):
    """Everything once more before it is sent, and what is not as it came."""

    def __init__(self, fill: QuestionScreen, form: FormAsked, draft: Draft) -> None:
        super().__init__(fill.turn)
        self._fill = fill
        self.form = form
        self.draft = draft
        self._rows: dict[int, list[Row]] = {}
        """By the width of the window: a long letter is broken into lines once, not at every key."""

    def status(self) -> tuple[str, ...]:
        return (*super().status(), "Up Down: scroll")

    def actions(self) -> list[Action]:
        return [
            Action(word=labels.SEND, act=self._send),
            Action(word=labels.BACK, key="escape", act=lambda: self._fill),
        ]

    def words(self) -> list[str]:
        """The question was read on the screen before; here it is about the answer."""
        return []

    def above(self, size: Size) -> list[Row]:
        title = f"Review what is sent to {safe.safe_line(self.asked.asker.label)}"
        return [*text_rows(title, size.columns, style=BOLD), *([] if size.is_low else [[]])]

    def body(self, size: Size) -> Body:
        if size.columns not in self._rows:
            self._rows[size.columns] = list(review_rows(self.draft, size.columns)) or nothing_to_fill_in(size)
        return Body(rows=self._rows[size.columns])

    def typed(self, size: Size) -> list[Row]:
        return self._fill.typed(size)

    def _send(self) -> Next:
        reasons = list(doubts(self.form, self.draft))
        return ConfirmScreen(self, reasons) if reasons else leave_with_answer(self.draft)


class ConfirmScreen(QuestionScreen):
    """One more confirmation, where something looks like a secret. Enter goes back."""

    def __init__(self, review: ReviewScreen, reasons: list[str]) -> None:
        super().__init__(review.turn)
        self._review = review
        self._reasons = reasons

    def actions(self) -> list[Action]:
        return [
            Action(word=labels.BACK, key="escape", act=lambda: self._review),
            Action(word=labels.SEND_ANYWAY, act=self._send),
        ]

    def words(self) -> list[str]:
        return []

    def above(self, size: Size) -> list[Row]:
        title = text_rows("Are you sure? Nothing is sent yet.", size.columns, style=BOLD)
        return [*title, *([] if size.is_low else [[]])]

    def body(self, size: Size) -> Body:
        rows = [row for reason in self._reasons for row in [*warning_rows(reason, size.columns), []]]
        return Body(rows=rows)

    def typed(self, size: Size) -> list[Row]:
        return self._review.typed(size)

    def _send(self) -> Next:
        draft = self._review.draft
        for name in draft.stops():
            draft.excuse(name)
        return leave_with_answer(draft)


def leave_with_answer(draft: Draft) -> LeaveScreen[Any]:
    """The last screen is left with everything that is filled in."""
    return LeaveScreen(Accepted(draft.content()))


def doubts(asked: FormAsked, draft: Draft) -> Iterator[str]:
    """Why the person is asked once more before this goes out."""
    given = [entry for entry in asked.blank.entries if draft.value(entry.name) is not None]
    suspected = [entry for entry in given if entry.suspicion is not None]
    for entry in suspected:
        yield f"{label_of(entry)}: {entry.suspicion}"
    whole = asked.blank.suspicion_of(asked.message)
    if not suspected and whole and any(entry.field.is_typed for entry in given):
        yield whole
    stops = draft.stops()
    yield from (key_warning(entry, stops[entry.name]) for entry in given if entry.name in stops)


def review_rows(draft: Draft, columns: int, *, goes_out: bool = True) -> Iterator[Row]:
    """Each value in full, with a word where it differs from the form as it came, or from what goes out."""
    width = label_width(draft.blank.entries, columns)
    for entry in draft.blank.entries:
        before, hang = f"   {pad(label_of(entry), width)}  ", " " * (width + 5)
        if columns < SPARE_COLUMNS:
            yield from text_rows(label_of(entry), columns)
            before = hang = "   "
        # A default has the server's lines: behind a bar none of them passes for one of ours.
        bar = hang[:-2] + "│ "
        for place, line in enumerate(value_lines(entry, draft)):
            yield from text_rows(line, columns, before=before if place == 0 else bar, after=bar)
        for note in (notes_on_sending if goes_out else notes_on_change)(entry, draft):
            yield from text_rows(note, columns, before=hang + "~ ", after=hang + "  ", style=BOLD)


def label_width(entries: tuple[FormEntry, ...], columns: int) -> int:
    """Of the column of labels: the longest, but never more than a third of the screen."""
    longest = max((width_of(label_of(entry)) for entry in entries), default=0)
    return min(longest, columns // 3)


def nothing_to_fill_in(size: Size) -> list[Row]:
    return text_rows(labels.NOTHING_TO_FILL_IN, size.columns, before=INDENT)
