"""A store for schedules: as slow as one at the end of a wire, and it notices when a process is gone."""

from collections.abc import Callable
from typing import Any

from anyio import CancelScope
from anyio.lowlevel import checkpoint

from askback.stores import Granted, MemoryStore, Verdict
from tests.runtime.once.world import RUN, Run


class Unhurried(MemoryStore):
    """Every verb lets others go first, before it is done and after; the dead are not heard."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        super().__init__(clock=clock)
        self._held: dict[Granted, tuple[Run, bytes]] = {}

    async def claim(self, key: str, *, until: float, **options: Any) -> Verdict:
        await self._go_on()
        verdict = await super().claim(key, until=until, **options)
        if isinstance(verdict, Granted):
            self._held[verdict] = (RUN.get(), verdict.noted)
            if RUN.get().is_dead:
                await self.lose(RUN.get())
        try:
            await self._go_on()
        except BaseException:
            # As every store promises: who is cancelled when it has just been given the claim does not keep it.
            if isinstance(verdict, Granted) and self._held.pop(verdict, None):
                with CancelScope(shield=True):
                    await super().release(verdict)
            raise
        return verdict

    async def record(self, claim: Granted, result: bytes) -> bool:
        await self._go_on()
        self._held.pop(claim, None)
        is_recorded = await super().record(claim, result)
        await self._go_on()
        return is_recorded

    async def note(self, claim: Granted, noted: bytes) -> bool:
        await self._go_on()
        is_noted = await super().note(claim, noted)
        if is_noted:
            self._held[claim] = (RUN.get(), noted)
        await self._go_on()
        return is_noted

    async def release(self, claim: Granted) -> None:
        await self._go_on()
        self._held.pop(claim, None)
        await super().release(claim)
        await self._go_on()

    async def lose(self, dead: Run) -> None:
        """What a process held when it died may be taken over by those who may; nobody is told that it is free."""
        for claim, (run, noted) in list(self._held.items()):
            if run is dead:
                del self._held[claim]
                await super().note(claim, noted or b"[0.0,[]]")
                await super().release(claim)

    async def _go_on(self) -> None:
        await RUN.get().live()
        await checkpoint()
        await RUN.get().live()
