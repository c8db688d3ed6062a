"""One inspection of one statement on an open session."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import asyncpg
from anyio import to_thread

from askback.guards.sql.engines.engine import Inspection
from askback.guards.sql.engines.postgres import first_words
from askback.guards.sql.engines.postgres.catalogue_reader import CatalogueReader
from askback.guards.sql.engines.postgres.change import (
    Targets,
    describe_change,
    doubts_about,
    follow_constraints,
    load_targets,
    target_of,
)
from askback.guards.sql.engines.postgres.inspection_cache import PostgresFinding
from askback.guards.sql.engines.postgres.node_tree import UnknownTree
from askback.guards.sql.engines.postgres.query import TreeTooLarge, TreeWalk
from askback.guards.sql.engines.postgres.relation import PostgresRelation, PostgresRelations, find_foreign
from askback.guards.sql.engines.postgres.routine import Calls, Routines, RoutineVerdict
from askback.guards.sql.engines.postgres.session import Analysis, PostgresSession
from askback.guards.sql.engines.postgres.shape import TreeShape, TreeShapes
from askback.guards.sql.systems import describes_the_schema
from askback.guards.sql.text import UnreadableStatement, require_text

Result = TypeVar("Result")

JOIN = re.compile(r"(?i)\bjoin\b")

MAX_JOINS = 60
"""Joins in one statement. The server takes time with the square of them, before it heeds any limit of time."""

SHORT = 500
"""Characters that cannot hold so many joins."""

SIGNS = re.compile(r"(?:\+-?){100}")

MAX_COMMENTS = 1000
"""Like so many signs, comments within comments take the server's time with the square of their number; its reader of
text heeds no limit of time."""

MISREAD = (UnknownTree, LookupError, TypeError, ValueError, AttributeError, RecursionError)
"""What reading raises where a tree is not of the shape that is known."""

LARGE_TREE = 32_000
"""Bytes from which a parse tree is read in a thread: it would hold up the event loop for milliseconds."""

MAX_NAME = 80
"""Characters of a name that a doubt quotes."""

SYSTEM_SCHEMAS = frozenset({"pg_catalog", "information_schema"})

OLDEST = 14
"""The first version that stores the parse tree of a function's body."""

NEWEST = 19
"""The last version whose parse trees are known. In the next one, the same number may mean something else."""

TOO_OLD = "Only PostgreSQL 14 and later can say what a statement reads; upgrade the server."
TOO_NEW = f"The parse trees of PostgreSQL versions after {NEWEST} are not known yet; upgrade this package."
TOO_COMPLEX = "It is too large to be looked at."
NOT_ONE = "Postgres does not take it as one statement that it knows."
NO_WORDS = "There is no statement in it."
NOT_SUPPORTED = "It asks for something that this version of Postgres does not have."
READ_ONLY = (
    "This server is a read-only standby and cannot say what a statement reads; connect to the primary."
)
NO_TEMPORARY = (
    "The role may create nothing, not even for a moment, so Postgres cannot say what a statement reads; an operator "
    "can GRANT TEMPORARY ON DATABASE to it."
)
NOT_ALLOWED = "The role may not use something that it names."
TOO_SLOW = "Postgres took too long to say what it reads."
UNKNOWN_SHAPE = "Postgres describes it in a shape that is not known."


def doubt(*sentences: str) -> Inspection:
    """What is inspected no further."""
    return Inspection(doubts=sentences)


def quoted(name: str) -> str:
    return name if len(name) <= MAX_NAME else name[: MAX_NAME - 1] + "…"


