"""Items of a vault in rows for a reader and as JSON, and which of them somebody means."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from askback.cli.exits import Misused
from askback.cli.printer import Printer, TextRow
from askback.cli.texts import format_iso, format_time
from askback.model.cells import pad, width_of
from askback.model.owners import describe_owner, matches_owner
from askback.model.safe import safe_text
from askback.vault.vault import ItemSummary


def print_items(items: Sequence[ItemSummary], printer: Printer) -> None:
    """Print them, owner after owner."""
    for owner, rows in groupby(items, key=lambda item: item.owner):
        printer.print(safe_text(describe_owner(owner)), "bold")
        printer.columns([[[TextRow(line, indent=2) for line in _lines(list(rows))]]])


def as_json(item: ItemSummary) -> dict[str, Any]:
    """The members for programs; times in UTC, None for no end or where no key opens the item."""
    return {
        "server": item.server,
        "owner": item.owner,
        "whose": describe_owner(item.owner),
        "kind": item.item.kind,
        "name": item.item.name,
        "since": format_iso(item.put_at),
        "until": format_iso(item.until),
        "opens": item.put_at is not None,
    }


def describe_item(item: ItemSummary) -> str:
    """Enough to tell it from all others."""
    whose = f"of {safe_text(describe_owner(item.owner))} for {safe_text(item.server)}"
    return f"the {item.item.kind} {safe_text(item.item.name)!r} {whose}, {_times(item)}"


def find_item(
    items: Sequence[ItemSummary], name: str, *, kind: str | None, owner: str | None, server: str | None
) -> ItemSummary | None:
    """The item of that name; None if there is none, and `Misused` if the conditions fit several, or no one."""
    named = [item for item in items if item.item.name == name]
    fitting = [item for item in named if _fits(item, kind, owner, server)]
    if len(fitting) == 1 or not named:
        return next(iter(fitting), None)
    listed = "".join(f"\n  {describe_item(item)}" for item in fitting or named)
    name = safe_text(name)
    if not fitting:
        raise Misused(f"None that is called {name!r} is that one. There is:{listed}")
    raise Misused(f"{len(fitting)} things are called {name!r}. Say which, {_distinctions(fitting)}:{listed}")


def _fits(item: ItemSummary, kind: str | None, owner: str | None, server: str | None) -> bool:
    is_theirs = owner is None or matches_owner(item.owner, owner)
    return is_theirs and kind in {None, item.item.kind} and server in {None, item.server}


def _distinctions(items: Sequence[ItemSummary]) -> str:
    """The options that tell the items apart."""
    options = {
        "--kind": {item.item.kind for item in items},
        "--owner": {item.owner for item in items},
        "--server": {item.server for item in items},
    }
    return "with " + " and ".join(option for option, values in options.items() if len(values) > 1)


def _lines(items: Sequence[ItemSummary]) -> Iterator[str]:
    rows = [
        (item.item.kind, safe_text(item.item.name), f"for {safe_text(item.server)}", _times(item))
        for item in items
    ]
    widths = [max(width_of(row[column]) for row in rows) for column in range(3)]
    for *cells, times in rows:
        yield "  ".join([*map(pad, cells, widths), times])


def _times(item: ItemSummary) -> str:
    if item.put_at is None:
        return "no key here opens it"
    until = "" if item.until is None else f", until {format_time(item.until)}"
    return f"since {format_time(item.put_at)}{until}"
