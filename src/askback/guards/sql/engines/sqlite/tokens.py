"""SQLite's tokens of a statement. They decide nothing about columns: SQLite itself is asked for these."""

import re
from collections.abc import Iterator
from typing import NamedTuple

LETTERS = r"0-9A-Za-z_$\x80-\U0010ffff"

BLANK = r"(?>[ \t\n\f\r\ufeff]+|--[^\n]*\n|/\*.*?\*/)"

TOKEN = re.compile(
    r"(?P<blank>[ \t\n\f\r\ufeff]+|--[^\n]*|/\*(?:.*?\*/|.*))"
    r"|(?P<string>'[^']*(?:''[^']*)*'?)"
    r'|(?P<quoted>"[^"]*(?:""[^"]*)*"?|`[^`]*(?:``[^`]*)*`?|\[[^\]]*\]?)'
    r"|(?P<numbers>(?:[0-9]+[ \t\n]*,[ \t\n]*)+)"
    rf"|(?P<variable>[$@:#](?:[{LETTERS}]|::)+(?:\([^\s)]*\))?|\?[0-9]*)"
    rf"|(?P<word>[{LETTERS}]+)"
    r"|(?P<symbol>.)",
    re.DOTALL,
)
"""As `sqlite3GetToken` cuts. `$x(...)` is one variable, whatever stands in its parentheses. Numbers with commas behind
them are one token together, since there may be thousands of them."""

EXPLAIN = re.compile(
    rf"{BLANK}*+EXPLAIN(?![{LETTERS}])(?:{BLANK}++QUERY{BLANK}++PLAN(?![{LETTERS}]))?",
    re.DOTALL | re.IGNORECASE,
)


class SQLiteToken(NamedTuple):
    """A piece of a statement; `text` is without quotes, in small letters if it is a word."""

    kind: str
    text: str

    @property
    def is_name(self) -> bool:
        """Whether SQLite may take it for the name of something; it takes even strings."""
        return self.kind in {"word", "quoted", "string"} and not self.text[:1].isdigit()


def cut(statement: str) -> Iterator[SQLiteToken]:
    """The tokens of a statement in order, without blanks and comments."""
    for match in TOKEN.finditer(statement):
        kind = match.lastgroup or "symbol"
        if kind == "word":
            yield SQLiteToken(kind, match[0].lower())
        elif kind in {"string", "quoted"}:
            yield SQLiteToken(kind, _unquote(match[0]))
        elif kind != "blank":
            yield SQLiteToken(kind, match[0])


def split_explain(statement: str) -> tuple[bool, str]:
    """Whether a statement begins with EXPLAIN, and what stands behind it.

    A mistake here is harmless: SQLite refuses `EXPLAIN EXPLAIN`, and nothing but `EXPLAIN` is put before the rest.
    """
    match = EXPLAIN.match(statement)
    return (True, statement[match.end() :]) if match else (False, statement)


def _unquote(text: str) -> str:
    mark = text[0]
    end = "]" if mark == "[" else mark
    inner = text[1:-1] if len(text) > 1 and text.endswith(end) else text[1:]
    return inner if mark == "[" else inner.replace(mark * 2, mark)
