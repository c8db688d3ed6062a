"""From the address that other workers use to a socket that listens there."""

import errno
import os
import socket
from urllib.parse import urlsplit

from askback.errors import OperatorError
from askback.pages.loopback_server import LOOPBACK

BACKLOG = 2048
ANYWHERE = "0.0.0.0"


def bind_socket(address: str | None) -> socket.socket:
    """On the address's own interface, or on all where it is not this machine's, as behind a translation."""
    told = urlsplit(address or f"http://{LOOPBACK}")
    host, port = told.hostname or LOOPBACK, told.port or 0
    try:
        try:
            return _listening(host, port)
        except OSError as error:
            if error.errno != errno.EADDRNOTAVAIL:
                raise
            return _listening(ANYWHERE, port)
    except OSError as error:
        raise OperatorError(
            f"This worker cannot listen for the others at {address or LOOPBACK}: {error.strerror or error}. Give "
            "Askback(address=...) an address of this machine; without a port it takes a free one, which several "
            "workers of one machine need."
        ) from error


def address_with_port(address: str | None, port: int) -> str:
    """What the others are told."""
    host = urlsplit(address or "").hostname or LOOPBACK
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _listening(host: str, port: int) -> socket.socket:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, kind, _protocol, _name, place = found[0]
    # asyncio sends small packets at once only where the protocol is named.
    listener = socket.socket(family, kind, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener
