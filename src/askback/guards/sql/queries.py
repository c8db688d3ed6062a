"""Queries: what each of their columns may reveal, and what their conditions probe.

A column that is passed along counts where it is used. What is computed from it counts at once, used or not: a cast that
fails tells the value in its error.
"""

from collections.abc import Callable

from sqlglot import exp

from askback.guards.sql.catalogue import Catalogue, Stored
from askback.guards.sql.changes import CHANGES, changed
from askback.guards.sql.clauses import is_ordered, modify, result_scope
from askback.guards.sql.expressions import parts_of, sources_of
from askback.guards.sql.names import Dialect, Path, listed
from askback.guards.sql.place import Account, Place, Tables, arg, knows
from askback.guards.sql.projections import projected
from askback.guards.sql.recursion import mentions, solved
from askback.guards.sql.relations import NOTHING, OPAQUE, Output, Relation, any_of, renamed, united
from askback.guards.sql.scopes import Scope, merged
from askback.guards.sql.tables import add_from, column_names, is_wrapped
from askback.guards.sql.views import Views

SELECT = listed(
    "with expressions distinct into from joins where group having qualify windows order limit offset "
    "locks sample"
)
SET_OPERATION = listed("with this expression distinct by_name order limit offset")
SUBQUERY = listed("with this alias order limit offset sample")
VALUES = listed("expressions alias order limit offset")
"""The clauses that are read. Any other is reported."""


