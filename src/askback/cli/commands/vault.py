"""`askback vault`: what servers keep for people, listed and removed, and its keys. It never shows values."""

import os
import sys
import time
from argparse import Namespace
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, TypeVar

from askback.cli.console import (
    Exit,
    Misused,
    Printer,
    TextRow,
    format_iso,
    format_time,
    is_terminal,
    print_note,
    run,
)
from askback.cli.subcommands import SQLITE, Subcommands, open_existing, place_of, print_json
from askback.model.cells import pad, width_of
from askback.model.owners import describe_owner, matches_owner
from askback.model.safe import safe_text
from askback.stores import MemoryStore
from askback.vault.factory import embedded_file
from askback.vault.keyring import KEY_BYTES, KeyRing
from askback.vault.keys import VARIABLE, add_key, known_keys, new_key
from askback.vault.vault import ItemSummary, Vault

T = TypeVar("T")

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
    """Run the command; gives the exit code."""
    description = "What servers on Askback keep for people, encrypted, and the keys to it."
    commands = Subcommands("vault", description, EXAMPLES)
    help_ = "what is kept, for whom, since when and until when"
    listing = commands.add("list", _list, help_, has_json=True)
    forget = commands.add("forget", _forget, "remove one thing from the vault")
    forget.add_argument("name", metavar="NAME", help="as `list` shows it")
    forget.add_argument("--owner", metavar="WHO", help="whose it is, if several people have one of that name")
    forget.add_argument("--server", metavar="NAME", help="which server has it, if several have one")
    forget.add_argument("--kind", choices=KINDS, help="which it is, if there is one of each")
    forget.add_argument("--yes", action="store_true", help="do not ask first")
    rotate = commands.add("rotate", _rotate, "seal with the first key what was sealed with another")
    help_ = "make a key first and put it before those of this machine"
    rotate.add_argument("--new-key", action="store_true", help=help_)
    help_ = "the store, as in Askback(store=...); without it, the vault of this user"
    for verb in (listing, forget, rotate):
        verb.add_argument("--store", metavar="STORE", help=help_)
    commands.add("key", _key, "print a new key")
    return commands.run(words)


def _list(options: Namespace) -> int:
    items = _read_items(options.store)
    if options.json:
        return print_json(Exit.DONE, kept=[as_json(item) for item in items])
    if not items:  # not wrapped, so that the place can be copied
        Printer().write(f"Nothing is kept in {_place(options.store)}.")
    print_items(items, Printer())
    return Exit.DONE


def _forget(options: Namespace) -> int:
    items = _read_items(options.store)
    item = find_item(items, options.name, kind=options.kind, owner=options.owner, server=options.server)
    if item is None:
        name = safe_text(options.name)
        print_note(f"Nothing is called {name!r} in {_place(options.store)}. See `askback vault list`.")
        return Exit.FAILED
    if not options.yes and not _is_agreed(item):
        print_note("Nothing was forgotten.")
        return Exit.DONE
    _use_vault(options.store, None, lambda vault: vault.for_server(item.server).forget(item.owner, item.item))
    Printer().print(f"Forgotten: {describe_item(item)}.")
    if item.item.kind == "connection":
        print_note("The provider was not told: end the connection there too, on the provider's own page.")
    return Exit.DONE


def _rotate(options: Namespace) -> int:
    if options.new_key:
        add_key()
    ring = known_keys()
    if ring is None:
        raise Misused(f"There is no key here. Set {VARIABLE} to the keys of the servers, the newest first.")
    sealed, unopened = _use_vault(options.store, ring, Vault.rotate)
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
            f"Put it in front of the keys in {VARIABLE}, or there alone. Who has this key can open the vault."
        )
    return Exit.DONE


