"""How many refusals are put on record: whoever makes them costs nothing, and the record must not be theirs to fill."""

import threading
from collections.abc import Callable

BURST_SIZE = 100
"""Refusals in a burst; a person's mistakes are a handful."""

PER_SECOND = 1.0
"""Beyond that. In a day of a flood that is 86,400 lines from one worker, which a store bears."""


class RefusalLimit:
    """A bucket of refusals that may be written; those left out are counted, and the next one says how many."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._left, self._since = float(BURST_SIZE), clock()
        self._left_out = 0
        self._lock = threading.Lock()

    def take(self) -> int | None:
        """How many were left out before this one; None where this one is left out too."""
        with self._lock:
            now = self._clock()
            self._left = min(self._left + max(now - self._since, 0.0) * PER_SECOND, BURST_SIZE)
            self._since = now
            if self._left < 1.0:
                self._left_out += 1
                return None
            self._left -= 1.0
            left_out, self._left_out = self._left_out, 0
            return left_out
