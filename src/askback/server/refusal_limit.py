"""A limit on refusals in the ledger: a refused request costs its sender nothing, and must not fill the ledger."""

import threading
from collections.abc import Callable

BURST_SIZE = 100
"""Refusals that are recorded at once. A person's mistakes are a handful."""

PER_SECOND = 1.0
"""Refusals that are recorded after a burst: at most 86,400 rows a day from one worker, which a store bears."""


class RefusalLimit:
    """A token bucket. Refusals that are left out are counted, and the next recorded one gives their number."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._left, self._since = float(BURST_SIZE), clock()
        self._left_out = 0
        self._lock = threading.Lock()

    def take(self) -> int | None:
        """How many were left out before this one. None if this one is left out too."""
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
