"""Lines of a ledger as a person reads them. What servers, clients and people wrote is made safe for the terminal."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from askback.cli.printer import Printer, TextRow
from askback.ledger.chain import LedgerLine
from askback.ledger.entries import LedgerEntry
from askback.ledger.reader import entry_of
from askback.model.cells import pad, width_of, wrap
from askback.model.owners import describe_owner
from askback.model.safe import safe_text

BRIEF = 60
"""Letters of a text in a list."""

NARROWEST = 24
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
    """One line for one line: its number, when, the call, where it was made; and what happened."""

    head: tuple[str, str, str, str]
    happened: str
    below: Sequence[str] = ()
    """More of it, in lines of their own."""


def summarize_line(line: LedgerLine, note: str) -> LedgerSummary:
    """`note` is for a line that is not what it seems."""
    entry = entry_of(line)
    if entry is None:
        return LedgerSummary((f"{line.number:>6}", moment(line.at), "", ""), add_note(_of_itself(line), note))
    return LedgerSummary(head_of(line.number, entry), add_note(_happened(entry, BRIEF), note))


def head_of(number: int, entry: LedgerEntry) -> tuple[str, str, str, str]:
    """What stands before what happened."""
    where = "/".join(shorten(part, BRIEF) for part in (entry.server, entry.target) if part)
    return f"{number:>6}", moment(entry.at), safe_text(short_id(entry.call)), where


def short_id(call: str) -> str:
    """Enough of it for `show`: the number of the call in its process, and who that was."""
    number, dash, process = call.partition("-")
    return f"{number}{dash}{process[:6]}"


class LedgerColumns:
    """Lines in brief, one below the other; columns grow with what comes and never shrink."""

    def __init__(self, paper: Printer) -> None:
        self._paper = paper
        self._widths = [0, 0, 0, 0]

    def print(self, lines: Sequence[LedgerSummary]) -> None:
        """Whole lines for a program; on a terminal what happened is wrapped under itself."""
        for line in lines:
            self._widths = [*map(max, self._widths, map(width_of, line.head))]
        for line in lines:
            head = "".join(
                f"{pad(cell, width)}  " for cell, width in zip(line.head, self._widths, strict=True)
            )
            self._print(head, line.happened)
            for more in line.below:
                self._below(
                    wrap(more, self._paper.width - BELOW, hang="  ") if self._paper.is_terminal else [more],
                    BELOW,
                )

    def _print(self, head: str, happened: str) -> None:
        paper, room = self._paper, self._paper.width - width_of(head)
        if not paper.is_terminal:
            paper.write(f"{head}{happened}")
        elif room >= NARROWEST:
            first, *rest = wrap(happened, room, hang="  ")
            paper.write(first, head=head)
            self._below(rest, width_of(head))
        else:
            paper.write("", head=head.rstrip())
            self._below(wrap(happened, paper.width - BELOW, hang="  "), BELOW)

    def _below(self, lines: Sequence[str], indent: int) -> None:
        for line in lines:
            self._paper.write(" " * indent + line)


def add_note(happened: str, note: str) -> str:
    """With a word on a line that is not what it seems."""
    return f"{happened}  {note}" if note else happened


def print_story(
    told: Sequence[tuple[LedgerLine, LedgerEntry]], paper: Printer, notes: Mapping[int, str]
) -> None:
    """What happened in one call; `notes` are for lines that are not what they seem."""
    first = told[0][1]
    paper.print(f"call {safe_text(first.call)}", "bold")
    paper.columns([[[TextRow(row, indent=2) for row in _about([entry for _, entry in told])]]])
    for line, entry in told:
        paper.print(f"{moment(entry.at)}  {_happened(entry)}")
        rows = [*_details(entry), *([notes[line.number]] if line.number in notes else [])]
        paper.columns([[[TextRow(row, indent=4) for row in rows]]])


def moment(at: float | None) -> str:
    """In the time of whoever reads it."""
    if at is None:
        return "at no time"
    return datetime.fromtimestamp(at, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _of_itself(line: LedgerLine) -> str:
    told: dict[str, str] = {
        "opened": f"the writer {safe_text(line.writer)} has begun",
        "trimmed": f"old lines go, those before {line.record.get('before')}",
        "entry": "an entry that this version of Askback cannot read",
    }
    return told[line.kind]


def _about(entries: Sequence[LedgerEntry]) -> Iterator[str]:
    first = entries[0]
    yield f"server     {safe_text(first.server)}"
    if first.target is not None:
        yield f"{safe_text(first.kind or 'target'):<9}  {safe_text(first.target)}"
    for name, says in (("caller", describe_owner), ("client", str), ("revision", str), ("arguments", str)):
        values = dict.fromkeys(value for entry in entries if (value := getattr(entry, name)))
        for value in values:
            yield f"{name:<9}  {safe_text(says(value))}"


def _happened(entry: LedgerEntry, most: int | None = None) -> str:
    told = " ".join(_words(entry, most))
    return told if entry.reason is None else f"{told}: {shorten(entry.reason, most)}"


def _words(entry: LedgerEntry, most: int | None) -> Iterator[str]:
    yield safe_text(entry.event)
    if entry.place is not None:
        yield f"[{shorten(entry.place, most)}]"
    if entry.action is not None:
        yield safe_text(entry.action)
    if entry.message is not None:
        yield f'"{shorten(entry.message, most)}"'
    if entry.word is not None:
        yield safe_text(WORDS.get(entry.word, entry.word))
    if entry.channel not in (None, entry.word):
        yield f"({safe_text(entry.channel)})"


def _details(entry: LedgerEntry) -> Iterator[str]:
    if entry.rule is not None:
        yield f"rule: {safe_text(entry.rule)}"
    if entry.asks is not None:
        yield f"asks: {_json(entry.asks)}"
    if entry.facts is not None:
        yield f"facts: {_json(entry.facts)}"
    if entry.answer is not None:
        yield f"answer: {_json(entry.answer)}"
    if entry.digest is not None:
        yield f"digest: {safe_text(entry.digest)}"
    if entry.question is not None:
        yield f"question: {safe_text(entry.question)}"
    if entry.cut:
        yield f"too long to be kept whole: {safe_text(', '.join(entry.cut))}"


def _json(value: Any) -> str:
    return safe_text(json.dumps(value, ensure_ascii=False))


def shorten(text: str, most: int | None) -> str:
    """In one line, of so many letters at most."""
    line = " ".join(text.split())
    return safe_text(line if most is None or len(line) <= most else line[: most - 1] + "…")
