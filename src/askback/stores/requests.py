"""A claim as it was asked for, while a store that several processes share looks for its verdict."""

from typing import NamedTuple


class ClaimRequest(NamedTuple):
    """The arguments of `Store.claim`, with the token that the claim would get."""

    key: str
    turn: int
    digest: str
    until: float
    takeover: bool
    epoch: str
    token: str
    at: float
    """By the clock. It stays as it was while the claim waits, so that a result does not expire before it is read."""
