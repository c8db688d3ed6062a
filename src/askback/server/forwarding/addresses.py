"""Where other workers reach this one, as an operator says it."""

import os
from urllib.parse import urlsplit

from askback.errors import OperatorError

VARIABLE = "ASKBACK_ADDRESS"
"""For what only the place knows where a worker is run, as a pod's own address."""

INSTEAD = 'It is where other workers reach this one: "http://10.1.2.3:7411", or without a port, which takes a free one.'


def is_address(given: object) -> bool:
    """Plain HTTP, for what is sent is sealed; nothing behind the port."""
    if not isinstance(given, str):
        return False
    try:
        told = urlsplit(given)
        port = told.port
    except ValueError:
        return False
    is_bare = not (told.path.strip("/") or told.query or told.fragment or told.username or told.password)
    return told.scheme == "http" and bool(told.hostname) and is_bare and (port is None or port >= 0)


def address_here(given: str | None) -> str | None:
    """What an operator said, in the code or in the environment."""
    found = given or os.environ.get(VARIABLE) or None
    if found is not None and not is_address(found):
        raise OperatorError(f"{VARIABLE}={found!r:.80} is no address. {INSTEAD}")
    return found
