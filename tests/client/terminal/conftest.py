"""Seats at terminals, kept from test to test: a program starts once, not for every question."""

from collections.abc import Callable, Iterator, Mapping

import pytest

from tests.client.terminal.seat import Seat

Seats = Callable[..., Seat]


@pytest.fixture(scope="session")
def seats() -> Iterator[Seats]:
    """Gives a free seat of the wanted kind; one that a failed test has left in the middle is replaced."""
    kept: dict[str, Seat] = {}

    def take(*flags: str, environment: Mapping[str, str] | None = None) -> Seat:
        kind = repr((flags, environment))
        if kind in kept and not kept[kind].is_free:
            kept.pop(kind).close()
        if kind not in kept:
            kept[kind] = Seat(*flags, environment=environment)
        return kept[kind]

    yield take
    for seat in kept.values():
        seat.close()


@pytest.fixture
def seat(seats: Seats) -> Seat:
    """An ordinary terminal."""
    seat = seats()
    seat.terminal.resize(80, 24)
    return seat


@pytest.fixture
def plain(seats: Seats) -> Seat:
    """Asked line by line."""
    seat = seats("plain")
    seat.terminal.resize(80, 24)
    return seat
