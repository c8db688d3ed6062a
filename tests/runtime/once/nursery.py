"""Forks a worker for each connection: `python -m tests.runtime.once.nursery ADDRESS`, a socket in a file.

It has everything loaded, so that no worker waits for Python to start. Each is a process like any other: it can be
killed or stopped alone, and it has the line for its input and output.
"""

import os
import signal
import socket
import sys

import anyio

from tests.runtime.once.worker import main

LIFE = 120
"""Seconds after which a worker is ended that nobody ended."""


def live(line: socket.socket) -> None:
    signal.alarm(LIFE)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for end in (0, 1):
        os.dup2(line.fileno(), end)
    line.close()
    try:
        anyio.run(main)
    finally:
        os._exit(0)


def raise_workers(address: str) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how they ended
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        os.write(1, b"ready\n")
        while True:
            line, _ = listener.accept()
            if not os.fork():
                listener.close()
                live(line)
            line.close()


if __name__ == "__main__":
    raise_workers(sys.argv[1])
