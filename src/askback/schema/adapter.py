"""Turns a Python type into JSON Schema, and JSON back into the type: the part of pydantic that forms need.

What JSON Schema cannot express stands under two keys of our own, which never leave the package: MEANINGS, the
Python values behind the spellings of a choice, and ATTRIBUTES, the Python names behind the names on the wire.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import partial
from inspect import ismodule, isroutine
from typing import Any, NotRequired, Required, get_args, get_origin, is_typeddict

from pydantic import PydanticUserError, TypeAdapter
from pydantic.errors import PydanticUndefinedAnnotation
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import SchemaError, core_schema
from typing_extensions import TypedDict, get_type_hints

from askback.errors.questions import QuestionRefused, require
from askback.model.fields import CLASS_NOTES, Json

MEANINGS = "askback-meanings"
ATTRIBUTES = "askback-attributes"

NAIVE = "date-time without offset"
"""The format of a type that no reply could fill, since a date-time on the wire has its offset."""

POSSIBLE = (
    "a pydantic model, dataclass or TypedDict; str, int, float, bool, date, datetime, EmailStr, AnyUrl, a Literal or "
    "an Enum; list[...] of a Literal or Enum; a dict of fields such as {'name': Text()}; or a JSON Schema of a flat "
    "object"
)


def describe_type(what: Any) -> tuple[Json, Callable[[Any], Any]]:
    """The type's JSON Schema, and the function that makes its value of checked content."""
    is_strange = what is None or isinstance(what, str | partial) or isroutine(what) or ismodule(what)
    require(not is_strange, problem=f"{what!r} cannot be asked for", instead=f"ask for {POSSIBLE}")
    try:
        adapter = TypeAdapter[Any](_readable(what))
        schema = adapter.json_schema(by_alias=True, schema_generator=_Described)
    except PydanticUndefinedAnnotation as error:
        raise QuestionRefused(
            field=None,
            problem=f"{what!r} mentions {error.name!r}, which is not defined where it stands",
            instead="define it at the top of the module, before the question is asked",
        ) from error
    except ImportError as error:
        raise QuestionRefused(
            field=None, problem=str(error), instead="install pydantic[email], or use Email() and get a str"
        ) from error
    except (PydanticUserError, SchemaError, TypeError) as error:
        raise QuestionRefused(
            field=None,
            problem=str(error).strip().splitlines()[0].partition(". ")[0],
            instead=f"ask for {POSSIBLE}",
        ) from error
    # What JSON writes as text (a date, an option) is what strict types mean here: the exact types were checked before.
    return schema, partial(adapter.validator.validate_python, strict=False, by_alias=True, by_name=False)


def _readable(what: Any) -> Any:
    """Before Python 3.12 pydantic reads the TypedDict of typing_extensions alone; an author may use either."""
    if sys.version_info >= (3, 12) or not is_typeddict(what):
        return what
    fields: dict[str, Any] = {}
    for name, hint in get_type_hints(what, include_extras=True).items():
        is_wrapped = get_origin(hint) in {Required, NotRequired}
        is_required = get_origin(hint) is Required if is_wrapped else name in what.__required_keys__
        inner = get_args(hint)[0] if is_wrapped else hint
        fields[name] = inner if is_required else NotRequired[inner]
    return TypedDict(what.__name__, fields)  # pyright: ignore[reportArgumentType] # its fields are known at run time


def wire_name(value: object) -> str:
    """How a choice is spelled on the wire, where all choices are text."""
    if isinstance(value, Enum):
        return str.__str__(value.value) if isinstance(value.value, str) else value.name
    return str(value)


class _Described(GenerateJsonSchema):
    """Keeps the Python values that a JSON Schema for others would flatten."""

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonSchemaValue:
        plain = super().enum_schema(schema)
        notes = {keyword: plain[keyword] for keyword in ("title", "description") if keyword in plain}
        return {**_choice(schema["members"]), CLASS_NOTES: notes}

    def literal_schema(self, schema: core_schema.LiteralSchema) -> JsonSchemaValue:
        values = [value for value in schema["expected"] if value is not None]
        null = {"type": "null"}
        branches = [_choice(values)] if values else []
        branches += [null] if len(values) < len(schema["expected"]) else []
        return branches[0] if len(branches) == 1 else {"anyOf": branches}

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> JsonSchemaValue:
        # Not an error here: the rules refuse the type, and name the field.
        return {"type": error_info}

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:
        plain = super().datetime_schema(schema)
        return {**plain, "format": NAIVE} if schema.get("tz_constraint") == "naive" else plain

    def encode_default(self, dft: Any) -> Any:
        return dft

    def field_title_should_be_set(self, schema: Any) -> bool:
        # A title made of a name would hide the author's own title on an inner annotation.
        return False

    def field_is_present(self, field: Any) -> bool:
        return field.get("init") is not False and super().field_is_present(field)

    def model_fields_schema(self, schema: core_schema.ModelFieldsSchema) -> JsonSchemaValue:
        return {**super().model_fields_schema(schema), **_attributes(schema["fields"].items())}

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        return {**super().typed_dict_schema(schema), **_attributes(schema["fields"].items())}

    def dataclass_args_schema(self, schema: core_schema.DataclassArgsSchema) -> JsonSchemaValue:
        named = [(field["name"], field) for field in schema["fields"] if field.get("init") is not False]
        return {**super().dataclass_args_schema(schema), **_attributes(named)}


def _choice(values: Iterable[object]) -> Json:
    spellings = [(wire_name(value), value) for value in values]
    return {"type": "string", "enum": [spelling for spelling, _ in spellings], MEANINGS: dict(spellings)}


def _attributes(fields: Iterable[tuple[str, Any]]) -> Json:
    attributes: dict[str, str] = {}
    for attribute, field in fields:
        name = _alias(attribute, field)
        require(
            name not in attributes,
            field=name,
            problem=f"{attributes.get(name)!r} and {attribute!r} share this name on the wire",
            instead="give each its own alias",
        )
        attributes[name] = attribute
    return {ATTRIBUTES: attributes}


def _alias(attribute: str, field: Mapping[str, Any]) -> str:
    alias: Any = field.get("validation_alias", attribute)
    paths: list[Any] = (
        [[alias]] if isinstance(alias, str) else [path for path in alias if isinstance(path, list)]
    )
    names = [path[0] for path in paths if len(path) == 1]
    require(
        names,
        field=attribute,
        problem="its alias is a path into nested content, which a flat form never has",
        instead="use a plain alias",
    )
    return names[0]
