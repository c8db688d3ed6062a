"""Lines and guarded runs of a ledger, for a reader and for programs. Texts of others are made safe for the terminal."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from askback.cli.console import Printer, TextRow, format_iso, format_time, print_note, shorten
from askback.ledger.chain import LedgerLine
from askback.ledger.entries import LedgerEntry
from askback.ledger.reader import RecordedRun, entry_of
from askback.model.cells import pad, width_of, wrap
from askback.model.owners import describe_owner
from askback.model.safe import safe_text

MAX_TEXT = 60
"""Characters of a text in a list."""

MIN_ROOM = 24
"""Columns for what happened. If fewer are left, it is printed below the rest of its line."""

BELOW = 8
"""Indent of lines below a line: under the time, behind the number."""

WORDS = {
    "client": "on the client's word",
    "page": "on the page's word",
    "policy": "on a policy's word",
    "server": "on the server's word",
}


MAX_QUESTION = 300
"""Characters of a question's first line; `askback ledger show` prints all of it."""

DIGEST = re.compile(r"[0-9a-f]{32,}")
"""A digest, which is left out; `askback ledger show` and --json have it."""

NOT_KNOWN = "not known"

MIN_ROUNDED = 100
"""From here on, numbers are printed without a fraction."""

DECISIONS: Mapping[str, str] = {
    "approved": "approved",
    "once": "approved once",
    "conversation": "approved for this call",
    "limit": "approved with a limit",
    "cannot ask": "nobody could be asked",
    "timed out": "nobody answered in time",
    "cannot be shown": "too long to be asked",
    "unfit": "no answer that fits",
    "refused": "refused by a rule",
    "even if cannot ask": "allowed even if nobody can be asked",
    "even if timed out": "allowed even if nobody answers",
    "even if cancelled": "allowed even if cancelled",
}
"""Decisions in words; others are printed as they are recorded."""

APPROVAL_OF, FOR = "approval of ", "for "

CHANNELS: Mapping[str, str] = {
    "form": "in a form",
    "page": "on a page",
    "desk": "at a desk",
    "terminal": "in a terminal",
    "policy": "by a policy",
    "script": "by a script",
}

NO_RUNS = "This ledger has no guarded runs, or none since then."


class LedgerSummary(NamedTuple):
    """A line in brief: number, time, call and place, and what happened."""

    head: tuple[str, str, str, str]
    happened: str
    below: Sequence[str] = ()
    """More lines, printed below."""


def summarize_line(line: LedgerLine, note: str) -> LedgerSummary:
    """A line in brief; `note` is a warning about it."""
    entry = entry_of(line)
    if entry is not None:
        return LedgerSummary(head_of(line.number, entry), f"{_happened(entry, MAX_TEXT)}  {note}".rstrip())
    records = {
        "opened": f"the writer {safe_text(line.writer)} has begun",
        "trimmed": f"old lines go, those before {line.record.get('before')}",
        "entry": "an entry that this version of Askback cannot read",
    }
    return LedgerSummary(
        (f"{line.number:>6}", _time(line.at), "", ""), f"{records[line.kind]}  {note}".rstrip()
    )


def head_of(number: int, entry: LedgerEntry) -> tuple[str, str, str, str]:
    """The columns before what happened."""
    place = "/".join(shorten(part, MAX_TEXT) for part in (entry.server, entry.target) if part)
    return f"{number:>6}", _time(entry.at), safe_text(short_id(entry.call)), place


def short_id(call: str) -> str:
    """Enough of a call's id for `show`: its number in its process, and the beginning of the process."""
    number, dash, process = call.partition("-")
    return f"{number}{dash}{process[:6]}"


class LedgerColumns:
    """Prints summaries; columns grow with their content and never shrink."""

    def __init__(self, printer: Printer) -> None:
        self._printer = printer
        self._widths = [0, 0, 0, 0]

    def print(self, summaries: Sequence[LedgerSummary]) -> None:
        """Print summaries: whole lines for a program, wrapped lines on a terminal."""
        for summary in summaries:
            self._widths = [*map(max, self._widths, map(width_of, summary.head))]
        for summary in summaries:
            head = "".join(f"{cell}  " for cell in map(pad, summary.head, self._widths))
            below = list(summary.below)
            if self._printer.is_terminal and self._printer.width - width_of(head) < MIN_ROOM:
                self._printer.write("", head=head.rstrip())
                below.insert(0, summary.happened)
            else:
                self._print(summary.happened, width_of(head), head)
            for text in below:
                self._print(text, BELOW, " " * BELOW)

    def _print(self, text: str, indent: int, head: str) -> None:
        lines = [text]
        if self._printer.is_terminal:
            lines = wrap(text, self._printer.width - indent, hang="  ")
        for number, line in enumerate(lines):
            self._printer.write(line, head=" " * indent if number else head)


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
    """What the entries of a call have in common."""
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


