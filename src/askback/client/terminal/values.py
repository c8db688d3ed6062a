"""Values as a person reads them, the same on every screen. All that a server wrote passes through `safe`."""

from typing import Any

from askback.client import labels
from askback.client.forms import Draft, FormEntry
from askback.model import safe

EMPTY = f"({labels.EMPTY})"
EMPTY_NEEDED = f"({labels.EMPTY}, {labels.NEEDED})"

YES_NO = ((True, labels.YES), (False, labels.NO))


def label_of(entry: FormEntry) -> str:
    """What the server calls the field."""
    return safe.safe_line(entry.label)


def titles(entry: FormEntry) -> list[tuple[Any, str]]:
    """What can be chosen in this field, each with the words for it; nothing where it is typed."""
    if entry.kind == "boolean":
        return list(YES_NO)
    return [(option.value, safe.safe_line(option.shown)) for option in entry.options]


def value_line(entry: FormEntry, draft: Draft) -> str:
    """What stands in the field, on one line."""
    return safe.safe_line(draft.shown(entry.name)) or (EMPTY_NEEDED if entry.is_required else EMPTY)


def value_lines(entry: FormEntry, draft: Draft) -> list[str]:
    """What will be sent, however long: a draft takes no more than can be read."""
    text = draft.shown(entry.name)
    return safe.safe_lines(text) if text else [value_line(entry, draft)]


def notes_on_sending(entry: FormEntry, draft: Draft) -> list[str]:
    """Our words on what will be sent: the value behind a title, and how it differs from the form as it came."""
    behind = labels.sent_as(entry, draft.value(entry.name))
    return [*([behind] if behind else []), *notes_on_change(entry, draft)]


def notes_on_change(entry: FormEntry, draft: Draft) -> list[str]:
    """Nothing where it stands as it came."""
    change = draft.difference(entry.name)
    return [] if change is None else [labels.said_change(change)]


def expectation(entry: FormEntry) -> str:
    """What fits, and whether it may be left out."""
    return f"{entry.expects}, {labels.NEEDED if entry.is_required else labels.OPTIONAL}"


def key_warning(entry: FormEntry, why: str) -> str:
    """Why something that was pasted holds up the sending."""
    return labels.KEY_STOPPED.format(label=label_of(entry), why=why)
