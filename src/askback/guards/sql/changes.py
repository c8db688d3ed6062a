"""Statements that change rows: what they write, and what their conditions and RETURNING read besides."""

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from askback.guards.sql.expressions import sources_of
from askback.guards.sql.names import listed
from askback.guards.sql.place import Place, arg, knows, parts_of
from askback.guards.sql.projections import project
from askback.guards.sql.relations import Relation
from askback.guards.sql.scopes import Scope, Source
from askback.guards.sql.tables import add_from

Change = exp.Insert | exp.Update | exp.Delete | exp.Merge
CHANGES = (exp.Insert, exp.Update, exp.Delete, exp.Merge)

KNOWN: dict[type[exp.Expr], frozenset[str]] = {
    exp.Insert: listed("with this expression conflict returning alternative by_name default"),
    exp.Update: listed("with this expressions from where returning order limit"),
    exp.Delete: listed("with this using where returning order limit"),
    exp.Merge: listed("with this using on whens returning"),
}
WORDS = {exp.Insert: "insert into", exp.Update: "update", exp.Delete: "delete from", exp.Merge: "merge into"}

ASSIGNING = (exp.Update, exp.OnConflict)
"""Of their `a = b`, only the right side is read."""


def read_change(change: Change, place: Place) -> Relation:
    """What RETURNING gives back; without it, nothing."""
    account = place.account
    knows(change, KNOWN[type(change)], account)
    query = change.args.get("expression")
    if isinstance(change, exp.Insert) and isinstance(query, exp.Expr):  # it can be read later where it goes
        account.count(place.reader.relation(query, place).everything)
    here = place.inside(Scope(place.scope))
    target = change.this.this if isinstance(change.this, exp.Schema) else change.this
    if isinstance(target, exp.Table):  # a stored one, whatever WITH has named
        add_from(target, replace(here, withs=()))
    changed = here.scope.sources[0].path if here.scope.sources and not target.alias else ()
    account.change(WORDS[type(change)], ".".join(changed) or change.this)
    for source in others(change):
        add_from(source, here)
    if change.args.get("conflict") and here.scope.sources:
        here.scope.add(Source(("excluded",), here.scope.sources[0].relation))
    for part in read_parts(change):
        account.count(sources_of(part, here))
    returning = change.args.get("returning")
    if not isinstance(returning, exp.Expr):
        return Relation()
    knows(returning, frozenset({"expressions"}), account)
    return project(returning.expressions, here)


def others(change: Change) -> Iterator[exp.Expr]:
    source = arg(change, "from")
    if isinstance(source, exp.Expr):
        yield source.this
    if not isinstance(change, exp.Insert):
        yield from parts_of(change, "using")


def read_parts(node: exp.Expr) -> Iterator[exp.Expr]:
    """Conditions and values, also those of ON CONFLICT and of the branches of a MERGE."""
    yield from parts_of(node, "where", "on", "order", "limit", "condition", "conflict_keys", "index_where")
    for assignment in node.expressions if isinstance(node, ASSIGNING) else ():
        is_plain = isinstance(assignment, exp.EQ)
        yield assignment.expression if is_plain else assignment
        for subscripted in assignment.this.find_all(exp.Bracket) if is_plain else ():
            yield from subscripted.expressions
    if isinstance(node, exp.Insert) and isinstance(node.parent, exp.When):
        yield from parts_of(node, "expression")
    for part in parts_of(node, "conflict", "whens", "then"):
        for branch in part.expressions if isinstance(part, exp.Whens) else [part]:
            if isinstance(branch, exp.When | exp.OnConflict | exp.Update | exp.Insert):
                yield from read_parts(branch)
