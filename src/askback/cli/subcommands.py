"""Commands of several words, such as `askback vault list`: their parsers, their errors and their JSON."""

import json
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from typing import Any

from askback.cli.exits import CommandInterrupted, Exit
from askback.cli.printer import print_note
from askback.errors import OperatorError, StoreUnavailable, VaultUnavailable
from askback.model.safe import safe_lines


def make_parser(name: str, description: str, examples: str) -> ArgumentParser:
    """The parser of a command, with examples below its options."""
    return ArgumentParser(
        prog=f"askback {name}",
        description=description,
        epilog=examples,
        formatter_class=RawDescriptionHelpFormatter,
    )


def add_verbs(parser: ArgumentParser) -> Any:
    """Parsers for the second word of a command."""
    return parser.add_subparsers(title="commands", dest="verb", required=True, metavar="COMMAND")


def add_json_option(*parsers: ArgumentParser) -> None:
    for parser in parsers:
        parser.add_argument("--json", action="store_true", help="print one JSON object, for programs")


def run_verb(verb: Callable[[Namespace], int], options: Namespace) -> int:
    """The exit code of a verb; its errors are printed as a sentence, or as one JSON object."""
    try:
        return verb(options)
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
