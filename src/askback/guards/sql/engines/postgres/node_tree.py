"""The text form of a Postgres parse tree (`pg_node_tree`), read into nodes. Knows the format and no kind of node."""

import re
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from functools import lru_cache
from typing import TypeAlias

WORD = r"(?:[^ \n\t(){}\\]++|\\.)++"
"""The server puts a backslash before each of these inside a name. Other blanks stand in names as they are."""

TOKEN = re.compile(
    rf"\{{ALIAS(?:[^{{}}\\]++|\\.)*+\}}|\{{(?:VAR|CONST) [^{{}}]*+\}}|\([iobx][-0-9 ]*\)|\{{\w++"
    rf"|[(){{}}]|:\w++ {WORD}|{WORD}",
    re.DOTALL,
)
"""Frequent pieces are one token: a whole column reference or constant, a list of numbers, a field with a plain value.
Names of columns that only aliases hold are left out."""

FIELD = re.compile(rf":(\w++) ({WORD})")

NOISE = re.compile(r" \[ [-0-9 ]*\]| :(?!var|ctename)\w+ (?:<>|false|0|-1|\([bi][-0-9 ]*\))(?=[ }])")
"""The bytes of constants, fields that mean the same if they are missing, and lists of numbers that are no object ids,
which nothing here looks at. A name cannot look like it: its blanks have a backslash, and so has a first digit."""

NULL = "<>"

LARGE = 50_000
"""Characters of a tree that is cut into tokens one by one."""


class UnknownTree(Exception):
    """A parse tree that is not of the known shape."""


@dataclass(slots=True)
class Node:
    """One node: `{VAR :varno 1 :varattno 2}`. Compared by identity."""

    kind: str
    fields: "dict[str, Value]" = field(default_factory=dict[str, "Value"])

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def number(self, name: str) -> int:
        """A field that holds a number; 0 where this version of the server has no such field."""
        value = self.fields.get(name, "0")
        if not isinstance(value, str):
            raise UnknownTree
        try:
            return int(value)
        except ValueError:
            raise UnknownTree from None

    def is_true(self, name: str) -> bool:
        return self.fields.get(name) == "true"

    def nodes(self, name: str) -> "list[Node]":
        """The nodes of a field that is a list, without what is null in it."""
        return [value for value in self.values(name) if isinstance(value, Node)]

    def values(self, name: str) -> "list[Value]":
        value = self.fields.get(name)
        return value if isinstance(value, list) else []

    def node(self, name: str) -> "Node | None":
        value = self.fields.get(name)
        return value if isinstance(value, Node) else None


Value: TypeAlias = "Node | list[Value] | str | None"
"""A node, a list, or a word as it is written; None where the server writes null."""

Inside: TypeAlias = "list[Value] | dict[str, Value]"
"""A list, or the fields of a node, to which values are added."""


def parse_tree(text: str) -> Value:
    """Read one tree without recursion. Raises `UnknownTree` for any other text."""
    inside: Inside = []
    around: list[Inside] = [inside]
    key = ""
    text = NOISE.sub("", text)
    # To find all at once is quicker, but other threads wait for it.
    tokens = TOKEN.findall(text) if len(text) < LARGE else (match[0] for match in TOKEN.finditer(text))
    for token in tokens:
        first = token[0]
        if first == ":" and isinstance(inside, dict):
            key, _, word = token[1:].partition(" ")
            if key in inside:
                raise UnknownTree
            if word and word != NULL:
                inside[key] = word
            continue
        if first in ")}":
            inside = _close(around, first)
            continue
        value, opened = _begin(token)
        if isinstance(inside, list):
            inside.append(value)
        elif key and key not in inside:
            inside[key] = value
        else:
            raise UnknownTree
        if opened is not None:
            inside = opened
            around.append(opened)
    if len(around) != 1 or len(inside) != 1 or not isinstance(inside, list):
        raise UnknownTree
    return inside[0]


def _close(around: "list[Inside]", token: str) -> "Inside":
    closed = around.pop()
    if not around or isinstance(closed, dict) != (token == "}"):
        raise UnknownTree
    return around[-1]


def _begin(token: str) -> "tuple[Value, Inside | None]":
    """The value that begins with a token, and what the next tokens are put into if it does not end with it."""
    if token.startswith("{ALIAS"):
        return None, None
    if token[-1] == "}":
        return _read_leaf(token.partition(" :location ")[0]), None
    if token[0] == "{":
        node = Node(token[1:])
        return node, node.fields
    if token == "(":
        opened: list[Value] = []
        return opened, opened
    if token[0] == "(":
        return [*token[1:-1].split()], None
    return None if token == NULL else token, None


@lru_cache(maxsize=1_000)
def _read_leaf(text: str) -> Node:
    """A column reference or a constant, of which most statements have the same few."""
    return Node(text[1:].partition(" ")[0], dict(FIELD.findall(text)))


def find_queries(tree: Value) -> list[Node]:
    """The queries of a stored function body or of a rule's action: lists, possibly nested, of query nodes."""
    found: list[Node] = []
    rest = [tree]
    while rest:
        value = rest.pop()
        if isinstance(value, list):
            rest.extend(value)
        elif isinstance(value, Node) and value.kind == "QUERY":
            found.append(value)
        elif value is not None:
            raise UnknownTree
    return found


def field_numbers(fields: str) -> re.Pattern[str]:
    """Finds the numbers that these fields have. `fields` are names with bars between them."""
    return re.compile(rf":(?:{fields}) \(?o?([\d ]+)")


RELATIONS = field_numbers("relid")


def find_numbers(text: str, fields: re.Pattern[str] = RELATIONS) -> frozenset[int]:
    """The numbers that fields have anywhere in the text of a tree; those of relations where nothing else is said."""
    return frozenset(int(number) for words in fields.findall(text) for number in words.split())


class Origin(Enum):
    """Who wrote an expression."""

    STATEMENT = "statement"
    VIEW = "view"
    POLICY = "policy"
    """A row security policy or a generated column: it belongs to the table, so its functions are its owner's choice."""


class RangeKind(IntEnum):
    """The kind of an entry of a query's FROM clause (RTEKind of the server)."""

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


def find_kind(entry: Node) -> RangeKind:
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