@dataclass(frozen=True, slots=True)
class PostgresInspector:
    """Inspects statements. Remembers what the server's functions and the views are, and the shapes of statements."""

    relations: PostgresRelations = field(default_factory=PostgresRelations)
    routines: Routines = field(default_factory=Routines)
    shapes: TreeShapes = field(default_factory=TreeShapes)

    async def inspect(self, session: PostgresSession, statement: str) -> PostgresFinding:
        """What a statement reads and changes. Raises what the driver raises where the server cannot be reached."""
        if (unusable := check_text(statement)) is not None:
            return PostgresFinding(unusable)
        version = session.connection.get_server_version().major
        if not OLDEST <= version <= NEWEST:
            return PostgresFinding(doubt(TOO_OLD if version < OLDEST else TOO_NEW))
        words = first_words.read_words(statement)
        if not words:
            return PostgresFinding(doubt(NO_WORDS))
        if words[0] == "explain":
            return await self._inspect_explained(session, statement)
        if words[0] in first_words.QUERIES:
            return await self._inspect_query(session, statement)
        if first_words.shows_setting(statement):
            return PostgresFinding(Inspection(is_query=True))
        return await self._inspect_command(session, statement, words)

    async def _inspect_command(
        self, session: PostgresSession, statement: str, words: list[str]
    ) -> PostgresFinding:
        command = inspect_command(words)
        inner = first_words.find_query(statement) if words[0] == "create" else None
        if inner is None:
            return PostgresFinding(command)
        found = await self._inspect_query(session, inner)
        return PostgresFinding(replace(command, columns=found.inspection.columns), found.is_lasting)

    async def _inspect_explained(self, session: PostgresSession, statement: str) -> PostgresFinding:
        inner, is_run = first_words.split_explain(statement)
        words = first_words.read_words(inner)
        if not words or words[0] not in first_words.QUERIES:
            return PostgresFinding(inspect_command(["explain"]))
        found, is_lasting = await self._inspect_query(session, inner)
        if is_run:
            doubts = (*found.doubts, "EXPLAIN ANALYZE runs the statement.")
            return PostgresFinding(
                replace(found, doubts=doubts, is_query=False, can_be_planned=False), is_lasting
            )
        return PostgresFinding(
            replace(found, writes=(), is_query=found.can_be_planned, can_be_planned=False), is_lasting
        )

    async def _inspect_query(self, session: PostgresSession, statement: str) -> PostgresFinding:
        try:
            analysis = await session.analyse(statement)
            if analysis.tree is None:
                return PostgresFinding(doubt(TOO_COMPLEX))
            async with session.closing():
                shape = await run_there(
                    len(analysis.tree) > LARGE_TREE, partial(self.shapes.read, analysis.tree)
                )
            return PostgresFinding(await self._inspect_shape(session, shape, analysis), is_lasting=True)
        except asyncpg.PostgresConnectionError:
            raise
        except asyncpg.PostgresError as error:
            session.is_broken = True
            found = explain_error(error)
            is_made = isinstance(error, asyncpg.PostgresSyntaxError) and first_words.may_create_table(
                statement
            )
            return PostgresFinding(replace(found, writes=("create table",)) if is_made else found)
        except MISREAD:
            return PostgresFinding(doubt(UNKNOWN_SHAPE))
        except TreeTooLarge:
            return PostgresFinding(doubt(TOO_COMPLEX))

    async def _inspect_shape(
        self, session: PostgresSession, shape: TreeShape, analysis: Analysis
    ) -> Inspection:
        reader = CatalogueReader(session.connection)
        ground = reader.version, analysis.ground
        if shape.last is not None and shape.last[0] == ground:
            return shape.last[1]
        inspection = await self._follow(reader, shape, analysis.facts)
        shape.last = (ground, inspection) if not reader.queries_sent else None
        return inspection

    async def _follow(self, reader: CatalogueReader, shape: TreeShape, facts: list[Any]) -> Inspection:
        if shape.query is None or shape.query.is_true("isReturn"):
            return doubt(NOT_ONE)
        relations = await self.relations.load(reader, shape.relations, facts)
        steady = (await self.routines.load(reader)).steady
        walk = TreeWalk(relations, steady)
        await run_there(shape.length > LARGE_TREE, partial(walk.follow, shape.query))
        targets = await self._follow_changes(reader, walk, relations)
        stored = frozenset[int]().union(*(relation.types for relation in relations.values()))
        verdict = await self.routines.judge(reader, shape.calls, calls_of(walk), targets.calls, stored)
        parents = {number for number in walk.usage.relations if relations[number].has_children}
        foreign = await find_foreign(reader, parents) if parents else None
        return conclude(walk, relations, targets, verdict, foreign)

    async def _follow_changes(
        self, reader: CatalogueReader, walk: TreeWalk, relations: dict[int, PostgresRelation]
    ) -> Targets:
        targets = await load_targets(reader, {target_of(scope) for scope in walk.usage.changes})
        if missing := targets.relations - relations.keys():
            relations |= await self.relations.load(reader, missing)
        for scope in walk.usage.changes:
            follow_constraints(walk, scope, relations[target_of(scope)], targets)
        return targets


def calls_of(walk: TreeWalk) -> Calls:
    """What views call for a statement."""
    return Calls(
        functions=frozenset(walk.usage.view_functions) - {0},
        operators=frozenset(walk.usage.operators) - {0},
        types=frozenset(walk.usage.types),
    )


def check_text(statement: str) -> Inspection | None:
    """What can be said without the server: that it cannot be a statement."""
    try:
        require_text(statement)
    except UnreadableStatement as unreadable:
        return doubt(str(unreadable))
    has_many_joins = len(statement) > SHORT and len(JOIN.findall(statement)) > MAX_JOINS
    if has_many_joins or statement.count("/*") > MAX_COMMENTS or SIGNS.search(statement):
        return doubt(TOO_COMPLEX)
    return None


