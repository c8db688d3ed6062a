"""Replies to a question: right ones, near misses and junk, as any client could send them."""

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as some

from tests.protocol.hostile.questions import Question, Slot

Content = dict[str, Any]
Contents = some.SearchStrategy[Content]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Reply:
    """What a client sends back; one that `fits` must be taken."""

    raw: Any
    fits: bool = False

    def __repr__(self) -> str:
        return f"{'fitting ' if self.fits else ''}reply {reprlib.repr(self.raw)}"

    @property
    def action(self) -> Any:
        match self.raw:
            case {"action": action}:
                return action
            case _:
                return None

    @property
    def content(self) -> Mapping[str, Any]:
        return self.raw["content"]


TEXT = some.text(some.characters(codec=None), max_size=6)
"""Halves of surrogate pairs included: JSON can spell them."""

HUGE: tuple[Any, ...] = (
    "x" * 70_000,
    "ä" * 40_000,
    [0] * 40_000,
    10**400,
    dict.fromkeys(map(str, range(20_000))),
)

SMALL: tuple[Any, ...] = (None, True, False, -(2**53) - 1, float("nan"), float("inf"), "", "null", [], {})

JUNK: some.SearchStrategy[Any] = some.recursive(
    some.sampled_from(SMALL + HUGE) | some.integers(-(2**70), 2**70) | some.floats() | TEXT,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(TEXT, inner, max_size=3),
    max_leaves=4,
)
ANY_CONTENT = some.fixed_dictionaries({}, optional={"content": JUNK})
NO = some.sampled_from(["decline", "cancel"])
STRANGE = some.sampled_from(["Accept", "accept ", "accepted", "yes", "", "declined", "Decline", "cancelled"])
TICKS: tuple[Any, ...] = ("true", "on", 1, 0, 1.0, None, [True], {}, "")
SURPLUS = some.dictionaries(TEXT.map(lambda name: f"?{name}"), TEXT, max_size=1)


def replies(question: Question, *, ticked: bool, shapeless: bool) -> some.SearchStrategy[Reply]:
    """Any reply; `ticked` where choices are ticks, `shapeless` where a reply need not even be an object."""
    accept, fit = some.just("accept"), filled_in(question, ticked=ticked)
    fitting = some.tuples(SURPLUS, fit).map(lambda both: _reply("accept", both[0] | both[1], fits=True))
    lacking = some.builds(_without, fit, some.integers(0, 2))
    every = [
        fitting,
        fitting,
        some.builds(_reply, accept, lacking),
        some.builds(_loose, accept, ANY_CONTENT),
        some.builds(_loose, NO, ANY_CONTENT),
        some.builds(_reply, NO, fit),
        some.builds(_reply, STRANGE | JUNK, fit),
        some.tuples(fit, some.sampled_from(list(question.slots)), JUNK).map(_spoilt),
    ]
    return some.one_of([*every, some.builds(Reply, raw=JUNK)] if shapeless else every)


def _spoilt(parts: tuple[Content, str, Any]) -> Reply:
    content, name, junk = parts
    return _reply("accept", {**content, name: junk})


def _reply(action: Any, content: Any, *, fits: bool = False) -> Reply:
    return Reply(raw={"action": action, "content": content}, fits=fits)


def _loose(action: str, rest: dict[str, Any]) -> Reply:
    return Reply(raw={"action": action, **rest})


def filled_in(question: Question, *, ticked: bool) -> Contents:
    """Content that must be taken: what may be left out sometimes is."""
    spelled = {name: _spelled(name, slot, ticked=ticked) for name, slot in question.slots.items()}
    needed = {name for name, slot in question.slots.items() if slot.need == "required"}
    return some.fixed_dictionaries(
        {name: one for name, one in spelled.items() if name in needed},
        optional={name: one for name, one in spelled.items() if name not in needed},
    ).map(lambda parts: {name: value for part in parts.values() for name, value in part.items()})


def _spelled(name: str, slot: Slot, *, ticked: bool) -> Contents:
    if ticked and slot.kind.options:
        return slot.kind.fits.map(lambda wire: {f"{name}.{one}": one in wire for one in slot.kind.options})
    return slot.kind.fits.map(lambda wire: {name: wire})


def near_misses(question: Question, *, ticked: bool) -> some.SearchStrategy[list[Reply]]:
    """Every value just beside what one of the fields takes; the others are right."""
    beside = {name: _beside(name, slot, ticked=ticked) for name, slot in question.slots.items()}
    return some.tuples(filled_in(question, ticked=ticked), some.sampled_from(list(beside.values()))).map(
        lambda both: [_reply("accept", both[0] | near) for near in both[1]]
    )


def _beside(name: str, slot: Slot, *, ticked: bool) -> list[Content]:
    if ticked and slot.kind.options:
        return [{f"{name}.{slot.kind.options[0]}": tick} for tick in TICKS]
    return [{name: near} for near in slot.kind.near]


def _without(content: Content, place: int) -> Content:
    return {name: value for at, (name, value) in enumerate(content.items()) if at != place}
