"""Statements that change rows: what they write, and what their conditions and RETURNING read besides.

A person is asked about each of them anyway, so MERGE and ON CONFLICT are not taken apart.
"""

from dataclasses import replace

from sqlglot import exp

from askback.guards.sql.expressions import sources_of
from askback.guards.sql.names import words_in
from askback.guards.sql.place import ExpressionContext, arg, knows, parts_of
from askback.guards.sql.projections import project
from askback.guards.sql.relations import Relation
from askback.guards.sql.scopes import NameScope
from askback.guards.sql.tables import add_from

Change = exp.Insert | exp.Update | exp.Delete | exp.Merge
CHANGES = (exp.Insert, exp.Update, exp.Delete, exp.Merge)

READ = words_in(
    "with this expression expressions from using where returning order limit alternative by_name default"
)
WORDS = {exp.Insert: "insert into", exp.Update: "update", exp.Delete: "delete from", exp.Merge: "merge into"}


def read_change(change: Change, place: ExpressionContext) -> Relation:
    """What RETURNING gives back; without it, nothing."""
    account = place.account
    knows(change, READ, account)
    here = place.inside(NameScope(place.scope))
    target = change.this.this if isinstance(change.this, exp.Schema) else change.this
    if isinstance(target, exp.Table):  # a stored one, whatever WITH has named
        add_from(target, replace(here, withs=()))
    changed = here.scope.sources[0].path if here.scope.sources and not target.alias else ()
    account.change(WORDS[type(change)], ".".join(changed) or change.this)
    source = arg(change, "from")
    for item in (*parts_of(change, "using"), *([source.this] if isinstance(source, exp.Expr) else [])):
        add_from(item, here)
    read_values(change, place, here)
    if change.args.get("conflict") or change.args.get("whens"):
        account.count(here.scope.merged().everything)
    returning = change.args.get("returning")
    if not isinstance(returning, exp.Expr):
        return Relation()
    knows(returning, frozenset({"expressions"}), account)
    return project(returning.expressions, here)


def read_values(change: Change, place: ExpressionContext, here: ExpressionContext) -> None:
    """Conditions, and the right sides of `a = b`; of rows from a query all columns, which can be read later."""
    query = change.args.get("expression")
    if isinstance(query, exp.Expr):
        place.account.count(place.reader.relation(query, place).everything)
    for part in parts_of(change, "where", "order", "limit"):
        place.account.count(sources_of(part, here))
    for assignment in parts_of(change, "expressions"):
        is_plain = isinstance(assignment, exp.EQ) and isinstance(assignment.this, exp.Column)
        place.account.count(sources_of(assignment.expression if is_plain else assignment, here))
