"""The shop as a process that can be killed and started again where it was."""

import os
import signal
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

import anyio
import anyio.abc

from tests.support.paths import ROOT
from tests.support.secret_shop.shop import UP, Plan

PATIENCE = 50.0
"""Seconds for anything that a test waits for; on a busy machine a process takes some to start."""


def environment(folder: Path) -> dict[str, str]:
    """So that nobody's own vault is touched, and no line of a log is folded where a search would miss it."""
    return os.environ | {
        "ASKBACK_HOME": str(folder / "home"),
        "COLUMNS": "2000",
        "FASTMCP_LOG_LEVEL": "DEBUG",
        "PYTHONUNBUFFERED": "1",
    }


def free_port() -> int:
    """One that nobody has just now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Shop:
    """One address, and the process that listens there at the moment."""

    def __init__(self, plan: Plan, log: IO[bytes]) -> None:
        assert plan.port is not None
        self.plan, self.port = plan, plan.port
        self.url = f"http://127.0.0.1:{plan.port}/mcp"
        self._log = log
        self._process: anyio.abc.Process | None = None

    async def start(self) -> None:
        """Until it listens."""
        folder = Path(self.plan.folder)
        self._process = await anyio.open_process(
            self.plan.command, cwd=ROOT, env=environment(folder), stderr=self._log
        )
        assert self._process.stdout is not None
        with anyio.fail_after(PATIENCE):
            assert await self._process.stdout.receive() == UP

    async def kill(self) -> None:
        """As the system does when memory runs out: nothing is said or tidied up."""
        assert self._process is not None
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)
        await self._process.wait()
        await self._process.aclose()

    async def restart(self) -> None:
        """Killed, and there again."""
        await self.kill()
        await self.start()


@asynccontextmanager
async def shop_at(plan: Plan) -> AsyncGenerator[Shop]:
    """A shop over HTTP for the length of the block; its log is in its folder."""
    with (Path(plan.folder) / "log").open("ab") as log:
        shop = Shop(plan, log)
        await shop.start()
        try:
            yield shop
        finally:
            with anyio.CancelScope(shield=True):
                await shop.kill()
