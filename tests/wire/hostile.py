"""Replies to a question: right ones, near misses and junk, as any client could send them."""

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from hypothesis import strategies as some

from tests.wire.questions import Question, Slot

Content = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Reply:
    """What a client sends back; one that `fits` must be taken."""

    raw: Any
    fits: bool = False

    def __repr__(self) -> str:
        return f"{'fitting ' if self.fits else ''}reply {reprlib.repr(self.raw)}"

    @property
    def action(self) -> Any:
        return cast("Content", self.raw).get("action") if isinstance(self.raw, dict) else None

    @property
    def content(self) -> Mapping[str, Any]:
        return self.raw["content"]


TEXT = some.text(some.characters(codec=None), max_size=6)
"""Halves of surrogate pairs included: JSON can spell them."""

JUNK = some.recursive(
    some.none()
    | some.booleans()
    | some.integers(-(2**70), 2**70)
    | some.floats()
    | TEXT
    | some.sampled_from(["x" * 70_000, "ä" * 40_000, 10**400, -(2**53) - 1, [0] * 40_000, {"a": {"b": {}}}]),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)

NEARLY_ACTIONS = (
    "Accept",
    "ACCEPT",
    "accept ",
    "accepted",
    "yes",
    "ok",
    "",
    "declined",
    "Decline",
    "cancelled",
)


@some.composite
def replies(draw: some.DrawFn, question: Question, *, ticked: bool, shapeless: bool) -> Reply:
    """Any reply; `ticked` where choices are ticks, `shapeless` where a reply need not even be an object."""
    fit = filled_in(question, ticked=ticked)
    match draw(some.integers(0, 9)):
        case 0 | 1:
            surplus = draw(some.dictionaries(TEXT.map(lambda name: f"?{name}"), TEXT, max_size=1))
            return Reply(raw={"action": "accept", "content": surplus | draw(fit)}, fits=True)
        case 2 | 3 | 4 | 5:
            return Reply(raw={"action": "accept", "content": draw(spoilt(question, draw(fit)))})
        case 6:
            return Reply(
                raw={"action": "accept", **draw(some.fixed_dictionaries({}, optional={"content": JUNK}))}
            )
        case 7 | 8:
            extra = draw(some.fixed_dictionaries({}, optional={"content": fit | JUNK}))
            return Reply(raw={"action": draw(some.sampled_from(["decline", "cancel"])), **extra})
        case _:
            if shapeless and draw(some.booleans()):
                return Reply(raw=draw(JUNK))
            return Reply(raw={"action": draw(some.sampled_from(NEARLY_ACTIONS) | JUNK), "content": draw(fit)})


@some.composite
def filled_in(draw: some.DrawFn, question: Question, *, ticked: bool) -> Content:
    """Content that must be taken: what may be left out sometimes is."""
    content: Content = {}
    for name, slot in question.slots.items():
        if slot.need == "required" or draw(some.integers(0, 2)):
            content |= _spelled(name, slot, draw(slot.kind.fits), ticked=ticked)
    return content


def _spelled(name: str, slot: Slot, wire: Any, *, ticked: bool) -> Content:
    if ticked and slot.kind.options:
        return {f"{name}.{option}": option in wire for option in slot.kind.options}
    return {name: wire}


@some.composite
def spoilt(draw: some.DrawFn, question: Question, content: Content) -> Content:
    """The same but for one field, which is gone, or beside the mark, or far from it."""
    name = draw(some.sampled_from([*question.slots, *content]))
    slot = question.slots.get(name)
    if not draw(some.integers(0, 4)):
        return {one: value for one, value in content.items() if one != name}
    near = some.sampled_from(slot.kind.near) if slot is not None else some.sampled_from(["true", 1, 0, None])
    return {**content, name: draw(near | near | JUNK)}
