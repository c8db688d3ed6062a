"""Another user of this machine, who watches the list of programs for links and codes."""

import os
import pwd
import subprocess
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import anyio

WATCH = r"""
while :; do
  cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ /proc/[0-9]*/comm 2>/dev/null |
    tr '\0' '\n' | grep -a -E '[h]ttp://127|[f]ile://'
  echo looked
  sleep 0.02
done
"""
"""What each process was started with, its environment where that can be read, and its title. The brackets keep the
watcher from seeing itself."""

PATIENCE = 30
"""Seconds for a look at all processes, on a busy machine."""


class OtherUser:
    """What they have seen so far."""

    def __init__(self, notes: IO[str]) -> None:
        self._notes = Path(notes.name)

    @property
    def seen(self) -> set[str]:
        return {line for line in self._notes.read_text(errors="replace").splitlines() if line != "looked"}

    async def look(self) -> set[str]:
        """All that they see, once they have looked twice more: the first look may have begun before."""
        looks = self._looks + 2
        await until(lambda: self._looks >= looks)
        return self.seen

    @property
    def _looks(self) -> int:
        return self._notes.read_text(errors="replace").count("looked\n")

    def can_read(self, path: Path) -> bool:
        return _start(["cat", str(path)], subprocess.DEVNULL).wait() == 0


def _start(command: list[str], out: IO[str] | int) -> subprocess.Popen[bytes]:
    """As the user nobody; only root can become that, and everybody else watches as themselves."""
    is_root = os.geteuid() == 0
    return subprocess.Popen(
        command,
        stdout=out,
        stderr=subprocess.DEVNULL,
        cwd="/",
        user="nobody" if is_root else None,
        group=pwd.getpwnam("nobody").pw_gid if is_root else None,
        extra_groups=() if is_root else None,
    )


async def until(is_so: Callable[[], bool]) -> None:
    with anyio.fail_after(PATIENCE):
        while True:
            if is_so():
                return
            await anyio.sleep(0.01)


@contextmanager
def other_user() -> Generator[OtherUser]:
    with tempfile.NamedTemporaryFile("w+") as notes:
        watcher = _start(["sh", "-c", WATCH], notes)
        try:
            yield OtherUser(notes)
        finally:
            watcher.kill()
            watcher.wait()
