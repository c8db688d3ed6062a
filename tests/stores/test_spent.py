"""The filter of what was run: it never forgets, and hardly ever makes a mistake."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askback.stores.spent import BYTES, Spent

HOUR = 3600.0

TURNS = st.lists(st.tuples(st.text(max_size=8), st.integers(0, 5)), max_size=20)


@given(TURNS)
def test_what_was_put_in_is_there_with_all_turns_before_it(turns: list[tuple[str, int]]):
    spent = Spent()
    for key, turn in turns:
        spent.add(key, turn, until=HOUR, now=0.0)
    for key, last in turns:
        assert all(spent.holds(key, turn) for turn in range(last + 1))


def test_an_empty_one_holds_nothing_and_takes_no_room():
    spent = Spent()
    assert not spent.holds("key", 0)
    assert spent.size == 0


@pytest.mark.slow
def test_less_than_one_new_turn_in_a_hundred_thousand_is_refused_after_a_hundred_thousand_conversations():
    """Where the bits fall differs from run to run: one in a million is usual, ten come once in ten million runs."""
    spent = Spent()
    for number in range(100_000):
        spent.add(f"old {number}", 2, until=HOUR, now=0.0)
    assert sum(spent.holds(f"new {number}", 0) for number in range(1_000_000)) < 10
    assert spent.size == BYTES <= 2 * 2**20


def test_turns_are_held_until_their_time_and_the_room_is_given_back():
    spent, minute = Spent(), 60.0
    for now in range(0, 600, 10):
        spent.add(f"at {now}", 0, until=now + minute, now=now)
        assert all(spent.holds(f"at {earlier}", 0) for earlier in range(max(now - 50, 0), now, 10))
        assert spent.size <= 2 * BYTES
    assert not spent.holds("at 0", 0)
    spent.forget(600.0 + minute)
    assert spent.size == 0


def test_those_that_last_long_do_not_keep_the_others():
    spent = Spent()
    spent.add("for a month", 0, until=30 * 24 * HOUR, now=0.0)
    for hour in range(1, 6):
        spent.add(f"in hour {hour}", 0, until=(hour + 1) * HOUR, now=hour * HOUR)
        spent.forget(hour * HOUR)
    assert spent.holds("for a month", 0)
    assert not spent.holds("in hour 1", 0)
