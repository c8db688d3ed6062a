"""Names as each engine understands them: what it folds, what it cuts, where the parts of a dotted name end."""

from typing import Literal

from sqlglot import exp

Dialect = Literal["duckdb", "postgres", "sqlite", "trino"]

Path = tuple[str, ...]
"""The parts of a dotted name, folded, outermost first."""

SMALL = {capital: capital + 32 for capital in range(ord("A"), ord("Z") + 1)}
"""DuckDB, SQLite and Postgres fold the letters of ASCII and no others."""

MAX_NAME_LENGTH = 63
"""Bytes. Postgres cuts longer names without an error, so a longer one can mean a column of this length."""


def fold(name: str, dialect: Dialect, *, quoted: bool) -> str:
    """The name that the engine looks up when this one is written."""
    if dialect == "postgres":
        return cut_name(name if quoted else name.translate(SMALL))
    return name.lower() if dialect == "trino" else name.translate(SMALL)


def cut_name(name: str) -> str:
    encoded = name.encode(errors="replace")
    return name if len(encoded) <= MAX_NAME_LENGTH else encoded[:MAX_NAME_LENGTH].decode(errors="ignore")


def name_of(node: exp.Expr, dialect: Dialect) -> str:
    """The folded name of an identifier, or of a string where SQLite takes one for a name."""
    quoted = bool(node.args.get("quoted")) or not isinstance(node, exp.Identifier)
    return fold(node.name, dialect, quoted=quoted)


def path_of(name: str, dialect: Dialect) -> Path:
    """The parts of a name in a catalogue, which is spelled as the engine keeps it."""
    return tuple(fold(part, dialect, quoted=True) for part in name.split("."))


def quote_name(name: str) -> str:
    """A name in quotes, so that it stands for itself in a statement."""
    return '"' + name.replace('"', '""') + '"'


def agree(one: Path, other: Path) -> bool:
    """Whether the shorter of two dotted names is the end of the longer."""
    size = min(len(one), len(other))
    return one[-size:] == other[-size:]


def split_words(words: str) -> frozenset[str]:
    """A set of words, written as one line of them."""
    return frozenset(words.split())
