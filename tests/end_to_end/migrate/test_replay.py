"""Where running again bites code that was written to run once, and what `once` makes of it."""

from difflib import ndiff

import pytest

from askback.testing import REVISIONS, accept, run_tool
from tests.end_to_end.migrate.guide import PAGE, source_of
from tests.end_to_end.migrate.running import load, server_in

pytestmark = pytest.mark.anyio


async def boats_held(variant: str, revision: str, *, always_replay: bool) -> list[str]:
    module = load("effects", variant)
    if variant == "before":
        exec("from askback import Askback; Askback(mcp)", vars(module))
    run = await run_tool(
        server_in(module),
        "hire",
        {"boat": "dinghy"},
        [accept(agreed=True)],
        revision=revision,
        always_replay=always_replay,
    )
    assert not run.is_error
    return module.held


@pytest.mark.parametrize("revision", REVISIONS)
async def test_an_effect_above_a_question_is_repeated_in_rounds(revision: str):
    held = await boats_held("before", revision, always_replay=False)
    assert len(held) == (2 if revision == "2026-07-28" else 1)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_the_testing_kit_shows_it_on_every_revision(revision: str):
    assert len(await boats_held("before", revision, always_replay=True)) == 2


@pytest.mark.parametrize("revision", REVISIONS)
async def test_once_holds_one_boat_and_leaves_the_rest_of_the_body_as_it_was(revision: str):
    assert await boats_held("after", revision, always_replay=True) == ["dinghy"]


def test_the_guide_shows_the_change_that_was_made():
    before, after = (source_of("effects", one).splitlines() for one in ("before", "after"))
    changes = [line for line in ndiff(before, after) if line.startswith(("- ", "+ "))]
    (taken,) = (line[2:] for line in changes if line.startswith("- ") and "hold" in line)
    (given,) = (line[2:] for line in changes if line.startswith("+ ") and "hold" in line)
    assert f"-{taken}\n+{given}\n" in PAGE.read_text()
