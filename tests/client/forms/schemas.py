"""Forms as strangers send them."""

from typing import Any

from askback.client.forms import Draft, FormEntry, ReceivedForm, read_form

Json = dict[str, Any]


def form(*required: str, **properties: Any) -> Json:
    """A schema with these properties, in order."""
    return {"type": "object", "properties": properties, "required": list(required)}


def blank_of(*required: str, **properties: Any) -> ReceivedForm:
    return read_form(form(*required, **properties))


def entry_of(described: Any, *, is_required: bool = False) -> FormEntry:
    """The only field of a form that can be answered."""
    blank = blank_of(*(["field"] if is_required else []), field=described)
    assert blank.refusal is None, blank.refusal
    (entry,) = blank.entries
    return entry


def why_left_out(described: Any) -> str:
    (one,) = blank_of(field=described, other={"type": "string"}).left_out
    return one.why


def draft_of(described: Any, *, is_required: bool = False) -> Draft:
    return Draft(blank_of(*(["field"] if is_required else []), field=described))
