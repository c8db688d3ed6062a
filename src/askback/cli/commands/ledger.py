"""`askback ledger`: who was asked what and what they said, read, exported and verified."""

import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO

import anyio

from askback.cli.console import Exit, Misused, Printer, format_count, format_time, print_note
from askback.cli.ledger_lines import LedgerColumns, LedgerSummary, print_runs, print_story, summarize_line
from askback.cli.subcommands import Subcommands
from askback.errors import OperatorError
from askback.ledger import Heads, Ledger, LedgerLine, Report, read_heads
from askback.ledger.chain import judge_seal, read_line
from askback.ledger.keys import VARIABLE, LedgerKeyRing, UnreadableLine, known_keys
from askback.ledger.reader import (
    RecordedRuns,
    calls_of,
    entry_of,
    last_line,
    read_call,
    read_lines,
    read_numbered,
)
from askback.model.safe import safe_text
from askback.stores import Store

EXAMPLES = """\
examples:
  export ASKBACK_STORE=sqlite:///tools.db
  askback ledger tail -n 20                    what was asked and answered last
  askback ledger show 17-8d41c0                the story of one call
  askback ledger guards --since 2026-11-01     what guards asked, and what then ran
  askback ledger export --since 2026-11-01 > november.jsonl
  askback ledger heads > /mnt/elsewhere/monday.json
  askback ledger verify --head /mnt/elsewhere/monday.json
  askback ledger trim --keep 400               lines older than 400 days go

Keys come from ASKBACK_LEDGER_KEYS or --keys-file: those of Askback(keys=...),
the newest first. tail, show, guards and export work without keys, and then
verify nothing.
"""

FOLLOW_SECONDS = 1.0
"""Between two reads of new lines."""

BATCH_SIZE = 200
"""Lines that are printed in columns together, and held in memory."""

MAX_LISTED = 20
"""Calls that an error lists."""

NO_KEYS = (
    f"There are no keys here to verify with. Set {VARIABLE} to the keys of the servers, the newest first, or name a "
    "file with the keys: --keys-file."
)
NOT_VERIFIED = (
    f"None of this is verified: there are no keys here. Set {VARIABLE}, or name a file with --keys-file."
)
WRONG_SEAL = "(its seal does not fit: it was changed, or forged)"
NO_KEY = "(not verified: its key is not here)"


def main(words: Sequence[str]) -> int:
    """Run the command; gives the exit code."""
    description = "Who was asked what, when, and what they said; and whether somebody changed the record."
    commands = Subcommands("ledger", description, EXAMPLES)
    verify = commands.add_on_store("verify", _verify, "tell whether the ledger is as it was written")
    verify.add_argument("--head", metavar="FILE", type=Path, help="what `heads` printed earlier")
    tail = commands.add_on_store("tail", _tail, "the last lines")
    tail.add_argument("-n", metavar="N", type=_count, default=10, help="how many; without it, 10")
    tail.add_argument("--follow", action="store_true", help="go on with new lines, until Ctrl-C")
    show = commands.add_on_store("show", _show, "the story of one call")
    show.add_argument("name", metavar="ID", help="the id of a call or a question, or its beginning")
    guards = commands.add_on_store("guards", _guards, "what guards asked, who decided, and what then ran")
    guards.add_argument("--json", dest="as_lines", action="store_true", help="print JSON Lines, for programs")
    export = commands.add_on_store("export", _export, "print lines as JSON Lines")
    export.add_argument("--after", metavar="N", type=_count, default=0, help="only lines after this number")
    export.add_argument("--out", metavar="FILE", type=Path, help="write to this file, which must be new")
    help_ = "only from this date or time on (ISO 8601)"
    for verb in (guards, export):
        verb.add_argument("--since", metavar="WHEN", type=_time, help=help_)
    heads = commands.add_on_store(
        "heads", _heads, "print where the ledger ends, sealed, to be kept elsewhere"
    )
    trim = commands.add_on_store("trim", _trim, "remove old lines")
    trim.add_argument("--keep", metavar="DAYS", type=_days, required=True, help="lines that are younger stay")
    help_ = f"a file with one key in each line, instead of {VARIABLE}"
    for verb in (verify, tail, show, guards, export, heads, trim):
        verb.add_argument("--keys-file", metavar="FILE", type=Path, help=help_)
    return commands.run(words)


async def _verify(options: Namespace, store: Store) -> int:
    ledger = _ledger(options, store)
    report = await ledger.verify(None if options.head is None else _read_head(options.head))
    printer = Printer()
    if report.is_sound:
        printer.print(f"The ledger is as it was written: {_extent(report)}.")
        if report.head_at is None:
            print_note("Only an earlier head shows whether the end was cut off: see `askback ledger heads`.")
        return Exit.DONE
    problems = f"{format_count(report.count, 'problem')} in {_extent(report)}"
    printer.print(f"The ledger {_verdict(report)}: {problems}.")
    for problem in report.problems:
        printer.print(f"- {safe_text(str(problem))}")
    if report.count > len(report.problems):
        printer.print(f"- and {report.count - len(report.problems)} more.")
    return Exit.FAILED


async def _tail(options: Namespace, store: Store) -> int:
    ring, columns = _ring(options), LedgerColumns(Printer())
    last = await last_line(store)
    after = max(0, (last[0] if last else 0) - options.n)
    while True:
        batch: list[LedgerSummary] = []
        async for line in read_lines(store, after=after):
            after = line.number
            batch.append(summarize_line(line, _note(line, ring)))
            if len(batch) == BATCH_SIZE:
                columns.print(batch)
                batch.clear()
        columns.print(batch)
        if not options.follow:
            return Exit.DONE
        sys.stdout.flush()
        await anyio.sleep(FOLLOW_SECONDS)


