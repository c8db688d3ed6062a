"""The shortest stories of a process that dies with effects under way; chance finds longer ones."""

import anyio
import pytest

from tests.runtime.once.plans import Plan, Step
from tests.runtime.once.stores import Unhurried
from tests.runtime.once.world import RUN, Run, World
from tests.support.clock import Clock
from tests.support.deliveries import PATIENCE, End, text_of
from tests.support.direct_middleware import Direct
from tests.support.raw import accepting, answering

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("R39")]


class Stage:
    """One conversation whose first run dies, and whose second takes over."""

    def __init__(self, plan: Plan) -> None:
        clock = Clock()
        self.world, self.store, self._plan = World(), Unhurried(clock=clock), plan
        self._direct = Direct(store=self.store, clock=clock)
        self._first: End = {}

    async def begin(self) -> None:
        RUN.set(self._run())
        self._first = await self._direct.call(self.world.body)

    async def deliver(self, run: Run | None = None) -> End:
        RUN.set(run or self._run())
        return await self._direct.call(self.world.body, **answering(self._first, ask_1=accepting(value=1)))

    async def live_and_die(self, effects: int) -> None:
        """The first run, until so many effects are under way."""
        run = self._run()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._until_burial, run)
            while self.world.runs.total() < effects:
                await anyio.lowlevel.checkpoint()
            run.is_dead = True
            await self.store.lose(run)
            self.world.open_all()
            run.burial.set()

    async def _until_burial(self, run: Run) -> None:
        try:
            await self.deliver(run)
        except BaseException:
            if not run.is_dead:
                raise

    def _run(self) -> Run:
        return Run(talk="talk", scope="scope", plan=self._plan, on_effect=lambda: None)


WIDTHS = pytest.mark.parametrize("is_wide", [False, True], ids=["in the call", "in a wider scope"])
KINDS = pytest.mark.parametrize("kind", ["once", "pair"])


@WIDTHS
@KINDS
async def test_effects_under_way_when_their_process_dies_are_not_run_again(kind: str, is_wide: bool):
    step = Step(kind="pair" if kind == "pair" else "once", key="effect", is_wide=is_wide, is_caught=True)
    stage = Stage((Step(kind="ask"), step))
    with anyio.fail_after(PATIENCE):
        await stage.begin()
        await stage.live_and_die(len(step.keys))
        end = await stage.deliver()
    assert not stage.world.faults
    assert text_of(end) == " ".join(["1", *["failed"] * len(step.keys)])


@WIDTHS
@KINDS
async def test_they_are_run_again_where_the_author_lets_them(kind: str, is_wide: bool):
    step = Step(kind="pair" if kind == "pair" else "once", key="effect", is_wide=is_wide, may_repeat=True)
    stage = Stage((Step(kind="ask"), step))
    with anyio.fail_after(PATIENCE):
        await stage.begin()
        await stage.live_and_die(len(step.keys))
        end = await stage.deliver()
        again = await stage.deliver()
    assert text_of(end) == text_of(again)
    assert "failed" not in text_of(end)
    assert stage.world.runs.total() == 2 * len(step.keys)
