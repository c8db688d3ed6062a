"""What a SQLite plan says: lines that stand below one another, each a loop inside those before it on its level."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from askback.errors import EstimateFailed
from askback.guards.cost.sqlite.names import PlanNames
from askback.guards.cost.sqlite.tables import SQLiteTables

LOOP = re.compile(
    r"(?P<how>SCAN|SEARCH) (?:TABLE |SUBQUERY )?(?P<name>.+?)(?: AS (?P<alias>.+?))?"
    r"(?P<virtual> VIRTUAL TABLE INDEX .*)?(?: USING (?P<by>.+?)(?: \((?P<terms>.*)\))?)?(?: LEFT-JOIN)?"
)
"""SQLite before 3.36 said TABLE and AS."""

CONSTANT = re.compile(r"SCAN (?:(\d+) )?CONSTANT ROWS?")

MADE = re.compile(r"(?:MATERIALIZE|CO-ROUTINE) (?P<name>.+)")

INDEX = re.compile(r"(?:COVERING )?INDEX (?P<name>.+)")

FOUND = 20.0
"""Rows that SQLite itself expects behind one key of an index that it makes for the occasion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SQLitePlan:
    """The sums over a plan."""

    rows: float
    widest: float | None
    bytes: float


def read_plan(
    lines: Iterable[tuple[int, int, str]], *, tables: SQLiteTables, names: PlanNames, listed: int
) -> SQLitePlan:
    """Lines as (number, number of the line above, text); `listed` is the length of the longest list behind IN."""
    below: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for number, above, text in lines:
        names.check(text)
        below[above].append((number, text))
    reading = _Reading(below, tables, names, listed)
    reading.level(0, 1.0)
    return SQLitePlan(
        rows=reading.rows, bytes=reading.bytes, widest=reading.widest if reading.is_bounded else None
    )


class _Reading:
    """Sums up while it goes down."""

    def __init__(
        self, below: dict[int, list[tuple[int, str]]], tables: SQLiteTables, names: PlanNames, listed: int
    ) -> None:
        self._below, self._tables, self._names, self._listed = below, tables, names, listed
        self._made: dict[str, float] = {}
        self.rows = self.bytes = self.widest = 0.0
        self.is_bounded = True

    def level(self, number: int, times: float) -> float:
        """How many rows come out of one run of what stands below a line; `times` is how often it runs."""
        lines = self._below[number]
        looks_up = any("LIST SUBQUERY" in text for _, text in lines)
        out, added = 1.0, 0.0
        for below, text in lines:
            if made := MADE.fullmatch(text):
                self._made[made["name"].lower()] = self.level(below, times)
            elif text == "MULTI-INDEX OR":
                out *= sum(self.level(each, times * out) for each, _ in self._below[below])
            elif not text.startswith(("SCAN", "SEARCH")):
                continue
            else:
                out *= self._loop(text, times * out, looks_up=looks_up)
        for below, text in lines:
            added += self._aside(below, text, times, out)
        self.widest = max(self.widest, out * times)
        return max(out, added)

    def _aside(self, below: int, text: str, times: float, out: float) -> float:
        """What is no loop of its level: parts of a UNION, and subqueries in expressions."""
        if MADE.fullmatch(text) or text == "MULTI-INDEX OR":
            return 0.0
        if text == "RECURSIVE STEP":
            self.is_bounded = False
        inner = self.level(below, times * out if text.startswith("CORRELATED") else times)
        return 0.0 if "SUBQUERY" in text and text != "LEFT-MOST SUBQUERY" else inner

    def _loop(self, text: str, times: float, *, looks_up: bool) -> float:
        """How many rows one run of a loop goes through; `times` is how often it runs."""
        if constant := CONSTANT.fullmatch(text):
            return float(constant[1] or 1)
        loop = LOOP.fullmatch(text)
        if loop is None:
            raise _unread(text)
        if loop["virtual"]:
            self.is_bounded = False
            return 1.0
        table, whole = self._whole(loop["alias"] or loop["name"])
        if "AUTOMATIC" in (loop["by"] or ""):
            self._add(table, whole)  # once, to make the index
            return min(whole, FOUND)
        found = whole if table is None else min(whole, self._found(loop, table, whole, looks_up=looks_up))
        self._add(table, found * times)
        return found

    def _whole(self, name: str) -> tuple[str | None, float]:
        """The largest that the name may stand for, and its rows; no table where the rows were made on the way."""
        meant = set(self._names.meant_by(name))
        stored = [(self._tables.rows(each), each) for each in meant if each in self._tables.names]
        made = max((self._made[each] for each in meant if each in self._made), default=None)
        if stored and (made is None or max(stored)[0] >= made):
            return max(stored)[1], max(stored)[0]
        if made is not None:
            return None, made
        if not self.is_bounded:
            return None, 1.0
        if name.lower().startswith("sqlite_"):
            return None, float(len(self._tables.names))
        raise _unread(name)

    def _found(self, loop: re.Match[str], table: str, whole: float, *, looks_up: bool) -> float:
        by, terms = loop["by"], loop["terms"] or ""
        equal = terms.count("=?")
        if loop["how"] == "SCAN" or not by or not equal or looks_up or "ANY(" in terms:
            return whole
        if by in {"INTEGER PRIMARY KEY", "PRIMARY KEY"}:
            return float(self._listed) if by == "INTEGER PRIMARY KEY" else whole
        index = INDEX.fullmatch(by)
        return self._listed * self._tables.per_key(table, index["name"], equal) if index else whole

    def _add(self, table: str | None, rows: float) -> None:
        if table is not None:
            self.rows += rows
            self.bytes += rows * self._tables.width(table)


def _unread(text: str) -> EstimateFailed:
    return EstimateFailed(
        engine="SQLite",
        problem=f"its plan says {text!r:.100}, which Askback cannot read",
        advice="A person has to judge it.",
    )
