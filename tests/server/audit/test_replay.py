"""Played again, the ledger gives the end of every call, whatever happened in it (T24)."""

import random
from pathlib import Path
from typing import Any

import anyio
import pytest

from askback import Accepted, Cancelled, Declined, InvalidAnswer, TimedOut, ask, once
from askback.testing import REVISIONS, accept, cancel, decline, raw, run_tool
from tests.server.audit.books import mcpserver
from tests.support.call_states import CallState, replay

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("T24")]

CALLS = 60
AT_ONCE = 8

MISFIT = raw({"action": "accept", "content": {"value": "much"}})

WAYS: dict[str, list[Any]] = {
    "accept": [accept(3)],
    "decline": [decline()],
    "cancel": [cancel()],
    "refused": [MISFIT, MISFIT],
    "accept at last": [MISFIT, accept(4)],
}
"""What a person does with one question, by how it ends."""

KIND = {Accepted: "accept", Declined: "decline", Cancelled: "cancel"}


class Kitchen:
    """Asks as often as it is told, and writes down what came of it: by its own word, and not by the ledger's."""

    def __init__(self) -> None:
        self.ends: dict[int, tuple[dict[str, str], dict[str, str]]] = {}

    async def cook(self, number: int, questions: int) -> str:
        asked, done = self.ends[number] = {}, {}
        for step in range(questions):
            place = f"question {step}"
            try:
                asked[place] = KIND[type(await ask(f"{number}, {step}?", int, key=place))]
            except InvalidAnswer:
                asked[place] = "refused"
            except TimedOut:
                asked[place] = "expired"
            if asked[place] == "accept":
                await once(f"effect {step}", self._act)
                done[f"effect {step}"] = "done"
        return "cooked"

    def _act(self) -> str:
        return "done"


async def test_the_ledger_gives_the_end_of_each_of_many_calls(tmp_path: Path):
    kitchen, chance = Kitchen(), random.Random(6)
    books = mcpserver(kitchen.cook, tmp_path, reply_retries=1)
    limit = anyio.CapacityLimiter(AT_ONCE)

    async def call(number: int, ways: list[str], revision: str) -> None:
        answers = [reply for way in ways for reply in WAYS[way]]
        arguments = {"number": number, "questions": len(ways)}
        async with limit:
            run = await run_tool(books.server, "t", arguments, answers, revision=revision)
        assert run.text == "cooked"

    async with anyio.create_task_group() as tasks:
        for number in range(CALLS):
            ways = chance.choices(list(WAYS), k=chance.randrange(4))
            tasks.start_soon(call, number, ways, chance.choice(REVISIONS))
    entries = await books.entries()
    standings = replay(entries)
    asked = {entry.call: entry.message for entry in entries if entry.event == "asked"}
    found = {int(str(asked[call]).partition(",")[0]): standing for call, standing in standings.items()}
    assert {number: (one.questions, one.effects) for number, one in found.items()} == {
        number: end for number, end in kitchen.ends.items() if end[0]
    }
    assert all(isinstance(one, CallState) and one.target == "t" for one in found.values())
