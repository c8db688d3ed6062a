"""Values as a person reads them, the same on every screen. All that a server wrote passes through `safe`."""

from typing import Any

from askback.client import labels, safe
from askback.client.forms import Draft, Entry

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
    """What will be sent, however long: a draft takes no more than can be read."""
    text = draft.shown(entry.name)
    return safe.whole(text) if text else [said(entry, draft)]


def said_sent(entry: Entry, draft: Draft) -> list[str]:
    """Our words on what will be sent: the value behind a title, and how it differs from the form as it came."""
    behind = labels.sent_as(entry, draft.value(entry.name))
    return [*([behind] if behind else []), *said_changed(entry, draft)]


def said_changed(entry: Entry, draft: Draft) -> list[str]:
    """Nothing where it stands as it came."""
    change = draft.difference(entry.name)
    return [] if change is None else [labels.said_change(change)]


def said_expected(entry: Entry) -> str:
    """What fits, and whether it may be left out."""
    return f"{entry.expects}, {labels.NEEDED if entry.is_required else labels.OPTIONAL}"


def said_stop(entry: Entry, why: str) -> str:
    """Why something that was pasted holds up the sending."""
    return labels.KEY_STOPPED.format(label=label_of(entry), why=why)
