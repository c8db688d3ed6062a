"""While a statement is weighed it is parsed once, and afterwards nothing of it is kept."""

import pytest
import sqlglot.parser

from askback.guards.risk import Risk
from askback.guards.sql import Known, Scales
from askback.guards.sql.remembering import remembered, remembering

PERSONAL = "SELECT email FROM customers"
KNOWN = Known(
    tables={"main.customers": {"id": "INTEGER", "email": "TEXT"}}, tagged={"main.customers.email": "contact"}
)


async def test_a_statement_is_parsed_once_and_so_is_the_one_with_a_limit(monkeypatch: pytest.MonkeyPatch):
    parsed: list[str] = []
    parse = sqlglot.parser.Parser.parse

    def noted(parser: sqlglot.parser.Parser, raw_tokens: list[object], sql: str | None = None) -> object:
        parsed.append(sql or "")
        return parse(parser, raw_tokens, sql)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(sqlglot.parser.Parser, "parse", noted)
    scales = Scales(dialect="duckdb", catalogue=KNOWN, most_rows=7)
    risk = await scales.weigh(PERSONAL)
    assert isinstance(risk, Risk) and [option.value for option in risk.options] == ["limit"]
    limited = f"SELECT * FROM (\n{PERSONAL}\n) AS limited LIMIT 7"
    assert sorted(text for text in parsed if "email" in text) == sorted([PERSONAL, limited])


def test_what_was_made_is_forgotten_behind_the_block():
    made: list[int] = []

    def make() -> list[int]:
        made.append(len(made))
        return [made[-1]]

    with remembering():
        first = remembered("key", make)
        assert remembered("key", make) is first and made == [0]
    assert remembered("key", make) == [1]
    assert remembered("key", make) == [2]
