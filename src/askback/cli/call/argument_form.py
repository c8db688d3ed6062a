"""Arguments that a tool must have and that were not given: asked for with the same forms as a server's questions.

Their names and texts are the server's, so the server is the one who asks: nothing of it may pass for our own words.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from askback.answers import Accepted, Cancelled, Declined
from askback.cli.call.arguments import Word, read_value
from askback.cli.call.parameters import CallSignature, Parameter
from askback.cli.exits import Misused
from askback.cli.printer import print_note
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
"""What a form can show of an argument's schema, by kind; servers write far more than forms may hold."""

NOBODY = "Nobody can be asked for more here: add it to the command, run this in a terminal, or use --desk."
"""Our own questions; no rule of a policy has a say in them."""

MAX_PROBLEM = 1000
"""Characters; it repeats what was typed."""

FORMATS = {"date", "date-time", "email", "uri"}


async def ask_missing(
    offer: CallSignature, given: Mapping[str, Any], person: Person | None, *, asker: Asker
) -> dict[str, Any]:
    """The values of all that is missing."""
    missing = offer.missing(given)
    if not missing:
        return {}
    if person is None or "form" not in person.modes:
        raise Misused(f"{_needs(offer, missing)}\n{NOBODY}")
    return await _ask(offer, missing, person, asker)


async def _ask(
    offer: CallSignature, missing: Sequence[Parameter], person: Person, asker: Asker
) -> dict[str, Any]:
    written: dict[str, Any] = {}
    while True:
        problems = _problems(missing, written)
        if written and not problems:
            return {one.name: _value(one, written[one.name]) for one in missing}
        for problem in problems.values():
            print_note(safe_line(problem, MAX_PROBLEM))
        form = FormAsked(
            asker=asker,
            purposes=(_purpose(offer, missing, is_again=bool(problems)),),
            message=offer.description,
            blank=read_form(_schema(missing, written, problems)),
        )
        match await person.answer(Turn(form)):
            case Accepted(content):
                written = content
            case Declined() | Cancelled():
                raise Unanswered(f"The arguments were not filled in, so the {offer.kind} was not called.")


def _purpose(offer: CallSignature, missing: Sequence[Parameter], *, is_again: bool) -> str:
    """Ours come first: a name may be so long that what follows it is cut off."""
    again = ", which did not fit yet," if is_again else ""
    return f"{len(missing)} missing {_argument(missing)}{again} of {offer.kind} {offer.name}"


def _problems(missing: Sequence[Parameter], written: Mapping[str, Any]) -> dict[str, str]:
    """What was typed and cannot be read, by name."""
    problems: dict[str, str] = {}
    for one in missing if written else ():
        try:
            _value(one, written[one.name])
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
    """What a form can show as it is, is shown so; everything else is typed as it would be after `name=`."""
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
    """How a form can show it, if it can."""
    if _is_list(parameter):
        options = parameter.item.options
        return "array" if options and all(isinstance(one, str) for one in options) else None
    kind = parameter.kinds[0] if len(parameter.kinds) == 1 else None
    has_odd_options = parameter.options and kind != "string"
    return kind if kind in KEPT and not has_odd_options else None


def _is_list(parameter: Parameter) -> bool:
    return parameter.kinds == ("array",)


def _value(parameter: Parameter, value: Any) -> Any:
    if _kind(parameter) is not None:
        return value
    return read_value(parameter, Word(name=parameter.name, text=value, is_json=False))


def _needs(offer: CallSignature, missing: Sequence[Parameter]) -> str:
    listed = "\n".join(f"  {one.name}=...  {one.expects}" for one in missing)
    return f"The {offer.kind} {offer.name} needs {len(missing)} more {_argument(missing)}:\n{listed}"


def _argument(missing: Sequence[Parameter]) -> str:
    return "argument" if len(missing) == 1 else "arguments"
