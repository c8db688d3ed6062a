"""The option --store: the store that a command reads, which must be there already."""

import os
import time
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from askback.cli.exits import Misused
from askback.cli.signals import run
from askback.model.safe import safe_text
from askback.stores import Store, open_store
from askback.stores.factory import SECRET

VARIABLE = "ASKBACK_STORE"

SQLITE = "sqlite:///"

POSTGRES = ("postgres", "postgresql")

StoreVerb = Callable[[Namespace, Store], Awaitable[int]]


def add_store_option(*parsers: ArgumentParser) -> None:
    for parser in parsers:
        parser.add_argument(
            "--store",
            metavar="STORE",
            default=os.environ.get(VARIABLE),
            help=f"the store, as Askback(store=...) has it; without it, {VARIABLE} names it",
        )


def run_on_store(verb: StoreVerb, options: Namespace) -> int:
    """Run a verb on the store that `options.store` names."""
    return run(_run_on_store, verb, options)


async def _run_on_store(verb: StoreVerb, options: Namespace) -> int:
    async with open_existing(require_named(options.store)) as store:
        return await verb(options, store)


@asynccontextmanager
async def open_existing(address: str) -> AsyncGenerator[Store]:
    """A store that is there, for the length of the block. Reading must not make a file or tables."""
    store = open_store(_existing(address), clock=time.time)
    try:
        yield store
    finally:
        with anyio.CancelScope(shield=True):
            await store.close()


def require_named(address: str | None) -> str:
    if not address:
        raise Misused(f"Which store? Name it with --store, or in {VARIABLE}.")
    return address


def _existing(address: str) -> str:
    if address == "memory:":
        raise Misused("A store in memory can be read by its own server alone. Name a store that lasts.")
    file = file_of(address)
    if file is not None and not file.is_file():
        raise Misused(
            f"There is no file {safe_text(str(file))}. A server makes it with its first call, and this command makes "
            "none. Check the path, and the folder you are in."
        )
    return f"{address}{'&' if '?' in address else '?'}migrate=0" if is_postgres(address) else address


def file_of(address: str) -> Path | None:
    """The file of a SQLite store."""
    return Path(address.removeprefix(SQLITE)) if address.startswith(SQLITE) else None


def place_of(address: str) -> str:
    """The address to print: without a password, which may stand before the @ or behind the ?."""
    return safe_text(str(file_of(address) or SECRET.sub("...@", address).partition("?")[0]))


def is_postgres(address: str) -> bool:
    return address.partition(":")[0] in POSTGRES
