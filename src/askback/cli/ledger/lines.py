"""Lines of a ledger for a reader. What servers, clients and people wrote is made safe for the terminal."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from askback.cli.printer import Printer, TextRow
from askback.cli.texts import format_time, shorten
from askback.ledger.chain import LedgerLine
from askback.ledger.entries import LedgerEntry
from askback.ledger.reader import entry_of
from askback.model.cells import pad, width_of, wrap
from askback.model.owners import describe_owner
from askback.model.safe import safe_text

MAX_TEXT = 60
"""Characters of a text in a list."""

MIN_ROOM = 24
"""Columns for what happened. Where fewer are left, it goes below the rest of its line."""

BELOW = 8
"""Columns: under the time, behind the number."""

WORDS = {
    "client": "on the client's word",
    "page": "on the page's word",
    "policy": "on a policy's word",
    "server": "on the server's word",
}


class LedgerSummary(NamedTuple):
    """A line in brief: its number, when, the call, where it was made; and what happened."""

    head: tuple[str, str, str, str]
    happened: str
    below: Sequence[str] = ()
    """More of it, in lines of their own."""


def summarize_line(line: LedgerLine, note: str) -> LedgerSummary:
    """`note` is a warning about the line."""
    entry = entry_of(line)
    if entry is not None:
        return LedgerSummary(head_of(line.number, entry), add_note(_happened(entry, MAX_TEXT), note))
    records = {
        "opened": f"the writer {safe_text(line.writer)} has begun",
        "trimmed": f"old lines go, those before {line.record.get('before')}",
        "entry": "an entry that this version of Askback cannot read",
    }
    return LedgerSummary((f"{line.number:>6}", _time(line.at), "", ""), add_note(records[line.kind], note))


def head_of(number: int, entry: LedgerEntry) -> tuple[str, str, str, str]:
    """What stands before what happened."""
    place = "/".join(shorten(part, MAX_TEXT) for part in (entry.server, entry.target) if part)
    return f"{number:>6}", _time(entry.at), safe_text(short_id(entry.call)), place


def short_id(call: str) -> str:
    """Enough of it for `show`: the number of the call in its process, and which process."""
    number, dash, process = call.partition("-")
    return f"{number}{dash}{process[:6]}"


class LedgerColumns:
    """Summaries one below the other; columns grow with what comes and never shrink."""

    def __init__(self, printer: Printer) -> None:
        self._printer = printer
        self._widths = [0, 0, 0, 0]

    def print(self, summaries: Sequence[LedgerSummary]) -> None:
        """Whole lines for a program; on a terminal what happened is wrapped under itself."""
        for summary in summaries:
            self._widths = [*map(max, self._widths, map(width_of, summary.head))]
        for summary in summaries:
            head = "".join(f"{cell}  " for cell in map(pad, summary.head, self._widths))
            self._print(head, summary.happened)
            for text in summary.below:
                self._print_below(self._wrap(text, BELOW), BELOW)

    def _print(self, head: str, happened: str) -> None:
        indent = width_of(head)
        if self._printer.is_terminal and self._printer.width - indent < MIN_ROOM:
            self._printer.write("", head=head.rstrip())
            self._print_below(self._wrap(happened, BELOW), BELOW)
        else:
            first, *rest = self._wrap(happened, indent)
            self._printer.write(first, head=head)
            self._print_below(rest, indent)

    def _wrap(self, text: str, indent: int) -> list[str]:
        is_terminal = self._printer.is_terminal
        return wrap(text, self._printer.width - indent, hang="  ") if is_terminal else [text]

    def _print_below(self, lines: Sequence[str], indent: int) -> None:
        for line in lines:
            self._printer.write(" " * indent + line)


def add_note(happened: str, note: str) -> str:
    return f"{happened}  {note}" if note else happened


def print_story(
    story: Sequence[tuple[LedgerLine, LedgerEntry]], printer: Printer, notes: Mapping[int, str]
) -> None:
    """Print what happened in one call; `notes` are warnings about lines, by number."""
    printer.print(f"call {safe_text(story[0][1].call)}", "bold")
    printer.columns([[[TextRow(row, indent=2) for row in _facts([entry for _, entry in story])]]])
    for line, entry in story:
        printer.print(f"{_time(entry.at)}  {_happened(entry)}")
        rows = [*_details(entry), notes[line.number]]
        printer.columns([[[TextRow(row, indent=4) for row in rows if row]]])


def _time(at: float | None) -> str:
    return "at no time" if at is None else format_time(at, seconds=True)


def _facts(entries: Sequence[LedgerEntry]) -> Iterator[str]:
    """What all entries of a call have in common, or nearly all."""
    first = entries[0]
    yield f"server     {safe_text(first.server)}"
    if first.target is not None:
        yield f"{safe_text(first.kind or 'target'):<9}  {safe_text(first.target)}"
    for name in ("caller", "client", "revision", "arguments"):
        for value in dict.fromkeys(value for entry in entries if (value := getattr(entry, name))):
            yield f"{name:<9}  {safe_text(describe_owner(value) if name == 'caller' else value)}"


def _happened(entry: LedgerEntry, length: int | None = None) -> str:
    channel = entry.channel if entry.channel != entry.word else None
    parts = [
        safe_text(entry.event),
        entry.place and f"[{shorten(entry.place, length)}]",
        entry.action and safe_text(entry.action),
        entry.message and f'"{shorten(entry.message, length)}"',
        entry.word and safe_text(WORDS.get(entry.word, entry.word)),
        channel and f"({safe_text(channel)})",
    ]
    happened = " ".join(filter(None, parts))
    return happened if entry.reason is None else f"{happened}: {shorten(entry.reason, length)}"


def _details(entry: LedgerEntry) -> Iterator[str]:
    for name in ("rule", "asks", "facts", "answer", "digest", "question"):
        value = getattr(entry, name)
        if value is not None:
            is_text = name in {"rule", "digest", "question"}
            yield f"{name}: {safe_text(value if is_text else json.dumps(value, ensure_ascii=False))}"
    if entry.cut:
        yield f"too long to be kept whole: {safe_text(', '.join(entry.cut))}"
