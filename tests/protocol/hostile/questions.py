"""Random questions, written in every way an author can, and whether an answer to one is sound."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, make_dataclass
from typing import Any, Literal, NotRequired, cast

from hypothesis import strategies as some
from pydantic import create_model
from typing_extensions import TypedDict

from askback.model.question import Field
from tests.protocol.hostile.choices import choices, several
from tests.protocol.hostile.kind import Kind, same
from tests.protocol.hostile.numbers import booleans, integers, numbers
from tests.protocol.hostile.texts import formats, texts

Need = Literal["required", "optional", "default"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A field in a form."""

    kind: Kind
    need: Need
    default: Any = None
    """What the author gets where nothing was filled in."""


Way = Callable[[Mapping[str, Slot]], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, and how to tell whether an answer to it is sound."""

    what: Any
    slots: Mapping[str, Slot]
    is_bare: bool = False
    """One value without a form around it."""

    def objection(self, value: Any, content: Mapping[str, Any], *, ticked: bool) -> str | None:
        """What is wrong with showing `value` to the author of the question after a reply with this content."""
        for name, slot in self.slots.items():
            got = self._member(value, name)
            if not _is_sound(slot, got, content, name, ticked=ticked):
                return f"{name} became {got!r}"
        return None

    def _member(self, value: Any, name: str) -> Any:
        if self.is_bare:
            return value
        return cast("Mapping[str, Any]", value).get(name) if isinstance(value, dict) else getattr(value, name)


def _is_sound(slot: Slot, got: Any, content: Mapping[str, Any], name: str, *, ticked: bool) -> bool:
    wire = content.get(name)
    if ticked and slot.kind.options:
        ticks = {option: content.get(f"{name}.{option}") for option in slot.kind.options}
        wire = [option for option, tick in ticks.items() if tick]
        if None in ticks.values():  # a box not spoken of is as the form had it: the value is judged by itself
            return same(got, slot.default) or slot.kind.permits(got)
    if wire in (None, "", []) and slot.need != "required" and same(got, slot.default):
        return True
    return slot.kind.permits(got) and same(slot.kind.means(wire), got)


def kinds(*, typed: bool) -> some.SearchStrategy[Kind]:
    """Any kind of field, as a type or as a field object."""
    makers = (texts, formats, numbers, integers, booleans, choices, several)
    return some.one_of([make(typed) for make in makers])


NAMES = ("guests", "day", "colour", "note", "size")


@some.composite
def questions(draw: some.DrawFn) -> Question:
    """A form of one to three fields, written in any of the ways an author can, or a bare value."""
    way = draw(some.sampled_from(WAYS))
    if way is None:
        kind = draw(some.booleans().flatmap(lambda typed: kinds(typed=typed)))
        return Question(what=kind.what, slots={"value": Slot(kind=kind, need="required")}, is_bare=True)
    names = draw(some.lists(some.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
    members = {name: draw(slots(way)) for name in names}
    return Question(what=way(members), slots=members)


@some.composite
def slots(draw: some.DrawFn, way: Way) -> Slot:
    kind = draw(kinds(typed=way is not _fields))
    need = draw(some.sampled_from(["required", "optional", "default"]))
    if need == "default" and way is not _typed_dict:
        return Slot(kind=kind, need="default", default=kind.means(draw(kind.fits)))
    return Slot(kind=kind, need="required" if need == "required" else "optional")


def _fields(members: Mapping[str, Slot]) -> Any:
    return {name: _field(slot) for name, slot in members.items()}


def _field(slot: Slot) -> Field[Any]:
    default: Any = tuple(slot.default) if slot.kind.options and slot.default is not None else slot.default
    return slot.kind.what.altered(optional=slot.need == "optional", default=default)


def _annotation(slot: Slot) -> Any:
    return slot.kind.what | None if slot.need == "optional" else slot.kind.what


def _model(members: Mapping[str, Slot]) -> Any:
    fields: dict[str, Any] = {
        name: (_annotation(slot), ... if slot.need == "required" else slot.default)
        for name, slot in members.items()
    }
    return create_model("Model", **fields)


def _dataclass(members: Mapping[str, Slot]) -> Any:
    return make_dataclass(
        "Dataclass",
        [(name, _annotation(slot), _dataclass_default(slot)) for name, slot in members.items()],
        kw_only=True,
    )


def _dataclass_default(slot: Slot) -> Any:
    if slot.need == "required":
        return field()
    return field(default_factory=lambda: slot.default)


def _typed_dict(members: Mapping[str, Slot]) -> Any:
    types: dict[str, Any] = {
        name: slot.kind.what if slot.need == "required" else NotRequired[slot.kind.what]
        for name, slot in members.items()
    }
    make: Any = TypedDict  # type checkers know it as syntax alone
    return make("Fields", types)


WAYS: list[Way | None] = [_fields, _fields, _fields, _model, _model, _dataclass, _typed_dict, None]
"""How authors write forms; `None` is a bare value."""
