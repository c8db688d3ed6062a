"""What every screen of a question has: who asks, their words in a frame, and two different ways to say no."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from askback.answers import Answer, Cancelled, Declined
from askback.client import labels
from askback.client.person import Turn
from askback.client.terminal.layout import (
    BOLD,
    PLAIN,
    WARNING,
    Body,
    Button,
    Page,
    Row,
    Size,
    at_most,
    text_rows,
)
from askback.client.terminal.screen_app import BaseScreen, LeaveScreen
from askback.client.terminal.tty import OFFER_DECLINE_ALL_AT
from askback.model import safe
from askback.model.cells import cut

Next = BaseScreen[Answer[Any]] | LeaveScreen[Answer[Any]] | None

KEY_WORDS = {
    "c-c": "Ctrl-C",
    "c-d": "Ctrl-D",
    "c-o": "Ctrl-O",
    "c-r": "Ctrl-R",
    "c-x": "Ctrl-X",
    "escape": "Esc",
}
"""Keys by the names that are printed on keyboards."""

MAX_REASON_LENGTH = 500
"""Characters of a sentence that says why a question is gone."""

PAGE_ROWS = 8
"""How far PgUp and PgDn go where the rows are ours."""

MOVING = {"tab", "s-tab", "up", "down", "left", "right"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A button: by its key always, by Tab and Enter where it `takes_focus`."""

    word: str
    key: str = ""
    act: Callable[[], Next]
    takes_focus: bool = True


class QuestionScreen(BaseScreen[Answer[Any]]):
    """One screen of one turn. The focus goes round its fields, if it has any, and then its buttons."""

    fields = 0

    def __init__(self, turn: Turn) -> None:
        super().__init__()
        self.turn, self.asked = turn, turn.asked
        self.focus = 0

    @abstractmethod
    def actions(self) -> list[Action]:
        """The buttons of this screen, before those that say no."""

    def at_end(self) -> Answer[Any]:
        return Cancelled()

    def status(self) -> tuple[str, ...]:
        """Which keys do what, here and now."""
        return ("Tab: next button", "Enter: press it")

    @abstractmethod
    def body(self, size: Size) -> Body: ...

    def refusals(self) -> list[Action]:
        """Always in sight, always different."""
        all_of_them = Action(word=labels.DECLINE_ALL, key="c-x", act=self._decline_all)
        return [
            Action(word=labels.DECLINE, key="c-d", act=lambda: LeaveScreen(Declined())),
            Action(word=labels.CANCEL, key="c-c", act=lambda: LeaveScreen(Cancelled())),
            *([all_of_them] if self.turn.number >= OFFER_DECLINE_ALL_AT else []),
        ]

    def page(self, size: Size) -> Page:
        return Page(
            bar=(f"{safe.safe_line(self.asked.asker.label)} asks", labels.position_line(self.turn)),
            above=self.above(size),
            words=self.words(),
            words_title=f"words of {safe.safe_line(self.asked.asker.label)}",
            body=self.body(size),
            status=self.status(),
            buttons=self._buttons(),
        )

    def above(self, size: Size) -> list[Row]:
        """What stays under the bar: what the server says of itself, and for what it asks."""
        if size.is_low:
            return [
                [
                    (
                        PLAIN,
                        cut(
                            f" {labels.purpose_line(self.asked)}, {labels.position_line(self.turn)}",
                            size.columns,
                        ),
                    )
                ]
            ]
        who, label = labels.who_asks(self.asked.asker), safe.safe_line(self.asked.asker.label)
        itself = [] if who == label else at_most(text_rows(who, size.columns), 2)
        return [*itself, [(PLAIN, cut(f" {labels.purpose_line(self.asked)}", size.columns))]]

    def words(self) -> list[str]:
        return safe.safe_block(self.asked.message)

    def on_change(self) -> "BaseScreen[Answer[Any]] | None":
        return GoneScreen(self) if self.turn.gone is not None else None

    def typed(self, size: Size) -> list[Row]:
        """What the person has filled in so far, in full; shown for the last time when the question is gone."""
        return []

    def wants(self, key: str) -> bool:
        if key in {"pageup", "pagedown", "enter"} or key in MOVING:
            return True
        return any(action.key == key for action in self._all())

    def press(self, key: str) -> Next:
        for action in self._all():
            if action.key == key:
                return action.act()
        match key:
            case "pageup" | "pagedown":
                direction = -1 if key == "pageup" else 1
                self.scroll.words += direction * self.scroll.words_page
                if not self.words():  # then what is shown in their place scrolls
                    self.scroll.body += direction * PAGE_ROWS
            case "up" | "down" if not self.fields:
                self.scroll.body += -1 if key == "up" else 1
            case "enter":
                return self.press_enter()
            case _:
                self.move(-1 if key in {"s-tab", "up", "left"} else 1)
        return None

    def move(self, direction: int) -> None:
        self.focus = (self.focus + direction) % (self.fields + len(self._focusable()))

    def press_enter(self) -> Next:
        """Enter: the button in focus."""
        return self._focusable()[self.focus - self.fields].act()

    def _decline_all(self) -> Next:
        self.turn.declines_all = True
        return LeaveScreen(Declined())

    def _all(self) -> list[Action]:
        return [*self.actions(), *self.refusals()]

    def _focusable(self) -> list[Action]:
        return [action for action in self._all() if action.takes_focus]

    def _buttons(self) -> list[Button]:
        stops = self._focusable()
        here = self.focus - self.fields
        focused = stops[here].word if 0 <= here < len(stops) else None
        return [
            Button(word=action.word, key=KEY_WORDS.get(action.key, ""), focused=action.word == focused)
            for action in self._all()
        ]


