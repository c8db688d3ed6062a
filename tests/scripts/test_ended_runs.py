"""A test run that is interrupted, terminated or killed leaves no Redis, Postgres, nginx or browser behind."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from scripts.services.family import PROC, end, family
from scripts.services.watcher import at_work_in, end_all_in
from tests.support.chromium import chromium
from tests.support.paths import ROOT
from tests.support.services import found

pytestmark = [pytest.mark.services, pytest.mark.browser, pytest.mark.slow]


RUN = """
import signal
import subprocess

import anyio
import pytest

from scripts.services import free_port, nginx, postgres_server, redis_server
from tests.support.chromium import browser_program, browsing

@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.mark.anyio
async def test_that_never_ends(tmp_path):
    profile = tmp_path / "profile"
    with redis_server() as redis, postgres_server() as postgres, nginx([f"127.0.0.1:{free_port()}"]) as proxy:
        with browser_program(tmp_path) as program:
            async with browsing():
                subprocess.Popen([program, "about:blank"], start_new_session=True)  # as links are opened
                while not (profile / "DevToolsActivePort").exists():
                    await anyio.sleep(0.02)
                redis.pause()
                homes = [str(home) for home in (redis.home, postgres.home, proxy.home, profile)]
                with open("started", "w") as started:
                    started.write("\\n".join(homes))
                signal.pause()
"""

NAMES = {"redis-server", "postgres", "nginx"}

SECONDS_TO_START = 40.0
SECONDS_TO_END = 30.0
"""A worker of pytest-xdist that lost its controller gives its test some seconds, and so does our watcher."""

WAYS = [
    (signal.SIGINT, "alone"),
    (signal.SIGTERM, "alone"),
    (signal.SIGKILL, "alone"),
    (signal.SIGINT, "with workers"),
    (signal.SIGTERM, "with workers"),
]
OPTIONS = {"alone": (), "with workers": ("-n", "1")}


@pytest.fixture
def run(tmp_path: Path, request: pytest.FixtureRequest) -> Generator[subprocess.Popen[str]]:
    """A test run in a folder of its own, in which a test starts one of each."""
    with found():
        chromium()
    (tmp_path / "test_run.py").write_text(RUN)
    os.mkfifo(tmp_path / "started")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *OPTIONS[request.param]]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with (
        (tmp_path / "output.txt").open("w") as output,
        subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=output, stderr=output, text=True
        ) as started,
    ):
        yield started
        end(started.pid)


@pytest.mark.parametrize(("number", "run"), WAYS, indirect=["run"])
def test_nothing_outlives_it(run: subprocess.Popen[str], tmp_path: Path, number: signal.Signals):
    homes = homes_of(run, tmp_path)
    members = family(run.pid)
    with ExitStack() as stack:
        stack.callback(end_all_in, map(str, homes))  # where this test fails
        ends = {pid: stack.enter_context(end_of(pid)) for pid in members}
        names = {pid: (PROC / str(pid) / "comm").read_text().strip() for pid in members}
        assert {*names.values()} >= NAMES and any(name.startswith("chrom") for name in names.values())
        assert all(at_work_in((str(home),)) for home in homes)
        run.send_signal(number)
        assert [names[pid] for pid in left_after(SECONDS_TO_END, ends)] == []
        assert not [home for home in homes if home.exists()]


def homes_of(run: subprocess.Popen[str], folder: Path) -> list[Path]:
    """The folders of its services and of the browser that was started as for a person, once all of them are at work."""
    with end_of(run.pid) as ended, open(os.open(folder / "started", os.O_RDONLY | os.O_NONBLOCK)) as started:
        ready, _, _ = select.select([started, ended], [], [], SECONDS_TO_START)
        assert ready == [started], f"It did not start:\n{(folder / 'output.txt').read_text()}"
        os.set_blocking(started.fileno(), True)
        return [Path(line) for line in started.read().splitlines()]


@contextmanager
def end_of(pid: int) -> Generator[int]:
    """Can be read from once that process has ended, whoever's child it is."""
    descriptor = os.pidfd_open(pid)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def left_after(seconds: float, ends: Mapping[int, int]) -> list[int]:
    """Those of these processes that have not ended by then."""
    left: dict[int, int] = {**ends}
    deadline = time.monotonic() + seconds
    while left and (patience := deadline - time.monotonic()) > 0:
        ended, _, _ = select.select([*left.values()], [], [], patience)
        left = {pid: end for pid, end in left.items() if end not in ended}
    return [*left]
