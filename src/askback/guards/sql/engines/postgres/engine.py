"""Postgres as an engine: it analyses a statement and stores its parse tree, which says what the statement reads."""

import asyncio
import re
from collections.abc import Coroutine, Iterable
from dataclasses import replace
from typing import Any

import asyncpg
from anyio import to_thread

from askback.errors import ChangedSinceApproval
from askback.guards.sql.approval import approval_of
from askback.guards.sql.engines.engine import DOTTED, Inspection, SQLRows, cut_rows, doubt, join_columns
from askback.guards.sql.engines.postgres import first_words
from askback.guards.sql.engines.postgres.change import (
    Targets,
    describe_change,
    doubts_about,
    find_target,
    follow_constraints,
    load_targets,
)
from askback.guards.sql.engines.postgres.connection import Connection, Database
from askback.guards.sql.engines.postgres.node_tree import (
    UnknownTree,
    Value,
    find_numbers,
    find_queries,
    parse_tree,
)
from askback.guards.sql.engines.postgres.query import TreeTooLarge, TreeWalk
from askback.guards.sql.engines.postgres.relation import (
    SYSTEM_SCHEMAS,
    PostgresRelation,
    find_foreign,
    load_relations,
)
from askback.guards.sql.engines.postgres.routine import Calls, Routines, RoutineVerdict, find_calls
from askback.guards.sql.engines.postgres.session import (
    VERSION,
    Access,
    PostgresSession,
    open_session,
)
from askback.guards.sql.names import Dialect
from askback.guards.sql.system import describes_the_schema
from askback.guards.sql.text import TOO_COMPLEX, TextCache, find_excess

LIMITS = {
    re.compile(
        r"(?i)\bjoin\b"
    ): 60,  # the server takes time with the square of joins, before it heeds its own limit
    re.compile(r"(?:\+-?){100}"): 0,
    re.compile(r"/\*"): 1000,  # comments within comments; the server's reader of text heeds no limit of time
}

MISREAD = (UnknownTree, LookupError, TypeError, ValueError, AttributeError, RecursionError)
"""Errors that reading a tree of an unknown shape raises."""

LARGE_TREE = 32_000
"""Bytes from which a parse tree is read in a thread: it would hold up the event loop for milliseconds."""

OLDEST = 14
"""The first version that stores the parse tree of a function's body."""

NEWEST = 19
"""The last version whose parse trees are known. In the next one, the same number may mean something else."""

TOO_OLD = "only PostgreSQL 14 and later can say what a statement reads; upgrade the server"
TOO_NEW = f"the parse trees of PostgreSQL versions after {NEWEST} are not known yet; upgrade this package"
NOT_ONE = "Postgres does not take it as one statement that it knows"
NO_WORDS = "there is no statement in it"
NOT_SUPPORTED = "it asks for something that this version of Postgres does not have"
READ_ONLY = "this server is a read-only standby and cannot say what a statement reads; connect to the primary"
NO_TEMPORARY = (
    "the role may create nothing, not even for a moment, so Postgres cannot say what a statement reads; an operator "
    "can GRANT TEMPORARY ON DATABASE to it"
)
NOT_ALLOWED = "the role may not use something that it names"
TOO_SLOW = "Postgres took too long to say what it reads"
UNKNOWN_SHAPE = "Postgres describes it in a shape that is not known"

ERRORS = {
    asyncpg.QueryCanceledError: TOO_SLOW,
    asyncpg.LockNotAvailableError: TOO_SLOW,
    asyncpg.InsufficientPrivilegeError: NOT_ALLOWED,
    asyncpg.ReadOnlySQLTransactionError: READ_ONLY,
    asyncpg.StatementTooComplexError: TOO_COMPLEX,
    asyncpg.FeatureNotSupportedError: NOT_SUPPORTED,
}


