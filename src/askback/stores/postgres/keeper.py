"""A thread with one connection of its own, which does for the whole process what nobody waits for.

It says that what is being run still is, hears who rings, gives back claims that nobody took, and forgets what has
expired. On a loop of its own, so that a body that blocks its loop does not pass for dead.
"""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from math import inf
from typing import Any

from askback.stores.postgres.address import Address
from askback.stores.postgres.bells import Bells
from askback.stores.postgres.connection import ANSWER, Connection, Greeted, explain, greet

logger = logging.getLogger("askback")

RENEW = """
UPDATE claims c SET alive_until = clock_timestamp() + $3 FROM unnest($1::bytea[], $2::text[]) AS held (key, token)
WHERE c.key = held.key AND c.token = held.token RETURNING c.token
"""

NAME = "askback keeper"
"""As pg_stat_activity shows it."""

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
"""Seconds between two attempts to connect."""

LONGEST_REST = 5.0
"""Seconds after which it makes sure that its connection is still there, and that the memory is still the same."""

MAY_BE_GRANTED = 2 * ANSWER
"""Seconds after which what was asked for, and not answered, is done or never will be."""

ENDING = 5.0
"""Seconds for its last words to the server."""

TIDY_EACH = 10.0
"""Seconds between two looks for expired rows, when the last one found few."""

FEW = 500
"""Expired rows of a table that are forgotten in one transaction."""

TURN = """SELECT CASE WHEN pg_try_advisory_xact_lock(hashtextextended('askback sweep ' || current_schema(), 0))
    THEN forget($1, $2) END"""
"""One process at a time is enough."""


class Keeper:
    """Started at once; ends with `end`. Knows nothing of the store that started it."""

    def __init__(self, address: Address, *, clock: Callable[[], float], lease: float) -> None:
        self.process = os.getpid()
        self.epoch = ""
        """As it was heard last."""
        self.is_listening = False
        self.missed_at = 0.0
        """When the server was lost that is looked for since; 0 while it is there."""
        self.is_closed = False
        """Whoever waits need not wait any longer."""
        self._is_over = False
        self.bells = Bells()
        self._address, self._clock = address, clock
        self._lease = timedelta(seconds=lease)
        self._rest = min(lease / 3, LONGEST_REST)
        self._lock = threading.Lock()
        self._held: dict[str, tuple[bytes, asyncio.AbstractEventLoop]] = {}
        self._unclaimed: dict[str, tuple[bytes, float]] = {}
        self._tidy_at = time.monotonic() + TIDY_EACH
        self._loop = asyncio.new_event_loop()
        self._wake = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="askback store", daemon=True)
        self._thread.start()

    # From any thread.

    def hold(self, token: str, key: bytes) -> None:
        """Somebody on this loop runs it from now on."""
        with self._lock:
            self._held[token] = key, asyncio.get_running_loop()

    def let_go(self, token: str) -> None:
        with self._lock:
            self._held.pop(token, None)

    def give_back(self, token: str, key: bytes, *, is_certain: bool) -> None:
        """Nobody took what may have been granted; one that was still under way may be granted yet."""
        with self._lock:
            self._held.pop(token, None)
            self._unclaimed[token] = key, 0.0 if is_certain else time.monotonic() + MAY_BE_GRANTED
        self._call(self._wake.set)

    def turn_away(self) -> None:
        """Those who wait are told that nothing comes any more."""
        self.is_closed = True
        self.bells.ring_all()

    def end(self) -> None:
        """What is held is taken over when its lease has passed."""
        self.turn_away()
        self._is_over = True
        self._call(self._wake.set)

    def wait_until_ended(self) -> None:
        self._thread.join(ENDING)  # a server that stands still would keep it longer

    def _call(self, callback: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(callback)

    # From here all is done in the thread.

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._keep())

    async def _keep(self) -> None:
        pause = FIRST_PAUSE
        while not self._is_over:
            self._wake.clear()
            try:
                greeted = await greet(self._address, application_name=NAME)
            except Exception as error:  # noqa: BLE001 - whoever calls the store meets the same, and is told
                logger.debug("%s", explain(error, self._address))
                await self._pause(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
                continue
            pause = FIRST_PAUSE
            await self._serve(greeted)

    async def _serve(self, greeted: Greeted) -> None:
        connection = greeted.connection
        connection.add_termination_listener(lambda _connection: self._wake.set())
        try:
            await connection.add_listener(self._address.schema, self._hear)
            self.is_listening, self.missed_at = True, 0.0
            self.bells.ring_all()  # what was rung before was not heard
            while not self._is_over:
                self._wake.clear()
                await self._look_after(greeted)
                await self._pause(self._seconds_to_rest())
            await self._give_back(connection)
            await connection.close(timeout=1.0)
        except Exception as error:
            connection.terminate()
            if not self._is_over:
                logger.warning("%s", explain(error, self._address), exc_info=error)
        finally:
            self.is_listening, self.missed_at = False, time.monotonic()

    async def _look_after(self, greeted: Greeted) -> None:
        connection = greeted.connection
        self.epoch = str(await connection.fetchval("SELECT epoch($1)", greeted.place))
        await self._renew(connection)
        await self._give_back(connection)
        if time.monotonic() >= self._tidy_at:
            await self._tidy(connection)

    async def _renew(self, connection: Connection) -> None:
        with self._lock:
            for token in [token for token, (_key, loop) in self._held.items() if loop.is_closed()]:
                del self._held[token]
            held = [(key, token) for token, (key, _loop) in self._held.items()]
        if not held:
            return
        keys, tokens = zip(*held, strict=True)
        renewed = await connection.fetch(RENEW, keys, tokens, self._lease)
        for token in {*tokens} - {str(row[0]) for row in renewed}:
            self.let_go(token)  # it was lost, or recorded at this very moment

    async def _give_back(self, connection: Connection) -> None:
        with self._lock:
            unclaimed = list(self._unclaimed.items())
        for token, (key, until) in unclaimed:
            await connection.execute("SELECT release($1, $2)", key, token)
            if until <= time.monotonic():
                self._unclaimed.pop(token, None)

    async def _tidy(self, connection: Connection) -> None:
        forgotten: Any = await connection.fetchval(TURN, self._clock(), FEW)
        self._tidy_at = time.monotonic() + (0.0 if (forgotten or 0) >= FEW else TIDY_EACH)

    def _seconds_to_rest(self) -> float:
        uncertain = LONGEST_PAUSE if self._unclaimed else inf
        return max(0.0, min(self._rest, uncertain, self._tidy_at - time.monotonic()))

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()

    def _hear(self, _connection: object, _process: int, _channel: str, topic: object) -> None:
        self.bells.ring(str(topic))
