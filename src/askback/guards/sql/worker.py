"""The inside of a worker process: reads statements one after the other, within limits of memory and time.

A request and its reply are each a line of JSON. Whatever goes wrong ends the process, and the pool starts another.
"""

import json
import logging
import os
import signal
import sys
from typing import Any, BinaryIO

from askback.guards.sql.catalogue import CatalogueIndex
from askback.guards.sql.statements import Statements

MAX_MEMORY = 1 << 30
"""Bytes of address space. The longest statements that are read need a quarter of it."""

MAX_SECONDS = 5
"""Of computing for one request, should the process that asked be gone by then."""

NICENESS = 5
"""So that on a busy machine the event loop of the server goes before."""

MAX_CATALOGUES = 16
"""Databases that one server guards, and a few versions of each."""


class ReaderWorker:
    def __init__(self) -> None:
        self._readers: dict[str, Statements] = {}

    def answer(self, request: dict[str, Any]) -> object:
        reading = self._reader(request).read(request["statement"])
        return [sorted(reading.columns), reading.writes, reading.unresolved]

    def _reader(self, request: dict[str, Any]) -> Statements:
        """A catalogue comes with the first statement that is read against it."""
        if request["catalogue"] is not None:
            if len(self._readers) >= MAX_CATALOGUES:
                self._readers.clear()
            self._readers[request["key"]] = Statements(CatalogueIndex(**request["catalogue"]))
        return self._readers[request["key"]]


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer until the other side is gone."""
    logging.disable()  # sqlglot quotes what it cannot parse
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        os.nice(NICENESS)
    worker = ReaderWorker()
    replies.write(b"ready\n")
    replies.flush()
    for line in requests:
        limit_resources()
        request = json.loads(line)
        try:
            reply = {"id": request["id"], "answer": worker.answer(request)}
        except MemoryError:
            reply = {"id": request["id"], "answer": None}
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()


def limit_resources() -> None:
    if sys.platform == "win32":
        return
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + MAX_SECONDS
    for which, limit in ((resource.RLIMIT_AS, MAX_MEMORY), (resource.RLIMIT_CPU, seconds)):
        _, hard = resource.getrlimit(which)
        resource.setrlimit(which, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