class NoticeScreen(QuestionScreen):
    """A screen on which nothing is filled in: a title, rows to read, and buttons."""

    def __init__(
        self,
        turn: Turn,
        rows: Callable[[Size], list[Row]],
        *,
        title: str = "",
        actions: Callable[[], list[Action]] = list,
        before: QuestionScreen | None = None,
        scrolls: bool = False,
    ) -> None:
        """With a `title`, it stands in place of the server's words; `before` is the screen that this one follows."""
        super().__init__(turn)
        self._rows, self._title, self._actions = rows, title, actions
        self._before, self._scrolls = before, scrolls

    def status(self) -> tuple[str, ...]:
        return (*super().status(), *(["Up Down: scroll"] if self._scrolls else []))

    def actions(self) -> list[Action]:
        return self._actions()

    def words(self) -> list[str]:
        return [] if self._title else super().words()

    def above(self, size: Size) -> list[Row]:
        if not self._title:
            return super().above(size)
        return [*text_rows(self._title, size.columns, style=BOLD), *([] if size.is_low else [[]])]

    def body(self, size: Size) -> Body:
        return Body(rows=self._rows(size))

    def typed(self, size: Size) -> list[Row]:
        return [] if self._before is None else self._before.typed(size)


class GoneScreen(NoticeScreen):
    """The answer is not wanted any more. What was typed stays here until the person leaves."""

    def __init__(self, before: QuestionScreen) -> None:
        leave = Action(word=labels.LEAVE, act=lambda: LeaveScreen(Cancelled()))
        super().__init__(before.turn, self._explain, actions=lambda: [leave], before=before)

    def _explain(self, size: Size) -> list[Row]:
        why = safe.safe_line(self.turn.gone or "", MAX_REASON_LENGTH)
        rows, typed = text_rows(why, size.columns, before=" ! ", style=WARNING), self.typed(size)
        if typed:
            rows += [[], *text_rows("What you had filled in, not sent:", size.columns), *typed]
        return rows

    def status(self) -> tuple[str, ...]:
        return ("Enter: leave", "Up Down: scroll")

    def refusals(self) -> list[Action]:
        """There is nothing left to refuse."""
        return []

    def press(self, key: str) -> Next:
        return LeaveScreen(Cancelled()) if key == "c-c" else super().press(key)

    def on_change(self) -> None:
        return None