def find_view_calls(walk: TreeWalk) -> Calls:
    """Functions, operators and types that views use for a statement."""
    return Calls(
        functions=frozenset(walk.usage.view_functions) - {0},
        operators=frozenset(walk.usage.operators) - {0},
        types=frozenset(walk.usage.types),
    )


def inspect_command(words: list[str]) -> Inspection:
    """A statement of which Postgres stores no parse tree, such as CREATE or SET."""
    kind = f"{first_words.name_kind(words):.80}"
    if not kind:
        return doubt(NOT_ONE)
    writes = () if kind == "show" else (kind,)
    return Inspection(writes=writes, doubts=(f"Postgres cannot say beforehand what {kind.upper()} reads",))


def conclude(
    walk: TreeWalk,
    relations: dict[int, PostgresRelation],
    targets: Targets,
    verdict: RoutineVerdict,
    foreign: str | None,
) -> Inspection:
    """Put together what was found."""
    usage = walk.usage
    changes = [(scope, relations[find_target(scope)]) for scope in usage.changes]
    writes = [describe_change(scope, relation) for scope, relation in changes]
    writes += [f"lock rows of {relations[number].path}" for number in sorted(usage.locks - {0})]
    writes += ["lock rows"] if 0 in usage.locks else []
    writes += verdict.changing
    unknown = [
        *_doubt_calls(verdict),
        *_doubt_relations(relations[number] for number in sorted(usage.relations)),
    ]
    unknown += [f"the foreign table {foreign:.80} is kept elsewhere"] if foreign else []
    unseen = [sentence for scope, relation in changes for sentence in doubts_about(scope, relation, targets)]
    columns, dotted = join_columns(_name_columns(usage.columns, relations))
    read = [relations[number] for number in {number for number, _ in usage.columns}]
    if any(name.count(".") > 1 for each in read for name in each.relatives):
        dotted = (DOTTED,)
    return Inspection(
        columns=columns,
        families=frozenset(frozenset({each.path, *each.relatives}) for each in read if each.relatives),
        writes=tuple(dict.fromkeys(writes)),
        doubts=tuple(dict.fromkeys([*unknown, *unseen, *dotted])),
        is_query=not writes and not _doubt_calls(verdict),
        can_be_planned=not unknown and not unseen,
    )


def _doubt_calls(verdict: RoutineVerdict) -> list[str]:
    found = [f"what the function {name:.80} reads or does is not known" for name in verdict.functions]
    found += [f"what the operator {name:.80} reads or does is not known" for name in verdict.operators]
    return found + [
        f"what the server does with values of the type {name:.80} is not known" for name in verdict.types
    ]


def _doubt_relations(relations: Iterable[PostgresRelation]) -> Iterable[str]:
    for relation in relations:
        if relation.kind == "f":
            yield f"the foreign table {relation.path:.80} is kept elsewhere"
        elif relation.schema in SYSTEM_SCHEMAS or relation.schema.startswith("pg_toast"):
            if not describes_the_schema((relation.schema, relation.name), "postgres"):
                yield f"the system table {relation.path:.80} may show stored values"
        elif relation.kind not in "rpvmS" or (relation.kind == "v" and relation.query is None):
            yield f"what {relation.path:.80} reads is not known"


def _name_columns(
    columns: Iterable[tuple[int, int]], relations: dict[int, PostgresRelation]
) -> set[tuple[str, ...]]:
    """The columns of tables and views that people made, by the parts of their names."""
    return {
        (relation.schema, relation.name, relation.columns[column - 1])
        for number, column in columns
        if (relation := relations[number]).schema not in SYSTEM_SCHEMAS
    }


GRACE_SECONDS = 2.0
"""How long after the server's own time limit it is given up."""

MAY_CREATE = (
    "SELECT pg_catalog.has_database_privilege(coalesce($1, current_user), current_database(), 'TEMP')"
)


