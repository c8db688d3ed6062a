"""`guard_sql`: a guard before a tool that runs SQL."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from inspect import Parameter, Signature
from typing import Any, Literal, cast

from askback.errors import AuthorError, NotApproved
from askback.guards.cost import CostLimits, CostWords, Estimator
from askback.guards.guard import Guard, guard
from askback.guards.risk import Arguments, Risk
from askback.guards.rule import EvenIf
from askback.guards.sql.assessment import StatementAssessor, Writes
from askback.guards.sql.engines import Engine
from askback.guards.sql.names import Dialect
from askback.guards.sql.question import SQLWords
from askback.guards.sql.sources import Catalogued

Weigh = Callable[..., Awaitable[Risk | None]]


def taking(argument: str) -> Callable[[Weigh], Weigh]:
    """Tell by its signature which argument it needs: so a guard before a function without it is refused at once."""
    if not argument.isidentifier():
        raise AuthorError(
            f"guard_sql({argument!r}) names no argument. Give the name of the one with the statement."
        )
    kinds = {
        "tool": Parameter.KEYWORD_ONLY,
        argument: Parameter.KEYWORD_ONLY,
        "rest": Parameter.VAR_KEYWORD,
    }

    def signed(weigh: Weigh) -> Weigh:
        signature = Signature([Parameter(name, kind) for name, kind in kinds.items()])
        cast("Any", weigh).__signature__ = signature
        return weigh

    return signed


def guard_sql(
    argument: str = "statement",
    *,
    dialect: Dialect,
    catalogue: Catalogued,
    engine: Engine | None = None,
    cost: Estimator | None = None,
    limits: CostLimits | None = None,
    most_rows: int | None = 1000,
    writes: Writes = "ask",
    words: SQLWords | None = None,
    cost_words: CostWords | None = None,
    offers: Iterable[Literal["conversation"] | timedelta | float] = (),
    even_if: Iterable[EvenIf] = (),
    timeout: timedelta | float | None = None,
    name: str = "sql",
    tools: str | Iterable[str] | None = None,
    arguments: str | Iterable[str] | None = None,
) -> Guard:
    """Ask a person about a statement that touches personal columns, changes something, costs much or is not understood.

    Args:
        argument: which one holds the statement. Where it is missing or no text, nothing runs.
        dialect: of the engine that will run it.
        catalogue: tables, views and tags: a TOML file, a function, a source of a live database, or a list of these. It
            is read for each statement; one that cannot be read makes every statement a question.
        engine: the database that will run the statement, which then says what it reads. Without one, it is that of the
            live source in `catalogue`; where there is none either, the text alone is read.
        cost: an estimator of `askback.guards.cost`. Without one, only what a statement touches counts.
        limits: the cost from which on a person is asked.
        most_rows: for the choice to run a query for that many rows at most; None for no such choice.
        writes: "refuse" for a tool that only queries: what is seen to change something is refused unasked.
        offers: for how long a yes may hold. It holds for exactly this statement under this catalogue.
        tools: where it stands in `Askback(server, guards=[...])`, the names of the tools it is for.
        arguments: the same for tools that take one of these arguments.
    """
    scales = StatementAssessor(
        dialect=dialect,
        catalogue=catalogue,
        engine=engine,
        cost=cost,
        limits=limits,
        most_rows=most_rows,
        writes=writes,
        words=words,
        cost_words=cost_words,
    )

    @taking(argument)
    async def weigh(tool: str, **given: Any) -> Risk | None:
        statement = given.pop(argument, None)
        if not isinstance(statement, str):
            raise NotApproved(
                tool=tool,
                outcome="refused",
                reason=f"It takes a statement, as a text, in its argument {argument!r}.",
            )
        return await scales.assess(statement, argument=argument, tool=tool, beside=given)

    def keep(arguments: Arguments) -> None:
        scales.keep_approval(arguments[argument])

    made = guard(
        say=weigh,
        offers=offers,
        even_if=even_if,
        timeout=timeout,
        name=name,
        tools=tools,
        arguments=arguments,
    )
    return replace(made, on_approval=keep)
