"""DuckDB on connections of our own: syntax trees and plans, asked for in a thread and within a time limit."""

import json
import re
import threading
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, Generic, TypeAlias, TypeVar, cast

import anyio
import anyio.to_thread
import duckdb

from askback.guards.sql.engines.duckdb.syntax import SHAPES, Syntax, is_too_large, read_syntax
from askback.guards.sql.text import TOO_COMPLEX, find_excess

Connection: TypeAlias = duckdb.DuckDBPyConnection

Database: TypeAlias = "str | PathLike[str] | Connection | Callable[[], Connection]"
"""A file, which is opened read-only each time, a connection, or a function that gives one."""

RETRY_SECONDS = 0.05
"""Between two interruptions: one that falls between two calls of the engine is lost."""

GRACE_SECONDS = 0.5
"""How long an interrupted thread is waited for. Some of binding cannot be interrupted."""

PARSE, PLAN = "askback_parse", "askback_plan"

PREPARE = f"""
PREPARE {PARSE} AS SELECT system.main.json_serialize_sql($1::VARCHAR);
PREPARE {PLAN} AS SELECT system.main.json_serialize_plan($1::VARCHAR, optimize := false)
"""
"""The syntax tree of queries, in which nothing is looked up; and a plan: this binds a query, runs nothing of it and
changes no setting. Functions are named in full: a macro can hide them. Prepared on a connection that is kept, they take
a quarter of the time."""

MAX_IDLE = 4
"""Connections that an engine keeps for its next inspections."""

MAX_TREE = 1_000_000
"""Characters of a tree as JSON. Python's parser holds the interpreter while it reads it, some 10 ms for this, and much
longer where its garbage collector has to look through the nodes."""

FAILED = {"error": True, "error_type": "size"}
"""In place of a tree that is too large or too deep to be read."""

ONLY_QUERIES = "not implemented"
"""The type of the error that `json_serialize_sql` gives for all but queries."""

MAX_LENGTH = 100_000
"""Characters. DuckDB 2 needs a second to inspect and estimate 60,000 terms behind GROUP BY."""

MAX_NESTING = 100
"""Brackets within brackets. DuckDB 2 needs a second to parse a thousand, and its time grows with the cube."""

MAX_ALIASES = 200
"""Uses of the word AS. DuckDB 1.4 copies each CTE into all later ones: three hundred of them take a second."""

MAX_WITHS = 16
"""Uses of the word WITH. Each one within another doubles the time in which DuckDB 2 finds that it cannot parse it."""

MAX_SIGNS = 500
"""Signs with no operand before them, and line comments, which can stand between two of them. DuckDB takes memory with
the square of `- - - -`, and time with the cube: 2,000 take two seconds, 10,000 all memory that there is."""

MAX_COMMENTS = 1_000
"""DuckDB 1.4 takes time with the square of comments within comments."""

LIMITS = {
    re.compile(r"(?<![a-z_])as(?![a-z0-9_])", re.IGNORECASE): MAX_ALIASES,
    re.compile(r"(?<![a-z_])with(?![a-z0-9_])", re.IGNORECASE): MAX_WITHS,
    re.compile(r"--+|[^\w\s'\")\]}](?=\s*[-+])"): MAX_SIGNS,
    re.compile(r"/\*"): MAX_COMMENTS,
}

OPENING = "([{"

BRACKETS = re.compile(r"[(\[{)\]}]")

Result = TypeVar("Result")


@contextmanager
def open_cursor(database: Database) -> Generator[Connection]:
    """A connection of our own to the same database; the author's one, its settings and transaction stay as they are."""
    if isinstance(database, str | PathLike):
        path = fspath(cast("str | PathLike[str]", database))
        opened = duckdb.connect(path, read_only=True)
    else:
        opened = (database if isinstance(database, Connection) else database()).cursor()
    with closing(opened) as cursor:
        yield cursor


@contextmanager
def lend_cursor(database: Database, idle: list[Connection] | None) -> Generator[Connection]:
    """A connection on which parsing and planning are prepared. With `idle`, those to a connection are kept there.

    Closing the author's connection closes them too. One on which something went wrong is not kept.
    """
    if idle is None or not isinstance(database, Connection):
        with open_cursor(database) as cursor:
            cursor.execute(PREPARE)
            yield cursor
        return
    try:
        cursor = idle.pop()
    except IndexError:
        cursor = database.cursor()
        cursor.execute(PREPARE)
    with ExitStack() as stack:
        stack.callback(cursor.close)
        yield cursor
        if len(idle) < MAX_IDLE:
            stack.pop_all()
            idle.append(cursor)