class Queries:
    """Reads queries against one catalogue."""

    def __init__(self, catalogue: Catalogue, views: Views) -> None:
        self.catalogue = catalogue
        self.views = views

    @property
    def dialect(self) -> Dialect:
        return self.catalogue.dialect

    def place(self, account: Account) -> Place:
        return Place(self, account, Scope())

    def stored(self, path: Path, account: Account) -> tuple[Path, Relation]:
        """The table or view of this name, and the dotted name it then goes by."""
        system = self.catalogue.system(path)
        found = self.catalogue.find(path)
        if system is not None and (self.catalogue.is_shadowed(path) or not found):
            return path, system
        if self.catalogue.is_shadowed(path) or not found:
            account.puzzle("not in the catalogue", ".".join(path))
            return path, self.catalogue.untold(path)
        if len(found) > 1:
            account.puzzle("more than one table has this name", ".".join(path))
            return path, any_of([self._relation(table, account) for table in found])
        return found[0].path, self._relation(found[0], account)

    def _relation(self, table: Stored, account: Account) -> Relation:
        return table.relation or self.views.relation(table, account)

    def relation(self, query: exp.Expr, place: Place) -> Relation:
        if isinstance(query, exp.Select):
            return self.select(query, place)
        if isinstance(query, exp.SetOperation):
            return self.set_operation(query, place)
        if isinstance(query, exp.Values):
            return values(query, place)
        if isinstance(query, CHANGES):
            return changed(query, self.with_tables(query, place))
        if isinstance(query, exp.Subquery) and not is_wrapped(query):
            return self.subquery(query, place)
        if isinstance(query, exp.Subquery | exp.Table | exp.Lateral | exp.Unnest):
            scope = Scope(place.scope)
            add_from(query, place.inside(scope))
            return merged(scope.sources, is_shuffled=scope.is_shuffled)
        if isinstance(query, exp.Summarize | exp.Pivot):
            return self.whole(query, place)
        if isinstance(query, exp.Describe):
            self.relation(
                query.this, place
            )  # counts what it probes; the rest are names, but for those of a PIVOT
            return OPAQUE
        place.account.puzzle("not understood", query)
        return OPAQUE

    def whole(self, tree: exp.Expr, place: Place) -> Relation:
        """The relation that is copied, summed up or pivoted, of which every column counts."""
        place = self.with_tables(tree, place)
        target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
        for part in parts_of(tree):
            beside = part is not tree.this and not isinstance(part, exp.With)
            for query in part.find_all(exp.Query) if beside else ():
                place.account.puzzle("a query in an odd place", query)
        if isinstance(target, exp.Pivot):
            return self.whole(target, place)
        place.account.count(self.relation(target, place).everything)
        return OPAQUE

    def select(self, select: exp.Select, place: Place) -> Relation:
        account = place.account
        knows(select, SELECT, account)
        place = self.with_tables(select, place)
        here = place.inside(Scope(place.scope))
        source = arg(select, "from")
        if isinstance(source, exp.Expr):
            add_from(source.this, here)
        for join in parts_of(select, "joins"):
            add_from(join, here)
        if not select.expressions:
            account.puzzle("it selects nothing", select)
        relation = projected(select.expressions, here)
        account.spend(len(relation.outputs))
        modify(select, relation, here)
        if select.args.get("into"):
            account.change("create table", select.args["into"])
            account.count(relation.everything)
        return relation

    def set_operation(
        self, query: exp.SetOperation, place: Place, begin: Callable[[Relation], None] | None = None
    ) -> Relation:
        """A chain of a thousand is a tree a thousand deep, so its branches are gathered first."""
        place = self.with_tables(query, place)
        branches: list[exp.Expr] = []
        node: exp.Expr = query
        by_name = compares = False
        while isinstance(node, exp.SetOperation) and (node is query or not is_ordered(node)):
            knows(node, SET_OPERATION, place.account)
            by_name = by_name or bool(node.args.get("by_name"))
            compares = compares or not isinstance(node, exp.Union) or bool(node.args.get("distinct", True))
            branches.append(node.expression)
            node = node.this
        relations = [self.relation(node, place)]
        if begin is not None:
            begin(relations[0])
        relations += [self.relation(branch, place) for branch in reversed(branches)]
        relation = united(relations, by_name=by_name)
        place.account.spend(len(relation.outputs))
        if compares:
            place.account.count(relation.everything)
        modify(query, relation, place.inside(result_scope(relation, place.scope)))
        return relation

    def subquery(self, query: exp.Subquery, place: Place) -> Relation:
        knows(query, SUBQUERY, place.account)
        place = self.with_tables(query, place)
        relation = self.relation(query.this, place)
        modify(query, relation, place.inside(result_scope(relation, place.scope)))
        return relation

    def with_tables(self, query: exp.Expr, place: Place) -> Place:
        clause = arg(query, "with")
        if not isinstance(clause, exp.With):
            return place
        knows(clause, frozenset({"expressions", "recursive"}), place.account)
        is_recursive = (
            bool(clause.args.get("recursive")) or self.dialect == "sqlite"
        )  # which leaves the word out
        tables: Tables = {}
        inner = place.knowing(tables)
        names = [place.name(table.args["alias"].this) for table in clause.expressions]
        for position, (name, table) in enumerate(zip(names, clause.expressions, strict=True)):
            knows(table, frozenset({"this", "alias", "materialized"}), place.account)
            if is_recursive:
                tables.update(dict.fromkeys(names[position:]))
            if is_recursive and mentions(table.this, name, place):
                tables[name] = self.recursive(table, name, inner, tables)
            else:
                tables.pop(name, None)  # inside its own query, the name means another table
                tables[name] = renamed(self.relation(table.this, inner), column_names(table, place))
        return inner

    def recursive(self, table: exp.CTE, name: str, place: Place, tables: Tables) -> Relation:
        """It names itself: each of its columns is a mark until all are known."""
        columns = column_names(table, place)
        marks: list[str] = []

        def begin(first: Relation) -> None:
            first = renamed(first, columns)
            marks.extend(f"\0{id(table)}.{position}" for position in range(len(first.outputs)))
            pairs = zip(first.outputs, marks, strict=True)
            itself = tuple(Output(output.name, frozenset({mark})) for output, mark in pairs)
            tables[name] = Relation(
                itself, is_open=first.is_open, rest=frozenset(marks) if first.is_open else NOTHING
            )

        if not isinstance(table.this, exp.SetOperation):
            return renamed(self.relation(table.this, place), columns)
        with place.account.apart() as counted:
            whole = renamed(self.set_operation(table.this, place, begin), columns)
        relation, read = solved(whole, marks, counted)
        place.account.count(read)
        return relation


def values(query: exp.Values, place: Place) -> Relation:
    knows(query, VALUES, place.account)
    for part in parts_of(query, "expressions", "order", "limit", "offset"):
        place.account.count(sources_of(part, place))
    return Relation(tuple(Output(name, NOTHING) for name in column_names(query, place)), is_open=True)
