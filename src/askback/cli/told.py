"""Lines of a ledger as a person reads them. What servers, clients and people wrote is made safe for the terminal."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from askback.cli.notes import safe
from askback.cli.paper import Paper, Row
from askback.ledger.chain import Line
from askback.ledger.entries import Entry
from askback.ledger.reading import entry_of
from askback.owners import described

BRIEF = 60
"""Letters of a text in a list."""

WORDS = {
    "client": "on the client's word",
    "page": "on the page's word",
    "policy": "on a policy's word",
    "server": "on the server's word",
}


def in_brief(line: Line) -> str:
    """One line for one line."""
    entry = entry_of(line)
    if entry is None:
        return f"{line.number:>6}  {moment(line.at)}  {_of_itself(line)}"
    where = "/".join(safe(part) for part in (entry.server, entry.target) if part)
    told = "  ".join([moment(entry.at), safe(entry.call[:8]), where, " ".join(_happened(entry, most=BRIEF))])
    return f"{line.number:>6}  {told}"


def print_story(told: Sequence[tuple[Line, Entry]], paper: Paper, notes: Mapping[int, str]) -> None:
    """What happened in one call; `notes` are for lines that are not what they seem."""
    first = told[0][1]
    paper.print(f"call {safe(first.call)}", "bold")
    paper.columns([[[Row(row, indent=2) for row in _about([entry for _, entry in told])]]])
    for line, entry in told:
        paper.print(f"{moment(entry.at)}  {' '.join(_happened(entry))}")
        rows = [*_details(entry), *([notes[line.number]] if line.number in notes else [])]
        paper.columns([[[Row(row, indent=4) for row in rows]]])


def moment(at: float | None) -> str:
    """In the time of whoever reads it."""
    if at is None:
        return "at no time"
    return datetime.fromtimestamp(at, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _of_itself(line: Line) -> str:
    told: dict[str, str] = {
        "opened": f"the writer {safe(line.writer)} has begun",
        "trimmed": f"old lines go, those before {line.record.get('before')}",
        "entry": "an entry that this version of Askback cannot read",
    }
    return told[line.kind]


def _about(entries: Sequence[Entry]) -> Iterator[str]:
    first = entries[0]
    yield f"server     {safe(first.server)}"
    if first.target is not None:
        yield f"{safe(first.kind or 'target'):<9}  {safe(first.target)}"
    for name, says in (("caller", described), ("client", str), ("revision", str), ("arguments", str)):
        values = dict.fromkeys(value for entry in entries if (value := getattr(entry, name)))
        for value in values:
            yield f"{name:<9}  {safe(says(value))}"


def _happened(entry: Entry, most: int | None = None) -> Iterator[str]:
    yield safe(entry.event)
    if entry.place is not None:
        yield f"[{_short(entry.place, most)}]"
    if entry.action is not None:
        yield safe(entry.action)
    if entry.message is not None:
        yield f'"{_short(entry.message, most)}"'
    if entry.word is not None:
        yield safe(WORDS.get(entry.word, entry.word))
    if entry.channel is not None:
        yield f"({safe(entry.channel)})"
    if entry.reason is not None:
        yield f"because: {_short(entry.reason, most)}"


def _details(entry: Entry) -> Iterator[str]:
    if entry.rule is not None:
        yield f"rule: {safe(entry.rule)}"
    if entry.asks is not None:
        yield f"asks: {_json(entry.asks)}"
    if entry.answer is not None:
        yield f"answer: {_json(entry.answer)}"
    if entry.digest is not None:
        yield f"digest: {safe(entry.digest)}"
    if entry.question is not None:
        yield f"question: {safe(entry.question)}"
    if entry.cut:
        yield f"too long to be kept whole: {safe(', '.join(entry.cut))}"


def _json(value: Any) -> str:
    return safe(json.dumps(value, ensure_ascii=False))


def _short(text: str, most: int | None) -> str:
    line = " ".join(text.split())
    return safe(line if most is None or len(line) <= most else line[: most - 1] + "…")
