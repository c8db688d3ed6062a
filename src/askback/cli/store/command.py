"""`askback store`: whether a store can be used, and the tables of one in Postgres brought up to date."""

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from askback.cli.exits import Exit, Misused
from askback.cli.printer import Printer
from askback.cli.signals import run
from askback.cli.store.option import is_postgres, require_existing
from askback.cli.verbs import run_verb
from askback.model.safe import safe_text
from askback.stores import open_store

EXAMPLES = """\
examples:
  export ASKBACK_STORE=postgresql://askback:secret@db.example/askback
  askback store migrate                           make its tables, or renew them
  askback store migrate --check                   say what is missing
  askback store check --store redis://cache.example/0

Others on this machine can read the words of a command: an address with a
password is better in ASKBACK_STORE.
"""

VARIABLE = "ASKBACK_STORE"

STORE = f"the store, as Askback(store=...) has it; without it, {VARIABLE} names it"

SCHEMA = "askback"
"""Where the address names no other."""

BY_ITSELF = {
    "memory": "A store in memory has nothing to migrate.",
    "redis": "A Redis store has nothing to migrate.",
    "rediss": "A Redis store has nothing to migrate.",
    "unix": "A Redis store has nothing to migrate.",
    "sqlite": "A SQLite store brings its file up to date by itself: there is nothing to migrate.",
}


def main(words: Sequence[str]) -> int:
    """Run it; the exit code is for the shell."""
    chosen = _parser().parse_args(words)
    return run_verb(_with_a_store, chosen)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="askback store",
        description="What servers on Askback keep things in.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(title="commands", dest="verb", required=True, metavar="COMMAND")
    migrate = verbs.add_parser(
        "migrate", help="make the tables of a Postgres store, or bring them up to date"
    )
    migrate.add_argument(
        "--check",
        "--dry-run",
        action="store_true",
        help="change nothing, say what would be done, and exit with 1 if that is anything",
    )
    check = verbs.add_parser("check", help="whether a store can be used, and which memory it has")
    for one in (migrate, check):
        one.add_argument("--store", metavar="STORE", default=os.environ.get(VARIABLE), help=STORE)
        one.add_argument("--json", action="store_true", help="print one JSON object, for programs")
    return parser


def _migrate(chosen: argparse.Namespace) -> int:
    scheme = chosen.store.partition(":")[0]
    open_store(chosen.store, clock=time.time)  # says what is wrong with it, or not installed; opens nothing
    if not is_postgres(chosen.store):
        return _say(chosen, BY_ITSELF[scheme], steps=[], missing=[])
    from askback.stores.postgres import upkeep  # not sooner: it needs its extra

    found = run(upkeep.look if chosen.check else upkeep.migrate, chosen.store)
    steps, where = (
        [str(step) for step in found.steps],
        f"the schema {found.schema} of {safe_text(found.shown)}",
    )
    if not steps:
        return _say(chosen, f"Up to date: {where}.", steps=[], missing=[])
    listed = "".join(f"\n  {step}" for step in steps)
    if chosen.check:
        return _say(chosen, f"Missing in {where}:{listed}", Exit.FAILED, steps=[], missing=steps)
    return _say(chosen, f"Done in {where}:{listed}", steps=steps, missing=[])


def _check(chosen: argparse.Namespace) -> int:
    reach, epoch, rows = run(_asked, require_existing(chosen.store))
    shared = {"machine": "all processes of this machine", "network": "all that can connect"}[reach]
    text = f"It can be used, by {shared}. Rows: {rows}. Epoch: {epoch or 'none'}."
    if not is_postgres(chosen.store):
        return _say(chosen, text, reach=reach, rows=rows, epoch=epoch)
    from askback.stores.postgres.address import read_address

    schema = read_address(chosen.store, schema=SCHEMA).schema
    return _say(chosen, f"{text} Schema: {schema}.", reach=reach, rows=rows, epoch=epoch, schema=schema)


VERBS: dict[str, Callable[[argparse.Namespace], int]] = {"migrate": _migrate, "check": _check}


def _with_a_store(chosen: argparse.Namespace) -> int:
    if not chosen.store:
        raise Misused(f"Say which store: with --store, or in {VARIABLE}.")
    return VERBS[chosen.verb](chosen)


async def _asked(written: str) -> tuple[str, str, int]:
    store = open_store(written, clock=time.time)
    try:
        rows = await store.count()
        return store.reach, await store.epoch(), rows
    finally:
        await store.close()


def _say(chosen: argparse.Namespace, text: str, code: Exit = Exit.DONE, **facts: Any) -> int:
    if chosen.json:
        print(json.dumps({**facts, "exit": code}))
    else:
        paper = Printer()
        for line in text.splitlines():
            paper.write(line)  # whole, to be copied
    return code
