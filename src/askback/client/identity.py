"""Which server it is, for what is remembered of it. Labels are words for people: every project has a `server.py`."""

import json
import os
import shutil
from collections.abc import Sequence
from hashlib import blake2b
from secrets import token_hex

import httpx2

SIZE = 16
"""Bytes of a digest: nobody finds a second command line with the same one."""


def identity_of_command(program: str, arguments: Sequence[str], folder: str | os.PathLike[str] | None) -> str:
    """The program by its whole path, all its words, and where it runs: elsewhere they may start something else."""
    here = os.path.abspath(folder or os.curdir)
    return _digest("command", os.path.join(here, shutil.which(program) or program), *arguments, here)


def identity_of_address(url: str) -> str:
    """Scheme, host, port and path. Keys are renewed, so neither the user nor the query counts."""
    try:
        whole = httpx2.URL(url)
    except httpx2.InvalidURL:
        return _digest("address", url)
    return _digest("address", str(whole.copy_with(userinfo=b"", query=None, fragment=None)))


def identity_of_one() -> str:
    """Like no other: for what has nothing by which it could be known again."""
    return token_hex(SIZE)


def _digest(*words: str) -> str:
    """Not the words themselves, which may hold a key."""
    return blake2b(json.dumps(words).encode(), digest_size=SIZE).hexdigest()
