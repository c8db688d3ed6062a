"""Where Redis, Postgres and nginx are on this machine, whether they are new enough, and what to do if not."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from scripts.machine import Missing

MORE_PATH = ("/usr/local/sbin", "/usr/sbin", "/opt/homebrew/bin")
"""Where servers are put that are on root's path and not on everybody's."""

DEBIAN_POSTGRES = Path("/usr/lib/postgresql")
"""Debian keeps each version's programs in a folder of its own, on nobody's path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One that the tests start; `places` are the paths where it may be, the likeliest first."""

    title: str
    package: str
    oldest: tuple[int, int]
    version_flag: str
    places: Callable[[], Iterator[str]]

    @property
    def advice(self) -> str:
        version = ".".join(map(str, self.oldest))
        return (
            f"{self.title} {version} or newer is missing. Install it"
            f" (on Debian: `apt-get install {self.package}`) and run `make services`."
        )

    def find(self) -> str | None:
        """The path of the first one that is new enough."""
        return next((path for path in self.places() if self.version(path) >= self.oldest), None)

    def path(self) -> str:
        if path := self.find():
            return path
        raise Missing(self.advice)

    def version(self, path: str) -> tuple[int, int]:
        """(0, 0) for what cannot be run."""
        try:
            told = subprocess.run([path, self.version_flag], capture_output=True, text=True, timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            return 0, 0
        match = re.search(r"(\d+)\.(\d+)", told.stdout + told.stderr)
        return (int(match[1]), int(match[2])) if match else (0, 0)


def on_path(name: str) -> Iterator[str]:
    where = os.pathsep.join([os.environ.get("PATH", os.defpath), *MORE_PATH])
    if path := shutil.which(name, path=where):
        yield path


def postgres_places() -> Iterator[str]:
    """Behind symlinks, since its other programs are looked for beside it."""
    yield from (os.path.realpath(path) for path in on_path("postgres"))
    yield from map(str, sorted(DEBIAN_POSTGRES.glob("*/bin/postgres"), reverse=True))


REDIS = Program(
    title="Redis",
    package="redis-server",
    oldest=(7, 0),
    version_flag="--version",
    places=lambda: on_path("redis-server"),
)
POSTGRES = Program(
    title="Postgres",
    package="postgresql",
    oldest=(15, 0),
    version_flag="--version",
    places=postgres_places,
)
NGINX = Program(
    title="nginx", package="nginx", oldest=(1, 18), version_flag="-v", places=lambda: on_path("nginx")
)
PROGRAMS = (REDIS, POSTGRES, NGINX)
