"""Programs that tests run and end: a server that says where it listens, and commands with a time limit."""

import queue
import re
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from threading import Thread
from typing import IO

from tests.support.paths import ROOT

STARTING, RUNNING, ENDING = 30, 45, 10
"""Seconds for a server to listen, a command to end, a server to go: many times what each takes."""

_LISTENING = re.compile(r"running on (http://\S+)")


def run(
    command: Sequence[str], *, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; its exit code is for the caller to judge."""
    return subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUNNING,
        check=False,
    )


@contextmanager
def listening(*words: str) -> Generator[str, None, None]:
    """Run Python with `words` as a server on a port it chooses, and give its /mcp."""
    with subprocess.Popen(
        [sys.executable, *words], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        said: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        reader = Thread(target=_read, args=(server.stderr, said), daemon=True)
        reader.start()
        try:
            yield f"{_address(said)}/mcp"
        finally:
            _end(server)
            reader.join(ENDING)


def _read(stream: IO[str], said: "queue.SimpleQueue[str | None]") -> None:
    """To the end, whether or not anybody still listens: a full pipe would stop the server."""
    for line in stream:
        said.put(line)
    said.put(None)


def _address(said: "queue.SimpleQueue[str | None]") -> str:
    lines: list[str] = []
    while (line := said.get(timeout=STARTING)) is not None:
        lines.append(line)
        if found := _LISTENING.search(line):
            return found[1]
    raise AssertionError(f"The server ended before it listened:\n{''.join(lines)}")


def _end(server: subprocess.Popen[str]) -> None:
    server.terminate()
    try:
        server.wait(ENDING)
    except subprocess.TimeoutExpired:
        server.kill()
