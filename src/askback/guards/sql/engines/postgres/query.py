"""Which stored columns and which functions the result of a query depends on, found in its parse tree.

Only what is needed is followed: an output column of a subquery, a WITH query or a view counts where something uses it.
Conditions, groups, orders, limits and set operations always count. What the planner would drop is dropped here only
where every supported version drops it, since an expression that is worked out can fail with a value in its message.
"""

from collections.abc import Iterable, Iterator, Mapping

from askback.guards.sql.engines.postgres.node_tree import (
    Node,
    Origin,
    QueryScope,
    RangeKind,
    UnknownTree,
    Value,
    find_kind,
    scope_of_table,
)
from askback.guards.sql.engines.postgres.relation import PostgresRelation

MAX_STEPS = 400_000
"""Nodes that are looked at; a long report of a person has some thousands."""

NOT_WALKED = frozenset(
    {"targetList", "returningList", "rtable", "cteList", "setOperations", "rowMarks", "rteperminfos"}
)
"""Fields of a query that are followed in their own way. All others are walked, also those that no version has yet."""

FUNCTIONS = frozenset({"funcid", "aggfnoid", "winfnoid", "tsmhandler", "startInRangeFunc", "endInRangeFunc"})

OPERATORS = frozenset({"opno", "opnos", "eqop", "sortop", "cycle_mark_neop", "ordering_op", "equality_op"})

TYPES = ("type", "types", "typeid", "typid")

USER_OBJECTS = 16384
"""The first object id that the server gives to what people create."""

INFALLIBLE = frozenset({"VAR", "CONST", "PARAM", "RELABELTYPE", "COALESCEEXPR"})
"""Expressions that pass values on and never fail."""

TABLE_NUMBER = -6
"""The number of the system column `tableoid`, which tells the partition that a row is in."""

EXISTS = 0
"""The kind of a subquery in an expression of which only the number of rows counts."""


PARTS = (Node, list)
"""Values that hold further values."""


class TreeTooLarge(Exception):
    """A parse tree with more nodes than are looked at."""


class Usage:
    """Columns, relations and functions that one query uses."""

    def __init__(self) -> None:
        self.columns: set[tuple[int, int]] = set()
        """Relation and column number, of tables and views."""
        self.relations: set[int] = set()
        """Relations whose rows count, whether or not a column of them does."""
        self.view_functions: set[int] = set()
        """Functions that views call for it."""
        self.operators: set[int] = set()
        """Operators that views use for it."""
        self.types: set[int] = set()
        """Types that were created in this database and that views convert to."""
        self.changes: list[QueryScope] = []
        self.locks: set[int] = set()
        """Relations whose rows are locked (FOR UPDATE)."""


