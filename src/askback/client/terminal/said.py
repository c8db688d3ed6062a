"""Values as a person reads them, the same on every screen. All that a server wrote passes through `safe`."""

from typing import Any

from askback.client import labels, safe
from askback.client.forms import Difference, Draft, Entry

EMPTY = f"({labels.EMPTY})"
EMPTY_NEEDED = f"({labels.EMPTY}, {labels.NEEDED})"

YES_NO = ((True, labels.YES), (False, labels.NO))


def label_of(entry: Entry) -> str:
    """What the server calls the field."""
    return safe.line(entry.label)


def titles(entry: Entry) -> list[tuple[Any, str]]:
    """What can be chosen in this field, each with the words for it; nothing where it is typed."""
    if entry.kind == "boolean":
        return list(YES_NO)
    return [(option.value, safe.line(option.shown)) for option in entry.options]


def said(entry: Entry, draft: Draft) -> str:
    """What stands in the field, on one line."""
    return safe.line(draft.shown(entry.name)) or (EMPTY_NEEDED if entry.is_required else EMPTY)


def said_in_full(entry: Entry, draft: Draft) -> list[str]:
    """What will be sent, however long, and the value behind a title: they need not mean the same."""
    lines = safe.block(draft.shown(entry.name)) if draft.shown(entry.name) else [said(entry, draft)]
    raw = _raw(entry, draft.value(entry.name))
    return [*lines, f"sent as: {raw}"] if raw.casefold() != lines[0].casefold() and raw else lines


def said_change(change: Difference) -> str:
    """How a field differs from the form as it came."""
    was = safe.line(change.before)
    if not was:
        return "filled in by you"
    return f"changed, was: {was}" if change.after else f"emptied, was: {was}"


def said_expected(entry: Entry) -> str:
    """What fits, and whether it may be left out."""
    return f"{entry.expects}, {labels.NEEDED if entry.is_required else labels.OPTIONAL}"


def said_stop(entry: Entry, why: str) -> str:
    """Why something that was pasted holds up the sending."""
    return labels.KEY_STOPPED.format(label=label_of(entry), why=why)


def _raw(entry: Entry, value: Any) -> str:
    if value is None or not entry.options:
        return ""
    values: list[Any] = list(value) if isinstance(value, list | tuple) else [value]  # pyright: ignore[reportUnknownArgumentType] of anything
    return ", ".join(safe.line(str(one)) for one in values)
