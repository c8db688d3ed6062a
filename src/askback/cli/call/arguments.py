"""The arguments of a call: what a tool or prompt takes, by the schema that its server sent, and how `name=value` on the
command line is read as such a value. A schema may be hostile: reading it is bounded and never raises."""

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from mcp_types import Prompt, Tool
from pydantic import FiniteFloat, TypeAdapter

from askback.cli.console import Misused
from askback.schema.size import exceeds_depth

MAX_PARAMETERS = 500
"""Parameters that are read; no person fills in more."""

MAX_REFERENCES = 8
"""References that are followed; a schema may point at itself."""

MAX_SHOWN = 200
"""Characters of a value that an error repeats."""

KINDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "array": "list",
    "object": "JSON object",
}

SCALARS: dict[str, TypeAdapter[Any]] = {
    "integer": TypeAdapter(int),
    "number": TypeAdapter(int | FiniteFloat),
    "boolean": TypeAdapter(bool),
}

_WORD = re.compile(r"(?P<name>[^=]+?)(?P<sign>:?=)(?P<text>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter, with its schema without references."""

    name: str
    schema: Mapping[str, Any]
    is_required: bool

    @property
    def kinds(self) -> tuple[str, ...]:
        """The JSON types it takes, apart from null; empty means any type."""
        return tuple(kind for kind in dict.fromkeys(_kinds(self.schema, MAX_REFERENCES)) if kind in KINDS)

    @property
    def options(self) -> tuple[Any, ...]:
        """The only values it takes, if its schema lists them."""
        return tuple(_options(self.schema))

    @property
    def hint(self) -> str:
        """The server's own description."""
        said = self.schema.get("description")
        return said if isinstance(said, str) else ""

    @property
    def expects(self) -> str:
        """What to write, in our words but for the server's options."""
        if self.options:
            return "one of " + ", ".join(map(as_text, self.options))
        if self.kinds == ("array",):
            return f"list ({self.item.expects} each)"
        return " or ".join(KINDS[kind] for kind in self.kinds) or "any value"

    @property
    def item(self) -> "Parameter":
        """The schema of each member of a list."""
        return Parameter(name=self.name, schema=_mapping(self.schema.get("items")), is_required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSignature:
    """What a tool or a prompt is called, and what it takes."""

    kind: str
    name: str
    description: str = ""
    """The server's own description."""
    parameters: tuple[Parameter, ...] = field(default=())

    @property
    def names(self) -> list[str]:
        return [parameter.name for parameter in self.parameters]

    def parameter(self, name: str) -> Parameter | None:
        return next((one for one in self.parameters if one.name == name), None)

    def missing(self, given: Mapping[str, Any]) -> list[Parameter]:
        return [one for one in self.parameters if one.is_required and one.name not in given]


def signature_of(offered: Tool | Prompt) -> CallSignature:
    """The signature of a tool, by its schema, or of a prompt, which takes only texts."""
    said = offered.description or ""
    if isinstance(offered, Tool):
        parameters = tuple(_read_parameters(offered.input_schema))
        return CallSignature(kind="tool", name=offered.name, description=said, parameters=parameters)
    parameters = tuple(
        Parameter(
            name=one.name,
            schema={"type": "string", "description": one.description or one.title or ""},
            is_required=bool(one.required),
        )
        for one in (offered.arguments or [])[:MAX_PARAMETERS]
    )
    return CallSignature(kind="prompt", name=offered.name, description=said, parameters=parameters)


def as_text(value: Any) -> str:
    """A value as it would be typed."""
    return value if isinstance(value, str) else json.dumps(value)


def resolve_schema(schema: Any, root: Mapping[str, Any], depth: int = MAX_REFERENCES) -> dict[str, Any]:
    """The schema with its references followed, and a choice between one thing and null reduced to the thing."""
    if not isinstance(schema, Mapping) or depth == 0:
        return {}
    own = dict(cast("Mapping[str, Any]", schema))
    target = _at(own.pop("$ref", None), root)
    if target is not None:
        return {**resolve_schema(target, root, depth - 1), **own}
    for word in ("anyOf", "oneOf", "allOf"):
        rest = [one for one in _list(own.get(word)) if one != {"type": "null"}]
        if len(rest) == 1:
            del own[word]
            return {**resolve_schema(rest[0], root, depth - 1), **own}
    if "items" in own:
        own["items"] = resolve_schema(own["items"], root, depth - 1)
    return own


def _read_parameters(root: Mapping[str, Any]) -> Iterator[Parameter]:
    properties = _mapping(root.get("properties"))
    required = [name for name in _list(root.get("required")) if isinstance(name, str)]
    for name in list(properties)[:MAX_PARAMETERS]:
        yield Parameter(
            name=name, schema=resolve_schema(properties[name], root), is_required=name in required
        )


def _at(reference: Any, root: Mapping[str, Any]) -> Any:
    """Follow a reference inside this schema; others are never fetched."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    found: Any = root
    for step in reference[2:].split("/"):
        found = _mapping(found).get(step)
    return found


def _kinds(schema: Mapping[str, Any], depth: int) -> Iterator[str]:
    kind: Any = schema.get("type")
    if kind is not None:
        yield from (one for one in _list(kind) or [kind] if isinstance(one, str))
    elif depth:
        for member in (*_list(schema.get("anyOf")), *_list(schema.get("oneOf"))):
            yield from _kinds(_mapping(member), depth - 1)


def _options(schema: Mapping[str, Any]) -> Sequence[Any]:
    if "const" in schema:
        return [schema["const"]]
    if enum := _list(schema.get("enum")):
        return [value for value in enum[:MAX_PARAMETERS] if value is not None]
    members = [_mapping(one) for one in _list(schema.get("oneOf"))]
    titled = [one["const"] for one in members if "const" in one]
    return titled if titled and len(titled) == len(members) else []


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def is_argument(word: str) -> bool:
    """Whether a word is written like an argument; names of tools have no equals sign."""
    return _WORD.fullmatch(word) is not None


def read_arguments(words: Sequence[str], offer: CallSignature, *, here: Path) -> dict[str, Any]:
    """Read all arguments; an error lists all that is wrong."""
    values: dict[str, Any] = {}
    problems: list[str] = []
    for word in words:
        try:
            name, value = _read_argument(word, offer, here)
            if name not in values:
                values[name] = value
            elif isinstance(value, list) and isinstance(values[name], list):
                values[name].extend(value)
            else:
                raise ValueError(f"{name} is given twice; it takes one value.")
        except ValueError as error:
            problems.append(str(error))
    if problems:
        raise Misused("\n".join(problems))
    return values


def read_value(parameter: Parameter, text: str, *, shown: str | None = None) -> Any:
    """Read the text as this parameter takes it; a ValueError says what it takes, and repeats the text or `shown`."""
    expected = f"{parameter.name}: expected {parameter.expects}, not {shown or repr(text[:MAX_SHOWN])}."
    value = _convert(parameter, text, expected, shown)
    if parameter.options and value not in parameter.options:
        words = {as_text(option).lower(): as_text(option) for option in parameter.options}
        close = difflib.get_close_matches(text[:MAX_SHOWN].lower(), words, n=1)
        raise ValueError(expected + (f" Did you mean {words[close[0]]}?" if close else ""))
    return value


def read_json(text: str) -> Any:
    """Read JSON strictly: Python would also take NaN, which other programs cannot read."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if exceeds_depth(value):
        raise ValueError("it is nested too deeply")
    return value


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _read_argument(word: str, offer: CallSignature, here: Path) -> tuple[str, Any]:
    """The name and value of `name=value`, `name:=json`, `name=@file` or `name:=@file`."""
    found = _WORD.fullmatch(word)
    if found is None:
        raise ValueError(f"{word!r} is not an argument. Write name=value, or name:=json for a value in JSON.")
    name, text, shown = found["name"], found["text"], None
    if text.startswith("@"):
        path = text[1:]
        shown = f"the text of the file {path}"  # the text itself may be a secret and is never repeated
        try:
            text = (here / Path(path).expanduser()).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError, RuntimeError) as error:  # the last for ~name without such a user
            raise ValueError(
                f"{name}=@{path} takes the text of a file, and that cannot be read: {error}. For a value that "
                f"begins with @, write {name}:='\"@{path}\"'."
            ) from error
    if found["sign"] == ":=":
        try:
            return name, read_json(text)
        except ValueError as error:
            raise ValueError(
                f"{name}:= takes JSON, not {shown or repr(text[:MAX_SHOWN])}: {error}."
            ) from error
    parameter = offer.parameter(name)
    if parameter is None:
        close = difflib.get_close_matches(name, offer.names, n=1)
        known = f"It takes {', '.join(offer.names)}." if offer.names else "It takes no arguments."
        hint = f"Did you mean {close[0]}?" if close else known
        raise ValueError(f"The {offer.kind} {offer.name} has no argument {name}. {hint}")
    return name, read_value(parameter, text, shown=shown)


def _convert(parameter: Parameter, text: str, expected: str, shown: str | None) -> Any:
    """The text as the first kind that fits; every text fits a string, so that comes last."""
    if not parameter.kinds:
        with suppress(ValueError):
            return read_json(text)
        return text
    for kind in sorted(parameter.kinds, key=lambda kind: kind == "string"):
        with suppress(ValueError):
            return _convert_to(kind, parameter, text, shown)
    raise ValueError(expected)


def _convert_to(kind: str, parameter: Parameter, text: str, shown: str | None) -> Any:
    if kind == "string":
        return text
    if kind in SCALARS:
        return SCALARS[kind].validate_python(text.strip())
    if kind == "array" and not text.lstrip().startswith("["):
        # One item; the next argument of this name adds another.
        return [read_value(parameter.item, text, shown=shown)]
    value = read_json(text)
    if type(value) is not (list if kind == "array" else dict):
        raise ValueError(text)
    return cast("Any", value)
