"""The verbs as Lua, one file each: Redis runs a script from its beginning to its end, with nobody in between."""

from functools import cache
from importlib.resources import files

SHARED = {
    "greet": ("epoch",),
    "look": ("epoch",),
    "claim": ("epoch",),
    "settle": ("kept",),
    "spend": ("kept",),
    "put": ("capped", "shelf"),
    "put_capped": ("capped", "shelf"),
    "replace": ("kept", "capped", "shelf"),
    "tidy": ("capped", "shelf"),
    "tally": ("epoch",),
}
"""Which files stand before which."""


@cache
def read_script(name: str) -> str:
    """Its source, with what stands before it."""
    folder = files("askback.stores.redis") / "lua"
    return "\n".join((folder / f"{part}.lua").read_text("utf-8") for part in (*SHARED.get(name, ()), name))
