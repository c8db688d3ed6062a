"""Queries: what each of their columns may reveal, and what their conditions probe.

A column that is passed along counts where it is used. What is computed from it counts at once, used or not, and so do
all columns of a set operation: a cast that fails tells the value in its error.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from sqlglot import exp

from askback.guards.sql.expressions import find_sources, list_plain_names, list_star_parts, look_up
from askback.guards.sql.index import CatalogueIndex, Stored
from askback.guards.sql.names import Dialect, Path, split_words
from askback.guards.sql.scope import (
    NOTHING,
    OPAQUE,
    Account,
    ExpressionContext,
    NameScope,
    Output,
    Relation,
    ScopeEntry,
    Tables,
    blend,
    check_clauses,
    get_argument,
    list_parts,
    make_relation,
    merge,
)
from askback.guards.sql.system import describes_the_schema, is_of_the_system
from askback.guards.sql.tables import add_from, is_wrapped, list_column_names

SELECT = split_words(
    "with expressions distinct into from joins where group having qualify windows order limit offset "
    "locks sample"
)
SET_OPERATION = split_words("with this expression distinct by_name order limit offset")
SUBQUERY = split_words("with this alias order limit offset sample")
VALUES = split_words("expressions alias order limit offset")
"""The clauses that are read. Any other is a doubt."""

PROBING = ("where", "having", "qualify", "windows", "limit", "offset", "sample", "group", "order")

ReadView = Callable[[str, Account], Relation]
"""Reads the text of a view: what its columns reveal; what it probes goes into the account."""


class Queries:
    """Reads queries against one catalogue, and each of its views once."""

    def __init__(self, catalogue: CatalogueIndex, read_view: ReadView) -> None:
        self.catalogue = catalogue
        self._read_view = read_view
        self._views: dict[str, tuple[Relation, Account] | None] = {}

    @property
    def dialect(self) -> Dialect:
        return self.catalogue.dialect

    def place(self, account: Account) -> ExpressionContext:
        return ExpressionContext(self, account, NameScope())

    def stored(self, path: Path, account: Account) -> tuple[Path, Relation]:
        """The table or view of this name, and the dotted name it then goes by."""
        found = [] if is_of_the_system(path, self.dialect) else self.catalogue.find(path)
        if not found and describes_the_schema(path, self.dialect):
            return path, OPAQUE
        if not found:
            account.doubt("not in the catalogue", ".".join(path))
            return path, self.catalogue.untold(path)
        if len(found) > 1:
            account.doubt("more than one table has this name", ".".join(path))
        relations = [table.relation or self._view(table, account) for table in found]
        return (found[0].path, relations[0]) if len(found) == 1 else (path, merge(relations))

    def _view(self, view: Stored, account: Account) -> Relation:
        if view.name not in self._views:
            self._views[view.name] = None  # while it is read
            within = Account(is_view=True)
            try:
                relation = self._read_view(view.query, within)
            except BaseException:
                del self._views[view.name]
                raise
            self._views[view.name] = self.catalogue.with_tags(view, relation), within
        known = self._views[view.name]
        if known is None:
            account.doubt("a view that names itself", view.name)
            return OPAQUE
        relation, within = known
        account.count(within.read)
        account.writes |= within.writes
        account.doubts |= {f"view {view.name}: {doubt}": None for doubt in within.doubts}
        return relation

    def relation(self, query: exp.Expr, place: ExpressionContext) -> Relation:
        if isinstance(query, exp.Select):
            return self.select(query, place)
        if isinstance(query, exp.SetOperation):
            return self.set_operation(query, place)
        if isinstance(query, exp.Values):
            return self.values(query, place)
        if isinstance(query, CHANGES):
            return read_change(query, self.with_tables(query, place))
        if isinstance(query, exp.Subquery) and not is_wrapped(query):
            return self.subquery(query, place)
        if isinstance(query, exp.Subquery | exp.Table | exp.Lateral | exp.Unnest):
            scope = NameScope(place.scope)
            add_from(query, place.inside(scope))
            return scope.merged()
        if isinstance(query, exp.Summarize | exp.Pivot):
            return self.whole(query, place)
        if isinstance(query, exp.Describe):  # names and types; those of a PIVOT are values, and counted
            self.relation(query.this, place)
            return OPAQUE
        place.account.doubt("not understood", query)
        return OPAQUE

    def whole(self, tree: exp.Expr, place: ExpressionContext) -> Relation:
        """The relation that is summed up or pivoted, of which every column counts."""
        place = self.with_tables(tree, place)
        for part in list_parts(tree):
            beside = part is not tree.this and not isinstance(part, exp.With)
            for query in part.find_all(exp.Query) if beside else ():
                place.account.doubt("a query in an odd place", query)
        place.account.count(self.relation(tree.this, place).everything)
        return OPAQUE

    def select(self, select: exp.Select, place: ExpressionContext) -> Relation:
        account = place.account
        check_clauses(select, SELECT, account)
        place = self.with_tables(select, place)
        here = place.inside(NameScope(place.scope))
        source = get_argument(select, "from")
        for item in ([source.this] if isinstance(source, exp.Expr) else []) + list(
            list_parts(select, "joins")
        ):
            add_from(item, here)
        if not select.expressions:
            account.doubt("it selects nothing", select)
        relation = project(select.expressions, here)
        read_modifiers(select, relation, here)
        distinct = select.args.get("distinct")
        if isinstance(distinct, exp.Distinct):
            on = distinct.args.get("on")
            account.count(find_sources(on, here) if on else ())
            account.count(relation.everything)
        if select.args.get("into"):
            account.change("create table", select.args["into"])
            account.count(relation.everything)
        return relation

    def set_operation(
        self, query: exp.SetOperation, place: ExpressionContext, itself: Tables | None = None
    ) -> Relation:
        """All columns of all branches count. `itself` is what the last branch of a recursive one can name besides."""
        place = self.with_tables(query, place)
        last = place if itself is None or get_argument(query, "with") else place.knowing(itself)
        branches: list[exp.Expr] = []
        node: exp.Expr = query
        while isinstance(node, exp.SetOperation) and (node is query or not node.args.get("with_")):
            check_clauses(node, SET_OPERATION, place.account)
            if node is not query:
                read_modifiers(node, OPAQUE, place.inside(make_result_scope(place)))
            branches.append(node.expression)
            node = node.this
        relations = [self.relation(branch, place) for branch in (node, *reversed(branches[1:]))]
        relations.append(self.relation(branches[0], last))
        for relation in relations:
            place.account.count(relation.everything)
        read_modifiers(query, OPAQUE, place.inside(make_result_scope(place)))
        names = {name for relation in relations for name in relation.columns}
        return blend(OPAQUE, names)

    def subquery(self, query: exp.Subquery, place: ExpressionContext) -> Relation:
        check_clauses(query, SUBQUERY, place.account)
        place = self.with_tables(query, place)
        relation = self.relation(query.this, place)
        scope = NameScope(place.scope)
        scope.add(ScopeEntry((), relation))
        read_modifiers(query, relation, place.inside(scope))
        return relation

    def values(self, query: exp.Values, place: ExpressionContext) -> Relation:
        check_clauses(query, VALUES, place.account)
        for part in list_parts(query, "expressions", "order", "limit", "offset"):
            place.account.count(find_sources(part, place))
        return blend(OPAQUE, list_column_names(query, place))

    def with_tables(self, query: exp.Expr, place: ExpressionContext) -> ExpressionContext:
        clause = get_argument(query, "with")
        if not isinstance(clause, exp.With):
            return place
        check_clauses(clause, frozenset({"expressions", "recursive"}), place.account)
        is_recursive = (
            bool(clause.args.get("recursive")) or self.dialect == "sqlite"
        )  # which leaves the word out
        tables: Tables = {}
        inner = place.knowing(tables)
        names = [place.name(table.args["alias"].this) for table in clause.expressions]
        if is_recursive:  # else the name means another table inside its own query
            tables.update(dict.fromkeys(names))
        for name, table in zip(names, clause.expressions, strict=True):
            check_clauses(table, frozenset({"this", "alias", "materialized"}), place.account)
            relation = self._common_table(table, name, inner, is_recursive=is_recursive)
            columns = list_column_names(table, place)
            tables[name] = blend(relation, columns) if columns else relation
        return inner

    def _common_table(
        self, table: exp.CTE, name: str, place: ExpressionContext, *, is_recursive: bool
    ) -> Relation:
        """One that names itself does so in its last branch; all that it can show counts in the branches."""
        query = table.this
        if not is_recursive or not isinstance(query, exp.SetOperation):
            return self.relation(query, place)
        return self.set_operation(query, place, {name: OPAQUE})


def read_modifiers(query: exp.Expr, relation: Relation, place: ExpressionContext) -> None:
    """The clauses after FROM. All that they look at is probed."""
    for part in list_parts(query, *PROBING):
        place.account.count(find_sources(part, place))
    terms = (term for part in list_parts(query, "group", "order") for term in list_parts(part))
    values = (term.this if isinstance(term, exp.Ordered) else term for term in terms)
    if not all(isinstance(value, exp.Column) for value in values) or any(
        part.args.get("all") for part in list_parts(query, "group", "order")
    ):
        place.account.count(relation.everything)  # `ORDER BY 2`, `GROUP BY ALL`
    if query.args.get("locks"):
        place.account.change("lock rows")


def make_result_scope(place: ExpressionContext) -> NameScope:
    """The scope of an ORDER BY after a UNION, whose columns were counted already."""
    scope = NameScope(place.scope)
    scope.add(ScopeEntry((), OPAQUE))
    return scope


def project(expressions: Iterable[exp.Expr], place: ExpressionContext) -> Relation:
    """The relation that a list makes of its FROM; later items and clauses know the earlier by name."""
    relations: list[Relation] = []
    for item in expressions:
        relation = read_item(item, place)
        relations.append(relation)
        if isinstance(item, exp.Star) and not item.args.get("rename"):
            continue
        names = place.scope.names
        for name, sources in relation.columns.items():
            names[name] = names.get(name, NOTHING) | sources
    return merge(relations)


def read_item(item: exp.Expr, place: ExpressionContext) -> Relation:
    if isinstance(item, exp.Star):
        return expand_star(item, place.scope.merged(), place)
    if isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
        found = place.scope.named(place.path(item.parts[:-1]))
        return expand_star(item.this, merge(found), place) if found else read_computed(item, place, None)
    name = place.name(item.args["alias"]) if isinstance(item, exp.Alias) else None
    value = item.this if isinstance(item, exp.Alias) else item
    if isinstance(value, exp.Column) and not isinstance(value.this, exp.Star):
        return make_relation([(name or place.name(value.this), look_up(value.parts, place))])
    return read_computed(value, place, name)


def read_computed(item: exp.Expr, place: ExpressionContext, name: str | None) -> Relation:
    """Counted at once, but in a view: there it is the operator's, and counts where it is used."""
    account = replace(place.account, read=set[str]()) if place.account.is_view else place.account
    account.count(find_sources(item, replace(place, account=account)))
    sources = frozenset(account.read) if account.is_view else NOTHING
    outputs: list[Output] = [(name, sources)]
    return make_relation(outputs + ([(None, sources)] if may_spread(item) else []))


