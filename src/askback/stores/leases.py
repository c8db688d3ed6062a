"""How long whoever runs something counts as alive without saying so: the same for all stores that outlive a process."""

from math import isfinite

from askback.errors import OperatorError

LEASE = 15.0
"""Seconds, renewed at every third of it."""


def require_lease(lease: float, *, of: str) -> float:
    """A time that can pass."""
    if not (isfinite(lease) and lease > 0):
        raise OperatorError(
            f"{of}(lease={lease}) is no time to live. Give it some seconds, such as {LEASE:g}."
        )
    return lease
