"""What was written before works on every revision with the line that the guide adds; rewritten, it says the same."""

from typing import Any

import pytest

from askback.testing import REVISIONS, accept, raw, run_tool
from askback.testing.script import Accept
from tests.end_to_end.migrate.guide import SECTIONS, added
from tests.end_to_end.migrate.running import load, run_as_it_was, run_with_askback, server_in
from tests.end_to_end.migrate.stories import STORIES, Story
from tests.support.corpus import corpus
from tests.support.docs_pages import one_line
from tests.support.raw import raw_client

pytestmark = pytest.mark.anyio

JUNE = "2025-06-18"


def on_every_revision(stories: list[Story], *, but: tuple[str, str] | None = None) -> Any:
    """Each story on each revision, but for one style on one of them."""
    cells = [
        (story, revision) for story in stories for revision in REVISIONS if (story.style, revision) != but
    ]
    return corpus(("story", "revision"), cells)


@on_every_revision(STORIES, but=("elicit_url", JUNE))  # the SDK sends links there, and no client shows them
async def test_as_it_was_it_works_where_the_guide_says_and_fails_elsewhere_in_these_words(
    story: Story, revision: str
):
    section = SECTIONS[story.style]
    outcome = await run_as_it_was(server_in(load(story.style, "before")), story, revision)
    if revision in section.works_on or not story.answers:
        assert (outcome.text, outcome.failed) == (story.text, False)
        return
    words = section.quoted[0].replace("'2025-11-25'", repr(revision))
    if story.kind == "tool":
        assert (one_line(outcome.text), outcome.failed) == (words, True)
    else:
        assert outcome.failed


@on_every_revision(STORIES)
async def test_with_the_line_alone_it_works(story: Story, revision: str):
    run = await run_with_askback(server_in(load(story.style, "line")), story, revision)
    assert (run.text, run.is_error) == (story.text, False)


@on_every_revision([story for story in STORIES if story.style != "elicit_url"])
async def test_rewritten_it_says_the_same(story: Story, revision: str):
    run = await run_with_askback(server_in(load(story.style, "after")), story, revision, rewritten=True)
    assert (run.text, run.is_error) == (story.text, False)


@pytest.mark.parametrize("style", SECTIONS)
def test_the_guide_adds_one_line_and_its_import(style: str):
    server = "server" if style == "rounds_lowlevel" else "mcp"
    assert added(SECTIONS[style].diff) == ["from askback import Askback", f"Askback({server})"]


def test_every_style_of_the_guide_has_its_stories():
    assert SECTIONS.keys() == {story.style for story in STORIES}


async def test_a_link_on_june_2025_ends_in_advice_where_none_are_declared():
    story = next(story for story in STORIES if story.style == "elicit_url")
    server = server_in(load("elicit_url", "line"))
    run = await run_tool(server, story.name, story.arguments, revision=JUNE)
    assert run.is_error and "which knows forms and no links" in run.text


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_word_that_a_visit_is_complete_goes_to_those_who_know_it(revision: str):
    told = Story(
        style="elicit_url",
        name="note_payment",
        arguments={"passport": "7"},
        answers=[],
        text="Passport 7 is paid for.",
    )
    run = await run_with_askback(server_in(load("elicit_url", "line")), told, revision)
    notices = [line for line in run.transcript if line.what == "notifications/elicitation/complete"]
    assert (run.text, len(notices)) == (told.text, 1 if revision == "2025-11-25" else 0)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_reply_that_does_not_fit_ended_the_call_and_with_the_line_is_asked_again(revision: str):
    unfit = raw({"action": "accept", "content": {"day": 24}})
    story = Story(
        style="elicit",
        name="book_visit",
        arguments={"patient": "Ada", "day": "2026-12-24"},
        answers=[unfit, accept(day="2026-12-29"), accept(book=True)],
        text="Visit 1: Ada on 2026-12-29",
    )
    if revision != "2026-07-28":
        assert (await run_as_it_was(server_in(load("elicit", "before")), story, revision)).failed
    run = await run_with_askback(server_in(load("elicit", "line")), story, revision)
    assert run.text == story.text
    assert run.asked[1].message.endswith("The last answer did not fit:\nDay should be text.")


@pytest.mark.parametrize("revision", REVISIONS)
async def test_rounds_that_are_not_ours_are_checked_for_2025_clients_alone(revision: str):
    is_ours = revision != "2026-07-28"
    unfit = raw({"action": "accept", "content": {"language": 7}})
    tour = Story(
        style="rounds",
        name="book_tour",
        arguments={"guests": 2},
        answers=[unfit, *([accept(language="Dutch"), accept(hall="attic")] if is_ours else [])],
        text="A tour of the attic in Dutch for 2" if is_ours else "No tour booked.",
    )
    assert (await run_with_askback(server_in(load("rounds", "line")), tour, revision)).text == tour.text
    unfit = raw({"action": "accept", "content": {"send": "perhaps"}})
    plant = Story(
        style="resolvers",
        name="send_plant",
        arguments={"plant": "fern", "town": "Oslo"},
        answers=[unfit, *([accept(send=True)] if is_ours else [])],
        text="",
    )
    run = await run_with_askback(server_in(load("resolvers", "line")), plant, revision)
    assert run.is_error != is_ours


async def delivered_twice(server: Any, story: Story) -> list[dict[str, Any]]:
    """Both results of a round that reaches the server two times."""
    assert isinstance(story.answers[0], Accept)
    async with raw_client(server) as client:
        asked = await client.call(story.name, story.arguments)
        (key,) = asked["inputRequests"]
        replies = {key: {"action": "accept", "content": dict(story.answers[0].values)}}
        retry = {"inputResponses": replies, "requestState": asked["requestState"]}
        return [await client.call(story.name, story.arguments, **retry) for _ in range(2)]


@pytest.mark.parametrize("style", [style for style in SECTIONS if style != "elicit_url"])
async def test_a_round_that_is_delivered_twice_has_one_result(style: str):
    story = next(story for story in STORIES if story.style == style)
    first, second = await delivered_twice(server_in(load(style, "line")), story)
    assert without_state(first) == without_state(second)


async def test_a_round_that_is_delivered_twice_is_run_once():
    module = load("elicit", "line")
    free = {"patient": "Ada", "day": "2026-12-29"}
    story = Story(style="elicit", name="book_visit", arguments=free, answers=[accept(book=True)], text="")
    assert len(await delivered_twice(server_in(module), story)) == 2
    assert module.visits == ["Ada"]


def without_state(result: dict[str, Any]) -> dict[str, Any]:
    """A result but for its seal, which is fresh every time."""
    return {name: value for name, value in result.items() if name != "requestState"}


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_resolver_and_a_body_may_both_ask(revision: str):
    story = Story(
        style="resolvers",
        name="give_plant",
        arguments={"plant": "fern"},
        answers=[accept(paper=True), accept("Happy birthday")],
        text="A fern in paper: Happy birthday",
    )
    assert (await run_with_askback(server_in(load("resolvers", "after")), story, revision)).text == story.text
