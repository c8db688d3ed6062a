"""Keys that were pressed before a screen was seen do not count. Takes its time from a clock that it is given."""

from collections.abc import Callable

QUIET_SECONDS = 0.5
"""Nobody reads a question faster than this; whoever still types when it appears types for something else. A key that
is held down begins to repeat within it."""


class KeyGuard:
    """Shut when a screen is drawn; opens after a quiet moment. A key that comes meanwhile begins the moment anew."""

    def __init__(self, clock: Callable[[], float], *, quiet: float = QUIET_SECONDS) -> None:
        self._clock = clock
        self._quiet = quiet
        self._since: float | None = None
        self.turned_away = False
        """Whether a key was ignored since the guard was last shut; the person is told."""

    def shut(self) -> None:
        """Another screen is about to be drawn."""
        self._since = None
        self.turned_away = False

    def drawn(self) -> None:
        """It is on the screen: from now on it can have been seen."""
        if self._since is None:
            self._since = self._clock()

    def is_open(self) -> bool:
        """Whether keys count by now."""
        return self.remaining() == 0

    def remaining(self) -> float:
        """Seconds until it opens, if nothing is pressed."""
        if self._since is None:
            return self._quiet
        return max(0.0, self._since + self._quiet - self._clock())

    def lets_through(self) -> bool:
        """Asked for every key."""
        if self.is_open():
            return True
        self.turned_away = True
        if self._since is not None:
            self._since = self._clock()
        return False
