"""A process that has imported everything, and forks a worker for each port that it is told.

`python -m bench.cluster.forks SETTINGS`, ports on its input, process ids on its output. A worker that was killed is
back in a moment: it does not import everything again, which would take processor time from the load.
"""

import gc
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

import uvicorn

from bench.cluster.server import Settings, app_of
from scripts.services.service import LOOPBACK, CannotStart

LONGER_THAN_NGINX = 75
"""Seconds that an unused connection is kept: whoever sends the requests must be the one that closes it, or a request
may be sent to nobody."""

ROOT = Path(__file__).resolve().parent.parent.parent


class ForkServer:
    """Where workers come from. What they write is in `output`."""

    def __init__(self, process: subprocess.Popen[str], output: Path) -> None:
        self.output = output
        self._process = process
        self._lock = Lock()

    def hatch(self, port: int) -> int:
        """The id of a new worker, which will soon listen on that port."""
        assert self._process.stdin and self._process.stdout
        with self._lock:
            with suppress(BrokenPipeError):
                self._process.stdin.write(f"{port}\n")
                self._process.stdin.flush()
            told = self._process.stdout.readline()
        if not told:
            raise CannotStart(f"The workers cannot be made. What they said:\n{self.output.read_text()}")
        return int(told)


@contextmanager
def fork_server(settings: Settings, output: Path) -> Generator[ForkServer]:
    command = [sys.executable, "-m", "bench.cluster.forks", json.dumps(settings)]
    with (
        output.open("w") as written,
        subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=written,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield ForkServer(process, output)
        finally:
            process.kill()


def main() -> None:
    settings = Settings(*json.loads(sys.argv[1]))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody has to bury them
    gc.freeze()
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            serve(settings, port=int(line))
            return
        print(pid, flush=True)
    os.killpg(0, signal.SIGKILL)  # whoever wanted them is gone, and so are they


def serve(settings: Settings, *, port: int) -> None:
    # Before the SDK does it with pictures of every traceback, which take a worker longer than what they tell of.
    logging.basicConfig(level=logging.ERROR, format="%(name)s: %(message)s")
    uvicorn.run(
        app_of(settings),
        host=LOOPBACK,
        port=port,
        log_level="error",
        access_log=False,
        timeout_keep_alive=LONGER_THAN_NGINX,
    )


if __name__ == "__main__":
    main()
