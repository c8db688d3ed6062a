"""Thousands of replies to random questions, end to end: no body ever sees a value that its type forbids."""

from collections import Counter
from collections.abc import Iterator

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from askback import Accepted
from askback.testing import REVISIONS
from tests.protocol.hostile.desk import Desk, Taken
from tests.protocol.hostile.questions import Question, questions
from tests.protocol.hostile.replies import near_misses, replies

JUNE, LATEST = "2025-06-18", "2026-07-28"

QUESTIONS = [60, pytest.param(240, marks=pytest.mark.soak)]
REPLIES, NEAR_MISSES = 6, 8
"""On each revision so many questions, with at least so many replies to each: 2,520 in all, and at length 10,080."""

NO = {"decline": "Declined", "cancel": "Cancelled"}

ENDS = {"Accepted", "Declined", "Cancelled", "asked again", "InvalidAnswer"}
"""What may become of a reply."""

MALFORMED = "-32602"
"""And of one that is not even shaped like a reply, where there is a request to refuse."""


def assert_sound(question: Question, taken: Taken, revision: str) -> None:
    """What became of the reply is something that may become of this one."""
    reply, end = taken.reply, taken.end
    assert end in ENDS or (end == MALFORMED and revision == LATEST and reply.action != "accept")
    said_no = NO.get(reply.action) if isinstance(reply.action, str) else None
    assert (end if end in NO.values() else None) == said_no
    assert end == "Accepted" or not reply.fits
    if end == "Accepted":
        assert reply.action == "accept"
        assert len(taken.seen) == (2 if revision == LATEST else 1)
        for answer in taken.seen:
            assert isinstance(answer, Accepted)
            assert question.objection(answer.value, reply.content, ticked=revision == JUNE) is None


@pytest.fixture(scope="module")
def portal() -> Iterator[BlockingPortal]:
    """The server's event loop, which lives on from one random question to the next."""
    with start_blocking_portal() as portal:
        yield portal


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.verifies("R14", "R15", "R16", "R41")
@pytest.mark.parametrize("count", QUESTIONS)
@pytest.mark.parametrize("revision", REVISIONS)
def test_whatever_clients_reply_a_body_sees_only_what_it_asked_for(
    revision: str, count: int, portal: BlockingPortal
):
    desk, ends = Desk(revision), Counter[str]()

    @settings(max_examples=count, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
    @given(some.data())
    def put_a_random_question(data: some.DataObject) -> None:
        question = data.draw(questions())
        any_reply = replies(question, ticked=revision == JUNE, shapeless=revision == LATEST)
        chosen = data.draw(some.lists(any_reply, min_size=REPLIES, max_size=REPLIES))
        chosen += data.draw(near_misses(question, ticked=revision == JUNE))
        taken = portal.call(desk.put, question, chosen)
        assert [one.reply for one in taken] == chosen
        for one in taken:
            assert_sound(question, one, revision)
        ends.update(one.end for one in taken)

    with portal.wrap_async_context_manager(desk.open()):
        put_a_random_question()
    assert ends.total() >= count * (REPLIES + NEAR_MISSES)
    expected = {*ENDS, MALFORMED} if revision == LATEST else ENDS
    assert ends.keys() == expected, "some ends were never tried"
