"""Statements of one shape: they differ only in constants, and the server describes them by the same parse tree.

What an agent asks for again and again with other numbers and names is parsed and walked over once, for as long as the
server says the same about its relations. Where it had to be asked for more than those, it is asked each time.
"""

import re
from collections import OrderedDict
from typing import Any, TypeAlias

from askback.guards.sql.engines.engine import Inspection
from askback.guards.sql.engines.postgres.node_tree import Node, numbers_in, parse_tree, queries_in
from askback.guards.sql.engines.postgres.routine import calls_in

LOCATIONS = re.compile(r" :location -?\d+")
LENGTHS = re.compile(r" :stmt_(?:location|len) -?\d+")
CONSTANTS = re.compile(r" :constvalue \d+ \[ [-0-9 ]*\]")
"""Where something stands in the text, and the bytes of constants. Names cannot look like these: their blanks have a
backslash."""

Ground: TypeAlias = tuple[int, list[tuple[Any, ...]]]
"""The version of the server, and what it says about the relations: rows of `FACTS`."""

MAX_SHAPES = 50
"""That are remembered."""

MAX_LENGTH = 50_000
"""Characters of a tree that is remembered."""


def shape_of(text: str) -> str:
    """A parse tree without what decides nothing about what is read."""
    return CONSTANTS.sub("", LENGTHS.sub("", LOCATIONS.sub("", text)))


class TreeShape:
    """A parse tree, read into nodes."""

    def __init__(self, text: str) -> None:
        self.queries = queries_in(parse_tree(text))
        self.calls = calls_in(text)
        self.relations = numbers_in(text)
        self.length = len(text)
        self.last: tuple[Ground, Inspection] | None = None
        """What the last inspection rested on and found, where that was all it rested on."""

    @property
    def query(self) -> Node | None:
        """The only query; None where there is not exactly one."""
        return self.queries[0] if len(self.queries) == 1 else None


class TreeShapes:
    """The shapes that came last."""

    def __init__(self) -> None:
        self._shapes: OrderedDict[str, TreeShape] = OrderedDict()

    def read(self, tree: str) -> TreeShape:
        text = shape_of(tree)
        shape = self._shapes.pop(text, None) or TreeShape(text)
        if len(text) <= MAX_LENGTH:
            self._shapes[text] = shape
        if len(self._shapes) > MAX_SHAPES:
            self._shapes.popitem(last=False)
        return shape
