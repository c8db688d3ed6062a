"""The `askback` command."""

import argparse
import errno
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version

from askback.cli.exits import EXTRA_MISSING, Exit

COMMANDS = {
    "demo": "three servers that ask you, in forms and on a page, and what goes over the wire",
    "call": "list what an MCP server offers, or call it and answer its questions",
    "desk": "keep a page open that shows the questions of several servers",
    "vault": "list and forget what servers keep for people, and renew its keys",
    "approvals": "list and revoke what people approved for longer than one call",
    "store": "see whether a store can be used, and bring the tables of one in Postgres up to date",
    "ledger": "read who was asked what and what they said, and verify that nobody changed it",
}
"""Each is a package with a module `command`, which is imported when it is called: some need an extra."""

UNREAD = {errno.EPIPE, errno.EIO}
"""Whoever read us through a pipe has seen enough, or the terminal is closed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the first word names; the exit code is for the shell."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and words[0] in COMMANDS:
        try:
            return _run(words[0], words[1:])
        except KeyboardInterrupt:  # while the command is still being imported
            return Exit.INTERRUPTED
    parser = _parser()
    if not words:
        parser.print_help()
        return Exit.DONE
    parser.parse_args(words)
    return Exit.MISUSED


class _Beside(argparse.HelpFormatter):
    """With the help of each command in its line: argparse forgets that commands stand further in than options."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        self._action_max_length = 2 * self._indent_increment + max(map(len, COMMANDS))


def _parser() -> argparse.ArgumentParser:
    """For those who name no command, or none that there is."""
    parser = argparse.ArgumentParser(
        prog="askback", description="Questions from MCP servers to people.", formatter_class=_Beside
    )
    parser.add_argument("--version", action="version", version=f"askback {version('askback')}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, help_ in COMMANDS.items():
        commands.add_parser(name, help=help_, add_help=False)
    return parser


def _run(name: str, words: Sequence[str]) -> int:
    try:
        run: Callable[[Sequence[str]], int] = import_module(f"askback.cli.{name}.command").main
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("askback"):
            raise
        sys.stderr.write(f"{EXTRA_MISSING} ({error.name} is not there)\n")
        return Exit.MISUSED
    code: int = Exit.FAILED
    try:
        code = int(run(words))
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError as error:
        if error.errno not in UNREAD:
            raise
        _fall_silent()
        return max(code, Exit.FAILED)
    return code


def _fall_silent() -> None:
    """Nobody reads us any more; Python would complain of it again when it closes the streams."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
