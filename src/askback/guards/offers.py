"""How long an approval may last: this once, for the rest of the call, or for a time; and the choice a person gets."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, Literal, NamedTuple

from askback.errors import AuthorError
from askback.guards.display import defang, make_legible
from askback.guards.risk import Risk
from askback.model.durations import seconds_of
from askback.model.question import Boolean, Choice
from askback.model.texts import Words

ONCE, CONVERSATION, NO = "once", "conversation", "no"
RESERVED = frozenset({ONCE, CONVERSATION, NO})

MAX_OFFERS = 10
"""More choices would not be read."""

MAX_OFFER_SECONDS = 366 * 86_400.0
"""A year: after that, a person has forgotten what they agreed to."""

MAX_TITLE_LENGTH = 200
"""Characters: a client may cut a longer title, and a person has to read all of what they agree to."""


class ApprovalOffer(NamedTuple):
    """One way for an approval to last."""

    seconds: float | None = None
    """None: for the rest of this call."""

    @property
    def value(self) -> str:
        return CONVERSATION if self.seconds is None else f"for {self.seconds:g}"


def offers_of(given: Iterable[Literal["conversation"] | timedelta | float]) -> tuple[ApprovalOffer, ...]:
    """The author's offers, in their order."""
    if isinstance(given, str) or not isinstance(given, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] # authors err
        raise _refused(given, "It is a list")
    offers = tuple(dict.fromkeys(_offer(one) for one in given))
    if len(offers) > MAX_OFFERS:
        raise _refused(given, f"{MAX_OFFERS} are the most that anybody chooses from")
    return offers


def _offer(given: Any) -> ApprovalOffer:
    if given == CONVERSATION:
        return ApprovalOffer()
    if isinstance(given, str | bool) or not isinstance(given, int | float | timedelta):
        raise _refused(given, "It has 'conversation' and lengths of time in it")
    seconds = seconds_of(given, "offers")
    if seconds > MAX_OFFER_SECONDS:
        raise _refused(given, "Nobody knows in a year what they agreed to")
    return ApprovalOffer(seconds)


def _refused(given: object, why: str) -> AuthorError:
    return AuthorError(
        f"guard(offers={given!r:.80}) cannot be offered. {why}: offers=['conversation', timedelta(hours=1)]."
    )


def fieldset_for(
    risk: Risk, offers: Iterable[ApprovalOffer], covers: str, words: Words
) -> dict[str, Boolean | Choice]:
    """The form's only field: yes or no, or one of several ways. Nothing is chosen beforehand."""
    titles = {ONCE: risk.yes or words.guard_once}
    titles |= {option.value: option.title for option in risk.options}
    lasting = {offer.value: _on_a_line(_title(offer, covers, words)) for offer in offers}
    titles |= {value: title for value, title in lasting.items() if len(title) <= MAX_TITLE_LENGTH}
    titles |= {NO: risk.no or words.guard_no}
    if len(titles) == 2:
        return {"yes": Boolean(title=_on_a_line(risk.yes or words.guard_yes))}
    shown = {value: _on_a_line(title) for value, title in titles.items()}
    return {"decision": Choice(shown, title=words.guard_decision)}


def _on_a_line(title: str) -> str:
    return defang(make_legible(" ".join(title.split("\n"))))


def _title(offer: ApprovalOffer, covers: str, words: Words) -> str:
    if offer.seconds is None:
        return words.guard_conversation.format(covers=covers)
    return words.guard_for.format(covers=covers, time=words.length(offer.seconds))


def require_options(risk: Risk) -> None:
    """Refuse options that share a value with each other or with our own choices."""
    values = [option.value for option in risk.options]
    taken = RESERVED & set(values) or {value for value in values if value.startswith("for ")}
    if taken or len(set(values)) < len(values):
        raise AuthorError(
            f"A guard's options have the values {values}, so nothing ran. Give each its own, other than "
            f"{', '.join(sorted(RESERVED))} and 'for ...'."
        )
