"""`askback approvals`: what people approved for longer than one call, listed and revoked."""

import argparse
import json
import os
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager

import anyio

from askback.cli.approvals.rows import ApprovalFilter, as_json, print_approvals
from askback.cli.exits import Exit, Misused
from askback.cli.printer import Printer, print_note
from askback.cli.signals import run
from askback.cli.store.option import place_of, require_existing
from askback.cli.verbs import run_verb
from askback.model.safe import safe_text
from askback.runtime.approvals import Approval, Approvals
from askback.stores import open_store

EXAMPLES = """\
examples:
  export ASKBACK_STORE=sqlite:///tools.db
  askback approvals list                       what holds now, and for whom
  askback approvals list --caller ada --json
  askback approvals revoke 3f2a9c1b04de        as the list names it
  askback approvals revoke --caller ada --tool pay
  askback approvals revoke --all

What was revoked is asked again the next time, so nobody is asked here first.
"""

VARIABLE = "ASKBACK_STORE"

STORE = f"the store, as Askback(store=...) has it; without it, {VARIABLE} names it"

NO_CHOICE = (
    "Which approvals? Name one as `askback approvals list` does, or say --caller, --tool or --server, or --all for "
    "every one of them. Nothing was revoked."
)
TWO_CHOICES = "--all is every approval of everybody: leave it out, or all else. Nothing was revoked."


def main(words: Sequence[str]) -> int:
    """Run it; the exit code is for the shell."""
    chosen = _parser().parse_args(words)
    return run_verb(VERBS[chosen.verb], chosen)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="askback approvals",
        description="What people approved for longer than one call: which tool, what of it, and until when.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(title="commands", dest="verb", required=True, metavar="COMMAND")
    listing = verbs.add_parser("list", help="those that hold now")
    revoke = verbs.add_parser("revoke", help="let them hold no longer")
    revoke.add_argument("ids", metavar="ID", nargs="*", help="as `list` shows it, or the beginning of one")
    revoke.add_argument("--all", action="store_true", help="every one of everybody")
    for one in (listing, revoke):
        one.add_argument("--caller", metavar="WHO", help="only those of this caller")
        one.add_argument("--tool", metavar="NAME", help="only those for this tool")
        one.add_argument("--server", metavar="NAME", help="only those for this server")
        one.add_argument("--json", action="store_true", help="print one JSON object, for programs")
        one.add_argument("--store", metavar="STORE", help=STORE)
    return parser


def _list(chosen: argparse.Namespace) -> int:
    written, wanted = _store(chosen), _wanted(chosen)
    approvals = run(_find, written, wanted)
    if chosen.json:
        print(json.dumps({"approvals": [as_json(one) for one in approvals], "exit": Exit.DONE}))
        return Exit.DONE
    if not approvals:
        Printer().write(f"No approval{wanted.words} holds in {place_of(written)}.")  # whole, to be copied
    print_approvals(approvals, Printer())
    return Exit.DONE


def _revoke(chosen: argparse.Namespace) -> int:
    written, wanted = _store(chosen), _wanted(chosen)
    if chosen.all == wanted.is_narrow:
        raise Misused(TWO_CHOICES if chosen.all else NO_CHOICE)
    revoked = run(_end, written, wanted)
    missing = wanted.missing(revoked)
    code = Exit.DONE if revoked and not missing else Exit.FAILED
    if chosen.json:
        print(json.dumps({"revoked": [as_json(one) for one in revoked], "exit": code}))
        return code
    if revoked:
        Printer().print(f"Revoked, so it is asked again: {_counted(len(revoked))}.")
        print_approvals(revoked, Printer())
    else:
        print_note(f"No approval{wanted.words} holds in {place_of(written)}: none was revoked.")
    if revoked and missing:
        print_note(f"None is called {safe_text(', '.join(missing))}. See `askback approvals list`.")
    return code


VERBS: dict[str, Callable[[argparse.Namespace], int]] = {"list": _list, "revoke": _revoke}


async def _find(written: str, wanted: ApprovalFilter) -> list[Approval]:
    async with _opened(written) as approvals:
        return wanted.among(await approvals.rows())


async def _end(written: str, wanted: ApprovalFilter) -> list[Approval]:
    """Those that were there to be revoked: two may be at it."""
    async with _opened(written) as approvals:
        return [one for one in wanted.among(await approvals.rows()) if await approvals.revoke(one)]


@asynccontextmanager
async def _opened(written: str) -> AsyncGenerator[Approvals]:
    store = open_store(written, clock=time.time)
    try:
        yield Approvals(store, clock=time.time)
    finally:
        with anyio.CancelScope(shield=True):
            await store.close()


def _store(chosen: argparse.Namespace) -> str:
    """Only one that is there."""
    written: str | None = chosen.store or os.environ.get(VARIABLE)
    if not written:
        raise Misused(f"Say which store: with --store, or in {VARIABLE}.")
    return require_existing(written)


def _wanted(chosen: argparse.Namespace) -> ApprovalFilter:
    ids: list[str] = getattr(chosen, "ids", [])
    return ApprovalFilter(ids=tuple(ids), caller=chosen.caller, tool=chosen.tool, server=chosen.server)


def _counted(count: int) -> str:
    return "1 approval" if count == 1 else f"{count} approvals"
