"""A person's agreement to a server that a file of the current folder names (T30).

The author of that folder chose the name, the command and the variables it gets. The agreement is bound to the path of
the file and to the entry as it is written, so a changed entry is asked about again. A symbolic link to a known file is
another file, because the entry may start programs of the folder that the link is in. The agreement does not cover the
program that the entry starts: it may change unnoticed.
"""

import hashlib
import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from askback.cli.exits import CommandInterrupted, Exit, Misused
from askback.cli.printer import is_terminal, print_note
from askback.cli.servers.configs import Configured, as_list, variables_in
from askback.client.consent import path_of_user
from askback.client.consent.sites import replace_file
from askback.model.safe import safe_line, safe_text

if sys.platform != "win32":
    import termios

MAX_FACT: Final = 2_000
"""Characters of a command, an address or a list of names. A person cannot check longer ones, so they are refused."""

MAX_AGREED: Final = 500
"""Entries that are remembered; the oldest are forgotten first."""

_AGREED: Final = TypeAdapter(list[str])

PROMPT: Final = "Type yes to go on and to remember this entry; anything else leaves it: "


class AgreedEntries:
    """Digests of the entries that this person agreed to, in a private file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def holds(self, server: Configured) -> bool:
        return digest_of_entry(server) in self._read()

    def add(self, server: Configured) -> None:
        digests = [*self._read(), digest_of_entry(server)][-MAX_AGREED:]
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace_file(self._path, json.dumps(digests, indent=1))
        except OSError as error:
            print_note(safe_line(f"This yes cannot be remembered: {error}.", MAX_FACT))

    def _read(self) -> list[str]:
        try:
            return _AGREED.validate_json(self._path.read_bytes(), strict=True)
        except (OSError, ValidationError):
            return []  # missing or not ours: the person is asked again


def digest_of_entry(server: Configured) -> str:
    """The digest of the file's path, the server's name and its entry."""
    written = json.dumps([os.path.abspath(server.file), server.name, server.body], sort_keys=True)
    return hashlib.sha256(written.encode()).hexdigest()


def require_agreement(server: Configured) -> None:
    """Return if the person agreed to this entry before or agrees now in the terminal; else raise `Misused`."""
    agreed = AgreedEntries(path_of_user().with_name("projects.json"))
    if agreed.holds(server):
        return
    where = f"{server.name!r} is named by {server.file}, which came with this folder"
    instead = f"Read that file. If you trust it, name it: --config {shlex.quote(str(server.file))}"
    facts = list(_facts(server.body))
    if any(len(fact) > MAX_FACT for fact in facts):
        raise Misused(f"{where}, and its entry is too long to be shown. {instead}.")
    if not is_terminal(sys.stdin) or not is_terminal(sys.stderr):
        raise Misused(
            f"{where}, and you have not agreed to it yet. {instead}, or run this once in a terminal and say yes there."
        )
    heading = safe_line(f"{where}. Its author chose what it does:", MAX_FACT)
    print_note("\n".join([heading, *map(safe_text, facts)]))
    if not _is_yes():
        raise Misused(f"Nothing was started. {instead}.")
    agreed.add(server)


def _facts(body: Mapping[str, Any]) -> Iterator[str]:
    """What the entry does. `${...}` is not filled in, because the values may be secrets."""
    if "command" in body:
        yield f"  starts: {shlex.join(map(str, [body['command'], *as_list(body.get('args'))]))}"
    if "url" in body:
        yield f"  connects to: {body['url']}"
    if "cwd" in body:
        yield f"  in the folder: {body['cwd']}"
    for part, words in (("env", "sets in its environment"), ("headers", "sends the headers")):
        if isinstance(body.get(part), Mapping) and body[part]:
            # Quoted as for a shell, so that no value passes for another name.
            settings = (
                f"{shlex.quote(str(name))}={shlex.quote(str(value))}" for name, value in body[part].items()
            )
            yield f"  {words}: {' '.join(settings)}"
    if taken := variables_in(body):
        yield f"  gets from your environment: {', '.join(taken)}"


def _is_yes() -> bool:
    """Whether the person types the whole word after the question was shown; earlier input is dropped."""
    if sys.platform != "win32":
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    print(PROMPT, end="", file=sys.stderr, flush=True)
    try:
        typed = sys.stdin.readline()
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        raise CommandInterrupted(Exit.INTERRUPTED) from None
    if not typed.endswith("\n"):
        sys.stderr.write("\n")
    return typed.strip().casefold() == "yes"
