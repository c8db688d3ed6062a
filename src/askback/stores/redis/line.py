"""All that one event loop has open towards Redis: a link, opened anew when it broke, and ears."""

import asyncio
import logging
from collections.abc import Sequence
from contextvars import Context
from secrets import token_hex
from time import monotonic
from typing import Any

from redis.exceptions import NoScriptError, ResponseError

from askback.stores.redis.address import SECONDS_TO_ANSWER, Address, Argument, Connection
from askback.stores.redis.ears import Ears
from askback.stores.redis.keys import Keys
from askback.stores.redis.link import Link, no_answer
from askback.stores.redis.problems import LinkClosed
from askback.stores.redis.scripts import Script, script

logger = logging.getLogger("askback")

EVICTS = (
    "The store %s forgets keys when its memory is full (maxmemory-policy %s). Conversations that are under way are "
    "refused then, and secrets may be gone. Set its maxmemory-policy to noeviction."
)

ALWAYS = {"appendfsync": b"always", "no-appendfsync-on-rewrite": b"no"}
"""How a Redis is set up that has all on its disk before it answers."""


class Memory:
    """The name of what Redis remembers, as we last heard it."""

    def __init__(self) -> None:
        self.id = ""
        self._heard_at = 0.0
        self._is_warned = False

    def heard(self, said: bytes) -> None:
        self.id, self._heard_at = said.decode(), monotonic()

    def is_as_of(self, seconds: float) -> bool:
        """Whether we heard it that recently."""
        return bool(self.id) and monotonic() - self._heard_at < seconds

    def warn_of(self, policy: str, *, store: str) -> None:
        if policy != "noeviction" and not self._is_warned:
            self._is_warned = True
            logger.warning(EVICTS, store, policy)


class Line:
    """For the event loop that is running now."""

    def __init__(self, address: Address, keys: Keys, memory: Memory) -> None:
        self.loop = asyncio.get_running_loop()
        self._address, self._keys, self._memory = address, keys, memory
        self._link: Link | None = None
        self._opening: asyncio.Task[Link] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._is_closed = False
        self.ears = Ears(self._connect)

    async def run(self, script: Script, keys: Sequence[bytes], *arguments: Argument) -> Any:
        """A script, in one round trip."""
        command = script.briefly(keys, *arguments)
        link = self._link
        if link is None or not link.is_open:
            link = await self._open_link()
        try:
            return await link.ask(command)
        except NoScriptError:
            return await link.ask(script.wholly(command))

    async def ask(self, *command: Argument) -> Any:
        link = self._link
        if link is None or not link.is_open:
            link = await self._open_link()
        return await link.ask(command)

    async def close(self) -> None:
        self._is_closed = True
        await self.ears.close()
        if self._opening is not None:
            await asyncio.wait([self._opening])
        if self._link is not None:
            await self._link.close()

    def close_soon(self) -> None:
        """From another thread."""
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._begin_to_close)

    def _begin_to_close(self) -> None:
        self._closing = self.loop.create_task(self.close())  # the loop itself would let it be collected

    async def _open_link(self) -> Link:
        """Once for all who need it; who is cancelled meanwhile leaves it to the others."""
        if self._is_closed:
            raise LinkClosed()
        if self._opening is None:
            self._opening = asyncio.create_task(self._open(), name="askback redis opens", context=Context())
            self._opening.add_done_callback(self._opened)
        return await asyncio.shield(self._opening)

    def _opened(self, opening: asyncio.Task[Link]) -> None:
        self._opening = None
        if not opening.cancelled() and opening.exception() is None:
            self._link = opening.result()

    async def _open(self) -> Link:
        link = Link(await self._connect())
        try:
            await self._greet(link)
        except BaseException:
            await link.close()
            raise
        return link

    async def _connect(self) -> Connection:
        connection = self._address.connection()
        try:
            async with asyncio.timeout(SECONDS_TO_ANSWER):
                await connection.connect()
        except TimeoutError:
            raise no_answer() from None
        except BaseException:
            await connection.disconnect(nowait=True)
            raise
        return connection

    async def _greet(self, link: Link) -> None:
        """Learn which memory this is: Redis may have been started anew."""
        is_sure = await _writes_before_it_answers(link)
        command = script("greet").briefly([self._keys.memory], token_hex(8), "1" if is_sure else "")
        try:
            said, policy = await link.ask(command)
        except NoScriptError:
            said, policy = await link.ask(script("greet").wholly(command))
        self._memory.heard(said)
        self._memory.warn_of(policy.decode(), store=self._address.name)


async def _writes_before_it_answers(link: Link) -> bool:
    try:
        said = await link.ask(("CONFIG", "GET", *ALWAYS))
    except ResponseError:  # kept from us, as hosts of Redis do; so a restart may lose something
        return False
    return dict(zip(said[::2], said[1::2], strict=True)) == {
        name.encode(): value for name, value in ALWAYS.items()
    }
