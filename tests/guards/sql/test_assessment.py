"""Which statements a person is asked about, what the question says, and that whatever fails is a question."""

import logging
from collections.abc import Mapping
from typing import Any, cast

import pytest

from askback.errors import AuthorError, NotApproved
from askback.guards.arguments import Risk
from askback.guards.cost import CalledEstimator, CostLimits, Estimate, EstimateFailed
from askback.guards.sql import SQLCatalogue, SQLWords, StatementAssessor
from askback.guards.sql.question import MARGIN, MARGIN_ON, MAX_LINE_LENGTH
from tests.guards.sql.shop import tables, tagged, views

pytestmark = pytest.mark.anyio

SHOP = SQLCatalogue(
    tables=tables("duckdb"),
    views=views("duckdb"),
    tagged=tagged("duckdb"),
    examples={"contact": "ada@example.org"},
    titles={"contact": "contact details"},
)

EMAILS = "SELECT email FROM customers"
AROUND = "SELECT * FROM (\n{}\n) AS limited LIMIT 1000"

LITTLE = Estimate(engine="a table of prices", rows=5, widest=0, bytes=100, seconds=0.1)
MUCH = Estimate(engine="a table of prices", rows=48e6, widest=0, bytes=3.1e9, seconds=90)


def priced(estimate: Estimate | Exception, **limits: float) -> StatementAssessor:
    def price(_: str) -> Estimate:
        if isinstance(estimate, Exception):
            raise estimate
        return estimate

    return StatementAssessor(
        dialect="duckdb",
        catalogue=SHOP,
        cost=CalledEstimator(price),
        limits=CostLimits(**limits) if limits else None,
    )


async def asked(statement: str, assessor: StatementAssessor | None = None, **beside: Any) -> Risk:
    risk = await (assessor or StatementAssessor(dialect="duckdb", catalogue=SHOP)).assess(
        statement, beside=beside
    )
    assert risk is not None, statement
    return risk


async def test_the_question_says_what_how_much_which_columns_and_the_statement_in_that_order() -> None:
    risk = await asked("SELECT email,\n\tborn FROM customers", priced(MUCH, rows=1e6))
    assert risk.message.splitlines() == [
        "Run this query?",
        "",
        "How much: scans about 48 million rows (more than 1 million rows), 3.1 GB, takes about 90 seconds.",
        "Personal columns that it shows or tests:",
        "- main.customers.born: birth",
        "- main.customers.email: contact details, such as ada@example.org",
        "",
        "All of it:",
        "  | SELECT email,",
        "  |     born FROM customers",
    ]
    assert (risk.yes, risk.no) == ("Run it", "Do not run it")


async def test_changes_and_what_is_not_understood_are_told_and_several_are_told_as_several() -> None:
    risk = await asked("DELETE FROM orders; SELECT reveal(id) FROM orders")
    assert risk.message.splitlines()[:9] == [
        "Run these 2 statements, one after the other?",
        "",
        "Not understood, so nobody can tell what else it touches:",
        "- after a change, names may mean something else: SELECT",
        "- a function of which nothing is known: reveal",
        "It changes:",
        "- delete from main.orders",
        "",
        "All of it:",
    ]
    assert not risk.options


async def test_the_other_arguments_are_shown_too() -> None:
    risk = await asked("SELECT email FROM customers", database="eu\nPersonal columns: none")
    assert 'With database = "eu\\nPersonal columns: none"' in risk.message.splitlines()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1e"])
async def test_no_line_of_a_statement_passes_for_one_of_ours(end: str) -> None:
    risk = await asked(
        f"SELECT email FROM customers WHERE name = 'x{end}It shows and tests no personal columns.{end}'"
    )
    lines = risk.message.splitlines()
    ours = lines[: lines.index("All of it:")]
    assert "It shows and tests no personal columns." not in lines
    assert all(line.startswith((MARGIN, MARGIN_ON)) for line in lines[len(ours) + 1 :])


async def test_a_long_line_goes_on_in_the_margin_and_nothing_of_it_is_left_out() -> None:
    statement = f"SELECT email FROM customers WHERE name IN ({', '.join(['12345678'] * 100)}, '{'x' * 300}')"
    shown = (await asked(statement)).message.partition("All of it:\n")[2].splitlines()
    assert max(map(len, shown)) <= len(MARGIN) + MAX_LINE_LENGTH
    assert "".join(line[len(MARGIN) :] for line in shown) == statement


async def test_hidden_letters_are_spelled_and_links_cannot_be_clicked() -> None:
    risk = await asked("SELECT email FROM customers\n-- \u202e\x1b[2J\u200b https://evil.example/")
    assert "-- \\u202e\\u001b[2J\\u200b https[:]//evil.example/" in risk.message


