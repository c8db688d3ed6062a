"""The cinema of `examples/sync`: its stories on every revision."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from askback.testing import accept, cancel, decline, get_prompt
from askback.testing.plugin import RunTool
from askback.testing.script import Answers
from examples.sync import server as cinema

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def an_empty_book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cinema, "path", str(tmp_path / "cinema.db"))


STORIES: dict[str, tuple[str, dict[str, Any], Answers, str]] = {
    "booked": ("book", {"film": "M"}, [accept(9), accept(2), accept(yes=True)], "Booking 1: 2 seats for M"),
    "no seats": ("book", {"film": "M"}, [decline()], "Nothing booked."),
    "second thoughts": ("book", {"film": "M"}, [accept(2), cancel()], "Nothing booked."),
    "reviewed": ("review", {"film": "M"}, [accept(4), accept("Dark.")], "**** Dark."),
    "stars alone": ("review", {"film": "M"}, [accept(4), cancel()], "****"),
    "no review": ("review", {"film": "M"}, [decline(), accept("Dark.")], "No review."),
    "a note": ("complain", {}, [accept("Too loud.")], "Too loud. (after ConnectionError)"),
}


@pytest.mark.parametrize("story", STORIES)
async def test_the_cinema_says_the_same_on_every_revision(askback_run_tool: RunTool, story: str):
    tool, arguments, answers, text = STORIES[story]
    assert (await askback_run_tool(cinema.mcp, tool, arguments, answers)).text == text


async def test_a_booking_is_written_down_once(askback_run_tool: RunTool):
    await askback_run_tool(cinema.mcp, "book", {"film": "M"}, [accept(2), accept(yes=True)])
    with closing(sqlite3.connect(cinema.path)) as book:
        assert book.execute("SELECT * FROM bookings").fetchall() == [("M", 2)]


async def test_a_prompt_asks_too(askback_revision: str):
    run = await get_prompt(cinema.mcp, "recommend", None, [accept("crying")], revision=askback_revision)
    assert run.text == "Recommend a film for crying."
