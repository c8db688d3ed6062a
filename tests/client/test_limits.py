"""Time and number without a clock: what is left, what is too much."""

import math

import pytest

from askback.client.call import ClientCall
from askback.client.limits import LIMITS, QuestionLimits, QuestionTally, TokenBucket, WorkTimer
from askback.errors import TooManyQuestions
from tests.client.stranger_servers import Clock
from tests.client.turns import make_form, make_visit


def watch(clock: Clock, *, patience: float | None = None, seconds: float = 100) -> WorkTimer:
    return WorkTimer(patience=patience, limits=QuestionLimits(seconds=seconds), clock=clock)


@pytest.mark.verifies("R50")
def test_a_bucket_lets_a_burst_through_and_then_so_many_a_second_and_fills_again():
    clock = Clock()
    bucket = TokenBucket(QuestionLimits(burst=2, per_second=4), clock)
    assert [bucket.take() for _ in range(4)] == [0, 0, 0.25, 0.5]
    clock.now += 100
    assert [bucket.take() for _ in range(3)] == [0, 0, 0.25]


def test_the_servers_time_runs_only_while_nobody_is_asked():
    clock = Clock()
    timer = watch(clock)
    clock.now = 40
    assert timer.left() == 60
    with timer.person():
        clock.now = 5000
        assert timer.left() == math.inf
        with timer.person():
            clock.now = 6000
        assert timer.left() == math.inf
    assert timer.left() == 60
    clock.now += 60
    assert timer.left() == 0


def test_patience_begins_anew_with_each_sign_of_life_and_after_each_answer():
    clock = Clock()
    timer = watch(clock, patience=10)
    clock.now = 9
    assert timer.left() == 1
    timer.touch()
    assert timer.left() == 10
    with timer.person():
        clock.now += 1000
    assert timer.left() == 10
    clock.now += 95
    assert timer.left() == -85


def test_two_visits_with_the_same_words_to_the_same_host_are_the_same_question():
    tally = QuestionTally(QuestionLimits(repeats=2))
    tally.count(make_visit("https://pay.example/1").asked)
    tally.count(make_visit("https://pay.example/2").asked)
    tally.count(make_form().asked)
    with pytest.raises(TooManyQuestions, match="the same question"):
        tally.count(make_visit("https://pay.example/3").asked)


async def test_pauses_double_up_to_five_seconds_and_start_small_again():
    call, clock, pauses = ClientCall("tool order", limits=LIMITS), Clock(), list[float]()

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await clock.sleep(seconds)

    for has_asked in (*[False] * 9, True, False):
        await call.pause(sleep, has_asked=has_asked)
    assert pauses == [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 0.05]
