"""What is kept in a vault, as a person reads it, as programs do, and by the name that somebody types."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from askback.cli.exits import Misused
from askback.cli.printer import Printer, TextRow
from askback.model.cells import pad, width_of
from askback.model.owners import describe_owner, matches_owner
from askback.model.safe import safe_text
from askback.vault.vault import ItemSummary

NO_KEY = "no key here opens it"


def print_notes(notes: Sequence[ItemSummary], paper: Printer) -> None:
    """Owner after owner, what is kept for each."""
    for owner, kept in groupby(notes, key=lambda note: note.owner):
        paper.print(safe_text(describe_owner(owner)), "bold")
        paper.columns([[[TextRow(line, indent=2) for line in _lines(list(kept))]]])


def as_json(note: ItemSummary) -> dict[str, Any]:
    """Times in UTC; None for no end, or where no key opens it."""
    return {
        "server": note.server,
        "owner": note.owner,
        "whose": describe_owner(note.owner),
        "kind": note.item.kind,
        "name": note.item.name,
        "since": iso(note.put_at),
        "until": iso(note.until),
        "opens": note.put_at is not None,
    }


def describe_note(note: ItemSummary) -> str:
    """Enough to tell it from all others."""
    whose = f"of {safe_text(describe_owner(note.owner))} for {safe_text(note.server)}"
    return f"the {note.item.kind} {safe_text(note.item.name)!r} {whose}, {_when(note)}"


def find_note(
    notes: Sequence[ItemSummary], name: str, *, kind: str | None, owner: str | None, server: str | None
) -> ItemSummary | None:
    """The one of that name; None where there is none, and `Misused` where what was typed fits several or no one."""
    alike = [note for note in notes if note.item.name == name]
    fitting = [note for note in alike if _fits(note, kind, owner, server)]
    if len(fitting) == 1 or not alike:
        return next(iter(fitting), None)
    listed = "".join(f"\n  {describe_note(note)}" for note in fitting or alike)
    if not fitting:
        raise Misused(f"None that is called {safe_text(name)!r} is that one. There is:{listed}")
    raise Misused(
        f"{len(fitting)} things are called {safe_text(name)!r}. Say which, {_apart(fitting)}:{listed}"
    )


def _fits(note: ItemSummary, kind: str | None, owner: str | None, server: str | None) -> bool:
    is_theirs = owner is None or matches_owner(note.owner, owner)
    return is_theirs and kind in {None, note.item.kind} and server in {None, note.server}


def _apart(notes: Sequence[ItemSummary]) -> str:
    options = {
        "--kind": {note.item.kind for note in notes},
        "--owner": {note.owner for note in notes},
        "--server": {note.server for note in notes},
    }
    return "with " + " and ".join(option for option, values in options.items() if len(values) > 1)


def _lines(notes: Sequence[ItemSummary]) -> Iterator[str]:
    rows = [
        (note.item.kind, safe_text(note.item.name), f"for {safe_text(note.server)}", _when(note))
        for note in notes
    ]
    widths = [max(width_of(row[column]) for row in rows) for column in range(3)]
    for *cells, when in rows:
        yield "  ".join([*map(pad, cells, widths), when])


def _when(note: ItemSummary) -> str:
    if note.put_at is None:
        return NO_KEY
    until = "" if note.until is None else f", until {minute(note.until)}"
    return f"since {minute(note.put_at)}{until}"


def minute(moment: float) -> str:
    """In the time of whoever reads it."""
    return datetime.fromtimestamp(moment, UTC).astimezone().strftime("%Y-%m-%d %H:%M")


def iso(moment: float | None) -> str | None:
    """In UTC, for programs."""
    return None if moment is None else datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")
