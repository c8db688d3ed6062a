"""Commands with a second word, such as `askback vault list`: their parsers, their errors, their JSON, and the store
that many of them read."""

import json
import os
import time
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from askback.cli.console import CommandInterrupted, Exit, Misused, print_note, run
from askback.errors import OperatorError, StoreUnavailable, VaultUnavailable
from askback.model.safe import safe_lines, safe_text
from askback.stores import Store, open_store
from askback.stores.factory import SECRET

STORE_VARIABLE = "ASKBACK_STORE"

SQLITE = "sqlite:///"

POSTGRES = ("postgres", "postgresql")

StoreVerb = Callable[[Namespace, Store], Awaitable[int]]


class Subcommands:
    """The verbs of one command. Each is a function of the options that gives the exit code."""

    def __init__(self, name: str, description: str, examples: str) -> None:
        self._parser = ArgumentParser(
            prog=f"askback {name}",
            description=description,
            epilog=examples,
            formatter_class=RawDescriptionHelpFormatter,
        )
        self._verbs = self._parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def add(
        self, name: str, verb: Callable[[Namespace], int], help_: str, *, has_json: bool = False
    ) -> ArgumentParser:
        """Add a verb; its own options are added to the parser that this gives."""
        parser = self._verbs.add_parser(name, help=help_)
        parser.set_defaults(verb=verb)
        if has_json:
            parser.add_argument("--json", action="store_true", help="print one JSON object, for programs")
        return parser

    def add_store_option(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--store",
            metavar="STORE",
            default=os.environ.get(STORE_VARIABLE),
            help=f"the store, as in Askback(store=...); without it, {STORE_VARIABLE} names it",
        )

    def add_on_store(
        self, name: str, verb: StoreVerb, help_: str, *, has_json: bool = False
    ) -> ArgumentParser:
        """Add a verb that reads the store named by --store, which must exist."""
        parser = self.add(name, partial(_run_on_store, verb), help_, has_json=has_json)
        self.add_store_option(parser)
        return parser

    def run(self, words: Sequence[str]) -> int:
        """Run the verb that the words name; an error is printed as a sentence, or as one JSON object."""
        options = self._parser.parse_args(words)
        try:
            return options.verb(options)
        except CommandInterrupted as end:
            return end.exit
        except OperatorError as error:
            is_unavailable = isinstance(error, StoreUnavailable | VaultUnavailable)
            code = Exit.FAILED if is_unavailable else Exit.MISUSED
            if getattr(options, "json", False):
                return print_json(code, error={"kind": type(error).__name__, "message": error.message})
            print_note("\n".join(safe_lines(error.message)))
            return code


def print_json(code: Exit, **members: Any) -> Exit:
    """Print the members and the exit code as one JSON object."""
    print(json.dumps({**members, "exit": code}))
    return code


def _run_on_store(verb: StoreVerb, options: Namespace) -> int:
    async def open_and_run() -> int:
        async with open_existing(require_named(options.store)) as store:
            return await verb(options, store)

    return run(open_and_run)


@asynccontextmanager
async def open_existing(address: str) -> AsyncGenerator[Store]:
    """A store that exists, open during the block. Reading must not make a file or tables."""
    if address == "memory:":
        raise Misused("A store in memory can be read by its own server alone. Name a store that lasts.")
    file = file_of(address)
    if file is not None and not file.is_file():
        raise Misused(
            f"There is no file {safe_text(str(file))}. A server makes it with its first call; this command does not "
            "make one. Check the path, and the folder you are in."
        )
    if is_postgres(address):
        address += f"{'&' if '?' in address else '?'}migrate=0"
    store = open_store(address, clock=time.time)
    try:
        yield store
    finally:
        with anyio.CancelScope(shield=True):
            await store.close()


def require_named(address: str | None) -> str:
    if not address:
        raise Misused(f"Which store? Name it with --store, or in {STORE_VARIABLE}.")
    return address


def file_of(address: str) -> Path | None:
    """The file of a SQLite store."""
    return Path(address.removeprefix(SQLITE)) if address.startswith(SQLITE) else None


def place_of(address: str) -> str:
    """The address to print, without a password, which may stand before the @ or behind the ?."""
    return safe_text(str(file_of(address) or SECRET.sub("...@", address).partition("?")[0]))


def is_postgres(address: str) -> bool:
    return address.partition(":")[0] in POSTGRES
