"""Codes that open the desk once: a link that a browser keeps in its history is of no use to anybody."""

import hmac
import secrets

from askback.client.limits import Clock

CODE_SECONDS = 60
"""A browser that has to be started first takes some; somebody who finds the code later comes too late."""


class OneTimeCodes:
    """Each is taken once, and only while it is fresh."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    def make(self) -> str:
        now = self._clock()
        self._until = {code: until for code, until in self._until.items() if until > now}
        code = secrets.token_urlsafe(32)
        self._until[code] = now + CODE_SECONDS
        return code

    def take(self, given: str) -> bool:
        """Whether it is good; from here on it is not."""
        found = next(
            (code for code in self._until if hmac.compare_digest(code.encode(), given.encode())), None
        )
        return found is not None and self._until.pop(found) > self._clock()
