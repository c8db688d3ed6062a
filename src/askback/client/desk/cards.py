"""The cards on the desk, and the tabs that watch them: a form, a visit to consent to, a visit that is under way.

A card stays on the board until its word is there. The person, the server and the program may each settle it, and two of
them in one moment: the first word stands. A change costs the same however many cards wait. Cards know the form model
and the question; neither the page nor how it is reached.
"""

from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, Generic, TypeVar

import anyio

from askback.answers import Accepted, Answer, Declined
from askback.client import labels
from askback.client.forms import Draft, FormEntry
from askback.client.limits import Clock
from askback.client.person import Asked, FormAsked, Turn, VisitAsked, VisitReply
from askback.errors import Unanswered

T = TypeVar("T")

_numbers = count(1)

BEING_OPENED = "This link is already being opened."

GOES_ON = labels.GOES_ON.format(stop="to give it up, end the program that made it")

NOBODY = (
    "The desk was closed before anybody answered. Keep it open, with `async with desk:` around the calls."
)


class CardRefusal(Exception):
    """What the person wants cannot be done with this card; the text is for them to read."""

    def __init__(self, text: str, *, status: int = 409) -> None:
        """`status` is the one of the HTTP answer."""
        super().__init__(text)
        self.status = status


class Card(Generic[T]):
    """Something that waits for a person's word. The first word settles it, from any tab."""

    kind = ""

    def __init__(self, asked: Asked) -> None:
        self.id = f"{self.kind}-{next(_numbers)}"
        self.asked = asked
        self.is_seen = False
        """Whether a page has shown it in full."""
        self.outcome: str | None = None
        """How it was settled, in words, for the other tabs."""
        self.is_by_person = False
        """Whether the person settled it, in any tab."""
        self.then = ""
        """What happens next, where that is not plain to see."""
        self.settled = anyio.Event()
        self._word: T | None = None

    @property
    def gone(self) -> str | None:
        """Why the answer is not wanted any more."""
        return None

    @property
    def word(self) -> T:
        if self._word is None:
            raise Unanswered(NOBODY)
        return self._word

    def settle(self, word: T, outcome: str, *, is_by_person: bool = True) -> None:
        if self.outcome is not None:
            raise CardRefusal(f"This question is already settled: {self.outcome}.")
        self._word, self.outcome, self.is_by_person = word, outcome, is_by_person
        self.settled.set()


class TurnCard(Card[Answer[Any]]):
    """A question in its turn."""

    is_opening = False
    """Whether a browser is being started for it: declining comes too late then."""

    def __init__(self, turn: Turn) -> None:
        super().__init__(turn.asked)
        self.turn = turn

    @property
    def gone(self) -> str | None:
        return self.turn.gone

    def decline_all(self) -> None:
        self.turn.declines_all = True
        self.settle(Declined(), "declined, with all others from this server")

    def require_wanted(self) -> None:
        if self.gone is not None:
            raise CardRefusal(self.gone)


class FormCard(TurnCard):
    """A form and what has been filled in so far, in all tabs."""

    kind = "form"

    def __init__(self, turn: Turn, asked: FormAsked) -> None:
        super().__init__(turn)
        self.form = asked
        self.draft = Draft(asked.blank)
        self.stamp = 0
        """Counts the changes, so that what is sent is what was reviewed."""
        self.touched: set[str] = set()
        """Names of fields that somebody has been in; an empty field is no mistake before that."""

    @property
    def entries(self) -> tuple[FormEntry, ...]:
        return self.form.blank.entries

    def entry(self, index: int) -> FormEntry:
        if not 0 <= index < len(self.entries):
            raise CardRefusal("This form has no such field; load the page again.")
        return self.entries[index]

    def fill(self, index: int, filled: object) -> str | None:
        """Put what the page holds into the draft; gives the problem in words. Options come by their place."""
        entry = self.entry(index)
        self.stamp += 1
        self.touched.add(entry.name)
        match entry.kind, filled:
            case "boolean", bool() | None:
                return self.draft.set(entry.name, filled)
            case "choice", int() | None:
                return self.draft.set(entry.name, None if filled is None else _value(entry, filled))
            case "choices", list():
                return self.draft.set(entry.name, _values(entry, filled))  # pyright: ignore[reportUnknownArgumentType] checked there
            case "boolean" | "choice" | "choices", _:
                raise CardRefusal(f"A field of kind {entry.kind} cannot hold that; load the page again.")
            case _, str():
                return self.draft.write(entry.name, filled)
            case _:
                raise CardRefusal(f"A field of kind {entry.kind} takes text; load the page again.")

    def fill_all(self, filled: list[object]) -> None:
        """Take everything as this tab shows it: what is reviewed and sent is not what another tab typed."""
        if len(filled) != len(self.entries):
            raise CardRefusal("This page shows another form; load it again.")
        for index, one in enumerate(filled):
            self.fill(index, one)

    def excuse(self, index: int) -> None:
        self.draft.excuse(self.entry(index).name)
        self.stamp += 1

    def send(self, stamp: int, *, is_sure: bool) -> None:
        self.require_wanted()
        if self.form.blank.refusal is not None:
            raise CardRefusal(self.form.blank.refusal)
        if stamp != self.stamp:
            raise CardRefusal(
                "The answer was changed after this review, perhaps in another tab. Review it again."
            )
        if self.suspicion is not None and not is_sure:
            raise CardRefusal("This looks like a question for a secret. Confirm that you want to send it.")
        if self.draft.problems() or self.draft.stops():
            raise CardRefusal("The answer does not fit yet. Go back to the fields that say why.")
        self.settle(Accepted(self.draft.content()), "sent")

    @property
    def suspicion(self) -> str | None:
        """Why this seems to ask for a secret; then one more word is wanted before it is sent."""
        return self.form.blank.suspicion_of(self.form.message)


