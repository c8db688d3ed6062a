"""The functions of each engine that read nothing but their arguments: any other may read whatever it likes."""

from importlib.resources import files
from typing import get_args

from askback.guards.sql.names import Dialect


def _read(dialect: str) -> frozenset[str]:
    text = files("askback.guards.sql.functions").joinpath(f"{dialect}.txt").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return frozenset(word for line in lines for word in line.split())


_HARMLESS = {dialect: _read(dialect) for dialect in get_args(Dialect)}
"""Read at import: statements are judged on an event loop, which no file may hold up."""


def harmless_functions(dialect: Dialect) -> frozenset[str]:
    """Names in small letters; one text file for each dialect, taken from the engine's own list."""
    return _HARMLESS[dialect]
