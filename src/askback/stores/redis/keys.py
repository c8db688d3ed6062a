"""The names of keys in Redis, and the form of a value behind its time of expiry."""

import re
from math import isfinite

from askback.stores.redis.address import Argument

CLOCK_TOLERANCE = 60.0
"""Seconds that Redis keeps a row beyond its time: another worker's clock may be behind ours. Our own clock decides
for us."""

MAX_LIFE = 100 * 365 * 86_400.0
"""Seconds: beyond that, Redis cannot count in milliseconds."""

PAIR = re.compile(rb"((?:[^\0]|\0\xff)*)\0(.*)", re.DOTALL)


class Keys:
    """All begin with the prefix in braces: so a cluster keeps them in one place, where a script can reach them all."""

    def __init__(self, prefix: str) -> None:
        self._home = home = b"{%s}:" % prefix.encode()
        self.epoch = home + b"memory"
        self.ledger = home + b"ledger"
        self.rows = home + b"rows"
        self.due = home + b"due"
        self.vault = home + b"vault:"

    def claim(self, key: str) -> bytes:
        return self._home + b"claim:" + key.encode()

    def settled(self, key: str) -> bytes:
        return self._home + b"settled:" + key.encode()

    def spent(self, key: str) -> bytes:
        return self._home + b"spent:" + key.encode()

    def withdrawn(self, token: str) -> bytes:
        """Marks an abandoned claim, should it still be on its way."""
        return self._home + b"withdrawn:" + token.encode()

    def answered(self, token: str) -> bytes:
        """The answer to a command, in case it is sent again."""
        return self._home + b"answered:" + token.encode()

    def pattern(self, kind: str) -> str:
        """All keys of a kind, for SCAN."""
        home = re.sub(r"([*?\[\]\\^-])", r"\\\1", self._home.decode())
        return f"{home}{kind}:*"


def encode_pair(owner: str, name: str) -> bytes:
    """In Redis's order of bytes as in Python's order of pairs."""
    return encode_owner(owner) + b"\0" + name.encode()


def encode_owner(owner: str) -> bytes:
    """The beginning of all pairs whose owner begins so."""
    return owner.encode().replace(b"\0", b"\0\xff")


def decode_pair(member: bytes) -> tuple[str, str]:
    found = PAIR.fullmatch(member)
    assert found is not None
    owner, name = found.groups()
    return owner.replace(b"\0\xff", b"\0").decode(), name.decode()


def read_value(kept: bytes | None, now: float) -> bytes | None:
    """The value, if its time is not over."""
    if kept is None:
        return None
    due, _, value = kept.partition(b":")
    return value if not due or float(due) > now else None


def time_to_live(until: float, now: float, *, at_least: float = 0.0) -> Argument:
    """Milliseconds after which Redis forgets a row by itself."""
    left = until - now if isfinite(until) else MAX_LIFE
    return int(1000 * (min(max(left, at_least, 0.0), MAX_LIFE) + CLOCK_TOLERANCE))
