"""Unique ids: no other process has them, at any time."""

import os
import secrets
from itertools import count

_NUMBERS = count(1)


class _Process:
    """The mark of this process. A forked process counts on from our number and gets a mark of its own."""

    mark = secrets.token_hex(8)

    @classmethod
    def renew(cls) -> None:
        cls.mark = secrets.token_hex(8)


if hasattr(os, "register_at_fork"):  # Windows knows no fork
    os.register_at_fork(after_in_child=_Process.renew)


def new_id() -> str:
    """A new unique id. It can be guessed; the part that differs most comes first."""
    return f"{next(_NUMBERS):x}-{_Process.mark}"