def print_runs(
    runs: Sequence[RecordedRun], printer: Printer, notes: Mapping[int, str], *, has_keys: bool, as_lines: bool
) -> None:
    """Print guarded runs; `notes` are warnings about lines, by number."""
    noted = [(run, next((notes[one] for one in run.numbers if one in notes), "")) for run in runs]
    if as_lines:
        for run, note in noted:
            # ASCII alone: it may end on a terminal.
            printer.write(json.dumps(as_json(run, is_sealed=not note if has_keys else None)))
        return
    LedgerColumns(printer).print([summarize_run(run, note) for run, note in noted])
    endings = Counter(run.then for run in runs)
    each = ", ".join(f"{count} {ending}" for ending, count in endings.items())
    print_note(f"{len(runs)} guarded: {each}." if runs else NO_RUNS)


def summarize_run(run: RecordedRun, note: str) -> LedgerSummary:
    """A run in brief; `note` is a warning about its lines."""
    happened = f"{decision_of(run)}: {run.then}  {note}".rstrip()
    return LedgerSummary(head_of(run.numbers[0], run.first), happened, [*_below(run)])


def as_json(run: RecordedRun, *, is_sealed: bool | None) -> dict[str, Any]:
    """A run for programs: times in UTC, None for what was not recorded."""
    entry = run.first
    return {
        "lines": run.numbers,
        "sealed": is_sealed,
        "server": entry.server,
        "call": entry.call,
        "kind": entry.kind,
        "target": entry.target,
        "guard": run.guard,
        "place": entry.place,
        "caller": entry.caller,
        "client": entry.client,
        "revision": entry.revision,
        "message": run.message,
        "facts": run.facts,
        "cut": entry.cut,
        "asked": format_iso(run.asked and run.asked.at),
        "decided": format_iso(run.decided and run.decided.at),
        "ended": format_iso(run.ended and run.ended.at),
        "approved": run.is_approved,
        "decision": run.decision,
        "channel": run.channel,
        "word": run.word,
        "policy": run.policy,
        "then": run.then,
    }


def decision_of(run: RecordedRun) -> str:
    """The decision in words."""
    decision = run.decision
    if not run.is_approved or decision in DECISIONS:
        return shorten(DECISIONS.get(decision, decision), MAX_QUESTION)
    if decision.startswith(APPROVAL_OF):
        return f"by the approval of {safe_text(short_id(decision.removeprefix(APPROVAL_OF)))}"
    return f"approved {'' if decision.startswith(FOR) else 'with '}{shorten(decision, MAX_QUESTION)}"


def _below(run: RecordedRun) -> Iterator[str]:
    if run.message:
        line = next((line for line in run.message.splitlines() if line.strip()), "")
        yield f'"{shorten(line, MAX_QUESTION)}"'
    for name, fact in run.facts.items():
        text = NOT_KNOWN if fact is None else _fact(fact)
        if text and (name, fact) != ("tool", run.first.target):
            yield safe_text(f"{name}: {text}")
    if run.first.cut and "facts" in run.first.cut:
        yield "and more facts, which were too long to be kept"
    yield ", ".join(_who(run))


def _who(run: RecordedRun) -> Iterator[str]:
    entry = run.first
    whose = describe_owner(entry.caller) if entry.caller is not None else "an unknown caller"
    yield f"{'by' if run.answered is not None else 'for'} {shorten(whose, MAX_QUESTION)}"
    if entry.client:
        yield f"with {safe_text(entry.client)}"
    if run.answered is None:
        return
    if run.channel not in (None, run.word):
        yield safe_text(CHANNELS.get(run.channel or "", run.channel or ""))
    if run.word is not None:
        rule = f" ({shorten(run.policy, MAX_QUESTION)})" if run.policy else ""
        yield f"{safe_text(WORDS.get(run.word, run.word))}{rule}"


def _fact(fact: Any) -> str:
    """A fact in words; empty if there is nothing to read in it."""
    match fact:
        case None:
            return ""
        case bool():
            return "yes" if fact else "no"
        case int():
            return f"{fact:,}"
        case float():
            return f"{fact:,.0f}" if abs(fact) >= MIN_ROUNDED else f"{fact:.3g}"
        case dict():
            return ", ".join(_pairs(cast("dict[str, Any]", fact)))
        case list():
            return ", ".join(filter(None, map(_fact, cast("list[Any]", fact))))
        case _:
            text = " ".join(str(fact).split())
            return "" if DIGEST.fullmatch(text) else text


def _pairs(facts: Mapping[str, Any]) -> Iterator[str]:
    """`rows 3`, and `customers.email (email)`."""
    for name, fact in facts.items():
        if text := _fact(fact):
            yield f"{name} ({text})" if isinstance(fact, str) else f"{name} {text}"
