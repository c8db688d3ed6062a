"""Names that nothing else has: in no other process, and at no other time."""

import os
import secrets
from itertools import count

_NUMBERS = count(1)


class _Process:
    """Of this process alone: one that is forked off counts on from our number, and gets a mark of its own."""

    mark = secrets.token_hex(8)

    @classmethod
    def renew(cls) -> None:
        cls.mark = secrets.token_hex(8)


if hasattr(os, "register_at_fork"):  # Windows knows no fork
    os.register_at_fork(after_in_child=_Process.renew)


def new_id() -> str:
    """What differs most comes first, for those who read the beginning alone. Nobody need be unable to guess it."""
    return f"{next(_NUMBERS):x}-{_Process.mark}"
