"""A corpus as one test: every case is looked at, and the failure lists those that missed."""

from collections.abc import Generator
from contextlib import contextmanager

import pytest

MAX_SHOWN = 20


class Misses:
    """The cases of one test that failed."""

    def __init__(self) -> None:
        self._cases: list[str] = []

    @contextmanager
    def of(self, case: object) -> Generator[None]:
        """Look at one case. Its assertion does not end the test."""
        try:
            yield
        except (AssertionError, pytest.fail.Exception) as error:
            self._cases.append(f"{case!r:.300}: {str(error).splitlines()[0] if str(error) else ''}")

    def require_none(self) -> None:
        """Fail where a case has failed."""
        if self._cases:
            pytest.fail(f"{len(self._cases)} missed:\n" + "\n".join(self._cases[:MAX_SHOWN]), pytrace=False)
