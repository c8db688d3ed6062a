"""The functions of each engine that read nothing but their arguments: any other may read whatever it likes."""

from functools import cache
from importlib.resources import files

from askback.guards.sql.names import Dialect


@cache
def harmless_functions(dialect: Dialect) -> frozenset[str]:
    """By name, in small letters; one text file for each dialect, taken from the engine's own list."""
    text = files("askback.guards.sql.functions").joinpath(f"{dialect}.txt").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return frozenset(word for line in lines for word in line.split())
