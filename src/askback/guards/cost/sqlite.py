"""What SQLite would read for a statement: it is put behind EXPLAIN QUERY PLAN, on a file that is opened read-only.

How large the tables are is found out at both ends of them and never from the whole.
"""

import re
import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import cache
from os import PathLike
from typing import Any

import anyio.to_thread

from askback.errors import EstimateFailed
from askback.guards.cost.estimate import A_PERSON, Estimate, PlanEstimator
from askback.guards.sql.engines.sqlite import SQLiteEngine
from askback.guards.sql.engines.sqlite.bounds import SQLiteToken, cut_tokens
from askback.guards.sql.engines.sqlite.connection import open_file
from askback.guards.sql.names import quote_name

SAMPLE_SIZE = 500
"""Rows at each end."""

MAX_COUNTED = 100_000
"""Rows up to which they are counted, which takes a few milliseconds."""

PLACES, RUN_LENGTH = 16, 64
"""At how many places the density of row numbers is looked at, and at how many rows there."""

CELL_HEADER = 4
"""Bytes that SQLite adds to a row at the least."""


class SQLiteTables:
    """Sizes of the tables in the main database of a connection; names are in small letters."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        stored = self._fetch("SELECT type, lower(name), coalesce(sql, '') FROM main.sqlite_master")
        self.views = {name: sql for kind, name, sql in stored if kind == "view"}
        self.names = {
            name
            for kind, name, sql in stored
            if kind == "table" and not sql.upper().startswith("CREATE VIRTUAL")
        }
        self._has_statistics = any(name == "sqlite_stat1" for _, name, _ in stored)
        self.rows = cache(self._rows)
        self.width = cache(self._width)
        self.per_key = cache(self._per_key)

    def _rows(self, table: str) -> float:
        """Counted, or at most: as many as there is room for between the row numbers, and in the file."""
        name = quote_name(table)
        counted = self._number(f"SELECT count(*) FROM (SELECT 1 FROM {name} LIMIT {MAX_COUNTED})")
        if counted < MAX_COUNTED:
            return counted
        pages, free, size = (
            self._number(f"PRAGMA {fact}") for fact in ("page_count", "freelist_count", "page_size")
        )
        room = (pages - free) * size / self.width(table)
        return min(room, self._rows_by_number(name)) if self._has_rowid(name) else room

    def _rows_by_number(self, name: str) -> float:
        """As if row numbers stood everywhere as close as where they stand closest among those looked at."""
        first, last = (int(self._number(f"SELECT {end}(rowid) FROM {name}")) for end in ("min", "max"))
        run = f"SELECT rowid FROM {name} WHERE rowid >= ? ORDER BY rowid LIMIT {RUN_LENGTH}"
        query = f"SELECT count(*) * 1.0 / (max(rowid) - min(rowid) + 1) FROM ({run})"
        starts = [first + (last - first) * part // PLACES for part in range(PLACES)]
        return (last - first + 1) * max(self._number(query, start) for start in starts)

    def _width(self, table: str) -> float:
        """Bytes of a row, at the end where they are fewer: rows are many rather than few."""
        name = quote_name(table)
        columns = [quote_name(column) for _, column, *_ in self._fetch(f"PRAGMA table_info({name})")]
        length = " + ".join(f"coalesce(length(CAST({column} AS BLOB)), 0) + 1" for column in columns)
        ends = ["", " ORDER BY rowid DESC"] if self._has_rowid(name) else [""]
        means = [
            self._number(f"SELECT avg({length}) FROM (SELECT * FROM {name}{end} LIMIT {SAMPLE_SIZE})")
            for end in ends
        ]
        return min(means) + CELL_HEADER

    def _per_key(self, table: str, index: str, columns: int) -> float:
        """How many rows an index finds for one value of its first columns."""
        whole = self.rows(table)
        for _, name, unique, _, partial in self._fetch(f"PRAGMA index_list({quote_name(table)})"):
            if name.lower() == index.lower():
                keys = [key for _, _, key in self._fetch(f"PRAGMA index_info({quote_name(name)})")]
                if unique and len(keys) <= columns:
                    return 1.0
                if not partial and None not in keys[:columns]:
                    return min(whole, self._repeated(table, name, keys[:columns]))
        return whole

    def _repeated(self, table: str, index: str, keys: list[str]) -> float:
        """By ANALYZE, scaled to the size of now, or by both ends of the index."""
        numbers = self._statistics(table, index)
        if len(numbers) > len(keys) and numbers[0]:
            return numbers[len(keys)] * max(1.0, self.rows(table) / numbers[0])
        return max(self._repeated_at(table, index, keys, order) for order in ("ASC", "DESC"))

    def _repeated_at(self, table: str, index: str, keys: list[str], order: str) -> float:
        columns = ", ".join(map(quote_name, keys))
        ordered = ", ".join(f"{quote_name(key)} {order}" for key in keys)
        source = f"{quote_name(table)} INDEXED BY {quote_name(index)}"
        sample = f"SELECT {columns} FROM {source} ORDER BY {ordered} LIMIT {SAMPLE_SIZE}"
        rows = self._number(f"SELECT count(*) FROM ({sample})")
        different = self._number(f"SELECT count(*) FROM (SELECT DISTINCT * FROM ({sample}))")
        return self.rows(table) if different <= 1 and rows == SAMPLE_SIZE else rows / max(different, 1.0)

    def _statistics(self, table: str, index: str) -> list[float]:
        query = "SELECT stat FROM main.sqlite_stat1 WHERE lower(tbl) = ? AND lower(idx) = lower(?)"
        rows = self._fetch(query, table, index) if self._has_statistics else []
        return [float(part) for (text,) in rows[:1] for part in str(text).split() if part.isdecimal()]

    def _has_rowid(self, name: str) -> bool:
        try:
            self._fetch(f"SELECT rowid FROM {name} LIMIT 0")
        except sqlite3.OperationalError:
            return False
        return True

    def _fetch(self, query: str, *values: object) -> list[Any]:
        return self._connection.execute(query, values).fetchall()

    def _number(self, query: str, *values: object) -> float:
        return float(self._fetch(query, *values)[0][0] or 0)


ENGINE = "SQLite"

LOOP = re.compile(
    r"(?P<how>SCAN|SEARCH) (?:TABLE |SUBQUERY )?(?P<name>.+?)(?: AS (?P<alias>.+?))?"
    r"(?P<virtual> VIRTUAL TABLE INDEX .*)?(?: USING (?P<by>.+?)(?: \((?P<terms>.*)\))?)?(?: LEFT-JOIN)?"
)
"""SQLite before 3.36 said TABLE and AS."""

CONSTANT = re.compile(r"SCAN (?:(\d+) )?CONSTANT ROWS?")

TEMPORARY = re.compile(r"(?:MATERIALIZE|CO-ROUTINE) (?P<name>.+)")

INDEX = re.compile(r"(?:COVERING )?INDEX (?P<name>.+)")

PLAN_WORDS = re.compile(r"\b(?:USING|AS|VIRTUAL|TABLE|SUBQUERY|CONSTANT|LEFT-JOIN|OR)\b")
"""Words of SQLite's plans, which do not quote: a name with them could make a plan say something else."""

