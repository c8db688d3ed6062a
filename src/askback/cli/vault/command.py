"""`askback vault`: what servers keep for people, listed and forgotten, and its keys. Values are shown nowhere."""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing

from askback.cli.exits import Exit, Misused
from askback.cli.printer import Printer, print_note
from askback.cli.signals import run
from askback.cli.store.option import place_of, require_existing
from askback.cli.streams import is_terminal
from askback.cli.vault.rows import as_json, describe_note, find_note, print_notes
from askback.cli.verbs import run_verb
from askback.model.owners import describe_owner
from askback.model.safe import safe_text
from askback.stores import Store, open_store
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

STORE = "the store, as Askback(store=...) has it; without it, the vault of this user"

KINDS = ("secret", "connection")


def main(words: Sequence[str]) -> int:
    """Run it; the exit code is for the shell."""
    chosen = _parser().parse_args(words)
    return run_verb(VERBS[chosen.verb], chosen)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="askback vault",
        description="What servers on Askback keep for people, encrypted, and the keys to it.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(title="commands", dest="verb", required=True, metavar="COMMAND")
    listing = verbs.add_parser("list", help="what is kept, for whom, since when and until when")
    listing.add_argument("--json", action="store_true", help="print one JSON object, for programs")
    forget = verbs.add_parser("forget", help="take one thing out of the vault")
    forget.add_argument("name", metavar="NAME", help="as `list` shows it")
    forget.add_argument("--owner", metavar="WHO", help="whose it is, where several have one of that name")
    forget.add_argument("--server", metavar="NAME", help="which server has it, where several have one")
    forget.add_argument("--kind", choices=KINDS, help="which it is, where there is one of each")
    forget.add_argument("--yes", action="store_true", help="do not ask first")
    rotate = verbs.add_parser("rotate", help="seal with the first key what was sealed with another")
    rotate.add_argument(
        "--new-key", action="store_true", help="make a key first and put it before those of this machine"
    )
    for one in (listing, forget, rotate):
        one.add_argument("--store", metavar="STORE", help=STORE)
    verbs.add_parser("key", help="print a new key")
    return parser


def _list(chosen: argparse.Namespace) -> int:
    notes = run(_notes, chosen.store)
    if chosen.json:
        print(json.dumps({"kept": [as_json(note) for note in notes], "exit": Exit.DONE}))
        return Exit.DONE
    paper = Printer()
    if not notes:
        paper.write(f"Nothing is kept in {_place(chosen.store)}.")  # whole, to be copied
    print_notes(notes, paper)
    return Exit.DONE


def _forget(chosen: argparse.Namespace) -> int:
    note = find_note(
        run(_notes, chosen.store), chosen.name, kind=chosen.kind, owner=chosen.owner, server=chosen.server
    )
    if note is None:
        print_note(
            f"Nothing is called {safe_text(chosen.name)!r} in {_place(chosen.store)}. See `askback vault list`."
        )
        return Exit.FAILED
    if not chosen.yes and not _is_agreed(note):
        print_note("Nothing was forgotten.")
        return Exit.DONE
    run(_drop, chosen.store, note)
    Printer().print(f"Forgotten: {describe_note(note)}.")
    if note.item.kind == "connection":
        print_note("The provider was not told: end the connection there too, on its own page for that.")
    return Exit.DONE


def _rotate(chosen: argparse.Namespace) -> int:
    if chosen.new_key:
        add_key()
    ring = known_keys()
    if ring is None:
        raise Misused(
            f"There is no key here to seal with. Set {VARIABLE} to the keys of the servers, the newest first."
        )
    sealed, unopened = run(_seal, chosen.store, ring)
    Printer().print(f"{_counted(sealed)} sealed anew with the first key.")
    if unopened:
        print_note(
            f"{_counted(unopened)} left as before, since no key here opens them; `askback vault list` shows which. Put "
            "the key that sealed them behind the others and rotate again, or forget them."
        )
        return Exit.FAILED
    print_note("Once every server was started again with the first key in front, the others can go.")
    return Exit.DONE


def _key(chosen: argparse.Namespace) -> int:
    print(new_key())
    if is_terminal(sys.stdout):
        print_note(
            f"Put it in front of the keys in {VARIABLE}, or there alone. Who has it can open the vault."
        )
    return Exit.DONE


VERBS: dict[str, Callable[[argparse.Namespace], int]] = {
    "list": _list,
    "forget": _forget,
    "rotate": _rotate,
    "key": _key,
}


async def _notes(store: str | None) -> list[ItemSummary]:
    """Sorted for a reader; without keys it can be listed and forgotten all the same."""
    async with aclosing(_Opened(store, known_keys())) as opened:
        notes = await opened.vault.list_items()
    return sorted(notes, key=lambda note: (describe_owner(note.owner), note.owner, note.server, note.item))


async def _drop(store: str | None, note: ItemSummary) -> None:
    async with aclosing(_Opened(store, None)) as opened:
        await opened.vault.for_server(note.server).forget(note.owner, note.item)


async def _seal(store: str | None, ring: KeyRing) -> RotationResult:
    async with aclosing(_Opened(store, ring)) as opened:
        return await opened.vault.rotate()


class _Opened:
    """A vault for the length of a block."""

    def __init__(self, store: str | None, ring: KeyRing | None) -> None:
        self._store = _store(store)
        self.vault = Vault(self._store, ring or KeyRing([os.urandom(KEY_BYTES)]))

    async def aclose(self) -> None:
        await self._store.close()


def _store(written: str | None) -> Store:
    """Only one that is there: whoever looks into a vault makes none."""
    if written is not None:
        return open_store(require_existing(written), clock=time.time)
    file = embedded_file()
    return open_store(f"sqlite:///{file}" if file.is_file() else "memory:", clock=time.time)


def _place(written: str | None) -> str:
    return safe_text(str(embedded_file())) if written is None else place_of(written)


def _is_agreed(note: ItemSummary) -> bool:
    if not is_terminal(sys.stdin):
        raise Misused(
            f"Nobody can be asked here whether to forget {describe_note(note)}. Add --yes if you are sure."
        )
    print_note(f"Forget {describe_note(note)}? A server that needs it will ask for it again.")
    sys.stderr.write("[y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _counted(rows: int) -> str:
    return "1 row was" if rows == 1 else f"{rows} rows were"
