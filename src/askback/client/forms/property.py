"""One property of a stranger's schema without its detours, and the options of a choice in every shape they come in."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from typing import Any, Final, cast

from askback.client.forms.form import MAX_LABEL_LENGTH, MAX_OPTION_LENGTH, MAX_OPTIONS, UNSAFE_INTEGER, cut
from askback.model.question import Option
from askback.schema.secret_lint.lexicon import fold
from askback.schema.values import is_readable

Json = dict[str, Any]

_MAX_DETOURS: Final = 8
"""References and unions inside each other; an honest form has two."""

_MAX_KEYWORDS: Final = 60
"""All that JSON Schema has; and a reference copies what it points to."""

_MAX_BRANCHES: Final = 10
"""Of a union that may mean one thing or nothing."""

_UNIONS: Final = ("anyOf", "oneOf", "allOf")


SEVERAL_TYPES: Final = "it may be of several types, and a form asks for one"


class Unshowable(Exception):
    """Why a field cannot be shown, in words for the person."""


def resolve_property(described: Any, definitions: Mapping[str, Any]) -> Json:
    """The property itself; Unshowable where there is no property behind its references."""
    whole = _mapping(described)
    for _ in range(_MAX_DETOURS):
        if "$ref" in whole:
            whole = _dereferenced(whole, definitions)
        elif (only := _only_branch(whole)) is not None:
            union, branch = only
            whole = {**_mapping(branch), **{key: value for key, value in whole.items() if key != union}}
        else:
            kinds = whole.get("type")
            if type(kinds) is not list:
                return whole
            named = [kind for kind in cast("list[Any]", kinds) if kind != "null"]
            if len(named) != 1:
                raise Unshowable(SEVERAL_TYPES)
            return {**whole, "type": named[0]}
    raise Unshowable("its description leads in circles")


def definitions_of(schema: Mapping[str, Any]) -> Json:
    """What references inside the schema can point to."""
    found = [schema.get(keyword) for keyword in ("definitions", "$defs")]
    return {name: one for names in found if type(names) is dict for name, one in cast("Json", names).items()}


def _mapping(described: Any) -> Json:
    if type(described) is not dict or len(cast("Json", described)) > _MAX_KEYWORDS:
        raise Unshowable("its description cannot be read")
    return cast("Json", described)


def _dereferenced(whole: Json, definitions: Mapping[str, Any]) -> Json:
    reference = whole["$ref"]
    place, _, key = reference.rpartition("/") if type(reference) is str else ("", "", "")
    if place not in {"#/$defs", "#/definitions"} or key not in definitions:
        raise Unshowable("its description refers to something that did not come with the form")
    return {**_mapping(definitions[key]), **{name: value for name, value in whole.items() if name != "$ref"}}


def _only_branch(whole: Json) -> tuple[str, Json] | None:
    """The one thing that a union offers beside null; None where it is a list of choices, or there is no union."""
    for union in _UNIONS:
        listed: object = whole.get(union)
        if type(listed) is not list or len(cast("list[Any]", listed)) > _MAX_BRANCHES:
            continue  # a longer one is a list of choices, if anything
        branches = [cast("Json", branch) for branch in cast("list[Any]", listed) if type(branch) is dict]
        rest = [branch for branch in branches if branch.get("type") != "null"]
        if len(rest) == 1 and "const" not in rest[0]:
            return union, rest[0]
    return None


Pair = tuple[Any, Any]
"""A value and its title as they came."""

_TITLED: Final = ("oneOf", "anyOf")

_TOO_MANY: Final = f"it has more than {MAX_OPTIONS:,} options"

_MAX_DISTINCTIONS: Final = 2
"""A title that already has another's name behind it is told apart by the second; no honest form needs that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionList:
    """What can be chosen; `skipped` counts the options that could not be shown or sent."""

    options: tuple[Option, ...]
    meanings: Mapping[str, Any]
    skipped: int


def offer_of(whole: Json, definitions: Mapping[str, Any]) -> OptionList | None:
    """The options a property lists; None where it lists none, Unshowable where none or too many can be shown."""
    listed = _pairs(whole, definitions)
    if listed is None:
        return None
    pairs = list(islice(listed, MAX_OPTIONS + 1))  # references can stand for lists of lists
    if len(pairs) > MAX_OPTIONS:
        raise Unshowable(_TOO_MANY)
    known: dict[str, Pair] = {}
    for value, title in pairs:
        if (spelling := _spelled(value)) is not None:
            known.setdefault(spelling, (value, title))
    if not known:
        raise Unshowable("it offers nothing that can be chosen")
    named = {
        spelling: cut(title, MAX_LABEL_LENGTH) if type(title) is str and title.strip() else spelling
        for spelling, (_, title) in known.items()
    }
    titles = distinguish_titles(list(named.items()))
    are_texts = all(type(value) is str for value, _ in known.values())
    return OptionList(
        options=tuple(
            Option(spelling, None if title == spelling else title)
            for spelling, title in zip(known, titles, strict=True)
        ),
        # Texts are sent as they are spelled.
        meanings={} if are_texts else {spelling: value for spelling, (value, _) in known.items()},
        skipped=sum(value is not None for value, _ in pairs) - len(known),
    )


def distinguish_titles(named: Sequence[tuple[str, str]]) -> list[str]:
    """The titles; those that look alike get the name that tells them apart behind them."""
    titles = [title for _, title in named]
    for _ in range(_MAX_DISTINCTIONS):
        looks = list(map(_look, titles))
        often = Counter(looks)
        if len(often) == len(looks):
            break
        titles = [
            title if often[look] == 1 else f"{title} ({cut(name, MAX_LABEL_LENGTH)})"
            for (name, _), title, look in zip(named, titles, looks, strict=True)
        ]
    return titles


def _look(text: str) -> str:
    # Folding takes signs away too, so texts of them alone would all look alike.
    folded = text if text.isascii() else fold(text)
    return " ".join(folded.casefold().split()) or text


def _pairs(whole: Json, definitions: Mapping[str, Any]) -> Iterator[Pair] | None:
    for keyword in _TITLED:
        if type(whole.get(keyword)) is list:
            return _branched(cast("list[Any]", whole[keyword]), definitions)
    if type(whole.get("enum")) is list:
        return _listed(whole)
    return iter([(whole["const"], None)]) if "const" in whole else None


def _branched(branches: list[Any], definitions: Mapping[str, Any]) -> Iterator[Pair]:
    if len(branches) > MAX_OPTIONS:
        raise Unshowable(_TOO_MANY)
    for branch in branches:
        inner = resolve_property(branch, definitions)
        if "const" in inner:
            yield inner["const"], inner.get("title")
        elif type(inner.get("enum")) is list:
            yield from _listed(inner)
        elif inner.get("type") != "null":
            raise Unshowable(SEVERAL_TYPES)


def _listed(whole: Json) -> Iterator[Pair]:
    """Values with their older titles; missing titles are empty, and surplus ones are dropped."""
    values, names = cast("list[Any]", whole["enum"]), whole.get("enumNames")
    titles = cast("list[Any]", names) if type(names) is list else []
    for place, value in enumerate(values):
        yield value, titles[place] if place < len(titles) else None


def _spelled(value: Any) -> str | None:
    """The text that stands for an option; None where it cannot be sent."""
    match value:
        case str():
            return value if len(value) <= MAX_OPTION_LENGTH and is_readable(value) else None
        case bool():
            return "true" if value else "false"
        case int():
            return str(value) if abs(value) < UNSAFE_INTEGER else None
        case float():
            return str(value) if isfinite(value) else None
        case _:
            return None
