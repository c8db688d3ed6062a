"""`askback ledger`: who was asked what and what they said, read, exported, and held against what was sealed."""

import argparse
import os
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO

import anyio

from askback.cli.exits import CommandInterrupted, Exit, Misused
from askback.cli.ledger.guards import print_runs
from askback.cli.ledger.lines import LedgerColumns, LedgerSummary, moment, print_story, summarize_line
from askback.cli.printer import Printer, print_note
from askback.cli.signals import run
from askback.cli.store.option import require_existing
from askback.errors import OperatorError
from askback.ledger import Heads, Ledger, LedgerLine, Report, read_heads
from askback.ledger.chain import read_line
from askback.ledger.codec import UnreadableLine
from askback.ledger.guards import GuardedRuns
from askback.ledger.keys import VARIABLE, Keys, LedgerKeyRing, known_keys
from askback.ledger.reader import calls_of, entry_of, last_line, read_call, read_lines, read_numbered
from askback.ledger.seal import judge_seal
from askback.model.safe import safe_text
from askback.stores import Store, open_store

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
the newest first. tail, show, guards and export do without, and verify nothing
then.
"""

STORE = "ASKBACK_STORE"

FOLLOW_EACH = 1.0
"""Seconds between two looks for new lines."""

AT_ONCE = 200
"""Lines that are set in columns together; more would have to be held in memory."""

NO_KEYS = (
    f"There are no keys here to verify with. Set {VARIABLE} to those of the servers, the newest first, or name a file "
    "that has them with --keys-file."
)
NOT_VERIFIED = (
    f"None of this is verified: there are no keys here. Set {VARIABLE}, or name a file with --keys-file."
)
WRONG_SEAL = "(its seal does not fit: it was changed, or forged)"
NO_KEY = "(not verified: its key is not here)"


def main(words: Sequence[str]) -> int:
    """Run it; the exit code is for the shell."""
    chosen = _parser().parse_args(words)
    try:
        return run(_within, VERBS[chosen.verb], chosen)
    except CommandInterrupted as end:
        return end.exit
    except OperatorError as error:
        print_note(error.message)
        return Exit.MISUSED if isinstance(error, Misused) else Exit.FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="askback ledger",
        description="Who was asked what, when, and what they said; and whether somebody changed the record.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(title="commands", dest="verb", required=True, metavar="COMMAND")
    verify = verbs.add_parser("verify", help="tell whether the ledger is as it was written")
    verify.add_argument("--head", metavar="FILE", type=Path, help="what `heads` printed earlier")
    tail = verbs.add_parser("tail", help="the last lines")
    tail.add_argument("-n", metavar="N", type=_count, default=10, help="how many; without it, 10")
    tail.add_argument("--follow", action="store_true", help="go on with what comes, until Ctrl-C")
    show = verbs.add_parser("show", help="the story of one call")
    show.add_argument("name", metavar="ID", help="of a call or a question, or the beginning of one")
    guards = verbs.add_parser("guards", help="what guards asked, who decided, and what then ran")
    guards.add_argument("--json", action="store_true", help="print JSON Lines, for programs")
    export = verbs.add_parser("export", help="print lines as JSON Lines")
    export.add_argument("--after", metavar="N", type=_count, default=0, help="only lines behind this number")
    for one in (guards, export):
        one.add_argument(
            "--since", metavar="WHEN", type=_time, help="only from this date or time on (ISO 8601)"
        )
    export.add_argument("--out", metavar="FILE", type=Path, help="write them to this file, which must be new")
    heads = verbs.add_parser("heads", help="print where the ledger ends, sealed, to be kept elsewhere")
    trim = verbs.add_parser("trim", help="let old lines go")
    trim.add_argument("--keep", metavar="DAYS", type=_days, required=True, help="those that are younger stay")
    for one in (verify, tail, show, guards, export, heads, trim):
        one.add_argument(
            "--store", metavar="STORE", help=f"as Askback(store=...) has it; without it, {STORE}"
        )
        one.add_argument(
            "--keys-file", metavar="FILE", type=Path, help=f"one key in each line; else {VARIABLE}"
        )
    return parser


async def _within(verb: "Verb", chosen: argparse.Namespace) -> int:
    async with _opened(chosen.store or os.environ.get(STORE)) as store:
        return await verb(chosen, store)


@asynccontextmanager
async def _opened(written: str | None) -> AsyncGenerator[Store]:
    with _misused():
        store = open_store(_named(written), clock=time.time)
    try:
        yield store
    finally:
        with anyio.CancelScope(shield=True):
            await store.close()


@contextmanager
def _misused() -> Generator[None]:
    """What was typed, or a file it names, cannot be followed."""
    try:
        yield
    except OperatorError as error:
        raise Misused(safe_text(error.message)) from error


def _named(written: str | None) -> str:
    if not written:
        raise Misused(
            f'Which store? Write --store "sqlite:///tools.db", as your server has it, or set {STORE}.'
        )
    return require_existing(written)


def _keys(chosen: argparse.Namespace) -> Keys | None:
    with _misused():
        keys = known_keys(chosen.keys_file)
        if keys is not None:
            LedgerKeyRing(keys)
        return keys


def _ledger(chosen: argparse.Namespace, store: Store) -> Ledger:
    keys = _keys(chosen)
    if keys is None:
        raise Misused(NO_KEYS)
    return Ledger(store, keys, keep=None)


def _ring(chosen: argparse.Namespace) -> LedgerKeyRing | None:
    """For those who can do without."""
    keys = _keys(chosen)
    if keys is None:
        print_note(NOT_VERIFIED)
        return None
    return LedgerKeyRing(keys)


# The verbs.


async def _verify(chosen: argparse.Namespace, store: Store) -> int:
    ledger = _ledger(chosen, store)
    report = await ledger.verify(None if chosen.head is None else _head(chosen.head))
    paper = Printer()
    if report.is_sound:
        paper.print(f"The ledger is as it was written: {_extent(report)}.")
        if report.head_at is None:
            print_note(
                "Whether its end was cut off, only a head from before tells: see `askback ledger heads`."
            )
        return Exit.DONE
    found = f"{_counted(report.count, 'problem')} in {_extent(report)}"
    paper.print(f"The ledger {_verdict(report)}: {found}.")
    for problem in report.problems:
        paper.print(f"- {safe_text(str(problem))}")
    if report.count > len(report.problems):
        paper.print(f"- and {report.count - len(report.problems)} more.")
    return Exit.FAILED


async def _tail(chosen: argparse.Namespace, store: Store) -> int:
    ring, columns = _ring(chosen), LedgerColumns(Printer())
    found = await last_line(store)
    after = max(0, (found[0] if found else 0) - chosen.n)
    while True:
        told: list[LedgerSummary] = []
        async for line in read_lines(store, after=after):
            after = line.number
            told.append(summarize_line(line, _note(line, ring)))
            if len(told) == AT_ONCE:
                columns.print(told)
                told.clear()
        columns.print(told)
        if not chosen.follow:
            return Exit.DONE
        sys.stdout.flush()
        await anyio.sleep(FOLLOW_EACH)


async def _show(chosen: argparse.Namespace, store: Store) -> int:
    calls = await calls_of(store, chosen.name)
    if len(calls) != 1:
        listed = "".join(f"\n  {safe_text(call)}" for call in sorted(calls)[:20])
        several = (
            f"{len(calls)} calls begin so, or a question of theirs. Type more of the one you mean:{listed}"
        )
        print_note(
            several
            if calls
            else f"No call and no question begins with {safe_text(chosen.name)!r} in this ledger."
        )
        return Exit.FAILED
    ring = _ring(chosen)
    told = await read_call(store, calls.pop())
    notes = {line.number: note for line, _ in told if (note := _note(line, ring))}
    print_story(told, Printer(), notes)
    return Exit.DONE


async def _guards(chosen: argparse.Namespace, store: Store) -> int:
    ring, guards = _ring(chosen), GuardedRuns()
    notes: dict[int, str] = {}
    async for line in read_lines(store):
        entry = entry_of(line)
        if entry is not None and guards.take(line.number, entry) and (note := _note(line, ring)):
            notes[line.number] = note
    runs = [run for run in guards if chosen.since is None or run.first.at >= chosen.since]
    print_runs(runs, Printer(), notes, has_keys=ring is not None, as_lines=chosen.json)
    return Exit.DONE


async def _export(chosen: argparse.Namespace, store: Store) -> int:
    """Each line as it was sealed, with its number put in front."""
    left_out = 0
    with _new_file(chosen.out) as out:
        async for number, raw in read_numbered(store, after=chosen.after):
            try:
                at = read_line(number, raw).at
            except UnreadableLine as error:
                left_out += 1
                print_note(f"Line {number} is left out: {error}.")
                continue
            if chosen.since is None or (at is not None and at >= chosen.since):
                out.write(b'{"number":%d,' % number + raw[1:] + b"\n")
        out.flush()
    print_note("None of this was verified by exporting it: `askback ledger verify` does that.")
    return Exit.FAILED if left_out else Exit.DONE


async def _heads(chosen: argparse.Namespace, store: Store) -> int:
    print((await _ledger(chosen, store).heads()).to_json())
    return Exit.DONE


async def _trim(chosen: argparse.Namespace, store: Store) -> int:
    count = await _ledger(chosen, store).trim(chosen.keep)
    days = _counted(chosen.keep / timedelta(days=1), "day")
    older = (
        f"{_counted(count, 'line')} older than {days} went." if count else f"No line is older than {days}."
    )
    Printer().print(older)
    return Exit.DONE


Verb = Callable[[argparse.Namespace, Store], Awaitable[int]]

VERBS: dict[str, Verb] = {
    "verify": _verify,
    "tail": _tail,
    "show": _show,
    "guards": _guards,
    "export": _export,
    "heads": _heads,
    "trim": _trim,
}


def _note(line: LedgerLine, ring: LedgerKeyRing | None) -> str:
    """A word on a line whose seal does not fit; nothing where there are no keys to tell."""
    if ring is None:
        return ""
    return {"sealed": "", "keyless": NO_KEY}.get(judge_seal(line, ring), WRONG_SEAL)


def _verdict(report: Report) -> str:
    """A missing key says nothing about what was written."""
    is_keyless = len(report.problems) == report.count and {one.kind for one in report.problems} == {"keyless"}
    return "could not be verified as a whole" if is_keyless else "is not as it was written"


def _extent(report: Report) -> str:
    if not report.lines:
        return "it has no line"
    by = _counted(report.writers, "writer")
    lines = f"{_counted(report.lines, 'line')}, {report.first} to {report.last}, by {by}"
    return lines + ("" if report.head_at is None else f", held against the head of {moment(report.head_at)}")


def _counted(count: float, what: str) -> str:
    return f"{count:g} {what}" if count == 1 else f"{count:g} {what}s"


def _head(file: Path) -> Heads:
    try:
        with _misused():
            return read_heads(file.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise Misused(
            f"The head in {safe_text(str(file))} cannot be read: {safe_text(str(error))}."
        ) from error


def _new_file(file: Path | None) -> "nullcontext[BinaryIO] | BinaryIO":
    if file is None:
        return nullcontext(sys.stdout.buffer)
    try:
        return file.open("xb")
    except OSError as error:
        raise Misused(
            f"{safe_text(str(file))} cannot be written: {error.strerror}. Name a new file."
        ) from error


def _count(word: str) -> int:
    if not (word.isascii() and word.isdigit()):
        raise argparse.ArgumentTypeError(f"{safe_text(word)!r} is no number of lines: write 20")
    return int(word)


def _days(word: str) -> timedelta:
    with suppress(ValueError, OverflowError):
        keep = timedelta(days=float(word))
        if keep > timedelta():
            return keep
    raise argparse.ArgumentTypeError(f"{safe_text(word)!r} is no number of days: write 400")


def _time(word: str) -> float:
    """Without a zone, in the time of whoever types it."""
    try:
        return datetime.fromisoformat(word).timestamp()
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(
            f"{safe_text(word)!r} is no date or time: write 2026-11-01, or 2026-11-01T08:00"
        ) from None
