"""Names of tables and columns as engines write them and as people read them."""

from collections.abc import Iterable

DOTTED = "a name in it has a dot"


def quote(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def join_columns(columns: Iterable[tuple[str, ...]]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Columns by their full names, and a doubt where the dots of a name could be taken for those between names."""
    found = set(columns)
    is_dotted = any("." in part for parts in found for part in parts)
    return frozenset(map(".".join, found)), (DOTTED,) if is_dotted else ()