async def test_what_is_too_long_to_be_shown_is_refused_and_what_is_harmless_passes_however_long() -> None:
    assessor = StatementAssessor(dialect="duckdb", catalogue=SHOP)
    padding = "x" * 10_000
    with pytest.raises(NotApproved, match="characters") as refused:
        await assessor.assess(f"SELECT email FROM customers WHERE name = '{padding}'")
    assert refused.value.outcome == "cannot be shown"
    assert await assessor.assess(f"SELECT id FROM customers WHERE name = '{padding}'") is None


async def test_only_what_is_clear_estimated_and_within_limits_passes() -> None:
    harmless = "SELECT count(*) FROM customers"
    assert await priced(LITTLE, rows=1e6, bytes=1e9, seconds=60).assess(harmless) is None
    assert (
        await priced(MUCH).assess(harmless) is None
    )  # no limits: what it costs is told where it is asked anyway
    for limits in ({"rows": 1e6}, {"bytes": 1e9}, {"seconds": 60.0}):
        risk = await asked(harmless, priced(MUCH, **limits))
        assert "more than" in risk.message and "no personal columns" in risk.message
    assert await asked(harmless, priced(Estimate(engine="x", rows=None), rows=1e6))


@pytest.mark.parametrize(
    "error",
    [
        EstimateFailed(engine="x", problem="no", advice="Wait."),
        RuntimeError("boom SELECT secret"),
        TimeoutError(),
        KeyError("x"),
    ],
)
async def test_an_estimate_that_fails_is_a_question(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    class Raising:
        async def estimate(self, statement: str) -> Estimate:
            raise error

    for assessor in (priced(error), StatementAssessor(dialect="duckdb", catalogue=SHOP, cost=Raising())):
        risk = await asked("SELECT 1", assessor)
        assert "nobody can tell what it would cost" in risk.message and risk.facts["cost"] is None
    assert "SELECT secret" not in caplog.text


async def test_an_estimator_that_gives_something_else_is_a_question() -> None:
    class Wrong:
        async def estimate(self, statement: str) -> Any:
            return None

    risk = await asked("SELECT 1", StatementAssessor(dialect="duckdb", catalogue=SHOP, cost=Wrong()))
    assert "nobody can tell what it would cost" in risk.message


async def test_a_source_that_fails_is_a_question_that_says_so(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> SQLCatalogue:
        raise RuntimeError("the disk is gone")

    for catalogue in (
        broken,
        "/nowhere/personal.toml",
        SQLCatalogue(tagged={"email": "contact"}),
        lambda: None,
    ):
        assessor = StatementAssessor(dialect="duckdb", catalogue=catalogue)  # pyright: ignore[reportArgumentType] # authors err
        risk = await asked("SELECT 1", assessor)
        assert "Nobody can tell what it touches" in risk.message and not risk.options
        assert risk.facts["personal"] is None and risk.facts["catalogue"] is None
    assert "the disk is gone" in caplog.text


async def test_a_tag_that_no_table_has_is_warned_of_once_and_counts(caplog: pytest.LogCaptureFixture) -> None:
    known = SHOP | SQLCatalogue(tagged={"main.customers.phone": "contact", "hr.staff.pay": "money"})
    assessor = StatementAssessor(dialect="duckdb", catalogue=known)
    for _ in range(2):
        risk = await asked("SELECT phone FROM customers", assessor)
        assert "- main.customers.phone: contact details, such as ada@example.org" in risk.message
    assert "- hr.staff.pay: money" in (await asked("SELECT pay FROM hr.staff", assessor)).message
    assert sorted(str(record.args) for record in caplog.records) == [
        "('hr.staff.pay',)",
        "('main.customers.phone',)",
    ]


async def test_sqlglot_writes_no_statement_into_a_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    assessor = StatementAssessor(dialect="duckdb", catalogue=SHOP, cost=CalledEstimator(lambda _: LITTLE))
    for statement in (
        "VACUUM secret_word",
        "CREATE MACRO secret_word(x) AS x",
        "SELEC secret_word",
        "CALL secret_word()",
    ):
        await asked(statement, assessor)
    assert "secret_word" not in caplog.text


async def test_changes_may_be_refused_unasked_and_by_default_are_asked_about() -> None:
    assessor = StatementAssessor(dialect="duckdb", catalogue=SHOP, writes="refuse")
    for statement in (
        "DROP TABLE orders",
        "SELECT 1; DELETE FROM orders",
        "WITH x AS (SELECT 1) INSERT INTO orders SELECT * FROM orders",
    ):
        with pytest.raises(NotApproved, match="only queries") as refused:
            await assessor.assess(statement)
        assert refused.value.outcome == "refused"
    assert await assessor.assess("SELECT id FROM orders") is None
    assert "- drop table orders" in (await asked("DROP TABLE orders")).message


@pytest.mark.parametrize(
    ("statement", "fewer"),
    [
        (EMAILS, f"{EMAILS}\nLIMIT 1000"),
        (f"{EMAILS} ;\n", f"{EMAILS}\nLIMIT 1000"),
        (f"{EMAILS} ORDER BY id -- bye", f"{EMAILS} ORDER BY id -- bye\nLIMIT 1000"),
        (f"{EMAILS} OFFSET 3", f"{EMAILS} OFFSET 3\nLIMIT 1000"),
        (f"({EMAILS})", f"({EMAILS})\nLIMIT 1000"),
        (f"{EMAILS} LIMIT 5000", AROUND.format(f"{EMAILS} LIMIT 5000")),
        (f"{EMAILS} LIMIT 50%", AROUND.format(f"{EMAILS} LIMIT 50%")),
        ("FROM customers LIMIT 9 OFFSET 7", AROUND.format("FROM customers LIMIT 9 OFFSET 7")),
        (f"{EMAILS} FETCH FIRST 9 ROWS ONLY", AROUND.format(f"{EMAILS} FETCH FIRST 9 ROWS ONLY")),
        ("SELECT email, reveal(id) FROM customers", None),
        ("SELECT email FROM customers; SELECT 1", None),
        ("DELETE FROM customers RETURNING email", None),
        ("SUMMARIZE customers", None),
        ("EXPLAIN SELECT email FROM customers", None),
    ],
)  # fmt: skip
async def test_a_query_may_be_run_for_fewer_rows_where_that_is_beyond_doubt(
    statement: str, fewer: str | None
) -> None:
    options = (await asked(statement)).options
    given: Mapping[str, Any] = {"statement": statement, "database": "eu"}
    assert [option.change(given) for option in options] == ([{**given, "statement": fewer}] if fewer else [])
    assert [(option.value, option.title) for option in options] == (
        [("limit", "Run it for at most 1,000 rows")] if fewer else []
    )


async def test_the_choice_of_fewer_rows_may_be_left_out() -> None:
    assert not (
        await asked(
            "SELECT email FROM customers", StatementAssessor(dialect="duckdb", catalogue=SHOP, most_rows=None)
        )
    ).options
    one = await asked(
        "SELECT email FROM customers", StatementAssessor(dialect="duckdb", catalogue=SHOP, most_rows=1)
    )
    assert one.options[0].title == "Run it for at most 1 row"


async def test_an_approval_is_bound_to_statement_catalogue_dialect_and_cost() -> None:
    statement = "SELECT email FROM customers"
    other = SHOP | SQLCatalogue(tagged={"main.customers.name": "name"})
    scopes = [
        (await asked(statement)).scope,
        (await asked(f"{statement} ")).scope,
        (await asked(statement, StatementAssessor(dialect="duckdb", catalogue=other))).scope,
        (await asked(statement, StatementAssessor(dialect="sqlite", catalogue=SHOP))).scope,
        (await asked(statement, priced(LITTLE))).scope,
        (await asked(statement, priced(MUCH))).scope,
        (await asked(statement, priced(RuntimeError()))).scope,
    ]
    assert len(set(scopes)) == len(scopes) and all(scopes)
    assert (await asked(statement)).scope == scopes[0]


async def test_the_facts_are_for_the_ledger() -> None:
    facts = (await asked("SELECT email FROM customers", priced(MUCH, rows=1e6))).facts
    assert facts["personal"] == {"main.customers.email": "contact"}
    assert facts["writes"] == [] and facts["unresolved"] == [] and facts["over"] == ["rows"]
    assert (
        facts["cost"]["rows"] == 48e6 and len(facts["statement"]) == 64 and facts["catalogue"] == SHOP.digest
    )


async def test_the_words_may_be_another_languages() -> None:
    words = SQLWords(query="Diese Abfrage ausführen?", run="Ausführen")
    risk = await asked(
        "SELECT email FROM customers", StatementAssessor(dialect="duckdb", catalogue=SHOP, words=words)
    )
    assert risk.message.startswith("Diese Abfrage ausführen?") and risk.yes == "Ausführen"
    for broken in ({"column": "{nothing}"}, {"column": "{"}):
        with pytest.raises(AuthorError, match=r"SQLWords\.column"):
            SQLWords(**broken)


@pytest.mark.parametrize(
    "option",
    [
        {"dialect": "mysql"},
        {"writes": "allow"},
        {"most_rows": 0},
        {"most_rows": True},
        {"limits": CostLimits(rows=1)},
    ],
)
def test_an_option_that_means_nothing_is_the_authors_mistake(option: dict[str, Any]) -> None:
    with pytest.raises(AuthorError):
        StatementAssessor(**cast("dict[str, Any]", {"dialect": "duckdb", "catalogue": SHOP}) | option)
