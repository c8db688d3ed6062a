"""Workers as processes: `python -m tests.server.forwarding.worker` forks one for each host and file that it is told.

Each says its number and its port, and serves until it is told to end. Forked, they start at once; and what a worker has
for itself must be made after that.
"""

import json
import os
import signal
import socket
import sys
from typing import Any

import uvicorn

from askback.server.forwarding import forwarder, listener
from tests.server.forwarding.travel import Host, app_of, travel

SILENCE, GOOD_FOR, PULSE = 1.5, 0.7, 0.2
"""Seconds, instead of some: a test does not wait as long as a client may have to."""


def work(host: Host, file: str | None) -> None:
    """Without a file, as a server is without options: it shares nothing with any other."""
    shared: dict[str, Any] = {"keys": None} if file is None else {"store": f"sqlite:///{file}"}
    app = app_of(host, travel(host, **shared))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        os.write(1, f"{os.getpid()} {listener.getsockname()[1]}\n".encode())
        uvicorn.Server(uvicorn.Config(app, log_level="critical")).run([listener])


def main() -> None:
    forwarder.TIMEOUTS["read"] = SILENCE
    forwarder.ENVELOPE_LIFE = listener.ENVELOPE_LIFE = GOOD_FOR
    listener.HEARTBEAT_INTERVAL = PULSE
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            work(*json.loads(line))
            os._exit(0)


if __name__ == "__main__":
    main()
