"""The clauses after FROM: conditions, groups, orders and limits. All that they look at is probed."""

from collections.abc import Iterator

from sqlglot import exp

from askback.guards.sql.expressions import parts_of, sources_of
from askback.guards.sql.place import Place
from askback.guards.sql.relations import Relation, Sources
from askback.guards.sql.scopes import Scope, Source

PROBING = ("where", "having", "qualify", "windows", "limit", "offset", "sample", "group", "order")

GROUPINGS = (exp.Cube, exp.Rollup, exp.GroupingSets, exp.Tuple, exp.Paren, exp.Ordered)


def modify(query: exp.Expr, relation: Relation, place: Place) -> None:
    account = place.account
    for part in parts_of(query, *PROBING):
        account.count(sources_of(part, place))
    for part in parts_of(query, "group", "order"):
        account.count(by_position(part, relation))
    distinct = query.args.get("distinct")
    if isinstance(query, exp.Select) and isinstance(distinct, exp.Distinct):
        on = distinct.args.get("on")
        account.count(sources_of(on, place) | by_position(on, relation) if on else relation.everything)
    if query.args.get("locks"):
        account.change("lock rows")


def by_position(clause: exp.Expr, relation: Relation) -> Sources:
    """`GROUP BY 2`, `ORDER BY ALL`: the columns of the result that are meant."""
    if clause.args.get("all"):
        return relation.everything
    found: set[str] = set()
    for term in terms(clause):
        if isinstance(term, exp.Literal):
            found |= at(term.name, relation)
        elif isinstance(term, exp.Var | exp.Placeholder | exp.Parameter):
            found |= relation.everything
    return frozenset(found)


def terms(clause: exp.Expr) -> Iterator[exp.Expr]:
    todo = [clause]
    while todo:
        for part in parts_of(todo.pop()):
            if isinstance(part, GROUPINGS):
                todo.append(part)
            else:
                yield part


def at(number: str, relation: Relation) -> Sources:
    position = int(number) if number.isdecimal() else 0
    if relation.has_no_order or not 0 < position <= len(relation.outputs):
        return relation.everything
    return relation.outputs[position - 1].sources


def result_scope(relation: Relation, around: Scope) -> Scope:
    """What ORDER BY sees after a UNION: the columns of the result."""
    scope = Scope(around)
    scope.add(Source((), relation))
    return scope


def is_ordered(query: exp.Expr) -> bool:
    """Whether a branch of a chain has clauses of its own."""
    return any(query.args.get(name) for name in ("with_", "with", "order", "limit", "offset"))