class TreeWalk:
    """One walk over a parse tree. `steady` are the functions that change nothing and return always the same one row."""

    def __init__(self, relations: Mapping[int, PostgresRelation], steady: frozenset[int]) -> None:
        self.usage = Usage()
        self.relations, self.steady = relations, steady
        self._todo: list[tuple[QueryScope, Value]] = []
        self._entered: set[QueryScope] = set()
        self._needed: set[tuple[QueryScope, int, int]] = set()
        self._views: dict[int, QueryScope] = {}
        self._steps = 0

    def follow(self, query: Node) -> None:
        """Follow the only query of a statement."""
        scope = QueryScope(query, Origin.STATEMENT)
        self._enter(scope)
        self._push(scope, scope.outputs(0))
        self.run()

    def need(self, relation: int, column: int) -> None:
        """Count a column of a relation, or with 0 all its columns."""
        known = self._relation(relation)
        if column == TABLE_NUMBER:
            self._need_keys(relation)
        for number in range(1, len(known.columns) + 1) if column == 0 else [column]:
            if number < 0 or (relation, number) in self.usage.columns or not known.has(number):
                continue
            self.usage.columns.add((relation, number))
            if number in known.generated:
                self._push(scope_of_table(relation, Origin.POLICY), [known.generated[number]])

    def _need_keys(self, relation: int) -> None:
        """Count what tells in which partition a row is."""
        for number in self._relation(relation).keys:
            self.need(relation, number)

    def run(self) -> None:
        """Follow what was found, to the end."""
        while self._todo:
            scope, value = self._todo.pop()
            self._count()
            if isinstance(value, list):
                self._push(scope, value)
            elif isinstance(value, Node):
                self._look_at(scope, value)

    def _count(self) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise TreeTooLarge

    def _push(self, scope: QueryScope, values: Iterable[Value]) -> None:
        self._todo.extend([(scope, value) for value in values if isinstance(value, PARTS)])

    def _look_at(self, scope: QueryScope, node: Node) -> None:
        match node.kind:
            case "VAR":
                home = scope.up(node.number("varlevelsup"))
                self._need(home, node.number("varno"), node.number("varattno"))
            case "SUBLINK":
                self._enter_sublink(scope, node)
            case "QUERY":
                self._enter(scope.child(node))
                self._push(scope.child(node), scope.child(node).outputs(0))
            case "CURRENTOFEXPR":
                raise UnknownTree
            case _:
                if scope.origin is Origin.VIEW:
                    self._collect(node)
                self._todo.extend(
                    [
                        (scope, value)
                        for key, value in node.fields.items()
                        if isinstance(value, PARTS) and key != "exclRelTlist"
                    ]
                )

    def _collect(self, node: Node) -> None:
        for key, value in node.fields.items():
            words = [value] if isinstance(value, str) else value if isinstance(value, list) else ()
            numbers = {int(word) for word in words if isinstance(word, str) and word.isdigit()}
            if key in FUNCTIONS:
                self.usage.view_functions |= numbers
            elif key in OPERATORS:
                self.usage.operators |= numbers
            elif key.endswith(TYPES):
                self.usage.types |= {number for number in numbers if number >= USER_OBJECTS}

    def _need(self, scope: QueryScope, number: int, column: int) -> None:
        if (scope, number, column) in self._needed:
            return
        self._needed.add((scope, number, column))
        entry = scope.range(number)
        if find_kind(entry) == RangeKind.RELATION:
            if entry.fields.get("relkind") == "c":
                return  # the row that an INSERT would have added (`excluded`); its values are in the statement
            self.need(entry.number("relid"), column)
        for home, value in self._sources(scope, entry, column):
            self._push(home, [value])

    def _sources(self, scope: QueryScope, entry: Node, column: int) -> Iterator[tuple[QueryScope, Value]]:
        """The expressions behind a column of an entry of the range table; none where the entry makes the value."""
        match find_kind(entry):
            case RangeKind.RELATION:
                view = self._view(entry.number("relid"))
                yield from () if view is None else ((view, value) for value in view.outputs(column))
            case RangeKind.SUBQUERY:
                inner = scope.child(entry.node("subquery"))
                yield from ((inner, value) for value in inner.outputs(column))
            case RangeKind.JOIN | RangeKind.GROUP as kind:
                parts = entry.values("joinaliasvars" if kind == RangeKind.JOIN else "groupexprs")
                if not parts:
                    raise UnknownTree
                yield from ((scope, value) for value in (parts[column - 1 : column] if column > 0 else parts))
            case RangeKind.CTE:
                home, cte = scope.cte(entry)
                inner = home.child(cte.node("ctequery"))
                found = inner.outputs(column) or inner.outputs(0)  # beyond them are those of SEARCH and CYCLE
                yield from ((inner, value) for value in found)
            case _:
                pass  # functions and VALUES are walked where they stand

    def _enter(self, scope: QueryScope) -> None:
        """Count what decides about a query's rows, whichever of its columns are used."""
        if scope in self._entered:
            return
        self._entered.add(scope)
        query = scope.query
        self._push(scope, [value for key, value in query.fields.items() if key not in NOT_WALKED])
        for entry in query.nodes("targetList"):
            if not scope.is_select or self._is_kept(entry):
                self._push(scope, [entry])
        self._enter_ranges(scope)
        for cte in query.nodes("cteList"):
            self._enter_cte(scope, cte, is_read=False)
        self._note_changes(scope)

    def _is_kept(self, entry: Node) -> bool:
        """Whether an output is worked out though nothing uses it: the query orders by it, or it acts or makes rows."""
        is_ordered = entry.number("ressortgroupref") != 0 or entry.is_true("resjunk")
        return is_ordered or not self._is_steady(entry.fields.get("expr"))

    def _is_steady(self, value: Value) -> bool:
        """Whether it calls nothing, also in views that it reads, that acts or differs from call to call."""
        rest, views = [value], set[int]()
        while rest:
            self._count()
            value = rest.pop()
            if isinstance(value, list):
                rest.extend(value)
            elif isinstance(value, Node):
                if not self._is_steady_node(value):
                    return False
                rest.extend([part for part in value.fields.values() if isinstance(part, PARTS)])
                number = value.number("relid") if "relid" in value.fields else 0
                if number and number not in views:
                    views.add(number)
                    relation = self._relation(number)
                    rest.extend([relation.query, *relation.policies])
        return True

    def _is_steady_node(self, node: Node) -> bool:
        fields = node.fields
        if "rowMarks" in fields or fields.get("funcretset") == "true" or fields.get("opretset") == "true":
            return False
        return FUNCTIONS.isdisjoint(fields) or all(
            number == 0 or number in self.steady for number in map(node.number, FUNCTIONS & fields.keys())
        )

    def _enter_ranges(self, scope: QueryScope) -> None:
        query = scope.query
        joined = {node.number("rtindex") for node in _find("RANGETBLREF", query.fields.get("jointree"))}
        united = {node.number("rtindex") for node in _find("RANGETBLREF", query.fields.get("setOperations"))}
        self._push(scope, list(_find("SORTGROUPCLAUSE", query.fields.get("setOperations"))))
        for number, entry in enumerate(scope.ranges, start=1):
            if find_kind(entry) != RangeKind.RELATION or number in joined:
                self._enter_range(scope, entry)
            if number in united:
                self._need(scope, number, 0)

    def _enter_range(self, scope: QueryScope, entry: Node) -> None:
        match find_kind(entry):
            case RangeKind.RELATION:
                self._enter_relation(entry.number("relid"))
                self._push(scope, [entry.fields.get("tablesample"), entry.fields.get("securityQuals")])
            case RangeKind.SUBQUERY:
                self._enter(scope.child(entry.node("subquery")))
            case RangeKind.CTE:
                home, cte = scope.cte(entry)
                self._enter_cte(home, cte, is_read=True)
            case RangeKind.JOIN | RangeKind.GROUP:
                pass  # the conditions of a join are in the jointree, what groups is in the target list
            case RangeKind.FUNCTION | RangeKind.TABLE_FUNCTION | RangeKind.VALUES:
                self._push(scope, list(entry.fields.values()))

    def _enter_relation(self, number: int) -> None:
        if number in self.usage.relations:
            return
        self.usage.relations.add(number)
        if self._relation(number).is_partition:
            self._need_keys(number)
        for policy in self._relation(number).policies:
            self._push(scope_of_table(number, Origin.POLICY), [policy])
        if view := self._view(number):
            self._enter(view)

    def _enter_cte(self, home: QueryScope, cte: Node, *, is_read: bool) -> None:
        """A WITH query that changes something always runs; any other only where something reads it."""
        inner = home.child(cte.node("ctequery"))
        if not is_read and inner.is_select:
            return
        self._enter(inner)
        self._push(home, [cte.fields.get("search_clause"), cte.fields.get("cycle_clause")])
        if not self._is_inlined(cte, inner):
            self._keep_fallible(inner)

    def _is_inlined(self, cte: Node, inner: QueryScope) -> bool:
        """Whether the planner puts a WITH query in the place of its only use, as every version since 12 does.

        NOT MATERIALIZED asks for more, which the planner does not always do.
        """
        is_used_once = cte.number("ctematerialized") != 1 and cte.number("cterefcount") == 1
        is_plain = inner.is_select and not cte.is_true("cterecursive") and not inner.query.nodes("rowMarks")
        return is_used_once and is_plain and self._is_steady(inner.query)

    def _keep_fallible(self, scope: QueryScope) -> None:
        """Count the outputs that are worked out, used or not, and can fail."""
        for value in scope.outputs(0):
            if self._can_fail(scope, value):
                self._push(scope, [value])

    def _can_fail(self, scope: QueryScope, value: Value) -> bool:
        rest = [(scope, value)]
        seen: set[tuple[QueryScope, int, int]] = set()
        while rest:
            self._count()
            scope, value = rest.pop()
            if isinstance(value, list):
                rest.extend((scope, part) for part in value)
            elif isinstance(value, Node):
                if value.kind not in INFALLIBLE:
                    return True
                if value.kind != "VAR":
                    rest.extend((scope, part) for part in value.fields.values())
                    continue
                home = scope.up(value.number("varlevelsup"))
                key = (home, value.number("varno"), value.number("varattno"))
                if key not in seen:
                    seen.add(key)
                    rest.extend(self._sources(home, home.range(key[1]), key[2]))
        return False

    def _enter_sublink(self, scope: QueryScope, node: Node) -> None:
        inner = scope.child(node.node("subselect"))
        self._push(scope, [node.fields.get("testexpr")])
        self._enter(inner)
        if node.number("subLinkType") == EXISTS:
            self._keep_fallible(inner)
        else:
            self._push(inner, inner.outputs(0))

    def _note_changes(self, scope: QueryScope) -> None:
        if not scope.is_select:
            self.usage.changes.append(scope)
            self._enter_relation(scope.range(scope.query.number("resultRelation")).number("relid"))
        for mark in scope.query.nodes("rowMarks"):
            self.usage.locks.add(scope.range(mark.number("rti")).number("relid"))

    def _view(self, number: int) -> QueryScope | None:
        query = self._relation(number).query
        if query is None:
            return None
        if number not in self._views:
            self._views[number] = QueryScope(query, Origin.VIEW)
        return self._views[number]

    def _relation(self, number: int) -> PostgresRelation:
        if number not in self.relations:
            raise UnknownTree
        return self.relations[number]


def _find(kind: str, value: Value) -> Iterator[Node]:
    """All nodes of a kind, without those inside expressions and other queries."""
    rest = [value]
    while rest:
        value = rest.pop()
        if isinstance(value, list):
            rest.extend(value)
        elif isinstance(value, Node):
            if value.kind == kind:
                yield value
            elif value.kind in {"FROMEXPR", "JOINEXPR", "SETOPERATIONSTMT"}:
                rest.extend(value.fields.values())
