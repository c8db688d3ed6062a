"""Arguments that a tool must have and that were not given: asked for with the same forms as a server's questions."""

from collections.abc import Mapping, Sequence
from typing import Any

from askback.answer import Accepted, Cancelled, Declined
from askback.cli.arguments import read_value
from askback.cli.endings import Misused
from askback.cli.parameters import Offer, Parameter
from askback.client.forms import read_form
from askback.client.person import Asker, FormAsked, Person, Turn
from askback.errors import Unanswered

US = Asker(label="askback call")
"""Who asks here: these are our words, not the server's."""

KEPT = {
    "string": ("minLength", "maxLength", "format", "enum", "oneOf", "default"),
    "integer": ("minimum", "maximum", "default"),
    "number": ("minimum", "maximum", "default"),
    "boolean": ("default",),
}
"""What a form can show of an argument's schema, by kind; servers write far more than forms may hold."""

FORMATS = {"date", "date-time", "email", "uri"}


async def ask_missing(
    offer: Offer, given: Mapping[str, Any], person: Person | None, *, nobody: str, asker: Asker = US
) -> dict[str, Any]:
    """The values of all that is missing. `nobody` says why there is no person who could be asked."""
    missing = offer.missing(given)
    if not missing:
        return {}
    if person is None or "form" not in person.modes:
        raise Misused(f"{_needs(offer, missing)}\n{nobody}")
    return await _ask(offer, missing, person, asker)


async def _ask(offer: Offer, missing: Sequence[Parameter], person: Person, asker: Asker) -> dict[str, Any]:
    written: dict[str, str] = {}
    problem = ""
    while True:
        message = f"This {offer.kind} needs {len(missing)} more {_argument(missing)}.{problem}"
        form = FormAsked(
            asker=asker,
            purpose=f"{offer.kind} {offer.name}",
            message=message,
            blank=read_form(_schema(missing, written)),
        )
        match await person.answer(Turn(form)):
            case Accepted(content):
                try:
                    return {one.name: _value(one, content[one.name]) for one in missing}
                except ValueError as error:
                    written, problem = content, f" {error}"
            case Declined() | Cancelled():
                raise Unanswered(f"The arguments were not filled in, so the {offer.kind} was not called.")


def _schema(missing: Sequence[Parameter], written: Mapping[str, Any]) -> dict[str, Any]:
    properties = {one.name: _property(one) for one in missing}
    for name, value in written.items():
        properties[name]["default"] = value
    return {"type": "object", "properties": properties, "required": list(properties)}


def _property(parameter: Parameter) -> dict[str, Any]:
    """What a form can show as it is, is shown so; everything else is typed as it would be after `name=`."""
    schema, kind = parameter.schema, _kind(parameter)
    title = schema.get("title") if isinstance(schema.get("title"), str) else parameter.name
    said: dict[str, Any] = {"title": title, "description": parameter.hint}
    if kind is None:
        return {"type": "string", **said, "description": f"{parameter.expects}. {parameter.hint}".strip()}
    if kind == "array":
        return {"type": "array", **said, "items": {"type": "string", "enum": list(parameter.item.options)}}
    kept = {word: schema[word] for word in KEPT[kind] if word in schema}
    if kept.get("format") not in FORMATS:
        kept.pop("format", None)
    return {"type": kind, **said, **kept}


def _kind(parameter: Parameter) -> str | None:
    """How a form can show it, if it can."""
    if parameter.kinds == ("array",):
        options = parameter.item.options
        return "array" if options and all(isinstance(one, str) for one in options) else None
    kind = parameter.kinds[0] if len(parameter.kinds) == 1 else None
    has_odd_options = parameter.options and kind != "string"
    return kind if kind in KEPT and not has_odd_options else None


def _value(parameter: Parameter, value: Any) -> Any:
    return read_value(parameter, value) if _kind(parameter) is None else value


def _needs(offer: Offer, missing: Sequence[Parameter]) -> str:
    listed = "\n".join(f"  {one.name}=...  {one.expects}" for one in missing)
    return f"The {offer.kind} {offer.name} needs {len(missing)} more {_argument(missing)}:\n{listed}"


def _argument(missing: Sequence[Parameter]) -> str:
    return "argument" if len(missing) == 1 else "arguments"
