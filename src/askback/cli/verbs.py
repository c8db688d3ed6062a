"""A command carried out, and what could not be done told to whoever typed it: in a sentence, or as one JSON object."""

import json
from argparse import Namespace
from collections.abc import Callable

from askback.cli.exits import CommandInterrupted, Exit
from askback.cli.printer import print_note
from askback.errors import OperatorError, StoreUnavailable, VaultUnavailable


def run_verb(verb: Callable[[Namespace], int], chosen: Namespace) -> int:
    """The exit code, also where it failed: another store or another time may help, or something else has to be
    typed."""
    try:
        return verb(chosen)
    except CommandInterrupted as end:
        return end.exit
    except OperatorError as error:
        code = Exit.FAILED if isinstance(error, StoreUnavailable | VaultUnavailable) else Exit.MISUSED
        if getattr(chosen, "json", False):
            told = {"kind": type(error).__name__, "message": error.message}
            print(json.dumps({"error": told, "exit": code}))
        else:
            print_note(error.message)
        return code
