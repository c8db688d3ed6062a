"""Asks for required arguments that were not given, in the same forms as a server's questions.

Their names and texts come from the server, so the form names the server as the one that asks.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from askback.answers import Accepted, Cancelled, Declined
from askback.cli.call.arguments import CallSignature, Parameter, read_value
from askback.cli.console import Misused, print_note
from askback.client.forms import read_form
from askback.client.person import Asker, FormAsked, Person, Turn
from askback.errors import Unanswered
from askback.model.safe import safe_line

KEPT = {
    "string": ("minLength", "maxLength", "format", "enum", "oneOf", "default"),
    "integer": ("minimum", "maximum", "default"),
    "number": ("minimum", "maximum", "default"),
    "boolean": ("default",),
}
"""The parts of an argument's schema that a form can show, by kind."""

NOBODY = "Nobody can be asked for more here: add it to the command, run this in a terminal, or use --desk."

MAX_PROBLEM = 1000
"""Characters of a problem, which repeats what was typed."""

FORMATS = {"date", "date-time", "email", "uri"}


async def ask_missing(
    offer: CallSignature, given: Mapping[str, Any], person: Person | None, *, asker: Asker
) -> dict[str, Any]:
    """The values of all missing arguments. No policy answers here: it is our own question."""
    missing = offer.missing(given)
    if not missing:
        return {}
    count = f"{len(missing)} {{}} argument{'' if len(missing) == 1 else 's'}"
    if person is None or "form" not in person.modes:
        listed = "\n".join(f"  {one.name}=...  {one.expects}" for one in missing)
        raise Misused(f"The {offer.kind} {offer.name} needs {count.format('more')}:\n{listed}\n{NOBODY}")
    written: dict[str, Any] = {}
    while True:
        problems = _problems(missing, written)
        if written and not problems:
            return {one.name: _read(one, written[one.name]) for one in missing}
        for problem in problems.values():
            print_note(safe_line(problem, MAX_PROBLEM))
        # Our words come first: a name may be so long that the rest is cut off.
        again = ", which did not fit yet," if problems else ""
        form = FormAsked(
            asker=asker,
            purposes=(f"{count.format('missing')}{again} of {offer.kind} {offer.name}",),
            message=offer.description,
            blank=read_form(_schema(missing, written, problems)),
        )
        match await person.answer(Turn(form)):
            case Accepted(content):
                written = content
            case Declined() | Cancelled():
                raise Unanswered(f"The arguments were not filled in, so the {offer.kind} was not called.")


def _problems(missing: Sequence[Parameter], written: Mapping[str, Any]) -> dict[str, str]:
    """Why typed values cannot be read, by name."""
    problems: dict[str, str] = {}
    for one in missing if written else ():
        try:
            _read(one, written[one.name])
        except ValueError as error:
            problems[one.name] = str(error)
    return problems


def _schema(
    missing: Sequence[Parameter], written: Mapping[str, Any], problems: Mapping[str, str]
) -> dict[str, Any]:
    properties = {one.name: _property(one) for one in missing}
    for name, value in written.items():
        properties[name]["default"] = value
    for name in problems:
        properties[name]["description"] = f"Not yet {properties[name]['description']}"
    return {"type": "object", "properties": properties, "required": list(properties)}


def _property(parameter: Parameter) -> dict[str, Any]:
    """The argument as a form can show it; other values are typed as they would be after `name=`."""
    schema, kind = parameter.schema, _kind(parameter)
    title = schema.get("title") if isinstance(schema.get("title"), str) else parameter.name
    said: dict[str, Any] = {"title": title, "description": parameter.hint}
    if kind is None:
        typed = (
            f"{parameter.expects}; several in JSON: [..., ...]" if _is_list(parameter) else parameter.expects
        )
        return {"type": "string", **said, "description": f"{typed}. {parameter.hint}".strip()}
    if kind == "array":
        return {"type": "array", **said, "items": {"type": "string", "enum": list(parameter.item.options)}}
    kept = {word: schema[word] for word in KEPT[kind] if word in schema}
    if kept.get("format") not in FORMATS:
        kept.pop("format", None)
    return {"type": kind, **said, **kept}


def _kind(parameter: Parameter) -> str | None:
    """The kind of field that a form can show for it, if any."""
    if _is_list(parameter):
        options = parameter.item.options
        return "array" if options and all(isinstance(one, str) for one in options) else None
    kind = parameter.kinds[0] if len(parameter.kinds) == 1 else None
    has_odd_options = parameter.options and kind != "string"
    return kind if kind in KEPT and not has_odd_options else None


def _is_list(parameter: Parameter) -> bool:
    return parameter.kinds == ("array",)


def _read(parameter: Parameter, value: Any) -> Any:
    if _kind(parameter) is not None:
        return value
    return read_value(parameter, value)
