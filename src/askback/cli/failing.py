"""What could not be done, told to whoever typed the command: in a sentence, or as one JSON object."""

import json

from askback.cli.endings import Exit
from askback.cli.paper import say
from askback.errors import OperatorError, StoreUnavailable, VaultUnavailable


def failed(error: OperatorError, *, as_json: bool) -> int:
    """The exit code: another store or another time may help, or something else has to be typed."""
    code = Exit.FAILED if isinstance(error, StoreUnavailable | VaultUnavailable) else Exit.MISUSED
    if as_json:
        print(json.dumps({"error": {"kind": type(error).__name__, "message": error.message}, "exit": code}))
    else:
        say(error.message)
    return code
