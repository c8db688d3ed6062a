"""Everything a claimant can do, in any order: never two runners, never a wrong result, never a hang."""

import tempfile
from pathlib import Path
from typing import Literal, NamedTuple

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup
from hypothesis import given, settings
from hypothesis import strategies as st

from askback.stores import (
    EpochChanged,
    Finished,
    Granted,
    MemoryStore,
    Rejected,
    RunnerDied,
    SQLiteStore,
    Store,
    Verdict,
)

FAR = 4e9
BOUND = 20.0


class Claim(NamedTuple):
    key: str
    turn: int
    digest: str
    takeover: bool


class Act(NamedTuple):
    """Something done by one of those who run, or to one of those who wait."""

    deed: Literal["record", "release", "note", "cancel"]
    whose: int


CLAIMS = st.builds(
    Claim,
    st.sampled_from("ab"),
    st.integers(0, 2),
    st.sampled_from(["yes", "no"]),
    st.sampled_from([True] * 3 + [False]),
)
ACTS = st.builds(Act, st.sampled_from(["record", "release", "note", "cancel", "cancel"]), st.integers(0, 20))
MOVES = st.lists(CLAIMS | CLAIMS | ACTS, max_size=40)


class Table:
    """What the claimants have learned, and what must not be among it."""

    def __init__(self, store: Store, group: TaskGroup) -> None:
        self.store, self.group = store, group
        self.running: list[tuple[Claim, Granted]] = []
        self.waiting: list[anyio.CancelScope] = []
        self.granted: set[tuple[str, int, str]] = set()
        self.overtaken: set[Granted] = set()
        self.noted: set[tuple[str, int]] = set()
        self.results: dict[tuple[str, int], tuple[str, bytes]] = {}

    async def claim(self, claim: Claim) -> None:
        scope = anyio.CancelScope()
        self.waiting.append(scope)
        with scope:
            key, turn, digest, takeover = claim
            self.learn(
                claim, await self.store.claim(key, turn=turn, digest=digest, until=FAR, takeover=takeover)
            )
        self.waiting.remove(scope)

    def learn(self, claim: Claim, verdict: Verdict) -> None:
        place = claim.key, claim.turn
        match verdict:
            case Granted():
                recorded = [turn for key, turn in self.results if key == claim.key]
                assert claim.turn > max(recorded, default=-1), "run again after it was recorded"
                assert not any(other[:2] == place for other, _ in self.running), "run by two at once"
                assert (verdict.noted != b"") == (place in self.noted)
                self.overtaken |= {mine for other, mine in self.running if other.key == claim.key}
                self.granted.add(claim[:3])
                self.running.append((claim, verdict))
            case Finished(result):
                assert self.results[place] == (claim.digest, result)
            case Rejected():
                self.learn_of_refusal(claim)
            case RunnerDied():
                assert not claim.takeover and place in self.noted
            case EpochChanged():
                raise AssertionError("no memory was lost")

    def learn_of_refusal(self, claim: Claim) -> None:
        others = {(turn, digest) for key, turn, digest in self.granted if key == claim.key}
        assert any(
            turn > claim.turn or (turn == claim.turn and digest != claim.digest) for turn, digest in others
        )

    async def act(self, act: Act) -> None:
        if act.deed == "cancel":
            if self.waiting:
                self.waiting[act.whose % len(self.waiting)].cancel()
        elif self.running:
            await self.finish(act.deed, act.whose % len(self.running))

    async def finish(self, deed: str, number: int) -> None:
        claim, mine = self.running[number]
        place = claim.key, claim.turn
        if deed == "note":
            if await self.store.note(mine, b"noted"):
                self.noted.add(place)
            assert (place in self.noted) or mine in self.overtaken
            return
        del self.running[number]
        if deed == "release":
            await self.store.release(mine)
            return
        result = mine.token.encode()
        if mine in self.overtaken:
            assert not await self.store.record(mine, result)
        else:
            self.results[place] = claim.digest, result
            assert await self.store.record(mine, result)

    async def play(self, moves: list[Claim | Act]) -> None:
        for move in moves:
            if isinstance(move, Claim):
                self.group.start_soon(self.claim, move)
            else:
                await self.act(move)
            await self.let_all_move()
        with anyio.fail_after(BOUND):
            while self.waiting or self.running:
                if self.running:
                    await self.finish("record", 0)
                await self.let_all_move()

    async def let_all_move(self) -> None:
        for _ in range(4):
            await anyio.lowlevel.checkpoint()
        await self.store.sweep()  # in SQLite: when the thread has done all that came before


async def play(store: Store, moves: list[Claim | Act]) -> None:
    async with anyio.create_task_group() as group:
        await Table(store, group).play(moves)
    await store.close()


@settings(max_examples=500)
@given(MOVES)
def test_in_memory_nothing_runs_twice_and_nobody_waits_for_ever(moves: list[Claim | Act]):
    anyio.run(play, MemoryStore(), moves)


@settings(max_examples=50)
@given(MOVES)
def test_in_sqlite_nothing_runs_twice_and_nobody_waits_for_ever(moves: list[Claim | Act]):
    with tempfile.TemporaryDirectory() as place:
        anyio.run(play, SQLiteStore(Path(place) / "askback.db"), moves)