def may_spread(item: exp.Expr) -> bool:
    """Whether one item can become many columns, under one alias too: a row taken apart, a pattern of names."""
    nodes = item.walk(prune=lambda node: isinstance(node, exp.Query))
    return any(isinstance(node, exp.Columns | exp.Explode | exp.Unnest | exp.Star) for node in nodes)


def expand_star(star: exp.Expr, relation: Relation, place: ExpressionContext) -> Relation:
    """`*` with what DuckDB may add. EXCLUDE and REPLACE are heeded for names that only one column has."""
    for expression in list_star_parts(star):
        place.account.count(find_sources(expression, place))
    if star.args.get("rename"):
        return blend(relation, (place.name(part.args["alias"]) for part in list_parts(star, "rename")))
    replaced = {place.name(part.args["alias"]) for part in list_parts(star, "replace")} - relation.twins
    left_out = list_plain_names(get_argument(star, "except"), place) - relation.twins

    def kept() -> Iterator[Output]:
        for name, sources in relation.columns.items():
            if name not in left_out:
                yield name, NOTHING if name in replaced else sources

    return make_relation(kept(), rest=relation.rest, is_open=relation.is_open, twins=relation.twins)


Change = exp.Insert | exp.Update | exp.Delete | exp.Merge
CHANGES = (exp.Insert, exp.Update, exp.Delete, exp.Merge)

