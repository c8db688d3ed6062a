"""The address at which other workers reach this one: as an operator gives it, and the socket that listens there."""

import errno
import os
import socket
from urllib.parse import urlsplit

from askback.errors import OperatorError
from askback.pages.loopback_server import LOOPBACK

VARIABLE = "ASKBACK_ADDRESS"
"""For an address that is known only where the worker runs, such as that of a pod."""

INSTEAD = 'It is where other workers reach this one: "http://10.1.2.3:7411", or without a port, which takes a free one.'

BACKLOG = 2048
ANYWHERE = "0.0.0.0"


def is_address(given: object) -> bool:
    """Plain HTTP, since what is sent is sealed; a host and perhaps a port, and nothing else."""
    if not isinstance(given, str):
        return False
    try:
        parts = urlsplit(given)
        port = parts.port
    except ValueError:
        return False
    is_bare = not (parts.path.strip("/") or parts.query or parts.fragment or parts.username or parts.password)
    return parts.scheme == "http" and bool(parts.hostname) and is_bare and (port is None or port >= 0)


def configured_address(given: str | None) -> str | None:
    """The address from the code, else from the environment, else None."""
    found = given or os.environ.get(VARIABLE) or None
    if found is not None and not is_address(found):
        raise OperatorError(f"{VARIABLE}={found!r:.80} is no address. {INSTEAD}")
    return found


def bind_socket(address: str | None) -> socket.socket:
    """Listen on the address's own interface, or on all if this machine does not have it, as behind a NAT."""
    parts = urlsplit(address or f"http://{LOOPBACK}")
    host, port = parts.hostname or LOOPBACK, parts.port or 0
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        try:
            listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
        except OSError as error:
            if error.errno != errno.EADDRNOTAVAIL:
                raise
            listener = socket.create_server((ANYWHERE, port), backlog=BACKLOG)
    except OSError as error:
        raise OperatorError(
            f"This worker cannot listen for the others at {address or LOOPBACK}: {error.strerror or error}. Give "
            "Askback(address=...) an address of this machine; without a port it takes a free one, which several "
            "workers of one machine need."
        ) from error
    # Connections inherit it. asyncio sets it only on sockets whose protocol is named.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def address_with_port(address: str | None, port: int) -> str:
    """The address that other workers read in the store."""
    host = urlsplit(address or "").hostname or LOOPBACK
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
