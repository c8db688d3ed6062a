"""A process that reads one statement which may take long, within limits of memory and time.

Run as a script, it imports the reader of statements and nothing else of the package, which as a whole takes a second to
import, the reader a tenth of that. It gets one request in JSON and gives one reply.
"""

import json
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

MAX_MEMORY = 1 << 30
"""Bytes of address space. The longest statements that are read need a quarter of it."""

READ_TIMEOUT = 0.4
"""Seconds of computing for one statement that a question can show: it is then read once more, with a limit."""

LONG_LENGTH, LONG_READ_TIMEOUT = 10_000, 0.8
"""Characters from which a statement is too long to be shown, and seconds for such a one."""

PROCESS_TIMEOUT = 15.0
"""Seconds until a process has started and replied, on a busy machine."""

NICENESS = 5
"""On a busy machine, the event loop of the server goes before."""


class WorkerFailed(Exception):
    """No answer: the statement takes too long or too much memory. Says which, in words."""


def read_in_process(statement: str, catalogue: dict[str, Any]) -> tuple[list[str], list[str], list[str]]:
    """Columns, changes and doubts of a statement. Blocks for a second or so. Raises `WorkerFailed`."""
    request = {
        "path": [os.path.abspath(path) for path in sys.path],
        "timeout": READ_TIMEOUT if len(statement) <= LONG_LENGTH else LONG_READ_TIMEOUT,
        "max_memory": MAX_MEMORY,
        "statement": statement,
        "catalogue": catalogue,
    }
    try:
        ended = subprocess.run(
            [sys.executable, "-I", "-S", __file__],
            input=json.dumps(request).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=PROCESS_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WorkerFailed("it cannot be read now") from error
    if ended.returncode:
        is_late = ended.returncode == -getattr(signal, "SIGPROF", 0)
        raise WorkerFailed("it takes too long to read" if is_late else "it cannot be read")
    return json.loads(ended.stdout)


def import_alone(package: str, folder: Path) -> None:
    """Let modules of a package be imported without what its `__init__` would import."""
    module = ModuleType(package)
    module.__path__ = [str(folder)]
    sys.modules[package] = module


def limit_resources(*, timeout: float, max_memory: int) -> None:
    """Limit what this process takes from now on. A signal ends it when it is late."""
    if sys.platform == "win32":
        return
    import resource

    os.nice(NICENESS)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = max_memory if hard == resource.RLIM_INFINITY else min(max_memory, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    signal.setitimer(signal.ITIMER_PROF, timeout)


def main() -> None:
    """Reply to the request on the standard input."""
    request = json.load(sys.stdin.buffer)
    sys.path[:] = request["path"]
    folder = Path(__file__).resolve().parent
    import_alone("askback", folder.parent.parent)
    import_alone("askback.guards", folder.parent)
    import_alone("askback.guards.sql", folder)
    from askback.guards.sql.index import CatalogueIndex
    from askback.guards.sql.statements import StatementReader

    logging.disable()  # sqlglot quotes what it cannot parse
    limit_resources(timeout=request["timeout"], max_memory=request["max_memory"])
    reading = StatementReader(CatalogueIndex(**request["catalogue"])).read(request["statement"])
    sys.stdout.write(json.dumps([sorted(reading.columns), reading.writes, reading.unresolved]))


if __name__ == "__main__":
    main()
