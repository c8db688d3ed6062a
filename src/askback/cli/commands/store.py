"""`askback store`: whether a store can be used, and the tables of a Postgres store brought up to date."""

import time
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from askback.cli.console import Exit, Printer, run
from askback.cli.subcommands import Subcommands, is_postgres, print_json, require_named
from askback.model.safe import safe_text
from askback.stores import Store, open_store

EXAMPLES = """\
examples:
  export ASKBACK_STORE=postgresql://askback:secret@db.example/askback
  askback store migrate                           make or update its tables
  askback store migrate --check                   say what is missing
  askback store check --store redis://cache.example/0

Others on this machine can read the words of a command: an address with a
password is better in ASKBACK_STORE.
"""

SCHEMA = "askback"
"""If the address does not name one."""

NOTHING_TO_MIGRATE = {
    "memory": "A store in memory has nothing to migrate.",
    "redis": "A Redis store has nothing to migrate.",
    "rediss": "A Redis store has nothing to migrate.",
    "unix": "A Redis store has nothing to migrate.",
    "sqlite": "A SQLite store brings its file up to date by itself: there is nothing to migrate.",
}

SHARED_BY = {"machine": "all processes of this machine", "network": "all that can connect"}


def main(words: Sequence[str]) -> int:
    """Run the command; gives the exit code."""
    commands = Subcommands("store", "What servers on Askback keep things in.", EXAMPLES)
    help_ = "make or update the tables of a Postgres store"
    migrate = commands.add("migrate", _migrate, help_, has_json=True)
    commands.add_store_option(migrate)
    migrate.add_argument(
        "--check",
        "--dry-run",
        action="store_true",
        help="change nothing, print what would be done, and exit with 1 if there is something to do",
    )
    commands.add_on_store(
        "check", _check, "whether a store can be used, by whom, and its epoch", has_json=True
    )
    return commands.run(words)


def _migrate(options: Namespace) -> int:
    address = require_named(options.store)
    open_store(
        address, clock=time.time
    )  # raises if the address is wrong or its driver missing; opens nothing
    if not is_postgres(address):
        return _report(options, NOTHING_TO_MIGRATE[address.partition(":")[0]], steps=[], missing=[])
    from askback.stores.postgres import upkeep  # here, because it needs an extra

    found = run(lambda: upkeep.migrate(address, check=options.check))
    where = f"the schema {found.schema} of {safe_text(found.shown)}"
    steps = [str(step) for step in found.steps]
    if not steps:
        return _report(options, f"Up to date: {where}.", steps=[], missing=[])
    listed = "".join(f"\n  {step}" for step in steps)
    if options.check:
        return _report(options, f"Missing in {where}:{listed}", Exit.FAILED, steps=[], missing=steps)
    return _report(options, f"Done in {where}:{listed}", steps=steps, missing=[])


async def _check(options: Namespace, store: Store) -> int:
    facts: dict[str, Any] = {"reach": store.reach, "rows": await store.count(), "epoch": await store.epoch()}
    schema = ""
    if is_postgres(options.store):
        from askback.stores.postgres.address import read_address  # here, because it needs an extra

        facts["schema"] = read_address(options.store, schema=SCHEMA).schema
        schema = f" Schema: {facts['schema']}."
    text = f"It can be used, by {SHARED_BY[store.reach]}. Rows: {facts['rows']}. Epoch: {facts['epoch'] or 'none'}."
    return _report(options, text + schema, **facts)


def _report(options: Namespace, text: str, code: Exit = Exit.DONE, **facts: Any) -> int:
    if options.json:
        return print_json(code, **facts)
    for line in text.splitlines():
        Printer().write(line)  # not wrapped, so that it can be copied
    return code