def _value(entry: FormEntry, place: int) -> str:
    if isinstance(place, bool) or not 0 <= place < len(entry.options):
        raise CardRefusal("This field has no such option; load the page again.")
    return entry.options[place].value


def _values(entry: FormEntry, places: list[object]) -> list[str] | None:
    chosen = {place for place in places if isinstance(place, int)}
    if len(chosen) != len(places):
        raise CardRefusal("Each option can be chosen once; load the page again.")
    return [_value(entry, place) for place in sorted(chosen)] or None


class VisitCard(TurnCard):
    """A link that is not opened before the person consents."""

    kind = "visit"

    def __init__(self, turn: Turn, asked: VisitAsked) -> None:
        super().__init__(turn)
        self.visit = asked
        self.is_consented = False
        self.href: str | None = None
        """What the page may open by a click, once the person has consented and no browser could be started for them."""

    @property
    def is_opening(self) -> bool:
        return self.is_consented and self.href is None and self.outcome is None

    def consent(self) -> None:
        """From here on the link may be opened, once by us; a second click finds it taken."""
        self.require_wanted()
        if not self.visit.verdict.allowed:
            raise CardRefusal(self.visit.verdict.refusal or "This link cannot be opened.")
        if self.is_consented or self.outcome is not None:
            raise CardRefusal(BEING_OPENED)
        self.is_consented = True

    def settle_opened(self) -> None:
        if not self.is_consented:
            raise CardRefusal("Nobody has agreed to open this link yet.")
        self.settle(Accepted(None), "opened")
        # Where the person's word is waited for, another card follows and says so.
        self.then = "" if self.visit.is_demanded else GOES_ON


class WaitCard(Card[VisitReply]):
    """A visit that is under way somewhere else; the page counts the time."""

    kind = "wait"

    def __init__(self, asked: VisitAsked, *, clock: Clock) -> None:
        super().__init__(asked)
        self.visit = asked
        self._clock, self._began = clock, clock()

    @property
    def seconds(self) -> float:
        return self._clock() - self._began


AnyCard = FormCard | VisitCard | WaitCard


def card_of(turn: Turn) -> FormCard | VisitCard:
    """The card for this turn's question."""
    asked = turn.asked
    return FormCard(turn, asked) if isinstance(asked, FormAsked) else VisitCard(turn, asked)


MAX_WATCHERS = 4
"""A browser holds six connections to one address; a tab's watch takes one, and answers need some too."""

MAX_OUTCOMES = 500
"""Outcomes of settled cards that are kept, for tabs that come too late."""

WITHDRAWN = "no longer asked"


class Watcher:
    """One tab's view of the changes since it last looked. A card that changes twice meanwhile is told once."""

    def __init__(self) -> None:
        self._changed: dict[str, AnyCard] = {}
        self._wake = anyio.Event()
        self.is_over = False
        """Newer tabs have taken this one's place, or the desk is closed."""

    def note(self, card: AnyCard) -> None:
        self._changed[card.id] = card
        self._wake.set()

    def end(self) -> None:
        self.is_over = True
        self._wake.set()

    async def changes(self) -> list[AnyCard]:
        """At least one, or none when it is over."""
        await self._wake.wait()
        self._wake = anyio.Event()
        if self.is_over:
            self._wake.set()
        changed, self._changed = list(self._changed.values()), {}
        return changed


class Board:
    """The cards on one desk."""

    def __init__(self) -> None:
        self._cards: dict[str, AnyCard] = {}
        self._outcomes: dict[str, str] = {}
        self._watchers: deque[Watcher] = deque()
        self.is_closed = False

    def __iter__(self) -> Iterator[AnyCard]:
        return iter(list(self._cards.values()))

    def find(self, name: str) -> AnyCard:
        """The card, or a refusal that says what became of it."""
        if (card := self._cards.get(name)) is not None:
            return card
        if (outcome := self._outcomes.get(name)) is not None:
            raise CardRefusal(f"This question is already settled: {outcome}.")
        raise CardRefusal("This question is not on the desk any more.")

    def put(self, card: AnyCard) -> None:
        self._cards[card.id] = card
        self.note(card)
        if self.is_closed:
            card.settled.set()

    def take(self, card: AnyCard) -> None:
        if self._cards.pop(card.id, None) is None:
            return
        self._outcomes[card.id] = card.outcome or WITHDRAWN
        if len(self._outcomes) > MAX_OUTCOMES:
            del self._outcomes[next(iter(self._outcomes))]
        self.note(card)

    def note(self, card: AnyCard) -> None:
        """Tell every tab that this card came, changed or went."""
        for watcher in self._watchers:
            watcher.note(card)

    def holds(self, card: AnyCard) -> bool:
        return card.id in self._cards

    @contextmanager
    def watch(self) -> Generator[Watcher]:
        """A new watcher. Only the newest tabs watch; an older one rests until it is used again."""
        watcher = Watcher()
        self._watchers.append(watcher)
        if len(self._watchers) > MAX_WATCHERS:
            self._watchers.popleft().end()
        if self.is_closed:
            watcher.end()
        try:
            yield watcher
        finally:
            if watcher in self._watchers:
                self._watchers.remove(watcher)

    def close(self) -> None:
        self.is_closed = True
        for card in self:
            card.settled.set()  # without a word: the one that waits learns that nobody will answer
        for watcher in self._watchers:
            watcher.end()