def inspect_command(words: list[str]) -> Inspection:
    """A statement of which Postgres stores no parse tree, such as CREATE or SET."""
    kind = quoted(first_words.name_kind(words))
    if not kind:
        return doubt(NOT_ONE)
    writes = () if kind == "show" else (kind,)
    return Inspection(writes=writes, doubts=(f"Postgres cannot say beforehand what {kind.upper()} reads.",))


async def run_there(is_large: bool, call: Callable[[], Result]) -> Result:
    """Run it in a thread where it takes long."""
    return await to_thread.run_sync(call) if is_large else call()


def explain_error(error: asyncpg.PostgresError) -> Inspection:
    """Our own sentence for what the server says to a statement, never its text."""
    match error:
        case asyncpg.QueryCanceledError() | asyncpg.LockNotAvailableError():
            return doubt(TOO_SLOW)
        case asyncpg.InsufficientPrivilegeError():
            return doubt(NOT_ALLOWED)
        case asyncpg.ReadOnlySQLTransactionError():
            return doubt(READ_ONLY)
        case asyncpg.StatementTooComplexError():
            return doubt(TOO_COMPLEX)
        case asyncpg.FeatureNotSupportedError():
            return doubt(NOT_SUPPORTED)
        case _:
            return doubt(NOT_ONE)


def conclude(
    walk: TreeWalk,
    relations: dict[int, PostgresRelation],
    targets: Targets,
    verdict: RoutineVerdict,
    foreign: str | None,
) -> Inspection:
    """Put together what was found."""
    usage = walk.usage
    changes = [(scope, relations[target_of(scope)]) for scope in usage.changes]
    writes = [describe_change(scope, relation) for scope, relation in changes]
    writes += [f"lock rows of {relations[number].path}" for number in sorted(usage.locks - {0})]
    writes += ["lock rows"] if 0 in usage.locks else []
    writes += verdict.changing
    unknown = [
        *_doubt_calls(verdict),
        *_doubt_relations(relations[number] for number in sorted(usage.relations)),
    ]
    unknown += [f"The foreign table {quoted(foreign)} is kept elsewhere."] if foreign else []
    unseen = [sentence for scope, relation in changes for sentence in doubts_about(scope, relation, targets)]
    names, doubts = _name_columns(usage.columns, relations)
    read = [relations[number] for number in {number for number, _ in usage.columns}]
    return Inspection(
        columns=names,
        families=frozenset(frozenset({each.path, *each.relatives}) for each in read if each.relatives),
        writes=tuple(dict.fromkeys(writes)),
        doubts=tuple(dict.fromkeys([*unknown, *unseen, *doubts])),
        is_query=not writes and not _doubt_calls(verdict),
        can_be_planned=not unknown and not unseen,
    )


def _doubt_calls(verdict: RoutineVerdict) -> list[str]:
    found = [f"What the function {quoted(name)} reads or does is not known." for name in verdict.functions]
    found += [f"What the operator {quoted(name)} reads or does is not known." for name in verdict.operators]
    return found + [
        f"What the server does with values of the type {quoted(name)} is not known." for name in verdict.types
    ]


def _doubt_relations(relations: Iterable[PostgresRelation]) -> Iterable[str]:
    for relation in relations:
        if relation.kind == "f":
            yield f"The foreign table {quoted(relation.path)} is kept elsewhere."
        elif relation.schema in SYSTEM_SCHEMAS or relation.schema.startswith("pg_toast"):
            if not describes_the_schema((relation.schema, relation.name), "postgres"):
                yield f"The system table {quoted(relation.path)} may show stored values."
        elif relation.kind not in "rpvmS" or (relation.kind == "v" and relation.query is None):
            yield f"What {quoted(relation.path)} reads is not known."


def _name_columns(
    columns: Iterable[tuple[int, int]], relations: dict[int, PostgresRelation]
) -> tuple[frozenset[str], list[str]]:
    """Their full names; a doubt for those whose name could be taken for another's."""
    names: set[str] = set()
    doubts: list[str] = []
    for number, column in sorted(columns):
        relation = relations[number]
        if relation.schema in SYSTEM_SCHEMAS:
            continue
        parts = (relation.schema, relation.name, relation.columns[column - 1])
        if any("." in part for part in parts) or any(name.count(".") > 1 for name in relation.relatives):
            doubts.append(f"A name with a dot in it is read: {quoted('.'.join(parts))}.")
        names.add(".".join(parts))
    return frozenset(names), doubts
