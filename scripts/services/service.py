"""A program that serves on a loopback port with throw-away data, and all that can happen to it. Knows no program."""

import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from scripts.services.family import end, send
from scripts.services.watcher import watch

LOOPBACK = "127.0.0.1"

PORTS = range(15_000, 32_000)
"""Below those that the kernel gives to clients: nobody takes a server's port while it is down."""

SECONDS_TO_START = 20.0
SECONDS_TO_STOP = 5.0
A_MOMENT = 0.01

UNPRIVILEGED = "nobody"
"""Who runs it where we are root: Postgres refuses to serve as root, and the others need no more."""


class CannotStart(Exception):
    """It ended, or does not answer; what it said last."""


class Service(ABC):
    """One server; its processes end with the block that started it."""

    farewell = signal.SIGTERM
    """What makes it end in good order, at once."""

    def __init__(self, home: Path, port: int) -> None:
        self.home = home
        self.port = port
        self._process: subprocess.Popen[bytes] | None = None

    @property
    @abstractmethod
    def url(self) -> str:
        """What a client is given."""

    @property
    @abstractmethod
    def command(self) -> list[str]: ...

    @abstractmethod
    def answers(self) -> bool:
        """Whether a client would be served now."""

    @abstractmethod
    def prepare(self) -> None:
        """What is to be made in `home`, once, before the first start."""

    @property
    def pid(self) -> int | None:
        """Of the process that the others are children of; None while it is down."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """On the same port, with the same data; back when it answers."""
        if self._process and self._process.poll() is None:
            return
        if is_taken(self.port):
            raise CannotStart(f"Port {self.port} is taken. Choose another, or 0 for any that is free.")
        runner = who_runs_it()
        with self.output.open("ab") as output:
            self._process = subprocess.Popen(
                self.command,
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # Ctrl-C at our terminal is not for it
                user=runner.user,
                group=runner.group,
                extra_groups=runner.more_groups,
            )
        self._wait_until_it_answers()

    def kill(self) -> None:
        """All its processes, at once and without a word to them."""
        if self._process:
            end(self._process.pid)
            self._process.wait()
            self._process = None

    def pause(self) -> None:
        """It keeps its connections and does nothing."""
        if self._process:
            send(self._process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        if self._process:
            send(self._process.pid, signal.SIGCONT)

    def stop(self) -> None:
        """In good order where it will; it can be started again."""
        if self._process:
            self.resume()
            self._process.send_signal(self.farewell)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(SECONDS_TO_STOP)
            self.kill()

    @property
    def output(self) -> Path:
        return self.home / "output.txt"

    def run(self, *command: str) -> None:
        """A program of its own that helps it, to the end."""
        runner = who_runs_it()
        done = subprocess.run(
            command,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS_TO_START,
            user=runner.user,
            group=runner.group,
            extra_groups=runner.more_groups,
        )
        if done.returncode:
            raise CannotStart(f"`{command[0]}` ended with {done.returncode}. It said:\n{done.stdout}")

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + SECONDS_TO_START
        while not self.answers():
            ended = self._process is None or self._process.poll() is not None
            if ended or time.monotonic() > deadline:
                self.kill()
                what = "ended at once" if ended else f"did not answer within {SECONDS_TO_START:g} seconds"
                said = self.output.read_text(errors="replace")[-2000:]
                raise CannotStart(f"`{self.command[0]}` {what}. It said:\n{said}")
            time.sleep(A_MOMENT)


AnyService = TypeVar("AnyService", bound=Service)


@contextmanager
def running(make: Callable[[Path, int], AnyService], port: int) -> Generator[AnyService]:
    """A service for the length of the block, and nothing of it afterwards. Port 0 is any that is free."""
    home = Path(tempfile.mkdtemp(prefix="askback-"))
    give_to_runner(home)
    watch(home)
    service = make(home, port or free_port())
    try:
        service.prepare()
        service.start()
        yield service
    finally:
        service.stop()
        shutil.rmtree(home)


def free_port() -> int:
    """One on loopback that nobody listens on."""
    while is_taken(port := random.choice(PORTS)):
        pass
    return port


def is_taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return True
    return False


def listens(port: int) -> bool:
    try:
        socket.create_connection((LOOPBACK, port), timeout=1).close()
    except OSError:
        return False
    return True


class Runner(NamedTuple):
    """Whose processes they are; None is us."""

    user: int | None
    group: int | None
    more_groups: list[str | int] | None


def who_runs_it() -> Runner:
    if os.geteuid() != 0:
        return Runner(None, None, None)
    entry = pwd.getpwnam(UNPRIVILEGED)
    return Runner(entry.pw_uid, entry.pw_gid, [])


def give_to_runner(*paths: Path) -> None:
    runner = who_runs_it()
    if runner.user is not None and runner.group is not None:
        for path in paths:
            os.chown(path, runner.user, runner.group)
