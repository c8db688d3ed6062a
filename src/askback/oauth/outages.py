"""What a provider could not do just now, so that calls in a row do not each wait for it in vain."""

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager

from askback.errors import ProviderUnavailable

logger = logging.getLogger("askback")

RESTS = 10.0
"""Seconds for which it is not tried again: as long as one try may take."""


class Outages:
    """Of one provider, by the version of the tokens that it was to renew."""

    def __init__(self, provider: str, clock: Callable[[], float]) -> None:
        self._provider, self._clock = provider, clock
        self._problems: dict[str, tuple[float, str]] = {}

    def require_none(self, version: str) -> None:
        """Raise what was raised a short while ago."""
        until, problem = self._problems.get(version, (0.0, ""))
        if until > self._clock():
            raise ProviderUnavailable(self._provider, problem)

    @contextmanager
    def record_failure(self, version: str) -> Generator[None]:
        """Not tried again where somebody for whom we have waited has just failed."""
        self.require_none(version)
        try:
            yield
        except ProviderUnavailable as error:
            logger.warning("a token was not refreshed: %s", error)
            now = self._clock()
            self._problems = {key: row for key, row in self._problems.items() if row[0] > now}
            self._problems[version] = now + RESTS, error.problem
            raise
