"""The verbs as Lua, one file each: Redis runs a script from its beginning to its end, with nobody in between."""

from collections.abc import Sequence
from functools import cache
from hashlib import sha1
from importlib.resources import files
from typing import NamedTuple

from askback.stores.redis.address import Argument

SHARED = {
    "greet": ("memory",),
    "look": ("memory",),
    "claim": ("memory",),
    "settle": ("kept",),
    "spend": ("kept",),
    "put": ("capped", "shelf"),
    "put_capped": ("capped", "shelf"),
    "replace": ("kept", "capped", "shelf"),
    "tidy": ("capped", "shelf"),
    "tally": ("memory",),
}
"""Which files stand before which."""


class Script(NamedTuple):
    """One of them: asked for by its digest, and sent whole where Redis does not have it."""

    source: str
    digest: str

    def briefly(self, keys: Sequence[bytes], *arguments: Argument) -> tuple[Argument, ...]:
        return ("EVALSHA", self.digest, len(keys), *keys, *arguments)

    def wholly(self, command: Sequence[Argument]) -> tuple[Argument, ...]:
        """The same command for a Redis that has forgotten its scripts."""
        return ("EVAL", self.source, *command[2:])


@cache
def script(name: str) -> Script:
    """Read once, when it is first needed."""
    folder = files("askback.stores.redis") / "lua"
    source = "\n".join((folder / f"{part}.lua").read_text("utf-8") for part in (*SHARED.get(name, ()), name))
    # Redis names scripts so; it protects nothing.
    return Script(source, sha1(source.encode(), usedforsecurity=False).hexdigest())
