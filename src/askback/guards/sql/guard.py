"""`guard_sql`: asks before a tool runs SQL; its assessor weighs what a statement touches and costs."""

import logging
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from inspect import Parameter, Signature
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, cast, get_args

import anyio

from askback.errors import AuthorError, NotApproved
from askback.guards.arguments import Arguments, Risk, RiskOption
from askback.guards.cost import CostLimits, CostWords, Estimate, EstimateFailed, Estimator, PlanEstimator
from askback.guards.guard import Guard, guard
from askback.guards.rule import EvenIf
from askback.guards.sql.approval import SQLApproval, give_approval, keep_approval
from askback.guards.sql.catalogue import PersonalColumns, SQLCatalogue
from askback.guards.sql.engines import Engine, Inspection
from askback.guards.sql.names import Dialect
from askback.guards.sql.question import Finding, QuestionWriter, SQLWords
from askback.guards.sql.reader import read_async
from askback.guards.sql.readings import SQLReading
from askback.guards.sql.sources import Catalogued, find_engine, find_version, source_of
from askback.guards.sql.statements import list_first_words
from askback.schema.forms import MAX_MESSAGE_LENGTH

logger = logging.getLogger(__name__)

Writes = Literal["ask", "refuse"]

LIMIT = "limit"

LIMITED = ("{query}\nLIMIT {number}", "SELECT * FROM (\n{query}\n) AS limited LIMIT {number}")
"""How a query is limited. The second form is for a query that has a LIMIT already."""

ASSESSMENT_TIMEOUT = 30.0
"""Seconds for a source, for the engine and for an estimator that have no limit of their own."""

NOTHING: Mapping[Any, Any] = MappingProxyType({})


class _Catalogue(NamedTuple):
    """A catalogue as it was read, and what was made of it. Never changed, since many calls may use it at once."""

    version: Hashable
    known: SQLCatalogue
    """With the tags that relatives share."""
    personal: PersonalColumns


