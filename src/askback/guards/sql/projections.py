"""The list after SELECT, or after RETURNING: which columns it passes along, and which it computes."""

from collections.abc import Iterable, Iterator

from sqlglot import exp

from askback.guards.sql.expressions import look_up, plain_names, sources_of, star_parts
from askback.guards.sql.place import ExpressionContext, arg, parts_of
from askback.guards.sql.relations import NOTHING, Output, Relation, blend, merge, relation_of


def project(expressions: Iterable[exp.Expr], place: ExpressionContext) -> Relation:
    """The relation that a list makes of its FROM; later items and clauses know the earlier by name."""
    relations: list[Relation] = []
    for item in expressions:
        relation = item_of(item, place)
        relations.append(relation)
        if isinstance(item, exp.Star) and not item.args.get("rename"):
            continue
        names = place.scope.names
        for name, sources in relation.columns.items():
            names[name] = names.get(name, NOTHING) | sources
    return merge(relations)


def item_of(item: exp.Expr, place: ExpressionContext) -> Relation:
    if isinstance(item, exp.Star):
        return starred(item, place.scope.merged(), place)
    if isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
        found = place.scope.named(place.path(item.parts[:-1]))
        return starred(item.this, merge(found), place) if found else computed(item, place, None)
    name = place.name(item.args["alias"]) if isinstance(item, exp.Alias) else None
    value = item.this if isinstance(item, exp.Alias) else item
    if isinstance(value, exp.Column) and not isinstance(value.this, exp.Star):
        return relation_of([(name or place.name(value.this), look_up(value.parts, place))])
    return computed(value, place, name)


def computed(item: exp.Expr, place: ExpressionContext, name: str | None) -> Relation:
    """Counted at once, but in a view: there it is the operator's, and counts where it is used."""
    sources = NOTHING
    if not place.account.is_view:
        place.account.count(sources_of(item, place))
    else:
        with place.account.apart() as counted:
            place.account.count(sources_of(item, place))
        sources = frozenset(counted)
    outputs: list[Output] = [(name, sources)]
    return relation_of(outputs + ([(None, sources)] if may_spread(item) else []))


def may_spread(item: exp.Expr) -> bool:
    """Whether one item can become many columns, under one alias too: a row taken apart, a pattern of names."""
    nodes = item.walk(prune=lambda node: isinstance(node, exp.Query))
    return any(isinstance(node, exp.Columns | exp.Explode | exp.Unnest | exp.Star) for node in nodes)


def starred(star: exp.Expr, relation: Relation, place: ExpressionContext) -> Relation:
    """`*` with what DuckDB may add. EXCLUDE and REPLACE are heeded for names that only one column has."""
    for expression in star_parts(star):
        place.account.count(sources_of(expression, place))
    if star.args.get("rename"):
        return blend(relation, (place.name(part.args["alias"]) for part in parts_of(star, "rename")))
    replaced = {place.name(part.args["alias"]) for part in parts_of(star, "replace")} - relation.twins
    left_out = plain_names(arg(star, "except"), place) - relation.twins

    def kept() -> Iterator[Output]:
        for name, sources in relation.columns.items():
            if name not in left_out:
                yield name, NOTHING if name in replaced else sources

    return relation_of(kept(), rest=relation.rest, is_open=relation.is_open, twins=relation.twins)