class DuckDBJob(Generic[Result]):
    """Work on a connection of its own, which is interrupted if it is late or its caller is cancelled."""

    def __init__(
        self,
        database: Database,
        work: Callable[[Connection], Result],
        *,
        idle: list[Connection] | None = None,
    ) -> None:
        self._database, self._work, self._idle = database, work, idle
        self._done = threading.Event()
        self._is_interrupted = False
        self._cursor: Connection | None = None
        self._lock = threading.Lock()

    @property
    def is_done(self) -> bool:
        return self._done.is_set()

    async def run(self, *, timeout: float) -> Result:
        """Do the work in a thread. Raises TimeoutError; the thread then ends as soon as the engine lets it."""
        try:
            with anyio.fail_after(timeout):
                return await anyio.to_thread.run_sync(self._run, abandon_on_cancel=True)
        except TimeoutError:
            self._start_interrupting()
            await anyio.to_thread.run_sync(self._done.wait, GRACE_SECONDS, abandon_on_cancel=True)
            raise
        finally:
            self._start_interrupting()

    def _run(self) -> Result:
        try:
            with lend_cursor(self._database, self._idle) as self._cursor:
                try:
                    return self._work(self._cursor)
                finally:
                    with self._lock:  # to interrupt a connection while it is closed can end the process
                        self._cursor = None
        finally:
            self._done.set()

    def _start_interrupting(self) -> None:
        if not self.is_done and not self._is_interrupted:
            self._is_interrupted = True
            threading.Thread(target=self._interrupt, daemon=True).start()

    def _interrupt(self) -> None:
        while not self._done.wait(RETRY_SECONDS):
            with self._lock, suppress(duckdb.Error):
                if self._cursor is not None:
                    self._cursor.interrupt()


def ask_for_tree(cursor: Connection, question: str, query: str) -> dict[str, Any]:
    """The answer to `PARSE`, or to `PLAN` for a query that is safe to bind; `error` is true if there is no tree."""
    quoted = query.replace("'", "''")
    text: str = cursor.execute(f"EXECUTE {question}('{quoted}')").fetchall()[0][0]
    try:
        return json.loads(text) if len(text) <= MAX_TREE else FAILED
    except (RecursionError, ValueError):  # DuckDB writes NAN, which is no JSON
        return FAILED


@dataclass(frozen=True, slots=True)
class ParsedText:
    """A text as DuckDB understands it."""

    syntax: Syntax | None = None
    """The names in it, if it is exactly one query."""
    doubt: str = ""
    """Why it is not one."""
    is_statement: bool = False
    """Whether DuckDB parses it, but not as a query."""


def parse_text(cursor: Connection, text: str) -> ParsedText:
    """Let DuckDB parse a text, if that is within bounds."""
    if excess := find_excess(text, LIMITS, max_length=MAX_LENGTH) or find_brackets(text):
        return ParsedText(doubt=excess)
    tree = ask_for_tree(cursor, PARSE, text)
    if tree["error"]:
        if tree["error_type"] == ONLY_QUERIES:
            return ParsedText(is_statement=True)
        return ParsedText(doubt=TOO_COMPLEX if tree["error_type"] == "size" else "DuckDB cannot parse it")
    statements = cast("list[Any]", tree["statements"])
    if len(statements) != 1:
        return ParsedText(doubt="it is not exactly one statement")
    try:
        if is_too_large(statements[0]):
            return ParsedText(doubt=TOO_COMPLEX)
        return ParsedText(read_syntax(statements[0], len(text)))
    except SHAPES:
        return ParsedText(doubt="its syntax has a shape that is not known")


def find_brackets(statement: str) -> str | None:
    """Whether brackets are nested too deep. Those in strings and comments count too, which errs on the safe side."""
    if sum(map(statement.count, OPENING)) <= MAX_NESTING:
        return None
    depth = deepest = 0
    for found in BRACKETS.finditer(statement):
        depth = depth + 1 if found[0] in OPENING else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return TOO_COMPLEX if deepest > MAX_NESTING else None