async def _show(options: Namespace, store: Store) -> int:
    calls = await calls_of(store, options.name)
    if not calls:
        print_note(f"No call and no question begins with {safe_text(options.name)!r} in this ledger.")
        return Exit.FAILED
    if len(calls) > 1:
        listed = "".join(f"\n  {safe_text(call)}" for call in sorted(calls)[:MAX_LISTED])
        print_note(
            f"{len(calls)} calls begin so, or one of their questions. Type more of the one you mean:{listed}"
        )
        return Exit.FAILED
    ring = _ring(options)
    story = await read_call(store, calls.pop())
    print_story(story, Printer(), {line.number: _note(line, ring) for line, _ in story})
    return Exit.DONE


async def _guards(options: Namespace, store: Store) -> int:
    ring, guards = _ring(options), RecordedRuns()
    notes: dict[int, str] = {}
    async for line in read_lines(store):
        entry = entry_of(line)
        if entry is not None and guards.take(line.number, entry) and (note := _note(line, ring)):
            notes[line.number] = note
    runs = [run for run in guards if options.since is None or run.first.at >= options.since]
    print_runs(runs, Printer(), notes, has_keys=ring is not None, as_lines=options.as_lines)
    return Exit.DONE


async def _export(options: Namespace, store: Store) -> int:
    """Print each line as it was sealed, with its number before it."""
    code = Exit.DONE
    with _new_file(options.out) as out:
        async for number, raw in read_numbered(store, after=options.after):
            try:
                at = read_line(number, raw).at
            except UnreadableLine as error:
                code = Exit.FAILED
                print_note(f"Line {number} is left out: {error}.")
                continue
            if options.since is None or (at is not None and at >= options.since):
                out.write(b'{"number":%d,' % number + raw[1:] + b"\n")
        out.flush()
    print_note("Export does not verify: use `askback ledger verify`.")
    return code


async def _heads(options: Namespace, store: Store) -> int:
    ledger = _ledger(options, store)
    try:
        heads = await ledger.heads()
    except OperatorError as error:
        print_note(error.message)
        return Exit.FAILED
    print(heads.to_json())
    return Exit.DONE


async def _trim(options: Namespace, store: Store) -> int:
    count = await _ledger(options, store).trim(options.keep)
    older = f"older than {format_count(options.keep / timedelta(days=1), 'day')}"
    Printer().print(f"{format_count(count, 'line')} {older} went." if count else f"No line is {older}.")
    return Exit.DONE


def _ledger(options: Namespace, store: Store) -> Ledger:
    keys = known_keys(options.keys_file)
    if keys is None:
        raise Misused(NO_KEYS)
    return Ledger(store, keys, keep=None)


def _ring(options: Namespace) -> LedgerKeyRing | None:
    """The keys, for verbs that also work without; None prints a note."""
    keys = known_keys(options.keys_file)
    if keys is None:
        print_note(NOT_VERIFIED)
        return None
    return LedgerKeyRing(keys)


def _note(line: LedgerLine, ring: LedgerKeyRing | None) -> str:
    """A warning about a line whose seal does not fit; empty if there are no keys to tell."""
    if ring is None:
        return ""
    return {"sealed": "", "keyless": NO_KEY}.get(judge_seal(line, ring), WRONG_SEAL)


def _verdict(report: Report) -> str:
    """The verdict in words; a missing key says nothing about what was written."""
    is_keyless = len(report.problems) == report.count and {one.kind for one in report.problems} == {"keyless"}
    return "could not be verified as a whole" if is_keyless else "is not as it was written"


def _extent(report: Report) -> str:
    if not report.lines:
        return "it has no line"
    writers, lines = format_count(report.writers, "writer"), format_count(report.lines, "line")
    head = ""
    if report.head_at is not None:
        head = f", compared with the head of {format_time(report.head_at, seconds=True)}"
    return f"{lines}, {report.first} to {report.last}, by {writers}{head}"


def _read_head(file: Path) -> Heads:
    try:
        return read_heads(file.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise Misused(f"The head in {file} cannot be read: {error}.") from error


def _new_file(file: Path | None) -> "nullcontext[BinaryIO] | BinaryIO":
    if file is None:
        return nullcontext(sys.stdout.buffer)
    try:
        return file.open("xb")
    except OSError as error:
        raise Misused(f"{file} cannot be written: {error.strerror}. Name a new file.") from error


def _count(word: str) -> int:
    if not (word.isascii() and word.isdigit()):
        raise ArgumentTypeError(f"{safe_text(word)!r} is not a number of lines: write 20")
    return int(word)


def _days(word: str) -> timedelta:
    with suppress(ValueError, OverflowError):
        keep = timedelta(days=float(word))
        if keep > timedelta():
            return keep
    raise ArgumentTypeError(f"{safe_text(word)!r} is not a number of days: write 400")


def _time(word: str) -> float:
    """A date or time; without a zone, it is local time."""
    with suppress(ValueError, OverflowError):
        return datetime.fromisoformat(word).timestamp()
    raise ArgumentTypeError(
        f"{safe_text(word)!r} is not a date or time: write 2026-11-01, or 2026-11-01T08:00"
    )
