"""A body that can be stopped at three points, and an effect that can be seen from outside."""

from collections.abc import Callable, Coroutine
from typing import Any, Literal

import anyio

from askback import ask, once

Point = Literal["before", "during", "after"]
"""Where a run is when it is ended: before its effect, while it is under way, after it."""

POINTS: tuple[Point, ...] = ("before", "during", "after")


class Kitchen:
    """Bakes one pizza per answer. `stop` names the point where the first run to come there stays."""

    def __init__(self, stop: Point | None = None) -> None:
        self.stop = stop
        self.reached, self.go_on = anyio.Event(), anyio.Event()
        self.baked: list[str] = []

    def put_in(self, what: str) -> int:
        """The effect itself: gives how many there were with it."""
        self.baked.append(what)
        return len(self.baked)

    async def pass_by(self, point: Point) -> None:
        if point == self.stop and not self.reached.is_set():
            self.reached.set()
            await self.go_on.wait()

    async def bake(self) -> str:
        number = self.put_in("pizza")
        await self.pass_by("during")
        return f"pizza {number}"

    async def body(self) -> str:
        await ask("Hungry?", bool)
        await self.pass_by("before")
        pizza = await once("bake", self.bake)
        await self.pass_by("after")
        return f"here is {pizza}"


async def until_cut(kitchen: Kitchen, deliver: Callable[[], Coroutine[Any, Any, object]]) -> None:
    """Deliver, and give up when the kitchen has come to the point where it stops."""
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(deliver)
            await kitchen.reached.wait()
            tasks.cancel_scope.cancel()