ROWS_PER_KEY = 20.0
"""Rows that SQLite itself expects behind one key of an index that it makes for the occasion."""


class PlanNames:
    """Which table a plan means: it names them by the aliases of the statement, or of a view inside it.

    An alias is whatever stands behind a name. That finds too many, of which the largest counts, and never too few.
    """

    def __init__(self, tokens: Sequence[SQLiteToken], tables: SQLiteTables) -> None:
        self._named: dict[str, set[str]] = defaultdict(set)
        self._confusing: set[str] = set()
        unread, views = [tokens], dict(tables.views)
        while unread:
            names = [token for token in unread.pop() if token != SQLiteToken("word", "as")]
            for token, following in zip(names, [*names[1:], SQLiteToken("symbol", "")], strict=True):
                if token.kind in {"quoted", "string"} and PLAN_WORDS.search(token.text):
                    self._confusing.add(token.text)
                if token.is_name and following.is_name:
                    self._named[following.text.lower()].add(token.text.lower())
                if token.is_name and (view := views.pop(token.text.lower(), None)) is not None:
                    unread.append(list(cut_tokens(view)))

    def meanings(self, alias: str) -> set[str]:
        """All that an alias may stand for, in small letters, itself among them."""
        return {alias.lower()} | self._named.get(alias.lower(), set())

    def require_plain(self, line: str) -> None:
        """Raise if a line of a plan has a name in it that could be taken for the plan's own words."""
        for name in self._confusing:
            if name in line:
                problem = f"{name!r:.100} is a name that confuses its plans"
                raise EstimateFailed(engine=ENGINE, problem=problem, advice="Rename it.")


