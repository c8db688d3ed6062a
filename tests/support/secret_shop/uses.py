"""What a body does with a key: as it should, as it had better not, and as it must not, for the search to find it."""

import logging
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError

from askback import ask, once
from askback.stores import Store
from askback.vault import Secret

logger = logging.getLogger("shop")


class Uses:
    """A test names one of them: `into log` for `into_log`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._children: list[subprocess.Popen[bytes]] = []

    def by_name(self, how: str) -> Callable[[Secret], Awaitable[Any]]:
        return getattr(self, how.replace(" ", "_"))

    async def well(self, key: Secret) -> str:
        return f"{len(key.reveal())} signs"

    async def asking_more(self, key: Secret) -> str:
        more = (await ask("Shall I keep it in use?", bool)).or_stop("No more.")
        return f"{len(key.reveal())} signs, {more}"

    async def rejecting(self, key: Secret) -> str:
        await key.reject(f"The service said that {key.reveal()} is wrong.")
        return "rejected"

    # Mistakes, which come to nothing.

    async def raising(self, key: Secret) -> str:
        value = key.reveal()
        raise ValueError(f"the service did not take a key of {len(value)} signs")

    async def giving_back(self, key: Secret) -> Any:
        return key

    async def listing(self, key: Secret) -> Any:
        return {"keys": [key]}

    # Leaks.

    async def into_result(self, key: Secret) -> str:
        return key.reveal()

    async def into_error(self, key: Secret) -> str:
        raise ToolError(key.reveal())  # which is for the client to read

    async def into_traceback(self, key: Secret) -> str:
        raise ValueError(key.reveal())

    async def into_log(self, key: Secret) -> str:
        logger.debug("the key is %s", key.reveal())
        return "logged"

    async def into_state(self, key: Secret) -> str:
        await once("the key", key.reveal)
        return await self.asking_more(key)

    async def into_store(self, key: Secret) -> str:
        await once("the key", key.reveal, within=60)
        return "stored"

    async def into_ledger(self, key: Secret) -> str:
        await self._store.append(key.reveal().encode())
        return "noted"

    async def into_arguments(self, key: Secret) -> str:
        return self._begin([sys.executable, "-c", "input()", key.reveal()])

    async def into_environment(self, key: Secret) -> str:
        return self._begin([sys.executable, "-c", "input()"], KEY=key.reveal())

    def _begin(self, command: list[str], **environment: str) -> str:
        """A program that lives until its input ends: with this process at the latest."""
        self._children.append(subprocess.Popen(command, env=environment, stdin=subprocess.PIPE))
        return "begun"
