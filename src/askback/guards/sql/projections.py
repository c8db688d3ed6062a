"""The list after SELECT, or after RETURNING: which columns it passes along, and which it computes."""

from collections.abc import Iterable
from dataclasses import replace

from sqlglot import exp

from askback.guards.sql.expressions import looked_up, parts_of, plain_names, sources_of
from askback.guards.sql.place import Place, arg
from askback.guards.sql.relations import NOTHING, Output, Relation
from askback.guards.sql.scopes import merged


def projected(expressions: Iterable[exp.Expr], place: Place) -> Relation:
    """The relation that a list makes of its FROM; later items and clauses know the earlier by name."""
    outputs: list[Output] = []
    is_open, is_shuffled, rest = False, False, NOTHING
    for item in expressions:
        relation = item_of(item, place)
        is_open, rest = is_open or relation.is_open, rest | relation.rest
        is_shuffled = is_shuffled or relation.is_shuffled
        place.account.spend(len(relation.outputs))
        is_plain_star = isinstance(item, exp.Star) and not item.args.get("rename")
        for output in relation.outputs:
            outputs.append(output)
            if output.name is not None and not is_plain_star:
                known = place.scope.outputs.get(output.name, NOTHING)
                place.scope.outputs[output.name] = known | output.sources
    return Relation(tuple(outputs), is_open=is_open, rest=rest, is_shuffled=is_shuffled)


def item_of(item: exp.Expr, place: Place) -> Relation:
    if isinstance(item, exp.Star):
        return starred(item, merged(place.scope.sources, is_shuffled=place.scope.is_shuffled), place)
    if isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
        found = place.scope.named(place.path(item.parts[:-1]))
        return starred(item.this, merged(found), place) if found else computed(item, place, None)
    if isinstance(item, exp.Column):
        return Relation((Output(place.name(item.this), looked_up(item.parts, place)),))
    if isinstance(item, exp.Alias):
        name = place.name(item.args["alias"])
        if isinstance(item.this, exp.Column) and not isinstance(item.this.this, exp.Star):
            return Relation((Output(name, looked_up(item.this.parts, place)),))
        return computed(item.this, place, name)
    return computed(item, place, None)


def computed(item: exp.Expr, place: Place, name: str | None) -> Relation:
    """Counted at once, but in a view: there it is the operator's, and counts where it is used."""
    if not place.account.is_view:
        place.account.count(sources_of(item, place))
        sources = NOTHING
    else:
        with place.account.apart() as counted:
            place.account.count(sources_of(item, place))
        sources = frozenset(counted)
    spreads = (name is None and not isinstance(item, exp.Literal)) or may_spread(item)
    return Relation((Output(name, sources),), is_open=spreads, rest=sources if spreads else NOTHING)


def may_spread(item: exp.Expr) -> bool:
    """Whether one item can become many columns, under one alias too: a row taken apart, a pattern of names."""
    nodes = item.walk(prune=lambda node: isinstance(node, exp.Query))
    return any(isinstance(node, exp.Columns | exp.Explode | exp.Unnest | exp.Star) for node in nodes)


def starred(star: exp.Expr, relation: Relation, place: Place) -> Relation:
    """`*` with what DuckDB may add: EXCLUDE, REPLACE, RENAME."""
    left_out = set(plain_names(arg(star, "except"), place))
    replaced = {place.name(part.args["alias"]): part.this for part in parts_of(star, "replace")}
    renames = {
        place.name(part.this.this): place.name(part.args["alias"]) for part in parts_of(star, "rename")
    }
    outputs: list[Output] = []
    for name, columns in relation.outputs:
        if name in left_out:
            continue
        outputs.append(
            Output(renames.get(name, name) if name else None, NOTHING if name in replaced else columns)
        )
    for expression in replaced.values():
        place.account.count(sources_of(expression, place))
    return replace(relation, outputs=tuple(outputs), hidden={})