class SQLitePlan:
    """Sums up a plan while it goes down; `listed` is the length of the longest list behind IN."""

    def __init__(
        self, lines: Iterable[Sequence[Any]], tables: SQLiteTables, names: PlanNames, listed: int
    ) -> None:
        self._below: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for number, above, _, text in lines:
            names.require_plain(text)
            self._below[above].append((number, text))
        self._tables, self._names, self._listed = tables, names, listed
        self._temporary: dict[str, float] = {}
        self._rows = self._bytes = self._widest = 0.0
        self._is_bounded = True

    def estimate(self) -> Estimate:
        """The estimate for the whole plan."""
        self._level(0, 1.0)
        widest = self._widest if self._is_bounded else None
        return Estimate(engine=ENGINE, rows=self._rows, bytes=self._bytes, widest=widest)

    def _level(self, number: int, times: float) -> float:
        """How many rows come out of one run of what stands below a line; `times` is how often it runs."""
        lines = self._below[number]
        has_list = any("LIST SUBQUERY" in text for _, text in lines)
        out = 1.0
        for below, text in lines:
            if made := TEMPORARY.fullmatch(text):
                self._temporary[made["name"].lower()] = self._level(below, times)
            elif text == "MULTI-INDEX OR":
                out *= sum(self._level(each, times * out) for each, _ in self._below[below])
            elif text.startswith(("SCAN", "SEARCH")):
                out *= self._loop(text, times * out, has_list=has_list)
        added = sum(self._branches(lines, times, out))
        self._widest = max(self._widest, out * times)
        return max(out, added)

    def _branches(self, lines: Iterable[tuple[int, str]], times: float, out: float) -> Iterator[float]:
        """Rows of the parts of a UNION. Subqueries in expressions are gone through as well, and give none."""
        for below, text in lines:
            if TEMPORARY.fullmatch(text) or text == "MULTI-INDEX OR":
                continue
            if text == "RECURSIVE STEP":
                self._is_bounded = False
            rows = self._level(below, times * out if text.startswith("CORRELATED") else times)
            if "SUBQUERY" not in text or text == "LEFT-MOST SUBQUERY":
                yield rows

    def _loop(self, text: str, times: float, *, has_list: bool) -> float:
        """How many rows one run of a loop goes through; `times` is how often it runs."""
        if constant := CONSTANT.fullmatch(text):
            return float(constant[1] or 1)
        loop = LOOP.fullmatch(text)
        if loop is None:
            raise _unread(text)
        if loop["virtual"]:
            self._is_bounded = False
            return 1.0
        table, whole = self._find(loop["alias"] or loop["name"])
        if "AUTOMATIC" in (loop["by"] or ""):
            self._add(table, whole)  # once, to make the index
            return min(whole, ROWS_PER_KEY)
        rows = whole if table is None or has_list else min(whole, self._look_up(loop, table, whole))
        self._add(table, rows * times)
        return rows

    def _find(self, name: str) -> tuple[str | None, float]:
        """The largest that the name may stand for, and its rows; no table where the rows were made on the way."""
        meanings = self._names.meanings(name)
        candidates: list[tuple[float, str]] = [
            (self._tables.rows(each), each) for each in meanings & self._tables.names
        ]
        candidates += [(self._temporary[each], "") for each in meanings & self._temporary.keys()]
        if candidates:
            rows, table = max(candidates)
            return table or None, rows
        if not self._is_bounded:
            return None, 1.0
        if name.lower().startswith("sqlite_"):
            return None, float(len(self._tables.names))
        raise _unread(name)

    def _look_up(self, loop: re.Match[str], table: str, whole: float) -> float:
        by, terms = loop["by"], loop["terms"] or ""
        equal = terms.count("=?")
        if loop["how"] == "SCAN" or not by or not equal or "ANY(" in terms:
            return whole
        if by == "INTEGER PRIMARY KEY":
            return float(self._listed)
        index = INDEX.fullmatch(by)
        return whole if index is None else self._listed * self._tables.per_key(table, index["name"], equal)

    def _add(self, table: str | None, rows: float) -> None:
        if table is not None:
            self._rows += rows
            self._bytes += rows * self._tables.width(table)