class StatementAssessor:
    """Weighs statements for one database. Whatever fails on the way is a reason to ask, and never one to pass."""

    def __init__(
        self,
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
    ) -> None:
        _require(dialect=dialect, writes=writes, most_rows=most_rows)
        if limits is not None and cost is None:
            raise AuthorError(
                "limits=... without cost=... would never ask, since nothing estimates what a statement costs. Give an "
                "estimator of askback.guards.cost."
            )
        self._dialect: Dialect = dialect
        self._source, self._cost, self._limits = source_of(catalogue), cost, limits or CostLimits()
        self._engine = engine or find_engine(self._source, dialect)
        self._most_rows, self._writes = most_rows, writes
        self._words, self._cost_words = words or SQLWords(), cost_words or CostWords()
        self._writer = QuestionWriter(words=self._words, cost_words=self._cost_words, limits=self._limits)
        self._warned: set[str] = set()
        self._last = _Catalogue(version=None, known=SQLCatalogue(), personal=PersonalColumns({}))

    async def assess(
        self,
        statement: str,
        *,
        argument: str = "statement",
        tool: str = "The tool",
        beside: Arguments = NOTHING,
    ) -> Risk | None:
        """Why a person is asked about this text of one or more statements; None where it is harmless, known and cheap.

        Without an estimator, only what it touches counts. Raises `NotApproved` for what is refused unasked: a change
        where changes are refused, and what is too long to be shown in full.
        """
        finding = await self._find(statement)
        if self._writes == "refuse" and finding.reading is not None and finding.reading.writes:
            raise NotApproved(
                tool=tool,
                outcome="refused",
                reason="It would change something, and only queries are let through.",
            )
        return None if finding.is_clear else await self._risk(finding, argument, tool, beside)

    def keep_approval(self, statement: str) -> None:
        """Tell the function that runs this statement next what the engine found when this call weighed it."""
        give_approval(id(self), statement)

    async def _find(self, statement: str) -> Finding:
        inspection = await self._inspect(statement)
        catalogue = await self._read_catalogue(inspection)
        known = None if catalogue is None else catalogue.known
        if known is not None and inspection is not None:
            keep_approval(id(self), SQLApproval(statement=statement, inspection=inspection, known=known))
        estimate = await self._estimate(statement, inspection)
        return Finding(
            statement=statement,
            dialect=self._dialect,
            known=known,
            reading=None if catalogue is None else await self._attempt(catalogue, statement, inspection),
            is_priced=self._cost is not None,
            estimate=estimate,
            exceeded=() if estimate is None else self._limits.exceeded(estimate),
            engine="" if self._engine is None else self._engine.name,
            inspection=inspection,
        )

    async def _read_catalogue(self, inspection: Inspection | None) -> _Catalogue | None:
        """The catalogue as it is now, read only where something may have changed since the last time."""
        try:
            with anyio.fail_after(ASSESSMENT_TIMEOUT):
                version = await find_version(self._source, None if inspection is None else inspection.schema)
                if version is None or version != self._last.version:
                    self._last = await self._check(await self._source.load(), version)
                return self._last
        except Exception:
            logger.exception("No catalogue can be had, so a person is asked about every statement")
            return None

    async def _check(self, given: SQLCatalogue, version: Hashable) -> _Catalogue:
        """Work out the tags that relatives share, only where something has changed."""
        for name in set(given.find_strays()) - self._warned:
            self._warned.add(name)
            logger.warning(
                "%s is tagged, and no table or view has it. It counts all the same; mend the catalogue.", name
            )
        known = replace(given, tagged=given.spread_tags())
        if self._engine is None:
            await self._read(known, "SELECT 1")  # raises where it cannot be used
        return _Catalogue(version=version, known=known, personal=PersonalColumns(known.tagged))

    async def _inspect(self, statement: str) -> Inspection | None:
        """The engine's inspection; None without an engine, or if it cannot be asked."""
        if self._engine is None:
            return None
        try:
            with anyio.fail_after(ASSESSMENT_TIMEOUT):
                return await self._engine.inspect(statement)
        except Exception as error:  # noqa: BLE001 - its text may quote the statement, which belongs in no log
            logger.error(
                "%s could not be asked (%s), so a person is", self._engine.name, type(error).__name__
            )
            return None

    async def _attempt(
        self, catalogue: _Catalogue, statement: str, inspection: Inspection | None
    ) -> SQLReading | None:
        try:
            if inspection is not None:
                return catalogue.personal.read(inspection, statement)
            return await self._read(catalogue.known, statement) if self._engine is None else None
        except Exception as error:  # noqa: BLE001 - its text may quote the statement, which belongs in no log
            logger.error("The catalogue cannot be used (%s), so a person is asked", type(error).__name__)
            return None

    async def _read(self, known: SQLCatalogue, statement: str) -> SQLReading:
        return await read_async(
            statement, dialect=self._dialect, tables=known.tables, views=known.views, tagged=known.tagged
        )

    async def _estimate(self, statement: str, inspection: Inspection | None) -> Estimate | None:
        """An estimate; None if there is none, or if asking for it could already do something."""
        if self._cost is None or (
            self._engine is not None and not (inspection and inspection.can_be_planned)
        ):
            return None
        is_checked = self._engine is not None
        cost = self._cost
        estimate_cost = cost.price if is_checked and isinstance(cost, PlanEstimator) else cost.estimate
        try:
            with anyio.fail_after(ASSESSMENT_TIMEOUT):
                estimate = await estimate_cost(statement)
            if isinstance(estimate, Estimate):  # pyright: ignore[reportUnnecessaryIsInstance] # authors err
                return estimate
            logger.error(
                "The estimator gave an object of type %s, so a person is asked", type(estimate).__name__
            )
        except EstimateFailed as failed:
            logger.info("%s gives no estimate, so a person is asked", failed.engine)
            logger.debug("That was: %s", failed.problem)
        except Exception as error:  # noqa: BLE001 - its text may quote the statement, which belongs in no log
            logger.error("The estimator raised %s, so a person is asked", type(error).__name__)
        return None

    async def _risk(self, finding: Finding, argument: str, tool: str, beside: Arguments) -> Risk:
        if len(finding.statement) > MAX_MESSAGE_LENGTH:
            raise _cannot_be_shown(finding, tool)
        if self._engine is None:
            finding = replace(finding, kinds=list_first_words(finding.statement, self._dialect))
        message = self._writer.message(finding, beside)
        if len(message) > MAX_MESSAGE_LENGTH:
            raise _cannot_be_shown(finding, tool)
        limited = await self._limit(finding)
        return Risk(
            message=message,
            facts=finding.facts(),
            options=() if limited is None else (self._limit_option(limited, argument),),
            covers=self._words.covers,
            scope=finding.scope(),
            yes=self._words.run,
            no=self._words.no,
        )

    async def _limit(self, finding: Finding) -> str | None:
        """The query for fewer rows: a text of which engine or reader say exactly what they say of the query."""
        if self._most_rows is None or not finding.is_query or finding.known is None:
            return None
        query = finding.statement.strip(" \t\n;")
        for form in LIMITED:
            limited = form.format(query=query, number=self._most_rows)
            inspection = await self._inspect(limited)
            if self._engine is None and await self._read(finding.known, limited) == finding.reading:
                return limited
            if inspection is not None and inspection == finding.inspection:
                approval = SQLApproval(statement=limited, inspection=inspection, known=finding.known)
                keep_approval(id(self), approval)
                return limited
        return None

    def _limit_option(self, limited: str, argument: str) -> RiskOption:
        number = f"{self._most_rows:,}".replace(",", self._cost_words.thousands)
        rows = self._cost_words.many_rows.format(number=number)
        title = self._words.limit.format(rows=self._cost_words.one_row if self._most_rows == 1 else rows)
        return RiskOption(value=LIMIT, title=title, change=lambda given: {**given, argument: limited})


def _cannot_be_shown(finding: Finding, tool: str) -> NotApproved:
    reason = f"It has {len(finding.statement):,} characters, and a question can have {MAX_MESSAGE_LENGTH:,} at most."
    return NotApproved(tool=tool, outcome="cannot be shown", reason=reason)


def _require(*, dialect: str, writes: str, most_rows: int | None) -> None:
    for name, given, known in (("dialect", dialect, get_args(Dialect)), ("writes", writes, get_args(Writes))):
        if given not in known:
            raise AuthorError(f"{name}={given!r} is not one of {', '.join(map(repr, known))}.")
    if most_rows is not None and (isinstance(most_rows, bool) or most_rows < 1):
        raise AuthorError(
            f"most_rows={most_rows!r} leaves no rows. Give one or more, or None for no such choice."
        )


Weigh = Callable[..., Awaitable[Risk | None]]


def take_argument(argument: str) -> Callable[[Weigh], Weigh]:
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

    @take_argument(argument)
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
