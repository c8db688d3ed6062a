"""The text form of a Postgres parse tree (`pg_node_tree`), read into nodes. Knows the format and no kind of node."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias, cast

WORD = r"(?:\\.|[^ \n\t(){}\\])+"
"""The server puts a backslash before each of these inside a name. Other blanks stand in names as they are."""

TOKEN = re.compile(
    rf"\{{ALIAS(?:\\.|[^{{}}\\])*\}}|\{{(?:VAR|CONST) [^{{}}]*\}}|\([iobx][-0-9 ]*\)|[(){{}}]|:\w+ {WORD}|{WORD}",
    re.DOTALL,
)
"""What repeats most is one token: a whole column reference or constant, a list of numbers, a field with a plain value.
Names of columns that only aliases hold are left out."""

VAR = re.compile(r"\{VAR :varno (-?\d+) :varattno (-?\d+) .*?:varlevelsup (\d+) ")

CONST = re.compile(r"\{CONST :consttype (\d+) ")

NOISE = re.compile(r" \[ [-0-9 ]*\]| :(?!var|ctename)\w+ (?:<>|false|0|-1)(?=[ }])")
"""The bytes of constants, and fields that mean the same if they are missing. A name cannot look like it: its blanks
have a backslash, and so has a first digit."""

NULL = "<>"

LARGE = 50_000


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


def parse_tree(text: str) -> Value:
    """Read one tree. Raises `UnknownTree` where the text is none. Takes no stack for deep trees."""
    root: list[Value] = []
    open_ones: list[Node | list[Value]] = [root]
    inside: Node | list[Value] = root
    key = ""
    tokens = _tokens(NOISE.sub("", text))
    for token in tokens:
        if token[0] == ":" and isinstance(inside, Node):
            key, _, word = token[1:].partition(" ")
            if key in inside.fields:
                raise UnknownTree
            if word and word != NULL:
                inside.fields[key] = word
            continue
        if token in ")}":
            inside = _close(open_ones, token)
            continue
        value = _begin(token, tokens)
        if isinstance(inside, list):
            inside.append(value)
        elif key and key not in inside.fields:
            inside.fields[key] = value
        else:
            raise UnknownTree
        if token in "({":
            inside = cast("Node | list[Value]", value)
            open_ones.append(inside)
    if len(open_ones) != 1 or len(root) != 1:
        raise UnknownTree
    return root[0]


def _tokens(text: str) -> Iterator[str]:
    if len(text) < LARGE:
        return iter(TOKEN.findall(text))
    return (found[0] for found in TOKEN.finditer(text))  # slower, but other threads get their turn


def _begin(token: str, tokens: Iterator[str]) -> Value:
    if token[0] == "{":
        return Node(next(tokens, "")) if token == "{" else _leaf(token)
    if token[0] == "(":
        return [] if token == "(" else [*token[1:-1].split()]
    return None if token == NULL else token


def _leaf(token: str) -> Node | None:
    if token.startswith("{ALIAS"):
        return None
    if found := VAR.match(token):
        varno, varattno, varlevelsup = found.groups()
        return Node("VAR", {"varno": varno, "varattno": varattno, "varlevelsup": varlevelsup})
    if found := CONST.match(token):
        return Node("CONST", {"consttype": found[1]})
    raise UnknownTree


def _close(open_ones: list[Node | list[Value]], token: str) -> Node | list[Value]:
    closed = open_ones.pop()
    if not open_ones or isinstance(closed, Node) != (token == "}"):
        raise UnknownTree
    return open_ones[-1]


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


def numbers_in(text: str, field: str) -> frozenset[int]:
    """The numbers that a field has anywhere in the text of a tree. `field` is a regular expression."""
    found: list[str] = re.findall(rf":(?:{field}) \(?o?([\d ]+)", text)
    return frozenset(int(number) for words in found for number in words.split())