def _unread(text: str) -> EstimateFailed:
    problem = f"its plan says {text!r:.100}, which Askback cannot read"
    return EstimateFailed(engine=ENGINE, problem=problem, advice=A_PERSON)


CHECK_INTERVAL = 10_000
"""Instructions of SQLite between two looks at the clock: some tenths of a millisecond."""

OPENING, CLOSING = SQLiteToken("symbol", "("), SQLiteToken("symbol", ")")


class SQLiteEstimator(PlanEstimator):
    """Estimates for a database file.

    SQLite's plans give the steps and no numbers. These come from the first and the last rows of tables and indexes,
    from ANALYZE where it was run, and from the size of the file, and are upper bounds rather than guesses.
    """

    driver_errors = (sqlite3.Error,)

    def __init__(self, path: str | PathLike[str], *, timeout: float = 5.0) -> None:
        super().__init__(SQLiteEngine(path, timeout=timeout))
        self._path, self._timeout = path, timeout

    async def _plan(self, statement: str) -> Estimate:
        return await anyio.to_thread.run_sync(self._explain, statement)

    def _explain(self, statement: str) -> Estimate:
        tokens = list(cut_tokens(statement))
        # The driver waits for locks of other processes, within the same time limit.
        with closing(open_file(self._path, timeout=self._timeout)) as connection:
            deadline = time.monotonic() + self._timeout
            connection.set_progress_handler(lambda: time.monotonic() > deadline, CHECK_INTERVAL)
            lines = connection.execute("EXPLAIN QUERY PLAN " + statement).fetchall()
            if not lines and any(token.text == "delete" for token in tokens):
                lines = [(1, 0, 0, f"SCAN {_deleted_table(tokens)}")]  # SQLite has no plan for a whole table
            tables = SQLiteTables(connection)
            return SQLitePlan(lines, tables, PlanNames(tokens, tables), longest_list(tokens)).estimate()


def _deleted_table(tokens: Sequence[SQLiteToken]) -> str:
    """The table in `DELETE FROM main.orders`."""
    place = next(place for place, token in enumerate(tokens) if token.text == "from") + 1
    is_qualified = place + 2 < len(tokens) and tokens[place + 1].text == "."
    return tokens[place + 2 if is_qualified else place].text


def longest_list(tokens: Sequence[SQLiteToken]) -> int:
    """How many times `x IN (1, 2, 3)` looks something up, where it is written out."""
    longest, lists = 1, list[int]()
    for place, token in enumerate(tokens):
        if token == OPENING:
            lists.append(1 if place and tokens[place - 1] == SQLiteToken("word", "in") else 0)
        elif token == CLOSING and lists:
            longest = max(longest, lists.pop())
        elif token.kind in {"symbol", "numbers"} and lists and lists[-1]:
            lists[-1] += token.text.count(",")
    return longest
