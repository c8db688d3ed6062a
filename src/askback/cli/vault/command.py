"""The command `askback vault`: what servers keep for people, listed and removed, and its keys. It shows no values."""

import os
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager

from askback.cli.exits import Exit, Misused
from askback.cli.printer import Printer, is_terminal, print_note
from askback.cli.signals import run
from askback.cli.store.option import SQLITE, open_existing, place_of
from askback.cli.subcommands import add_json_option, add_verbs, make_parser, print_json, run_verb
from askback.cli.vault.rows import as_json, describe_item, find_item, print_items
from askback.model.owners import describe_owner
from askback.model.safe import safe_text
from askback.stores import MemoryStore
from askback.vault.factory import embedded_file
from askback.vault.keyring import KEY_BYTES, KeyRing
from askback.vault.keys import VARIABLE, add_key, known_keys, new_key
from askback.vault.vault import ItemSummary, RotationResult, Vault

EXAMPLES = """\
examples:
  askback vault list                              what is kept, and for whom
  askback vault list --store sqlite:///tools.db   in a store of your own
  askback vault forget "weather key"              asks you first
  askback vault forget github --kind connection --owner ann --yes
  askback vault rotate --new-key                  a new key for this machine's
  askback vault key                               one to be put before the old
  askback vault rotate                            seal all with the first key

Values are never shown. Keys come from ASKBACK_VAULT_KEYS, the desktop's
keyring, or a file in your home.
"""

KINDS = ("secret", "connection")


def main(words: Sequence[str]) -> int:
    """Run it; the exit code is for the shell."""
    options = _parser().parse_args(words)
    return run_verb(VERBS[options.verb], options)


def _parser() -> ArgumentParser:
    description = "What servers on Askback keep for people, encrypted, and the keys to it."
    parser = make_parser("vault", description, EXAMPLES)
    verbs = add_verbs(parser)
    listing = verbs.add_parser("list", help="what is kept, for whom, since when and until when")
    add_json_option(listing)
    forget = verbs.add_parser("forget", help="remove one thing from the vault")
    forget.add_argument("name", metavar="NAME", help="as `list` shows it")
    forget.add_argument("--owner", metavar="WHO", help="whose it is, where several have one of that name")
    forget.add_argument("--server", metavar="NAME", help="which server has it, where several have one")
    forget.add_argument("--kind", choices=KINDS, help="which it is, where there is one of each")
    forget.add_argument("--yes", action="store_true", help="do not ask first")
    rotate = verbs.add_parser("rotate", help="seal with the first key what was sealed with another")
    rotate.add_argument(
        "--new-key", action="store_true", help="make a key first and put it before those of this machine"
    )
    store = "the store, as Askback(store=...) has it; without it, the vault of this user"
    for verb in (listing, forget, rotate):
        verb.add_argument("--store", metavar="STORE", help=store)
    verbs.add_parser("key", help="print a new key")
    return parser


def _list(options: Namespace) -> int:
    items = run(_read_items, options.store)
    if options.json:
        return print_json(Exit.DONE, kept=[as_json(item) for item in items])
    if not items:  # not wrapped, so that the place can be copied
        Printer().write(f"Nothing is kept in {_place(options.store)}.")
    print_items(items, Printer())
    return Exit.DONE


def _forget(options: Namespace) -> int:
    items = run(_read_items, options.store)
    item = find_item(items, options.name, kind=options.kind, owner=options.owner, server=options.server)
    if item is None:
        name = safe_text(options.name)
        print_note(f"Nothing is called {name!r} in {_place(options.store)}. See `askback vault list`.")
        return Exit.FAILED
    if not options.yes and not _is_agreed(item):
        print_note("Nothing was forgotten.")
        return Exit.DONE
    run(_remove, options.store, item)
    Printer().print(f"Forgotten: {describe_item(item)}.")
    if item.item.kind == "connection":
        print_note("The provider was not told: end the connection there too, on its own page for that.")
    return Exit.DONE


def _rotate(options: Namespace) -> int:
    if options.new_key:
        add_key()
    ring = known_keys()
    if ring is None:
        raise Misused(
            f"There is no key here to seal with. Set {VARIABLE} to the keys of the servers, the newest first."
        )
    sealed, unopened = run(_seal, options.store, ring)
    Printer().print(f"{_count_rows(sealed)} sealed with the first key.")
    if unopened:
        print_note(
            f"{_count_rows(unopened)} left as before, since no key here opens them; `askback vault list` shows which. "
            "Put the key that sealed them behind the others and rotate again, or forget them."
        )
        return Exit.FAILED
    print_note("When every server was started again with the first key in front, the others can be removed.")
    return Exit.DONE


def _key(_: Namespace) -> int:
    print(new_key())
    if is_terminal(sys.stdout):
        print_note(
            f"Put it in front of the keys in {VARIABLE}, or there alone. Who has it can open the vault."
        )
    return Exit.DONE


VERBS: dict[str, Callable[[Namespace], int]] = {
    "list": _list,
    "forget": _forget,
    "rotate": _rotate,
    "key": _key,
}


async def _read_items(address: str | None) -> list[ItemSummary]:
    """Sorted for a reader. Items can be listed and removed without keys, too."""
    async with _open_vault(address, known_keys()) as vault:
        items = await vault.list_items()
    return sorted(items, key=lambda item: (describe_owner(item.owner), item.owner, item.server, item.item))


async def _remove(address: str | None, item: ItemSummary) -> None:
    async with _open_vault(address, None) as vault:
        await vault.for_server(item.server).forget(item.owner, item.item)


async def _seal(address: str | None, ring: KeyRing) -> RotationResult:
    async with _open_vault(address, ring) as vault:
        return await vault.rotate()


@asynccontextmanager
async def _open_vault(address: str | None, ring: KeyRing | None) -> AsyncGenerator[Vault]:
    """The vault in the store of this address, or else of this user, whose file is not made by looking at it."""
    ring, file = ring or KeyRing([os.urandom(KEY_BYTES)]), embedded_file()
    if address is None and not file.is_file():
        yield Vault(MemoryStore(clock=time.time), ring)
    else:
        async with open_existing(address or f"{SQLITE}{file}") as store:
            yield Vault(store, ring)


def _place(address: str | None) -> str:
    return safe_text(str(embedded_file())) if address is None else place_of(address)


def _is_agreed(item: ItemSummary) -> bool:
    if not is_terminal(sys.stdin):
        raise Misused(f"There is no terminal to ask on whether to forget {describe_item(item)}. Add --yes.")
    print_note(f"Forget {describe_item(item)}? A server that needs it will ask for it again.")
    sys.stderr.write("[y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _count_rows(count: int) -> str:
    return "1 row was" if count == 1 else f"{count} rows were"
