"""A command carried out, and what could not be done told to whoever typed it: in a sentence, or as one JSON object."""

import json
from argparse import Namespace
from collections.abc import Callable

from askback.cli.endings import Exit, Interrupted
from askback.cli.paper import say
from askback.errors import OperatorError, StoreUnavailable, VaultUnavailable


def carried_out(verb: Callable[[Namespace], int], chosen: Namespace) -> int:
    """The exit code, also where it failed: another store or another time may help, or something else has to be
    typed."""
    try:
        return verb(chosen)
    except Interrupted as end:
        return end.exit
    except OperatorError as error:
        code = Exit.FAILED if isinstance(error, StoreUnavailable | VaultUnavailable) else Exit.MISUSED
        if getattr(chosen, "json", False):
            told = {"kind": type(error).__name__, "message": error.message}
            print(json.dumps({"error": told, "exit": code}))
        else:
            say(error.message)
        return code
