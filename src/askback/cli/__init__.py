"""The `askback` command."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from askback.cli.endings import EXTRA_MISSING, Exit

COMMANDS = {
    "demo": "a pizzeria that asks you, and what goes over the wire on three revisions",
    "call": "list what an MCP server offers, or call it and answer its questions",
    "desk": "keep a page open that shows the questions of several servers",
}
"""Each is a module of that name with a `main`; it is imported when it is called, since some need an extra."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the first word names; the exit code is for the shell."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and words[0] in COMMANDS:
        return _run(words[0], words[1:])
    _parser().parse_args(words)
    return Exit.MISUSED


def _parser() -> argparse.ArgumentParser:
    """For those who name no command, or none that there is."""
    parser = argparse.ArgumentParser(prog="askback", description="Questions from MCP servers to people.")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, help_ in COMMANDS.items():
        commands.add_parser(name, help=help_, add_help=False)
    return parser


def _run(name: str, words: Sequence[str]) -> int:
    try:
        run: Callable[[Sequence[str]], int] = import_module(f"askback.cli.{name}").main
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("askback"):
            raise
        sys.stderr.write(f"{EXTRA_MISSING} ({error.name} is not there)\n")
        return Exit.MISUSED
    try:
        code = int(run(words))
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read us has seen enough; Python would complain again when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.FAILED
    return code