def _use_vault(address: str | None, ring: KeyRing | None, work: Callable[[Vault], Awaitable[T]]) -> T:
    """Do something with the vault at this address, or with the vault of this user, whose file is not made. Without
    keys, items can be listed and removed."""
    ring, file = ring or KeyRing([os.urandom(KEY_BYTES)]), embedded_file()

    async def open_and_work() -> T:
        if address is None and not file.is_file():
            return await work(Vault(MemoryStore(clock=time.time), ring))
        async with open_existing(address or f"{SQLITE}{file}") as store:
            return await work(Vault(store, ring))

    return run(open_and_work)


def _read_items(address: str | None) -> list[ItemSummary]:
    items = _use_vault(address, known_keys(), Vault.list_items)
    return sorted(items, key=lambda item: (describe_owner(item.owner), item.owner, item.server, item.item))


def _place(address: str | None) -> str:
    return safe_text(str(embedded_file())) if address is None else place_of(address)


def _is_agreed(item: ItemSummary) -> bool:
    if not is_terminal(sys.stdin):
        raise Misused(f"There is no terminal to ask on whether to forget {describe_item(item)}. Add --yes.")
    print_note(f"Forget {describe_item(item)}? A server that needs it will ask for it again.")
    print("[y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _count_rows(count: int) -> str:
    return "1 row was" if count == 1 else f"{count} rows were"


def print_items(items: Sequence[ItemSummary], printer: Printer) -> None:
    """Print items, owner after owner."""
    for owner, rows in groupby(items, key=lambda item: item.owner):
        printer.print(safe_text(describe_owner(owner)), "bold")
        printer.columns([[[TextRow(line, indent=2) for line in _lines(list(rows))]]])


def as_json(item: ItemSummary) -> dict[str, Any]:
    """An item for programs; times in UTC, None for no end or if no key opens the item."""
    return {
        "server": item.server,
        "owner": item.owner,
        "whose": describe_owner(item.owner),
        "kind": item.item.kind,
        "name": item.item.name,
        "since": format_iso(item.put_at),
        "until": format_iso(item.until),
        "opens": item.put_at is not None,
    }


def describe_item(item: ItemSummary) -> str:
    """The item in words that tell it from all others."""
    whose = f"of {safe_text(describe_owner(item.owner))} for {safe_text(item.server)}"
    return f"the {item.item.kind} {safe_text(item.item.name)!r} {whose}, {_times(item)}"


def find_item(
    items: Sequence[ItemSummary], name: str, *, kind: str | None, owner: str | None, server: str | None
) -> ItemSummary | None:
    """The item of that name, or None; raises `Misused` if the conditions fit several items or none of that name."""
    named = [item for item in items if item.item.name == name]
    fitting = [
        item
        for item in named
        if (owner is None or matches_owner(item.owner, owner))
        and kind in {None, item.item.kind}
        and server in {None, item.server}
    ]
    if len(fitting) == 1 or not named:
        return next(iter(fitting), None)
    listed = "".join(f"\n  {describe_item(item)}" for item in fitting or named)
    name = safe_text(name)
    if not fitting:
        raise Misused(f"Nothing called {name!r} fits these options. There is:{listed}")
    values = {
        "--kind": {item.item.kind for item in fitting},
        "--owner": {item.owner for item in fitting},
        "--server": {item.server for item in fitting},
    }
    options = " and ".join(option for option, found in values.items() if len(found) > 1)
    raise Misused(f"{len(fitting)} things are called {name!r}. Say which, with {options}:{listed}")


def _lines(items: Sequence[ItemSummary]) -> Iterator[str]:
    rows = [
        (item.item.kind, safe_text(item.item.name), f"for {safe_text(item.server)}", _times(item))
        for item in items
    ]
    widths = [max(width_of(row[column]) for row in rows) for column in range(3)]
    for *cells, times in rows:
        yield "  ".join([*map(pad, cells, widths), times])


def _times(item: ItemSummary) -> str:
    if item.put_at is None:
        return "no key here opens it"
    until = "" if item.until is None else f", until {format_time(item.until)}"
    return f"since {format_time(item.put_at)}{until}"
