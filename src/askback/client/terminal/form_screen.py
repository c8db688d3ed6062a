"""The screens of a form: filled in, reviewed, confirmed where there is reason to, or refused."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from askback.answers import Accepted
from askback.client import labels
from askback.client.forms import Draft, FormEntry
from askback.client.person import FormAsked, Turn
from askback.client.terminal.editors import INDENT, Editor, editor_of
from askback.client.terminal.layout import (
    BOLD,
    PLAIN,
    SPARE_COLUMNS,
    Body,
    Row,
    Size,
    at_most,
    server_rows,
    text_rows,
    warning_rows,
)
from askback.client.terminal.question_screen import Action, Next, NoticeScreen, QuestionScreen
from askback.client.terminal.screen_app import LeaveScreen
from askback.model import safe
from askback.model.cells import cut, pad, width_of


def review_screen(fill: QuestionScreen, form: FormAsked, draft: Draft) -> QuestionScreen:
    """Everything once more before it is sent, and what is not as it came."""

    @cache  # a long letter is broken into lines once for each width, not at every key
    def rows(columns: int) -> list[Row]:
        return list(review_rows(draft, columns)) or nothing_to_fill_in(columns)

    def send() -> Next:
        reasons = list(doubts(form, draft))
        return confirm_screen(screen, draft, reasons) if reasons else leave_with_answer(draft)

    screen = NoticeScreen(
        fill.turn,
        lambda size: rows(size.columns),
        title=f"Review what is sent to {safe.safe_line(form.asker.label)}",
        actions=lambda: [
            Action(word=labels.SEND, act=send),
            Action(word=labels.BACK, key="escape", act=lambda: fill),
        ],
        before=fill,
        scrolls=True,
    )
    return screen


def confirm_screen(review: QuestionScreen, draft: Draft, reasons: list[str]) -> QuestionScreen:
    """One more confirmation, where something looks like a secret. Enter goes back."""

    def send() -> Next:
        for name in draft.stops():
            draft.excuse(name)
        return leave_with_answer(draft)

    return NoticeScreen(
        review.turn,
        lambda size: [row for reason in reasons for row in [*warning_rows(reason, size.columns), []]],
        title="Are you sure? Nothing is sent yet.",
        actions=lambda: [
            Action(word=labels.BACK, key="escape", act=lambda: review),
            Action(word=labels.SEND_ANYWAY, act=send),
        ],
        before=review,
    )


def leave_with_answer(draft: Draft) -> LeaveScreen[Any]:
    """The last screen is left with everything that is filled in."""
    return LeaveScreen(Accepted(draft.content()))


def doubts(asked: FormAsked, draft: Draft) -> Iterator[str]:
    """Why the person is asked once more before this goes out."""
    given = [entry for entry in asked.blank.entries if draft.value(entry.name) is not None]
    suspected = [entry for entry in given if entry.suspicion is not None]
    for entry in suspected:
        yield f"{labels.label_of(entry)}: {entry.suspicion}"
    whole = asked.blank.suspicion_of(asked.message)
    if not suspected and whole and any(entry.field.is_typed for entry in given):
        yield whole
    stops = draft.stops()
    yield from (labels.key_warning(entry, stops[entry.name]) for entry in given if entry.name in stops)


def review_rows(draft: Draft, columns: int, *, goes_out: bool = True) -> Iterator[Row]:
    """Each value in full, with a word where it differs from the form as it came, or from what goes out."""
    width = label_width(draft.blank.entries, columns)
    for entry in draft.blank.entries:
        before, hang = f"   {pad(labels.label_of(entry), width)}  ", " " * (width + 5)
        if columns < SPARE_COLUMNS:
            yield from text_rows(labels.label_of(entry), columns)
            before = hang = "   "
        # A default has the server's lines: behind a bar none of them passes for one of ours.
        bar = hang[:-2] + "│ "
        for place, line in enumerate(labels.value_lines(entry, draft)):
            yield from text_rows(line, columns, before=before if place == 0 else bar, after=bar)
        for note in (labels.notes_on_sending if goes_out else labels.notes_on_change)(entry, draft):
            yield from text_rows(note, columns, before=hang + "~ ", after=hang + "  ", style=BOLD)


def label_width(entries: tuple[FormEntry, ...], columns: int) -> int:
    """How wide the column of labels is: the longest label, but never more than a third of the screen."""
    longest = max((width_of(labels.label_of(entry)) for entry in entries), default=0)
    return min(longest, columns // 3)


def nothing_to_fill_in(columns: int) -> list[Row]:
    return text_rows(labels.NOTHING_TO_FILL_IN, columns, before=INDENT)


MAX_HINT_ROWS = 3
MAX_HINT_LENGTH = 80
"""Characters that surely fit into those rows, in 40 columns too; a longer hint is shown with the message as well."""
ROUND = ("Tab: next", "Shift-Tab: back")
CHOOSING = ("Up Down Space: choose", *ROUND, "letters: find")
STATUS = {
    "text": (*ROUND, "Ctrl-N: new line"),
    "choice": CHOOSING,
    "boolean": CHOOSING,
    "choices": ("Space: tick", "Up Down or letters: find", *ROUND),
}


def form_screen(turn: Turn, asked: FormAsked) -> QuestionScreen:
    """The first screen of a form."""
    if (why := asked.blank.refusal) is not None:
        only = "It can only be declined or cancelled."
        return NoticeScreen(
            turn,
            lambda size: [
                *warning_rows(why, size.columns),
                *text_rows(only, size.columns, before=INDENT),
                *_left_out(asked, size),
            ],
        )
    return FillScreen(turn, asked, Draft(asked.blank))


class FillScreen(QuestionScreen):
    """All fields, one under the cursor opened up."""

    def __init__(self, turn: Turn, asked: FormAsked, draft: Draft) -> None:
        super().__init__(turn)
        self.form, self.draft, self.entries = asked, draft, asked.blank.entries
        self.fields = len(self.entries)
        self._editors = [editor_of(entry, draft) for entry in self.entries]
        self._left: set[int] = set()
        self._complaint = ""
        self._settle()

    def status(self) -> tuple[str, ...]:
        if self._complaint:
            return (self._complaint,)
        editor = self._editor
        return super().status() if editor is None else STATUS.get(editor.entry.kind, ROUND)

    @property
    def _editor(self) -> Editor | None:
        return self._editors[self.focus] if self.focus < self.fields else None

    def actions(self) -> list[Action]:
        return [Action(word=labels.REVIEW, key="c-r", act=self._review)]

    def wants(self, key: str) -> bool:
        editor = self._editor
        if editor is None:
            return super().wants(key)
        return editor.wants(key) or (not editor.keeps(key) and super().wants(key))

    def press(self, key: str) -> Next:
        self._complaint = ""
        editor = self._editor
        if editor is not None and editor.wants(key):
            editor.press(key)
            return None
        return super().press(key)

    def paste(self, text: str) -> None:
        if self._editor is not None:
            self._editor.paste(text)

    def press_enter(self) -> Next:
        if self._editor is None:
            return super().press_enter()
        self.move(1)
        return None

    def move(self, direction: int) -> None:
        if self._editor is not None:
            self._editor.leave()
            self._left.add(self.focus)
        super().move(direction)
        self._settle()

    def _settle(self) -> None:
        self.buffer = None if self._editor is None else self._editor.buffer

    def _review(self) -> Next:
        problems = self.draft.problems()
        if not problems:
            self.is_new = False
            return review_screen(self, self.form, self.draft)
        self._left = set(range(self.fields))
        self.focus = next(place for place, entry in enumerate(self.entries) if entry.name in problems)
        self._settle()
        count = len(problems)
        self._complaint = (
            "One field still needs something." if count == 1 else f"{count} fields need something."
        )
        return None

    def above(self, size: Size) -> list[Row]:
        """With one line in front of everything, wherever something looks like a secret."""
        is_suspect = self.form.blank.suspicion_of(self.form.message) is not None
        banner = warning_rows(labels.BANNER, size.columns) if is_suspect else []
        return [*super().above(size), *(banner[:1] if size.is_low else banner)]

    def words(self) -> list[str]:
        """A long hint does not fit below its label: it is read where the message is."""
        hint = _hint(self._editor.entry) if self._editor is not None else []
        is_long = len(hint) > MAX_HINT_ROWS or sum(map(len, hint)) > MAX_HINT_LENGTH
        return [*super().words(), "", *hint] if is_long else super().words()

    def typed(self, size: Size) -> list[Row]:
        return list(review_rows(self.draft, size.columns, goes_out=False))

    def body(self, size: Size) -> Body:
        width = label_width(self.entries, size.columns)
        rows: list[Row] = []
        first, cursor, last = 0, None, 0
        for place, entry in enumerate(self.entries):
            if place != self.focus:
                is_wrong = place in self._left and self.draft.problem(entry.name) is not None
                text = f"{pad(labels.label_of(entry), width)}  {labels.value_line(entry, self.draft)}"
                rows.append([(PLAIN, cut((" ! " if is_wrong else "   ") + text, size.columns))])
                continue
            first = len(rows)
            block, (row, column) = self._open(place, entry, size)
            cursor = (first + row, column)
            rows += block
            last = len(rows) - 1
            rows += [] if size.is_low else [[]]
        if self._editor is None:
            first = last = len(rows) - 1
        rows += _left_out(self.form, size)
        return Body(
            rows=rows or nothing_to_fill_in(size.columns),
            first=max(0, first),
            last=max(0, last),
            cursor=cursor,
        )

    def _open(self, place: int, entry: FormEntry, size: Size) -> tuple[list[Row], tuple[int, int]]:
        count = f"  {place + 1} of {self.fields} " if self.fields > 1 else ""
        title = cut(f" > {labels.label_of(entry)}", size.columns - width_of(count))
        gap = " " * (size.columns - width_of(title) - width_of(count))
        rows: list[Row] = [[(BOLD, title), (PLAIN, gap + count)]]
        hint = at_most(server_rows(_hint(entry), size.columns, indent=INDENT), MAX_HINT_ROWS)
        rows += [] if size.is_low else hint
        drawn = self._editors[place].draw(size.columns, max(3, size.rows // 3))
        row, column = drawn.cursor
        cursor = (len(rows) + row, column)
        rows += [*drawn.rows, *text_rows(labels.expectation(entry), size.columns, before=INDENT)]
        rows += [row for why in self._complaints(place, entry) for row in warning_rows(why, size.columns)]
        return [*rows, *(hint if size.is_low else [])], cursor

    def _complaints(self, place: int, entry: FormEntry) -> Iterator[str]:
        """What stands in the way, while it is typed; of an empty field only once it was left empty."""
        problem = self.draft.problem(entry.name)
        has_something = bool(self._editors[place].buffer.text) or self.draft.value(entry.name) is not None
        if problem is not None and (has_something or place in self._left):
            yield problem
        if entry.suspicion is not None:
            yield entry.suspicion
        if (shape := self.draft.pasted_key(entry.name)) is not None:
            yield labels.key_warning(entry, shape)


def _hint(entry: FormEntry) -> list[str]:
    return safe.safe_block(entry.hint) if entry.hint else []


def _left_out(asked: FormAsked, size: Size) -> list[Row]:
    return [
        row
        for one in asked.blank.left_out
        for row in text_rows(labels.describe_left_out(one), size.columns, before=INDENT)
    ]
