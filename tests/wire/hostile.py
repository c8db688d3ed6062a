"""Replies to a question: right ones, near misses and junk, as any client could send them."""

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from hypothesis import strategies as some

from tests.wire.questions import Question, Slot

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
        return cast("Content", self.raw).get("action") if isinstance(self.raw, dict) else None

    @property
    def content(self) -> Mapping[str, Any]:
        return self.raw["content"]


TEXT = some.text(some.characters(codec=None), max_size=6)
"""Halves of surrogate pairs included: JSON can spell them."""

HUGE: list[Any] = ["x" * 70_000, "ä" * 40_000, [0] * 40_000, 10**400, dict.fromkeys(map(str, range(20_000)))]

JUNK: some.SearchStrategy[Any] = some.recursive(
    some.sampled_from(
        [None, True, False, *HUGE, -(2**53) - 1, float("nan"), float("inf"), "", "null", [], {}]
    )
    | some.integers(-(2**70), 2**70)
    | some.floats()
    | TEXT,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(TEXT, inner, max_size=3),
    max_leaves=4,
)
ANY_CONTENT = some.fixed_dictionaries({}, optional={"content": JUNK})
ACTIONS = some.sampled_from(["Accept", "accept ", "accepted", "yes", "", "declined", "Decline", "cancelled"])
TICKS = some.sampled_from(["true", 1, 0, None, "on", [True]])
SURPLUS = some.dictionaries(TEXT.map(lambda name: f"?{name}"), TEXT, max_size=1)


def replies(question: Question, *, ticked: bool, shapeless: bool) -> some.SearchStrategy[Reply]:
    """Any reply; `ticked` where choices are ticks, `shapeless` where a reply need not even be an object."""
    fit = filled_in(question, ticked=ticked)
    fitting = some.tuples(SURPLUS, fit).map(lambda both: Reply(raw=_accept(both[0] | both[1]), fits=True))
    near = spoilt(question, fit).map(lambda content: Reply(raw=_accept(content)))
    junk = ANY_CONTENT.map(lambda rest: Reply(raw={"action": "accept", **rest}))
    no = some.sampled_from(["decline", "cancel"])
    declining = some.builds(lambda action, rest: Reply(raw={"action": action, **rest}), no, ANY_CONTENT)
    unwilling = some.builds(
        lambda action, content: Reply(raw={**_accept(content), "action": action}), no, fit
    )
    strange = some.builds(
        lambda action, content: Reply(raw={**_accept(content), "action": action}), ACTIONS | JUNK, fit
    )
    kinds = [fitting, fitting, near, near, near, near, junk, declining, unwilling, strange]
    return some.one_of([*kinds, JUNK.map(lambda raw: Reply(raw=raw))] if shapeless else kinds)


def _accept(content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


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


def spoilt(question: Question, fit: Contents) -> Contents:
    """The same but for one thing, which is gone, or beside the mark, or far from it."""
    changes: list[Contents] = []
    for name, slot in question.slots.items():
        near = some.sampled_from(slot.kind.near)
        changes += [_only(name, near), _only(name, near | JUNK)]
        changes += [_only(f"{name}.{option}", TICKS | JUNK) for option in slot.kind.options[:2]]
    changed = some.builds(lambda content, change: {**content, **change}, fit, some.one_of(changes))
    gone = some.builds(_without, fit, some.integers(0, 3))
    return changed | changed | changed | gone


def _only(name: str, values: some.SearchStrategy[Any]) -> Contents:
    return values.map(lambda value: {name: value})


def _without(content: Content, place: int) -> Content:
    return {name: value for at, (name, value) in enumerate(content.items()) if at != place}
