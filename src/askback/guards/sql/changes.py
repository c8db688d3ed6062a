"""Statements that change rows: what they write, and what their conditions and RETURNING read besides."""

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from askback.guards.sql.expressions import parts_of, sources_of
from askback.guards.sql.names import listed
from askback.guards.sql.place import Place, arg, knows
from askback.guards.sql.projections import projected
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


def changed(change: Change, place: Place) -> Relation:
    """What RETURNING gives back; without it, nothing."""
    account = place.account
    knows(change, KNOWN[type(change)], account)
    here = place.inside(Scope(place.scope))
    read_inserted(change, place)
    target = table_of(change)
    if isinstance(target, exp.Table):
        add_from(
            target, replace(here, withs=())
        )  # only a stored table can be changed, whatever WITH has named
    changes = here.scope.sources[0].path if here.scope.sources and not target.alias else ()
    account.change(WORDS[type(change)], ".".join(changes) or change.this)
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
    return projected(returning.expressions, here)


def table_of(change: Change) -> exp.Expr:
    target = change.this
    return target.this if isinstance(target, exp.Schema) else target


def read_inserted(change: Change, place: Place) -> None:
    """Rows from a query go where they can be read later, so all of its columns count."""
    query = change.args.get("expression")
    if isinstance(change, exp.Insert) and isinstance(query, exp.Expr):
        place.account.count(place.reader.relation(query, place).everything)


def others(change: Change) -> Iterator[exp.Expr]:
    source = arg(change, "from")
    if isinstance(source, exp.Expr):
        yield source.this
    if not isinstance(change, exp.Insert):
        yield from parts_of(change, "using")


def read_parts(change: Change) -> Iterator[exp.Expr]:
    """All but the names on the left of `SET a = b`, which are written and not read."""
    yield from parts_of(change, "where", "on", "order", "limit")
    if isinstance(change, exp.Update):
        yield from assigned(change.expressions)
    for conflict in parts_of(change, "conflict"):
        yield from assigned(conflict.expressions)
        yield from parts_of(conflict, "where", "conflict_keys", "index_where")
    whens = change.args.get("whens")
    for when in whens.expressions if isinstance(whens, exp.Expr) else ():
        yield from parts_of(when, "condition")
        yield from then(when.args.get("then"))


def assigned(assignments: list[exp.Expr]) -> Iterator[exp.Expr]:
    for assignment in assignments:
        yield assignment.expression if isinstance(assignment, exp.EQ) else assignment
        for subscripted in assignment.this.find_all(exp.Bracket) if isinstance(assignment, exp.EQ) else ():
            yield from subscripted.expressions


def then(action: object) -> Iterator[exp.Expr]:
    if isinstance(action, exp.Update):
        yield from assigned(action.expressions)
        yield from parts_of(action, "where")
    elif isinstance(action, exp.Insert):
        yield from parts_of(action, "expression", "where")
