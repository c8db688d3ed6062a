"""A query of a parse tree with its surroundings: which relation or expression a column reference in it means."""

from enum import Enum, IntEnum

from askback.guards.sql.engines.postgres.node_tree import Node, UnknownTree, Value


class Origin(Enum):
    """Who wrote an expression."""

    STATEMENT = "statement"
    VIEW = "view"
    POLICY = "policy"
    """A row security policy or a generated column: it belongs to the table, so its functions are its owner's choice."""


class RangeKind(IntEnum):
    """What an entry of a query's FROM clause is (RTEKind of the server)."""

    RELATION = 0
    SUBQUERY = 1
    JOIN = 2
    FUNCTION = 3
    TABLE_FUNCTION = 4
    VALUES = 5
    CTE = 6
    GROUP = 100
    """From version 18 on, what GROUP BY names. Its number is another one in version 19."""


KINDS = {int(kind): kind for kind in RangeKind if kind is not RangeKind.GROUP}

MARKS = {
    RangeKind.RELATION: "relid",
    RangeKind.SUBQUERY: "subquery",
    RangeKind.FUNCTION: "functions",
    RangeKind.TABLE_FUNCTION: "tablefunc",
    RangeKind.VALUES: "values_lists",
    RangeKind.CTE: "ctename",
}
"""The field that an entry of a kind has, so that no other kind is taken for it in a later version."""


def kind_of(entry: Node) -> RangeKind:
    """The kind of an entry of the range table. Raises `UnknownTree` for kinds that are not known."""
    if "groupexprs" in entry.fields:
        return RangeKind.GROUP
    kind = KINDS.get(entry.number("rtekind"))
    if kind is None or (kind in MARKS and MARKS[kind] not in entry.fields):
        raise UnknownTree
    return kind


SELECT = 1
"""The command type of a query that changes nothing; 2 to 5 are update, insert, delete and merge."""


class QueryScope:
    """One query, the query around it, and the queries inside it. Compared by identity."""

    __slots__ = ("_children", "_outputs", "origin", "parent", "query", "ranges")

    def __init__(self, query: Node, origin: Origin, parent: "QueryScope | None" = None) -> None:
        self.query, self.origin, self.parent = query, origin, parent
        self.ranges = query.nodes("rtable")
        self._children: dict[Node, QueryScope] = {}
        self._outputs: dict[int, list[Value]] | None = None

    def child(self, query: Node | None) -> "QueryScope":
        """The scope of a query inside this one, always the same for the same query."""
        if query is None or query.kind != "QUERY":
            raise UnknownTree
        if query not in self._children:
            self._children[query] = QueryScope(query, self.origin, self)
        return self._children[query]

    def up(self, levels: int) -> "QueryScope":
        scope = self
        for _ in range(levels):
            if scope.parent is None:
                raise UnknownTree
            scope = scope.parent
        return scope

    def range(self, number: int) -> Node:
        """An entry of the range table, counted from 1 as column references do."""
        if not 1 <= number <= len(self.ranges):
            raise UnknownTree
        return self.ranges[number - 1]

    @property
    def is_select(self) -> bool:
        return self.query.number("commandType") == SELECT

    @property
    def entries(self) -> list[Node]:
        """The target entries that others can refer to; of a change, what it returns."""
        return self.query.nodes("targetList" if self.is_select else "returningList")

    def outputs(self, column: int) -> list[Value]:
        """The expressions behind a column; behind all of them where the column is 0, which means the whole row."""
        if self._outputs is None:
            self._outputs = {}
            for entry in self.entries:
                if not entry.is_true("resjunk"):
                    self._outputs.setdefault(entry.number("resno"), []).append(entry.fields.get("expr"))
        if column == 0:
            return [value for values in self._outputs.values() for value in values]
        return self._outputs.get(column, [])

    def cte(self, reference: Node) -> "tuple[QueryScope, Node]":
        """The WITH query that an entry of the range table means, and where it is defined."""
        home = self.up(reference.number("ctelevelsup"))
        for found in home.query.nodes("cteList"):
            if found.fields.get("ctename") == reference.fields.get("ctename"):
                return home, found
        raise UnknownTree


def scope_of_table(relation: int, origin: Origin) -> QueryScope:
    """The scope of an expression that is kept with a table and names its columns alone."""
    entry = Node("RANGETBLENTRY", {"rtekind": "0", "relid": str(relation), "relkind": "r"})
    return QueryScope(Node("QUERY", {"commandType": str(SELECT), "rtable": [entry]}), origin)
