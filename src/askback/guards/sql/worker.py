"""A process that reads statements for `WorkerPool`, one after the other, within limits of memory and time.

Run as a script, it imports the reader of statements and nothing else of the package, which as a whole takes a second to
import, the reader a tenth of that. A request and its reply are one line of JSON each. An error ends the process, and
the pool starts another.
"""

import json
import logging
import os
import signal
import sys
from pathlib import Path
from types import ModuleType

MAX_MEMORY = 1 << 30
"""Bytes of address space. The longest statements that are read need a quarter of it."""

MAX_CPU_SECONDS = 5
"""Computing time for one request, for the case that the process which asked has ended."""

NICENESS = 5
"""On a busy machine, the event loop of the server goes before."""


def import_alone(package: str, folder: Path) -> None:
    """Let modules of a package be imported without what its `__init__` would import."""
    module = ModuleType(package)
    module.__path__ = [str(folder)]
    sys.modules[package] = module


def limit_resources() -> None:
    """Set the limits for the next request."""
    if sys.platform == "win32":
        return
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + MAX_CPU_SECONDS
    for which, limit in ((resource.RLIMIT_AS, MAX_MEMORY), (resource.RLIMIT_CPU, seconds)):
        _, hard = resource.getrlimit(which)
        resource.setrlimit(which, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def main() -> None:
    requests, replies = sys.stdin.buffer, sys.stdout.buffer
    sys.path[:] = json.loads(requests.readline())
    folder = Path(__file__).resolve().parent
    import_alone("askback", folder.parent.parent)
    import_alone("askback.guards", folder.parent)
    import_alone("askback.guards.sql", folder)
    from askback.guards.sql.index import CatalogueIndex
    from askback.guards.sql.statements import StatementReader

    logging.disable()  # sqlglot quotes what it cannot parse
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        os.nice(NICENESS)
    reader: StatementReader | None = None
    replies.write(b"true\n")
    replies.flush()
    for line in requests:
        limit_resources()
        request = json.loads(line)
        if reader is None or request["catalogue"] is not None:
            reader = StatementReader(CatalogueIndex(**request["catalogue"]))
        reading = reader.read(request["statement"])
        reply = [sorted(reading.columns), reading.writes, reading.unresolved]
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()


if __name__ == "__main__":
    main()
