"""What a tool or prompt takes, read from the schema its server sent. Hostile input: bounded, and never raises."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from mcp_types import Prompt, Tool

MOST = 500
"""Parameters that are looked at; no person fills in more, and a hostile schema stays cheap."""

DEEPEST = 8
"""References that are followed; a schema may point at itself."""

KINDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "array": "list",
    "object": "JSON object",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One argument that can be given, in a schema without references."""

    name: str
    schema: Mapping[str, Any]
    is_required: bool

    @property
    def kinds(self) -> tuple[str, ...]:
        """The JSON types it takes, apart from null; none means any."""
        return tuple(kind for kind in dict.fromkeys(_kinds(self.schema, DEEPEST)) if kind in KINDS)

    @property
    def options(self) -> tuple[Any, ...]:
        """The only values it takes, where it says so."""
        return tuple(_options(self.schema))

    @property
    def hint(self) -> str:
        """The server's own words on it."""
        said = self.schema.get("description")
        return said if isinstance(said, str) else ""

    @property
    def expects(self) -> str:
        """What to write, in our words, save for the server's options."""
        if self.options:
            return "one of " + ", ".join(map(as_text, self.options))
        if self.kinds == ("array",):
            return f"list ({self.item.expects} each)"
        return " or ".join(KINDS[kind] for kind in self.kinds) or "any value"

    @property
    def item(self) -> "Parameter":
        """What each member of a list is."""
        return Parameter(name=self.name, schema=_mapping(self.schema.get("items")), is_required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSignature:
    """Something to call by name: a tool or a prompt."""

    kind: str
    name: str
    description: str = ""
    """The server's own words on it."""
    parameters: tuple[Parameter, ...] = field(default=())

    @property
    def names(self) -> list[str]:
        return [parameter.name for parameter in self.parameters]

    def parameter(self, name: str) -> Parameter | None:
        return next((one for one in self.parameters if one.name == name), None)

    def missing(self, given: Mapping[str, Any]) -> list[Parameter]:
        return [one for one in self.parameters if one.is_required and one.name not in given]


def signature_of(offered: Tool | Prompt) -> CallSignature:
    """What a tool or prompt takes; prompts take texts alone."""
    said = offered.description or ""
    if isinstance(offered, Tool):
        parameters = tuple(_of_schema(offered.input_schema))
        return CallSignature(kind="tool", name=offered.name, description=said, parameters=parameters)
    parameters = tuple(
        Parameter(
            name=one.name,
            schema={"type": "string", "description": one.description or one.title or ""},
            is_required=bool(one.required),
        )
        for one in (offered.arguments or [])[:MOST]
    )
    return CallSignature(kind="prompt", name=offered.name, description=said, parameters=parameters)


def as_text(value: Any) -> str:
    """A value as it would be typed."""
    return value if isinstance(value, str) else json.dumps(value)


def plain(schema: Any, root: Mapping[str, Any], depth: int = DEEPEST) -> dict[str, Any]:
    """The schema with its references followed, and a choice between one thing and null reduced to the thing."""
    if not isinstance(schema, Mapping) or depth == 0:
        return {}
    own = dict(cast("Mapping[str, Any]", schema))
    target = _at(own.pop("$ref", None), root)
    if target is not None:
        return {**plain(target, root, depth - 1), **own}
    for word in ("anyOf", "oneOf", "allOf"):
        rest = [one for one in _list(own.get(word)) if one != {"type": "null"}]
        if len(rest) == 1:
            del own[word]
            return {**plain(rest[0], root, depth - 1), **own}
    if "items" in own:
        own["items"] = plain(own["items"], root, depth - 1)
    return own


def _of_schema(root: Mapping[str, Any]) -> Iterator[Parameter]:
    properties = _mapping(root.get("properties"))
    required = [name for name in _list(root.get("required")) if isinstance(name, str)]
    for name in list(properties)[:MOST]:
        yield Parameter(name=name, schema=plain(properties[name], root), is_required=name in required)


def _at(reference: Any, root: Mapping[str, Any]) -> Any:
    """Inside this schema only; nothing is fetched."""
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
        return [value for value in enum[:MOST] if value is not None]
    members = [_mapping(one) for one in _list(schema.get("oneOf"))]
    titled = [one["const"] for one in members if "const" in one]
    return titled if titled and len(titled) == len(members) else []


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
