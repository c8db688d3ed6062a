"""The `askback` command."""

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

from askback.cli.console import INSTALL_EXTRA, Exit, import_optional

COMMANDS = {
    "demo": "three servers that ask you, in forms and on a page, and what goes over the wire",
    "call": "list what an MCP server offers, or call it and answer its questions",
    "desk": "keep a page open that shows the questions of several servers",
    "vault": "list and forget what servers keep for people, and renew its keys",
    "approvals": "list and revoke what people approved for longer than one call",
    "store": "see whether a store can be used, and bring the tables of one in Postgres up to date",
    "ledger": "read who was asked what and what they said, and verify that nobody changed it",
}
"""Each is a module in `commands`, which is imported when it is called, because some need an extra."""

UNREAD = {errno.EPIPE, errno.EIO}
"""The reader of a pipe has ended, or the terminal is closed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the first word names; gives the exit code."""
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


class _CommandFormatter(argparse.HelpFormatter):
    """Prints the help of each command in its line; argparse would break long lines."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        self._action_max_length = 2 * self._indent_increment + max(map(len, COMMANDS))


def _parser() -> argparse.ArgumentParser:
    """The parser for words that name no command."""
    parser = argparse.ArgumentParser(
        prog="askback", description="Questions from MCP servers to people.", formatter_class=_CommandFormatter
    )
    parser.add_argument("--version", action="version", version=f"askback {version('askback')}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, help_ in COMMANDS.items():
        commands.add_parser(name, help=help_, add_help=False)
    return parser


def _run(name: str, words: Sequence[str]) -> int:
    module = import_optional(f"askback.cli.commands.{name}")
    if module is None:
        sys.stderr.write(f"This command needs the client extra. {INSTALL_EXTRA}\n")
        return Exit.MISUSED
    code: int = Exit.FAILED
    try:
        code = int(module.main(words))
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError as error:
        if error.errno not in UNREAD:
            raise
        _discard_output()
        return max(code, Exit.FAILED)
    return code


def _discard_output() -> None:
    """Send output to nowhere, or Python would report the closed stream again at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
