"""One thread that says for all that is being run here that it still is, however busy the event loops are.

It also takes back claims whose answer was never seen: whoever asked was cancelled, or the connection broke.
"""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from redis.exceptions import NoScriptError, RedisError

from askback.stores.redis.address import Address, Argument, ThreadConnection
from askback.stores.redis.keys import Keys
from askback.stores.redis.problems import explain
from askback.stores.redis.scripts import Script, script

logger = logging.getLogger("askback")

MARK = 60_000
"""Milliseconds that a withdrawn claim is marked: longer than it can be on its way."""

AGAIN = 1.0
"""Seconds until what failed is tried again."""

MANY = 500
"""Claims renewed in one script, so that others are served in between."""


class Held(NamedTuple):
    """A row, and the event loop on which it is being run."""

    row: bytes
    loop: asyncio.AbstractEventLoop


class Keeper:
    """Starts with the first claim; `end` ends it, and what it kept is taken over when its lease has passed."""

    def __init__(self, address: Address, keys: Keys, *, lease: float) -> None:
        self.process = os.getpid()
        self._address, self._keys, self._lease = address, keys, lease
        self._held: dict[str, Held] = {}
        self._withdrawn: dict[str, tuple[bytes, float]] = {}
        self._wake = threading.Event()
        self._is_ending = False
        self._connection: ThreadConnection | None = None
        self._is_failing = False
        self._thread = threading.Thread(target=self._run, name="askback redis", daemon=True)
        self._thread.start()

    def hold(self, token: str, row: bytes) -> None:
        self._held[token] = Held(row, asyncio.get_running_loop())

    def holds(self, token: str) -> bool:
        return token in self._held

    def let_go(self, token: str) -> None:
        self._held.pop(token, None)

    def withdraw(self, token: str, row: bytes) -> None:
        """Nobody will run it, should it have been granted."""
        self._withdrawn[token] = (row, time.monotonic() + 4 * self._lease)
        self._wake.set()

    def end(self) -> None:
        self._is_ending = True
        self._wake.set()

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    # From here all is done in the thread.

    def _run(self) -> None:
        renew_at = time.monotonic() + self._lease / 3
        while not self._is_ending:
            self._wake.wait(max(renew_at - time.monotonic(), 0.0))
            self._wake.clear()
            if self._is_ending:
                break
            is_well, began = True, time.monotonic()
            if began >= renew_at:
                renew_at = began + self._lease / 3
                is_well = not self._held or self._quietly(self._renew)
            if self._withdrawn:
                is_well = self._quietly(self._take_back) and is_well
            if not is_well:
                renew_at = min(renew_at, time.monotonic() + AGAIN)
        if self._withdrawn:
            self._quietly(self._take_back)
        self._drop()

    def _renew(self) -> None:
        for token, held in list(self._held.items()):
            if held.loop.is_closed():  # whoever ran it is gone with it
                self._held.pop(token, None)
        tokens = list(self._held.items())
        for start in range(0, len(tokens), MANY):
            part = tokens[start : start + MANY]
            rows = [held.row for _token, held in part]
            lost: list[int] = self._do(
                script("renew"), rows, int(1000 * self._lease), *(token for token, _held in part)
            )
            for place in lost:
                self._held.pop(part[place - 1][0], None)

    def _take_back(self) -> None:
        for token, (row, deadline) in list(self._withdrawn.items()):
            if time.monotonic() < deadline:
                self._do(script("release"), [row, self._keys.withdrawn(token)], token, MARK)
            self._withdrawn.pop(token, None)

    def _do(self, script: Script, keys: list[bytes], *arguments: Argument) -> Any:
        command = script.briefly(keys, *arguments)
        try:
            return self._ask(command)
        except NoScriptError:
            return self._ask(script.wholly(command))

    def _ask(self, command: tuple[Argument, ...]) -> Any:
        if self._connection is None:
            connection = self._address.thread_connection()
            connection.connect()
            self._connection = connection
        self._connection.send_command(*command)
        return self._connection.read_response()

    def _quietly(self, work: Callable[[], None]) -> bool:
        """Whether it went well. Nobody waits for this; if it fails, the log says so, once until it works again."""
        try:
            self._with_a_fresh_connection(work)
            self._is_failing = False
        except (RedisError, OSError) as error:
            self._drop()
            if not self._is_failing:
                logger.warning("%s", explain(error, store=self._address.name, prefix=self._address.prefix))
            self._is_failing = True
        return not self._is_failing

    def _with_a_fresh_connection(self, work: Callable[[], None]) -> None:
        """Where the one from before broke while nothing was said; all it does may be done twice."""
        had_one = self._connection is not None
        try:
            work()
        except (RedisError, OSError):
            if not had_one:
                raise
            self._drop()
            work()

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(RedisError, OSError):
                connection.disconnect()