class PostgresEngine:
    """A Postgres database by its URL, connected to for each statement, by a pool, or by a function that connects.

    Needs PostgreSQL 14 and the right to create in some schema, or to create temporary objects; nothing is left there.
    With `role`, statements are inspected and run as that role, so that its privileges on columns count.
    """

    name: str = "Postgres"
    dialect: Dialect = "postgres"

    def __init__(self, database: Database, *, timeout: float = 5.0, role: str | None = None) -> None:
        self._access = Access(database, timeout, role)
        self._routines = Routines()
        self._seen: TextCache[tuple[Inspection, asyncpg.Record | None]] = TextCache()
        """Inspections and the rows of `VERSION` that were read before them. A statement that came once has none: it
        takes time and may never be needed."""

    async def inspect(self, statement: str) -> Inspection:
        async with open_session(self._access) as session:
            return await self._within_time(session, self._recall_or_inspect(session, statement))

    async def run(self, statement: str, *, max_rows: int | None = None) -> SQLRows:
        """Run a statement that `guard_sql` let pass in this call, in the transaction in which it is inspected again.

        Raises `ChangedSinceApproval` where it would now read or change something else; then nothing has run.
        """
        inspection = approval_of(statement).inspection
        async with open_session(self._access, is_kept=True) as session:
            if await self._within_time(session, self._inspect(session, statement)) != inspection:
                raise ChangedSinceApproval
            async with asyncio.timeout(self._access.timeout + GRACE_SECONDS):
                await session.ready(can_write=not inspection.is_query)
                rows = await _fetch(session, statement, max_rows)
                if not inspection.is_query:
                    await session.commit()
                return rows

    async def _within_time(
        self, session: PostgresSession, inspection: Coroutine[Any, Any, Inspection]
    ) -> Inspection:
        try:
            async with asyncio.timeout(self._access.timeout + GRACE_SECONDS):
                return await inspection
        except (TimeoutError, asyncpg.QueryCanceledError):
            session.is_broken = True
            return doubt(TOO_SLOW)

    async def _recall_or_inspect(self, session: PostgresSession, statement: str) -> Inspection:
        """Inspect a statement again only where something has changed since, or where there was a doubt."""
        seen, version = self._seen.get(statement), None
        if seen is not None:
            version = await session.connection.fetchrow(VERSION)
            if version is not None and seen[1] == version:
                return replace(seen[0], schema=version["catalogue"])
        found = await self._inspect(session, statement)
        if not found.doubts:
            self._seen.keep(statement, (found, version))
        return found

    async def _inspect(self, session: PostgresSession, statement: str) -> Inspection:
        found = await self._inspect_text(session, statement)
        reason = await self._find_reason(session, found.doubts)
        return doubt(reason) if reason else replace(found, schema=session.catalogue)

    async def _find_reason(self, session: PostgresSession, doubts: tuple[str, ...]) -> str | None:
        """A reason that an operator can remove; None if the server refused because of the statement."""
        if doubts == (NOT_ALLOWED,):
            self._access.schema = None  # rights may have been taken away
            await session.close()
            return None if await session.connection.fetchval(MAY_CREATE, self._access.role) else NO_TEMPORARY
        if doubts == (NOT_SUPPORTED,):
            await session.close()
            return READ_ONLY if await session.connection.fetchval("SELECT pg_is_in_recovery()") else None
        return None

    async def _inspect_text(self, session: PostgresSession, statement: str) -> Inspection:
        """Inspect a text. Raises the driver's error if the server cannot be reached."""
        if (excess := find_excess(statement, LIMITS)) is not None:
            return doubt(excess)
        version = session.connection.get_server_version().major
        if not OLDEST <= version <= NEWEST:
            return doubt(TOO_OLD if version < OLDEST else TOO_NEW)
        words = first_words.read_words(statement)
        if not words:
            return doubt(NO_WORDS)
        if words[0] == "explain":
            return await self._inspect_explained(session, statement)
        if words[0] in first_words.QUERIES:
            return await self._inspect_query(session, statement)
        if first_words.shows_setting(statement):
            return Inspection(is_query=True)
        command = inspect_command(words)
        inner = first_words.find_query(statement) if words[0] == "create" else None
        if inner is None:
            return command
        return replace(command, columns=(await self._inspect_query(session, inner)).columns)

    async def _inspect_explained(self, session: PostgresSession, statement: str) -> Inspection:
        inner, is_run = first_words.split_explain(statement)
        words = first_words.read_words(inner)
        if not words or words[0] not in first_words.QUERIES:
            return inspect_command(["explain"])
        found = await self._inspect_query(session, inner)
        if is_run:
            doubts = (*found.doubts, "EXPLAIN ANALYZE runs the statement")
            return replace(found, doubts=doubts, is_query=False, can_be_planned=False)
        return replace(found, writes=(), is_query=found.can_be_planned, can_be_planned=False)

    async def _inspect_query(self, session: PostgresSession, statement: str) -> Inspection:
        try:
            tree, facts = await session.analyse(statement)
            if tree is None:
                return doubt(TOO_COMPLEX)
            async with session.rollback_beside():
                is_large = len(tree) > LARGE_TREE
                value = await to_thread.run_sync(parse_tree, tree) if is_large else parse_tree(tree)
            return await self._follow(session.connection, value, tree, facts)
        except asyncpg.PostgresConnectionError:
            raise
        except asyncpg.PostgresError as error:
            session.is_broken = True
            reason = next((reason for kind, reason in ERRORS.items() if isinstance(error, kind)), NOT_ONE)
            is_made = isinstance(error, asyncpg.PostgresSyntaxError) and first_words.may_create_table(
                statement
            )
            return Inspection(doubts=(reason,), writes=("create table",) if is_made else ())
        except MISREAD:
            return doubt(UNKNOWN_SHAPE)
        except TreeTooLarge:
            return doubt(TOO_COMPLEX)

    async def _follow(self, connection: Connection, value: Value, tree: str, facts: list[Any]) -> Inspection:
        queries = find_queries(value)
        if len(queries) != 1 or queries[0].is_true("isReturn"):
            return doubt(NOT_ONE)
        relations = await load_relations(connection, find_numbers(tree), facts)
        steady = (await self._routines.load(connection)).steady
        walk = TreeWalk(relations, steady)
        if len(tree) > LARGE_TREE:
            await to_thread.run_sync(walk.follow, queries[0])
        else:
            walk.follow(queries[0])
        targets = await self._follow_changes(connection, walk, relations)
        stored = frozenset[int]().union(*(relation.types for relation in relations.values()))
        verdict = await self._routines.judge(
            connection, find_calls(tree), find_view_calls(walk), targets.calls, stored
        )
        parents = {number for number in walk.usage.relations if relations[number].has_children}
        foreign = await find_foreign(connection, parents) if parents else None
        return conclude(walk, relations, targets, verdict, foreign)

    async def _follow_changes(
        self, connection: Connection, walk: TreeWalk, relations: dict[int, PostgresRelation]
    ) -> Targets:
        targets = await load_targets(connection, {find_target(scope) for scope in walk.usage.changes})
        if missing := targets.relations - relations.keys():
            relations |= await load_relations(connection, missing)
        for scope in walk.usage.changes:
            follow_constraints(walk, scope, relations[find_target(scope)], targets)
        return targets


async def _fetch(session: PostgresSession, statement: str, max_rows: int | None) -> SQLRows:
    prepared = await session.connection.prepare(statement, name="")
    names = tuple(attribute.name for attribute in prepared.get_attributes())
    if max_rows is None:
        found = await prepared.fetch()
    else:
        cursor = await prepared.cursor()
        found = await cursor.fetch(max_rows + 1)
    return cut_rows(names, [tuple(row.values()) for row in found], max_rows)
