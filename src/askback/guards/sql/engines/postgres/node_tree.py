"""The text form of a Postgres parse tree (`pg_node_tree`), read into nodes. Knows the format and no kind of node."""

import re
from dataclasses import dataclass, field
from typing import TypeAlias

WORD = r"(?:[^ \n\t(){}\\]++|\\.)++"
"""The server puts a backslash before each of these inside a name. Other blanks stand in names as they are."""

TOKEN = re.compile(
    rf"\{{ALIAS(?:[^{{}}\\]++|\\.)*+\}}|\{{(?:VAR|CONST) [^{{}}]*+\}}|\([iobx][-0-9 ]*\)|\{{\w++"
    rf"|[(){{}}]|:\w++ {WORD}|{WORD}",
    re.DOTALL,
)
"""What repeats most is one token: a whole column reference or constant, a list of numbers, a field with a plain value.
Names of columns that only aliases hold are left out."""

FIELD = re.compile(rf":(\w++) ({WORD})")

NOISE = re.compile(r" \[ [-0-9 ]*\]| :(?!var|ctename)\w+ (?:<>|false|0|-1|\([bi][-0-9 ]*\))(?=[ }])")
"""The bytes of constants, fields that mean the same if they are missing, and lists of numbers that are no object ids,
which nothing here looks at. A name cannot look like it: its blanks have a backslash, and so has a first digit."""

NULL = "<>"


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
"""What values are put into: a list, or the fields of a node."""


def parse_tree(text: str) -> Value:
    """Read one tree. Raises `UnknownTree` where the text is none. Takes no stack for deep trees."""
    inside: Inside = []
    around: list[Inside] = [inside]
    key = ""
    for match in TOKEN.finditer(NOISE.sub("", text)):
        token = match[0]
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
    if token[0] == "{":
        node = Node(token[1:].partition(" ")[0], dict(FIELD.findall(token)))
        return node, None if token[-1] == "}" else node.fields
    if token == "(":
        opened: list[Value] = []
        return opened, opened
    if token[0] == "(":
        return [*token[1:-1].split()], None
    return None if token == NULL else token, None


def queries_in(tree: Value) -> list[Node]:
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


def numbers_in(text: str, fields: re.Pattern[str] = RELATIONS) -> frozenset[int]:
    """The numbers that fields have anywhere in the text of a tree; those of relations where nothing else is said."""
    return frozenset(int(number) for words in fields.findall(text) for number in words.split())