READ = split_words(
    "with this expression expressions from using where returning order limit alternative by_name default"
)
WORDS = {exp.Insert: "insert into", exp.Update: "update", exp.Delete: "delete from", exp.Merge: "merge into"}


def read_change(change: Change, place: ExpressionContext) -> Relation:
    """Count what a change reads, and give the rows of its RETURNING."""
    account = place.account
    check_clauses(change, READ, account)
    here = place.inside(NameScope(place.scope))
    target = change.this.this if isinstance(change.this, exp.Schema) else change.this
    if isinstance(target, exp.Table):  # a stored one, whatever WITH has named
        add_from(target, replace(here, withs=()))
    changed = here.scope.sources[0].path if here.scope.sources and not target.alias else ()
    account.change(WORDS[type(change)], ".".join(changed) or change.this)
    source = get_argument(change, "from")
    for item in (*list_parts(change, "using"), *([source.this] if isinstance(source, exp.Expr) else [])):
        add_from(item, here)
    read_values(change, place, here)
    if change.args.get("conflict") or change.args.get("whens"):
        account.count(here.scope.merged().everything)
    returning = change.args.get("returning")
    if not isinstance(returning, exp.Expr):
        return Relation()
    check_clauses(returning, frozenset({"expressions"}), account)
    return project(returning.expressions, here)


def read_values(change: Change, place: ExpressionContext, here: ExpressionContext) -> None:
    """Conditions, and the right sides of `a = b`; of rows from a query all columns, which can be read later."""
    query = change.args.get("expression")
    if isinstance(query, exp.Expr):
        place.account.count(place.reader.relation(query, place).everything)
    for part in list_parts(change, "where", "order", "limit"):
        place.account.count(find_sources(part, here))
    for assignment in list_parts(change, "expressions"):
        is_plain = isinstance(assignment, exp.EQ) and isinstance(assignment.this, exp.Column)
        place.account.count(find_sources(assignment.expression if is_plain else assignment, here))
