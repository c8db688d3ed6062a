"""The templates of the SQL that all engines share. `{text}` asks for a text, `{scalar_int}` for a subquery."""

from tests.guards.sql.corpus_tricks import tricks
from tests.guards.sql.oracle.relations import Dialect

READS = ("SELECT", "WITH", "FROM", "TABLE", "VALUES")


def corpus(dialect: Dialect) -> tuple[str, ...]:
    """The queries of the corpus that try to read a tagged column unnoticed. The tables are the same."""
    return tuple(f"{{tagged}}{text}" for column, text in tricks(dialect) if column != "?" and is_read(text))


def is_read(text: str) -> bool:
    return text.upper().startswith(READS) and ";" not in text and "\n" not in text


ALIASES = ("c", "x", "customers", "email", "orders", "id", "t", "o", "name", "staff", "a b", "born", "n")
"""For tables and for columns: most of them are names of something else too."""

LITERALS = {
    "int": ("0", "1", "2", "3", "10", "NULL"),
    "text": ("'a'", "'IT'", "'17'", "'x y'", "''", "'Bob'"),
    "date": ("DATE '2001-02-03'", "DATE '2026-01-02'"),
    "bool": ("(1 = 1)", "(2 > 1)"),
}

FORMS = {
    "int": (
        "length({text})",
        "({int} + {int})",
        "({int} * 2)",
        "abs({int})",
        "({int} % 3)",
        "CAST({raw_text} AS INTEGER)",
        "(10 / {int})",
        "CASE WHEN {bool} THEN {int} ELSE {int} END",
        "CASE {text} WHEN {text} THEN {int} ELSE 0 END",
        "coalesce({int}, {int})",
        "nullif({int}, {int})",
        "{scalar_int}",
        "{scalar_int}",
    ),
    "text": (
        "lower({text})",
        "upper({text})",
        "({text} || {text})",
        "substr({text}, 1, 2)",
        "replace({text}, 'a', {text})",
        "trim({text})",
        "coalesce({text}, {text})",
        "nullif({text}, {text})",
        "CASE WHEN {bool} THEN {text} ELSE {text} END",
        "CASE {int} WHEN {int} THEN {text} END",
        "CAST({int} AS VARCHAR(9))",
        "CAST({date} AS VARCHAR(20))",
        "{scalar_text}",
        "{scalar_text}",
    ),
    "date": (
        "coalesce({date}, {date})",
        "CASE WHEN {bool} THEN {date} END",
        "CAST({raw_text} AS DATE)",
        "{scalar_date}",
    ),
    "bool": (
        "({int} < {int})",
        "({int} = {int})",
        "({text} = {text})",
        "({text} <> {text})",
        "({date} > {date})",
        "({text} LIKE 'a%')",
        "({text} IS NULL)",
        "({int} IS NOT NULL)",
        "({bool} AND {bool})",
        "({bool} OR {bool})",
        "(NOT {bool})",
        "({text} IN ('a', {text}))",
        "({int} BETWEEN {int} AND {int})",
        "({text} IS DISTINCT FROM {text})",
        "EXISTS ({rows})",
        "(NOT EXISTS ({rows}))",
        "({int} IN ({rows_int}))",
        "({text} NOT IN ({rows_text}))",
        "(({int}, {text}) IN ({rows_int_text}))",
    ),
    "any": ("{int}", "{text}", "{date}"),
}

AGGREGATES = {
    "int": (
        "count(*)",
        "count({any})",
        "count(DISTINCT {text})",
        "max({int})",
        "min({int})",
        "max(length({text}))",
        "count(*) FILTER (WHERE {bool})",
        "sum(CASE WHEN {bool} THEN 1 ELSE 0 END)",
    ),
    "text": (
        "max({text})",
        "min({text})",
        "lower(max({text}))",
        "max({text}) FILTER (WHERE {bool})",
        "coalesce(min({text}), max({text}))",
    ),
    "date": ("max({date})", "min({date})"),
    "bool": ("(count(*) > {number})", "(max({text}) > 'b')"),
}

WINDOWS = {
    "int": (
        "row_number() OVER ({window})",
        "rank() OVER ({window})",
        "count(*) OVER ({window})",
        "max({int}) OVER ({window})",
        "dense_rank() OVER ({window})",
        "lag({int}) OVER ({window})",
        "count(*) OVER ({window} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    ),
    "text": (
        "first_value({text}) OVER ({window})",
        "lag({text}) OVER ({window})",
        "lead({text}, 1, {text}) OVER ({window})",
        "max({text}) OVER ({window})",
        "nth_value({text}, 2) OVER ({window})",
    ),
}
