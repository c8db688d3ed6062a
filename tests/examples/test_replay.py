"""The guide to replay: each wrong way does what the guide says, and each right way works on every revision."""

import pytest

from askback.testing import REVISIONS, accept, run_tool
from examples.replay.server import mcp, sent

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("revision", REVISIONS)]

YES = [accept(yes=True)]


@pytest.fixture(autouse=True)
def empty_outbox() -> None:
    sent.clear()


async def test_an_effect_outside_once_repeats_and_inside_it_does_not(revision: str):
    await run_tool(mcp, "mail_twice", {"to": "ada"}, YES, revision=revision)
    assert sent == ["ada", "ada"]
    sent.clear()
    run = await run_tool(mcp, "mail_once", {"to": "ada"}, YES, revision=revision)
    assert (sent, run.text) == (["ada"], "mail 1, filed: True")


async def test_the_time_in_a_question_is_drift_unless_it_is_taken_once(revision: str):
    run = await run_tool(mcp, "changing_clock", None, lambda _: accept(yes=True), revision=revision)
    assert run.is_error and "keeps changing" in run.text
    assert (await run_tool(mcp, "steady_clock", None, YES, revision=revision)).text == "True"


async def test_chance_changes_under_a_persons_hands_unless_it_is_taken_once(revision: str):
    run = await run_tool(mcp, "steady_dice", None, YES, revision=revision)
    before, kept, after = run.text.split()
    assert (before, kept) == (after, "True")
    assert before in run.asked[0].message


async def test_side_by_side_wants_keys(revision: str):
    run = await run_tool(mcp, "together_without_keys", None, lambda _: accept("x"), revision=revision)
    assert run.is_error and "key=" in run.text
    run = await run_tool(
        mcp,
        "together_with_keys",
        None,
        lambda asked: accept("Ada" if "Name" in asked.message else 36),
        revision=revision,
    )
    assert run.text == "Accepted(value='Ada') Accepted(value=36)"


async def test_a_swallowed_question_is_asked_all_the_same(revision: str):
    run = await run_tool(mcp, "swallowing", None, [accept(yes=False)], revision=revision)
    assert run.text == "deleted: False"


async def test_each_effect_wants_its_own_key(revision: str):
    names = {"names": ["ada", "grace"]}
    run = await run_tool(mcp, "one_key_in_a_loop", names, revision=revision)
    assert run.is_error and "twice" in run.text
    sent.clear()
    run = await run_tool(mcp, "a_key_each", names, YES, revision=revision)
    assert (run.text, sent) == ("sent 2, more: True", ["ada", "grace"])
